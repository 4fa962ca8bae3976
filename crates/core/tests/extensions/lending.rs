//! What a request may bring, and what a plugin is lent of it.

use hookgate_core::{Capability, Decision, InProcess};

use crate::calls::{FULL, invoke, lent, value};
use crate::support;
use crate::support::{HOOK, engine};

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
