//! Every row, with its target.

use std::path::Path;
use std::sync::Arc;
use std::time::Duration;

use hookgate_core::Host;
use hookgate_wasm::WasmHost;
use serde_json::json;
use tokio::runtime::{Builder, Runtime};

use crate::clock::measure as by_turns;
use crate::ours::{self, TURN_CALLS};
use crate::report::{Row, Target};
use crate::{payloads, peer};

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
/// How long throughput is counted in one run, and how many runs.
const SUSTAINED: Duration = Duration::from_millis(600);
const SUSTAINED_RUNS: usize = 5;
/// Callers a worker: one is always there to go on.
const CALLERS_PER_WORKER: usize = 8;

/// Measures everything once, or the groups of rows whose names hold `only`.
pub fn measure(guests: &Path, components: &Path, only: Option<&str>) -> Vec<Row> {
    let runtime = Builder::new_current_thread()
        .enable_all()
        .build()
        .expect("a runtime");
    let host = Arc::new(WasmHost::new().expect("wasmtime starts"));
    let mut rows = Vec::new();
    let mut group = |name: &str, measure: &mut dyn FnMut(&mut Vec<Row>)| {
        if only.is_none_or(|only| name.contains(only)) {
            measure(&mut rows);
        }
    };
    group("verdicts", &mut |rows| {
        verdicts(&runtime, &host, guests, components, rows)
    });
    group("one-field", &mut |rows| {
        one_field(&runtime, &host, guests, rows)
    });
    group("five", &mut |rows| five(&runtime, &host, components, rows));
    group("sustained", &mut |rows| sustained(guests, components, rows));
    group("loads", &mut |rows| loads(&runtime, components, rows));
    rows
}

fn row(work: impl Into<String>, unit: &'static str, figures: &[f64], target: Target) -> Row {
    let work = work.into();
    Row {
        work: format!("{work}, {unit}"),
        unit,
        ours: figures[0],
        peer: figures.get(1).copied(),
        target,
    }
}

fn deny_list(components: &Path, name: &str) -> hookgate_core::config::PluginSpec {
    ours::spec(
        components,
        "deny-list-rust",
        name,
        &json!({ "words": WORDS }),
    )
}

fn verdicts(
    runtime: &Runtime,
    host: &WasmHost,
    guests: &Path,
    components: &Path,
    rows: &mut Vec<Row>,
) {
    let plugin = ours::load(runtime, host, deny_list(components, "deny-list"));
    let peers = peer::compiled(guests, "deny_list_extism", &[("words", WORDS.join("\n"))]);
    let payloads = [
        ("183 B", payloads::small(), 3.0),
        ("9.5 KB", payloads::medium(), 6.0),
        ("1 MB", payloads::large(), 8.0),
    ];
    for (size, text, times) in &payloads {
        let call = ours::question(runtime, text);
        let figures = by_turns(&mut [
            (ours::ready(runtime, Arc::clone(&plugin), call), TURN_CALLS),
            (peer::reused(&peers, text), usize::MAX),
        ]);
        let work = format!("deny-list of 8 words, {size}, instance ready; a reused extism plugin");
        rows.push(row(work, "ns", &figures, Target::Times(*times)));
    }
    for (size, text, _) in &payloads {
        let figures = by_turns(&mut [(ours::door(text), 10_000)]);
        rows.push(row(
            format!("the check at the door, {size}"),
            "ns",
            &figures,
            Target::None,
        ));
    }
    runtime.block_on(plugin.shutdown());
}

fn one_field(runtime: &Runtime, host: &WasmHost, guests: &Path, rows: &mut Vec<Row>) {
    let (small, large) = (payloads::small(), payloads::large());
    let rule = |at: &str| json!({ "at": at, "refused": "rm" });
    let field = ours::spec(guests, "one_field", "one-field", &rule("/args/cmd"));
    let field = ours::load(runtime, host, field);
    let peers = [("at", "/args/cmd".to_owned()), ("refused", "rm".to_owned())];
    let peers = peer::compiled(guests, "one_field_extism", &peers);
    let question = ours::question(runtime, &small);
    let figures = by_turns(&mut [
        (
            ours::ready(runtime, Arc::clone(&field), question.clone()),
            TURN_CALLS,
        ),
        (peer::reused(&peers, &small), usize::MAX),
    ]);
    let work = "one field, 183 B, instance ready; a reused extism plugin";
    rows.push(row(work, "ns", &figures, Target::Times(1.0)));
    runtime.block_on(field.shutdown());

    let name = ours::spec(guests, "one_field", "name", &rule("/name"));
    let name = ours::load(runtime, host, name);
    let figures = by_turns(&mut [
        (
            ours::ready(runtime, Arc::clone(&name), question),
            TURN_CALLS,
        ),
        (
            ours::ready(runtime, Arc::clone(&name), ours::question(runtime, &large)),
            TURN_CALLS,
        ),
    ]);
    let work = "the tool's name alone, 183 B; 1 MB";
    rows.push(row(work, "ns", &figures, Target::Within(0.1)));
    runtime.block_on(name.shutdown());
}

fn five(runtime: &Runtime, host: &Arc<WasmHost>, components: &Path, rows: &mut Vec<Row>) {
    let text = payloads::small();
    let specs = |count: usize| -> Vec<_> {
        (0..count)
            .map(|number| deny_list(components, &format!("deny-list-{number}")))
            .collect()
    };
    let through = |count| {
        let host: Arc<dyn Host> = host.clone();
        ours::through_engine(runtime, host, specs(count), &text)
    };
    let figures = by_turns(&mut [(through(5), TURN_CALLS), (through(1), TURN_CALLS)]);
    let work = "through the engine, 183 B: five wasm plugins; one";
    rows.push(row(work, "ns", &figures, Target::AtMost(6.0)));
}

fn sustained(guests: &Path, components: &Path, rows: &mut Vec<Row>) {
    let text = payloads::small();
    let peers = peer::compiled(guests, "deny_list_extism", &[("words", WORDS.join("\n"))]);
    let mut ours = [const { Vec::new() }; 2];
    let mut theirs = [const { Vec::new() }; 2];
    for _ in 0..SUSTAINED_RUNS {
        for workers in [1, 2] {
            let runtime = Builder::new_multi_thread()
                .worker_threads(workers)
                .enable_all()
                .build()
                .expect("a runtime");
            let host = WasmHost::new().expect("wasmtime starts");
            let mut spec = deny_list(components, "deny-list");
            spec.instances = hookgate_core::config::Instances::default();
            let plugin = ours::load(&runtime, &host, spec);
            let call = ours::question(&runtime, &text);
            let callers = CALLERS_PER_WORKER * workers;
            // Once unmeasured: pages and pools fill.
            ours::sustained(&runtime, &plugin, &call, callers, SUSTAINED / 4);
            ours[workers - 1].push(ours::sustained(
                &runtime, &plugin, &call, callers, SUSTAINED,
            ));
            theirs[workers - 1].push(peer::fresh(&peers, &text, workers, SUSTAINED));
            runtime.block_on(plugin.shutdown());
        }
    }
    let median = |runs: &mut Vec<f64>| {
        runs.sort_by(f64::total_cmp);
        runs[runs.len() / 2]
    };
    let [one, two] = ours.each_mut().map(median);
    let [peer_one, peer_two] = theirs.each_mut().map(median);
    let work = "a clean instance each, refill included; fresh extism plugins";
    let unit = "calls/s";
    rows.push(row(
        format!("{work}, 1 worker"),
        unit,
        &[one, peer_one],
        Target::Times(8.0),
    ));
    rows.push(row(
        format!("{work}, 2 workers"),
        unit,
        &[two, peer_two],
        Target::Times(8.0),
    ));
    rows.push(row(
        "the same, 2 workers; 1",
        unit,
        &[two, one],
        Target::Times(1.5),
    ));
}

fn loads(runtime: &Runtime, components: &Path, rows: &mut Vec<Row>) {
    let folder = tempfile::tempdir().expect("a folder");
    let component = components.join("deny-list-rust.wasm");
    let bytes = std::fs::metadata(&component).expect("it is built").len();
    let figures = by_turns(&mut [
        (ours::loads(runtime, &component, Some(folder.path())), 100),
        (ours::loads(runtime, &component, None), 1),
    ]);
    let work = format!(
        "load of a component of {} KB: from the warm cache; compiled",
        bytes / 1_000
    );
    rows.push(row(work, "ns", &figures, Target::Times(20.0)));
}
