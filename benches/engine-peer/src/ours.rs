//! Our side: an engine of in-process plugins.

use std::hint::black_box;
use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::time::Instant;

use futures::future::BoxFuture;
use hookgate_core::{
    Answer, Decision, Engine, Fault, HookCall, Json, Outcome, Payload, Plugin, PluginInfo, Record,
    RecordSink, Request,
};
use tokio::runtime::Runtime;

use crate::clock::Calls;
use crate::{HOOK, Start};

/// Allows everything.
struct NoOp;

impl Plugin for NoOp {
    fn describe(&self) -> PluginInfo {
        PluginInfo::in_process([HOOK])
    }

    fn call(&self, call: HookCall) -> BoxFuture<'_, Result<Answer, Fault>> {
        Box::pin(async move { Ok(call.draft().allow()) })
    }
}

/// Counts the plugins that records name, and drops the records.
#[derive(Default)]
struct Counted(AtomicUsize);

impl RecordSink for Counted {
    fn write(&self, record: Record) {
        let record = black_box(record);
        self.0.store(record.plugins.len(), Ordering::Relaxed);
    }
}

/// Calls of an engine with that many plugins.
pub fn calls<'a>(
    runtime: &'a Runtime,
    text: &'a str,
    plugins: usize,
    start: Start,
    records: bool,
) -> Calls<'a> {
    asks_all(runtime, text, plugins);
    let engine = engine(runtime, plugins, records.then(Arc::default));
    let request = Request::default();
    Box::new(move |count| {
        let mut finals = Vec::with_capacity(count);
        let mut ready = Vec::new();
        if start == Start::AtHand {
            ready.extend((0..count).map(|_| Payload::from(text)));
        }
        let mut ready = ready.into_iter();
        runtime.block_on(async {
            let started = Instant::now();
            for _ in 0..count {
                let payload = ready.next();
                let payload = payload.unwrap_or_else(|| Payload::from(black_box(text)));
                let mut outcome = allowed(engine.invoke(HOOK, payload, &request).await);
                finals.push(outcome.payload.take());
            }
            started.elapsed()
        })
    })
}

/// Our check of the text, without an engine.
pub fn reading(text: &str) -> Calls<'_> {
    Box::new(move |count| {
        let mut kept = Vec::with_capacity(count);
        let started = Instant::now();
        for _ in 0..count {
            kept.push(Json::parse(black_box(text)).expect("the payload is I-JSON"));
        }
        started.elapsed()
    })
}

fn engine(runtime: &Runtime, plugins: usize, sink: Option<Arc<Counted>>) -> Engine {
    let mut builder = Engine::builder();
    for number in 0..plugins {
        builder = builder.plugin(format!("no-op-{number}"), Arc::new(NoOp));
    }
    if let Some(sink) = sink {
        builder = builder.records(sink);
    }
    runtime.block_on(builder.build()).expect("the names differ")
}

/// What is measured is what is meant: the engine asks every one of its plugins.
fn asks_all(runtime: &Runtime, text: &str, plugins: usize) {
    let sink = Arc::<Counted>::default();
    let engine = engine(runtime, plugins, Some(Arc::clone(&sink)));
    allowed(runtime.block_on(engine.invoke(HOOK, text, &Request::default())));
    assert_eq!(sink.0.load(Ordering::Relaxed), plugins);
}

fn allowed<E: std::fmt::Debug>(outcome: Result<Outcome, E>) -> Outcome {
    let outcome = outcome.expect("the payload passes the door");
    assert_eq!(outcome.decision, Decision::Allow);
    outcome
}
