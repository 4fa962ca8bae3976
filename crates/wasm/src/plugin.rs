//! [`WasmPlugin`]: one entry's component, and the way of a call through it.

use std::collections::HashMap;
use std::sync::Arc;
use std::time::Instant;

use futures::future::BoxFuture;
use hookgate_core::config::PluginSpec;
use hookgate_core::{
    Answer, Approval, Document, Fault, FaultKind, HookCall, Json, LoadError, Phase, Plugin,
    PluginInfo, Risk, Verdict, Violation,
};
use tokio::time::timeout_at;
use wasmtime::component::{ComponentExportIndex, Instance, InstancePre, Resource, TypedFunc};
use wasmtime::{Store, UpdateDeadline};

use crate::bindings::types;
use crate::component::SharedComponent;
use crate::contract::{Exports, interface_of};
use crate::faults::{Ended, fault};
use crate::grants::Grants;
use crate::guest::{Guest, LentContext, LentDocument};
use crate::limits::{DEADLINE_GRACE, MAX_HOSTCALL_BYTES, MIN_LOAD_TIMEOUT};
use crate::logs::CallLog;
use crate::matchers::Matchers;
use crate::runtime::Runtime;

type Init = (Result<(), types::Failure>,);
type Hook = (Result<types::Verdict, types::Failure>,);
type HookParams<'a> = (&'a str, Resource<LentDocument>, Resource<LentContext>);

/// A component loaded for one `plugins:` entry.
pub(crate) struct WasmPlugin {
    name: Arc<str>,
    runtime: Arc<Runtime>,
    component: SharedComponent,
    instances: InstancePre<Guest>,
    init: Option<ComponentExportIndex>,
    hooks: HashMap<String, ComponentExportIndex>,
    config: Document,
    grants: Arc<Grants>,
    matchers: Arc<Matchers>,
    memory_bytes: u64,
}

impl WasmPlugin {
    /// Checks that every configured hook is exported, and that an instance starts and takes its config.
    pub(crate) async fn load(
        runtime: Arc<Runtime>,
        component: SharedComponent,
        exports: &Exports,
        instances: InstancePre<Guest>,
        spec: &PluginSpec,
    ) -> Result<Self, LoadError> {
        let compiled = &component.compiled.component;
        let mut hooks = HashMap::new();
        let mut missing = Vec::new();
        for hook in &spec.hooks {
            match exports.hook(compiled, hook) {
                Some(function) => drop(hooks.insert(hook.clone(), function)),
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
        let plugin = Self {
            name: spec.name.as_str().into(),
            init: exports.init(compiled),
            hooks,
            config: Document::new(spec.config.clone()),
            grants: Arc::new(Grants::new(&spec.permissions)?),
            matchers: Arc::default(),
            memory_bytes: spec.limits.memory_bytes,
            runtime,
            component,
            instances,
        };
        plugin
            .try_one(Instant::now() + spec.limits.timeout.max(MIN_LOAD_TIMEOUT))
            .await?;
        Ok(plugin)
    }

    /// Starts one instance as a call would, and looks at the types of the hooks' functions.
    async fn try_one(&self, deadline: Instant) -> Result<(), LoadError> {
        let trial = async {
            let mut store = self.store(deadline);
            let instance = self.start(&mut store).await?;
            for (hook, function) in &self.hooks {
                hook_function(&instance, &mut store, function).map_err(|error| {
                    Fault::new(FaultKind::Load, format!("{hook}: {}", error.root_cause()))
                })?;
            }
            Ok::<_, Fault>(())
        };
        let fault = match timeout_at((deadline + DEADLINE_GRACE).into(), trial).await {
            Ok(Ok(())) => return Ok(()),
            Ok(Err(fault)) => fault,
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

    /// An empty store whose guest ends at the deadline.
    fn store(&self, deadline: Instant) -> Store<Guest> {
        let guest = Guest::new(
            Arc::clone(&self.grants),
            CallLog::new(Arc::clone(&self.name)),
            Arc::clone(&self.matchers),
            self.memory_bytes,
            deadline,
        );
        let mut store = Store::new(self.runtime.engine(), guest);
        store.limiter(|guest| &mut guest.memory);
        store.set_hostcall_fuel(MAX_HOSTCALL_BYTES);
        store.set_epoch_deadline(1);
        store.epoch_deadline_callback(|store| {
            let guest = store.data();
            if Instant::now() >= guest.deadline {
                return Err(Ended(late(guest.phase)).into());
            }
            Ok(UpdateDeadline::Yield(1))
        });
        store
    }

    /// A fresh instance that has run `init`.
    async fn start(&self, store: &mut Store<Guest>) -> Result<Instance, Fault> {
        store.data_mut().phase = Phase::Start;
        let instance = self
            .instances
            .instantiate_async(&mut *store)
            .await
            .map_err(|error| ended(&error, store))?;
        let Some(init) = &self.init else {
            return Ok(instance);
        };
        store.data_mut().phase = Phase::Init;
        let config = store
            .data_mut()
            .table
            .push(LentDocument(self.config.clone()));
        let config =
            Resource::new_borrow(config.map_err(|error| ended(&error.into(), store))?.rep());
        let init: TypedFunc<(Resource<LentDocument>,), Init> = instance
            .get_typed_func(&mut *store, init)
            .map_err(|error| ended(&error, store))?;
        let (result,) = init
            .call_async(&mut *store, (config,))
            .await
            .map_err(|error| ended(&error, store))?;
        result.map_err(failed)?;
        Ok(instance)
    }

    async fn answer(&self, call: HookCall) -> Result<Answer, Fault> {
        let Some(function) = self.hooks.get(&*call.hook) else {
            return Err(Fault::new(
                FaultKind::Unsupported,
                format!("not loaded for hook {}", call.hook),
            ));
        };
        let mut store = self.store(call.deadline);
        store.data_mut().draft = Some(call.draft());
        store.data_mut().call = Some(call.clone());
        let instance = self.start(&mut store).await?;
        store.data_mut().phase = Phase::Guest;
        let table = &mut store.data_mut().table;
        let lent = table
            .push(LentDocument(call.payload.clone()))
            .and_then(|document| {
                let context = table.push(LentContext)?;
                Ok((
                    Resource::new_borrow(document.rep()),
                    Resource::new_borrow(context.rep()),
                ))
            });
        let (document, context) = lent.map_err(|error| ended(&error.into(), &store))?;
        let hook = hook_function(&instance, &mut store, function)
            .map_err(|error| ended(&error, &store))?;
        // Hooks with a subject are told it, the custom hook its own name.
        let first = call.subject.as_deref().unwrap_or(&call.hook);
        let (verdict,) = hook
            .call_async(&mut store, (first, document, context))
            .await
            .map_err(|error| ended(&error, &store))?;
        let verdict = verdict_of(verdict.map_err(failed)?)?;
        let draft = store.data_mut().draft.take();
        draft
            .map(|draft| draft.answer(verdict))
            .ok_or_else(|| Fault::new(FaultKind::Protocol, "no draft"))
    }
}

impl Plugin for WasmPlugin {
    fn describe(&self) -> PluginInfo {
        PluginInfo {
            kind: "wasm",
            hooks: self.hooks.keys().cloned().collect(),
            digest: Some(self.component.compiled.digest.clone()),
            sandbox: self.grants.describe(),
            state: "ready",
            ..PluginInfo::default()
        }
    }

    fn call(&self, call: HookCall) -> BoxFuture<'_, Result<Answer, Fault>> {
        Box::pin(async move {
            let deadline = call.deadline + DEADLINE_GRACE;
            // A guest that computes ends at its next epoch check; what still runs now waits in a host call.
            timeout_at(deadline.into(), self.answer(call))
                .await
                .unwrap_or_else(|_| Err(late(Phase::HostCall)))
        })
    }

    fn keeps_deadline(&self) -> bool {
        true
    }
}

fn hook_function(
    instance: &Instance,
    store: &mut Store<Guest>,
    function: &ComponentExportIndex,
) -> wasmtime::Result<TypedFunc<HookParams<'static>, Hook>> {
    instance.get_typed_func(store, function)
}

fn ended(error: &wasmtime::Error, store: &Store<Guest>) -> Fault {
    fault(error, store.data().memory.refused())
}

fn late(phase: Phase) -> Fault {
    Fault::timeout(phase, "it was not done at its deadline")
}

fn failed(failure: types::Failure) -> Fault {
    match failure {
        types::Failure::Unsupported => {
            Fault::new(FaultKind::Unsupported, "it does not handle this hook")
        }
        types::Failure::Failed(message) => Fault::new(FaultKind::PluginError, message),
    }
}

fn verdict_of(verdict: types::Verdict) -> Result<Verdict, Fault> {
    Ok(match verdict {
        types::Verdict::Allow => Verdict::Allow,
        types::Verdict::Ask(approval) => Verdict::Ask(Approval {
            reason: approval.reason,
            risk: match approval.risk {
                types::Risk::Low => Risk::Low,
                types::Risk::Medium => Risk::Medium,
                types::Risk::High => Risk::High,
                types::Risk::Critical => Risk::Critical,
            },
            details: details(approval.details)?,
        }),
        types::Verdict::Deny(violation) => Verdict::Deny(Violation {
            plugin: None,
            code: violation.code,
            reason: violation.reason,
            description: violation.description,
            details: details(violation.details)?,
            mcp_error_code: violation.mcp_error_code,
            http_status_code: violation.http_status_code,
            http_headers: violation.http_headers,
        }),
    })
}

fn details(text: String) -> Result<Json, Fault> {
    Json::parse(text).map_err(|error| {
        Fault::new(
            FaultKind::PluginError,
            format!("the details of its verdict are not I-JSON: {error}"),
        )
    })
}
