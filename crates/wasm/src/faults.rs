//! From what wasmtime says to a typed fault.

use std::fmt;

use hookgate_core::{Fault, FaultKind, Json, Phase, Stopped};
use serde_json::json;
use wasmtime::component::ResourceTableError;
use wasmtime::{FrameInfo, PoolConcurrencyLimitError, Trap, WasmBacktrace};
use wasmtime_wasi::I32Exit;

/// Frames of a trap's backtrace that are told: the innermost, which say where it happened.
const MAX_FRAMES: usize = 16;
/// Longest name of a function that is told whole. Names are the guest's, and end up in outcomes.
const MAX_NAME_BYTES: usize = 256;
/// The member of a fault's details that lists them.
const FRAMES: &str = "frames";

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

    /// The deadline passed while the host worked for the guest.
    pub(crate) fn late(_: Stopped) -> wasmtime::Error {
        Self(late(Phase::HostCall)).into()
    }
}

/// The deadline passed while the guest was in `phase`.
pub(crate) fn late(phase: Phase) -> Fault {
    let place = match phase {
        Phase::Queue => "while it waited for its turn",
        Phase::Start => "while its instance started",
        Phase::Init => "in its `init`",
        Phase::Guest => "in its own code",
        Phase::HostCall => "in a call to the host",
    };
    Fault::timeout(phase, format!("it was not done at its deadline, {place}"))
}

/// What `error` is, with the functions it happened in. `refused_memory`: the guest asked for more memory
/// than its limit before.
pub(crate) fn fault(error: &wasmtime::Error, refused_memory: Option<u64>) -> Fault {
    let fault = kind(error, refused_memory);
    match frames(error) {
        Some(frames) => fault.with_details(Json::from_value(&json!({ FRAMES: frames }))),
        None => fault,
    }
}

/// The same fault with the plugin's name and the component's digest in its details, for whoever reads
/// records of many hosts.
pub(crate) fn told(fault: Fault, plugin: &str, digest: &str) -> Fault {
    let frames = fault.details.to_value();
    let frames = frames.get(FRAMES).cloned().unwrap_or_else(|| json!([]));
    let details = json!({ "plugin": plugin, "digest": digest, FRAMES: frames });
    fault.with_details(Json::from_value(&details))
}

fn kind(error: &wasmtime::Error, refused_memory: Option<u64>) -> Fault {
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
        return Fault::new(FaultKind::OutOfMemory, message);
    }
    if let Some(trap) = error.downcast_ref::<Trap>() {
        let kind = match trap {
            Trap::StackOverflow => FaultKind::StackOverflow,
            _ => FaultKind::Trap,
        };
        return Fault::new(kind, trap.to_string());
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
    Fault::new(FaultKind::Trap, message)
}

/// The innermost functions that ran; none where no guest code did.
fn frames(error: &wasmtime::Error) -> Option<Vec<String>> {
    let backtrace = error.downcast_ref::<WasmBacktrace>()?;
    let frames = backtrace.frames().iter().take(MAX_FRAMES);
    Some(frames.map(function).collect())
}

/// A function's name as its author wrote it, or its number in a component without names.
fn function(frame: &FrameInfo) -> String {
    let Some(name) = frame.func_name() else {
        return format!("<wasm function {}>", frame.func_index());
    };
    // Without the hash, which says nothing to a reader.
    let mut name = format!("{:#}", rustc_demangle::demangle(name));
    if name.len() > MAX_NAME_BYTES {
        name.truncate(name.floor_char_boundary(MAX_NAME_BYTES));
        name.push('…');
    }
    name
}
