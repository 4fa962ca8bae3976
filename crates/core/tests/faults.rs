//! Every way in which an in-process plugin does not answer, under each `on_error`: never an allow.

mod support;

use std::sync::{Arc, Mutex};
use std::time::{Duration, Instant};

use futures::FutureExt as _;
use hookgate_core::config::OnError;
use hookgate_core::{
    Answer, Approval, Decision, Draft, Fault, FaultKind, InProcess, Outcome, Phase, Plugin,
    Violation,
};
use support::{
    Scripted, allowing, approval, ask, ask_about, asking, at, engine, faulting, json, named,
    plugin, tagging, text, waiting,
};

/// A timeout that is over at once; a plugin that waits for its deadline waits no longer than this.
const SHORT: Duration = Duration::from_millis(2);

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
    let refused = |ends: fn(Draft) -> Answer| {
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
            let engine = engine([named("p", warm as Arc<dyn Plugin>)]).await;
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
            way(refused(Draft::allow), Protocol),
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
    named("p", way.plugin.clone()).timeout(way.timeout)
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
        let engine = engine([entry(&way), named("after", after.clone())]).await;
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
            named("after", tagging("!")),
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
            named("after", asking("?")),
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
        let engine = engine([named("p", allows).timeout(SHORT)]).await;
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
    let engine = engine([named("p", starts).timeout(SHORT)]).await;
    let outcome = ask(&engine).await;
    assert_eq!(
        (outcome.faults[0].kind, outcome.faults[0].phase),
        (FaultKind::Timeout, Some(Phase::Start))
    );
    assert_eq!(engine.plugins()[0].info.late_answers, 0);
}

#[tokio::test]
async fn a_timeout_of_any_length_is_a_timeout() {
    let engine = engine([
        named("never", allowing()).timeout(Duration::MAX),
        named("at once", allowing()).timeout(Duration::ZERO),
    ])
    .await;
    let outcome = ask(&engine).await;
    assert_eq!(outcome.faults[0].plugin, "at once");
    assert_eq!(outcome.decision, Decision::Deny);
    assert_eq!(engine.plugins()[0].timeout_ms, 3_600_000);
}
