//! [`ProcessGroup`]: a child process and what it started, ended together.

use std::sync::{Mutex, PoisonError};

use rustix::process::{Pid, Signal, kill_process_group};
use tokio::process::Child;

/// The process group a child leads. Killed on drop, unless it has ended.
#[derive(Debug)]
pub(crate) struct ProcessGroup {
    /// None once the leader was reaped and its number may be somebody else's.
    leader: Mutex<Option<Pid>>,
}

impl ProcessGroup {
    /// The group of a child that was started with `process_group(0)`.
    pub(crate) fn of(child: &Child) -> Self {
        let leader = child
            .id()
            .and_then(|id| i32::try_from(id).ok())
            .and_then(Pid::from_raw);
        Self {
            leader: Mutex::new(leader),
        }
    }

    /// The leader, while it is known to be there.
    pub(crate) fn leader(&self) -> Option<Pid> {
        *self.leader.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Ends every process of the group.
    pub(crate) fn kill(&self) {
        if let Some(leader) = *self.leader.lock().unwrap_or_else(PoisonError::into_inner) {
            // The only error is that nobody is left.
            let _ = kill_process_group(leader, Signal::KILL);
        }
    }

    /// The leader was reaped just now. Ends what it left behind: while such a process is there, the
    /// kernel does not give the group's number away.
    pub(crate) fn reaped(&self) {
        self.kill();
        *self.leader.lock().unwrap_or_else(PoisonError::into_inner) = None;
    }
}

impl Drop for ProcessGroup {
    fn drop(&mut self) {
        self.kill();
    }
}
