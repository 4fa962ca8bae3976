//! Denials and questions of several plugins, over the phases.

use hookgate_core::config::Mode;
use hookgate_core::{Decision, FaultKind, Violation};

use super::cast::{MODES, denied_by, parts, recorded};
use crate::support::{
    allowing, approval, ask, asking, at, denying, faulting, json, named, plugin, tagging, text,
};

/// SHA-256 of `{"name":"sh","args":{"cmd":"ls!"}}`, of `printf` and `sha256sum`.
const DIGEST: &str = "19ccb2dcb5dc82eb585f4603e571bf599ffae049adf945e7a367598ea4bdad7b";

#[tokio::test]
async fn a_denial_skips_every_later_phase_but_the_last() {
    for (mode, plugin) in [
        (Mode::Sequential, denying("NO")),
        (Mode::Transform, faulting(FaultKind::Trap)),
        (Mode::Audit, faulting(FaultKind::Trap)),
        (Mode::Concurrent, denying("NO")),
    ] {
        let (engine, records) = recorded(
            MODES
                .map(|other| named(other.as_str(), allowing()).mode(other))
                .into_iter()
                .chain([named("stops", plugin).mode(mode).priority(0)]),
        )
        .await;
        let outcome = ask(&engine).await;
        let records = records.wait(2).await;
        assert_eq!(
            (outcome.decision, denied_by(&outcome).0),
            (Decision::Deny, "stops")
        );
        assert_eq!(outcome.payload, None);
        let mut expected: Vec<_> = MODES
            .into_iter()
            .filter(|other| *other < mode || *other == Mode::FireAndForget)
            .map(Mode::as_str)
            .collect();
        // A sibling of a denial is polled once all the same, and has answered.
        if mode == Mode::Concurrent {
            expected.insert(3, "concurrent");
        }
        let listed = records[0].plugins.iter().map(|part| &*part.name);
        let listed: Vec<_> = listed.filter(|name| *name != "stops").collect();
        assert_eq!(listed, expected, "{mode}");
    }
}

#[tokio::test]
async fn a_question_is_kept_while_the_rest_runs_and_falls_with_a_later_denial() {
    for (asks, denies) in [
        (Mode::Sequential, Mode::Sequential),
        (Mode::Sequential, Mode::Concurrent),
        (Mode::Concurrent, Mode::Concurrent),
    ] {
        let (engine, records) = recorded([
            named("asks", asking("sure?")).mode(asks),
            named("denies", denying("NO")).mode(denies),
        ])
        .await;
        let outcome = ask(&engine).await;
        assert_eq!(denied_by(&outcome), ("denies", "NO"), "{asks} {denies}");
        assert_eq!(outcome.approvals, []);
        let expected = ["asks: ask", "denies: deny NO"];
        assert_eq!(parts(&records.take()[0]), expected, "{asks} {denies}");
    }
}

#[tokio::test]
async fn questions_of_every_phase_come_in_order_and_are_bound_to_the_final_payload() {
    let asks_and_edits = plugin(|call| {
        let mut draft = call.draft();
        draft
            .set(&at("/args/cmd"), json("\"ls!\""))
            .expect("a member");
        Ok(draft.ask(approval("edited")))
    });
    let (engine, _) = recorded([
        named("c2", asking("third")).mode(Mode::Concurrent),
        named("c1", asking("fourth"))
            .mode(Mode::Concurrent)
            .priority(1),
        named("t", asks_and_edits).mode(Mode::Transform),
        named("a", asking("not")).mode(Mode::Audit),
        named("s1", asking("first")),
        named("s2", asking("second")),
    ])
    .await;
    let outcome = ask(&engine).await;
    assert_eq!(outcome.decision, Decision::Ask);
    assert_eq!(text(&outcome), r#"{"name":"sh","args":{"cmd":"ls!"}}"#);
    let asked = outcome.approvals.iter();
    let asked: Vec<_> = asked
        .map(|approval| {
            (
                &*approval.plugin,
                &*approval.reason,
                &*approval.payload_sha256,
            )
        })
        .collect();
    // Those at once in the order of the configuration, whoever began.
    let expected = [
        ("s1", "first", DIGEST),
        ("s2", "second", DIGEST),
        ("c2", "third", DIGEST),
        ("c1", "fourth", DIGEST),
    ];
    assert_eq!(asked, expected);
    let suppressed = serde_json::to_value(&outcome.suppressed).expect("JSON");
    let entry = |plugin: &str, mode: &str, reason: &str| {
        serde_json::json!({"plugin": plugin, "mode": mode, "verdict": "ask", "approval":
            {"plugin": plugin, "reason": reason, "risk": "medium", "details": {}, "payload_sha256": DIGEST}})
    };
    let expected = [
        entry("t", "transform", "edited"),
        entry("a", "audit", "not"),
    ];
    assert_eq!(suppressed, serde_json::json!(expected));
}

#[tokio::test]
async fn a_suppressed_denial_is_listed_whole() {
    let violation = || Violation {
        plugin: Some("somebody else".into()),
        description: "d".into(),
        details: json(r#"{"a":1.10}"#),
        http_status_code: Some(451),
        ..Violation::new("NO", "no")
    };
    for mode in [Mode::Transform, Mode::Audit] {
        let denies = plugin(move |call| Ok(call.draft().deny(violation())));
        let (engine, _) = recorded([named("p", denies).mode(mode)]).await;
        let outcome = ask(&engine).await;
        let suppressed = serde_json::to_string(&outcome.suppressed).expect("JSON");
        let expected = format!(
            r#"[{{"plugin":"p","mode":"{mode}","verdict":"deny","violation":{{"plugin":"p","code":"NO","reason":"no","description":"d","details":{{"a":1.10}},"mcp_error_code":null,"http_status_code":451,"http_headers":{{}}}}}}]"#
        );
        assert_eq!(suppressed, expected);
        assert_eq!(
            (outcome.decision, outcome.violation),
            (Decision::Allow, None)
        );
    }
}

#[tokio::test]
async fn edits_made_before_a_denial_are_in_no_outcome() {
    for mode in [Mode::Sequential, Mode::Concurrent] {
        let (engine, records) = recorded([
            named("edits", tagging("!")),
            named("transforms", tagging("?"))
                .mode(Mode::Transform)
                .priority(-1),
            named("denies", denying("NO")).mode(mode),
        ])
        .await;
        let outcome = ask(&engine).await;
        assert_eq!((outcome.payload, outcome.modified), (None, false), "{mode}");
        let record = records.take().remove(0);
        assert_eq!((record.final_sha256, record.modified), (None, false));
        assert_eq!(record.plugins[0].edits.len(), 1);
    }
}

#[tokio::test]
async fn what_was_suppressed_or_faulted_before_a_denial_stays_listed() {
    use hookgate_core::config::OnError;
    let (engine, _) = recorded([
        named("broken", faulting(FaultKind::Exit)).on_error(OnError::Ignore),
        named("hears", denying("HEARD")).mode(Mode::Transform),
        named("looks", asking("seen?")).mode(Mode::Audit),
        named("denies", denying("NO")).mode(Mode::Concurrent),
    ])
    .await;
    let outcome = ask(&engine).await;
    assert_eq!(denied_by(&outcome), ("denies", "NO"));
    let suppressed = outcome.suppressed.iter();
    let suppressed: Vec<_> = suppressed.map(|one| (&*one.plugin, one.verdict)).collect();
    let expected = [("hears", Decision::Deny), ("looks", Decision::Ask)];
    assert_eq!(suppressed, expected);
    assert_eq!(
        (outcome.faults.len(), &*outcome.faults[0].plugin),
        (1, "broken")
    );
}
