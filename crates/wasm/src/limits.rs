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

/// Components and core modules one component may be made of. A compiled CPython has some dozens; the compiler
/// takes kilobytes for each, however small.
pub const MAX_PARTS: usize = 1_000;

/// How deep they may lie in each other. Toolchains nest one or two, a composition one more a step; what the
/// compiler keeps grows with the square of it.
pub const MAX_PART_DEPTH: usize = 32;

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

/// Component instances there may be at once, in all plugins together: sixty plugins with the default
/// limits. Each reserves 4 GiB of addresses, which cost nothing, but a process has 128 TiB of them.
pub const POOL_INSTANCES: u32 = 4_096;
/// Core instances the pool has for each component instance: a Rust guest has 3, compiled Python some 20.
pub(crate) const CORE_INSTANCES_PER_COMPONENT: u32 = 32;
/// Tables the pool has for each component instance: a Rust guest has 2.
pub(crate) const TABLES_PER_COMPONENT: u32 = 8;
/// Metadata of one instance, in bytes; wasmtime's default refuses the largest real guests.
pub(crate) const MAX_INSTANCE_METADATA_BYTES: usize = 4 << 20;
/// Linear memory of a dropped instance that stays with the process, in bytes, cleared: what a small
/// guest touches. The next instance then takes no page faults for it.
pub(crate) const MEMORY_KEEP_RESIDENT_BYTES: usize = 1 << 20;
/// The same of a table: the one of a Rust guest.
pub(crate) const TABLE_KEEP_RESIDENT_BYTES: usize = 64 << 10;
/// The same of a fiber's stack.
pub(crate) const STACK_KEEP_RESIDENT_BYTES: usize = 64 << 10;

/// Longest `limits.timeout` of a plugin that is called without a fiber. Such a call cannot give way, so
/// it holds its thread for as long.
pub const SYNC_TIMEOUT: Duration = Duration::from_millis(10);

/// How long instances wait ready for a plugin nobody calls. Long enough for a person's next message;
/// after it the memory is worth more.
pub const STOCK_IDLE: Duration = Duration::from_secs(60);
/// Looks within [`STOCK_IDLE`] at whether anybody calls.
pub(crate) const STOCK_IDLE_LOOKS: u32 = 4;
/// How long the task that fills stocks waits between two rounds while there are calls. Waking it costs a
/// call more than many a verdict; a stock that is half empty wakes it all the same.
pub(crate) const REFILL_PAUSE: Duration = Duration::from_millis(1);
/// Rounds without work after which that task waits to be woken.
pub(crate) const REFILL_ROUNDS: u32 = 50;

/// Bytes by which the memory of an instance of `policy: reuse` may grow over what it was once started; one
/// that gathers more is dropped. Room for a few of the largest payloads.
pub const REUSE_GROWTH_BYTES: u64 = 32 << 20;

/// Bytes of a component from which on `hookgate check` says that `policy: reuse` would do better: below
/// are guests that start in microseconds, above those that bring an interpreter or a runtime along.
pub const HEAVY_COMPONENT_BYTES: u64 = 2 << 20;

/// Most bytes of compiled code a cache keeps by default. Code of a Rust guest is 0.3 MB, of a guest with
/// CPython or a JavaScript engine in it 35 to 37 MB: room for all plugins of a gateway in several versions
/// and for several engines, on a disk where nobody misses it.
pub const MAX_CODE_CACHE_BYTES: u64 = 1 << 30;

/// Addresses of one name that are looked at. A name with more is a mistake or an attack; one connection
/// needs one of them.
pub(crate) const MAX_ADDRESSES_PER_NAME: usize = 32;

/// HTTP requests one instance may have under way. Each holds a file descriptor of the process, which all
/// plugins share; more than this a policy cannot use inside of its timeout.
pub const MAX_HTTP_REQUESTS: usize = 16;

/// Largest body of one HTTP response, in bytes: what a payload may have. A guest that reads more could only
/// count it.
pub const MAX_HTTP_RESPONSE_BYTES: u64 = 10_000_000;

/// Largest head of one HTTP response, in bytes: eight times what servers accept as a request's.
pub const MAX_HTTP_RESPONSE_HEAD_BYTES: usize = 64 << 10;

/// How long a connection may take, with its name's look-up and TLS, whatever the guest asks for. All three
/// of these lie inside of the call's own deadline, which is a second unless the operator says otherwise.
pub const HTTP_CONNECT_TIMEOUT: Duration = Duration::from_secs(10);
/// How long a response's head may take.
pub const HTTP_FIRST_BYTE_TIMEOUT: Duration = Duration::from_secs(60);
/// How long a response may pause.
pub const HTTP_BETWEEN_BYTES_TIMEOUT: Duration = Duration::from_secs(30);

/// What a file, folder or link in the scratch folder counts as besides its content, in bytes: the block a
/// file system gives it, so that empty files have an end too.
pub const SCRATCH_ENTRY_BYTES: u64 = 4 << 10;

/// Entries of a scratch folder that are removed by the thread that ends the call; more are left to the
/// threads that may block. Some hundred microseconds.
pub(crate) const MAX_INLINE_REMOVALS: u64 = 64;

/// Largest value of a secret, in bytes: a key with its chain of certificates.
pub const MAX_SECRET_BYTES: usize = 64 << 10;

/// How long a command that prints a secret may take. Some ask a service or unlock a store.
pub const SECRET_COMMAND_TIMEOUT: Duration = Duration::from_secs(10);
