//! Every number of this host that is not the operator's to set, with its reason. What an operator
//! sets stands in [`hookgate_core::config::defaults`].

use std::time::Duration;

/// How often a running guest gives way to others. Guests cannot be pre-empted between ticks; a tick
/// costs every guest one check a loop either way.
pub const EPOCH_TICK: Duration = Duration::from_millis(1);

/// How long past the deadline a guest that still computes gets to reach its next epoch check, so that
/// the fault says `guest` and not `host_call`. Two ticks.
pub(crate) const DEADLINE_GRACE: Duration = Duration::from_millis(2);

/// Least time the trial instance gets at load, where code and pages are cold.
pub(crate) const MIN_LOAD_TIMEOUT: Duration = Duration::from_secs(2);

/// Handles (documents, matchers, streams, files) one instance may hold. A leak would take the
/// process's file descriptors from every other plugin.
pub const MAX_HANDLES: usize = 1024;

/// Bytes one call from guest to host may copy. Above the largest result, far below what a guest could
/// otherwise make the host allocate by passing one string a thousand times.
pub const MAX_HOSTCALL_BYTES: usize = 32 << 20;

/// Stack of a guest, in bytes: wasmtime's own default, named so that it does not change silently.
pub const WASM_STACK_BYTES: usize = 512 << 10;

/// Stack of the fiber a guest runs on: the guest's, and the rest for host calls on top of it.
pub(crate) const FIBER_STACK_BYTES: usize = 2 << 20;

/// Tables and core instances one component may have, and elements a table; generous for real
/// toolchains, small for a bomb.
pub(crate) const MAX_TABLE_ELEMENTS: usize = 200_000;
/// Core instances of one component instance.
pub(crate) const MAX_INSTANCES: usize = 64;
/// Tables of one component instance.
pub(crate) const MAX_TABLES: usize = 64;
/// Memories of one component instance; together they share the plugin's memory limit.
pub(crate) const MAX_MEMORIES: usize = 8;

/// Largest component file, in bytes. A JavaScript engine takes 12 MB, CPython 18 MB.
pub const MAX_COMPONENT_BYTES: u64 = 256 << 20;
