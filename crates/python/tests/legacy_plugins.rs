//! Classes of the framework itself, in real environments and the worker that ships.
//!
//! The environment is kept in the target folder, so that only the first run installs anything.

use std::ffi::OsString;
use std::path::{Path, PathBuf};
use std::sync::Arc;

use hookgate_core::config::{Config, PluginKind, PluginSpec};
use hookgate_core::{Decision, Engine, FaultKind, LoadReport, Request};
use hookgate_python::{Installer, PythonHost, PythonHostOptions};
use serde_json::{Value, json};

fn store() -> PathBuf {
    Path::new(env!("CARGO_TARGET_TMPDIR")).with_file_name("test-environments")
}

fn spec(class: &str) -> PluginSpec {
    let kind = PluginKind::Python {
        class: class.into(),
        requirements: Vec::new(),
        requirements_file: None,
        import_paths: vec!["plugins".into()],
        workdir: None,
    };
    let mut spec = PluginSpec::new("legacy", kind);
    spec.hooks = vec!["tool_pre_invoke".into(), "tool_post_invoke".into()];
    spec.base_dir = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests");
    spec
}

async fn load(spec: PluginSpec, options: PythonHostOptions) -> Result<Engine, LoadReport> {
    let mut config = Config::default();
    config.plugins = vec![spec];
    Engine::builder()
        .config(config)
        .host(Arc::new(PythonHost::new(options)))
        .build()
        .await
}

async fn engine(config: Value) -> Engine {
    let mut spec = spec("checks.Checks");
    spec.config = (&config).into();
    load(spec, PythonHostOptions::new(store()))
        .await
        .unwrap_or_else(|report| panic!("{report}"))
}

#[tokio::test(flavor = "multi_thread")]
async fn a_class_allows_denies_and_edits() {
    let engine = engine(json!({"word": "sudo"})).await;
    let request = Request::with_id("r1");
    let allowed = r#"{"name":"sh","args":{"cmd":"ls","n":1.10}}"#;
    let outcome = engine
        .invoke("tool_pre_invoke", allowed, &request)
        .await
        .expect("a payload");
    assert_eq!(
        (outcome.decision, outcome.modified),
        (Decision::Allow, false),
        "{:?}",
        outcome.faults
    );
    assert_eq!(outcome.payload.expect("a payload").as_str(), allowed);

    let denied = json!({"name": "sh", "args": {"cmd": "sudo ls"}});
    let outcome = engine
        .invoke("tool_pre_invoke", &denied, &request)
        .await
        .expect("a payload");
    let violation = outcome.violation.expect("a denial");
    assert_eq!(
        (violation.code.as_str(), violation.reason.as_str()),
        ("WORD", "found")
    );
    assert_eq!(violation.details.to_value(), json!({"calls": 2}));

    let edited = r#"{"name":"sh","args":{"big":1.10,"cmd":"trim  "}}"#;
    let outcome = engine
        .invoke("tool_pre_invoke", edited, &request)
        .await
        .expect("a payload");
    assert_eq!(
        outcome.payload.expect("a payload").as_str(),
        r#"{"name":"sh","args":{"big":1.10,"cmd":"trim"}}"#
    );
    let info = &engine.plugins()[0].info;
    let environment = info.environment.as_ref().expect("an environment");
    assert_eq!(
        (info.kind, info.state, &info.sandbox[..8]),
        ("python", "ready", "strict (")
    );
    assert_eq!(environment.framework, "cpex 0.1.4");
    assert_eq!(info.hooks, ["tool_pre_invoke"]);
    engine.shutdown().await;
}

#[tokio::test(flavor = "multi_thread")]
async fn a_raise_an_exit_and_a_missing_hook_are_faults_of_their_kind() {
    let engine = engine(json!({"word": "sudo"})).await;
    for (hook, cmd, kind) in [
        ("tool_pre_invoke", "raise", FaultKind::PluginError),
        ("tool_pre_invoke", "exit", FaultKind::Exit),
        ("tool_post_invoke", "any", FaultKind::Unsupported),
        ("tool_pre_invoke", "die", FaultKind::WorkerDied),
    ] {
        let payload = json!({"name": "sh", "args": {"cmd": cmd}, "result": null});
        let outcome = engine
            .invoke(hook, &payload, &Request::default())
            .await
            .expect("a payload");
        assert_eq!(
            outcome.faults[0].kind, kind,
            "{}",
            outcome.faults[0].message
        );
    }
    let payload = json!({"name": "sh", "args": {"cmd": "ls"}});
    let outcome = engine
        .invoke("tool_pre_invoke", &payload, &Request::default())
        .await
        .expect("a payload");
    assert_eq!(outcome.decision, Decision::Allow, "{:?}", outcome.faults);
}

#[tokio::test(flavor = "multi_thread")]
async fn a_worker_starts_where_there_is_no_installer() {
    drop(engine(json!({"word": "sudo"})).await);
    let mut options = PythonHostOptions::new(store());
    options.search_path = OsString::new();
    options.installer = Installer::Uv("/nowhere/uv".into());
    let mut spec = spec("checks.Checks");
    spec.config = (&json!({"word": "sudo"})).into();
    let engine = load(spec, options)
        .await
        .unwrap_or_else(|report| panic!("{report}"));
    assert_eq!(
        engine.plugins()[0]
            .info
            .environment
            .as_ref()
            .expect("an environment")
            .verdict,
        "Valid"
    );
}

#[tokio::test(flavor = "multi_thread")]
async fn a_class_that_is_not_there_is_a_load_error_that_names_what_is() {
    for (class, message, hint) in [
        (
            "checks.Check",
            "class: module 'checks' has no class 'Check', it has: Checks",
            "name a class that the module has: `kind: package.module.Class`",
        ),
        (
            "nowhere.Check",
            "import: cannot import module 'nowhere': ModuleNotFoundError: No module named 'nowhere'",
            "add the package that brings `nowhere` to `requirements`, or its folder to `import_paths`",
        ),
        (
            "checks.Checks",
            "initialize: initialize() of checks.Checks failed: KeyError: 'word'",
            "see the traceback; what the class reads is its `config:`",
        ),
    ] {
        let report = load(spec(class), PythonHostOptions::new(store()))
            .await
            .err()
            .expect("a load error");
        let error = &report.problems[0].error;
        assert_eq!(
            error.message,
            format!("the class cannot be loaded: {class}: {message}")
        );
        assert_eq!(error.hint.as_deref(), Some(hint));
    }
}
