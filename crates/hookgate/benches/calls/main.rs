//! What a call costs: through each host alone, and through the engine.
//!
//! Criterion measures; the medians go to `target/bench/calls.json` as rows
//! `{work, ours, peer, ratio, target, met}`, with the unit in the name and null where there is none.

use std::path::PathBuf;
use std::sync::Arc;
use std::time::Duration;

use criterion::Criterion;
use hookgate::config::{Config, PluginSpec};
use hookgate::{Engine, Host, InProcess, PythonHost, PythonHostOptions, Request, WasmHost};
use hookgate_vectors::{Kind, PluginEntry, guests};
use serde_json::{Value, json};
use tokio::runtime::Runtime;

mod payloads;
mod probe;

const HOOK: &str = "tool_pre_invoke";
const WORDS: [&str; 8] = [
    "credit card",
    "ssn",
    "sudo",
    "kill",
    "secret",
    "shutdown",
    "mkfs",
    "drop table",
];

fn deny_list(kind: Kind) -> PluginSpec {
    let entry = json!({ "name": "deny-list", "policy": "deny-list", "hooks": [HOOK], "config": { "words": WORDS } });
    let entry: PluginEntry = serde_json::from_value(entry).expect("an entry");
    kind.spec(&entry)
}

fn engine(
    runtime: &Runtime,
    specs: Vec<PluginSpec>,
    hosts: &[Arc<dyn Host>],
    probes: usize,
) -> Engine {
    let mut config = Config::default();
    config.plugins = specs;
    let mut builder = Engine::builder().config(config);
    for host in hosts {
        builder = builder.host(Arc::clone(host));
    }
    for number in 0..probes {
        builder = builder.in_process(InProcess::new(
            format!("probe-{number}"),
            Arc::new(probe::Probe),
        ));
    }
    runtime
        .block_on(builder.build())
        .unwrap_or_else(|report| panic!("{report}"))
}

fn main() {
    let runtime = Runtime::new().expect("a runtime");
    let wasm: Arc<dyn Host> = Arc::new(WasmHost::new().expect("wasmtime starts"));
    let python: Arc<dyn Host> = Arc::new(PythonHost::new(PythonHostOptions::new(
        guests::environments(),
    )));
    let mut criterion = Criterion::default()
        .configure_from_args()
        .warm_up_time(Duration::from_millis(500))
        .measurement_time(Duration::from_secs(3))
        .sample_size(30);
    let request = Request::with_id("bench");
    let mut rows = Vec::new();

    let unheard = engine(&runtime, Vec::new(), &[], 1);
    let small = hookgate::Payload::from(payloads::small());
    let mut row = |criterion: &mut Criterion,
                   work: &str,
                   engine: &Engine,
                   hook: &str,
                   payload: &hookgate::Payload| {
        criterion.bench_function(work, |bencher| {
            bencher.to_async(&runtime).iter(|| async {
                let outcome = engine
                    .invoke(hook, payload.clone(), &request)
                    .await
                    .expect("a good payload");
                assert!(outcome.faults.is_empty(), "{:?}", outcome.faults);
                outcome
            });
        });
        rows.push(work.to_owned());
    };
    row(
        &mut criterion,
        "hook nobody listens to, ns",
        &unheard,
        "resource_pre_fetch",
        &small,
    );
    for (size, payload) in [
        ("183 B", small.clone()),
        ("9.5 KB", payloads::medium().into()),
        ("1 MB", payloads::large().into()),
    ] {
        let empty = engine(&runtime, Vec::new(), &[], 1);
        row(
            &mut criterion,
            &format!("engine and one empty in-process plugin {size}, ns"),
            &empty,
            HOOK,
            &payload,
        );
        let rust = engine(
            &runtime,
            vec![deny_list(Kind::Rust)],
            &[Arc::clone(&wasm)],
            0,
        );
        row(
            &mut criterion,
            &format!("wasm deny-list of 8 words, fresh instance {size}, ns"),
            &rust,
            HOOK,
            &payload,
        );
        let legacy = engine(
            &runtime,
            vec![deny_list(Kind::Legacy)],
            &[Arc::clone(&python)],
            0,
        );
        row(
            &mut criterion,
            &format!("python deny-list of 8 words {size}, ns"),
            &legacy,
            HOOK,
            &payload,
        );
        runtime.block_on(legacy.shutdown());
    }
    let five = engine(&runtime, Vec::new(), &[], 5);
    row(
        &mut criterion,
        "engine and five empty in-process plugins 183 B, ns",
        &five,
        HOOK,
        &small,
    );
    criterion.final_summary();
    write(&rows);
}

/// Criterion keeps its estimates in files; the median of each row goes into ours.
fn write(rows: &[String]) {
    let root = guests::root();
    let criterion = std::env::var_os("CRITERION_HOME")
        .map_or_else(|| root.join("target/criterion"), PathBuf::from);
    let folders: Vec<(String, PathBuf)> = std::fs::read_dir(&criterion)
        .expect("criterion's folder")
        .flatten()
        .filter_map(|folder| {
            let benchmark: Value = serde_json::from_str(
                &std::fs::read_to_string(folder.path().join("new/benchmark.json")).ok()?,
            )
            .ok()?;
            Some((
                benchmark["full_id"].as_str()?.to_owned(),
                folder.path().join("new/estimates.json"),
            ))
        })
        .collect();
    let rows: Vec<Value> = rows
        .iter()
        .map(|work| {
            let estimates = folders.iter().find(|(id, _)| id == work).map(|(_, file)| file);
            let estimates = estimates.and_then(|file| std::fs::read_to_string(file).ok());
            let estimates: Option<Value> = estimates.and_then(|text| serde_json::from_str(&text).ok());
            let median = estimates.map(|estimates| estimates["median"]["point_estimate"].clone());
            json!({ "work": work, "ours": median, "peer": null, "ratio": null, "target": null, "met": null })
        })
        .collect();
    let folder = root.join("target/bench");
    std::fs::create_dir_all(&folder).expect("target/bench");
    let file = folder.join("calls.json");
    std::fs::write(
        &file,
        serde_json::to_string_pretty(&rows).expect("rows are JSON"),
    )
    .expect("the rows are written");
    println!("wrote {}", file.display());
}
