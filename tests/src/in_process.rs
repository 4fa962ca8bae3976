//! The policies as trait objects of this process: what no host stands between, and no host limits.

mod script;
mod slots;
mod words;

use std::sync::Arc;

use hookgate_core::{Engine, EngineBuilder, InProcess, Plugin};

use crate::kind::Kind;
use crate::run::Setup;
use crate::suite::{PluginEntry, Suite};

/// Engines whose plugins are all in this process.
#[derive(Debug, Clone, Copy, Default)]
pub struct InThisProcess;

impl Setup for InThisProcess {
    fn kind(&self) -> Kind {
        Kind::InProcess
    }

    fn setups_at_once(&self) -> usize {
        usize::from(u8::MAX)
    }

    async fn engine(&self, suite: &Suite, setup: &str) -> Engine {
        let plugins = suite.setup(setup).plugins.iter();
        let plugins = plugins.map(|said| entry(said, policy(said)));
        let builder = plugins.fold(Engine::builder(), EngineBuilder::in_process);
        builder
            .build()
            .await
            .unwrap_or_else(|report| panic!("setup {setup} does not load\n{report}"))
    }
}

/// The policy of an entry.
///
/// # Panics
///
/// If there is none of its name here, or the entry's config does not fit it.
#[must_use]
pub fn policy(entry: &PluginEntry) -> Arc<dyn Plugin> {
    match entry.policy.as_str() {
        "script" => Arc::new(script::Script::new(entry)),
        "deny-list" => Arc::new(words::DenyList::new(entry)),
        "redactor" => Arc::new(words::Redactor::new(entry)),
        other => panic!("no in-process plugin for policy {other}"),
    }
}

/// A plugin under everything an entry says of it.
#[must_use]
pub fn entry(entry: &PluginEntry, plugin: Arc<dyn Plugin>) -> InProcess {
    let mut made = InProcess::new(&entry.name, plugin)
        .timeout(entry.timeout())
        .data(entry.granted())
        .conditions(entry.conditions());
    if let Some(mode) = entry.mode {
        made = made.mode(mode);
    }
    if let Some(on_error) = entry.on_error {
        made = made.on_error(on_error);
    }
    if let Some(priority) = entry.priority {
        made = made.priority(priority);
    }
    made
}
