//! [`Kind`]: which implementation of a policy answers.

use std::time::Duration;

use hookgate_core::Capability;
use hookgate_core::config::{Config, PluginKind, PluginSpec};
use serde::Deserialize;

use crate::guests::{self, root};
use crate::suite::{PluginEntry, Suite};

/// What a plugin may take that has no timeout of its own in a vector. Compiled Python is slow to start and
/// machines are slow at times: only what a vector says about time is about time.
pub(crate) const PATIENCE: Duration = Duration::from_secs(60);

/// Which implementation of a policy answers.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Kind {
    /// The component written in Rust.
    Rust,
    /// The component compiled from Python.
    CompiledPython,
    /// The legacy class in a worker.
    Legacy,
    /// The Rust trait object in the engine's process.
    InProcess,
}

impl Kind {
    /// The plugin of `entry`, as this kind implements it.
    ///
    /// # Panics
    ///
    /// If the entry names a policy there is no guest of, or the kind is in-process, which no host loads.
    #[must_use]
    pub fn spec(self, entry: &PluginEntry) -> PluginSpec {
        let kind = match self {
            Self::Rust => component(&format!("{}-rust", entry.policy)),
            Self::CompiledPython => component(&format!("{}-python", entry.policy)),
            Self::Legacy => class(&entry.policy),
            Self::InProcess => panic!("in-process plugins are added in code"),
        };
        let mut spec = PluginSpec::new(&entry.name, kind);
        spec.hooks.clone_from(&entry.hooks);
        spec.config = entry.config.clone();
        spec.mode = entry.mode.unwrap_or(spec.mode);
        spec.on_error = entry.on_error.unwrap_or(spec.on_error);
        spec.priority = entry.priority.unwrap_or(spec.priority);
        spec.limits.timeout = entry.timeout();
        spec.limits.memory_bytes = 256 << 20;
        spec.permissions.data = entry.granted().collect();
        spec.conditions = entry.conditions().collect();
        spec.base_dir = root();
        spec
    }

    /// The configuration of a setup.
    ///
    /// # Panics
    ///
    /// If there is no setup of that name, or as [`Kind::spec`].
    #[must_use]
    pub fn config(self, suite: &Suite, setup: &str) -> Config {
        let mut config = Config::default();
        let plugins = &suite.setup(setup).plugins;
        config.plugins = plugins.iter().map(|entry| self.spec(entry)).collect();
        config
    }
}

impl PluginEntry {
    pub(crate) fn timeout(&self) -> Duration {
        self.timeout_ms.map_or(PATIENCE, Duration::from_millis)
    }

    pub(crate) fn granted(&self) -> impl Iterator<Item = Capability> {
        self.data
            .iter()
            .map(|name| Capability::named(name).unwrap_or_else(|| panic!("no capability {name}")))
    }

    pub(crate) fn conditions(&self) -> impl Iterator<Item = hookgate_core::Condition> {
        self.conditions.iter().map(|entry| entry.condition())
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
