//! Classes written for the gateway's own framework: its old names and its settings, without the gateway.

use std::path::Path;
use std::sync::Arc;

use hookgate_core::config::{Config, PluginKind, PluginSpec};
use hookgate_core::{Engine, LoadReport, Request};
use hookgate_python::{PythonHost, PythonHostOptions};
use serde_json::{Value, json};

async fn load(settings: &Value) -> Result<Engine, LoadReport> {
    let kind = PluginKind::Python {
        class: "reads_settings.ReadsSettings".into(),
        requirements: Vec::new(),
        requirements_file: None,
        import_paths: vec!["plugins".into()],
        workdir: None,
    };
    let mut spec = PluginSpec::new("reads", kind);
    spec.hooks = vec!["tool_pre_invoke".into()];
    spec.base_dir = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests");
    spec.python.settings = settings.into();
    let mut config = Config::default();
    config.plugins = vec![spec];
    let store = Path::new(env!("CARGO_TARGET_TMPDIR")).with_file_name("test-environments");
    Engine::builder()
        .config(config)
        .host(Arc::new(PythonHost::new(PythonHostOptions::new(store))))
        .build()
        .await
}

#[tokio::test(flavor = "multi_thread")]
async fn settings_of_the_entry_go_over_the_gateways_defaults() {
    let engine = load(&json!({"HTTPX_MAX_CONNECTIONS": 7, "of_its_own": [1, {"a": null}]}))
        .await
        .unwrap_or_else(|report| panic!("{report}"));
    let ask = async |names: Value| {
        engine
            .invoke(
                "tool_pre_invoke",
                &json!({"name": "t", "args": {"names": names}}),
                &Request::default(),
            )
            .await
            .expect("a payload")
    };
    let outcome = ask(json!(["httpx_max_connections", "of_its_own", "port"])).await;
    assert!(outcome.faults.is_empty(), "{:?}", outcome.faults);
    assert_eq!(
        serde_json::to_value(&outcome.effects.metadata).expect("JSON"),
        json!({"httpx_max_connections": 7, "of_its_own": [1, {"a": null}], "port": 4444})
    );
    let unknown = ask(json!(["nobodys"])).await;
    let message = &unknown.faults[0].message;
    assert!(
        message.contains("the gateway has no setting 'nobodys'")
            && message.contains("hint: python: {settings: {nobodys: ...}}"),
        "{message}"
    );
}

#[tokio::test(flavor = "multi_thread")]
async fn a_setting_that_does_not_fit_is_a_load_error() {
    let report = load(&json!({"port": "many"}))
        .await
        .err()
        .expect("a load error");
    let error = &report.problems[0].error;
    assert!(
        error
            .message
            .contains("the gateway's setting 'port' is str, int is possible"),
        "{}",
        error.message
    );
    assert_eq!(
        error.hint.as_deref(),
        Some("python: {settings: {port: 4444}}")
    );
}
