//! `fail_on_plugin_error: false`: a plugin that does not load is left out, one that fails is not.

use std::sync::Arc;

use futures::future::BoxFuture;
use hookgate_core::config::{Config, PluginSpec};
use hookgate_core::{
    Answer, Decision, Engine, Fault, FaultKind, HookCall, Host, LoadError, Plugin, PluginInfo,
    Request,
};

use crate::support::load;

/// Loads classes of the module `good`; their calls fail.
struct Python;

struct Failing;

impl Plugin for Failing {
    fn describe(&self) -> PluginInfo {
        PluginInfo {
            kind: "python",
            ..PluginInfo::default()
        }
    }

    fn call(&self, _: HookCall) -> BoxFuture<'_, Result<Answer, Fault>> {
        Box::pin(async { Err(Fault::new(FaultKind::PluginError, "it raised")) })
    }
}

impl Host for Python {
    fn kind(&self) -> &'static str {
        "python"
    }

    fn load(&self, spec: PluginSpec) -> BoxFuture<'_, Result<Arc<dyn Plugin>, LoadError>> {
        Box::pin(async move {
            match spec.name.as_str() {
                "good" => Ok(Arc::new(Failing) as Arc<dyn Plugin>),
                name => Err(LoadError::new(format!("no module of {name}")).hint("install it")),
            }
        })
    }
}

fn text(settings: &str) -> String {
    format!(
        "plugin_settings: {{{settings}}}\nplugins:\n- {{name: bad, kind: a.b.C, hooks: [tool_pre_invoke]}}\n\
         - {{name: good, kind: a.b.C, hooks: [tool_pre_invoke]}}\n- {{name: off, kind: a.b.C, hooks: [x], mode: disabled}}\n"
    )
}

async fn build(config: Config) -> Result<Engine, hookgate_core::LoadReport> {
    Engine::builder()
        .config(config)
        .host(Arc::new(Python))
        .build()
        .await
}

#[tokio::test]
async fn what_does_not_load_is_left_out_and_told() {
    let engine = build(load(&text("fail_on_plugin_error: false")))
        .await
        .unwrap();
    let loaded: Vec<_> = engine
        .plugins()
        .into_iter()
        .map(|plugin| plugin.name)
        .collect();
    assert_eq!(loaded, ["good"]);
    let skipped: Vec<_> = engine
        .skipped()
        .into_iter()
        .map(|problem| {
            (
                problem.plugin,
                problem.line,
                problem.error.message,
                problem.error.hint,
            )
        })
        .collect();
    let expected = (
        "bad".to_owned(),
        Some(3),
        "no module of bad".to_owned(),
        Some("install it".to_owned()),
    );
    assert_eq!(skipped, [expected]);
    // A call that fails is another matter.
    let outcome = engine
        .invoke("tool_pre_invoke", r#"{"name": "t"}"#, &Request::default())
        .await
        .unwrap();
    assert_eq!(outcome.decision, Decision::Deny);
    engine.shutdown().await;
}

#[tokio::test]
async fn without_the_word_loading_fails() {
    for settings in ["", "fail_on_plugin_error: true"] {
        let report = build(load(&text(settings))).await.err().expect(settings);
        let problems: Vec<_> = report
            .problems
            .iter()
            .map(|problem| problem.plugin.as_str())
            .collect();
        assert_eq!(problems, ["bad"], "{settings}");
    }
}

#[tokio::test]
async fn a_reload_counts_anew() {
    let engine = build(load(&text("fail_on_plugin_error: false")))
        .await
        .unwrap();
    let good = "plugin_dirs: []\nplugins:\n- {name: good, kind: a.b.C, hooks: [tool_pre_invoke]}\n";
    engine.reload(load(good)).await.unwrap();
    assert!(engine.skipped().is_empty());
    engine
        .reload(load(&text("fail_on_plugin_error: true")))
        .await
        .unwrap_err();
    assert!(engine.skipped().is_empty());
    engine.shutdown().await;
}
