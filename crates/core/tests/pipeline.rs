//! Many plugins, one outcome: order, denials, questions, and what a fault does.

mod support;

use std::sync::{Arc, Mutex};
use std::time::{Duration, Instant};

use futures::FutureExt as _;
use hookgate_core::config::OnError;
use hookgate_core::{
    Approval, Decision, Fault, FaultKind, InProcess, Json, Outcome, Phase, Plugin, Violation,
};
use support::{
    HOOK, PAYLOAD, Scripted, allowing, approval, ask, ask_about, asking, at, denying, engine,
    faulting, json, plugin, text, waiting,
};

/// A timeout that is over at once; a plugin that waits for its deadline waits no longer than this.
const SHORT: Duration = Duration::from_millis(2);

/// Sets `/args/cmd` to the last text with `tag` behind it.
fn tagging(tag: &'static str) -> Arc<Scripted> {
    plugin(move |call| {
        let mut draft = call.draft();
        let cmd = call
            .payload
            .get_string(&at("/args/cmd"))
            .unwrap_or_default();
        let value = Json::string(&format!("{cmd}{tag}"));
        draft.set(&at("/args/cmd"), value).expect("a member");
        Ok(draft.allow())
    })
}

fn codes(outcome: &Outcome) -> Option<(&str, &str)> {
    let violation = outcome.violation.as_ref()?;
    Some((violation.plugin.as_deref()?, &violation.code))
}

#[tokio::test]
async fn plugins_run_by_priority_and_then_in_order_each_seeing_the_last_edits() {
    let engine = engine([
        InProcess::new("c", tagging("c")).priority(5),
        InProcess::new("d", tagging("d")).priority(5),
        InProcess::new("a", tagging("a")).priority(-7),
        InProcess::new("e", tagging("e")),
        InProcess::new("b", tagging("b")).priority(0),
    ])
    .await;
    let outcome = ask(&engine).await;
    assert_eq!(text(&outcome), r#"{"name":"sh","args":{"cmd":"lsabcde"}}"#);
    assert!(outcome.modified);
    assert_eq!(outcome.decision, Decision::Allow);
}

#[tokio::test]
async fn the_subject_stays_as_it_arrived() {
    let renames = plugin(|call| {
        let mut draft = call.draft();
        draft
            .set(&at("/name"), json("\"other\""))
            .expect("a string");
        Ok(draft.allow())
    });
    let seen = Arc::new(Mutex::new(None));
    let keep = Arc::clone(&seen);
    let looks = plugin(move |call| {
        let name = call.payload.get(&at("/name")).map(ToOwned::to_owned);
        *keep.lock().expect("no panic") = Some((call.subject.clone(), name));
        Ok(call.draft().allow())
    });
    let engine = engine([InProcess::new("a", renames), InProcess::new("b", looks)]).await;
    ask_about(&engine, r#"{"name":"caf\u00e9"}"#).await;
    let expected = (Some("café".into()), Some("\"other\"".into()));
    assert_eq!(*seen.lock().expect("no panic"), Some(expected));
}

#[tokio::test]
async fn modified_means_another_value() {
    let cases = [
        (r#"{"name":"sh","x":1}"#, "/x", "1", false),
        (r#"{"name":"sh","x":1}"#, "/x", "1.0", true),
        (r#"{"name":"sh","x":1E5}"#, "/x", "1e+5", true),
        (r#"{"name":"sh","x":"\u0061"}"#, "/x", "\"a\"", false),
        (
            r#"{"name":"sh","x":{"a":1,"b":[2]}}"#,
            "/x",
            r#"{ "b" : [ 2 ], "a":1 }"#,
            false,
        ),
        (
            r#"{"name":"sh","x":{"a":1,"b":[2]}}"#,
            "/x",
            r#"{"b":[2]}"#,
            true,
        ),
        (r#"{"name":"sh","x":[1,2]}"#, "/x", "[2,1]", true),
        (r#"{"name":"sh","x":null}"#, "/x", "false", true),
        (r#"{"name":"sh","x":"1"}"#, "/x", "1", true),
        // Keys that a JSON library may take for its own.
        (
            r#"{"name":"sh","x":{"$serde_json::private::Number":"1"}}"#,
            "/x",
            "1",
            true,
        ),
        (
            r#"{"name":"sh","x":{"$serde_json::private::RawValue":"1"}}"#,
            "/x",
            "1",
            true,
        ),
        (
            r#"{"name":"sh","y":{"$serde_json::private::Number":"z"},"x":1}"#,
            "/x",
            " 1 ",
            false,
        ),
    ];
    for (payload, pointer, value, modified) in cases {
        let sets = plugin(move |call| {
            let mut draft = call.draft();
            draft.set(&at(pointer), json(value)).expect("a member");
            Ok(draft.allow())
        });
        let engine = engine([InProcess::new("p", sets)]).await;
        let outcome = ask_about(&engine, payload).await;
        assert_eq!(outcome.modified, modified, "{payload} {value}");
        assert!(text(&outcome).contains(value));
    }
}

#[tokio::test]
async fn a_denial_stops_and_gives_no_payload() {
    let after = allowing();
    let engine = engine([
        InProcess::new("tags", tagging("!")),
        InProcess::new("asks", asking("sure?")),
        InProcess::new("denies", denying("NO")),
        InProcess::new("after", after.clone()),
    ])
    .await;
    let outcome = ask(&engine).await;
    assert_eq!(outcome.decision, Decision::Deny);
    assert_eq!(codes(&outcome), Some(("denies", "NO")));
    assert!(outcome.payload.is_none() && !outcome.modified);
    assert_eq!((outcome.approvals.len(), after.calls()), (0, 0));
}

#[tokio::test]
async fn a_violation_arrives_whole_with_the_entrys_name() {
    let violation = Violation {
        plugin: Some("somebody else".into()),
        description: "d".into(),
        details: json(r#"{"a":1.10}"#),
        mcp_error_code: Some(-32_000),
        http_status_code: Some(451),
        http_headers: vec![("A".into(), "1".into()), ("a".into(), "2".into())],
        ..Violation::new("NO", "no")
    };
    let denies = plugin(move |call| Ok(call.draft().deny(violation.clone())));
    let engine = engine([InProcess::new("p", denies)]).await;
    let outcome = serde_json::to_string(&ask(&engine).await).expect("JSON");
    let (outcome, record) = outcome.split_once(r#","record":"#).expect("a record");
    let expected = r#"{"decision":"deny","payload":null,"modified":false,"violation":{"plugin":"p","code":"NO","reason":"no","description":"d","details":{"a":1.10},"mcp_error_code":-32000,"http_status_code":451,"http_headers":{"a":"2"}},"approvals":[],"suppressed":[],"faults":[],"effects":{"metadata":{},"headers":{},"retry_after_ms":null,"extensions":{},"result":null}"#;
    assert_eq!(outcome, expected);
    assert_eq!(record.len(), "\"01ARZ3NDEKTSV4RRFFQ69G5FAV\"}".len());
}

#[tokio::test]
async fn approvals_are_kept_and_bound_to_the_final_payload() {
    let asks = plugin(|call| {
        let mut draft = call.draft();
        draft.set(&at("/args"), json("{}")).expect("a member");
        Ok(draft.ask(Approval {
            details: json(r#"{"d":1}"#),
            ..approval("first")
        }))
    });
    let engine = engine([
        InProcess::new("one", asks),
        InProcess::new("two", asking("second")),
        InProcess::new("three", tagging("x")),
    ])
    .await;
    let outcome = ask(&engine).await;
    assert_eq!(outcome.decision, Decision::Ask);
    assert_eq!(text(&outcome), r#"{"name":"sh","args":{"cmd":"x"}}"#);
    let approvals = serde_json::to_string(&outcome.approvals).expect("JSON");
    // printf '%s' '{"name":"sh","args":{"cmd":"x"}}' | sha256sum
    let digest = "fe1c755a486ee1e3a8a17380b52ebad6797e849ca8201862e8958964b174cf90";
    let expected = format!(
        r#"[{{"plugin":"one","reason":"first","risk":"medium","details":{{"d":1}},"payload_sha256":"{digest}"}},{{"plugin":"two","reason":"second","risk":"medium","details":{{}},"payload_sha256":"{digest}"}}]"#
    );
    assert_eq!(approvals, expected);
}

#[tokio::test]
async fn an_allow_with_a_violation_is_an_allow() {
    let mutters = plugin(|call| {
        Ok(call
            .draft()
            .allow()
            .with_suppressed(Violation::new("HM", "hm")))
    });
    let engine = engine([InProcess::new("p", mutters)]).await;
    let outcome = ask(&engine).await;
    assert_eq!(
        (outcome.decision, outcome.violation),
        (Decision::Allow, None)
    );
    let suppressed = &outcome.suppressed[0];
    assert_eq!(
        (&*suppressed.plugin, suppressed.verdict),
        ("p", Decision::Allow)
    );
    let violation = suppressed.violation.as_ref().expect("it came with one");
    assert_eq!(
        (violation.plugin.as_deref(), &*violation.code),
        (Some("p"), "HM")
    );
}

/// One way in which a plugin does not answer, and the fault that is.
struct Way {
    plugin: Arc<Scripted>,
    timeout: Duration,
    kind: FaultKind,
    phase: Option<Phase>,
}

fn way(plugin: Arc<Scripted>, kind: FaultKind) -> Way {
    Way {
        plugin,
        timeout: Duration::from_secs(3_600),
        kind,
        phase: None,
    }
}

fn late(plugin: Arc<Scripted>) -> Way {
    Way {
        timeout: SHORT,
        phase: Some(Phase::Guest),
        ..way(plugin, FaultKind::Timeout)
    }
}

/// Blocks until the deadline is behind it.
fn outlast(deadline: Instant) {
    while Instant::now() <= deadline {
        std::hint::spin_loop();
    }
}

fn denying_with(violation: Violation) -> Arc<Scripted> {
    plugin(move |call| Ok(call.draft().deny(violation.clone())))
}

fn asking_with(approval: Approval) -> Arc<Scripted> {
    plugin(move |call| Ok(call.draft().ask(approval.clone())))
}

/// Every way an in-process plugin can fault.
fn ways() -> Vec<(&'static str, Way)> {
    use FaultKind::{OutOfMemory, PluginError, Protocol, ResponseTooLarge};
    let no = || Violation::new("NO", "no");
    let huge = || "x".repeat(10_000_000);
    let headers = |count: usize| (0..count).map(|n| (n.to_string(), String::new())).collect();
    let refused = |ends: fn(hookgate_core::Draft) -> hookgate_core::Answer| {
        plugin(move |call| {
            let mut draft = call.draft();
            draft.set(&at("/x"), json("1")).expect("an object");
            draft.remove(&at("/name")).expect_err("the shape needs it");
            Ok(ends(draft))
        })
    };
    let stale = {
        let first = Mutex::new(None);
        plugin(move |call| {
            let mut first = first.lock().expect("no panic");
            let answer = first.get_or_insert_with(|| {
                let mut draft = call.draft();
                draft.set(&at("/x"), json("1")).expect("an object");
                draft.allow()
            });
            Ok(answer.clone())
        })
    };
    // So that its one answer is of another payload than the one it is asked about below.
    let warm = stale.clone();
    let _: Decision = tokio::task::block_in_place(|| {
        tokio::runtime::Handle::current().block_on(async {
            let engine = engine([InProcess::new("p", warm as Arc<dyn Plugin>)]).await;
            ask_about(&engine, r#"{"name":"before"}"#).await.decision
        })
    });
    vec![
        ("error", way(faulting(OutOfMemory), OutOfMemory)),
        ("panic", way(plugin(|_| panic!("on purpose")), PluginError)),
        (
            "panic while waiting",
            way(
                waiting(false, |_| Box::pin(async { panic!("{}", "on purpose") })),
                PluginError,
            ),
        ),
        (
            "silence",
            late(waiting(false, |_| futures::future::pending().boxed())),
        ),
        (
            "silence of one that keeps deadlines",
            late(waiting(true, |_| futures::future::pending().boxed())),
        ),
        (
            "late allow",
            late(plugin(|call| {
                outlast(call.deadline);
                Ok(call.draft().allow())
            })),
        ),
        (
            "late allow of one that keeps deadlines",
            late(waiting(true, |call| {
                outlast(call.deadline);
                async move { Ok(call.draft().allow()) }.boxed()
            })),
        ),
        (
            "late error",
            late(plugin(|call| {
                outlast(call.deadline);
                Err(Fault::new(FaultKind::Trap, "late"))
            })),
        ),
        (
            "refused edit, then allow",
            way(refused(hookgate_core::Draft::allow), Protocol),
        ),
        (
            "refused edit, then ask",
            way(refused(|draft| draft.ask(approval("?"))), Protocol),
        ),
        ("edits of another payload", way(stale, Protocol)),
        (
            "details of a violation",
            way(
                denying_with(Violation {
                    details: json("[]"),
                    ..no()
                }),
                PluginError,
            ),
        ),
        (
            "details of an approval",
            way(
                asking_with(Approval {
                    details: json("null"),
                    ..approval("?")
                }),
                PluginError,
            ),
        ),
        (
            "HTTP status 99",
            way(
                denying_with(Violation {
                    http_status_code: Some(99),
                    ..no()
                }),
                PluginError,
            ),
        ),
        (
            "HTTP status 600",
            way(
                denying_with(Violation {
                    http_status_code: Some(600),
                    ..no()
                }),
                PluginError,
            ),
        ),
        (
            "HTTP header",
            way(
                denying_with(Violation {
                    http_headers: vec![("a b".into(), String::new())],
                    ..no()
                }),
                PluginError,
            ),
        ),
        (
            "HTTP headers",
            way(
                denying_with(Violation {
                    http_headers: headers(1_001),
                    ..no()
                }),
                PluginError,
            ),
        ),
        (
            "large violation",
            way(
                denying_with(Violation {
                    description: huge(),
                    ..no()
                }),
                ResponseTooLarge,
            ),
        ),
        (
            "large approval",
            way(
                asking_with(Approval {
                    reason: huge(),
                    ..approval("?")
                }),
                ResponseTooLarge,
            ),
        ),
        (
            "details of a suppressed violation",
            way(
                plugin(move |call| {
                    let violation = Violation {
                        details: json("1"),
                        ..Violation::new("NO", "no")
                    };
                    Ok(call.draft().allow().with_suppressed(violation))
                }),
                PluginError,
            ),
        ),
    ]
}

fn entry(way: &Way) -> InProcess {
    InProcess::new("p", way.plugin.clone()).timeout(way.timeout)
}

fn check_fault(name: &str, outcome: &Outcome, way: &Way, on_error: OnError) {
    let [fault] = &*outcome.faults else {
        panic!("{name}: {:?}", outcome.faults);
    };
    assert_eq!(
        (&*fault.plugin, fault.kind, fault.phase, fault.on_error),
        ("p", way.kind, way.phase, on_error),
        "{name}"
    );
}

#[tokio::test(flavor = "multi_thread")]
async fn on_error_fail_makes_every_fault_a_denial() {
    for (name, way) in ways() {
        let after = allowing();
        let engine = engine([entry(&way), InProcess::new("after", after.clone())]).await;
        let outcome = ask(&engine).await;
        check_fault(name, &outcome, &way, OnError::Fail);
        assert_eq!(
            (outcome.decision, after.calls()),
            (Decision::Deny, 0),
            "{name}"
        );
        let expected = Violation {
            plugin: Some("p".into()),
            details: json(&format!(r#"{{"fault":"{}"}}"#, way.kind)),
            ..Violation::new("plugin_fault", "plugin fault")
        };
        assert_eq!(outcome.violation, Some(expected), "{name}");
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn on_error_ignore_names_every_fault_and_drops_its_edits() {
    for (name, way) in ways() {
        let engine = engine([
            entry(&way).on_error(OnError::Ignore),
            InProcess::new("after", tagging("!")),
        ])
        .await;
        for _ in 0..2 {
            let outcome = ask(&engine).await;
            check_fault(name, &outcome, &way, OnError::Ignore);
            assert_eq!(outcome.decision, Decision::Allow, "{name}");
            assert_eq!(
                text(&outcome),
                r#"{"name":"sh","args":{"cmd":"ls!"}}"#,
                "{name}"
            );
            assert_eq!((outcome.suppressed.len(), outcome.approvals.len()), (0, 0));
        }
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn on_error_disable_asks_a_faulting_plugin_no_more_until_it_is_enabled() {
    for (name, way) in ways() {
        let engine = engine([
            entry(&way).on_error(OnError::Disable),
            InProcess::new("after", asking("?")),
        ])
        .await;
        let before = way.plugin.calls();
        for _ in 0..2 {
            let outcome = ask(&engine).await;
            check_fault(name, &outcome, &way, OnError::Disable);
            assert_eq!(outcome.decision, Decision::Ask, "{name}");
            assert!(engine.plugins()[0].disabled, "{name}");
            let outcome = ask(&engine).await;
            assert_eq!(
                (outcome.decision, outcome.faults.len()),
                (Decision::Ask, 0),
                "{name}"
            );
            assert!(engine.enable("p"));
        }
        assert_eq!(way.plugin.calls() - before, 2, "{name}");
        assert!(!engine.enable("nobody"));
    }
}

#[tokio::test]
async fn a_late_answer_is_counted_whatever_it_was() {
    for keeps in [false, true] {
        let allows = waiting(keeps, |call| {
            outlast(call.deadline);
            async move { Ok(call.draft().allow()) }.boxed()
        });
        let engine = engine([InProcess::new("p", allows).timeout(SHORT)]).await;
        for late in 1..3 {
            assert_eq!(ask(&engine).await.decision, Decision::Deny);
            assert_eq!(engine.plugins()[0].info.late_answers, late);
        }
    }
}

#[tokio::test]
async fn a_host_that_keeps_deadlines_names_the_phase_itself() {
    let starts = waiting(true, |call| {
        outlast(call.deadline);
        async { Err(Fault::timeout(Phase::Start, "slow")) }.boxed()
    });
    let engine = engine([InProcess::new("p", starts).timeout(SHORT)]).await;
    let outcome = ask(&engine).await;
    assert_eq!(
        (outcome.faults[0].kind, outcome.faults[0].phase),
        (FaultKind::Timeout, Some(Phase::Start))
    );
    assert_eq!(engine.plugins()[0].info.late_answers, 0);
}

#[tokio::test]
async fn a_refused_edit_does_not_stand_in_the_way_of_a_denial() {
    let denies = plugin(|call| {
        let mut draft = call.draft();
        draft.remove(&at("/name")).expect_err("the shape needs it");
        Ok(draft.deny(Violation::new("NO", "no")))
    });
    let engine = engine([InProcess::new("p", denies)]).await;
    let outcome = ask(&engine).await;
    assert_eq!(
        (codes(&outcome), outcome.faults.len()),
        (Some(("p", "NO")), 0)
    );
}

#[tokio::test]
async fn a_timeout_of_any_length_is_a_timeout() {
    let engine = engine([
        InProcess::new("never", allowing()).timeout(Duration::MAX),
        InProcess::new("at once", allowing()).timeout(Duration::ZERO),
    ])
    .await;
    let outcome = ask(&engine).await;
    assert_eq!(outcome.faults[0].plugin, "at once");
    assert_eq!(outcome.decision, Decision::Deny);
    assert_eq!(engine.plugins()[0].timeout_ms, 3_600_000);
}

#[tokio::test]
async fn headers_are_lent_only_with_the_grant_and_count_all_the_same() {
    let seen = Arc::new(Mutex::new(Vec::new()));
    let looks = |granted: bool| {
        let seen = Arc::clone(&seen);
        let looks = plugin(move |call| {
            seen.lock()
                .expect("no panic")
                .push(call.payload.text().to_string());
            let mut draft = call.draft();
            // 44 bytes of payload, a limit of 60, and 16 of them for `,"xxxxx":"yyyyy"`.
            let long = draft
                .clone()
                .set(&at("/xxxxx"), json("\"yyyyyy\""))
                .map_err(|refusal| refusal.code);
            assert_eq!(long, Err(hookgate_core::RefusalCode::TooLarge));
            if !granted {
                draft
                    .set(&at("/xxxxx"), json("\"yyyyy\""))
                    .expect("60 bytes");
                draft.remove(&at("/args")).expect_err("not there");
                return Ok(draft.deny(Violation::new("END", "end")));
            }
            Ok(draft.allow())
        });
        InProcess::new(if granted { "granted" } else { "not" }, looks).read_headers(granted)
    };
    let mut limits = support::config(&[]);
    limits.max_payload_bytes = 60;
    let builder = hookgate_core::Engine::builder().config(limits);
    let builder = builder.in_process(looks(true)).in_process(looks(false));
    let engine = builder.build().await.expect("two plugins");
    let payload = r#"{"name":"sh","headers":{"a":"b","c":"d123"}}"#;
    assert_eq!(payload.len(), 44);
    let outcome = ask_about(&engine, payload).await;
    assert_eq!(
        codes(&outcome),
        Some(("not", "END")),
        "{:?}",
        outcome.faults
    );
    assert_eq!(
        *seen.lock().expect("no panic"),
        [payload, r#"{"name":"sh"}"#]
    );
}

#[tokio::test]
async fn edits_of_one_that_sees_no_headers_leave_them() {
    let engine = engine([InProcess::new("p", tagging("!"))]).await;
    let payload = r#"{"name":"sh", "\u0068eaders":{"a":"b"}, "args":{"cmd":"ls"}}"#;
    let outcome = ask_about(&engine, payload).await;
    assert_eq!(
        text(&outcome),
        r#"{"name":"sh","\u0068eaders":{"a":"b"},"args":{"cmd":"ls!"}}"#
    );
    assert_eq!(HOOK, "tool_pre_invoke");
    assert_ne!(text(&outcome), PAYLOAD);
}
