//! A fault says which plugin, which component, and which of its functions.

use hookgate_core::{FaultKind, Json};
use hookgate_vectors::guests;
use serde_json::{Value, json};
use sha2::{Digest as _, Sha256};

use crate::hand::{Hand, MISBEHAVE};
use crate::table::{Bench, PATIENT, SHORT, Written, suspect};

async fn details(hand: &Hand, limit: std::time::Duration, kind: FaultKind) -> Value {
    let bytes = hand.bytes();
    let written = Written::new(&format!("symbols {kind}"), &bytes);
    let bench = Bench::new(suspect(written.0.clone(), limit)).await;
    let outcome = bench.ask(MISBEHAVE, Value::Null).await;
    let fault = &outcome.faults[0];
    assert_eq!(fault.kind, kind);
    let details = fault.details.to_value();
    let digest: String = Sha256::digest(&bytes)
        .iter()
        .map(|byte| format!("{byte:02x}"))
        .collect();
    assert_eq!(details["plugin"], json!("suspect"));
    assert_eq!(details["digest"], json!(format!("sha256:{digest}")));
    let violation = outcome.violation.as_ref().expect("a fault denies");
    assert_eq!(
        violation.details,
        Json::from_value(&json!({ "fault": kind.as_str() })),
        "callers are not told"
    );
    details["frames"].clone()
}

#[tokio::test(flavor = "multi_thread")]
async fn names_of_functions() {
    // Names as compilers write them: Rust's two ways, C++'s, and one that is as it is.
    let chain = Hand {
        body: "(call $policy_check)",
        more: r#"
            (func $policy_check (call $_ZN6policy5check17h0123456789abcdefE) (drop (i32.const 1)))
            (func $_ZN6policy5check17h0123456789abcdefE (call $_RNvCs1234_6policy4deep) (drop (i32.const 1)))
            (func $_RNvCs1234_6policy4deep unreachable)"#,
        ..Hand::default()
    };
    let frames = details(&chain, PATIENT, FaultKind::Trap).await;
    assert_eq!(
        frames,
        json!([
            "policy::deep",
            "policy::check",
            "policy_check",
            "pre-invoke"
        ])
    );
}

#[tokio::test(flavor = "multi_thread")]
async fn where_time_and_stack_went() {
    let spins = Hand {
        body: "(call $spins)",
        more: "(func $spins (loop $for-ever (br $for-ever)))",
        ..Hand::default()
    };
    let frames = details(&spins, SHORT, FaultKind::Timeout).await;
    assert_eq!(frames, json!(["spins", "pre-invoke"]));
    let deep = Hand {
        body: "(drop (call $deep (i32.const 1)))",
        more: "(func $deep (param $n i32) (result i32) (i32.add (local.get $n) (call $deep (i32.add (local.get $n) (i32.const 1)))))",
        ..Hand::default()
    };
    let frames = details(&deep, PATIENT, FaultKind::StackOverflow).await;
    let frames = frames.as_array().expect("a list");
    assert_eq!(frames.len(), 16, "bounded");
    assert!(frames.iter().all(|frame| frame == "deep"), "{frames:?}");
}

/// Names come from a stranger too.
#[tokio::test(flavor = "multi_thread")]
async fn names_are_bounded() {
    let long: &'static str = Box::leak("é".repeat(5_000).into_boxed_str());
    let more: &'static str =
        Box::leak(format!("(func $long (@name \"{long}\") unreachable)").into_boxed_str());
    let hand = Hand {
        body: "(call $long)",
        more,
        ..Hand::default()
    };
    let frames = details(&hand, PATIENT, FaultKind::Trap).await;
    let name = frames[0].as_str().expect("a name");
    assert!(name.len() <= 256 + '…'.len_utf8(), "{} bytes", name.len());
    assert!(name.starts_with('é') && name.ends_with('…'), "{name}");
}

/// A stripped component has no names but those of its exports: its functions are told by number.
#[tokio::test(flavor = "multi_thread")]
async fn a_stripped_component() {
    let bench = Bench::new(suspect(guests::component("hostile"), PATIENT)).await;
    let outcome = bench.word("trap", &Value::Null).await;
    let details = outcome.faults[0].details.to_value();
    assert_eq!(details["plugin"], json!("suspect"));
    let frames = details["frames"].as_array().expect("a list");
    assert!(!frames.is_empty());
    for frame in frames {
        let frame = frame.as_str().expect("a name");
        assert!(!frame.is_empty() && frame != "?", "{frames:?}");
    }
}

/// What ends a call without a trap is told of the same plugin, with no frames.
#[tokio::test(flavor = "multi_thread")]
async fn faults_without_a_trap() {
    let bench = Bench::new(suspect(guests::component("hostile"), PATIENT)).await;
    for word in ["fail", "unsupported", "bad-json"] {
        let outcome = bench.word(word, &Value::Null).await;
        let details = outcome.faults[0].details.to_value();
        assert_eq!(details["plugin"], json!("suspect"), "{word}");
        assert!(
            details["digest"]
                .as_str()
                .is_some_and(|digest| digest.len() == 71),
            "{word}"
        );
        assert_eq!(details["frames"], json!([]), "{word}");
    }
}
