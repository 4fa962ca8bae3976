//! The process around: its environment, its arguments, other processes, threads. There is nothing to refuse in a
//! call: nothing of it is there to be asked for, and a component that names it does not load.

use hookgate_core::FaultKind;
use hookgate_vectors::guests;
use serde_json::{Value, json};

use crate::hand::{Hand, compile};
use crate::table::{Bench, PATIENT, SHORT, Written, suspect};

#[tokio::test(flavor = "multi_thread")]
async fn names_and_arguments() {
    // Cargo sets both for every test.
    let granted = "CARGO_PKG_NAME";
    assert!(std::env::var_os("CARGO_MANIFEST_DIR").is_some());
    for (names, seen) in [
        (vec![], json!([])),
        (vec![granted.into()], json!([granted])),
    ] {
        let mut spec = suspect(guests::component("hostile"), PATIENT);
        spec.permissions.env = names;
        let bench = Bench::new(spec).await;
        let outcome = bench.word("env", &Value::Null).await;
        assert_eq!(outcome.effects.metadata["env"].to_value(), seen);
        assert_eq!(outcome.effects.metadata["args"].to_value(), json!([]));
        bench.neighbour_answers("env").await;
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn processes_and_threads() {
    let bench = Bench::new(suspect(guests::component("hostile"), PATIENT)).await;
    for word in ["exec", "thread"] {
        let outcome = bench.word(word, &Value::Null).await;
        assert!(outcome.faults.is_empty(), "{word}: {:?}", outcome.faults);
        assert!(
            outcome.effects.metadata.contains_key("error"),
            "{word}: {outcome:?}"
        );
        assert!(!outcome.effects.metadata.contains_key("started"), "{word}");
        bench.neighbour_answers(word).await;
        bench.suspect_answers(word).await;
    }
    let exits = bench.word("exit", &Value::Null).await;
    assert_eq!(
        exits.faults[0].kind,
        FaultKind::Exit,
        "and this process goes on"
    );
    bench.suspect_answers("exit").await;
}

/// What a component would need for either is refused by name or is not a component we take.
#[tokio::test(flavor = "multi_thread")]
async fn what_names_them_does_not_load() {
    let good = Hand::default();
    let spawn = r#"(import "wasi:process/spawn@0.2.0" (instance (export "spawn" (func (param "path" string)))))"#;
    let text = good
        .text()
        .replacen("(component $C", &format!("(component $C {spawn}"), 1);
    let shared = Hand {
        memory: "(memory $memory (export \"memory\") 40 80 shared) (table $table (export \"table\") 1 funcref)",
        ..Hand::default()
    };
    for (what, bytes, says) in [
        ("exec", compile(&text), "wasi:process/spawn@0.2.0"),
        ("threads", shared.bytes(), "the component is not valid: "),
    ] {
        let written = Written::new(what, &bytes);
        let bench = Bench::new(suspect(written.0.clone(), SHORT)).await;
        let skipped = bench.engine.skipped();
        assert_eq!(skipped.len(), 1, "{what}: it loaded");
        let message = &skipped[0].error.message;
        assert!(message.contains(says), "{what}: {message}");
        bench.neighbour_answers(what).await;
    }
}
