//! Tokens: who is lent them, what becomes of an answer that holds one, and where they are never shown.

use std::sync::{Arc, Mutex};

use hookgate_core::config::OnError;
use hookgate_core::{
    Answer, Capability, Decision, Draft, Engine, Fault, FaultKind, HookCall, InProcess, Json,
    Outcome, Payload, Record, Request, Violation,
};
use serde_json::json;

use crate::calls::value;
use crate::support::{Answered, HOOK, Kept, at, engine, plugin};

const INBOUND: &str = "inbound-eyJhbGciOiJub25lIn0.abc";
const LENT: &str = "lent-for-the-target-0123456789";
const MINTED: &str = "minted-for-the-target-9876543210";
const OF_PAYLOAD: &str = "payload-eyJhbGciOiJub25lIn0.xyz";
const IDENTITY: &str = "identity_resolve";
const DELEGATE: &str = "token_delegate";
const BOTH: [Capability; 2] = [
    Capability::ReadInboundCredentials,
    Capability::ReadDelegatedTokens,
];

fn request() -> Request {
    let extensions = json!({
        "raw_credentials": {
            "inbound_tokens": {"user": {"token": INBOUND, "source_header": "X-Custom-Authorization", "kind": "jwt"}},
            "delegated_tokens": [{"token": LENT, "outbound_header": "Authorization", "audience": "https://a.example"}],
        },
        "http": {"headers": {"Authorization": format!("Bearer {INBOUND}"), "X-A": "1"}},
    });
    Request {
        extensions: Some(extensions.into()),
        ..Request::default()
    }
}

fn payload(hook: &str) -> String {
    let headers = json!({"Authorization": format!("Bearer {OF_PAYLOAD}"), "X-A": "1"});
    let payload = match hook {
        IDENTITY => json!({"raw_token": OF_PAYLOAD, "source": "bearer", "headers": headers}),
        DELEGATE => json!({"target_name": "t", "bearer_token": OF_PAYLOAD}),
        _ => json!({"name": "t", "args": {}}),
    };
    payload.to_string()
}

/// Whether a text holds one of the tokens.
fn shows_a_token(text: &str) -> bool {
    [INBOUND, LENT, MINTED, OF_PAYLOAD]
        .into_iter()
        .any(|token| text.contains(token))
}

fn granted(act: impl Fn(HookCall) -> Answered + Send + Sync + 'static) -> InProcess {
    InProcess::new("p", plugin(act))
        .data(BOTH.into_iter().chain([Capability::ReadHeaders]))
        .hooks([IDENTITY, DELEGATE, HOOK])
}

/// The outcome, and what was recorded of it.
async fn ask(entry: InProcess, hook: &str) -> (Outcome, Record) {
    let records = Arc::new(Kept::default());
    let builder = Engine::builder().in_process(entry).records(records.clone());
    let engine = builder.build().await.expect("one plugin");
    let outcome = engine.invoke(hook, payload(hook), &request()).await;
    let outcome = outcome.expect("it passes the door");
    (outcome, records.take().remove(0))
}

/// What a plugin makes of its draft.
async fn answered(
    hook: &str,
    act: impl Fn(Draft) -> Answer + Send + Sync + 'static,
) -> (Outcome, Record) {
    ask(granted(move |call| Ok(act(call.draft()))), hook).await
}

#[tokio::test]
async fn a_plugin_sees_the_tokens_of_its_hook_and_its_grants() {
    let cases: [(&str, &[Capability], [bool; 3]); 9] = [
        // Inbound, delegated, and the one in the payload.
        (IDENTITY, &BOTH, [true, false, true]),
        (DELEGATE, &BOTH, [false, true, true]),
        (HOOK, &BOTH, [false; 3]),
        (IDENTITY, &BOTH[..1], [true, false, true]),
        (DELEGATE, &BOTH[..1], [false; 3]),
        (IDENTITY, &BOTH[1..], [false; 3]),
        (DELEGATE, &BOTH[1..], [false, true, true]),
        (IDENTITY, &[], [false; 3]),
        (DELEGATE, &[], [false; 3]),
    ];
    for (hook, grants, expected) in cases {
        let seen = Arc::new(Mutex::new(String::new()));
        let sees = Arc::clone(&seen);
        let looks = plugin(move |call| {
            // Everything a host can get at.
            let everything = [
                call.extensions.to_json().to_string(),
                serde_json::to_string(call.request.caller()).expect("it serialises"),
                call.payload.text().to_string(),
                format!(
                    "{:?}",
                    call.draft()
                        .extension("raw_credentials")
                        .map(|slot| slot.map(|slot| slot.to_string()))
                ),
            ];
            *sees.lock().expect("no panic") = everything.join("\n");
            Ok(call.draft().allow())
        });
        let entry = InProcess::new("looks", looks)
            .data(grants.iter().copied().chain([Capability::ReadHeaders]))
            .hooks([hook]);
        let one = engine([entry]).await;
        let outcome = one.invoke(hook, payload(hook), &request()).await;
        assert_eq!(outcome.expect("it passes the door").faults, []);
        let seen = seen.lock().expect("no panic");
        let found = [INBOUND, LENT, OF_PAYLOAD].map(|token| seen.contains(token));
        assert_eq!(found, expected, "{hook} {grants:?}\n{seen}");
    }
}

#[tokio::test]
async fn without_the_grant_a_payload_has_asterisks_for_tokens_and_keeps_the_rest() {
    let seen = Arc::new(Mutex::new(Vec::new()));
    let sees = Arc::clone(&seen);
    let looks = plugin(move |call| {
        sees.lock()
            .expect("no panic")
            .push(value(call.payload.text()));
        Ok(call.draft().allow())
    });
    let entry = InProcess::new("looks", looks)
        .data([Capability::ReadHeaders])
        .hooks([IDENTITY, DELEGATE]);
    let one = engine([entry]).await;
    for hook in [IDENTITY, DELEGATE] {
        let outcome = one.invoke(hook, payload(hook), &request()).await;
        let last = outcome
            .expect("it passes the door")
            .payload
            .expect("allowed");
        assert_eq!(last.as_str(), payload(hook), "the caller has its own back");
    }
    assert_eq!(
        *seen.lock().expect("no panic"),
        [
            json!({"raw_token": "**********", "source": "bearer", "headers": {"Authorization": "**********", "X-A": "1"}}),
            json!({"target_name": "t", "bearer_token": "**********"}),
        ]
    );
}

#[tokio::test]
async fn what_was_not_shown_is_not_edited() {
    for (path, fits) in [
        ("/raw_token", false),
        ("/headers/Authorization", false),
        ("/headers", false),
        ("/headers/X-A", true),
        ("/source", true),
    ] {
        let edits = plugin(move |call| {
            let mut draft = call.draft();
            draft.remove(&at(path)).expect("it is there");
            Ok(draft.allow())
        });
        let entry = InProcess::new("edits", edits)
            .data([Capability::ReadHeaders])
            .hooks([IDENTITY]);
        let outcome = engine([entry])
            .await
            .invoke(IDENTITY, payload(IDENTITY), &request())
            .await
            .expect("it passes the door");
        let faults: Vec<_> = outcome.faults.iter().map(|fault| fault.kind).collect();
        let expected: &[_] = if fits { &[] } else { &[FaultKind::Protocol] };
        assert_eq!(faults, expected, "{path}");
    }
}

/// Every way to bring a token back, by a name.
fn ways(draft: &mut Draft, way: &str, token: &str) {
    let text = Json::string(&format!("<{token}>"));
    match way {
        "mark" => draft.annotate("k", text).expect("little"),
        "name of a mark" => draft.annotate(token, Json::null()).expect("little"),
        "header" => draft.set_header("X-T", token).expect("a header"),
        "state" => draft.set_state("k", Some(text)).expect("little"),
        "shared state" => draft.set_shared("k", Some(text)).expect("little"),
        "metadata" => draft.set_request_metadata("k", Some(text)).expect("little"),
        "slot" => {
            let slot = json!({"deep": [{"k": format!("Bearer {token}")}]});
            draft.set_extension("custom", slot.into()).expect("open");
        }
        "result" => {
            let result = json!({"subject": {"id": "u"}, "raw_claims": {"t": token}});
            draft.set_result(result.into()).expect("little");
        }
        "escaped result" => {
            let escaped = token.replacen('e', "\\u0065", 1);
            assert_ne!(escaped, token);
            let result = Json::parse(format!(r#"{{"t": "{escaped}"}}"#)).expect("I-JSON");
            draft.set_result(result).expect("little");
        }
        "edit" => draft.set(&at("/note"), text).expect("room"),
        "name of a member" => draft
            .set(&at(&format!("/x{token}")), Json::null())
            .expect("room"),
        other => panic!("{other}"),
    }
}

const WAYS: [&str; 11] = [
    "mark",
    "name of a mark",
    "header",
    "state",
    "shared state",
    "metadata",
    "slot",
    "result",
    "escaped result",
    "edit",
    "name of a member",
];

#[tokio::test]
async fn an_inbound_token_never_comes_back() {
    for way in WAYS {
        for token in [INBOUND, OF_PAYLOAD] {
            let (outcome, record) = answered(IDENTITY, move |mut draft| {
                ways(&mut draft, way, token);
                draft.allow()
            })
            .await;
            assert_eq!(outcome.decision, Decision::Deny, "{way}");
            assert_eq!(outcome.faults[0].kind, FaultKind::Protocol, "{way}");
            let told = serde_json::to_string(&outcome).expect("it serialises");
            assert!(!shows_a_token(&told), "{way}: {told}");
            assert_no_token_in(&record, way);
        }
        // The caller's token is the payload's at the other hook.
        let (outcome, _) = answered(DELEGATE, move |mut draft| {
            ways(&mut draft, way, OF_PAYLOAD);
            draft.allow()
        })
        .await;
        assert_eq!(outcome.faults[0].kind, FaultKind::Protocol, "{way}");
    }
}

#[tokio::test]
async fn a_denial_stays_one_and_loses_the_token() {
    for way in WAYS {
        let (outcome, record) = answered(IDENTITY, move |mut draft| {
            ways(&mut draft, way, INBOUND);
            let mut violation = Violation::new(format!("BAD_{INBOUND}"), format!("no {INBOUND}"));
            violation.description = INBOUND.into();
            violation.details = json!({"t": [INBOUND], INBOUND: 1}).into();
            violation.http_headers = vec![("X-T".into(), INBOUND.into())];
            draft.deny(violation)
        })
        .await;
        assert_eq!(
            (outcome.decision, &outcome.faults[..]),
            (Decision::Deny, &[][..])
        );
        let violation = outcome.violation.as_ref().expect("denied");
        assert_eq!(violation.code, "BAD_**********");
        assert_eq!(violation.reason, "no **********");
        assert_eq!(
            violation.details.to_value(),
            json!({"t": ["**********"], "**********": 1})
        );
        let told = serde_json::to_string(&outcome).expect("it serialises");
        assert!(!shows_a_token(&told), "{way}: {told}");
        assert_no_token_in(&record, way);
        let part = serde_json::to_value(&record.plugins[0].refused).expect("it serialises");
        let refused = json!({"what": "credential", "code": "not-granted", "count": 1});
        assert_eq!(part, json!([refused]), "{way}");
    }
}

#[tokio::test]
async fn faults_and_panics_show_no_token() {
    for panics in [false, true] {
        let entry = granted(move |_| {
            assert!(!panics, "Error: {INBOUND} is no JWT");
            let fault = Fault::new(FaultKind::PluginError, format!("ValueError: {INBOUND}"));
            Err(fault.with_details(json!({"traceback": format!("... {OF_PAYLOAD}")}).into()))
        });
        let (outcome, record) = ask(entry.on_error(OnError::Ignore), IDENTITY).await;
        assert_eq!(outcome.faults[0].kind, FaultKind::PluginError);
        let told = serde_json::to_string(&outcome.faults).expect("it serialises");
        assert!(
            told.contains("**********") && !shows_a_token(&told),
            "{told}"
        );
        assert_no_token_in(&record, "a fault");
    }
}

#[tokio::test]
async fn a_token_for_the_target_reaches_the_caller_and_nobody_else() {
    for token in [MINTED, LENT] {
        let (outcome, record) = answered(DELEGATE, move |mut draft| {
            let result = json!({
                "delegated_token": token,
                "forwarded_headers": {"Authorization": format!("Bearer {token}"), "X-Up": token},
                "cache_key": format!("k:{token}"),
            });
            draft.set_result(result.into()).expect("little");
            draft.set_header("X-Next", token).expect("a header");
            draft.allow()
        })
        .await;
        assert_eq!(
            (outcome.decision, &outcome.faults[..]),
            (Decision::Allow, &[][..])
        );
        let result = outcome
            .effects
            .result
            .as_ref()
            .expect("a result")
            .to_value();
        assert_eq!(result["delegated_token"], token, "the caller needs it");
        assert_no_token_in(&record, "a result");
        for text in [format!("{outcome:?}"), format!("{:?}", outcome.effects)] {
            assert!(text.contains(r#""delegated_token":"**********""#), "{text}");
            assert!(!shows_a_token(&text), "{text}");
        }
    }
    // No place of an edit that a record lists may be one.
    let (outcome, record) = answered(DELEGATE, |mut draft| {
        let result = json!({"delegated_token": MINTED});
        draft.set_result(result.into()).expect("little");
        draft
            .set(&at(&format!("/{MINTED}")), Json::null())
            .expect("room");
        draft.allow()
    })
    .await;
    assert_eq!(outcome.faults[0].kind, FaultKind::Protocol);
    assert_no_token_in(&record, "an edit");
}

#[tokio::test]
async fn nothing_that_is_printed_for_debugging_shows_a_token() {
    let texts = Arc::new(Mutex::new(Vec::new()));
    let sees = Arc::clone(&texts);
    let entry = granted(move |call| {
        let mut draft = call.draft();
        draft
            .set_result(json!({"delegated_token": MINTED}).into())
            .expect("little");
        draft.set_header("Authorization", MINTED).expect("a header");
        draft.set_header("X-Next", MINTED).expect("a header");
        draft
            .set_shared("k", Some(Json::string(MINTED)))
            .expect("little");
        let mut texts = sees.lock().expect("no panic");
        texts.extend([
            format!("{call:?}"),
            format!("{call:#?}"),
            format!("{draft:?}"),
        ]);
        let answer = draft.allow();
        texts.push(format!("{answer:?}"));
        Ok(answer)
    });
    let one = engine([entry]).await;
    let mut outcomes = Vec::new();
    for hook in [IDENTITY, DELEGATE] {
        let outcome = one.invoke(hook, payload(hook), &request()).await;
        outcomes.push(format!("{:?}", outcome.expect("it passes the door")));
    }
    let mut texts = std::mem::take(&mut *texts.lock().expect("no panic"));
    assert_eq!(texts.len(), 8);
    assert!(texts[0].contains("**********"), "{}", texts[0]);
    texts.extend(outcomes);
    texts.push(format!("{:?}", request()));
    texts.push(format!("{:?}", Payload::from(payload(IDENTITY))));
    for text in texts {
        assert!(!shows_a_token(&text), "{text}");
    }
    // Where there is no token, everything is shown.
    let plain = Request {
        extensions: Some(json!({"custom": {"k": 1}}).into()),
        ..Request::with_id("r")
    };
    assert!(format!("{plain:?}").contains(r#"{"custom":{"k":1}}"#));
}

#[tokio::test]
async fn short_tokens_are_lent_and_not_looked_for() {
    let extensions = json!({"raw_credentials": {"inbound_tokens": {"user": {"token": "short"}}}});
    let request = Request {
        extensions: Some(extensions.into()),
        ..Request::default()
    };
    let says = granted(|call| {
        let mut draft = call.draft();
        draft
            .annotate("k", Json::string("a short story"))
            .expect("little");
        Ok(draft.allow())
    });
    let one: Engine = engine([says]).await;
    let outcome = one
        .invoke(IDENTITY, "{}", &request)
        .await
        .expect("it passes the door");
    assert_eq!(outcome.decision, Decision::Allow);
}

fn assert_no_token_in(record: &Record, what: &str) {
    let written = serde_json::to_string(record).expect("it serialises");
    for text in [written, format!("{record:?}")] {
        assert!(!shows_a_token(&text), "{what}: {text}");
    }
}
