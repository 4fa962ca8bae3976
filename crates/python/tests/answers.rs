//! What a worker's frames become: edits, effects, verdicts and faults.

#[path = "support/stub.rs"]
mod stub;

use hookgate_core::{Decision, FaultKind, Json, Outcome, Request};
use serde_json::{Value, json};
use stub::{Rig, Setup, marks};

/// The outcome of a call that the stub answers with `frame`.
async fn answered(rig: &Rig, frame: Value) -> Outcome {
    rig.ask(json!({"do": "answer", "frame": frame, "q": "x", "big": 1}))
        .await
}

#[tokio::test(flavor = "multi_thread")]
async fn edits_and_effects_reach_the_outcome() {
    let rig = Rig::new().await;
    let frame = json!({
        "verdict": "allow", "violation": null,
        "edits": [{"op": "set", "at": "/args/q", "value": null}, {"op": "remove", "at": "/args/big"}, {"op": "remove", "at": "/args/frame"}],
        "state": {"set": {}, "remove": []}, "shared": {"set": {}, "remove": []}, "request_metadata": {"set": {}, "remove": []},
        "metadata": {"seen": [1, 1.10]}, "headers": {"X-Seen": "yes"}, "retry_after_ms": 1500, "result": {"a": 1},
        "extensions": [{"op": "set", "at": "/custom", "value": {"a": 1.10}}]
    });
    let outcome = answered(&rig, frame).await;
    assert_eq!(outcome.decision, Decision::Allow);
    assert!(outcome.modified);
    assert_eq!(
        outcome.payload.expect("a payload").as_str(),
        r#"{"name":"tool","args":{"do":"answer","q":null}}"#
    );
    let effects = serde_json::to_value(&outcome.effects).expect("JSON");
    let expected = json!({
        "metadata": {"seen": [1, 1.1]}, "headers": {"X-Seen": "yes"}, "retry_after_ms": 1500, "extensions": {"custom": {"a": 1.1}}, "result": {"a": 1}
    });
    assert_eq!(effects, expected);
}

#[tokio::test(flavor = "multi_thread")]
async fn denials_keep_what_the_plugin_said() {
    let rig = Rig::new().await;
    let violation = json!({
        "code": "C", "reason": "r", "description": "d", "details": {"n": 1}, "mcp_error_code": -32000,
        "http_status_code": 429, "http_headers": {"Retry-After": "1"}
    });
    let outcome = answered(&rig, json!({"verdict": "deny", "violation": violation})).await;
    let found = serde_json::to_value(outcome.violation.expect("a violation")).expect("JSON");
    let mut expected = violation;
    expected["plugin"] = json!("stub");
    assert_eq!(found, expected);

    let bare = answered(&rig, json!({"verdict": "deny", "violation": null}))
        .await
        .violation
        .expect("a violation");
    assert_eq!(
        (bare.code.as_str(), bare.reason.as_str(), bare.details),
        ("denied", "denied", Json::object())
    );
}

#[tokio::test(flavor = "multi_thread")]
async fn an_allow_with_a_violation_is_an_allow() {
    let rig = Rig::new().await;
    let violation = json!({"code": "C", "reason": "r", "description": "", "details": {}});
    let outcome = answered(&rig, json!({"verdict": "allow", "violation": violation})).await;
    assert_eq!(outcome.decision, Decision::Allow);
    assert_eq!(
        outcome.suppressed[0]
            .violation
            .as_ref()
            .expect("a violation")
            .code,
        "C"
    );
}

#[tokio::test(flavor = "multi_thread")]
async fn a_denial_stands_although_its_edits_do_not() {
    let rig = Rig::new().await;
    let violation = json!({"code": "C", "reason": "r"});
    let edits = json!([{"op": "remove", "at": "/nothing"}]);
    let outcome = answered(
        &rig,
        json!({"verdict": "deny", "violation": violation, "edits": edits}),
    )
    .await;
    assert!(outcome.faults.is_empty());
    assert_eq!(outcome.violation.expect("a violation").code, "C");
}

#[tokio::test(flavor = "multi_thread")]
async fn what_does_not_fit_is_a_fault_and_the_worker_goes_on() {
    let rig = Rig::new().await;
    let pid = rig.pid().await;
    let violation = |key: &str, value: Value| {
        let mut violation = json!({"code": "C", "reason": "r"});
        violation[key] = value;
        json!({"verdict": "deny", "violation": violation})
    };
    let allow = |key: &str, value: Value| json!({"verdict": "allow", key: value});
    let error = FaultKind::PluginError;
    for (frame, kind, start) in [
        (
            allow("edits", json!([{"op": "remove", "at": "/no"}])),
            error,
            "edit refused at /no: invalid: nothing at /no",
        ),
        (
            allow("edits", json!([{"op": "set", "at": "/name", "value": 1}])),
            error,
            "edit refused at /name: invalid: ",
        ),
        (
            allow("edits", json!([{"op": "set", "at": "/a/b", "value": 1}])),
            error,
            "edit refused at /a/b: invalid: ",
        ),
        (
            allow("edits", json!([{"op": "set", "at": "", "value": 1}])),
            error,
            "edit refused at : invalid: ",
        ),
        (
            allow("edits", json!([{"op": "set", "at": "x", "value": 1}])),
            error,
            "edit refused at x: not a JSON pointer",
        ),
        (
            allow("edits", json!([{"op": "set", "at": "/x"}])),
            error,
            "edit refused at /x: no edit of that kind: set",
        ),
        (
            allow("edits", json!([{"op": "splice", "at": "/x"}])),
            error,
            "edit refused at /x: no edit of that kind: splice",
        ),
        (
            allow("headers", json!({"a b": "c"})),
            error,
            "header refused: a b: invalid: ",
        ),
        (
            allow("state", json!({"set": {"k": "x".repeat(2_000_000)}})),
            error,
            "state refused: k: too-large: ",
        ),
        (
            allow("shared", json!({"set": {"k": "x".repeat(2_000_000)}})),
            error,
            "shared state refused: k: too-large: ",
        ),
        (
            violation("details", json!([1])),
            error,
            "violation.details is not an object: [1]",
        ),
        (
            violation("http_status_code", json!(99)),
            error,
            "violation.http_status_code is not 100 to 599: 99",
        ),
        (
            violation("http_status_code", json!(4.5)),
            error,
            "violation.http_status_code is not 100 to 599: 4.5",
        ),
        (
            violation("mcp_error_code", json!(1u64 << 40)),
            error,
            "violation.mcp_error_code: 1099511627776",
        ),
        (
            json!({"verdict": "perhaps"}),
            FaultKind::Protocol,
            "the worker's answer cannot be read: ",
        ),
        (
            json!({}),
            FaultKind::Protocol,
            "the worker's answer cannot be read: missing field `verdict`",
        ),
    ] {
        let outcome = answered(&rig, frame.clone()).await;
        let fault = &outcome.faults[0];
        assert_eq!(fault.kind, kind, "{frame}: {}", fault.message);
        assert!(fault.message.starts_with(start), "{}", fault.message);
        assert_eq!(outcome.decision, Decision::Deny);
    }
    assert_eq!(rig.pid().await, pid);
}

#[tokio::test(flavor = "multi_thread")]
async fn values_that_are_not_i_json_are_plugin_errors() {
    let rig = Rig::new().await;
    for value in [r#"{"a":1,"a":2}"#, r#""\ud800""#] {
        let bytes = format!(
            r#"{{"type":"answer","id":ID,"verdict":"allow","edits":[{{"op":"set","at":"/args","value":{value}}}]}}"#
        );
        let fault = rig.fault(json!({"do": "text", "text": bytes})).await;
        assert_eq!(fault.kind, FaultKind::PluginError, "{}", fault.message);
        assert!(
            fault
                .message
                .starts_with("edit refused at /args: not I-JSON: "),
            "{}",
            fault.message
        );
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn a_workers_own_faults_keep_their_kind() {
    let rig = Rig::new().await;
    for (kind, expected) in [
        ("plugin_error", FaultKind::PluginError),
        ("unsupported", FaultKind::Unsupported),
        ("exit", FaultKind::Exit),
        ("strange", FaultKind::Protocol),
    ] {
        let frame =
            json!({"kind": kind, "message": "ValueError: no", "traceback": "Traceback:\n  no\n"});
        let fault = rig.fault(json!({"do": "fault", "frame": frame})).await;
        assert_eq!(
            (fault.kind, fault.message.as_str()),
            (expected, "ValueError: no")
        );
        assert_eq!(
            fault.details.to_value(),
            json!({"traceback": "Traceback:\n  no"})
        );
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn a_call_carries_payload_identity_and_state() {
    let mut setup = Setup::new(json!({"a": 1}));
    setup.spec.priority = 7;
    setup.spec.about.tags = vec!["t".into()];
    let rig = setup.build().await;
    let mut request = Request::with_id("r9");
    request.call_id = Some("c".into());
    request.user = Some(Json::string("u1"));
    request.metadata = Some(Json::from_value(&json!({"kept": 1, "over": 1})));
    let write = json!({"name": "tool", "args": {"do": "answer", "frame": {
        "verdict": "allow",
        "state": {"set": {"state:a": [1], "state:b": 2}, "remove": []},
        "shared": {"set": {"s": "é\n"}, "remove": ["t"]},
        "request_metadata": {"set": {"over": 2}, "remove": []}
    }}});
    let written = rig
        .engine
        .invoke("tool_pre_invoke", &write, &request)
        .await
        .expect("a payload");
    assert!(written.faults.is_empty(), "{:?}", written.faults);
    let payload = r#"{"name":"tool","args":{"do":"echo","n":1.10,"s":"\u00e9"}}"#;
    let outcome = rig
        .engine
        .invoke("tool_pre_invoke", payload, &request)
        .await
        .expect("a payload");
    let seen = marks(&outcome);
    let call = &seen["call"];
    assert_eq!(call["hook"], "tool_pre_invoke");
    assert_eq!(call["payload"]["args"]["s"], "é");
    let identity = json!({
        "id": "r9", "call_id": "c", "user": "u1", "user_context": null, "tenant_id": null, "server_id": null,
        "content_type": null, "metadata": {"kept": 1, "over": 2}
    });
    assert_eq!(call["request"], identity);
    assert_eq!(call["state"], json!({"state:a": [1], "state:b": 2}));
    assert_eq!(call["shared"], json!({"s": "é\n"}));
    let left = call["deadline_ms"].as_u64().expect("a number");
    assert!((1..=30_000).contains(&left), "{left}");
    assert_eq!(seen["start"], json!({"a": 1}));
}

#[tokio::test(flavor = "multi_thread")]
async fn metadata_that_is_no_object_is_a_fault() {
    let rig = Rig::new().await;
    let request = Request {
        metadata: Some(Json::string("x")),
        ..Request::with_id("r")
    };
    let payload = json!({"name": "tool", "args": {"do": "allow"}});
    let outcome = rig
        .engine
        .invoke("tool_pre_invoke", &payload, &request)
        .await
        .expect("a payload");
    assert_eq!(outcome.faults[0].kind, FaultKind::Protocol);
}
