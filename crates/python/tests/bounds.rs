//! Answers that are too large and logs that are too long.

#[path = "support/stub.rs"]
mod stub;

use std::fmt::Write as _;
use std::sync::{LazyLock, Mutex};

use hookgate_core::FaultKind;
use serde_json::json;
use stub::{Rig, Setup};
use tracing::field::{Field, Visit};
use tracing::span;

#[tokio::test(flavor = "multi_thread")]
async fn an_answer_past_the_limit_is_skipped_and_the_worker_goes_on() {
    let rig = Rig::new().await;
    let pid = rig.pid().await;
    let fault = rig.fault(json!({"do": "big", "bytes": 11_000_000})).await;
    assert_eq!(fault.kind, FaultKind::ResponseTooLarge);
    assert_eq!(
        fault.message,
        "an answer of 11000072 bytes, at most 10000000 are possible"
    );
    let outcome = rig.ask(json!({"do": "big", "bytes": 9_000_000})).await;
    assert!(outcome.faults.is_empty());
    assert_eq!(rig.pid().await, pid);
}

#[tokio::test(flavor = "multi_thread")]
async fn bytes_of_no_call_past_the_limit_end_the_worker() {
    let rig = Rig::new().await;
    let fault = rig
        .fault(json!({"do": "big_without_head", "bytes": 10_000_001}))
        .await;
    assert_eq!(fault.kind, FaultKind::WorkerDied);
    let message = "the worker was ended: it broke the protocol: it sent 10000013 bytes that belong to no call";
    assert_eq!(fault.message, message);
}

#[tokio::test(flavor = "multi_thread")]
async fn a_flood_of_log_lines_neither_blocks_nor_fills_the_log() {
    LazyLock::force(&LOG);
    let mut setup = Setup::new(json!({}));
    setup.spec.name = "flooder".into();
    let rig = setup.build().await;
    assert!(
        rig.ask(json!({"do": "flood", "lines": 5_000}))
            .await
            .faults
            .is_empty()
    );
    // The end of the log comes with the end of the worker, and with it the count of what was dropped.
    rig.engine.shutdown().await;
    let log = LOG.lock().expect("the log").clone();
    let lines: Vec<&str> = log
        .iter()
        .filter_map(|line| line.strip_prefix("flooder: "))
        .collect();
    assert_eq!(lines[0].len(), 8 * 1024 + " ...".len());
    assert!(lines[1].starts_with("line 0 yyy"), "{}", lines[1]);
    let suppressed: Vec<&&str> = lines
        .iter()
        .filter(|line| line.starts_with("suppressed "))
        .collect();
    assert!(!suppressed.is_empty());
    let written: usize = lines
        .iter()
        .filter(|line| line.starts_with("line "))
        .map(|line| line.len())
        .sum();
    let budget = 64 * 1024 * (suppressed.len() + 1);
    assert!(written <= budget, "{written} of {budget} bytes");
    let dropped: usize = suppressed
        .iter()
        .map(|line| {
            line.split(' ')
                .nth(1)
                .expect("a count")
                .parse::<usize>()
                .expect("a number")
        })
        .sum();
    let flood: usize = 65_536
        + (0..5_000)
            .map(|n| format!("line {n} ").len() + 1_000)
            .sum::<usize>();
    assert_eq!(written + dropped + 8 * 1024, flood);
}

#[tokio::test(flavor = "multi_thread")]
async fn the_log_of_a_death_holds_the_last_lines() {
    let rig = Rig::new().await;
    rig.ask(json!({"do": "flood", "lines": 100})).await;
    let fault = rig.fault(json!({"do": "exit", "code": 1})).await;
    let log = fault.details.to_value()["log"]
        .as_str()
        .expect("a text")
        .to_owned();
    assert!(log.len() <= 4 * 1024);
    assert!(
        log.ends_with("\nabout to exit") && log.contains("line 99 "),
        "{log}"
    );
    assert!(!log.contains("line 90 "));
}

/// What plugins logged, as `name: line`.
static LOG: LazyLock<&'static Mutex<Vec<String>>> = LazyLock::new(|| {
    let log: &'static Mutex<Vec<String>> = Box::leak(Box::default());
    tracing::subscriber::set_global_default(Collector(log)).expect("the only subscriber");
    log
});

struct Collector(&'static Mutex<Vec<String>>);

impl tracing::Subscriber for Collector {
    fn enabled(&self, metadata: &tracing::Metadata<'_>) -> bool {
        metadata.target() == "hookgate::plugin"
    }
    fn new_span(&self, _: &span::Attributes<'_>) -> span::Id {
        span::Id::from_u64(1)
    }
    fn record(&self, _: &span::Id, _: &span::Record<'_>) {}
    fn record_follows_from(&self, _: &span::Id, _: &span::Id) {}
    fn event(&self, event: &tracing::Event<'_>) {
        let mut line = Line::default();
        event.record(&mut line);
        self.0
            .lock()
            .expect("the log")
            .push(format!("{}: {}", line.plugin, line.message));
    }
    fn enter(&self, _: &span::Id) {}
    fn exit(&self, _: &span::Id) {}
}

#[derive(Default)]
struct Line {
    plugin: String,
    message: String,
}

impl Visit for Line {
    fn record_debug(&mut self, field: &Field, value: &dyn std::fmt::Debug) {
        let into = if field.name() == "plugin" {
            &mut self.plugin
        } else {
            &mut self.message
        };
        write!(into, "{value:?}").expect("a string takes it");
    }
}
