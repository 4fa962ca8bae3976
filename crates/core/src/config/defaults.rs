//! Every number a configuration may leave out or may not exceed, with its reason.

use std::time::Duration;

use super::limits::bytes_text;
use super::spec::{Limits, Mode, OnError, Sandbox, WorkerKind};

const KIB: u64 = 1024;
const MIB: u64 = 1024 * KIB;

/// Deadline of one call of a wasm plugin, in milliseconds. A policy answers in microseconds; a
/// second leaves room for one slow host call and is still shorter than a user's patience.
pub const WASM_TIMEOUT_MS: u64 = 1_000;
/// Deadline of one call of a Python plugin, in milliseconds: what its home framework gives it.
pub const PYTHON_TIMEOUT_MS: u64 = 30_000;
/// Deadline of one call of an in-process plugin, in milliseconds: the same trust as a wasm plugin.
pub const IN_PROCESS_TIMEOUT_MS: u64 = 1_000;

/// Linear memory of one wasm instance, in bytes. Holds the largest payload, its parsed tree and a
/// JavaScript engine.
pub const WASM_MEMORY_BYTES: u64 = 64 * MIB;
/// Memory of one Python worker, in bytes. The home framework alone takes some 80 MB, and a worker
/// keeps many calls in flight.
pub const PYTHON_MEMORY_BYTES: u64 = 512 * MIB;

/// Calls in flight of one wasm plugin: one instance each, so 64 take at most 4 GiB of memory.
pub const WASM_CONCURRENCY: u32 = 64;
/// Calls in flight of one Python plugin: they share one event loop and one interpreter lock, where
/// more only wait.
pub const PYTHON_CONCURRENCY: u32 = 32;
/// Calls in flight of one in-process plugin: only a bound against runaway callers.
pub const IN_PROCESS_CONCURRENCY: u32 = 1_024;

/// Instances of one wasm plugin that wait ready for the next calls. Enough for a burst of some calls at
/// once; a call that finds none starts its own, which takes microseconds for all but heavy guests.
pub const INSTANCE_STOCK: u32 = 4;
/// Most instances of one plugin that may wait ready: beyond it, memory waits that calls could use.
pub const INSTANCE_STOCK_MAX: u32 = 256;
/// Calls after which an instance of `policy: reuse` is dropped. What starting one costs is nothing spread
/// over so many, and whatever it gathered is gone.
pub const INSTANCE_MAX_CALLS: u32 = 1_000;
/// Largest `max_calls`: beyond it is never.
pub const INSTANCE_MAX_CALLS_MAX: u32 = 1_000_000_000;

/// Which program runs a Python class: the one that loses nothing of a call.
pub const PYTHON_WORKER: WorkerKind = WorkerKind::Hookgate;
/// Worker processes of one Python plugin. Classes keep state between calls, which a second process would not
/// see; an event loop has many calls in flight all the same.
pub const PYTHON_WORKERS: u32 = 1;
/// Most worker processes of one plugin: each takes the memory of a Python interpreter with its packages, and
/// more than there are processors only wait for each other.
pub const PYTHON_WORKERS_MAX: u32 = 64;
/// What a sandbox that the kernel cannot give does: a plugin whose grants nothing holds it to is not run.
pub const PYTHON_SANDBOX: Sandbox = Sandbox::Strict;
/// Whether code of a package may run while it is installed: it would run before any sandbox is there.
pub const PYTHON_ALLOW_BUILD: bool = false;
/// Whether a call that a dying worker left unanswered is asked again: what it did outside, it may have done.
pub const PYTHON_IDEMPOTENT: bool = false;

/// Calls of one plugin that may wait for a slot. Waiting is inside the timeout; a longer queue could
/// only hold calls that time out in it.
pub const QUEUE_CALLS: u32 = 1_024;

/// Largest payload, in bytes: what the legacy framework accepts.
pub const MAX_PAYLOAD_BYTES: u64 = 10_000_000;
/// Largest answer of a plugin, in bytes: an edited payload may be as large as a payload.
pub const MAX_RESULT_BYTES: u64 = 10_000_000;
/// Largest state kept for one request, in bytes. State is counters and flags, not documents.
pub const MAX_STATE_BYTES: u64 = MIB;
/// Requests whose state is kept. With [`MAX_STATE_BYTES`] each, the worst case is bounded.
pub const STATE_REQUESTS: usize = 10_000;
/// How long the state of a request is kept since its last use, in seconds. Longer than any tool
/// call should run.
pub const STATE_IDLE_SECONDS: u64 = 600;

/// How long [`crate::Engine::shutdown`] waits for background calls, in seconds. Nobody waits for their
/// answers; whoever stops a service gives it ten seconds in all before it is killed, and plugins want to
/// end in them too.
pub const BACKGROUND_DRAIN_SECONDS: u64 = 5;

/// What a plugin may log in one call, in bytes. Enough for a traceback, too little to fill a disk.
pub const LOG_BYTES_PER_CALL: u64 = 64 * KIB;

/// Where a plugin without a `priority` stands. Lower runs first; 100 leaves room on both sides.
pub const PRIORITY: i32 = 100;
/// The mode of a plugin without one: the only mode that sees and may change everything.
pub const MODE: Mode = Mode::Sequential;
/// What a fault does where nothing is written: a check that did not happen is not a pass.
pub const ON_ERROR: OnError = OnError::Fail;

/// Alternatives of one plugin's `conditions:` once those of its group are crossed with its own. Each may be
/// tested at each call; a table of tenants and tools has some dozens.
pub const CONDITION_ALTERNATIVES_MAX: usize = 256;

/// Longest `timeout`, in seconds. A hook that takes an hour is a batch job.
pub const TIMEOUT_MAX_SECONDS: u64 = 3_600;
/// Smallest `memory`, in bytes: 16 pages, less than any guest with an allocator starts with.
pub const MEMORY_MIN_BYTES: u64 = MIB;
/// Largest `memory`, in bytes (1 TiB): beyond it is a slip of a unit.
pub const MEMORY_MAX_BYTES: u64 = 1024 * 1024 * MIB;
/// Largest `concurrency`: beyond it one plugin would take the process's file descriptors.
pub const CONCURRENCY_MAX_CALLS: u32 = 65_536;
/// Largest `max_payload_bytes` and `max_state_bytes` (1 GiB): both are kept in memory, several times.
pub const SIZE_MAX_BYTES: u64 = 1024 * MIB;

/// Smallest `permissions.scratch`, in bytes: one page of a file system, which every entry in the folder
/// counts as.
pub const SCRATCH_MIN_BYTES: u64 = 4 * KIB;
/// Largest `permissions.scratch`, in bytes (16 GiB): each call under way has a folder of its own, so beyond
/// it is a slip of a unit.
pub const SCRATCH_MAX_BYTES: u64 = 16 * 1024 * MIB;

impl Limits {
    /// The limits of a wasm plugin that names none.
    #[must_use]
    pub fn wasm() -> Self {
        Self {
            timeout: Duration::from_millis(WASM_TIMEOUT_MS),
            memory_bytes: WASM_MEMORY_BYTES,
            concurrency: WASM_CONCURRENCY,
        }
    }

    /// The limits of a Python plugin that names none.
    #[must_use]
    pub fn python() -> Self {
        Self {
            timeout: Duration::from_millis(PYTHON_TIMEOUT_MS),
            memory_bytes: PYTHON_MEMORY_BYTES,
            concurrency: PYTHON_CONCURRENCY,
        }
    }

    /// The limits of an in-process plugin; its memory is the process's own and is not limited.
    #[must_use]
    pub fn in_process() -> Self {
        Self {
            timeout: Duration::from_millis(IN_PROCESS_TIMEOUT_MS),
            memory_bytes: u64::MAX,
            concurrency: IN_PROCESS_CONCURRENCY,
        }
    }
}

/// One line of the table of defaults.
#[derive(Debug, Clone, PartialEq, Eq, serde::Serialize)]
#[non_exhaustive]
pub struct DefaultRow {
    /// What the values are.
    pub what: &'static str,
    /// The value for wasm plugins.
    pub wasm: String,
    /// The value for Python plugins.
    pub python: String,
    /// The value for in-process plugins; `-` where there is none.
    pub in_process: String,
}

/// The table `hookgate check --defaults` prints.
#[must_use]
pub fn defaults_table() -> Vec<DefaultRow> {
    let row = |what, wasm: String, python: String, in_process: String| DefaultRow {
        what,
        wasm,
        python,
        in_process,
    };
    let same = |what, value: String| row(what, value.clone(), value.clone(), value);
    let none = || "-".to_owned();
    let of_python = |what, value: String| row(what, none(), value, none());
    let limits = [Limits::wasm(), Limits::python(), Limits::in_process()];
    let [timeout_wasm, timeout_python, timeout_in_process] = limits
        .each_ref()
        .map(|limits| humantime::format_duration(limits.timeout).to_string());
    let [calls_wasm, calls_python, calls_in_process] = limits
        .each_ref()
        .map(|limits| limits.concurrency.to_string());
    let log = bytes_text(LOG_BYTES_PER_CALL);
    let idle = humantime::format_duration(Duration::from_secs(STATE_IDLE_SECONDS));
    let drain = humantime::format_duration(Duration::from_secs(BACKGROUND_DRAIN_SECONDS));
    vec![
        row(
            "timeout per call",
            timeout_wasm,
            timeout_python,
            timeout_in_process,
        ),
        row(
            "memory",
            bytes_text(WASM_MEMORY_BYTES),
            bytes_text(PYTHON_MEMORY_BYTES),
            none(),
        ),
        row(
            "calls in flight per plugin",
            calls_wasm,
            calls_python,
            calls_in_process,
        ),
        row(
            "instances waiting ready",
            INSTANCE_STOCK.to_string(),
            none(),
            none(),
        ),
        row(
            "calls per instance under reuse",
            INSTANCE_MAX_CALLS.to_string(),
            none(),
            none(),
        ),
        of_python("worker", PYTHON_WORKER.to_string()),
        of_python("workers", PYTHON_WORKERS.to_string()),
        of_python("sandbox", PYTHON_SANDBOX.to_string()),
        of_python("allow_build", PYTHON_ALLOW_BUILD.to_string()),
        of_python("idempotent", PYTHON_IDEMPOTENT.to_string()),
        same("calls waiting for a slot", QUEUE_CALLS.to_string()),
        same("payload", bytes_text(MAX_PAYLOAD_BYTES)),
        same("result", bytes_text(MAX_RESULT_BYTES)),
        row("log per call", log.clone(), log, none()),
        same("state per request", bytes_text(MAX_STATE_BYTES)),
        same("requests with state", STATE_REQUESTS.to_string()),
        same("state kept since last use", idle.to_string()),
        same("background calls waited for at shutdown", drain.to_string()),
        same("mode", MODE.to_string()),
        same("priority", PRIORITY.to_string()),
        same("on_error", ON_ERROR.to_string()),
    ]
}
