//! What is refused at load, in words a stranger can act on; the mended entry then loads.

mod hostile;

use std::path::PathBuf;
use std::time::Duration;

use hookgate_core::config::{PluginKind, PluginSpec};
use hookgate_core::{Decision, LoadError};
use hostile::{ask, config, load, spec};
use serde_json::json;

/// Loads what must not load, and answers why it did not.
async fn refused(spec: PluginSpec) -> LoadError {
    match load(spec).await {
        Ok(_) => panic!("it loaded"),
        Err(report) => report.problems[0].error.clone(),
    }
}

/// The mended entry loads and answers.
async fn mended() {
    let engine = load(spec("hostile"))
        .await
        .unwrap_or_else(|report| panic!("{report}"));
    assert_eq!(
        ask(&engine, "nothing", json!({})).await.decision,
        Decision::Allow
    );
}

fn file(name: &str, bytes: &[u8]) -> PluginSpec {
    let path = PathBuf::from(env!("CARGO_TARGET_TMPDIR"))
        .join(format!("{name}-{}.wasm", std::process::id()));
    std::fs::write(&path, bytes).expect("a file for the test");
    let mut spec = spec("hostile");
    spec.kind = PluginKind::Wasm { component: path };
    spec
}

#[tokio::test]
async fn missing_component() {
    let mut absent = spec("hostile");
    absent.kind = PluginKind::Wasm {
        component: "no/such/plugin.wasm".into(),
    };
    let error = refused(absent).await;
    assert!(
        error
            .message
            .starts_with("cannot read component no/such/plugin.wasm: "),
        "{error}"
    );
    assert_eq!(
        error.hint.as_deref(),
        Some("`component:` is a path relative to the configuration file")
    );
    mended().await;
}

#[tokio::test]
async fn core_module() {
    let error = refused(file("core-module", b"\0asm\x01\0\0\0")).await;
    assert!(
        error.message.ends_with("is a core module, not a component"),
        "{error}"
    );
    assert_eq!(
        error.hint.as_deref(),
        Some("build for wasm32-wasip2, or wrap it with `wasm-tools component new`")
    );
    mended().await;
}

#[tokio::test]
async fn not_wasm_at_all() {
    let error = refused(file("text", b"print('hello')")).await;
    assert!(
        error.message.ends_with("is not a WebAssembly component"),
        "{error}"
    );
}

#[tokio::test]
async fn damaged_component() {
    let mut bytes = std::fs::read(hookgate_vectors::guests::component("tools-only"))
        .expect("the guest is built");
    bytes.truncate(bytes.len() / 2);
    let error = refused(file("damaged", &bytes)).await;
    assert!(
        error.message.starts_with("the component is not valid: "),
        "{error}"
    );
}

#[tokio::test]
async fn another_package_version() {
    let error = refused(spec("future-version")).await;
    assert_eq!(
        error.message,
        "the component speaks hookgate:plugin@0.2.0; this engine speaks hookgate:plugin@0.1.0"
    );
    assert_eq!(
        error.hint.as_deref(),
        Some("rebuild the plugin against wit/plugin.wit 0.1.0 (any 0.1.x will do)")
    );
    mended().await;
}

#[tokio::test]
async fn a_patch_version_is_accepted() {
    let engine = load(spec("patch-version"))
        .await
        .unwrap_or_else(|report| panic!("{report}"));
    assert_eq!(
        ask(&engine, "nothing", json!({})).await.decision,
        Decision::Allow
    );
}

#[tokio::test]
async fn an_interface_nobody_knows() {
    let error = refused(spec("unknown-interface")).await;
    assert_eq!(
        error.message,
        "the component exports hookgate:plugin/gadgets, which this engine does not know"
    );
}

#[tokio::test]
async fn a_hook_that_is_not_exported() {
    let mut tools_only = spec("tools-only");
    tools_only.hooks = vec![
        "tool_pre_invoke".into(),
        "prompt_pre_fetch".into(),
        "ledger_append".into(),
    ];
    let error = refused(tools_only).await;
    assert_eq!(
        error.message,
        "the component does not export what answers prompt_pre_fetch (interface `prompts`), ledger_append (interface `custom`)"
    );
    assert_eq!(
        error.hint.as_deref(),
        Some("it exports: tools; take the hook out of `hooks:` or export its interface")
    );
}

#[tokio::test]
async fn init_that_does_not_end_well() {
    for (how, expected) in [
        (
            "fail",
            "the plugin refuses its configuration: init was told to fail",
        ),
        ("trap", "a trial instance did not start: trap: "),
        ("exit", "a trial instance did not start: exit: "),
        ("loop", "a trial instance did not start: timeout: "),
    ] {
        let mut bad = spec("hostile");
        config(&mut bad, json!({ "init": how }));
        bad.limits.timeout = Duration::from_secs(2);
        let error = refused(bad).await;
        assert!(error.message.starts_with(expected), "{how}: {error}");
    }
    mended().await;
}

#[tokio::test]
async fn memory_below_what_it_starts_with() {
    let mut small = spec("hostile");
    small.limits.memory_bytes = 64 << 10;
    let error = refused(small).await;
    assert!(error.message.contains("out_of_memory"), "{error}");
    assert_eq!(error.hint.as_deref(), Some("raise `limits.memory`"));
}

#[tokio::test]
async fn equal_bytes_are_compiled_once() {
    let mut hooks = hookgate_core::config::Config::default();
    for name in ["one", "two"] {
        let mut spec = spec("tools-only");
        spec.name = name.into();
        hooks.plugins.push(spec);
    }
    let host = std::sync::Arc::new(hookgate_wasm::WasmHost::new().expect("wasmtime starts"));
    let engine = hookgate_core::Engine::builder()
        .config(hooks)
        .host(host)
        .build()
        .await
        .expect("it loads");
    let digests: Vec<_> = engine
        .plugins()
        .into_iter()
        .map(|plugin| plugin.info.digest)
        .collect();
    assert_eq!(digests[0], digests[1]);
    assert!(
        digests[0]
            .as_deref()
            .is_some_and(|digest| digest.starts_with("sha256:"))
    );
}
