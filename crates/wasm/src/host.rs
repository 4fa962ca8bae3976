//! [`WasmHost`]: loads components for the engine.

use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};

use futures::future::BoxFuture;
use hookgate_core::config::{PluginKind, PluginSpec};
use hookgate_core::{Host, LoadError, Plugin};

use crate::component::Components;
use crate::contract::Exports;
use crate::grants::{Grants, Outside};
use crate::imports::Imports;
use crate::linking::Linkers;
use crate::options::WasmHostOptions;
use crate::plugin::{Checked, WasmPlugin};
use crate::resolver::Resolve;
use crate::runtime::Runtime;

/// The host of plugins of kind `wasm`. It holds the components compiled so far; the wasmtime engine, its
/// clock and its pool of instances are the process's own.
pub struct WasmHost {
    /// Tells its plugins from those of other hosts of the process.
    id: u64,
    pub(crate) runtime: Arc<Runtime>,
    linkers: Linkers,
    pub(crate) components: Components,
    outside: Arc<Outside>,
}

impl WasmHost {
    /// Starts wasmtime with the default options: compiled code is not kept.
    ///
    /// # Errors
    ///
    /// If this machine cannot run it, which a supported one can.
    pub fn new() -> Result<Self, LoadError> {
        Self::with_options(WasmHostOptions::default())
    }

    /// Starts wasmtime. Folders that the options name are looked at when a component needs them.
    ///
    /// # Errors
    ///
    /// If this machine cannot run it, which a supported one can.
    pub fn with_options(options: WasmHostOptions) -> Result<Self, LoadError> {
        let error =
            |error: wasmtime::Error| LoadError::new(format!("wasmtime does not start: {error:#}"));
        static NEXT: AtomicU64 = AtomicU64::new(0);
        let runtime = Runtime::shared().map_err(error)?;
        let linkers = Linkers::new(runtime.engine()).map_err(error)?;
        Ok(Self {
            id: NEXT.fetch_add(1, Ordering::Relaxed),
            runtime,
            linkers,
            components: Components::new(options.code_cache),
            outside: Arc::default(),
        })
    }

    /// The same, with somebody else to ask which addresses a name has, and with certificate authorities
    /// (DER) that are trusted besides the system's. For gateways with a resolver of their own, and for tests.
    #[must_use]
    pub fn with_network(self, resolver: Arc<dyn Resolve>, authorities: Vec<Vec<u8>>) -> Self {
        let outside = Arc::new(Outside::new(resolver, authorities));
        Self { outside, ..self }
    }

    async fn load_component(&self, spec: &PluginSpec) -> Result<WasmPlugin, LoadError> {
        let PluginKind::Wasm { component: file } = &spec.kind else {
            return Err(LoadError::new(format!(
                "not a wasm plugin: {}",
                spec.kind.name()
            )));
        };
        let engine = self.runtime.engine();
        let digest = spec.digest.as_deref();
        let component = self.components.load(engine, file, digest).await?;
        let exports = Exports::of(&component.compiled.component, engine)?;
        let imports = Imports::of(&component.compiled.component, engine);
        let linker = self.linkers.of(&imports, &spec.permissions)?;
        let instances = linker
            .instantiate_pre(&component.compiled.component)
            .map_err(|error| imports.unmet(&error))?;
        let grants = Grants::new(spec, Arc::clone(&self.outside)).await?;
        let checked = Checked {
            component,
            exports,
            imports,
            instances,
            grants,
        };
        let runtime = Arc::clone(&self.runtime);
        WasmPlugin::load(runtime, self.id, checked, spec).await
    }
}

impl Host for WasmHost {
    fn kind(&self) -> &'static str {
        "wasm"
    }

    fn load(&self, spec: PluginSpec) -> BoxFuture<'_, Result<Arc<dyn Plugin>, LoadError>> {
        Box::pin(async move { Ok(Arc::new(self.load_component(&spec).await?) as Arc<dyn Plugin>) })
    }
}
