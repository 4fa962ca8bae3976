//! The memory limit of a worker.

use rustix::process::{Resource, Rlimit, prlimit};

use super::ProcessGroup;

/// Bounds what the worker may allocate. The kernel counts private writable memory, so that reserved
/// address space, of which an allocator takes much per thread, is free. Past it Python raises
/// `MemoryError`.
pub(super) fn limit(group: &ProcessGroup, bytes: u64) {
    let Some(leader) = group.leader() else { return };
    let limit = Rlimit {
        current: Some(bytes),
        maximum: Some(bytes),
    };
    if let Err(error) = prlimit(Some(leader), Resource::Data, limit) {
        tracing::warn!("the worker's memory limit cannot be set: {error}");
    }
}
