//! The hosts compared on random payloads: a Rust component, the same policy compiled from Python, and
//! the legacy class give equal canonical outcomes.
//!
//! `HOOKGATE_SEED` (64 hexadecimal digits, printed by every run) repeats a run.

#[path = "agree/payloads.rs"]
mod payloads;

use std::sync::Arc;
use std::time::{SystemTime, UNIX_EPOCH};

use hookgate::{Engine, Host, PythonHost, PythonHostOptions, Request, WasmHost};
use hookgate_vectors::{Kind, PluginEntry, SetupEntry, Suite, canonical, guests};
use payloads::{Case, case};
use proptest::strategy::{Strategy, ValueTree};
use proptest::test_runner::{Config, RngAlgorithm, TestRng, TestRunner};
use serde_json::{Value, json};

const CASES: usize = 2_000;
const HOOKS: [&str; 7] = [
    "tool_pre_invoke",
    "tool_post_invoke",
    "prompt_pre_fetch",
    "prompt_post_fetch",
    "resource_pre_fetch",
    "resource_post_fetch",
    "ledger_append",
];

fn entry(name: &str, policy: &str, config: Value) -> PluginEntry {
    serde_json::from_value(
        json!({ "name": name, "policy": policy, "hooks": HOOKS, "config": config }),
    )
    .expect("an entry")
}

/// The pipelines payloads are put before, by turns.
fn suite() -> Suite {
    let deny = |words: Value, any_case: bool| {
        entry(
            "deny-list",
            "deny-list",
            json!({ "words": words, "ignore_ascii_case": any_case }),
        )
    };
    let redact = |words: Value, with: &str| {
        entry(
            "redactor",
            "redactor",
            json!({ "words": words, "replacement": with }),
        )
    };
    let mut suite = Suite::default();
    for (name, plugins) in [
        (
            "a",
            vec![
                deny(json!(["secrets", "secret", "sudo", "日本語", "\n"]), false),
                redact(json!(["aba", "ab", "token"]), "[redacted]"),
            ],
        ),
        (
            "b",
            vec![
                redact(
                    json!(["日本", "password", "admin", "naïve", "\\"]),
                    "sudo \"x\"",
                ),
                deny(json!(["SUDO", "ünïcode", "credit card"]), true),
            ],
        ),
    ] {
        suite.setups.insert(name.to_owned(), SetupEntry { plugins });
    }
    suite
}

async fn engines(suite: &Suite, kind: Kind, host: &Arc<dyn Host>) -> Vec<Engine> {
    let mut engines = Vec::new();
    for setup in suite.setups.keys() {
        let builder = Engine::builder()
            .config(kind.config(suite, setup))
            .host(Arc::clone(host));
        engines.push(
            builder
                .build()
                .await
                .unwrap_or_else(|report| panic!("{report}")),
        );
    }
    engines
}

/// The canonical outcome of each kind, and the first difference from that of the Rust component.
async fn compare(engines: &[(Kind, Engine)], (hook, payload): &Case) -> (Value, Option<String>) {
    let mut reference = Value::Null;
    let mut difference = None;
    for (index, (kind, engine)) in engines.iter().enumerate() {
        let outcome = engine
            .invoke(hook, payload.as_str(), &Request::default())
            .await;
        let outcome = outcome.unwrap_or_else(|error| panic!("{error}\n{hook} {payload}"));
        let found = canonical::outcome(&outcome);
        if index == 0 {
            reference = found;
        } else if let Some(what) = canonical::first_difference(&reference, &found) {
            difference.get_or_insert(format!(
                "{kind:?} differs from {:?} at {what}; faults {:?}",
                engines[0].0, outcome.faults
            ));
        }
    }
    (reference, difference)
}

fn seed() -> [u8; 32] {
    let mut seed = [0; 32];
    match std::env::var("HOOKGATE_SEED") {
        Ok(text) => {
            assert_eq!(text.len(), 64, "HOOKGATE_SEED has 64 hexadecimal digits");
            for (index, byte) in seed.iter_mut().enumerate() {
                *byte = u8::from_str_radix(&text[index * 2..index * 2 + 2], 16)
                    .expect("HOOKGATE_SEED is hexadecimal");
            }
        }
        Err(_) => {
            let now = SystemTime::now()
                .duration_since(UNIX_EPOCH)
                .expect("the clock is past 1970")
                .as_nanos();
            seed[..16].copy_from_slice(&now.to_le_bytes());
        }
    }
    seed
}

#[tokio::test(flavor = "multi_thread")]
async fn random_payloads() {
    let suite = suite();
    let wasm: Arc<dyn Host> = Arc::new(WasmHost::new().expect("wasmtime starts"));
    let python: Arc<dyn Host> = Arc::new(PythonHost::new(PythonHostOptions::new(
        guests::environments(),
    )));
    let mut pipelines: Vec<Vec<(Kind, Engine)>> = suite.setups.keys().map(|_| Vec::new()).collect();
    for (kind, host) in [
        (Kind::Rust, &wasm),
        (Kind::CompiledPython, &wasm),
        (Kind::Legacy, &python),
    ] {
        for (pipeline, engine) in pipelines.iter_mut().zip(engines(&suite, kind, host).await) {
            pipeline.push((kind, engine));
        }
    }
    let seed = seed();
    let hex: String = seed.iter().map(|byte| format!("{byte:02x}")).collect();
    println!("HOOKGATE_SEED={hex}");
    let mut runner = TestRunner::new_with_rng(
        Config::default(),
        TestRng::from_seed(RngAlgorithm::ChaCha, &seed),
    );
    let mut not_plain = 0;
    for number in 0..CASES {
        let mut tree = case().new_tree(&mut runner).expect("a case can be made");
        let engines = &pipelines[number % pipelines.len()];
        let (outcome, difference) = compare(engines, &tree.current()).await;
        if let Some(mut what) = difference {
            // A smaller payload that still differs says more.
            let mut smallest = tree.current();
            for _ in 0..300 {
                if !tree.simplify() {
                    break;
                }
                match compare(engines, &tree.current()).await.1 {
                    Some(smaller) => (smallest, what) = (tree.current(), smaller),
                    None if !tree.complicate() => break,
                    None => {}
                }
            }
            panic!(
                "case {number} of HOOKGATE_SEED={hex}: {what}\n{} {}",
                smallest.0, smallest.1
            );
        }
        not_plain += usize::from(outcome["decision"] != "allow" || outcome["modified"] == true);
    }
    println!("{not_plain} of {CASES} cases are not plain allows");
    assert!(
        not_plain * 4 >= CASES,
        "only {not_plain} of {CASES} cases are not plain allows"
    );
    for (_, engine) in pipelines.into_iter().flatten() {
        engine.shutdown().await;
    }
}
