//! Side-channel slots: what a request may bring, what a plugin is lent of them, and what it may change.

mod support;

use std::sync::{Arc, Mutex};

use hookgate_core::{
    Capability, Decision, Draft, Engine, ExtensionChanges, InProcess, InvokeError, Json, Outcome,
    RefusalCode, Request, Violation,
};
use support::{HOOK, PAYLOAD, engine, json, plugin};

/// Every slot, each member once; numbers that only their text keeps.
const FULL: &str = r#"{
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

fn request(extensions: &str) -> Request {
    Request {
        extensions: Some(json(extensions)),
        ..Request::default()
    }
}

async fn invoke(engine: &Engine, hook: &str, extensions: &str) -> Result<Outcome, InvokeError> {
    engine.invoke(hook, PAYLOAD, &request(extensions)).await
}

/// What a plugin with these grants is lent of `extensions` at `hook`, as JSON.
async fn lent(grants: &[Capability], hook: &str, extensions: &str) -> serde_json::Value {
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

fn value(text: &str) -> serde_json::Value {
    serde_json::from_str(text).expect("JSON")
}

#[tokio::test]
async fn without_grants_a_plugin_sees_what_is_open() {
    let seen = lent(&[], HOOK, FULL).await;
    let expected = value(
        r#"{"request": {"environment": "test", "n": 1.10},
            "security": {"classification": "internal", "auth_method": "jwt", "objects": {"o": {"managed_by": "tool"}},
                         "data": {"d": {"apply_labels": ["x"]}}},
            "candidate_constraint": {"allow_regions": ["eu"]},
            "mcp": {"tool": {"name": "t"}}, "completion": {"latency_ms": 1e3}, "provenance": {"source": "x"},
            "llm": {"model_id": "m"}, "framework": {"framework": "f"}, "meta": {"tags": ["pii"]},
            "custom": {"k": 1.10, "l": {"m": [1]}}}"#,
    );
    assert_eq!(seen, expected);
}

#[tokio::test]
async fn each_grant_shows_its_part_and_no_other() {
    use Capability::*;
    let base = lent(&[], HOOK, FULL).await;
    let http = value(
        r#"{"method": "GET", "path": "/p", "headers": {"X-A": "1"}, "request_headers": {"X-B": "2"}, "response_headers": {}}"#,
    );
    let delegation = value(FULL)["delegation"].clone();
    let subject = |more: serde_json::Value| {
        let mut subject = value(r#"{"id": "u1", "type": "user"}"#);
        for (key, value) in more.as_object().expect("an object") {
            subject[key] = value.clone();
        }
        subject
    };
    for (grant, at, part) in [
        (ReadAgent, "/agent", value(r#"{"session_id": "s1"}"#)),
        (ReadHeaders, "/http", http.clone()),
        (WriteHeaders, "/http", http),
        (ReadDelegation, "/delegation", delegation.clone()),
        (AppendDelegation, "/delegation", delegation),
        (ReadLabels, "/security/labels", value(r#"["PII"]"#)),
        (AppendLabels, "/security/labels", value(r#"["PII"]"#)),
        (
            ReadClient,
            "/security/client",
            value(r#"{"client_id": "c1"}"#),
        ),
        (ReadSubject, "/security/subject", subject(value("{}"))),
        (
            ReadRoles,
            "/security/subject",
            subject(value(r#"{"roles": ["admin"]}"#)),
        ),
        (
            ReadTeams,
            "/security/subject",
            subject(value(r#"{"teams": ["t"]}"#)),
        ),
        (
            ReadClaims,
            "/security/subject",
            subject(value(r#"{"claims": {"c": "1"}}"#)),
        ),
        (
            ReadPermissions,
            "/security/subject",
            subject(value(r#"{"permissions": ["p"]}"#)),
        ),
    ] {
        let seen = lent(&[grant], HOOK, FULL).await;
        assert_eq!(seen.pointer(at), Some(&part), "{grant}");
        let mut rest = seen.clone();
        let (above, name) = at.rsplit_once('/').expect("a pointer");
        let above = rest
            .pointer_mut(above)
            .and_then(|value| value.as_object_mut());
        above.expect("an object").remove(name);
        assert_eq!(rest, base, "{grant} shows more than its part");
    }
    let seen = lent(&[ReadWorkload], HOOK, FULL).await;
    assert_eq!(
        seen["security"]["caller_workload"],
        value(r#"{"spiffe_id": "a"}"#)
    );
    assert_eq!(
        seen["security"]["this_workload"],
        value(r#"{"spiffe_id": "b"}"#)
    );
}

#[tokio::test]
async fn tokens_are_lent_at_their_hook_alone() {
    let both = [
        Capability::ReadInboundCredentials,
        Capability::ReadDelegatedTokens,
    ];
    let tokens = |hook: &'static str, grants: Vec<Capability>| async move {
        lent(&grants, hook, FULL)
            .await
            .get("raw_credentials")
            .cloned()
    };
    let inbound = value(r#"{"inbound_tokens": {"user": {"token": "in"}}}"#);
    let delegated = value(r#"{"delegated_tokens": [{"token": "out"}]}"#);
    assert_eq!(
        tokens("identity_resolve", both.to_vec()).await,
        Some(inbound)
    );
    assert_eq!(
        tokens("token_delegate", both.to_vec()).await,
        Some(delegated)
    );
    assert_eq!(tokens(HOOK, both.to_vec()).await, None);
    assert_eq!(tokens("identity_resolve", vec![both[1]]).await, None);
    assert_eq!(tokens("token_delegate", vec![both[0]]).await, None);
}

#[tokio::test]
async fn a_slot_nothing_of_which_is_visible_is_not_there() {
    // What a framework's own dump looks like: members it has nothing for are there all the same.
    let dumped = r#"{"security": {"labels": ["PII"], "classification": null, "subject": {"id": "u"}, "objects": {}, "data": {}}}"#;
    assert_eq!(lent(&[], HOOK, dumped).await, value("{}"));
    let seen = lent(&[Capability::ReadLabels], HOOK, dumped).await;
    assert_eq!(
        seen,
        value(
            r#"{"security": {"labels": ["PII"], "classification": null, "objects": {}, "data": {}}}"#
        )
    );
    // A member that is granted and empty says so.
    let none = r#"{"security": {"labels": []}, "http": {}}"#;
    assert_eq!(
        lent(
            &[Capability::AppendLabels, Capability::ReadHeaders],
            HOOK,
            none
        )
        .await,
        value(r#"{"security": {"labels": []}}"#)
    );
    assert_eq!(
        lent(&[], HOOK, r#"{"http": {"headers": {}}}"#).await,
        value("{}")
    );
}

#[tokio::test]
async fn a_request_whose_extensions_do_not_fit_is_an_error() {
    let engine = engine([InProcess::new("p", support::allowing())]).await;
    for (extensions, problem) in [
        ("[]", "extensions is an array, an object is possible"),
        ("\"x\"", "extensions is a string, an object is possible"),
        (
            r#"{"custom": 1}"#,
            "extensions.custom is a number, an object is possible",
        ),
        (
            r#"{"http": {"headers": [["Authorization", "t"]]}}"#,
            "extensions.http.headers is an array, an object is possible",
        ),
        (
            r#"{"http": {"response_headers": true}}"#,
            "extensions.http.response_headers is a boolean, an object is possible",
        ),
        (
            r#"{"security": {"labels": "PII"}}"#,
            "extensions.security.labels is a string, an array is possible",
        ),
        (
            r#"{"security": {"labels": ["a", 1]}}"#,
            "extensions.security.labels[1] is a number, a string is possible",
        ),
        (
            r#"{"security": {"subject": "u"}}"#,
            "extensions.security.subject is a string, an object is possible",
        ),
        (
            r#"{"delegation": {"chain": {}}}"#,
            "extensions.delegation.chain is an object, an array is possible",
        ),
    ] {
        let error = invoke(&engine, HOOK, extensions)
            .await
            .expect_err(extensions);
        assert_eq!(error.code(), "invalid_request");
        assert_eq!(
            error.to_string(),
            format!("the extensions of the request do not fit: {problem}")
        );
        // Nobody listens, so nobody is shown anything.
        let unheard = invoke(&engine, "unheard", extensions).await;
        assert_eq!(unheard.expect("nobody listens").decision, Decision::Allow);
    }
    for extensions in [
        "null",
        "{}",
        r#"{"http": null, "security": {"labels": null, "subject": null}}"#,
    ] {
        assert_eq!(
            lent(&Capability::ALL, HOOK, extensions).await.get("http"),
            None
        );
    }
}

/// What writing gives: the outcome's changed slots, and what the record would list as refused.
struct Written {
    changed: serde_json::Value,
    refused: Vec<(&'static str, RefusalCode, u32)>,
}

/// Lets a plugin with these grants write, and allow.
async fn write(
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

fn not_granted(count: u32) -> Vec<(&'static str, RefusalCode, u32)> {
    vec![("extension", RefusalCode::NotGranted, count)]
}

fn invalid(count: u32) -> Vec<(&'static str, RefusalCode, u32)> {
    vec![("extension", RefusalCode::Invalid, count)]
}

/// Writes one slot; the refusal's code, if it is refused.
fn set(draft: &mut Draft, slot: &str, value: &str) -> Option<RefusalCode> {
    let result = draft.set_extension(slot, json(value));
    result.err().map(|refusal| refusal.code)
}

#[tokio::test]
async fn reading_is_refused_where_a_grant_is_missing_and_none_where_nothing_is() {
    let written = write(&[Capability::ReadHeaders], r#"{"custom": {"k": 1.10}, "agent": {"a": 1}}"#, |draft| {
        assert_eq!(draft.extension("custom"), Ok(Some(json(r#"{"k": 1.10}"#))));
        assert_eq!(draft.extension("http"), Ok(None));
        assert_eq!(draft.extension("security"), Ok(None));
        for slot in ["agent", "delegation", "raw_credentials"] {
            let refusal = draft.extension(slot).expect_err(slot);
            assert_eq!(refusal.code, RefusalCode::NotGranted, "{slot}");
        }
        let refusal = draft.extension("headers").expect_err("no such slot");
        assert_eq!(refusal.code, RefusalCode::Invalid);
        assert_eq!(
            refusal.message,
            "no extension slot \"headers\", there are: request, agent, http, security, candidate_constraint, delegation, \
             raw_credentials, mcp, completion, provenance, llm, framework, meta, custom"
        );
    })
    .await;
    assert_eq!(
        written.refused,
        [
            ("extension", RefusalCode::NotGranted, 3),
            ("extension", RefusalCode::Invalid, 1)
        ]
    );
}

#[tokio::test]
async fn custom_changes_key_by_key_and_is_read_back() {
    let written = write(
        &[],
        r#"{"custom": {"a": 1.10, "b": 2, "c": {"d": 1}}}"#,
        |draft| {
            assert_eq!(
                set(draft, "custom", r#"{"a": 1.10, "c": {"d": 2}, "e": 1e2}"#),
                None
            );
            let seen = draft.extension("custom").expect("open").expect("there");
            assert_eq!(seen.as_str(), r#"{"a":1.10,"c":{"d": 2},"e":1e2}"#);
        },
    )
    .await;
    assert_eq!(written.refused, []);
    assert_eq!(
        written.changed.to_string(),
        r#"{"custom":{"a":1.10,"c":{"d":2},"e":1e+2}}"#,
        "numbers keep their digits"
    );
}

#[tokio::test]
async fn the_last_write_of_a_slot_stands_and_a_refused_one_changes_nothing() {
    let written = write(
        &[Capability::AppendLabels],
        r#"{"security": {"labels": ["a"]}}"#,
        |draft| {
            assert_eq!(set(draft, "security", r#"{"labels": ["a", "b"]}"#), None);
            assert_eq!(
                set(draft, "security", r#"{"labels": ["c"]}"#),
                Some(RefusalCode::Invalid)
            );
            assert_eq!(set(draft, "security", r#"{"labels": ["a", "c"]}"#), None);
            assert_eq!(set(draft, "custom", r#"{"k": 1}"#), None);
            assert_eq!(set(draft, "custom", "{}"), None, "as it was lent");
        },
    )
    .await;
    assert_eq!(
        written.changed,
        value(r#"{"security": {"labels": ["a", "c"]}}"#)
    );
    assert_eq!(written.refused, invalid(1));
}

#[tokio::test]
async fn immutable_slots_and_members_are_refused_and_unchanged_ones_are_not() {
    let all = Capability::ALL;
    let written = write(&all, FULL, |draft| {
        let mut count = 0;
        for slot in ["request", "agent", "candidate_constraint", "mcp", "completion", "provenance", "llm", "framework", "meta"] {
            let lent = draft.extension(slot).expect("granted").expect("there");
            assert_eq!(draft.set_extension(slot, lent), Ok(()), "{slot} as it was lent");
            for forged in [r#"{"forged": 1}"#, "{}", "null"] {
                assert_eq!(set(draft, slot, forged), Some(RefusalCode::NotGranted), "{slot}: {forged}");
                count += 1;
            }
        }
        assert_eq!(set(draft, "raw_credentials", r#"{"inbound_tokens": {}}"#), Some(RefusalCode::NotGranted));
        // The request line is no header, and neither is a member that is not lent.
        for forged in [
            r#"{"method": "POST", "path": "/p", "headers": {"X-A": "1"}, "request_headers": {"X-B": "2"}, "response_headers": {}}"#,
            r#"{"method": "GET", "path": "/p", "headers": {"X-A": "1"}, "request_headers": {"X-B": "2"}, "response_headers": {}, "raw": []}"#,
            r#"{"headers": {"X-A": "1"}, "request_headers": {"X-B": "2"}}"#,
        ] {
            assert_eq!(set(draft, "http", forged), Some(RefusalCode::NotGranted), "{forged}");
        }
        let security = draft.extension("security").expect("granted").expect("there").to_value();
        for member in ["classification", "auth_method", "objects", "data", "client", "caller_workload", "this_workload", "subject"] {
            let mut forged = security.clone();
            forged[member] = value(r#"{"id": "root"}"#);
            forged["labels"] = value(r#"["PII", "new"]"#);
            assert_eq!(set(draft, "security", &forged.to_string()), Some(RefusalCode::NotGranted), "{member}");
        }
        assert_eq!(count, 27);
    })
    .await;
    assert_eq!(written.changed, value("{}"));
    assert_eq!(written.refused, not_granted(27 + 1 + 3 + 8));
}

#[tokio::test]
async fn without_grants_only_custom_can_be_written() {
    let written = write(&[], FULL, |draft| {
        for (slot, wanted) in [
            ("http", r#"{"headers": {"X-A": "2"}}"#),
            (
                "security",
                r#"{"labels": ["PII", "new"], "classification": "internal"}"#,
            ),
            ("delegation", r#"{"chain": [{"subject_id": "b"}]}"#),
            ("agent", r#"{"session_id": "s1"}"#),
        ] {
            assert_eq!(
                set(draft, slot, wanted),
                Some(RefusalCode::NotGranted),
                "{slot}"
            );
        }
        assert_eq!(set(draft, "custom", r#"{"mine": true}"#), None);
        assert_eq!(set(draft, "custom", "[]"), Some(RefusalCode::Invalid));
        assert_eq!(set(draft, "nothing", "{}"), Some(RefusalCode::Invalid));
    })
    .await;
    assert_eq!(written.changed, value(r#"{"custom": {"mine": true}}"#));
    assert_eq!(
        written.refused,
        [
            ("extension", RefusalCode::NotGranted, 4),
            ("extension", RefusalCode::Invalid, 2)
        ]
    );
}

#[tokio::test]
async fn reading_grants_do_not_write() {
    let grants = [
        Capability::ReadHeaders,
        Capability::ReadLabels,
        Capability::ReadDelegation,
    ];
    let written = write(&grants, FULL, |draft| {
        let mut http = draft
            .extension("http")
            .expect("granted")
            .expect("there")
            .to_value();
        http["headers"]["X-A"] = "2".into();
        assert_eq!(
            set(draft, "http", &http.to_string()),
            Some(RefusalCode::NotGranted)
        );
        let mut security = draft
            .extension("security")
            .expect("granted")
            .expect("there")
            .to_value();
        security["labels"] = value("[]");
        assert_eq!(
            set(draft, "security", &security.to_string()),
            Some(RefusalCode::NotGranted),
            "a removal"
        );
        let mut delegation = draft
            .extension("delegation")
            .expect("granted")
            .expect("there")
            .to_value();
        delegation["depth"] = 7.into();
        assert_eq!(
            set(draft, "delegation", &delegation.to_string()),
            Some(RefusalCode::NotGranted)
        );
    })
    .await;
    assert_eq!(written.changed, value("{}"));
    assert_eq!(written.refused, not_granted(3));
}

#[tokio::test]
async fn headers_are_compared_without_case_and_sensitive_ones_are_left_out() {
    let sent = r#"{"http": {"method": "GET", "headers": {"X-A": "1", "x-b": "2", "Cookie": "c"}}}"#;
    let written = write(&[Capability::WriteHeaders], sent, |draft| {
        let wanted = r#"{"method": "GET", "headers": {"x-A": "3", "X-C": "4", "x-c": "5", "AUTHORIZATION": "t", "proxy-authorization": "t"},
                         "response_headers": {"Set-Cookie": "s", "X-D": "6"}}"#;
        assert_eq!(set(draft, "http", wanted), None);
        let seen = draft.extension("http").expect("granted").expect("there");
        assert!(!seen.as_str().to_lowercase().contains("authorization"), "{seen}");
    })
    .await;
    assert_eq!(
        written.changed,
        value(
            r#"{"http": {"method": "GET", "headers": {"x-A": "3", "x-c": "5"}, "response_headers": {"X-D": "6"}}}"#
        )
    );
    assert_eq!(written.refused, not_granted(3), "each is counted");

    let written = write(&[Capability::WriteHeaders], sent, |draft| {
        for wanted in [
            r#"{"method": "GET", "headers": {"X-A": "1", "x-b": "2", "a b": "c"}}"#,
            r#"{"method": "GET", "headers": {"X-A": "1", "x-b": "2", "X": "a\r\nB: c"}}"#,
            r#"{"method": "GET", "headers": {"X-A": "1", "x-b": "2", "X": 1}}"#,
            r#"{"method": "GET", "headers": []}"#,
        ] {
            assert_eq!(
                set(draft, "http", wanted),
                Some(RefusalCode::Invalid),
                "{wanted}"
            );
        }
    })
    .await;
    assert_eq!(
        (written.changed, written.refused),
        (value("{}"), invalid(4))
    );
}

#[tokio::test]
async fn labels_only_grow() {
    let grants = [Capability::AppendLabels];
    let written = write(
        &grants,
        r#"{"security": {"labels": ["a", "b"], "classification": "x"}}"#,
        |draft| {
            for wanted in [
                r#"["a"]"#,
                r#"["a", "c"]"#,
                "[]",
                "null",
                r#""ab""#,
                r#"["a", "b", 1]"#,
            ] {
                let security = format!(r#"{{"labels": {wanted}, "classification": "x"}}"#);
                assert_eq!(
                    set(draft, "security", &security),
                    Some(RefusalCode::Invalid),
                    "{wanted}"
                );
            }
            assert_eq!(
                set(draft, "security", r#"{"classification": "x"}"#),
                Some(RefusalCode::Invalid)
            );
            assert_eq!(
                set(
                    draft,
                    "security",
                    r#"{"labels": ["c", "b", "a", "c"], "classification": "x"}"#
                ),
                None
            );
        },
    )
    .await;
    assert_eq!(
        written.changed,
        value(r#"{"security": {"labels": ["a", "b", "c"], "classification": "x"}}"#)
    );
    assert_eq!(written.refused, invalid(7));
    // A slot that was not there yet.
    let written = write(&grants, "{}", |draft| {
        assert_eq!(set(draft, "security", r#"{"labels": ["a"]}"#), None);
    })
    .await;
    assert_eq!(written.changed, value(r#"{"security": {"labels": ["a"]}}"#));
}

#[tokio::test]
async fn hidden_members_stay_when_labels_are_added() {
    let sent =
        r#"{"security": {"labels": ["a"], "subject": {"id": "u", "roles": ["r"]}, "odd": 1.10}}"#;
    let written = write(&[Capability::AppendLabels], sent, |draft| {
        assert_eq!(set(draft, "security", r#"{"labels": ["a", "b"]}"#), None);
    })
    .await;
    assert_eq!(
        written.changed.to_string(),
        r#"{"security":{"labels":["a","b"],"subject":{"id":"u","roles":["r"]},"odd":1.10}}"#
    );
}

#[tokio::test]
async fn a_chain_is_only_extended() {
    let sent = r#"{"delegation": {"chain": [{"subject_id": "a", "ttl_seconds": 1.0}], "depth": 1, "delegated": true,
                                  "origin_subject_id": "a", "actor_subject_id": "a", "age_seconds": 0.5}}"#;
    let written = write(&[Capability::AppendDelegation], sent, |draft| {
        for wanted in [
            "{}",
            r#"{"chain": [], "origin_subject_id": "a"}"#,
            r#"{"chain": [{"subject_id": "b", "ttl_seconds": 1.0}], "origin_subject_id": "a"}"#,
            r#"{"chain": [{"subject_id": "b"}, {"subject_id": "a", "ttl_seconds": 1.0}], "origin_subject_id": "a"}"#,
            r#"{"chain": [{"subject_id": "a", "ttl_seconds": 1.0}, {"subject_id": "b"}], "origin_subject_id": "b"}"#,
            r#"{"chain": [{"subject_id": "a", "ttl_seconds": 1.0}, {"subject_id": "b"}]}"#,
            r#"{"chain": [{"subject_id": "a", "ttl_seconds": 1.0}, "b"], "origin_subject_id": "a"}"#,
            r#"{"chain": "a", "origin_subject_id": "a"}"#,
        ] {
            assert_eq!(set(draft, "delegation", wanted), Some(RefusalCode::Invalid), "{wanted}");
        }
        let wanted = r#"{"chain": [{"subject_id": "a", "ttl_seconds": 1.0}, {"subject_id": "b"}], "depth": 7, "delegated": false,
                         "origin_subject_id": "a", "actor_subject_id": "b", "note": 1.10}"#;
        assert_eq!(set(draft, "delegation", wanted), None);
    })
    .await;
    assert_eq!(
        written.changed.to_string(),
        concat!(
            r#"{"delegation":{"chain":[{"subject_id":"a","ttl_seconds":1.0},{"subject_id":"b"}],"depth":2,"delegated":true,"#,
            r#""origin_subject_id":"a","actor_subject_id":"b","note":1.10}}"#
        ),
        "depth and delegated follow from the chain"
    );
    assert_eq!(written.refused, invalid(8));
}

#[tokio::test]
async fn what_is_returned_at_once_counts_part_by_part() {
    let grants = [
        Capability::AppendLabels,
        Capability::WriteHeaders,
        Capability::ReadRoles,
    ];
    let sent = r#"{"request": {"environment": "test"}, "custom": {"a": 1}, "http": {"method": "GET", "headers": {"X-A": "1"}},
                   "security": {"labels": ["a"], "subject": {"id": "u", "roles": ["r"]}}}"#;
    let written = write(&grants, sent, |draft| {
        let refused = draft.merge_extensions(&json(
            r#"{"request": {"environment": "forged"}, "custom": {"b": 2}, "agent": null, "unheard_of": {}, "mcp": [],
                "http": {"method": "POST", "headers": {"X-A": "2", "Cookie": "c"}},
                "security": {"labels": ["a", "b"], "subject": {"id": "root", "roles": ["r"]}}}"#,
        ));
        let codes: Vec<_> = refused.iter().map(|refusal| refusal.code.as_str()).collect();
        assert_eq!(codes, ["not-granted", "invalid", "invalid", "not-granted", "not-granted"]);
    })
    .await;
    assert_eq!(
        written.changed,
        value(
            r#"{"custom": {"b": 2}, "http": {"method": "GET", "headers": {"X-A": "2"}},
                "security": {"labels": ["a", "b"], "subject": {"id": "u", "roles": ["r"]}}}"#
        )
    );
    // The cookie makes four.
    assert_eq!(
        written.refused,
        [
            ("extension", RefusalCode::NotGranted, 4),
            ("extension", RefusalCode::Invalid, 2)
        ]
    );
    let written = write(&[], r#"{"custom": {"a": 1}}"#, |draft| {
        assert_eq!(draft.merge_extensions(&json(r#"{"custom": null}"#)), []);
        assert_eq!(draft.merge_extensions(&json("[]")).len(), 1);
        assert_eq!(draft.merge_extensions(&json("null")), []);
    })
    .await;
    assert_eq!(written.changed, value(r#"{"custom": {}}"#));
    assert_eq!(written.refused, invalid(1));
}

#[tokio::test]
async fn a_write_deeper_than_a_request_may_be_is_refused() {
    let deep = |levels: usize| {
        let open = r#"{"a":"#.repeat(levels);
        format!("{open}1{}", "}".repeat(levels))
    };
    let written = write(&[], "{}", move |draft| {
        assert_eq!(set(draft, "custom", &deep(100)), Some(RefusalCode::Invalid));
        assert_eq!(set(draft, "custom", &deep(99)), None);
    })
    .await;
    let again = format!("{}", written.changed);
    lent(&[], HOOK, &again).await;
}

#[tokio::test]
async fn writes_share_the_limit_of_an_answers_effects() {
    let mut limits = support::config(&[]);
    limits.max_payload_bytes = 100;
    let writes = plugin(|call| {
        let mut draft = call.draft();
        draft
            .annotate("k", json(&"1".repeat(49)))
            .expect("50 bytes");
        let big = format!(r#"{{"a": "{}"}}"#, "b".repeat(60));
        assert_eq!(set(&mut draft, "custom", &big), Some(RefusalCode::TooLarge));
        assert_eq!(
            draft
                .merge_extensions(&json(&format!(r#"{{"custom": {big}}}"#)))
                .len(),
            1
        );
        assert_eq!(draft.extension("custom"), Ok(None), "nothing was written");
        assert_eq!(set(&mut draft, "custom", r#"{"a": "b"}"#), None);
        Ok(draft.allow())
    });
    let builder = Engine::builder()
        .config(limits)
        .in_process(InProcess::new("p", writes));
    let engine = builder.build().await.expect("one plugin");
    let outcome = invoke(&engine, HOOK, "{}").await.expect("passes the door");
    assert_eq!(outcome.effects.extensions["custom"], json(r#"{"a":"b"}"#));
}

/// Writes one slot as a function of what is lent.
fn writing(slot: &'static str, change: fn(&Json) -> String) -> Arc<support::Scripted> {
    plugin(move |call| {
        let mut draft = call.draft();
        let seen = draft
            .extension(slot)
            .expect("granted")
            .unwrap_or_else(Json::object);
        draft
            .set_extension(slot, json(&change(&seen)))
            .expect("granted");
        Ok(draft.allow())
    })
}

#[tokio::test]
async fn a_later_plugin_sees_what_an_earlier_one_wrote_as_far_as_its_grants_go() {
    let writer = writing("security", |_| r#"{"labels": ["a", "b"]}"#.into());
    let reader = plugin(|call| {
        let mut draft = call.draft();
        let seen = draft
            .extension("security")
            .expect("open")
            .unwrap_or_else(Json::null);
        draft.annotate("seen", seen).expect("little");
        Ok(draft.allow())
    });
    for (grants, expected) in [
        (vec![Capability::ReadLabels], r#"{"labels":["a","b"]}"#),
        (vec![], "null"),
    ] {
        let engine = engine([
            InProcess::new("writer", Arc::clone(&writer) as _).data([Capability::AppendLabels]),
            InProcess::new("reader", Arc::clone(&reader) as _).data(grants),
        ])
        .await;
        let outcome = invoke(&engine, HOOK, r#"{"security": {"labels": ["a"]}}"#).await;
        let outcome = outcome.expect("passes the door");
        assert_eq!(outcome.effects.metadata["seen"], json(expected));
        assert_eq!(
            outcome.effects.extensions["security"],
            json(r#"{"labels":["a","b"]}"#)
        );
    }
}

#[tokio::test]
async fn a_change_that_is_undone_is_none() {
    let there = writing("custom", |_| r#"{"a": 2, "b": 1}"#.into());
    let back = writing("custom", |_| r#"{"b": 1, "a": 1}"#.into());
    let engine = engine([InProcess::new("there", there), InProcess::new("back", back)]).await;
    let outcome = invoke(&engine, HOOK, r#"{"custom": {"a": 1, "b": 1}}"#).await;
    assert!(
        outcome
            .expect("passes the door")
            .effects
            .extensions
            .is_empty()
    );
}

#[tokio::test]
async fn a_denial_keeps_what_was_written_and_a_fault_drops_it() {
    let denies = plugin(|call| {
        let mut draft = call.draft();
        draft
            .set_extension("custom", json(r#"{"a": 1}"#))
            .expect("open");
        Ok(draft.deny(Violation::new("NO", "no")))
    });
    let one = engine([InProcess::new("p", denies)]).await;
    let outcome = invoke(&one, HOOK, "{}").await.expect("passes the door");
    assert_eq!(outcome.effects.extensions["custom"], json(r#"{"a":1}"#));
    let faults = plugin(|call| {
        let mut draft = call.draft();
        draft
            .set_extension("custom", json(r#"{"a": 1}"#))
            .expect("open");
        draft
            .remove(&support::at("/name"))
            .expect_err("the shape needs it");
        Ok(draft.allow())
    });
    let other = engine([InProcess::new("p", faults)]).await;
    let outcome = invoke(&other, HOOK, "{}").await.expect("passes the door");
    assert!(outcome.effects.extensions.is_empty());
}

#[tokio::test]
async fn an_answer_says_which_slots_it_changes() {
    let changed = Arc::new(Mutex::new(Vec::new()));
    let told = Arc::clone(&changed);
    let writes = plugin(move |call| {
        let mut draft = call.draft();
        draft
            .set_extension("custom", json(r#"{"a": 1}"#))
            .expect("open");
        let answer = draft.allow();
        let changes: &ExtensionChanges = &answer.effects().extensions;
        assert!(!changes.is_empty());
        told.lock().expect("no panic").extend(changes.slots());
        Ok(answer)
    });
    let engine = engine([InProcess::new("p", writes)]).await;
    invoke(&engine, HOOK, "{}").await.expect("passes the door");
    assert_eq!(*changed.lock().expect("no panic"), ["custom"]);
}

/// Counts warnings by the words they hold.
struct Warnings(Mutex<Vec<String>>);

impl tracing::Subscriber for Warnings {
    fn enabled(&self, metadata: &tracing::Metadata<'_>) -> bool {
        *metadata.level() == tracing::Level::WARN
    }

    fn new_span(&self, _: &tracing::span::Attributes<'_>) -> tracing::span::Id {
        tracing::span::Id::from_u64(1)
    }

    fn record(&self, _: &tracing::span::Id, _: &tracing::span::Record<'_>) {}

    fn record_follows_from(&self, _: &tracing::span::Id, _: &tracing::span::Id) {}

    fn event(&self, event: &tracing::Event<'_>) {
        struct Message(String);
        impl tracing::field::Visit for Message {
            fn record_debug(&mut self, field: &tracing::field::Field, value: &dyn std::fmt::Debug) {
                if field.name() == "message" {
                    self.0 = format!("{value:?}");
                }
            }
        }
        let mut message = Message(String::new());
        event.record(&mut message);
        self.0.lock().expect("no panic").push(message.0);
    }

    fn enter(&self, _: &tracing::span::Id) {}

    fn exit(&self, _: &tracing::span::Id) {}
}

#[tokio::test]
async fn what_no_grant_is_known_for_is_said_once_a_call() {
    let warnings = Arc::new(Warnings(Mutex::default()));
    let _guard = tracing::subscriber::set_default(Arc::clone(&warnings));
    let engine = engine([
        InProcess::new("one", support::allowing()),
        InProcess::new("two", support::allowing()),
    ])
    .await;
    invoke(&engine, HOOK, FULL).await.expect("passes the door");
    let said = std::mem::take(&mut *warnings.0.lock().expect("no panic"));
    let [said] = &said[..] else {
        panic!("not one warning: {said:?}");
    };
    for name in [
        "\"unheard_of\"",
        "\"http.raw\"",
        "\"security.odd\"",
        "\"security.subject.odd\"",
        "custom",
    ] {
        assert!(said.contains(name), "no {name} in {said}");
    }
    let known = r#"{"custom": {"a": 1}, "security": {"labels": []}}"#;
    invoke(&engine, HOOK, known).await.expect("passes the door");
    assert!(warnings.0.lock().expect("no panic").is_empty());
}
