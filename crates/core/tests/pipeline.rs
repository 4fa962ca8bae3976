//! Many plugins, one outcome: order, denials, questions, and what is lent. Faults are in `faults.rs`.

mod support;

use std::sync::{Arc, Mutex};

use hookgate_core::{Approval, Capability, Decision, Engine, Outcome, RefusalCode, Violation};
use support::{
    allowing, approval, ask, ask_about, asking, at, denying, engine, json, named, plugin, tagging,
    text,
};

fn codes(outcome: &Outcome) -> Option<(&str, &str)> {
    let violation = outcome.violation.as_ref()?;
    Some((violation.plugin.as_deref()?, &violation.code))
}

#[tokio::test]
async fn plugins_run_by_priority_and_then_in_order_each_seeing_the_last_edits() {
    let engine = engine([
        named("c", tagging("c")).priority(5),
        named("d", tagging("d")).priority(5),
        named("a", tagging("a")).priority(-7),
        named("e", tagging("e")),
        named("b", tagging("b")).priority(0),
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
    let engine = engine([named("a", renames), named("b", looks)]).await;
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
        let engine = engine([named("p", sets)]).await;
        let outcome = ask_about(&engine, payload).await;
        assert_eq!(outcome.modified, modified, "{payload} {value}");
        assert!(text(&outcome).contains(value));
    }
}

#[tokio::test]
async fn a_denial_stops_and_gives_no_payload() {
    let after = allowing();
    let engine = engine([
        named("tags", tagging("!")),
        named("asks", asking("sure?")),
        named("denies", denying("NO")),
        named("after", after.clone()),
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
    let engine = engine([named("p", denies)]).await;
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
        named("one", asks),
        named("two", asking("second")),
        named("three", tagging("x")),
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
    let engine = engine([named("p", mutters)]).await;
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

#[tokio::test]
async fn a_refused_edit_does_not_stand_in_the_way_of_a_denial() {
    let denies = plugin(|call| {
        let mut draft = call.draft();
        draft.remove(&at("/name")).expect_err("the shape needs it");
        Ok(draft.deny(Violation::new("NO", "no")))
    });
    let engine = engine([named("p", denies)]).await;
    let outcome = ask(&engine).await;
    assert_eq!(
        (codes(&outcome), outcome.faults.len()),
        (Some(("p", "NO")), 0)
    );
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
            assert_eq!(long, Err(RefusalCode::TooLarge));
            if !granted {
                draft
                    .set(&at("/xxxxx"), json("\"yyyyy\""))
                    .expect("60 bytes");
                draft.remove(&at("/args")).expect_err("not there");
                return Ok(draft.deny(Violation::new("END", "end")));
            }
            Ok(draft.allow())
        });
        named(if granted { "granted" } else { "not" }, looks)
            .data(granted.then_some(Capability::ReadHeaders))
    };
    let mut limits = support::config(&[]);
    limits.max_payload_bytes = 60;
    let builder = Engine::builder().config(limits);
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
    let engine = engine([named("p", tagging("!"))]).await;
    let payload = r#"{"name":"sh", "\u0068eaders":{"a":"b"}, "args":{"cmd":"ls"}}"#;
    let outcome = ask_about(&engine, payload).await;
    assert_eq!(
        text(&outcome),
        r#"{"name":"sh","\u0068eaders":{"a":"b"},"args":{"cmd":"ls!"}}"#
    );
}
