//! Broken plugins and broken hosts, each of which the vectors must catch at least three times.
//!
//! A mutant stands between the engine and the real Rust components and breaks one thing.

use std::collections::BTreeSet;
use std::sync::Arc;

use futures::future::BoxFuture;
use hookgate::{
    Answer, Document, Fault, HookCall, Host, Json, LoadError, Plugin, PluginInfo, Verdict,
    WasmHost, config::PluginSpec,
};
use hookgate_vectors::{Kind, Suite};
use serde_json::Value;

/// What a mutant breaks.
#[derive(Clone, Copy)]
enum Broken {
    AlwaysAllows,
    DropsDetails,
    RoundsNumbers,
    LosesState,
}

struct MutantHost {
    real: WasmHost,
    broken: Broken,
}

struct Mutant {
    real: Arc<dyn Plugin>,
    broken: Broken,
}

impl Host for MutantHost {
    fn kind(&self) -> &'static str {
        self.real.kind()
    }

    fn load(&self, spec: PluginSpec) -> BoxFuture<'_, Result<Arc<dyn Plugin>, LoadError>> {
        Box::pin(async move {
            let real = self.real.load(spec).await?;
            Ok(Arc::new(Mutant {
                real,
                broken: self.broken,
            }) as Arc<dyn Plugin>)
        })
    }
}

impl Plugin for Mutant {
    fn describe(&self) -> PluginInfo {
        self.real.describe()
    }

    fn call(&self, mut call: HookCall) -> BoxFuture<'_, Result<Answer, Fault>> {
        Box::pin(async move {
            match self.broken {
                Broken::AlwaysAllows => Ok(call.draft().allow()),
                Broken::DropsDetails => {
                    let answer = self.real.call(call).await?;
                    Ok(match answer.verdict().clone() {
                        Verdict::Deny(mut violation) => {
                            violation.details = Json::object();
                            answer.with_verdict(Verdict::Deny(violation))
                        }
                        _ => answer,
                    })
                }
                Broken::RoundsNumbers => {
                    call.payload = rounded(&call.payload);
                    self.real.call(call).await
                }
                Broken::LosesState => {
                    let mut answer = self.real.call(call).await?;
                    answer.effects_mut().state.clear();
                    Ok(answer)
                }
            }
        })
    }

    fn keeps_deadline(&self) -> bool {
        self.real.keeps_deadline()
    }
}

fn rounded(document: &Document) -> Document {
    fn round(value: &mut Value) {
        match value {
            Value::Number(number) => {
                if let Some(float) = number.as_f64().and_then(serde_json::Number::from_f64) {
                    *number = float;
                }
            }
            Value::Array(items) => items.iter_mut().for_each(round),
            Value::Object(members) => members.values_mut().for_each(round),
            _ => {}
        }
    }
    let mut value: Value = serde_json::from_str(document.text()).expect("a document is JSON");
    round(&mut value);
    Document::new(Json::from_value(&value))
}

/// The names of the vectors that catch a mutant.
async fn caught(broken: Broken) -> BTreeSet<String> {
    let real = WasmHost::new().expect("wasmtime starts");
    let host: Arc<dyn Host> = Arc::new(MutantHost { real, broken });
    let mut suite = Suite::load();
    // The endless loop of this setup costs its deadline and catches none of these; the modes have mutants of their own.
    suite
        .setups
        .retain(|name, _| name != "fault-spin" && name != "phases" && !name.starts_with("mode-"));
    suite.run(&(Kind::Rust, host)).await.caught()
}

#[tokio::test(flavor = "multi_thread")]
async fn a_plugin_that_always_allows() {
    let caught = caught(Broken::AlwaysAllows).await;
    assert!(caught.len() >= 3, "{caught:?}");
}

#[tokio::test(flavor = "multi_thread")]
async fn a_plugin_that_drops_details() {
    let caught = caught(Broken::DropsDetails).await;
    assert!(caught.len() >= 3, "{caught:?}");
}

#[tokio::test(flavor = "multi_thread")]
async fn a_host_that_rounds_numbers() {
    let caught = caught(Broken::RoundsNumbers).await;
    assert!(caught.len() >= 3, "{caught:?}");
}

#[tokio::test(flavor = "multi_thread")]
async fn a_host_that_loses_state() {
    let caught = caught(Broken::LosesState).await;
    assert!(caught.len() >= 3, "{caught:?}");
}
