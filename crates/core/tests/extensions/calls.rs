//! Calls with extensions, and what came of them.

use std::sync::{Arc, Mutex};

use hookgate_core::{
    Capability, Decision, Draft, Engine, InProcess, InvokeError, Outcome, RefusalCode, Request,
};

use crate::support::{HOOK, PAYLOAD, engine, json, plugin};

/// Every slot, each member once; numbers that only their text keeps.
pub const FULL: &str = r#"{
    "request": {"environment": "test", "n": 1.10},
    "agent": {"session_id": "s1"},
    "http": {"method": "GET", "path": "/p", "headers": {"X-A": "1", "Authorization": "Bearer t"},
             "request_headers": {"cookie": "c", "X-B": "2"}, "response_headers": {"Set-Cookie": "c"}, "raw": ["authorization"]},
    "security": {"labels": ["PII"], "classification": "internal", "auth_method": "jwt", "objects": {"o": {"managed_by": "tool"}},
                 "data": {"d": {"apply_labels": ["x"]}}, "client": {"client_id": "c1"}, "caller_workload": {"spiffe_id": "a"},
                 "this_workload": {"spiffe_id": "b"}, "odd": 1,
                 "subject": {"id": "u1", "type": "user", "roles": ["admin"], "teams": ["t"], "claims": {"c": "1"}, "permissions": ["p"], "odd": 1}},
    "candidate_constraint": {"allow_regions": ["eu"]},
    "delegation": {"chain": [{"subject_id": "a"}], "depth": 1, "delegated": true, "origin_subject_id": "a"},
    "raw_credentials": {"inbound_tokens": {"user": {"token": "in"}}, "delegated_tokens": [{"token": "out"}]},
    "mcp": {"tool": {"name": "t"}}, "completion": {"latency_ms": 1e3}, "provenance": {"source": "x"}, "llm": {"model_id": "m"},
    "framework": {"framework": "f"}, "meta": {"tags": ["pii"]}, "custom": {"k": 1.10, "l": {"m": [1]}},
    "unheard_of": {"a": 1}, "absent": null
}"#;

pub fn request(extensions: &str) -> Request {
    Request {
        extensions: Some(json(extensions)),
        ..Request::default()
    }
}

pub async fn invoke(engine: &Engine, hook: &str, extensions: &str) -> Result<Outcome, InvokeError> {
    engine.invoke(hook, PAYLOAD, &request(extensions)).await
}

/// What a plugin with these grants is lent of `extensions` at `hook`, as JSON.
pub async fn lent(grants: &[Capability], hook: &str, extensions: &str) -> serde_json::Value {
    let seen = Arc::new(Mutex::new(None));
    let sees = Arc::clone(&seen);
    let looks = plugin(move |call| {
        *sees.lock().expect("no panic") = Some(serde_json::to_string(&call.extensions));
        Ok(call.draft().allow())
    });
    let entry = InProcess::new("looks", looks)
        .data(grants.iter().copied())
        .hooks([hook]);
    let outcome = invoke(&engine([entry]).await, hook, extensions).await;
    let outcome = outcome.expect("the request passes the door");
    assert_eq!(outcome.decision, Decision::Allow);
    assert!(outcome.effects.extensions.is_empty());
    let text = seen.lock().expect("no panic").take();
    serde_json::from_str(&text.expect("it was asked").expect("it serialises")).expect("JSON")
}

pub fn value(text: &str) -> serde_json::Value {
    serde_json::from_str(text).expect("JSON")
}

/// What writing gives: the outcome's changed slots, and what the record would list as refused.
pub struct Written {
    pub changed: serde_json::Value,
    pub refused: Vec<(&'static str, RefusalCode, u32)>,
}

/// Lets a plugin with these grants write, and allow.
pub async fn write(
    grants: &[Capability],
    extensions: &str,
    write: impl Fn(&mut Draft) + Send + Sync + 'static,
) -> Written {
    let refused = Arc::new(Mutex::new(Vec::new()));
    let list = Arc::clone(&refused);
    let writes = plugin(move |call| {
        let mut draft = call.draft();
        write(&mut draft);
        let answer = draft.allow();
        let noted = answer.refused().list().iter();
        *list.lock().expect("no panic") =
            noted.map(|one| (one.what, one.code, one.count)).collect();
        Ok(answer)
    });
    let entry = InProcess::new("writes", writes).data(grants.iter().copied());
    let outcome = invoke(&engine([entry]).await, HOOK, extensions).await;
    let outcome = outcome.expect("the request passes the door");
    assert_eq!(outcome.faults, []);
    assert_eq!(
        outcome.decision,
        Decision::Allow,
        "a refused slot is no refused edit"
    );
    let refused = std::mem::take(&mut *refused.lock().expect("no panic"));
    Written {
        changed: value(&serde_json::to_string(&outcome.effects.extensions).expect("JSON")),
        refused,
    }
}

pub fn not_granted(count: u32) -> Vec<(&'static str, RefusalCode, u32)> {
    vec![("extension", RefusalCode::NotGranted, count)]
}

pub fn invalid(count: u32) -> Vec<(&'static str, RefusalCode, u32)> {
    vec![("extension", RefusalCode::Invalid, count)]
}

/// Writes one slot; the refusal's code, if it is refused.
pub fn set(draft: &mut Draft, slot: &str, value: &str) -> Option<RefusalCode> {
    let result = draft.set_extension(slot, json(value));
    result.err().map(|refusal| refusal.code)
}
