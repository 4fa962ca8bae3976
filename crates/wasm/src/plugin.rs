//! [`WasmPlugin`]: one entry's component, and the way of a call through it.

use std::pin::pin;
use std::sync::Arc;
use std::task::Poll;
use std::time::Instant;

use futures::future::BoxFuture;
use hookgate_core::config::{InstancePolicy, PluginSpec};
use hookgate_core::{
    Answer, Document, Fault, FaultKind, HookCall, LoadError, Phase, Plugin, PluginInfo,
};
use tokio::time::{sleep_until, timeout_at};
use wasmtime::component::InstancePre;

use crate::component::SharedComponent;
use crate::contract::{Exports, interface_of};
use crate::faults::{self, late};
use crate::grants::Grants;
use crate::guest::Guest;
use crate::imports::Imports;
use crate::instance::Maker;
use crate::limits::{DEADLINE_GRACE, HEAVY_COMPONENT_BYTES, MIN_LOAD_TIMEOUT, SYNC_TIMEOUT};
use crate::runtime::{KeptRoom, Runtime, places};
use crate::stock::Stock;

/// A component loaded for one `plugins:` entry.
pub(crate) struct WasmPlugin {
    component: SharedComponent,
    stock: Arc<Stock>,
    imports: Imports,
    /// Grants that nothing it imports would use.
    unused: Vec<String>,
    _room: KeptRoom,
}

/// A component that may be loaded as far as its names go, and what it was granted.
pub(crate) struct Checked {
    pub(crate) component: SharedComponent,
    pub(crate) exports: Exports,
    pub(crate) imports: Imports,
    pub(crate) instances: InstancePre<Guest>,
    pub(crate) grants: Grants,
}

impl WasmPlugin {
    /// Checks that every configured hook is exported, and that an instance starts and takes its config.
    pub(crate) async fn load(
        runtime: Arc<Runtime>,
        host: u64,
        checked: Checked,
        spec: &PluginSpec,
    ) -> Result<Self, LoadError> {
        let Checked {
            component,
            exports,
            imports,
            instances,
            grants,
        } = checked;
        let compiled = &component.compiled.component;
        let mut hooks = Vec::new();
        let mut missing = Vec::new();
        for hook in &spec.hooks {
            match exports.hook(compiled, hook) {
                Some(function) => hooks.push((hook.clone(), function)),
                None => missing.push(format!("{hook} (interface `{}`)", interface_of(hook))),
            }
        }
        if !missing.is_empty() {
            let message = format!(
                "the component does not export what answers {}",
                missing.join(", ")
            );
            return Err(LoadError::new(message).hint(format!(
                "it exports: {}; take the hook out of `hooks:` or export its interface",
                exports.interfaces()
            )));
        }
        let name: Arc<str> = spec.name.as_str().into();
        let (concurrency, stock) = (spec.limits.concurrency, spec.instances.stock);
        let required = compiled.resources_required();
        let places = required.map_or(1, |required| {
            places(required.num_memories, required.num_tables)
        });
        let room = runtime
            .rooms()
            .take(host, &name, places, (concurrency, stock))?;
        let room = runtime.keep(room);
        let maker = Maker {
            name,
            init: exports.init(compiled),
            hooks,
            config: Document::new(spec.config.clone()),
            grants: Arc::new(grants),
            matchers: Arc::default(),
            memory_bytes: spec.limits.memory_bytes,
            timeout: spec.limits.timeout,
            // wasi functions may wait, which only a fiber can.
            is_sync: spec.limits.timeout <= SYNC_TIMEOUT && !exports.imports_wasi(),
            runtime,
            instances,
        };
        let deadline = Instant::now() + spec.limits.timeout.max(MIN_LOAD_TIMEOUT);
        try_one(&maker, deadline).await?;
        let stock = Stock::new(maker, spec.instances);
        stock.refill();
        Ok(Self {
            component,
            stock,
            unused: imports.unused(&spec.permissions),
            imports,
            _room: room,
        })
    }

    async fn answer(&self, call: HookCall) -> Result<Answer, Fault> {
        let maker = self.stock.maker();
        let hook = maker
            .hooks
            .iter()
            .position(|(hook, _)| **hook == *call.hook);
        let Some(hook) = hook else {
            return Err(Fault::new(
                FaultKind::Unsupported,
                format!("not loaded for hook {}", call.hook),
            ));
        };
        let mut instance = match self.stock.take() {
            Some(instance) => instance,
            None => maker.make(call.deadline).await?,
        };
        let answered = instance.answer(hook, call, maker.is_sync).await;
        self.stock.give_back(instance, answered.is_ok());
        answered
    }

    /// A fault that somebody may read: without the values of secrets, and with whose it is.
    fn told(&self, fault: Fault) -> Fault {
        let maker = self.stock.maker();
        let fault = maker.grants.secrets().scrubber().scrub_fault(fault);
        faults::told(fault, &maker.name, &self.component.compiled.digest)
    }

    /// What an operator may want to know of how it runs.
    fn notes(&self) -> Vec<String> {
        let bytes = self.component.compiled.bytes;
        let reuses = self.stock.policy().policy == InstancePolicy::Reuse;
        if bytes < HEAVY_COMPONENT_BYTES || reuses {
            return Vec::new();
        }
        vec![format!(
            "its component has {bytes} bytes and brings a runtime along, which every call starts anew; if \
             it keeps its callers apart, write `instances: {{policy: reuse}}`"
        )]
    }
}

/// Starts one instance as a call would, and looks at the types of the hooks' functions.
async fn try_one(maker: &Maker, deadline: Instant) -> Result<(), LoadError> {
    let trial = timeout_at((deadline + DEADLINE_GRACE).into(), maker.make(deadline));
    let fault = match trial.await {
        Ok(Ok(_)) => return Ok(()),
        Ok(Err(fault)) => maker.grants.secrets().scrubber().scrub_fault(fault),
        Err(_) => late(Phase::HostCall),
    };
    let error = LoadError::new(format!("a trial instance did not start: {fault}"));
    Err(match fault.kind {
        FaultKind::PluginError => LoadError::new(format!(
            "the plugin refuses its configuration: {}",
            fault.message
        ))
        .hint("see the plugin's own documentation for what belongs under `config:`"),
        FaultKind::OutOfMemory => error.hint("raise `limits.memory`"),
        FaultKind::Timeout => {
            error.hint("raise `limits.timeout`, or look for an endless loop in `init`")
        }
        _ => error,
    })
}

impl Plugin for WasmPlugin {
    fn describe(&self) -> PluginInfo {
        let maker = self.stock.maker();
        PluginInfo {
            kind: "wasm",
            hooks: maker.hooks.iter().map(|(hook, _)| hook.clone()).collect(),
            digest: Some(self.component.compiled.digest.clone()),
            sandbox: maker.grants.describe(),
            imports: self.imports.names().to_vec(),
            unused: self.unused.clone(),
            state: "ready",
            ready_instances: Some(self.stock.ready()),
            notes: self.notes(),
            ..PluginInfo::default()
        }
    }

    fn call(&self, call: HookCall) -> BoxFuture<'_, Result<Answer, Fault>> {
        Box::pin(async move {
            // A guest that computes ends at its next epoch check; what still runs then waits in a host call.
            let deadline = call.deadline + DEADLINE_GRACE;
            let mut answer = pin!(self.answer(call));
            let mut timer = None;
            std::future::poll_fn(|task| {
                if let Poll::Ready(answered) = answer.as_mut().poll(task) {
                    return Poll::Ready(answered);
                }
                // Only for those that do not answer at once: a timer costs more than many a verdict.
                let timer = timer.get_or_insert_with(|| Box::pin(sleep_until(deadline.into())));
                timer
                    .as_mut()
                    .poll(task)
                    .map(|()| Err(late(Phase::HostCall)))
            })
            .await
            .map_err(|fault| self.told(fault))
        })
    }

    fn shutdown(&self) -> BoxFuture<'_, ()> {
        Box::pin(async move { self.stock.close() })
    }

    fn keeps_deadline(&self) -> bool {
        true
    }
}
