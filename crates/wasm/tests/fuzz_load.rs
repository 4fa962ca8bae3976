//! Damaged components, by the thousand: whatever the loader is given ends in a plugin or in a [`LoadError`], in
//! bounded time and memory, and a good component then still loads and answers.
//!
//! Mutants are drawn from a seed that is printed; `HOOKGATE_FUZZ_SEED` repeats a run. `make test` tries a fixed
//! number; `HOOKGATE_FUZZ_SECONDS` says how long instead (`make fuzz`). The mutant under way lies in
//! `CARGO_TARGET_TMPDIR` and stays there if the run does not end well.

#[allow(dead_code)]
#[path = "escape/hand.rs"]
mod hand;
mod mutate;

use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::time::{Duration, Instant};

use hand::Hand;
use hookgate_core::config::{Config, PluginKind, PluginSpec};
use hookgate_core::{Decision, Engine, Host, LoadError, Request};
use hookgate_vectors::guests;
use hookgate_wasm::WasmHost;
use mutate::{Mutator, Random};
use serde_json::json;

/// Mutants that `make test` tries.
const MUTANTS: u64 = 200;
/// Mutants between two looks at a good component.
const BATCH: u64 = 50;
/// The seed where none is given: runs of the tests are alike.
const SEED: u64 = 0x686f_6f6b_6761_7465;
/// What one load may take. Most mutants are refused in a millisecond; one that is whole enough to be compiled and
/// loops in its start function takes the loader's own two seconds, on a busy machine some more.
const HANG: Duration = Duration::from_secs(120);
/// How far the process may grow over the whole run: compiled code of the largest seed, some times over, far below
/// what a forged length would ask for.
const GROWTH_MAX_KIB: u64 = 1 << 20;

/// All guests of this repository but those with a Python interpreter in them, which take seconds to compile each;
/// and components written as text.
fn corpus() -> Vec<Vec<u8>> {
    let guests = [
        "tools-only",
        "patch-version",
        "future-version",
        "unknown-interface",
        "deny-list-rust",
        "redactor-rust",
        "script-rust",
        "hostile",
    ];
    let mut corpus: Vec<_> = guests
        .into_iter()
        .map(|name| std::fs::read(guests::component(name)).expect("the guest is built"))
        .collect();
    let frozen = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/data/frozen-0.1.0.wasm");
    corpus.push(std::fs::read(frozen).expect("it is checked in"));
    let hands = [
        Hand::default(),
        Hand::hook("unreachable"),
        Hand {
            version: "0.1.9",
            ..Hand::default()
        },
        Hand {
            version: "1.0.0",
            ..Hand::default()
        },
        Hand {
            more: "(func $start (nop)) (start $start)",
            ..Hand::default()
        },
    ];
    corpus.extend(hands.iter().map(Hand::bytes));
    corpus.push(hand::compile("(component)"));
    corpus.push(hand::compile(
        "(component (core module) (component (core module)))",
    ));
    corpus
}

fn number(variable: &str) -> Option<u64> {
    let text = std::env::var(variable).ok()?;
    let number = text.parse();
    Some(number.unwrap_or_else(|_| panic!("{variable}: not a number: {text}; hint: {variable}=60")))
}

/// A figure of `/proc/self/status`, in KiB.
fn status(name: &str) -> u64 {
    let status = std::fs::read_to_string("/proc/self/status").expect("a Linux");
    let line = status
        .lines()
        .find_map(|line| line.strip_prefix(name))
        .expect("it is listed");
    let figure = line.split_whitespace().next().unwrap_or_default();
    figure
        .parse()
        .unwrap_or_else(|_| panic!("no figure: {name}{line}"))
}

fn spec(component: PathBuf) -> PluginSpec {
    let mut spec = PluginSpec::new("mutant", PluginKind::Wasm { component });
    spec.hooks = vec!["tool_pre_invoke".into()];
    spec.limits.timeout = Duration::from_millis(200);
    spec
}

async fn load(host: &WasmHost, file: &Path) -> Result<(), LoadError> {
    let plugin = host.load(spec(file.to_owned())).await?;
    plugin.shutdown().await;
    Ok(())
}

/// A good component loads in the same host, and allows and denies.
async fn good_one(host: &Arc<WasmHost>) {
    let mut spec = spec(guests::component("deny-list-rust"));
    spec.limits.timeout = Duration::from_secs(60);
    spec.config = hookgate_core::Json::from_value(&json!({ "words": ["sudo"] }));
    let mut config = Config::default();
    config.plugins.push(spec);
    let host: Arc<dyn Host> = host.clone();
    let engine = Engine::builder().config(config).host(host).build().await;
    let engine = engine.unwrap_or_else(|report| panic!("{report}"));
    for (command, decision) in [("ls", Decision::Allow), ("sudo ls", Decision::Deny)] {
        let payload = json!({ "name": "sh", "args": { "cmd": command } });
        let outcome = engine
            .invoke("tool_pre_invoke", &payload, &Request::default())
            .await;
        let outcome = outcome.expect("a good payload");
        assert!(outcome.faults.is_empty(), "{:?}", outcome.faults);
        assert_eq!(outcome.decision, decision);
    }
    engine.shutdown().await;
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn mutants_of_components() {
    let seed = number("HOOKGATE_FUZZ_SEED").unwrap_or(SEED);
    let until = number("HOOKGATE_FUZZ_SECONDS")
        .map(|seconds| Instant::now() + Duration::from_secs(seconds));
    println!("seed: HOOKGATE_FUZZ_SEED={seed}");
    let corpus = corpus();
    let mutator = Mutator::new(&corpus);
    let mut random = Random::new(seed);
    let host = Arc::new(WasmHost::new().expect("wasmtime starts"));
    let file =
        Path::new(env!("CARGO_TARGET_TMPDIR")).join(format!("mutant-{}.wasm", std::process::id()));
    good_one(&host).await;
    for (place, seed) in corpus.iter().enumerate() {
        std::fs::write(&file, seed).expect("a file for the test");
        if let Err(error) = load(&host, &file).await {
            println!("seed {place} of the corpus: {error}");
        }
    }
    let before = status("VmRSS:");

    let (mut tried, mut loaded) = (0_u64, 0_u64);
    while match until {
        Some(until) => Instant::now() < until,
        None => tried < MUTANTS,
    } {
        let (mutant, how) = mutator.mutant(&mut random);
        std::fs::write(&file, &mutant).expect("a file for the test");
        let what = || {
            format!(
                "mutant {tried} of seed {seed} ({how}), kept in {}",
                file.display()
            )
        };
        let ended = tokio::time::timeout(HANG, load(&host, &file)).await;
        match ended.unwrap_or_else(|_| panic!("it hangs: {}", what())) {
            Ok(()) => loaded += 1,
            // A panic of the loader arrives as this.
            Err(error) => assert!(!error.message.contains("cut short"), "{error}: {}", what()),
        }
        tried += 1;
        if tried.is_multiple_of(BATCH) {
            good_one(&host).await;
        }
    }
    good_one(&host).await;
    let grown = status("VmHWM:").saturating_sub(before);
    println!(
        "{tried} mutants, {loaded} of them loaded, at most {grown} KiB more memory than before"
    );
    assert!(
        grown < GROWTH_MAX_KIB,
        "it grew by {grown} KiB over {tried} mutants of seed {seed}"
    );
    assert!(loaded < tried, "nothing was damaged");
    drop(std::fs::remove_file(&file));
}
