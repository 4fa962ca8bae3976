//! [`WasmHost`]: loads components for the engine.

use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};

use futures::future::BoxFuture;
use hookgate_core::config::{PluginKind, PluginSpec};
use hookgate_core::{Host, LoadError, Plugin};
use wasmtime::component::{HasSelf, Linker};

use crate::bindings;
use crate::component::Components;
use crate::contract::{Exports, unmet};
use crate::guest::Guest;
use crate::options::WasmHostOptions;
use crate::plugin::WasmPlugin;
use crate::runtime::Runtime;

/// The host of plugins of kind `wasm`. It holds the components compiled so far; the wasmtime engine, its
/// clock and its pool of instances are the process's own.
pub struct WasmHost {
    /// Tells its plugins from those of other hosts of the process.
    id: u64,
    pub(crate) runtime: Arc<Runtime>,
    linker: Linker<Guest>,
    pub(crate) components: Components,
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
        let linker = linker(&runtime).map_err(error)?;
        Ok(Self {
            id: NEXT.fetch_add(1, Ordering::Relaxed),
            runtime,
            linker,
            components: Components::new(options.code_cache),
        })
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
        let instances = self.linker.instantiate_pre(&component.compiled.component).map_err(|error| {
            LoadError::new(format!("the component imports what is not there: {}", unmet(&error)))
                .detail(format!("{error:#}"))
                .hint("a plugin may import hookgate:plugin/{types,call,log,secrets} and the wasi:cli world")
        })?;
        WasmPlugin::load(
            Arc::clone(&self.runtime),
            self.id,
            component,
            &exports,
            instances,
            spec,
        )
        .await
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

fn linker(runtime: &Runtime) -> wasmtime::Result<Linker<Guest>> {
    let mut linker = Linker::new(runtime.engine());
    // The async bindings: the sync ones block the runtime's thread, which a call shares with others.
    wasmtime_wasi::p2::add_to_linker_async(&mut linker)?;
    bindings::types::add_to_linker::<_, HasSelf<Guest>>(&mut linker, |guest| guest)?;
    bindings::call::add_to_linker::<_, HasSelf<Guest>>(&mut linker, |guest| guest)?;
    bindings::log::add_to_linker::<_, HasSelf<Guest>>(&mut linker, |guest| guest)?;
    bindings::secrets::add_to_linker::<_, HasSelf<Guest>>(&mut linker, |guest| guest)?;
    Ok(linker)
}
