//! From what wasmtime says to a typed fault.

use std::fmt;

use hookgate_core::{Fault, FaultKind, Json};
use wasmtime::component::ResourceTableError;
use wasmtime::{PoolConcurrencyLimitError, Trap, WasmBacktrace};
use wasmtime_wasi::I32Exit;

/// Frames of a trap's backtrace that are told.
const MAX_FRAMES: usize = 16;

/// An error of a host call that ends the call with this fault.
#[derive(Debug)]
pub(crate) struct Ended(pub(crate) Fault);

impl fmt::Display for Ended {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.0.fmt(f)
    }
}

impl std::error::Error for Ended {}

impl Ended {
    /// The guest broke the contract.
    pub(crate) fn protocol(message: impl Into<String>) -> wasmtime::Error {
        Self(Fault::new(FaultKind::Protocol, message)).into()
    }

    /// The guest went past a limit of the host.
    pub(crate) fn resource(message: impl Into<String>) -> wasmtime::Error {
        Self(Fault::new(FaultKind::ResourceLimit, message)).into()
    }
}

/// What `error` is. `refused_memory`: the guest asked for more memory than its limit before.
pub(crate) fn fault(error: &wasmtime::Error, refused_memory: Option<u64>) -> Fault {
    if let Some(Ended(fault)) = error.downcast_ref::<Ended>() {
        return fault.clone();
    }
    if let Some(exit) = error.downcast_ref::<I32Exit>() {
        return Fault::new(
            FaultKind::Exit,
            format!("it called exit with status {}", exit.0),
        );
    }
    if let Some(limit) = refused_memory {
        let message = format!("it wanted more memory than its {limit} bytes");
        return Fault::new(FaultKind::OutOfMemory, message).with_details(frames(error));
    }
    if let Some(trap) = error.downcast_ref::<Trap>() {
        let kind = match trap {
            Trap::StackOverflow => FaultKind::StackOverflow,
            _ => FaultKind::Trap,
        };
        return Fault::new(kind, trap.to_string()).with_details(frames(error));
    }
    if error.is::<PoolConcurrencyLimitError>() {
        return Fault::new(
            FaultKind::Overloaded,
            "there are as many instances as the pool holds",
        );
    }
    if let Some(ResourceTableError::Full) = error.downcast_ref::<ResourceTableError>() {
        return Fault::new(FaultKind::ResourceLimit, "it holds too many handles");
    }
    let message = error.root_cause().to_string();
    // wasmtime has no type for these two; both are bounds this host sets.
    if message.contains("hostcalls has been exhausted") {
        return Fault::new(
            FaultKind::ResourceLimit,
            "one call to the host copied too much",
        );
    }
    if message.contains("no free keys") {
        return Fault::new(FaultKind::ResourceLimit, "it holds too many handles");
    }
    Fault::new(FaultKind::Trap, message).with_details(frames(error))
}

fn frames(error: &wasmtime::Error) -> Json {
    let Some(backtrace) = error.downcast_ref::<WasmBacktrace>() else {
        return Json::object();
    };
    let frames: Vec<_> = backtrace
        .frames()
        .iter()
        .take(MAX_FRAMES)
        .map(|frame| frame.func_name().unwrap_or("?").to_owned())
        .collect();
    Json::from_value(&serde_json::json!({ "frames": frames }))
}
