//! What a confined worker can and cannot do, as its plugin sees it: each test asks a plugin to try things,
//! compares what became of them, and asks it something plain afterwards.
//!
//! Where the kernel lacks what `strict` needs, loading fails, and so do these tests.

mod files;
mod hints;
mod levels;
mod memory;
mod processes;
mod published;
mod sockets;

use std::path::Path;
use std::sync::Arc;
use std::time::Duration;

use hookgate_core::config::{Access, Config, FileGrant, PluginKind, PluginSpec};
use hookgate_core::{Decision, Engine, LoadReport, Outcome, PluginInfo, Request};
use hookgate_python::{PythonHost, PythonHostOptions};
use hookgate_vectors::guests::environments;
use serde_json::{Value, json};

/// Long enough for any good call, a respawn on a busy machine included.
const PATIENT: Duration = Duration::from_secs(120);

/// A loaded plugin of `plugins/`.
struct Plugin(Engine);

/// The entry of a class of `plugins/`, with the default sandbox and no grant.
fn spec(class: &str) -> PluginSpec {
    let kind = PluginKind::Python {
        class: class.into(),
        requirements: Vec::new(),
        requirements_file: None,
        import_paths: vec!["plugins".into()],
        workdir: Some("plugins".into()),
    };
    let mut spec = PluginSpec::new("guest", kind);
    spec.hooks = vec!["tool_pre_invoke".into()];
    spec.base_dir = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/sandbox");
    spec.limits.timeout = PATIENT;
    spec
}

async fn try_load(spec: PluginSpec) -> Result<Plugin, LoadReport> {
    let mut config = Config::default();
    config.plugins.push(spec);
    let host = Arc::new(PythonHost::new(PythonHostOptions::new(environments())));
    let engine = Engine::builder().config(config).host(host).build().await?;
    Ok(Plugin(engine))
}

async fn load(spec: PluginSpec) -> Plugin {
    try_load(spec)
        .await
        .unwrap_or_else(|report| panic!("{report}"))
}

impl Plugin {
    async fn ask(&self, args: Value) -> Outcome {
        let payload = json!({ "name": "probe", "args": args });
        self.0
            .invoke("tool_pre_invoke", &payload, &Request::with_id("r"))
            .await
            .expect("the payload is good")
    }

    /// What became of what it tried.
    async fn tries(&self, args: Value) -> Value {
        let outcome = self.ask(args).await;
        assert!(outcome.faults.is_empty(), "{:?}", outcome.faults);
        let got = outcome.effects.metadata.get("got").expect("a mark");
        got.to_value()
    }

    /// The next plain call is answered rightly; then it ends.
    async fn still_answers(self) {
        let outcome = self.ask(json!({})).await;
        assert_eq!(outcome.decision, Decision::Allow, "{:?}", outcome.faults);
        let answer = outcome
            .effects
            .metadata
            .get("answer")
            .map(|json| json.to_value());
        assert_eq!(answer, Some(json!(42)));
        self.0.shutdown().await;
    }

    fn info(&self) -> PluginInfo {
        self.0.plugins()[0].info.clone()
    }
}

/// Grants a place.
fn grant(spec: &mut PluginSpec, host: &Path, access: Access) {
    spec.permissions.files.push(FileGrant {
        host: host.to_owned(),
        guest: host.display().to_string(),
        access,
    });
}
