//! [`Maker`]: what a plugin's instances are made from, and [`Instance`], one that has run `init`.

use std::sync::Arc;
use std::time::{Duration, Instant};

use hookgate_core::{
    Answer, Approval, Document, Fault, FaultKind, HookCall, Json, Phase, Risk, Verdict, Violation,
};
use wasmtime::component::{self, ComponentExportIndex, InstancePre, Resource, TypedFunc};
use wasmtime::{Store, UpdateDeadline};

use crate::bindings::types;
use crate::faults::{Ended, fault, late};
use crate::grants::Grants;
use crate::guest::{Guest, LentContext, LentDocument};
use crate::limits::MAX_HOSTCALL_BYTES;
use crate::logs::CallLog;
use crate::matchers::Matchers;
use crate::runtime::Runtime;

type Init = (Result<(), types::Failure>,);
type HookResult = (Result<types::Verdict, types::Failure>,);
type HookParams<'a> = (&'a str, Resource<LentDocument>, Resource<LentContext>);
type Hook = TypedFunc<HookParams<'static>, HookResult>;

/// What the instances of one plugin are made from.
pub(crate) struct Maker {
    pub(crate) name: Arc<str>,
    pub(crate) runtime: Arc<Runtime>,
    pub(crate) instances: InstancePre<Guest>,
    pub(crate) init: Option<ComponentExportIndex>,
    /// Each hook's name and the function that answers it.
    pub(crate) hooks: Vec<(String, ComponentExportIndex)>,
    pub(crate) config: Document,
    pub(crate) grants: Arc<Grants>,
    pub(crate) matchers: Arc<Matchers>,
    pub(crate) memory_bytes: u64,
    /// What `init` may take where no call waits for it.
    pub(crate) timeout: Duration,
    /// Without a fiber, on the caller's stack: for guests that cannot wait and may not compute for long.
    pub(crate) is_sync: bool,
}

/// An instance that has run `init`, in a store of its own.
pub(crate) struct Instance {
    store: Store<Guest>,
    /// In the order of [`Maker::hooks`].
    hooks: Box<[Hook]>,
    calls: u32,
    /// Memory once it was started.
    started_bytes: u64,
}

impl Maker {
    /// Starts an instance and lets it run `init`.
    pub(crate) async fn make(&self, deadline: Instant) -> Result<Instance, Fault> {
        let mut store = self.store(deadline);
        let instance = match self.is_sync {
            true => self.instances.instantiate(&mut store),
            false => self.instances.instantiate_async(&mut store).await,
        }
        .map_err(|error| ended(&error, &store))?;
        self.init(&mut store, &instance).await?;
        let hooks = self
            .hooks
            .iter()
            .map(|(hook, function)| {
                let typed = instance.get_typed_func(&mut store, function);
                typed.map_err(|error| {
                    Fault::new(FaultKind::Load, format!("{hook}: {}", error.root_cause()))
                })
            })
            .collect::<Result<_, _>>()?;
        Ok(Instance {
            hooks,
            calls: 0,
            started_bytes: store.data().memory.used(),
            store,
        })
    }

    /// An empty store whose guest ends at the deadline.
    fn store(&self, deadline: Instant) -> Store<Guest> {
        let guest = Guest::new(
            Arc::clone(&self.grants),
            CallLog::new(Arc::clone(&self.name), Arc::clone(self.grants.secrets())),
            Arc::clone(&self.matchers),
            self.memory_bytes,
            deadline,
        );
        let mut store = Store::new(self.runtime.engine(), guest);
        store.limiter(|guest| &mut guest.memory);
        store.set_hostcall_fuel(MAX_HOSTCALL_BYTES);
        store.set_epoch_deadline(1);
        let is_sync = self.is_sync;
        store.epoch_deadline_callback(move |store| {
            let guest = store.data();
            if Instant::now() >= guest.deadline {
                return Err(Ended(late(guest.phase)).into());
            }
            Ok(match is_sync {
                true => UpdateDeadline::Continue(1),
                false => UpdateDeadline::Yield(1),
            })
        });
        store
    }

    async fn init(
        &self,
        store: &mut Store<Guest>,
        instance: &component::Instance,
    ) -> Result<(), Fault> {
        let Some(init) = &self.init else {
            return Ok(());
        };
        store.data_mut().phase = Phase::Init;
        let config = LentDocument(self.config.clone());
        let config = store.data_mut().table.push(config);
        let config = config.map_err(|error| ended(&error.into(), store))?;
        let lent = Resource::new_borrow(config.rep());
        let init: TypedFunc<(Resource<LentDocument>,), Init> = instance
            .get_typed_func(&mut *store, init)
            .map_err(|error| ended(&error, store))?;
        let called = match self.is_sync {
            true => init.call(&mut *store, (lent,)),
            false => init.call_async(&mut *store, (lent,)).await,
        };
        let (result,) = called.map_err(|error| ended(&error, store))?;
        let returned = store.data_mut().table.delete(config);
        returned.map_err(|error| ended(&error.into(), store))?;
        result.map_err(failed)
    }
}

impl Instance {
    /// Lets it answer one call. `hook` is the place in [`Maker::hooks`].
    pub(crate) async fn answer(
        &mut self,
        hook: usize,
        call: HookCall,
        is_sync: bool,
    ) -> Result<Answer, Fault> {
        self.calls += 1;
        let store = &mut self.store;
        let hook = self.hooks[hook];
        // Hooks with a subject are told it, the custom hook its own name.
        let first = call.subject.clone().unwrap_or_else(|| call.hook.clone());
        let document = LentDocument(call.payload.clone());
        store.data_mut().begin(call)?;
        // Epochs have gone by since it was made.
        store.set_epoch_deadline(1);
        let table = &mut store.data_mut().table;
        let lent = table.push(document).and_then(|document| {
            let context = table.push(LentContext)?;
            Ok((document, context))
        });
        let (document, context) = lent.map_err(|error| ended(&error.into(), store))?;
        let params = (
            &*first,
            Resource::new_borrow(document.rep()),
            Resource::new_borrow(context.rep()),
        );
        let called = match is_sync {
            true => hook.call(&mut *store, params),
            false => hook.call_async(&mut *store, params).await,
        };
        let (verdict,) = called.map_err(|error| ended(&error, store))?;
        let table = &mut store.data_mut().table;
        let returned = table.delete(document).and_then(|_| table.delete(context));
        returned.map_err(|error| ended(&error.into(), store))?;
        let draft = store.data_mut().finish()?;
        Ok(draft.answer(verdict_of(verdict.map_err(failed)?)?))
    }

    /// Whether it has had anything of the system, which is not to outlive the call.
    pub(crate) fn holds_outside(&self) -> bool {
        self.store.data().session.holds_outside()
    }

    /// Clears what the call left outside of it; false if that cannot be done.
    pub(crate) fn tidy(&mut self) -> bool {
        self.store.data_mut().session.tidy()
    }

    /// Calls it has served.
    pub(crate) fn calls(&self) -> u32 {
        self.calls
    }

    /// Bytes of memory it has taken since it was started.
    pub(crate) fn grown_bytes(&self) -> u64 {
        self.store.data().memory.used() - self.started_bytes
    }
}

fn ended(error: &wasmtime::Error, store: &Store<Guest>) -> Fault {
    fault(error, store.data().memory.refused())
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
