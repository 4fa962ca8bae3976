//! The wasmtime engine and the clock that ticks its epochs.

use std::sync::mpsc::{self, RecvTimeoutError};
use std::thread;

use wasmtime::{Config, Engine, WasmBacktraceDetails};

use crate::limits::{EPOCH_TICK, FIBER_STACK_BYTES, WASM_STACK_BYTES};

/// One wasmtime engine with its ticker; the ticker ends with it.
pub(crate) struct Runtime {
    engine: Engine,
    /// Dropped last of all senders: the ticker's signal to end.
    _alive: mpsc::Sender<()>,
}

impl Runtime {
    pub(crate) fn new() -> wasmtime::Result<Self> {
        let mut config = Config::new();
        config
            .wasm_component_model(true)
            .epoch_interruption(true)
            .max_wasm_stack(WASM_STACK_BYTES)
            .async_stack_size(FIBER_STACK_BYTES)
            .wasm_backtrace_details(WasmBacktraceDetails::Disable);
        let engine = Engine::new(&config)?;
        let (alive, ended) = mpsc::channel::<()>();
        let ticked = engine.weak();
        thread::Builder::new()
            .name("hookgate-epoch".into())
            .spawn(move || {
                while ended.recv_timeout(EPOCH_TICK) == Err(RecvTimeoutError::Timeout) {
                    match ticked.upgrade() {
                        Some(engine) => engine.increment_epoch(),
                        None => return,
                    }
                }
            })?;
        Ok(Self {
            engine,
            _alive: alive,
        })
    }

    pub(crate) fn engine(&self) -> &Engine {
        &self.engine
    }
}
