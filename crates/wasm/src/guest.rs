//! [`Guest`]: what a store holds for one instance.

use std::sync::Arc;
use std::time::Instant;

use hookgate_core::{Document, Draft, Fault, FaultKind, HookCall, Matcher, Phase, RefusalCode};
use wasmtime::ResourceLimiter;
use wasmtime::component::ResourceTable;
use wasmtime_wasi::{WasiCtxView, WasiView};
use wasmtime_wasi_http::{WasiHttpCtxView, WasiHttpView};

use crate::faults::Ended;
use crate::grants::{Grants, Session};
use crate::limits::{MAX_HANDLES, MAX_INSTANCES, MAX_MEMORIES, MAX_TABLE_ELEMENTS, MAX_TABLES};
use crate::logs::CallLog;
use crate::matchers::Matchers;

/// The `document` resource.
pub struct LentDocument(pub(crate) Document);

/// The `matcher` resource.
pub struct CompiledMatcher(pub(crate) Arc<Matcher>);

/// The `context` resource: a handle to the one draft of the call.
pub struct LentContext;

/// Data of one store, which lives for one call.
pub(crate) struct Guest {
    pub(crate) table: ResourceTable,
    /// Files, sockets, requests, secrets.
    pub(crate) session: Session,
    pub(crate) log: CallLog,
    pub(crate) memory: Memory,
    pub(crate) matchers: Arc<Matchers>,
    pub(crate) deadline: Instant,
    pub(crate) phase: Phase,
    /// The call this instance is for; none at load.
    pub(crate) call: Option<HookCall>,
    /// Edits and marks of that call.
    pub(crate) draft: Option<Draft>,
}

impl Guest {
    pub(crate) fn new(
        grants: Arc<Grants>,
        log: CallLog,
        matchers: Arc<Matchers>,
        memory_bytes: u64,
        deadline: Instant,
    ) -> Self {
        let mut table = ResourceTable::new();
        table.set_max_capacity(MAX_HANDLES);
        Self {
            table,
            session: Session::new(grants, deadline),
            log,
            memory: Memory {
                limit: memory_bytes,
                used: 0,
                refused: 0,
            },
            matchers,
            deadline,
            phase: Phase::Start,
            call: None,
            draft: None,
        }
    }

    /// A call begins. Everything that belongs to one call is set anew here: deadline, log and its budget,
    /// scratch folder, addresses, draft.
    pub(crate) fn begin(&mut self, call: HookCall) -> Result<(), Fault> {
        self.deadline = call.deadline;
        self.log.begin(&call);
        self.session.begin(call.deadline)?;
        self.draft = Some(call.draft());
        self.call = Some(call);
        self.phase = Phase::Guest;
        Ok(())
    }

    /// A call ended with a verdict: its draft, with everything that was refused since `init` began.
    pub(crate) fn finish(&mut self) -> Result<Draft, Fault> {
        let refusals = self.session.finish()?;
        let draft = self.draft.take();
        let mut draft = draft.ok_or_else(|| Fault::new(FaultKind::Protocol, "no draft"))?;
        draft.note_refused(&refusals);
        let refused = std::mem::take(&mut self.memory.refused);
        draft.count_refused("memory", RefusalCode::TooLarge, refused);
        self.log.end();
        self.call = None;
        Ok(draft)
    }
}

impl WasiView for Guest {
    fn ctx(&mut self) -> WasiCtxView<'_> {
        WasiCtxView {
            ctx: self.session.wasi(&self.log),
            table: &mut self.table,
        }
    }
}

impl WasiHttpView for Guest {
    fn http(&mut self) -> WasiHttpCtxView<'_> {
        let (hooks, ctx) = self.session.http();
        WasiHttpCtxView {
            hooks,
            table: &mut self.table,
            ctx,
        }
    }
}

/// Linear memories of one instance, together.
pub(crate) struct Memory {
    limit: u64,
    used: u64,
    /// How often more was asked for.
    refused: u32,
}

impl Memory {
    /// Bytes in use.
    pub(crate) fn used(&self) -> u64 {
        self.used
    }

    /// The limit, if the guest asked for more than it.
    pub(crate) fn refused(&self) -> Option<u64> {
        (self.refused > 0).then_some(self.limit)
    }
}

impl ResourceLimiter for Memory {
    fn memory_growing(
        &mut self,
        current: usize,
        desired: usize,
        _: Option<usize>,
    ) -> wasmtime::Result<bool> {
        let wanted = self.used + (desired as u64).saturating_sub(current as u64);
        if wanted > self.limit {
            self.refused = self.refused.saturating_add(1);
            return Ok(false);
        }
        self.used = wanted;
        Ok(true)
    }

    fn table_growing(
        &mut self,
        _: usize,
        desired: usize,
        _: Option<usize>,
    ) -> wasmtime::Result<bool> {
        if desired > MAX_TABLE_ELEMENTS {
            // No toolchain makes a table as it goes; unlike with memory, nobody knows how to do with less.
            return Err(Ended::resource(format!(
                "it wanted a table of {desired} elements; at most {MAX_TABLE_ELEMENTS}"
            )));
        }
        Ok(true)
    }

    fn instances(&self) -> usize {
        MAX_INSTANCES
    }

    fn tables(&self) -> usize {
        MAX_TABLES
    }

    fn memories(&self) -> usize {
        MAX_MEMORIES
    }
}
