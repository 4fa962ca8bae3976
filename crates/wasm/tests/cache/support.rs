//! A cache of its own for each test, and a plugin whose answers show that its code is right.

use std::fs;
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::time::Duration;

use hookgate_core::config::{Config, PluginKind, PluginSpec};
use hookgate_core::{Decision, Engine, Json, LoadError, Request};
use hookgate_vectors::guests;
use hookgate_wasm::{CodeCacheOptions, WasmHost, WasmHostOptions};
use serde_json::json;
use tempfile::TempDir;

pub struct Cache {
    root: TempDir,
}

impl Cache {
    pub fn new() -> Self {
        Self {
            root: TempDir::new().expect("a folder"),
        }
    }

    /// A cache that holds the deny list's code, and the file it is in.
    pub async fn filled() -> (Self, PathBuf) {
        let cache = Self::new();
        assert_eq!(cache.start().await, COMPILED);
        let file = cache.file();
        (cache, file)
    }

    pub fn root(&self) -> &Path {
        self.root.path()
    }

    pub fn folder(&self) -> PathBuf {
        self.root().join("code")
    }

    pub fn host(&self) -> Arc<WasmHost> {
        host(CodeCacheOptions::new(self.folder()))
    }

    /// Loads the deny list as a process that begins does, and asks it.
    pub async fn start(&self) -> Counts {
        start(&self.host()).await
    }

    /// The paths of everything in the folder, sorted.
    pub fn files(&self) -> Vec<PathBuf> {
        files(&self.folder())
    }

    /// The only file in the folder.
    pub fn file(&self) -> PathBuf {
        let files = self.files();
        assert_eq!(files.len(), 1, "{files:?}");
        files[0].clone()
    }
}

/// Components that were compiled, and components whose code was in the cache.
pub type Counts = (u64, u64);

pub const COMPILED: Counts = (1, 0);
pub const CACHED: Counts = (0, 1);

pub fn host(options: CodeCacheOptions) -> Arc<WasmHost> {
    let options = WasmHostOptions::default().code_cache(options);
    Arc::new(WasmHost::with_options(options).expect("wasmtime starts"))
}

pub fn counts(host: &WasmHost) -> Counts {
    let counts = host.code_counts();
    (counts.compiled, counts.cached)
}

pub fn files(folder: &Path) -> Vec<PathBuf> {
    let entries = fs::read_dir(folder).expect("the folder");
    let mut files: Vec<_> = entries
        .map(|entry| entry.expect("an entry").path())
        .collect();
    files.sort();
    files
}

pub fn deny_list(name: &str) -> PluginSpec {
    let component = guests::component("deny-list-rust");
    let mut spec = PluginSpec::new(name, PluginKind::Wasm { component });
    spec.hooks = vec!["tool_pre_invoke".into()];
    spec.limits.timeout = Duration::from_secs(30);
    spec.config = Json::from_value(&json!({ "words": ["secret"] }));
    spec
}

pub async fn load(host: &Arc<WasmHost>, specs: Vec<PluginSpec>) -> Result<Engine, LoadError> {
    let mut config = Config::default();
    config.plugins = specs;
    let engine = Engine::builder().config(config).host(Arc::clone(host) as _);
    let built = engine.build().await;
    built.map_err(|report| report.problems[0].error.clone())
}

/// Loads one deny list and asks it.
pub async fn start(host: &Arc<WasmHost>) -> Counts {
    let engine = load(host, vec![deny_list("deny-list")]).await;
    asked(&engine.unwrap_or_else(|error| panic!("{error}"))).await;
    counts(host)
}

/// A deny list that answers what its contract says.
pub async fn asked(engine: &Engine) {
    for (text, expected) in [
        ("a secret word", Decision::Deny),
        ("a plain word", Decision::Allow),
    ] {
        let payload = json!({ "name": "note", "args": { "text": text } });
        let outcome = engine
            .invoke("tool_pre_invoke", &payload, &Request::default())
            .await
            .expect("the payload is good");
        assert_eq!(outcome.decision, expected, "{text}: {outcome:?}");
        if let Some(violation) = outcome.violation {
            assert_eq!(violation.description, "'secret' at /args/text");
        }
    }
}

/// Whether the tests run as root, for whom modes are no bar but whom nobody keeps from giving files away.
pub fn is_root() -> bool {
    rustix::process::geteuid().is_root()
}

/// A user that is not the one who runs the tests.
pub const SOMEBODY_ELSE: u32 = 65_534;
