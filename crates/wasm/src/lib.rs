//! Hookgate's host for WebAssembly components, run by wasmtime.
//!
//! A plugin is a component that exports some of the hook interfaces of `wit/plugin.wit`. This crate
//! loads it, gives it nothing but what the operator granted, and turns whatever happens inside into
//! an answer or a typed fault.
//!
//! # The way of a call
//!
//! [`WasmHost`] compiles a component once per digest, or takes its code from a [`CodeCacheOptions`]
//! folder, checks what it exports and imports by name, and
//! tries one instance at load. A call takes an instance that has run `init` with the plugin's config
//! from the plugin's stock, or makes one where there is none, and calls the hook's function. The payload
//! stays on the host; the guest reads parts of it through a `document` and makes its changes through a
//! `context`, which is a [`hookgate_core::Draft`]. Then the instance is spent, and the stock is filled in
//! the background.
//!
//! # Invariants
//!
//! - No instance serves two calls, so no state leaks from one caller to the next; unless the operator
//!   writes `instances: {policy: reuse}`, and even then none that ended in a fault.
//! - Three bounds end every call: the epoch callback yields each millisecond and traps at the
//!   deadline, and a clock over the whole future ends what waits in a host call.
//! - WASI is deny-all. Names, files and variables appear only where a grant put them.
//! - `unsafe` is in one module, which maps code from the cache, and only from files that nobody else can
//!   have written.
//! - Before a call, in the start function and in `init`, nothing outside is changed or talked to.
//! - A connection goes to an address this host resolved and checked for a granted name and port, or that is
//!   granted as such; nothing resolves the name a second time.
//! - A secret's value is in no log line, fault, record or `Debug` text.
//! - A guest's error, of any kind, ends in a [`hookgate_core::Fault`]; it cannot unwind into the host.
//!
//! # What can go wrong
//!
//! At load: no component, another version of the contract, an interface this engine does not know, an
//! import nobody grants, `init` fails; each a [`hookgate_core::LoadError`] that says what to do. At a
//! call: see [`hookgate_core::FaultKind`].
#![deny(unsafe_code)]

mod bindings;
mod cache;
mod calls;
mod compile;
mod component;
mod contract;
mod faults;
mod filler;
mod grants;
mod guest;
mod host;
mod imports;
mod instance;
mod limits;
mod linking;
mod logs;
mod matchers;
mod options;
mod parts;
mod plugin;
mod resolver;
mod runtime;
mod stock;

pub use compile::{CodeCounts, CodeOrigin, CompiledComponent};
pub use host::WasmHost;
pub use limits::{
    EPOCH_TICK, HEAVY_COMPONENT_BYTES, HTTP_BETWEEN_BYTES_TIMEOUT, HTTP_CONNECT_TIMEOUT,
    HTTP_FIRST_BYTE_TIMEOUT, MAX_CODE_CACHE_BYTES, MAX_COMPONENT_BYTES, MAX_HANDLES,
    MAX_HOSTCALL_BYTES, MAX_HTTP_REQUESTS, MAX_HTTP_RESPONSE_BYTES, MAX_HTTP_RESPONSE_HEAD_BYTES,
    MAX_PART_DEPTH, MAX_PARTS, MAX_SECRET_BYTES, POOL_INSTANCES, REUSE_GROWTH_BYTES,
    SCRATCH_ENTRY_BYTES, SECRET_COMMAND_TIMEOUT, STOCK_IDLE, SYNC_TIMEOUT, WASM_STACK_BYTES,
};
pub use options::{CodeCacheOptions, WasmHostOptions, default_code_cache};
pub use resolver::{Resolve, SystemResolver};
