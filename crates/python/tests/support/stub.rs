//! An engine with one Python plugin whose worker is the stub.

#![allow(dead_code, reason = "each test file uses a part")]

use std::io::Read as _;
use std::path::PathBuf;
use std::process::Command;
use std::sync::{Arc, LazyLock};
use std::time::Duration;

use hookgate_core::config::{Access, Config, FileGrant, PluginKind, PluginSpec};
use hookgate_core::{Engine, FaultReport, LoadReport, Outcome, RecordSink, Request};
use hookgate_python::{PythonHost, PythonHostOptions, StubWorker};
use serde_json::{Value, json};
use tempfile::TempDir;

/// What an event that must come may take; only a failing test waits this long.
pub const LONG: Duration = Duration::from_secs(30);

static PYTHON: LazyLock<PathBuf> = LazyLock::new(|| {
    let said = Command::new("python3")
        .args(["-I", "-c", "import sys; print(sys.executable)"])
        .output();
    let said = String::from_utf8(said.expect("python3 runs").stdout).expect("a path");
    PathBuf::from(said.trim())
});

/// An engine, the folder its plugin works in, and what its plugin is configured with.
pub struct Rig {
    pub engine: Engine,
    pub folder: TempDir,
}

/// How a rig differs from the default.
pub struct Setup {
    pub config: Value,
    pub options: PythonHostOptions,
    pub spec: PluginSpec,
    pub folder: TempDir,
    pub records: Option<Arc<dyn RecordSink>>,
}

impl Setup {
    pub fn new(config: Value) -> Self {
        let folder = tempfile::tempdir().expect("a folder");
        let mut options = PythonHostOptions::new(folder.path().join("environments"));
        let boot = include_str!("stub_worker.py").into();
        options.stub = Some(StubWorker {
            executable: PYTHON.clone(),
            boot,
        });
        options.supervision.respawn_backoff = Duration::from_millis(1);
        let kind = PluginKind::Python {
            class: "stub.Plugin".into(),
            requirements: Vec::new(),
            requirements_file: None,
            import_paths: Vec::new(),
            workdir: None,
        };
        let mut spec = PluginSpec::new("stub", kind);
        spec.hooks = vec!["tool_pre_invoke".into()];
        spec.base_dir = folder.path().to_owned();
        spec.limits.timeout = LONG;
        // The stub notes in its folder what it does, and starts processes that outlive it.
        spec.permissions.processes = true;
        spec.permissions.files = vec![FileGrant {
            host: folder.path().to_owned(),
            guest: folder.path().display().to_string(),
            access: Access::ReadWrite,
        }];
        Self {
            config,
            options,
            spec,
            folder,
            records: None,
        }
    }

    /// A file of the rig's folder, as a config value.
    pub fn file(&self, name: &str) -> String {
        self.folder.path().join(name).display().to_string()
    }

    pub fn timeout(mut self, millis: u64) -> Self {
        self.spec.limits.timeout = Duration::from_millis(millis);
        self
    }

    pub async fn try_build(mut self) -> Result<Rig, LoadReport> {
        self.spec.config = (&self.config).into();
        let mut config = Config::default();
        config.plugins = vec![self.spec];
        let host = Arc::new(PythonHost::new(self.options));
        let mut builder = Engine::builder().config(config).host(host);
        if let Some(records) = self.records {
            builder = builder.records(records);
        }
        let engine = builder.build().await?;
        Ok(Rig {
            engine,
            folder: self.folder,
        })
    }

    pub async fn build(self) -> Rig {
        self.try_build().await.expect("the stub starts")
    }
}

impl Rig {
    pub async fn new() -> Self {
        Setup::new(json!({})).build().await
    }

    /// Asks the stub to do something.
    pub async fn ask(&self, args: Value) -> Outcome {
        let payload = json!({ "name": "tool", "args": args });
        self.engine
            .invoke("tool_pre_invoke", &payload, &Request::default())
            .await
            .expect("a valid payload")
    }

    /// The fault of a call that must end in one.
    pub async fn fault(&self, args: Value) -> FaultReport {
        let outcome = self.ask(args).await;
        outcome.faults.into_iter().next().expect("a fault")
    }

    /// The process that answers.
    pub async fn pid(&self) -> i64 {
        marks(&self.ask(json!({"do": "allow"})).await)["pid"]
            .as_i64()
            .expect("a pid")
    }

    pub fn state(&self) -> &'static str {
        self.engine.plugins()[0].info.state
    }

    pub fn late_answers(&self) -> u64 {
        self.engine.plugins()[0].info.late_answers
    }

    /// How often a worker was started, where the config counts it.
    pub fn starts(&self) -> usize {
        std::fs::read_to_string(self.folder.path().join("starts"))
            .expect("a count")
            .lines()
            .count()
    }
}

/// What the stub left in the outcome's metadata.
pub fn marks(outcome: &Outcome) -> Value {
    assert!(outcome.faults.is_empty(), "{:?}", outcome.faults);
    serde_json::to_value(&outcome.effects.metadata).expect("JSON")
}

/// A pipe that ends when the last process has that the worker shares it with.
pub struct Lifeline {
    end: std::sync::mpsc::Receiver<()>,
}

impl Lifeline {
    /// Makes the pipe `lifeline` and waits for its other end in the background.
    pub fn new(setup: &mut Setup) -> Self {
        let path = setup.file("lifeline");
        assert!(
            Command::new("mkfifo")
                .arg(&path)
                .status()
                .expect("mkfifo runs")
                .success()
        );
        setup.config["lifeline"] = path.as_str().into();
        let (tell, end) = std::sync::mpsc::channel();
        std::thread::spawn(move || {
            let mut pipe = std::fs::File::open(path).expect("the pipe opens");
            let _ = pipe.read_to_end(&mut Vec::new());
            let _ = tell.send(());
        });
        Self { end }
    }

    /// Waits until every process is gone.
    pub fn wait(self) {
        self.end.recv_timeout(LONG).expect("every process ends");
    }

    /// The same without blocking the runtime.
    pub async fn ended(self) {
        tokio::task::spawn_blocking(move || self.wait())
            .await
            .expect("every process ends");
    }

    pub fn is_open(&self) -> bool {
        self.end.try_recv().is_err()
    }
}
