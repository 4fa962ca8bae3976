//! What becomes of a plugin whose environment is damaged or gone. With the framework itself.

use std::path::Path;
use std::sync::Arc;
use std::time::Duration;

use hookgate_core::config::{Config, PluginKind, PluginSpec};
use hookgate_core::{Decision, Engine, FaultKind, Host as _, Outcome, Request};
use hookgate_python::GcOptions;
use serde_json::json;

use super::rig::{Rig, allow_writing, packages};

/// Allows, or ends its process.
const PLUGIN: &str = "import os
from cpex.framework import Plugin, PluginResult

class Mortal(Plugin):
    async def tool_pre_invoke(self, payload, context):
        if payload.args.get('die'):
            os._exit(7)
        return PluginResult()
";

fn spec(rig: &Rig) -> PluginSpec {
    rig.write("mortal.py", PLUGIN);
    let kind = PluginKind::Python {
        class: "mortal.Mortal".into(),
        requirements: Vec::new(),
        requirements_file: None,
        import_paths: Vec::new(),
        workdir: None,
    };
    let mut spec = PluginSpec::new("mortal", kind);
    spec.hooks = vec!["tool_pre_invoke".into()];
    spec.base_dir = rig.path().to_owned();
    spec.limits.timeout = Duration::from_secs(60);
    spec
}

async fn engine(rig: &Rig) -> Engine {
    let mut config = Config::default();
    config.plugins = vec![spec(rig)];
    let built = Engine::builder()
        .config(config)
        .host(Arc::new(rig.host()))
        .build()
        .await;
    built.unwrap_or_else(|report| panic!("{report}"))
}

async fn ask(engine: &Engine, die: bool) -> Outcome {
    let payload = json!({"name": "tool", "args": {"die": die}});
    let asked = engine
        .invoke("tool_pre_invoke", &payload, &Request::default())
        .await;
    asked.expect("a valid payload")
}

fn environment(engine: &Engine) -> (String, &'static str) {
    let info = engine.plugins()[0]
        .info
        .environment
        .clone()
        .expect("an environment");
    (info.path, info.verdict)
}

#[tokio::test(flavor = "multi_thread")]
async fn an_environment_that_lost_packages_is_built_anew_once() {
    let rig = Rig::new();
    let first = engine(&rig).await;
    assert_eq!(ask(&first, false).await.decision, Decision::Allow);
    let (path, verdict) = environment(&first);
    assert_eq!(verdict, "Missing");
    assert_eq!(rig.events(), ["building mortal 1", "built mortal true"]);

    // What a loaded plugin uses stays, whatever its record says.
    let records = rig.options.store.join("entries");
    std::fs::remove_dir_all(&records).expect("removable");
    let report = rig.store().gc(&GcOptions::default()).expect("it runs");
    assert_eq!((report.removed.len(), report.in_use.len()), (0, 1));
    let listed = rig
        .store()
        .list(&rig.options.search_path)
        .await
        .expect("a list");
    assert!(listed[0].in_use);
    first.shutdown().await;
    drop(first);
    let listed = rig
        .store()
        .list(&rig.options.search_path)
        .await
        .expect("a list");
    assert!(!listed[0].in_use);

    allow_writing(Path::new(&path));
    std::fs::remove_dir_all(packages(Path::new(&path)).join("pydantic")).expect("removable");
    assert_eq!(
        rig.judge(&spec(&rig)).await.as_str(),
        "Valid",
        "one look does not show it"
    );
    let second = engine(&rig).await;
    assert_eq!(
        rig.events(),
        ["reused mortal", "building mortal 1", "built mortal true"]
    );
    assert_eq!(environment(&second), (path.clone(), "Unreadable"));
    assert_eq!(ask(&second, false).await.decision, Decision::Allow);
    second.shutdown().await;
}

/// Without the framework: the wheel's cpex has none in it, so that every load fails there, and only what is
/// damaged is built anew.
#[tokio::test]
async fn what_fails_is_built_anew_only_if_it_has_lost_files() {
    let rig = Rig::new();
    let load = async || {
        let error = rig.host().load(rig.spec("p")).await.err();
        let hint = error.expect("no framework").hint.expect("a hint");
        let named = "let `requirements` name cpex==0.1.4, or no framework at all";
        assert_eq!(hint, named);
        rig.events()
    };
    let built = ["building p 2", "built p true"];
    assert_eq!(load().await, built);
    assert_eq!(load().await, ["reused p"]);
    let path = rig.stored().remove(0);
    // A file; a whole package, with what says that it was there.
    for lost in [&["cpex/__init__.py"][..], &["cpex", "cpex-0.1.4.dist-info"]] {
        allow_writing(&path);
        for lost in lost.iter().map(|lost| packages(&path).join(lost)) {
            let removed = match lost.is_dir() {
                true => std::fs::remove_dir_all(lost),
                false => std::fs::remove_file(lost),
            };
            removed.expect("removable");
        }
        assert_eq!(load().await, ["reused p", built[0], built[1]], "{lost:?}");
        assert_eq!(load().await, ["reused p"]);
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn an_environment_deleted_while_running_is_a_fault_that_names_it() {
    let rig = Rig::new();
    let engine = engine(&rig).await;
    let (path, _) = environment(&engine);
    rig.events();
    allow_writing(Path::new(&path));
    std::fs::remove_dir_all(&path).expect("removable");
    let outcome = ask(&engine, true).await;
    assert_eq!(outcome.faults[0].kind, FaultKind::WorkerDied);
    // A respawn starts a process and nothing else.
    let outcome = ask(&engine, false).await;
    assert_eq!(outcome.decision, Decision::Deny);
    let fault = &outcome.faults[0];
    assert_eq!(fault.kind, FaultKind::WorkerDied, "{}", fault.message);
    let told = format!("its environment has been removed: {path}");
    assert!(fault.message.ends_with(&told), "{}", fault.message);
    assert_eq!(rig.events(), Vec::<String>::new());
    assert!(!Path::new(&path).exists(), "nothing was installed");
    engine.shutdown().await;
}
