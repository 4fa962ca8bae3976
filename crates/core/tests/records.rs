//! Decision records: who said what, what was refused, and no payload values.

mod support;

use std::sync::Arc;

use hookgate_core::config::OnError;
use hookgate_core::{
    Decision, Engine, FaultKind, InProcess, Json, Matcher, Record, Request, Span, Syntax, Violation,
};
use serde_json::{Value, json};
use support::{HOOK, Kept, allowing, at, denying, faulting, named, plugin};

/// Asks once and gives the one record there is.
async fn recorded(
    plugins: impl IntoIterator<Item = InProcess>,
    payload: &str,
    request: &Request,
) -> Record {
    let records = Arc::new(Kept::default());
    let builder = plugins
        .into_iter()
        .fold(Engine::builder(), |builder, plugin| {
            builder.in_process(plugin)
        });
    let engine = builder
        .records(records.clone())
        .build()
        .await
        .expect("the names differ");
    let outcome = engine
        .invoke(HOOK, payload, request)
        .await
        .expect("passes the door");
    let mut kept = records.take();
    assert_eq!(kept.len(), 1);
    let record = kept.remove(0);
    assert_eq!(outcome.record.as_ref(), Some(&record.id));
    record
}

/// The record as JSON, without what differs from run to run.
fn steady(record: &Record) -> Value {
    let mut value = serde_json::to_value(record).expect("JSON");
    let members = value.as_object_mut().expect("an object");
    for (member, length) in [("id", 26), ("time", "2026-11-30T13:37:00.123456Z".len())] {
        let text = members.remove(member).expect("there");
        assert_eq!(text.as_str().map(str::len), Some(length), "{text}");
    }
    assert!(
        members
            .remove("duration_us")
            .is_some_and(|value| value.is_number())
    );
    for plugin in members["plugins"].as_array_mut().expect("an array") {
        let plugin = plugin.as_object_mut().expect("an object");
        let took = plugin
            .remove("duration_us")
            .and_then(|value| value.as_u64());
        let waited = plugin.remove("queue_us").and_then(|value| value.as_u64());
        assert!(waited <= took, "waiting is a part of it");
    }
    value
}

#[tokio::test]
async fn a_record_says_who_asked_and_what_each_plugin_said() {
    let edits = plugin(|call| {
        let mut draft = call.draft();
        draft
            .set(&at("/args/new"), support::json("\"hidden value\""))
            .expect("an object");
        draft.remove(&at("/args/gone")).expect("a member");
        let span = Span {
            at: at("/args/cmd"),
            start: 0,
            end: 6,
        };
        draft.splice(&span, "*****").expect("a stretch");
        let words = Matcher::compile(&["x"], Syntax::Literal).expect("a word");
        assert_eq!(draft.redact(&words, &at("/args/x"), "yz"), Ok(2));
        draft
            .set(&at("/nowhere/x"), Json::null())
            .expect_err("no parent");
        draft
            .set(&at("/nowhere/y"), Json::null())
            .expect_err("no parent");
        draft
            .set(&at("/headers"), Json::null())
            .expect_err("no grant");
        draft
            .set(&at("/args/new"), Json::null())
            .expect_err("twice");
        draft.set_header("a b", "").expect_err("no header");
        draft.not_granted("secret", "no secrets");
        Ok(draft.deny(Violation::new("CODE", "reason")))
    });
    let mut request = Request::with_id("r9");
    request.user = Some(support::json("\"u1\""));
    request.server_id = Some("s1".into());
    let payload = r#"{"name":"note","args":{"cmd":"secret text","gone":"private","x":"x-x"}}"#;
    let plugins = [
        named("allows", allowing()),
        named("breaks", faulting(FaultKind::OutOfMemory)).on_error(OnError::Ignore),
        named("edits", edits).priority(200),
        named("never", allowing()).priority(201),
    ];
    let record = recorded(plugins, payload, &request).await;
    let common = |name: &str| {
        json!({"name": name, "kind": "in-process", "digest": null, "sandbox": "", "mode": "sequential",
            "verdict": null, "code": null, "fault": null, "edits": [], "refused": []})
    };
    let plugin = |name: &str, more: Value| {
        let mut plugin = common(name);
        let members = plugin.as_object_mut().expect("an object");
        members.extend(more.as_object().expect("an object").clone());
        plugin
    };
    let expected = json!({
        "hook": "tool_pre_invoke", "subject": "note",
        "request": {"id": "r9", "user": "u1", "tenant_id": null, "server_id": "s1"},
        "generation": 1, "decision": "deny", "modified": false,
        // printf '%s' '{"name":...}' | sha256sum
        "payload_sha256": "ba156028bd3f4af0e6ad4d4bd416f4d8b0b42da5c57b8117169f4603957fa8ba",
        "payload_bytes": 71, "final_sha256": null,
        "plugins": [
            plugin("allows", json!({"verdict": "allow"})),
            plugin("breaks", json!({"fault": "out_of_memory"})),
            plugin("edits", json!({"verdict": "deny", "code": "CODE",
                "edits": [
                    {"op": "set", "at": "/args/new", "bytes": 14},
                    {"op": "remove", "at": "/args/gone", "bytes": 0},
                    {"op": "splice", "at": "/args/cmd", "bytes": 5},
                    {"op": "splice", "at": "/args/x", "bytes": 4},
                ],
                "refused": [
                    {"what": "edit", "code": "invalid", "count": 2},
                    {"what": "edit", "code": "not-granted", "count": 1},
                    {"what": "edit", "code": "conflict", "count": 1},
                    {"what": "header", "code": "invalid", "count": 1},
                    {"what": "secret", "code": "not-granted", "count": 1},
                ]})),
        ],
    });
    assert_eq!(steady(&record), expected);
    let text = serde_json::to_string(&record).expect("JSON");
    for value in ["hidden", "secret text", "private", "*****", "x-x", "yz"] {
        assert!(!text.contains(value), "{value} in {text}");
    }
}

#[tokio::test]
async fn a_record_of_a_changed_payload_has_both_digests() {
    let sets = plugin(|call| {
        let mut draft = call.draft();
        draft.set(&at("/x"), support::json("1")).expect("an object");
        Ok(draft.allow())
    });
    let record = recorded([named("p", sets)], r#"{"name":"a"}"#, &Request::default()).await;
    assert_eq!((record.decision, record.modified), (Decision::Allow, true));
    // printf '%s' '{"name":"a"}' | sha256sum, and of '{"name":"a","x":1}'
    assert_eq!(
        record.payload_sha256,
        "d9d719b27480b55cd4918020e7473e716ed3569c8adafe926cf9b10b4f8ef064"
    );
    assert_eq!(
        record.final_sha256.as_deref(),
        Some("71eb714270fadd7cec47653fb0c74c06d65c6df272847705b4f1dd41e858e404")
    );
    assert_eq!(
        record.request.id, record.id,
        "a request without an id is known by the record's"
    );
}

#[tokio::test]
async fn an_answer_that_was_a_fault_still_shows_what_was_refused() {
    let allows = plugin(|call| {
        let mut draft = call.draft();
        draft.set(&at("/x"), support::json("1")).expect("an object");
        draft.remove(&at("/name")).expect_err("the shape needs it");
        Ok(draft.allow())
    });
    let record = recorded([named("p", allows)], r#"{"name":"a"}"#, &Request::default()).await;
    let plugin = &steady(&record)["plugins"][0];
    let expected = json!({"name": "p", "kind": "in-process", "digest": null, "sandbox": "", "mode": "sequential",
        "verdict": null, "code": null, "fault": "protocol", "edits": [],
        "refused": [{"what": "edit", "code": "invalid", "count": 1}]});
    assert_eq!(*plugin, expected);
}

#[tokio::test]
async fn every_call_has_a_record_of_its_own_in_order() {
    let records = Arc::new(Kept::default());
    let builder = Engine::builder()
        .in_process(named("p", denying("NO")))
        .records(records.clone());
    let engine = builder.build().await.expect("one plugin");
    for _ in 0..20 {
        support::ask(&engine).await;
    }
    engine
        .invoke(HOOK, "{", &Request::default())
        .await
        .expect_err("not JSON");
    engine
        .invoke("other", "{}", &Request::default())
        .await
        .expect("nobody listens");
    let kept = records.take();
    assert_eq!(
        kept.len(),
        20,
        "none for an error and none where nobody listens"
    );
    let mut ids: Vec<_> = kept.iter().map(|record| &record.id).collect();
    ids.sort_unstable();
    ids.dedup();
    assert_eq!(ids.len(), 20);
    assert!(kept.is_sorted_by_key(|record| &record.time));
}
