use super::*;
use serde_json::json;

const TOKEN: &str = "eyJhbGciOi.J9.abcdef";
const OTHER: &str = "eyJhbGciOi.J9.uvwxyz";

fn inbound_only() -> Capabilities {
    [Capability::ReadInboundCredentials].into_iter().collect()
}

fn delegated_only() -> Capabilities {
    [Capability::ReadDelegatedTokens].into_iter().collect()
}

fn members(value: Value) -> Members {
    value.as_object().expect("an object").clone()
}

fn resolve(payload: Value, tokens: Value) -> Result<Value, Fault> {
    let slot = json!({ "inbound_tokens": tokens });
    identity(members(payload), Some(&slot), inbound_only()).map(Value::Object)
}

fn delegate(payload: Value, tokens: Value) -> Result<Value, Fault> {
    let slot = json!({ "delegated_tokens": tokens });
    delegation(members(payload), Some(&slot), delegated_only()).map(Value::Object)
}

#[test]
fn the_token_of_the_slot_goes_into_the_payload_and_its_header_is_masked() {
    let tokens = json!({"user": {"token": TOKEN, "source_header": "X-Auth", "kind": "jwt"}});
    let headers =
        json!({"x-auth": format!("Bearer {TOKEN}"), "X-Copy": format!("<{TOKEN}>"), "X-A": "1"});
    let payload = json!({"raw_token": OTHER, "n": 1.10, "headers": headers});
    assert_eq!(
        resolve(payload, tokens).expect("a token"),
        json!({
            "raw_token": TOKEN, "n": 1.10, "source": "bearer",
            "headers": {"x-auth": HIDDEN, "X-Copy": "<**********>", "X-A": "1"}
        })
    );
}

#[test]
fn where_there_are_no_headers_the_carrier_is_named() {
    let tokens = json!({"user": {"token": TOKEN, "source_header": "X-Auth", "kind": "jwt"}});
    for payload in [json!({}), json!({"headers": {}}), json!({"headers": null})] {
        let folded = resolve(payload, tokens.clone()).expect("a token");
        assert_eq!(folded["headers"], json!({"X-Auth": HIDDEN}));
    }
    let nameless = json!({"user": {"token": TOKEN, "source_header": "", "kind": "jwt"}});
    assert_eq!(
        resolve(json!({}), nameless)
            .expect("a token")
            .get("headers"),
        None
    );
}

#[test]
fn the_source_is_that_of_the_kind_unless_the_caller_says_another() {
    for (kind, expected) in [
        ("jwt", "bearer"),
        ("opaque", "bearer"),
        ("spiffe_jwt", "bearer"),
        ("ucan", "bearer"),
        ("JWT", "bearer"),
        ("txn_token", "custom"),
        ("", "custom"),
    ] {
        let tokens = json!({"user": {"token": TOKEN, "kind": kind}});
        for payload in [
            json!({}),
            json!({"source": "bearer"}),
            json!({"source": null}),
        ] {
            let folded = resolve(payload, tokens.clone()).expect("a token");
            assert_eq!(folded["source"], expected, "{kind}");
        }
        let folded = resolve(json!({"source": "mtls"}), tokens).expect("a token");
        assert_eq!(folded["source"], "mtls");
    }
}

#[test]
fn the_users_own_token_comes_first() {
    let entry = |token: &str| json!({ "token": token });
    for tokens in [
        json!({"client": entry(OTHER), "user": entry(TOKEN)}),
        json!({"x": entry(OTHER), "workload": entry(OTHER), "client": entry(TOKEN)}),
        json!({"a": entry(TOKEN), "b": entry(OTHER)}),
        json!([{"token": OTHER, "role": "client"}, {"token": TOKEN, "role": "user"}]),
        json!([TOKEN, OTHER]),
        json!({"user": TOKEN}),
        entry(TOKEN),
    ] {
        let folded = resolve(json!({}), tokens.clone()).expect("a token");
        assert_eq!(folded["raw_token"], TOKEN, "{tokens}");
    }
}

#[test]
fn a_token_for_the_audience_is_chosen_the_users_before_the_gateways() {
    let entry = |token: &str, audience: &str, mode: &str| json!({"token": token, "audience": audience, "mode": mode});
    let all = json!([
        entry(OTHER, "a", "as_client"),
        entry(OTHER, "a", "as_gateway"),
        entry(TOKEN, "a", "on_behalf_of_user"),
        entry("eyJhbGciOi.for-b", "b", "on_behalf_of_user"),
    ]);
    let folded = delegate(json!({"target_audience": "a"}), all.clone()).expect("a token");
    assert_eq!(folded["bearer_token"], TOKEN);
    let folded = delegate(json!({"target_audience": "b"}), all.clone()).expect("a token");
    assert_eq!(folded["bearer_token"], "eyJhbGciOi.for-b");
    let folded = delegate(json!({"bearer_token": OTHER}), all.clone()).expect("a token");
    assert_eq!(folded["bearer_token"], TOKEN, "no audience is asked for");
    let fault = delegate(json!({"target_audience": "c", "bearer_token": OTHER}), all);
    let fault = fault.expect_err("none for it");
    assert_eq!(fault.kind, FaultKind::Unsupported);
    assert!(
        fault.message.contains("for the audience \"c\""),
        "{fault:?}"
    );
}

#[test]
fn the_payloads_own_token_is_enough() {
    let headers = json!({"Authorization": format!("Bearer {TOKEN}")});
    let payload = json!({"raw_token": TOKEN, "source": "bearer", "headers": headers});
    let folded = identity(members(payload), None, inbound_only()).expect("a token");
    assert_eq!(
        Value::Object(folded),
        json!({"raw_token": TOKEN, "source": "bearer", "headers": {"Authorization": "Bearer **********"}})
    );
    let folded = delegate(json!({"bearer_token": TOKEN}), json!([])).expect("a token");
    assert_eq!(folded["bearer_token"], TOKEN);
}

#[test]
fn what_is_granted_and_not_there_is_unsupported() {
    let payloads = [
        json!(null),
        json!(HIDDEN),
        json!(" \t"),
        json!(""),
        json!(5),
    ];
    for own in payloads {
        let payload = json!({"raw_token": own, "bearer_token": own});
        for slot in [
            None,
            Some(json!({})),
            Some(json!({"inbound_tokens": {}, "delegated_tokens": []})),
        ] {
            let asked = [
                identity(members(payload.clone()), slot.as_ref(), inbound_only()),
                delegation(members(payload.clone()), slot.as_ref(), delegated_only()),
            ];
            for fault in asked.map(|asked| asked.expect_err("nothing is there")) {
                assert_eq!(fault.kind, FaultKind::Unsupported, "{own} {slot:?}");
                assert!(fault.message.contains("\nhint: "), "{fault:?}");
            }
        }
    }
    // One that is there and cannot be used is not replaced by another.
    for bad in [json!(""), json!("  "), json!(null), json!(7)] {
        let tokens = json!({"user": {"token": bad}, "client": {"token": OTHER}});
        let fault = resolve(json!({"raw_token": OTHER}), tokens).expect_err("blank");
        assert!(
            fault.message.contains("blank") && !fault.message.contains(OTHER),
            "{fault:?}"
        );
    }
}

#[test]
fn without_the_grant_nothing_is_lent_and_the_class_can_be_made() {
    let slot = json!({"inbound_tokens": {"user": {"token": TOKEN}}, "delegated_tokens": [{"token": TOKEN}]});
    let payload = identity(Members::new(), Some(&slot), delegated_only()).expect("runs");
    assert_eq!(Value::Object(payload), json!({ "raw_token": HIDDEN }));
    let payload = delegation(Members::new(), Some(&slot), inbound_only()).expect("runs");
    assert_eq!(Value::Object(payload), json!({}));
}

#[test]
fn a_short_token_is_lent_and_not_looked_for_in_headers() {
    let tokens = json!({"user": {"token": "a", "source_header": "X-Auth"}});
    let payload = json!({"headers": {"Accept": "all", "X-Auth": "a"}});
    let folded = resolve(payload, tokens).expect("a token");
    assert_eq!(
        folded["headers"],
        json!({"Accept": "all", "X-Auth": HIDDEN})
    );
}
