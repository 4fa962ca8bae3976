//! The memory limit of a worker: what the kernel refuses, and what a look at its processes finds.
//!
//! The kernel bounds the private memory of each process, and so the common case, at once: Python raises
//! `MemoryError`, the call is a fault and the worker lives. It does not see shared memory, nor what several
//! processes have together. For these one thread looks at all workers from time to time, the more often the
//! nearer one is to its limit, and ends a worker past it.

use std::sync::{Arc, Condvar, Mutex, MutexGuard, PoisonError, Weak};
use std::time::{Duration, Instant};

use rustix::process::{Pid, Resource, Rlimit, prlimit};

use super::calls::Calls;
use super::processes::{self, Process};
use super::{Launch, ProcessGroup};
use crate::limits::{
    ADDRESS_SPACE_MULTIPLE, MEMORY_FILL_BYTES_PER_SECOND, MEMORY_SAMPLE_MAX_MS,
    MEMORY_SAMPLE_MIN_MS, MEMORY_SLACK_BYTES,
};

/// How the cause of such an end begins; a death of this cause is `out_of_memory`.
pub(super) const OVER_MEMORY: &str = "it used more memory than its limit";

/// Bounds what each process of the worker may allocate. The kernel counts private writable memory, so that
/// reserved address space, of which an allocator takes much per thread, is free; that has a bound of its
/// own, far above.
pub(super) fn limit(group: &ProcessGroup, bytes: u64) {
    let Some(leader) = group.leader() else { return };
    let address_space = bytes.saturating_mul(ADDRESS_SPACE_MULTIPLE);
    for (resource, bytes) in [(Resource::Data, bytes), (Resource::As, address_space)] {
        let limit = Rlimit {
            current: Some(bytes),
            maximum: Some(bytes),
        };
        if let Err(error) = prlimit(Some(leader), resource, limit) {
            tracing::warn!("the worker's memory limit cannot be set: {error}");
        }
    }
}

/// Looks at the worker until it has ended.
pub(super) fn watch(launch: &Launch, calls: &Arc<Calls>) {
    let Some(leader) = calls.group().leader() else {
        return;
    };
    SAMPLER.add(Watched {
        calls: Arc::downgrade(calls),
        leader,
        limit: launch.memory_bytes,
        tree: launch.lets_start_processes(),
        seen: Vec::new(),
        due: Instant::now(),
    });
}

static SAMPLER: Sampler = Sampler {
    state: Mutex::new(State {
        watched: Vec::new(),
        running: false,
    }),
    added: Condvar::new(),
};

/// The thread that looks, while there is something to look at. A thread of its own, since tasks of the
/// runtime wait for each other.
struct Sampler {
    state: Mutex<State>,
    added: Condvar,
}

struct State {
    watched: Vec<Watched>,
    running: bool,
}

impl Sampler {
    fn add(&'static self, watched: Watched) {
        let mut state = self.lock();
        state.watched.push(watched);
        if state.running {
            self.added.notify_one();
            return;
        }
        let thread = std::thread::Builder::new().name("hookgate-memory".into());
        match thread.spawn(|| self.run()) {
            Ok(_) => state.running = true,
            Err(error) => tracing::warn!("the memory of workers cannot be watched: {error}"),
        }
    }

    fn run(&self) {
        let mut state = self.lock();
        loop {
            let now = Instant::now();
            state
                .watched
                .retain_mut(|one| one.due > now || one.look(now));
            let Some(next) = state.watched.iter().map(|one| one.due).min() else {
                state.running = false;
                return;
            };
            let wait = next.saturating_duration_since(Instant::now());
            state = self
                .added
                .wait_timeout(state, wait)
                .unwrap_or_else(PoisonError::into_inner)
                .0;
        }
    }

    fn lock(&self) -> MutexGuard<'_, State> {
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

/// One worker.
struct Watched {
    calls: Weak<Calls>,
    leader: Pid,
    limit: u64,
    /// Whether it may have children.
    tree: bool,
    /// Its processes at the last look, with when each began: a number alone may be somebody else's later.
    seen: Vec<(Pid, u64)>,
    due: Instant,
}

impl Watched {
    /// Looks once; false when the worker is gone. What it left behind in sessions of its own goes then.
    fn look(&mut self, now: Instant) -> bool {
        let calls = self
            .calls
            .upgrade()
            .filter(|calls| calls.group().leader() == Some(self.leader));
        let Some(calls) = calls else {
            self.end_seen();
            return false;
        };
        let processes = if self.tree {
            let tree = processes::tree(self.leader);
            self.seen = tree.iter().map(|one| (one.pid, one.began)).collect();
            tree
        } else {
            Process::read(self.leader).into_iter().collect()
        };
        let used = processes::memory(&processes, self.limit);
        if used > self.limit {
            let (used, limit) = (used >> 20, self.limit >> 20);
            calls.kill(format!(
                "{OVER_MEMORY}: {used} MiB, at most {limit} MiB are possible"
            ));
            self.end_seen();
        }
        self.due = now + until_next(used, self.limit);
        true
    }

    fn end_seen(&mut self) {
        for (pid, began) in std::mem::take(&mut self.seen) {
            if pid != self.leader {
                processes::end(pid, began);
            }
        }
    }
}

/// The time in which it cannot get further past the limit than it may.
fn until_next(used: u64, limit: u64) -> Duration {
    let room = limit.saturating_sub(used) + MEMORY_SLACK_BYTES / 2;
    let millis = room.saturating_mul(1000) / MEMORY_FILL_BYTES_PER_SECOND;
    Duration::from_millis(millis.clamp(MEMORY_SAMPLE_MIN_MS, MEMORY_SAMPLE_MAX_MS))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_nearer_to_the_limit_the_sooner_the_next_look() {
        let limit = 512 << 20;
        assert_eq!(
            until_next(limit, limit),
            Duration::from_millis(MEMORY_SAMPLE_MIN_MS)
        );
        assert_eq!(until_next(80 << 20, limit), Duration::from_millis(113));
        assert_eq!(
            until_next(0, 64 << 30),
            Duration::from_millis(MEMORY_SAMPLE_MAX_MS)
        );
        for used in [0, 80 << 20, 400 << 20, limit] {
            let filled =
                until_next(used, limit).as_millis() as u64 * (MEMORY_FILL_BYTES_PER_SECOND / 1000);
            assert!(used + filled <= limit + MEMORY_SLACK_BYTES, "{used}");
        }
    }
}
