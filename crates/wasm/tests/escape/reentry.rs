//! A plugin that is entered again while it runs: by itself, by the host, through the engine.

use std::sync::{Arc, Mutex, OnceLock};

use futures::future::BoxFuture;
use hookgate_core::config::{Config, OnError};
use hookgate_core::{
    Answer, Decision, Engine, Fault, FaultKind, HookCall, InProcess, MAX_REENTRY_DEPTH, Outcome,
    Plugin, PluginInfo, Request,
};
use hookgate_vectors::guests;
use hookgate_wasm::WasmHost;
use serde_json::json;

use crate::hand::{BUMP, compile, imports};
use crate::table::{Bench, PATIENT, Written, fault, judge, suspect};

/// A component whose hook calls itself from outside: lifted, lowered again, and put into its own table.
fn calls_itself() -> Vec<u8> {
    let text = format!(
        r#"(component $C
{imports}
(core func $drop-document (canon resource.drop $document))
(core func $drop-context (canon resource.drop $context))
(core module $Memory
    (memory (export "memory") 40)
    (table (export "table") 1 funcref)
    (global $heap (mut i32) (i32.const 65536))
    (func (export "cabi_realloc") (param $old i32) (param $old_size i32) (param $align i32) (param $size i32) (result i32) {BUMP}))
(core instance $memory (instantiate $Memory))
(core module $Main
    (type $again (func (param i32 i32 i32 i32 i32)))
    (import "memory" "memory" (memory 1))
    (import "memory" "table" (table 1 funcref))
    (import "host" "drop-document" (func $drop-document (param i32)))
    (import "host" "drop-context" (func $drop-context (param i32)))
    (func (export "pre-invoke") (param $name i32) (param $len i32) (param $doc i32) (param $ctx i32) (result i32)
        (if (i32.eq (local.get $len) (i32.const 7)) (then
            (call_indirect (type $again) (local.get $name) (local.get $len) (local.get $doc) (local.get $ctx) (i32.const 256) (i32.const 0))))
        (call $drop-document (local.get $doc))
        (call $drop-context (local.get $ctx))
        (i32.const 16)))
(core instance $main (instantiate $Main
    (with "memory" (instance $memory))
    (with "host" (instance (export "drop-document" (func $drop-document)) (export "drop-context" (func $drop-context))))))
(func $run (param "name" string) (param "payload" (borrow $document)) (param "ctx" (borrow $context)) (result (result $verdict (error $failure)))
    (canon lift (core func $main "pre-invoke") (memory (core memory $memory "memory")) (realloc (core func $memory "cabi_realloc"))))
(core func $again (canon lower (func $run) (memory (core memory $memory "memory")) (realloc (core func $memory "cabi_realloc"))))
(core module $Fill
    (import "memory" "table" (table 1 funcref))
    (import "main" "again" (func $again (param i32 i32 i32 i32 i32)))
    (elem (i32.const 0) func $again))
(core instance (instantiate $Fill
    (with "memory" (instance $memory))
    (with "main" (instance (export "again" (func $again))))))
(instance $tools (export "pre-invoke" (func $run)))
(export "hookgate:plugin/tools@0.1.0" (instance $tools)))"#,
        imports = imports("")
    );
    compile(&text.replace("VERSION", "0.1.0"))
}

#[tokio::test(flavor = "multi_thread")]
async fn a_component_that_calls_itself() {
    let written = Written::new("calls itself", &calls_itself());
    let bench = Bench::new(suspect(written.0.clone(), PATIENT)).await;
    assert!(
        bench.engine.skipped().is_empty(),
        "{:?}",
        bench.engine.skipped()
    );
    let outcome = bench.ask("hostile", json!({})).await;
    judge(
        "calls itself",
        fault(FaultKind::Trap),
        &outcome,
        &bench.kept,
    );
    bench.neighbour_answers("calls itself").await;
    bench.suspect_answers("calls itself").await;
}

/// Asks its engine what it was asked, and keeps what it heard.
#[derive(Default)]
struct Again {
    engine: OnceLock<Engine>,
    heard: Mutex<Vec<Outcome>>,
}

impl Plugin for Again {
    fn describe(&self) -> PluginInfo {
        PluginInfo::in_process(["tool_pre_invoke"])
    }

    fn call(&self, call: HookCall) -> BoxFuture<'_, Result<Answer, Fault>> {
        Box::pin(async move {
            let engine = self.engine.get().expect("set before anybody asks");
            let payload = call.payload.text().to_string();
            let outcome = engine
                .invoke(&call.hook, payload, &Request::default())
                .await;
            let outcome = outcome.expect("a good payload");
            self.heard.lock().expect("no panic").push(outcome);
            Ok(call.draft().allow())
        })
    }
}

/// A component is asked at every level, and by the one that asks in circles at the last.
#[tokio::test(flavor = "multi_thread")]
async fn through_the_engine() {
    let again = Arc::new(Again::default());
    let mut config = Config::default();
    config.plugins = vec![suspect(guests::component("hostile"), PATIENT)];
    let engine = Engine::builder()
        .config(config)
        .host(Arc::new(WasmHost::new().expect("wasmtime starts")))
        .in_process(
            InProcess::new("again", again.clone())
                .timeout(PATIENT)
                .on_error(OnError::Fail),
        )
        .build()
        .await
        .unwrap_or_else(|report| panic!("{report}"));
    assert!(again.engine.set(engine.clone()).is_ok());
    let payload = json!({ "name": "probe", "args": { "do": "echo", "nonce": "n" } });
    let outcome = engine
        .invoke("tool_pre_invoke", &payload, &Request::default())
        .await;
    let outcome = outcome.expect("a good payload");
    assert_eq!(outcome.decision, Decision::Allow);
    let heard = again.heard.lock().expect("no panic");
    assert_eq!(heard.len(), MAX_REENTRY_DEPTH as usize);
    // Innermost first. There, whoever comes first in the pipeline is already too deep.
    let faults = &heard[0].faults;
    assert_eq!(faults.len(), 1, "{faults:?}");
    assert_eq!(faults[0].kind, FaultKind::ResourceLimit);
    assert_eq!(heard[0].decision, Decision::Deny);
    for outcome in heard[1..].iter().chain([&outcome]) {
        assert!(outcome.faults.is_empty(), "{:?}", outcome.faults);
        assert_eq!(outcome.effects.metadata["nonce"].to_value(), json!("n"));
    }
}
