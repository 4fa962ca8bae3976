//! What stays behind after a million calls of a wasm plugin, each with an instance of its own, and how
//! late a guest ends that never would.
//!
//! Rows `{work, ours, peer, ratio, target, met}` go to `target/bench/endurance.json`; the program exits 0
//! only if every target is met. Memory and descriptors are read from `/proc`, so it runs on Linux alone.

use std::process::ExitCode;
use std::sync::Arc;
use std::time::{Duration, Instant};

use hookgate::config::{Config, PluginKind, PluginSpec};
use hookgate::{Decision, Engine, FaultKind, Host, Json, Payload, Request, WasmHost};
use hookgate_vectors::guests;
use serde_json::{Value, json};
use tokio::runtime::Runtime;

#[path = "../calls/payloads.rs"]
#[expect(dead_code, reason = "only the smallest payload is asked about here")]
mod payloads;

const HOOK: &str = "tool_pre_invoke";
/// Calls in all, and at once.
const CALLS: usize = 1_000_000;
const CALLERS: usize = 16;
/// Parts of the run that are compared: the second, when everything has filled, and the last.
const PARTS: usize = 10;
/// Readings of memory in each part.
const READINGS: usize = 100;
/// What memory may grow by from one to the other: the larger of these.
const GROWTH_PART: f64 = 0.02;
const GROWTH_BYTES: f64 = (4 << 20) as f64;

/// The limit of a guest that loops, and how late it may end at the median.
const LIMIT: Duration = Duration::from_millis(10);
const LATE: Duration = Duration::from_millis(2);
const LOOPS: usize = 101;

fn main() -> ExitCode {
    let runtime = Runtime::new().expect("a runtime");
    let host: Arc<dyn Host> = Arc::new(WasmHost::new().expect("wasmtime starts"));
    let mut rows = runtime.block_on(million(&host));
    rows.push(runtime.block_on(late(&host)));
    let file = guests::root().join("target/bench/endurance.json");
    std::fs::create_dir_all(file.parent().expect("a folder")).expect("target/bench");
    let text = serde_json::to_string_pretty(&rows).expect("rows are JSON");
    std::fs::write(&file, text).expect("the rows are written");
    println!("wrote {}", file.display());
    let missed = rows.iter().filter(|row| row["met"] != true);
    let missed = missed.inspect(|row| eprintln!("error: {}: {row}", row["work"]));
    match missed.count() {
        0 => ExitCode::SUCCESS,
        _ => ExitCode::FAILURE,
    }
}

fn row(work: &str, ours: f64, before: Option<f64>, target: f64) -> Value {
    println!("{work}: {ours:.0}, at most {target:.0}");
    json!({ "work": work, "ours": ours, "peer": before, "ratio": before.map(|before| ours / before),
            "target": target, "met": ours <= target })
}

async fn engine(host: &Arc<dyn Host>, spec: PluginSpec) -> Engine {
    let mut config = Config::default();
    config.plugins = vec![spec];
    let built = Engine::builder()
        .config(config)
        .host(Arc::clone(host))
        .build();
    built.await.unwrap_or_else(|report| panic!("{report}"))
}

fn spec(component: &str) -> PluginSpec {
    let component = guests::component(component);
    let mut spec = PluginSpec::new("guest", PluginKind::Wasm { component });
    spec.hooks = vec![HOOK.into()];
    spec
}

/// A million calls, and what the process holds meanwhile.
async fn million(host: &Arc<dyn Host>) -> Vec<Value> {
    let mut spec = spec("deny-list-rust");
    spec.config = Json::from_value(&json!({ "words": ["sudo", "secret"] }));
    let engine = engine(host, spec).await;
    let payload = Payload::from(payloads::small());
    batch(&engine, &payload, CALLS / PARTS / READINGS).await;
    let descriptors = open_descriptors();
    let mut parts = Vec::with_capacity(PARTS);
    for _ in 0..PARTS {
        let mut resident = 0.0;
        for _ in 0..READINGS {
            batch(&engine, &payload, CALLS / PARTS / READINGS).await;
            resident += resident_bytes();
        }
        parts.push(resident / READINGS as f64);
    }
    let left = open_descriptors();
    engine.shutdown().await;
    let (second, last) = (parts[1], parts[PARTS - 1]);
    let most = second + (second * GROWTH_PART).max(GROWTH_BYTES);
    vec![
        row(
            "mean resident memory of the last tenth of 1,000,000 calls; of the second, bytes",
            last,
            Some(second),
            most,
        ),
        row(
            "open descriptors after 1,000,000 calls; before",
            left,
            Some(descriptors),
            descriptors,
        ),
    ]
}

/// That many calls, several at once.
async fn batch(engine: &Engine, payload: &Payload, calls: usize) {
    let callers = (0..CALLERS).map(|caller| {
        let (engine, payload) = (engine.clone(), payload.clone());
        let calls = calls / CALLERS + usize::from(caller < calls % CALLERS);
        tokio::spawn(async move {
            for _ in 0..calls {
                let outcome = engine
                    .invoke(HOOK, payload.clone(), &Request::default())
                    .await;
                let outcome = outcome.expect("it passes the door");
                assert_eq!(outcome.decision, Decision::Allow, "{:?}", outcome.faults);
            }
        })
    });
    for caller in callers.collect::<Vec<_>>() {
        caller.await.expect("it ends");
    }
}

/// How late a guest that loops ends.
async fn late(host: &Arc<dyn Host>) -> Value {
    let mut spec = spec("hostile");
    spec.limits.timeout = LIMIT;
    let engine = engine(host, spec).await;
    let payload = Payload::from(r#"{"name":"probe","args":{"do":"loop"}}"#);
    let mut late = Vec::with_capacity(LOOPS);
    for _ in 0..LOOPS {
        let started = Instant::now();
        let outcome = engine
            .invoke(HOOK, payload.clone(), &Request::default())
            .await;
        let took = started.elapsed();
        let outcome = outcome.expect("it passes the door");
        assert_eq!(outcome.faults[0].kind, FaultKind::Timeout, "{outcome:?}");
        late.push(took.saturating_sub(LIMIT).as_nanos() as f64);
    }
    engine.shutdown().await;
    late.sort_by(f64::total_cmp);
    row(
        "how late a looping guest ends under a limit of 10 ms, median, ns",
        late[LOOPS / 2],
        None,
        LATE.as_nanos() as f64,
    )
}

fn resident_bytes() -> f64 {
    let text = std::fs::read_to_string("/proc/self/status").expect("Linux");
    let line = text.lines().find_map(|line| line.strip_prefix("VmRSS:"));
    let kib = line.and_then(|rest| rest.split_whitespace().next()?.parse::<f64>().ok());
    kib.expect("VmRSS is a number of KiB") * 1024.0
}

fn open_descriptors() -> f64 {
    std::fs::read_dir("/proc/self/fd").expect("Linux").count() as f64
}
