//! What one plugin may write.

use hookgate_core::{Capability, Engine, InProcess, RefusalCode};

use crate::calls::{FULL, invalid, invoke, lent, not_granted, set, value, write};
use crate::support;
use crate::support::{HOOK, json, plugin};

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
