//! What is no I-JSON, wherever JSON is taken.

use hookgate_core::{FaultKind, RefusalCode};
use hookgate_vectors::guests;
use serde_json::json;

use crate::table::{Bench, Ends, PATIENT, fault, judge, suspect};

/// One of each way not to be I-JSON.
const TEXTS: [&str; 8] = [
    "",
    "{",
    "{} {}",
    "NaN",
    r#"{"a":1,"a":2}"#,
    r#"{"a":1,"\u0061":2}"#,
    r#""\ud800""#,
    "\u{feff}{}",
];

#[tokio::test(flavor = "multi_thread")]
async fn refused_and_counted() {
    let bench = Bench::new(suspect(guests::component("hostile"), PATIENT)).await;
    for (to, what) in [
        ("set-state", "state"),
        ("set-shared", "state"),
        ("set-extension", "extension"),
        ("edit-set", "edit"),
        ("set-result", "result"),
        ("annotate", "annotation"),
        // It has no way to say no; the line is written without them.
        ("log", "log"),
    ] {
        for text in TEXTS {
            let case = format!("{to} {text:?}");
            let outcome = bench
                .word("no-json", &json!({ "to": to, "text": text }))
                .await;
            let ends = Ends::Refused(what, RefusalCode::Invalid, 1);
            judge(&case, ends, &outcome, &bench.kept);
            let told = match to {
                "log" => json!("ok"),
                _ => json!("invalid"),
            };
            assert_eq!(outcome.effects.metadata["code"].to_value(), told, "{case}");
        }
        bench.neighbour_answers(to).await;
        bench.suspect_answers(to).await;
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn in_a_verdict() {
    let bench = Bench::new(suspect(guests::component("hostile"), PATIENT)).await;
    for to in ["deny", "ask"] {
        // The last one is JSON, but no object.
        for text in TEXTS.into_iter().chain(["[]"]) {
            let case = format!("{to} {text:?}");
            let outcome = bench
                .word("no-json", &json!({ "to": to, "text": text }))
                .await;
            judge(&case, fault(FaultKind::PluginError), &outcome, &bench.kept);
        }
        bench.neighbour_answers(to).await;
        bench.suspect_answers(to).await;
    }
}
