//! From configuration to a generation: every plugin loaded side by side, every problem in one report.

use std::fmt;
use std::sync::{Arc, Mutex};
use std::time::Duration;

use arc_swap::ArcSwap;

use super::{Engine, Inner};
use crate::capability::{Capabilities, Capability};
use crate::condition::Condition;
use crate::config::{Config, Limits, Mode, OnError, PluginSpec, defaults};
use crate::entry::{Entry, EntrySettings};
use crate::explain::Facts;
use crate::generation::Generation;
use crate::plugin::{Host, LoadError, Plugin};
use crate::record::RecordSink;
use crate::store::RequestStore;

/// Collects what an [`Engine`] is made of.
#[derive(Default)]
pub struct EngineBuilder {
    config: Config,
    source: Source,
    sink: Option<Arc<dyn RecordSink>>,
}

impl EngineBuilder {
    /// The plugins an operator configured, and the engine's limits.
    #[must_use]
    pub fn config(mut self, config: Config) -> Self {
        self.config = config;
        self
    }

    /// A host that loads one kind of plugin.
    #[must_use]
    pub fn host(mut self, host: Arc<dyn Host>) -> Self {
        self.source.hosts.push(host);
        self
    }

    /// A plugin of this process under default settings, on the hooks it describes.
    #[must_use]
    pub fn plugin(self, name: impl Into<String>, plugin: Arc<dyn Plugin>) -> Self {
        self.in_process(InProcess::new(name, plugin))
    }

    /// A plugin of this process with settings of its own. In-process plugins come after the
    /// configured ones of equal priority.
    #[must_use]
    pub fn in_process(mut self, plugin: InProcess) -> Self {
        self.source.in_process.push(plugin);
        self
    }

    /// Where decision records go; without one none are made.
    #[must_use]
    pub fn records(mut self, sink: Arc<dyn RecordSink>) -> Self {
        self.sink = Some(sink);
        self
    }

    /// Loads every plugin.
    ///
    /// # Errors
    ///
    /// [`LoadReport`] with every plugin that did not load.
    pub async fn build(self) -> Result<Engine, LoadReport> {
        let (max_payload_bytes, max_state_bytes) =
            (self.config.max_payload_bytes, self.config.max_state_bytes);
        let generation = self.source.load(self.config, 1).await?;
        Ok(Engine {
            inner: Arc::new(Inner {
                generation: ArcSwap::from_pointee(generation),
                store: RequestStore::default(),
                sink: self.sink,
                max_payload_bytes,
                max_state_bytes,
                source: tokio::sync::Mutex::new(self.source),
                retiring: Mutex::default(),
            }),
        })
    }
}

/// A plugin that lives in this process, with what a `plugins:` entry would say about it.
#[derive(Clone)]
pub struct InProcess {
    name: String,
    plugin: Arc<dyn Plugin>,
    hooks: Vec<String>,
    mode: Mode,
    priority: i32,
    on_error: OnError,
    timeout: Duration,
    concurrency: u32,
    conditions: Vec<Condition>,
    granted: Capabilities,
}

impl InProcess {
    /// Default settings, on the hooks the plugin describes.
    #[must_use]
    pub fn new(name: impl Into<String>, plugin: Arc<dyn Plugin>) -> Self {
        Self {
            name: name.into(),
            hooks: plugin.describe().hooks,
            plugin,
            mode: Mode::Sequential,
            priority: defaults::PRIORITY,
            on_error: OnError::Fail,
            timeout: Limits::in_process().timeout,
            concurrency: Limits::in_process().concurrency,
            conditions: Vec::new(),
            granted: Capabilities::NONE,
        }
    }

    /// The hooks it listens to.
    #[must_use]
    pub fn hooks<H: Into<String>>(mut self, hooks: impl IntoIterator<Item = H>) -> Self {
        self.hooks = hooks.into_iter().map(Into::into).collect();
        self
    }

    /// Its mode.
    #[must_use]
    pub fn mode(mut self, mode: Mode) -> Self {
        self.mode = mode;
        self
    }

    /// Its priority; lower runs first.
    #[must_use]
    pub fn priority(mut self, priority: i32) -> Self {
        self.priority = priority;
        self
    }

    /// What a fault does.
    #[must_use]
    pub fn on_error(mut self, on_error: OnError) -> Self {
        self.on_error = on_error;
        self
    }

    /// How long one call may take; an hour at most.
    #[must_use]
    pub fn timeout(mut self, timeout: Duration) -> Self {
        self.timeout = timeout;
        self
    }

    /// How many calls may be under way; at least one.
    #[must_use]
    pub fn concurrency(mut self, concurrency: u32) -> Self {
        self.concurrency = concurrency.max(1);
        self
    }

    /// Its data grants.
    #[must_use]
    pub fn data(mut self, granted: impl IntoIterator<Item = Capability>) -> Self {
        self.granted = granted.into_iter().collect();
        self
    }

    /// When it is asked: one of these must hold; always, if there are none.
    #[must_use]
    pub fn conditions(mut self, conditions: impl IntoIterator<Item = Condition>) -> Self {
        self.conditions = conditions.into_iter().map(Condition::normalised).collect();
        self
    }

    fn entry(&self) -> Entry {
        let settings = EntrySettings {
            group: None,
            hooks: self.hooks.clone(),
            mode: self.mode,
            priority: self.priority,
            on_error: self.on_error,
            timeout: self.timeout,
            concurrency: self.concurrency,
            conditions: self.conditions.clone(),
            granted: self.granted,
            in_process: true,
        };
        Entry::new(&self.name, Arc::clone(&self.plugin), settings)
    }

    fn facts(&self) -> Facts {
        Facts {
            name: self.name.clone(),
            kind: self.plugin.describe().kind.to_owned(),
            group: None,
            hooks: self.hooks.clone(),
            mode: self.mode,
            priority: self.priority,
            on_error: self.on_error,
            timeout: self.timeout,
            conditions: self.conditions.clone(),
            granted: self.granted,
            switched_off: false,
            left_out: None,
        }
    }
}

/// What generations are loaded from.
#[derive(Default)]
pub(super) struct Source {
    hosts: Vec<Arc<dyn Host>>,
    in_process: Vec<InProcess>,
}

impl Source {
    /// Loads every entry at once. If one fails, those that loaded are ended again.
    ///
    /// If the configuration says so, plugins that do not load are left out instead.
    pub(super) async fn load(&self, config: Config, number: u64) -> Result<Generation, LoadReport> {
        let mut problems = Vec::new();
        let mut skipped = Vec::new();
        let skips = config.skip_unloadable;
        let (wanted, disabled): (Vec<PluginSpec>, Vec<_>) = config
            .plugins
            .into_iter()
            .partition(|spec| spec.mode != Mode::Disabled);
        for plugin in &self.in_process {
            let twice = wanted
                .iter()
                .map(|spec| &spec.name)
                .filter(|name| **name == plugin.name)
                .count()
                + self
                    .in_process
                    .iter()
                    .filter(|other| other.name == plugin.name)
                    .count();
            if twice > 1 {
                problems.push(LoadProblem::new(
                    &plugin.name,
                    None,
                    LoadError::new("the name is given twice"),
                ));
            }
        }
        let mut unloaded: Vec<Facts> = disabled.iter().map(Facts::from).collect();
        let told: Vec<Facts> = wanted.iter().map(Facts::from).collect();
        let loads = wanted.into_iter().map(|spec| self.load_one(spec));
        let mut entries: Vec<Arc<Entry>> = Vec::new();
        let loaded = futures::future::join_all(loads).await;
        for (loaded, mut facts) in loaded.into_iter().zip(told) {
            match loaded {
                Ok(entry) => entries.push(Arc::new(entry)),
                Err(problem) if skips => {
                    let LoadProblem { plugin, error, .. } = &problem;
                    tracing::warn!(%plugin, "left out, since it does not load: {}", error.message);
                    facts.left_out = Some(error.message.clone());
                    unloaded.push(facts);
                    skipped.push(problem);
                }
                Err(problem) => problems.push(problem),
            }
        }
        if !problems.is_empty() {
            futures::future::join_all(entries.iter().map(|entry| entry.shutdown())).await;
            return Err(LoadReport { problems });
        }
        for plugin in &self.in_process {
            match plugin.mode {
                Mode::Disabled => unloaded.push(plugin.facts()),
                _ => entries.push(Arc::new(plugin.entry())),
            }
        }
        Ok(Generation::new(number, entries)
            .knowing_of(unloaded)
            .without(skipped))
    }

    async fn load_one(&self, spec: PluginSpec) -> Result<Entry, LoadProblem> {
        let kind = spec.kind.name();
        let problem = |error| LoadProblem::new(&spec.name, Some(spec.line), error);
        let Some(host) = self.hosts.iter().find(|host| host.kind() == kind) else {
            let kinds: Vec<_> = self.hosts.iter().map(|host| host.kind()).collect();
            let message = format!("no host for plugins of kind `{kind}` in this engine");
            return Err(problem(
                LoadError::new(message).hint(format!("hosts it has: {}", kinds.join(", "))),
            ));
        };
        let settings = EntrySettings {
            group: spec.group.clone(),
            hooks: spec.hooks.clone(),
            mode: spec.mode,
            priority: spec.priority,
            on_error: spec.on_error,
            timeout: spec.limits.timeout,
            concurrency: spec.limits.concurrency,
            conditions: spec.conditions.clone(),
            granted: spec.permissions.data,
            in_process: false,
        };
        let plugin = host.load(spec.clone()).await.map_err(problem)?;
        Ok(Entry::new(&spec.name, plugin, settings))
    }
}

/// Every plugin that did not load.
#[derive(Debug, Clone)]
pub struct LoadReport {
    /// One a plugin, in config order; empty if the engine was shut down meanwhile.
    pub problems: Vec<LoadProblem>,
}

/// A plugin that did not load.
#[derive(Debug, Clone)]
pub struct LoadProblem {
    /// Its entry's name.
    pub plugin: String,
    /// Line of its entry in the configuration file.
    pub line: Option<usize>,
    /// Why.
    pub error: LoadError,
}

impl LoadProblem {
    fn new(plugin: &str, line: Option<usize>, error: LoadError) -> Self {
        Self {
            plugin: plugin.to_owned(),
            line,
            error,
        }
    }
}

impl fmt::Display for LoadReport {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        if self.problems.is_empty() {
            return f.write_str("error: the engine was shut down");
        }
        for (index, problem) in self.problems.iter().enumerate() {
            if index > 0 {
                writeln!(f)?;
            }
            write!(
                f,
                "error: plugin {}: {}",
                problem.plugin, problem.error.message
            )?;
            if let Some(detail) = &problem.error.detail {
                for line in detail.lines() {
                    write!(f, "\n  | {line}")?;
                }
            }
            if let Some(hint) = &problem.error.hint {
                write!(f, "\n  hint: {hint}")?;
            }
        }
        Ok(())
    }
}

impl std::error::Error for LoadReport {}
