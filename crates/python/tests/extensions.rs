//! Side-channel slots on their way to a worker and back, and what a class is told of its grants.

#[path = "support/stub.rs"]
mod stub;

use std::sync::{Arc, Mutex};

use hookgate_core::{Capability, Condition, Json, Outcome, Record, RecordSink, Request};
use serde_json::{Value, json};
use stub::{Rig, Setup, marks};

const EXTENSIONS: &str = r#"{"request": {"environment": "test"}, "agent": {"session_id": "s"}, "custom": {"a": 1.10, "b": [1]},
    "http": {"method": "GET", "headers": {"X-A": "1", "Authorization": "t"}}, "candidate_constraint": {"on_empty": "deny"},
    "security": {"labels": ["a"], "subject": {"id": "u", "type": "user", "roles": ["r"], "teams": ["t"]}},
    "raw_credentials": {"inbound_tokens": {"user": {"token": "t"}}}}"#;

fn request() -> Request {
    Request {
        extensions: Some(Json::parse(EXTENSIONS).expect("I-JSON")),
        ..Request::default()
    }
}

/// Keeps what it is given.
#[derive(Default)]
struct Kept(Mutex<Vec<Record>>);

impl RecordSink for Kept {
    fn write(&self, record: Record) {
        self.0.lock().expect("no panic").push(record);
    }
}

fn setup(takes: &[&str], grants: &[Capability]) -> Setup {
    let mut setup = Setup::new(json!({ "extensions": takes }));
    setup.spec.permissions.data = grants.iter().copied().collect();
    setup
}

async fn ask(rig: &Rig, args: Value) -> Outcome {
    let payload = json!({ "name": "tool", "args": args });
    let request = request();
    let asked = rig.engine.invoke("tool_pre_invoke", &payload, &request);
    asked.await.expect("the request passes the door")
}

#[tokio::test(flavor = "multi_thread")]
async fn a_hook_that_takes_extensions_is_sent_what_it_is_lent() {
    let grants = [
        Capability::ReadHeaders,
        Capability::ReadRoles,
        Capability::ReadInboundCredentials,
    ];
    let rig = setup(&["tool_pre_invoke"], &grants).build().await;
    let sent = marks(&ask(&rig, json!({"do": "echo"})).await)["call"]["extensions"].clone();
    assert_eq!(
        sent,
        json!({
            "request": {"environment": "test"}, "custom": {"a": 1.1, "b": [1]}, "candidate_constraint": {"on_empty": "deny"},
            "http": {"method": "GET", "headers": {"X-A": "1"}},
            "security": {"subject": {"id": "u", "type": "user", "roles": ["r"]}}
        })
    );
}

#[tokio::test(flavor = "multi_thread")]
async fn no_other_hook_is_sent_any() {
    let rig = setup(&[], &[Capability::ReadHeaders]).build().await;
    let call = marks(&ask(&rig, json!({"do": "echo"})).await)["call"].clone();
    assert_eq!(call.get("extensions"), None, "{call}");
    let rig = setup(&["tool_pre_invoke"], &[]).build().await;
    let call = marks(&rig.ask(json!({"do": "echo"})).await)["call"].clone();
    assert_eq!(call.get("extensions"), None, "there are none: {call}");
}

#[tokio::test(flavor = "multi_thread")]
async fn what_a_plugin_may_not_change_is_refused_and_the_rest_counts() {
    let kept = Arc::new(Kept::default());
    let mut setup = setup(&["tool_pre_invoke"], &[Capability::AppendLabels]);
    setup.records = Some(Arc::clone(&kept) as _);
    let rig = setup.build().await;
    let edits = json!([
        {"op": "set", "at": "/request/environment", "value": "forged"},
        {"op": "set", "at": "/custom/new", "value": {"c": 1.50}},
        {"op": "remove", "at": "/custom/b"},
        {"op": "set", "at": "/security/labels", "value": ["a", "b"]},
        {"op": "set", "at": "/http", "value": {"headers": {"X-A": "2", "Cookie": "c"}}},
        {"op": "set", "at": "/no/such/place", "value": 1},
        {"op": "remove", "at": "/custom/nothing"},
        {"op": "splice", "at": "/custom/a"},
        {"op": "set", "at": "custom", "value": 1}
    ]);
    let frame = json!({"verdict": "allow", "extensions": edits});
    let outcome = ask(&rig, json!({"do": "answer", "frame": frame})).await;
    assert!(outcome.faults.is_empty(), "{:?}", outcome.faults);
    let changed = serde_json::to_value(&outcome.effects.extensions).expect("JSON");
    let expected: Value = serde_json::from_str(
        r#"{"custom": {"a": 1.10, "new": {"c": 1.5}},
            "security": {"labels": ["a", "b"], "subject": {"id": "u", "type": "user", "roles": ["r"], "teams": ["t"]}}}"#,
    )
    .expect("JSON");
    assert_eq!(changed, expected, "numbers nobody touched keep their text");
    let records = kept.0.lock().expect("no panic");
    let refused = serde_json::to_value(&records[0].plugins[0].refused).expect("JSON");
    assert_eq!(
        refused,
        json!([
            {"what": "extension", "code": "invalid", "count": 4},
            // The request, the headers, and the cookie among them.
            {"what": "extension", "code": "not-granted", "count": 3}
        ])
    );
}

#[tokio::test(flavor = "multi_thread")]
async fn a_denial_keeps_its_changes() {
    let rig = setup(&[], &[]).build().await;
    let frame =
        json!({"verdict": "deny", "extensions": [{"op": "set", "at": "/custom", "value": null}]});
    let outcome = ask(&rig, json!({"do": "answer", "frame": frame})).await;
    assert_eq!(outcome.violation.expect("a denial").code, "denied");
    assert_eq!(outcome.effects.extensions["custom"], Json::object());
}

#[tokio::test(flavor = "multi_thread")]
async fn a_class_is_told_the_grants_its_framework_knows_and_its_own_conditions() {
    let mut all = setup(&[], &Capability::ALL);
    let mut first = Condition::default();
    first.tools = ["tool".to_owned(), "other".to_owned()].into();
    first.content_types = vec!["text/plain".into()];
    all.spec.conditions = vec![first, Condition::default()];
    let rig = all.build().await;
    let plugin = marks(&rig.ask(json!({"do": "echo"})).await)["plugin"].clone();
    let known = [
        "append_delegation",
        "append_labels",
        "read_agent",
        "read_claims",
        "read_delegation",
        "read_headers",
        "read_labels",
        "read_permissions",
        "read_roles",
        "read_subject",
        "read_teams",
        "write_headers",
    ];
    assert_eq!(plugin["capabilities"], json!(known));
    assert_eq!(
        plugin["conditions"],
        json!([{"tools": ["other", "tool"], "content_types": ["text/plain"]}, {}])
    );
}
