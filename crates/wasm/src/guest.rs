//! [`Guest`]: what a store holds for one instance.

use std::sync::Arc;
use std::time::Instant;

use hookgate_core::{Document, Draft, HookCall, Matcher, Phase, RefusalCode};
use wasmtime::ResourceLimiter;
use wasmtime::component::ResourceTable;
use wasmtime_wasi::{WasiCtx, WasiCtxView, WasiView};

use crate::faults::Ended;
use crate::grants::Grants;
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
    /// Made when the guest first calls WASI; most never do.
    wasi: Option<WasiCtx>,
    grants: Arc<Grants>,
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
            wasi: None,
            grants,
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
}

impl Guest {
    /// Turns an instance that was started for nobody into this call's.
    pub(crate) fn begin(&mut self, call: HookCall) {
        self.deadline = call.deadline;
        self.phase = Phase::Guest;
        self.log.begin();
        self.draft = Some(call.draft());
        self.call = Some(call);
    }

    /// Ends the call: what the guest may still do, it does for nobody.
    pub(crate) fn end(&mut self) -> Option<Draft> {
        self.call = None;
        self.take_draft()
    }

    /// The draft at the end of its call, with what was refused outside of it.
    fn take_draft(&mut self) -> Option<Draft> {
        let mut draft = self.draft.take()?;
        let refused = std::mem::take(&mut self.memory.refused);
        draft.count_refused("memory", RefusalCode::TooLarge, refused);
        Some(draft)
    }
}

impl WasiView for Guest {
    fn ctx(&mut self) -> WasiCtxView<'_> {
        let wasi = self.wasi.get_or_insert_with(|| {
            // The folders opened at load. One that is gone since then is a folder the guest does not see.
            self.grants.wasi(&self.log).unwrap_or_else(|error| {
                tracing::error!(target: "hookgate::plugin", "a granted folder cannot be opened: {error}");
                Grants::none(&self.log)
            })
        });
        WasiCtxView {
            ctx: wasi,
            table: &mut self.table,
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
