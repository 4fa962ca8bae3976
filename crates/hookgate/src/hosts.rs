//! [`engine`]: a configuration with the hosts its plugins need.

use std::sync::Arc;

use hookgate_core::config::{Config, Mode};
use hookgate_core::{Engine, EngineBuilder, LoadError};
use hookgate_python::{PythonHost, PythonHostOptions, default_store};
use hookgate_wasm::{WasmHost, WasmHostOptions};

/// How hosts are made.
#[derive(Debug, Clone, Default)]
#[non_exhaustive]
pub struct HostOptions {
    /// The environment store, the installer and the progress of the Python host; by default a store
    /// in [`default_store`] and whatever installer there is.
    pub python: Option<PythonHostOptions>,
    /// The code cache of the wasm host; by default there is none, and every component is compiled anew.
    pub wasm: WasmHostOptions,
    /// Adds every host, also one that no plugin of the configuration needs, so that a reload may
    /// bring the first plugin of a kind.
    pub all_kinds: bool,
}

impl HostOptions {
    /// These options with those of the Python host.
    #[must_use]
    pub fn python(mut self, options: PythonHostOptions) -> Self {
        self.python = Some(options);
        self
    }

    /// These options with those of the wasm host.
    #[must_use]
    pub fn wasm(mut self, options: WasmHostOptions) -> Self {
        self.wasm = options;
        self
    }

    /// These options with every host, needed now or not.
    #[must_use]
    pub fn all_kinds(mut self) -> Self {
        self.all_kinds = true;
        self
    }
}

/// An engine in the making: `config`, and a host for each kind of plugin in it.
///
/// # Errors
///
/// See [`engine_with`].
pub fn engine(config: Config) -> Result<EngineBuilder, LoadError> {
    engine_with(config, HostOptions::default())
}

/// The same with options. Disabled plugins need no host.
///
/// # Errors
///
/// If a host cannot be started: wasmtime does not run on this machine, or there is no folder for
/// Python environments because neither the options nor the user's environment name one.
pub fn engine_with(config: Config, options: HostOptions) -> Result<EngineBuilder, LoadError> {
    let plugins = config.plugins.iter();
    let enabled = plugins.filter(|plugin| plugin.mode != Mode::Disabled);
    let kinds: Vec<&str> = enabled.map(|plugin| plugin.kind.name()).collect();
    let wanted = |kind| options.all_kinds || kinds.contains(&kind);
    let (wasm, python) = (wanted("wasm"), wanted("python"));
    let mut builder = Engine::builder().config(config);
    if wasm {
        builder = builder.host(Arc::new(WasmHost::with_options(options.wasm)?));
    }
    if python {
        let python = options.python.map_or_else(default_python, Ok)?;
        builder = builder.host(Arc::new(PythonHost::new(python)));
    }
    Ok(builder)
}

fn default_python() -> Result<PythonHostOptions, LoadError> {
    let store = default_store().ok_or_else(|| {
        LoadError::new("no folder for Python environments: HOME is not set")
            .hint("set HOOKGATE_ENV_DIR to a folder of yours")
    })?;
    Ok(PythonHostOptions::new(store))
}
