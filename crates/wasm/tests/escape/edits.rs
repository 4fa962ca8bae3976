//! Pointers that are none, splices off a character or past the end, edits that touch each other.

use hookgate_core::{Decision, FaultKind, RefusalCode};
use hookgate_vectors::guests;
use serde_json::{Value, json};

use crate::table::{Bench, Ends, PATIENT, fault, judge, suspect};

/// What all edits below are made in: `text` has characters of one, two, three and four bytes.
fn args(edits: &Value) -> Value {
    json!({ "do": "edits", "text": "aé€😀b", "list": [1, 2], "edits": edits })
}

#[tokio::test(flavor = "multi_thread")]
async fn text_that_is_no_pointer() {
    let bench = Bench::new(suspect(guests::component("hostile"), PATIENT)).await;
    for to in [
        "get",
        "get-string",
        "get-strings",
        "keys",
        "find",
        "edit-set",
        "edit-remove",
        "edit-splice",
        "redact",
    ] {
        for text in ["no slash", "/a~", "/a~2b", "#/a"] {
            let case = format!("{to} {text:?}");
            let outcome = bench
                .word("no-pointer", &json!({ "to": to, "text": text }))
                .await;
            judge(&case, fault(FaultKind::Protocol), &outcome, &bench.kept);
        }
        bench.neighbour_answers(to).await;
        bench.suspect_answers(to).await;
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn edits_that_do_not_fit() {
    let bench = Bench::new(suspect(guests::component("hostile"), PATIENT)).await;
    let splice = |start: u32, end: u32| json!({ "splice": "/args/text", "start": start, "end": end, "with": "x" });
    let set = |at: &str| json!({ "set": at, "value": "1" });
    // `text` takes bytes 0, 1 to 3, 3 to 6, 6 to 10 and 10: eleven in all.
    let invalid = [
        splice(2, 3),
        splice(1, 2),
        splice(4, 6),
        splice(3, 5),
        splice(7, 10),
        splice(6, 9),
        splice(0, 12),
        splice(12, 12),
        splice(u32::MAX, u32::MAX),
        splice(3, 1),
        json!({ "splice": "/args/list", "start": 0, "end": 0, "with": "x" }),
        json!({ "splice": "/args/none", "start": 0, "end": 0, "with": "x" }),
        set("/args/none/below"),
        set("/args/list/2"),
        set("/args/list/01"),
        set("/args/text/0"),
        set(""),
        set("/args"),
        json!({ "set": "/name", "value": "5" }),
        json!({ "remove": "/name" }),
        json!({ "remove": "/args/none" }),
        json!({ "remove": "/args/list/9" }),
        json!({ "remove": "" }),
    ];
    for edit in invalid {
        let outcome = bench.ask("probe", args(&json!([edit]))).await;
        let case = edit.to_string();
        judge(
            &case,
            Ends::Refused("edit", RefusalCode::Invalid, 1),
            &outcome,
            &bench.kept,
        );
        assert_eq!(
            outcome.effects.metadata["codes"].to_value(),
            json!(["invalid"]),
            "{case}"
        );
        assert_eq!(outcome.decision, Decision::Deny, "{case}");
    }
    bench.neighbour_answers("edits that do not fit").await;
    bench.suspect_answers("edits that do not fit").await;
}

#[tokio::test(flavor = "multi_thread")]
async fn edits_that_touch_each_other() {
    let bench = Bench::new(suspect(guests::component("hostile"), PATIENT)).await;
    let splice = |start: u32, end: u32| json!({ "splice": "/args/text", "start": start, "end": end, "with": "x" });
    let set = |at: &str| json!({ "set": at, "value": "1" });
    let remove = |at: &str| json!({ "remove": at });
    for (first, second) in [
        (splice(0, 3), splice(1, 6)),
        (splice(0, 3), set("/args/text")),
        (set("/args/text"), splice(0, 1)),
        (set("/args/text"), set("/args/text")),
        (set("/args/list/0"), remove("/args/list")),
        (remove("/args/list"), set("/args/list/0")),
        (remove("/args/text"), remove("/args/text")),
    ] {
        let outcome = bench.ask("probe", args(&json!([first, second]))).await;
        let case = format!("{first}, then {second}");
        judge(
            &case,
            Ends::Refused("edit", RefusalCode::Conflict, 1),
            &outcome,
            &bench.kept,
        );
        assert_eq!(
            outcome.effects.metadata["codes"].to_value(),
            json!(["ok", "conflict"]),
            "{case}"
        );
        assert_eq!(outcome.decision, Decision::Deny, "{case}");
    }
    // The same edits apart from each other are none of that.
    let outcome = bench
        .ask(
            "probe",
            args(&json!([
                splice(0, 1),
                splice(3, 6),
                splice(10, 11),
                set("/args/list/0")
            ])),
        )
        .await;
    assert_eq!(outcome.decision, Decision::Allow, "{outcome:?}");
    let payload: Value =
        serde_json::from_str(outcome.payload.expect("allowed").as_str()).expect("JSON");
    assert_eq!(payload["args"]["text"], json!("xéx😀x"));
    assert_eq!(payload["args"]["list"], json!([1, 2]));
    bench.neighbour_answers("edits that touch each other").await;
}
