//! Running vectors.

use std::sync::Arc;
use std::time::Duration;

use hookgate_core::config::{Config, PluginKind, PluginSpec};
use hookgate_core::{Capability, Engine, Host};

use crate::canonical::{self, first_difference};
use crate::guests::{self, root};
use crate::suite::{Expected, PluginEntry, Step, Suite};

/// Which implementation of a policy answers.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Kind {
    /// The component written in Rust.
    Rust,
    /// The component compiled from Python.
    CompiledPython,
    /// The legacy class in a worker.
    Legacy,
}

/// A step whose outcome is not the expected one.
#[derive(Debug, Clone)]
pub struct Difference {
    /// `vector#step`.
    pub step: String,
    /// Where the two differ first.
    pub what: String,
}

/// An engine under test, from the name of its setup.
pub trait Setup {
    /// Builds the engine of a setup.
    fn engine(&self, suite: &Suite, setup: &str) -> impl Future<Output = Engine>;
}

impl Kind {
    /// The plugin of `entry`, as this kind implements it.
    ///
    /// # Panics
    ///
    /// If the entry names a policy there is no guest of.
    #[must_use]
    pub fn spec(self, entry: &PluginEntry) -> PluginSpec {
        let kind = match self {
            Self::Rust => component(&format!("{}-rust", entry.policy)),
            Self::CompiledPython => component(&format!("{}-python", entry.policy)),
            Self::Legacy => class(&entry.policy),
        };
        let mut spec = PluginSpec::new(&entry.name, kind);
        spec.hooks.clone_from(&entry.hooks);
        spec.config = entry.config.clone();
        spec.mode = entry.mode.unwrap_or(spec.mode);
        spec.on_error = entry.on_error.unwrap_or(spec.on_error);
        spec.priority = entry.priority.unwrap_or(spec.priority);
        // Compiled Python is slow to start and machines are slow at times: only what a vector says about
        // time is about time.
        spec.limits.timeout = Duration::from_millis(entry.timeout_ms.unwrap_or(60_000));
        spec.limits.memory_bytes = 256 << 20;
        spec.permissions.data = entry
            .data
            .iter()
            .map(|name| Capability::named(name).unwrap_or_else(|| panic!("no capability {name}")))
            .collect();
        spec.base_dir = root();
        spec
    }

    /// The configuration of a setup.
    ///
    /// # Panics
    ///
    /// If there is no setup of that name.
    #[must_use]
    pub fn config(self, suite: &Suite, setup: &str) -> Config {
        let entries = &suite
            .setups
            .get(setup)
            .unwrap_or_else(|| panic!("no setup {setup}"))
            .plugins;
        let mut config = Config::default();
        config.plugins = entries.iter().map(|entry| self.spec(entry)).collect();
        config
    }
}

fn component(name: &str) -> PluginKind {
    PluginKind::Wasm {
        component: guests::component(name),
    }
}

/// The legacy class of a policy.
fn class(policy: &str) -> PluginKind {
    let (class, folder) = match policy {
        "deny-list" => ("deny_list.DenyListPlugin", "guest-plugins/deny-list-legacy"),
        "redactor" => ("redactor.RedactorPlugin", "guest-plugins/redactor-legacy"),
        "script" => ("script_policy.ScriptPlugin", "tests/guests/script-legacy"),
        "hostile" => ("hostile.HostilePlugin", "tests/guests/hostile-legacy"),
        other => panic!("no legacy class for policy {other}"),
    };
    PluginKind::Python {
        class: class.into(),
        requirements: Vec::new(),
        requirements_file: None,
        import_paths: vec![root().join(folder)],
        workdir: None,
    }
}

/// The kind with a host that loads it.
impl Setup for (Kind, Arc<dyn Host>) {
    async fn engine(&self, suite: &Suite, setup: &str) -> Engine {
        let builder = Engine::builder()
            .config(self.0.config(suite, setup))
            .host(Arc::clone(&self.1));
        builder
            .build()
            .await
            .unwrap_or_else(|report| panic!("setup {setup} does not load\n{report}"))
    }
}

impl Suite {
    /// Runs every vector, setup by setup, and lists what differs.
    pub async fn run(&self, under_test: &impl Setup) -> Vec<Difference> {
        let mut differences = Vec::new();
        for setup in self.setups.keys() {
            let engine = under_test.engine(self, setup).await;
            for vector in self.vectors.iter().filter(|vector| vector.setup == *setup) {
                for (index, step) in vector.steps.iter().enumerate() {
                    if let Some(what) = check(&engine, step).await {
                        differences.push(Difference {
                            step: format!("{}#{index}", vector.name),
                            what,
                        });
                    }
                }
            }
            engine.shutdown().await;
        }
        differences
    }

    /// How many steps there are.
    #[must_use]
    pub fn steps(&self) -> usize {
        self.vectors.iter().map(|vector| vector.steps.len()).sum()
    }
}

async fn check(engine: &Engine, step: &Step) -> Option<String> {
    let found = engine
        .invoke(&step.hook, step.payload.as_str(), &step.request)
        .await;
    match (&step.expected, found) {
        (Expected::Error(expected), Err(error)) if error.code() == expected => None,
        (Expected::Error(expected), Err(error)) => {
            Some(format!("expected error {expected}, found {error}"))
        }
        (Expected::Error(expected), Ok(outcome)) => Some(format!(
            "expected error {expected}, found {}",
            outcome.decision
        )),
        (Expected::Outcome(_), Err(error)) => Some(format!("expected an outcome, found {error}")),
        (Expected::Outcome(expected), Ok(outcome)) => {
            let expected = canonical::canonical(expected.clone());
            let found = first_difference(&expected, &canonical::outcome(&outcome));
            found.map(|what| {
                let faults = outcome
                    .faults
                    .iter()
                    .map(|fault| format!("; {}: {}", fault.kind, fault.message));
                format!("{what}{}", faults.collect::<String>())
            })
        }
    }
}

/// Fails a test with every difference, or says how many steps agreed.
///
/// # Panics
///
/// If there are differences.
pub fn assert_none(differences: &[Difference]) {
    let lines = differences
        .iter()
        .map(|difference| format!("{}: {}", difference.step, difference.what));
    assert!(
        differences.is_empty(),
        "{} steps differ\n{}",
        differences.len(),
        lines.collect::<Vec<_>>().join("\n")
    );
}
