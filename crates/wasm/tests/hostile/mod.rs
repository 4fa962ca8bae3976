//! An engine with the hostile component in it. Not every test that shares this needs all of it.
#![allow(dead_code)]

use std::sync::Arc;
use std::time::Duration;

use hookgate_core::config::{Config, PluginKind, PluginSpec};
use hookgate_core::{Engine, Json, LoadReport, Outcome, Request};
use hookgate_vectors::guests;
use hookgate_wasm::WasmHost;
use serde_json::{Value, json};

/// The spec of a guest on the two tool hooks, with time enough for a busy machine.
pub fn spec(guest: &str) -> PluginSpec {
    let mut spec = PluginSpec::new(
        "guest",
        PluginKind::Wasm {
            component: guests::component(guest),
        },
    );
    spec.hooks = vec!["tool_pre_invoke".into()];
    spec.limits.timeout = Duration::from_secs(30);
    spec
}

/// Loads one spec.
pub async fn load(spec: PluginSpec) -> Result<Engine, LoadReport> {
    let mut config = Config::default();
    config.plugins.push(spec);
    Engine::builder()
        .config(config)
        .host(Arc::new(WasmHost::new().expect("wasmtime starts")))
        .build()
        .await
}

/// The hostile component under `change`d settings.
pub async fn engine(change: impl FnOnce(&mut PluginSpec)) -> Engine {
    let mut spec = spec("hostile");
    change(&mut spec);
    load(spec).await.unwrap_or_else(|report| panic!("{report}"))
}

/// Asks `engine` to do `what`, with more arguments if there are any.
pub async fn ask(engine: &Engine, what: &str, more: Value) -> Outcome {
    let mut args = json!({ "do": what });
    for (name, value) in more.as_object().into_iter().flatten() {
        args[name] = value.clone();
    }
    let payload = json!({ "name": "probe", "args": args, "headers": { "x": "from the caller" } });
    engine
        .invoke("tool_pre_invoke", &payload, &Request::with_id(what))
        .await
        .expect("the payload is good")
}

/// A mark the guest left for the caller.
pub fn mark(outcome: &Outcome, key: &str) -> Value {
    outcome
        .effects
        .metadata
        .get(key)
        .unwrap_or_else(|| panic!("no mark {key} in {outcome:?}"))
        .to_value()
}

/// Sets the plugin's own config.
pub fn config(spec: &mut PluginSpec, config: Value) {
    spec.config = Json::from_value(&config);
}
