//! The wasmtime engine, the clock that ticks its epochs, and the room its pool has.

mod pool;

use std::sync::mpsc::{self, RecvTimeoutError};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError, Weak};
use std::thread;

use wasmtime::{Config, Engine, InstanceAllocationStrategy, WasmBacktraceDetails};

use crate::filler::Filler;
use crate::limits::{EPOCH_TICK, FIBER_STACK_BYTES, POOL_INSTANCES, WASM_STACK_BYTES};
pub(crate) use pool::{Room, Rooms, places};

/// One wasmtime engine with its ticker; the ticker ends with it.
pub(crate) struct Runtime {
    engine: Engine,
    filler: Arc<Filler>,
    rooms: Arc<Mutex<Rooms>>,
    /// Dropped last of all senders: the ticker's signal to end.
    _alive: mpsc::Sender<()>,
}

/// The one that is in use, if any: a pool reserves terabytes of addresses, of which a process has not
/// enough for many.
static SHARED: Mutex<Weak<Runtime>> = Mutex::new(Weak::new());

impl Runtime {
    /// The process's own, made by whoever comes first.
    pub(crate) fn shared() -> wasmtime::Result<Arc<Self>> {
        let mut shared = SHARED.lock().unwrap_or_else(PoisonError::into_inner);
        if let Some(runtime) = shared.upgrade() {
            return Ok(runtime);
        }
        let runtime = Arc::new(Self::new()?);
        *shared = Arc::downgrade(&runtime);
        Ok(runtime)
    }

    fn new() -> wasmtime::Result<Self> {
        let (engine, instances) = pooled()?;
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
            filler: Filler::new(),
            rooms: Arc::new(Mutex::new(Rooms::new(instances))),
            _alive: alive,
        })
    }

    pub(crate) fn engine(&self) -> &Engine {
        &self.engine
    }

    pub(crate) fn filler(&self) -> &Arc<Filler> {
        &self.filler
    }

    pub(crate) fn rooms(&self) -> MutexGuard<'_, Rooms> {
        self.rooms.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Room that is given back when it is dropped.
    pub(crate) fn keep(&self, room: Room) -> KeptRoom {
        KeptRoom {
            rooms: Arc::clone(&self.rooms),
            room: Some(room),
        }
    }
}

/// A plugin's room in the pool, for as long as this lives.
pub(crate) struct KeptRoom {
    rooms: Arc<Mutex<Rooms>>,
    room: Option<Room>,
}

impl Drop for KeptRoom {
    fn drop(&mut self) {
        if let Some(room) = self.room.take() {
            let mut rooms = self.rooms.lock().unwrap_or_else(PoisonError::into_inner);
            rooms.give_back(&room);
        }
    }
}

/// An engine with the largest pool this process has addresses for, and how many instances that holds.
fn pooled() -> wasmtime::Result<(Engine, u32)> {
    let mut instances = POOL_INSTANCES;
    loop {
        let mut config = config();
        config.allocation_strategy(InstanceAllocationStrategy::Pooling(pool::config(instances)));
        match Engine::new(&config) {
            Ok(engine) => return Ok((engine, instances)),
            Err(error) if instances > POOL_INSTANCES / 16 => {
                tracing::warn!(
                    "no room for {instances} wasm instances at once, tries {}: {error:#}",
                    instances / 2
                );
                instances /= 2;
            }
            Err(error) => {
                tracing::warn!("wasm instances are not pooled, each call costs more: {error:#}");
                return Ok((Engine::new(&self::config())?, POOL_INSTANCES));
            }
        }
    }
}

fn config() -> Config {
    let mut config = Config::new();
    config
        .wasm_component_model(true)
        // The contract has no async functions; what carries them along costs each call.
        .concurrency_support(false)
        .epoch_interruption(true)
        .max_wasm_stack(WASM_STACK_BYTES)
        .async_stack_size(FIBER_STACK_BYTES)
        // Names of functions suffice, lines would need what guests are stripped of.
        .wasm_backtrace_details(WasmBacktraceDetails::Disable);
    config
}
