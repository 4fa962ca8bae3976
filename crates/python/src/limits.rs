//! Every number that bounds an environment's build or a worker's life, with its reason.

use std::time::Duration;

/// What importing the class and its `initialize` may take, in seconds. The framework alone takes
/// two; models and rule sets that plugins load take tens.
pub const START_TIMEOUT_SECONDS: u64 = 60;
/// How long a worker may take to confirm a cancelled call, in milliseconds. A worker whose loop runs
/// does it at once; one that needs longer is stuck in code that never yields.
pub const CANCEL_GRACE_MS: u64 = 1_000;
/// What a plugin's `shutdown` may take, in seconds.
pub const SHUTDOWN_GRACE_SECONDS: u64 = 5;
/// Respawns without a successful call between them, inside [`RESPAWN_WINDOW_SECONDS`]. A plugin that
/// dies this often dies of itself.
pub const RESPAWNS: usize = 3;
/// After this many seconds a respawn no longer counts.
pub const RESPAWN_WINDOW_SECONDS: u64 = 60;
/// Wait before the first respawn, in milliseconds; it doubles with each that counts.
pub const RESPAWN_BACKOFF_MS: u64 = 100;

/// What one run of an installer may take, in seconds. A large model of dependencies over a slow line
/// needs minutes; a hung index must not block a start for ever.
pub const INSTALL_TIMEOUT_SECONDS: u64 = 900;
/// What an interpreter may take to say its version, in seconds.
pub const PROBE_TIMEOUT_SECONDS: u64 = 30;

/// Open files of a worker. A plugin that serves many calls holds some hundred connections.
pub const OPEN_FILES: u64 = 1024;
/// Largest file a worker writes, in bytes: larger than the models plugins keep, smaller than a disk.
pub const FILE_BYTES: u64 = 1024 * 1024 * 1024;
/// Address space of a worker as a multiple of its memory limit. Allocators and runtimes reserve much more
/// than they use; this only stops what maps without end.
pub const ADDRESS_SPACE_MULTIPLE: u64 = 16;
/// What a worker may have past its memory limit before it is ended, in bytes: what it fills between two
/// looks at it.
pub const MEMORY_SLACK_BYTES: u64 = 64 * 1024 * 1024;
/// How fast memory is filled at most, in bytes a second: what page faults of one core allow.
pub const MEMORY_FILL_BYTES_PER_SECOND: u64 = 4 * 1024 * 1024 * 1024;
/// Longest time between two looks at a worker's memory, in milliseconds.
pub const MEMORY_SAMPLE_MAX_MS: u64 = 250;
/// Shortest time between two looks, in milliseconds: a look costs some ten microseconds.
pub const MEMORY_SAMPLE_MIN_MS: u64 = 10;

/// Largest read from a worker's pipe, in bytes. Larger buffers cross the allocator's threshold for
/// fresh pages and cost two page faults a call.
pub const READ_BYTES: usize = 64 * 1024;
/// Frames longer than this are not even skipped: the two sides are out of step. In bytes.
pub const SKIP_BYTES: usize = 256 * 1024 * 1024;
/// A plugin's log line is cut at this many bytes.
pub const LOG_LINE_BYTES: usize = 8 * 1024;
/// Log lines kept for the story of a death.
pub const LOG_TAIL_LINES: usize = 40;
/// What a fault's details hold of a traceback or a log, in bytes.
pub const DETAIL_BYTES: usize = 4 * 1024;

/// How a worker is kept alive, and when it is given up.
#[derive(Debug, Clone)]
pub struct Supervision {
    /// See [`START_TIMEOUT_SECONDS`].
    pub start_timeout: Duration,
    /// See [`CANCEL_GRACE_MS`].
    pub cancel_grace: Duration,
    /// See [`SHUTDOWN_GRACE_SECONDS`].
    pub shutdown_grace: Duration,
    /// See [`RESPAWNS`].
    pub respawns: usize,
    /// See [`RESPAWN_WINDOW_SECONDS`].
    pub respawn_window: Duration,
    /// See [`RESPAWN_BACKOFF_MS`].
    pub respawn_backoff: Duration,
}

impl Default for Supervision {
    fn default() -> Self {
        Self {
            start_timeout: Duration::from_secs(START_TIMEOUT_SECONDS),
            cancel_grace: Duration::from_millis(CANCEL_GRACE_MS),
            shutdown_grace: Duration::from_secs(SHUTDOWN_GRACE_SECONDS),
            respawns: RESPAWNS,
            respawn_window: Duration::from_secs(RESPAWN_WINDOW_SECONDS),
            respawn_backoff: Duration::from_millis(RESPAWN_BACKOFF_MS),
        }
    }
}
