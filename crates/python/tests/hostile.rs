//! What a legacy plugin can do wrong in a call, through the real worker. After each the next good call
//! succeeds.

use std::sync::Arc;
use std::time::Duration;

use hookgate_core::config::{Config, PluginKind, PluginSpec};
use hookgate_core::{Decision, Engine, FaultKind, LoadReport, Outcome, Phase, Request};
use hookgate_python::{PythonHost, PythonHostOptions};
use hookgate_vectors::guests::{environments, root};
use serde_json::{Value, json};

/// Long enough for any good call, a respawn on a busy machine included.
const PATIENT: Duration = Duration::from_secs(60);

fn spec() -> PluginSpec {
    let kind = PluginKind::Python {
        class: "hostile.HostilePlugin".into(),
        requirements: Vec::new(),
        requirements_file: None,
        import_paths: vec![root().join("tests/guests/hostile-legacy")],
        workdir: None,
    };
    let mut spec = PluginSpec::new("guest", kind);
    spec.hooks = vec!["tool_pre_invoke".into()];
    spec.limits.timeout = PATIENT;
    spec
}

async fn load(spec: PluginSpec) -> Result<Engine, LoadReport> {
    let mut config = Config::default();
    config.plugins.push(spec);
    let host = Arc::new(PythonHost::new(PythonHostOptions::new(environments())));
    Engine::builder().config(config).host(host).build().await
}

async fn engine(spec: PluginSpec) -> Engine {
    load(spec).await.unwrap_or_else(|report| panic!("{report}"))
}

async fn ask(engine: &Engine, what: &str) -> Outcome {
    let payload = json!({ "name": "probe", "args": { "do": what, "n": 1 } });
    engine
        .invoke("tool_pre_invoke", &payload, &Request::with_id("r"))
        .await
        .expect("the payload is good")
}

/// Each of these is a fault of this kind, a denial under `on_error: fail`, and no end of the plugin.
#[tokio::test(flavor = "multi_thread")]
async fn faults() {
    let engine = engine(spec()).await;
    for (what, kind) in [
        ("raise", FaultKind::PluginError),
        ("exit", FaultKind::Exit),
        ("not-a-result", FaultKind::PluginError),
        ("nan", FaultKind::PluginError),
        ("bad-edit", FaultKind::PluginError),
        ("os-exit", FaultKind::WorkerDied),
    ] {
        let outcome = ask(&engine, what).await;
        assert_eq!(
            outcome
                .faults
                .iter()
                .map(|fault| fault.kind)
                .collect::<Vec<_>>(),
            [kind],
            "{what}: {outcome:?}"
        );
        assert_eq!(outcome.decision, Decision::Deny, "{what}");
        assert_eq!(
            outcome.violation.expect("a denial").details.to_value(),
            json!({ "fault": kind.as_str() })
        );
        let after = ask(&engine, "nothing").await;
        assert_eq!(after.decision, Decision::Allow, "after {what}: {after:?}");
    }
    engine.shutdown().await;
}

#[tokio::test(flavor = "multi_thread")]
async fn hangs_end_at_the_deadline() {
    for what in ["hang-async", "hang-sync"] {
        let mut short = spec();
        // The good call after a hang in sync code has to fit a new start of the worker in.
        short.limits.timeout = Duration::from_secs(20);
        let engine = engine(short).await;
        let outcome = ask(&engine, what).await;
        let fault = outcome
            .faults
            .first()
            .unwrap_or_else(|| panic!("{what}: {outcome:?}"));
        assert_eq!(
            (fault.kind, fault.phase),
            (FaultKind::Timeout, Some(Phase::Guest)),
            "{what}"
        );
        let after = ask(&engine, "nothing").await;
        assert_eq!(after.decision, Decision::Allow, "after {what}: {after:?}");
        engine.shutdown().await;
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn memory_without_end() {
    let mut small = spec();
    small.limits.memory_bytes = 400 << 20;
    let engine = engine(small).await;
    let outcome = ask(&engine, "memory-bomb").await;
    assert_eq!(
        outcome.faults[0].kind,
        FaultKind::OutOfMemory,
        "{:?}",
        outcome.faults
    );
    assert_eq!(outcome.decision, Decision::Deny);
    assert_eq!(ask(&engine, "nothing").await.decision, Decision::Allow);
    engine.shutdown().await;
}

#[tokio::test(flavor = "multi_thread")]
async fn what_is_odd_but_an_answer() {
    let engine = engine(spec()).await;
    let mark = |outcome: &Outcome, key: &str| {
        outcome
            .effects
            .metadata
            .get(key)
            .map(|json| json.to_value())
    };

    let printed = ask(&engine, "print").await;
    assert_eq!(
        printed.decision,
        Decision::Allow,
        "a forged frame is no answer: {printed:?}"
    );
    assert_eq!(mark(&printed, "printed"), Some(json!(true)));
    assert_eq!(mark(&ask(&engine, "stdin").await, "stdin"), Some(json!("")));

    let mutated = ask(&engine, "mutate").await;
    assert_eq!(
        (mutated.decision, mutated.modified),
        (Decision::Allow, false),
        "a change in place is dropped"
    );

    ask(&engine, "state-object").await;
    assert_eq!(
        mark(&ask(&engine, "state-object-check").await, "object"),
        Some(json!("kept"))
    );

    let bare = ask(&engine, "deny-bare")
        .await
        .violation
        .expect("a denial without violation is a denial");
    assert_eq!(
        (
            bare.code.as_str(),
            bare.reason.as_str(),
            bare.description.as_str()
        ),
        ("denied", "denied", "")
    );

    let allowed = ask(&engine, "allow-violation").await;
    assert_eq!(allowed.decision, Decision::Allow);
    assert_eq!(
        allowed.suppressed[0]
            .violation
            .as_ref()
            .map(|violation| violation.code.as_str()),
        Some("ALLOWED")
    );

    let names = mark(&ask(&engine, "env").await, "env").expect("the names of its variables");
    let names: Vec<&str> = names
        .as_array()
        .expect("a list")
        .iter()
        .filter_map(Value::as_str)
        .collect();
    assert!(
        !names.contains(&"PATH") && !names.contains(&"CARGO_PKG_NAME"),
        "{names:?}"
    );
    engine.shutdown().await;
}

#[tokio::test(flavor = "multi_thread")]
async fn initialize_that_does_not_end_well() {
    for how in ["raise", "exit"] {
        let mut bad = spec();
        bad.config = (&json!({ "init": how })).into();
        let report = match load(bad).await {
            Ok(_) => panic!("init {how} loaded"),
            Err(report) => report.to_string(),
        };
        assert!(report.contains("hostile.HostilePlugin"), "{how}: {report}");
    }
    let mended = engine(spec()).await;
    assert_eq!(ask(&mended, "nothing").await.decision, Decision::Allow);
    mended.shutdown().await;
}
