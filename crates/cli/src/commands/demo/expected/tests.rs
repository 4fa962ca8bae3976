//! Every kind of difference is noticed.

use super::*;
use crate::stream::Unanswered;

const CALL: &str = r#"{"name":"note","args":{"n":1.10}}"#;

/// An outcome as the engine serialises it, with some fields replaced.
fn outcome(decision: &str, modified: bool, payload: Option<&str>, details: &str) -> Outcome {
    let mut outcome = unheard(payload.unwrap_or("{}"));
    outcome.modified = modified;
    outcome.decision = match decision {
        "deny" => Decision::Deny,
        "ask" => Decision::Ask,
        _ => Decision::Allow,
    };
    if decision == "deny" {
        let mut violation = Violation::new("DENY_WORD", "denied word");
        violation.plugin = Some("deny-list".into());
        violation.description = "'sudo' at /args/n".into();
        violation.details = Json::parse(details).unwrap();
        (outcome.violation, outcome.payload) = (Some(violation), None);
    }
    outcome
}

/// The outcome of a hook nobody listens to.
fn unheard(payload: &str) -> Outcome {
    let runtime = tokio::runtime::Builder::new_current_thread()
        .enable_all()
        .build()
        .unwrap();
    runtime.block_on(async {
        let engine = hookgate::Engine::builder().build().await.unwrap();
        engine
            .invoke("x", payload, &hookgate::Request::default())
            .await
            .unwrap()
    })
}

fn answered(outcome: Outcome) -> Answered {
    Answered {
        number: 1,
        consumed: 0,
        id: Some(serde_json::value::to_raw_value("a").unwrap()),
        hook: Some("tool_pre_invoke".into()),
        payload: Some(CALL.into()),
        result: Ok(outcome),
    }
}

fn compare(expected: &str, outcome: Outcome) -> Option<String> {
    let mut expectations = Expectations::parse(expected).unwrap();
    expectations
        .compare(&answered(outcome))
        .map(|mismatch| mismatch.difference)
}

const ALLOW: &str = r#"{"id":"a","decision":"allow"}"#;
const MODIFY: &str =
    r#"{"id":"a","decision":"modify","payload":{"args":{"n":1.10,"m":"x"},"name":"note"}}"#;
const DENY: &str = r#"{"id":"a","decision":"deny","by":"deny-list","violation":{"code":"DENY_WORD","reason":"denied word","description":"'sudo' at /args/n","details":{"word":"sudo","n":1.10}}}"#;
const DETAILS: &str = r#"{"n":1.10,"word":"sudo"}"#;

#[test]
fn equal_outcomes_pass() {
    assert_eq!(compare("", outcome("allow", false, Some(CALL), "")), None);
    assert_eq!(
        compare(ALLOW, outcome("allow", false, Some(CALL), "")),
        None
    );
    assert_eq!(
        compare(
            MODIFY,
            outcome(
                "allow",
                true,
                Some(r#"{"name":"note","args":{"m":"x","n":1.10}}"#),
                ""
            )
        ),
        None
    );
    assert_eq!(compare(DENY, outcome("deny", false, None, DETAILS)), None);
}

#[test]
fn another_decision_is_caught() {
    let denied = || outcome("deny", false, None, DETAILS);
    assert_eq!(
        compare("", denied()).unwrap(),
        "expected allow, found deny: DENY_WORD by deny-list"
    );
    assert_eq!(
        compare(MODIFY, denied()).unwrap(),
        "expected modify, found deny: DENY_WORD by deny-list"
    );
    let allowed = || outcome("allow", false, Some(CALL), "");
    assert_eq!(
        compare(DENY, allowed()).unwrap(),
        "expected deny, found allow"
    );
    assert_eq!(
        compare(MODIFY, allowed()).unwrap(),
        "expected modify, found allow"
    );
    assert_eq!(
        compare("", outcome("allow", true, Some(CALL), "")).unwrap(),
        "expected allow, found modify"
    );
    assert_eq!(
        compare("", outcome("ask", false, Some(CALL), "")).unwrap(),
        "expected allow, found ask"
    );
}

#[test]
fn the_text_of_a_number_is_compared() {
    let payload = r#"{"name":"note","args":{"n":1.1,"m":"x"}}"#;
    let difference = compare(MODIFY, outcome("allow", true, Some(payload), "")).unwrap();
    let expected = r#"expected payload {"args":{"n":1.10,"m":"x"},"name":"note"}, found {"name":"note","args":{"n":1.1,"m":"x"}}"#;
    assert_eq!(difference, expected);
    let allowed = outcome(
        "allow",
        false,
        Some(r#"{"name":"note","args":{"n":1.1}}"#),
        "",
    );
    assert!(
        compare("", allowed)
            .unwrap()
            .starts_with("expected payload ")
    );
}

#[test]
fn a_missing_or_changed_member_is_caught() {
    let payload = r#"{"name":"note","args":{"n":1.10}}"#;
    assert!(compare(MODIFY, outcome("allow", true, Some(payload), "")).is_some());
    let difference = compare(DENY, outcome("deny", false, None, r#"{"word":"sudo"}"#)).unwrap();
    assert_eq!(
        difference,
        r#"expected details {"word":"sudo","n":1.10}, found {"word":"sudo"}"#
    );
    assert!(compare(DENY, outcome("deny", false, None, "{}")).is_some());
    assert!(
        compare(
            DENY,
            outcome("deny", false, None, r#"{"word":"sudo","n":1.1}"#)
        )
        .is_some()
    );
}

#[test]
fn every_text_of_a_violation_is_compared() {
    type Change = fn(&mut Violation);
    let changes: [(Change, &str); 4] = [
        (
            |violation| violation.plugin = Some("other".into()),
            r#"expected by "deny-list", found "other""#,
        ),
        (
            |violation| violation.code = "X".into(),
            r#"expected code "DENY_WORD", found "X""#,
        ),
        (
            |violation| violation.reason = "X".into(),
            r#"expected reason "denied word", found "X""#,
        ),
        (
            |violation| violation.description.clear(),
            r#"expected description "'sudo' at /args/n", found """#,
        ),
    ];
    for (change, difference) in changes {
        let mut found = outcome("deny", false, None, DETAILS);
        found.violation.as_mut().map(change);
        assert_eq!(compare(DENY, found).unwrap(), difference);
    }
}

#[test]
fn a_line_without_an_outcome_is_caught() {
    let result = Err(Unanswered {
        code: "invalid_payload",
        message: "it is bad".into(),
    });
    let answered = Answered {
        result,
        ..answered(unheard("{}"))
    };
    let mismatch = Expectations::parse("").unwrap().compare(&answered).unwrap();
    assert_eq!(
        mismatch.difference,
        "expected an outcome, found invalid_payload: it is bad"
    );
}

#[test]
fn a_recorded_outcome_without_its_call_is_caught() {
    let mut expectations =
        Expectations::parse(&format!("{ALLOW}\n{}", DENY.replace("\"a\"", "\"b\""))).unwrap();
    assert_eq!(
        expectations.compare(&answered(outcome("allow", false, Some(CALL), ""))),
        None
    );
    let unseen = expectations.unseen();
    assert_eq!(
        unseen
            .iter()
            .map(|mismatch| mismatch.id.as_str())
            .collect::<Vec<_>>(),
        ["b"]
    );
}

#[test]
fn files_that_say_too_little_are_refused() {
    let cases = [
        r#"{"id":"a","decision":"deny"}"#,
        r#"{"id":"a","decision":"modify"}"#,
        r#"{"id":"a","decision":"allow","payload":{}}"#,
        r#"{"id":"a","decision":"allow","notes":1}"#,
        "{\"id\":\"a\",\"decision\":\"allow\"}\n{\"id\":\"a\",\"decision\":\"allow\"}",
    ];
    for text in cases {
        assert!(Expectations::parse(text).is_err(), "{text}");
    }
}
