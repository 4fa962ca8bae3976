//! [`Depth`]: how many plugins' calls lie around the one to be made.
//!
//! A plugin of this process may ask an engine from inside its own call: its own engine or another, the same
//! hook or another. What bounds such a chain is counted per thread, and only while a plugin's code runs on
//! that thread: in the call itself and in each poll of its future. A future that waits holds nothing, so calls
//! that share a thread do not count each other, and one that moves between threads takes its depth along.
//! Work a plugin moves to a task or thread of its own leaves the count; slots and deadlines bound that.
//!
//! A parameter would have to pass through the plugin's own code; a task-local knows tasks, not futures
//! polled side by side in one. Raising and lowering costs two plain stores a poll.

use std::cell::Cell;
use std::future::poll_fn;
use std::pin::pin;

use crate::fault::{Fault, FaultKind};

/// How deep plugins may ask engines from inside each other. Each level waits for the one below it, on the
/// same stack and within its own deadline; a policy that asks another one needs two, a chain that grows
/// to eight asks in circles.
pub const MAX_REENTRY_DEPTH: u32 = 8;

thread_local! {
    /// The depth of the plugin whose code runs on this thread; 0 outside of any.
    static CURRENT: Cell<u32> = const { Cell::new(0) };
}

/// The depth of one call: 1 for a plugin that nobody's plugin asked.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Depth(u32);

impl Depth {
    /// Of a call that the code now running is about to make.
    pub(crate) fn of_next() -> Result<Self, Fault> {
        let depth = CURRENT.get() + 1;
        if depth > MAX_REENTRY_DEPTH {
            return Err(Fault::new(
                FaultKind::ResourceLimit,
                format!(
                    "asked from inside {MAX_REENTRY_DEPTH} other calls, which is as deep as it goes"
                ),
            ));
        }
        Ok(Self(depth))
    }

    /// Of the code that is running now, for work it leaves behind in a task of its own.
    pub(crate) fn current() -> Self {
        Self(CURRENT.get())
    }

    /// The same future, which counts as work of this call wherever it is polled.
    pub(crate) async fn around<F: Future>(self, work: F) -> F::Output {
        let mut work = pin!(work);
        poll_fn(|task| self.within(|| work.as_mut().poll(task))).await
    }

    /// Runs a piece of this call's code.
    pub(crate) fn within<T>(self, run: impl FnOnce() -> T) -> T {
        let _outer = Outer(CURRENT.replace(self.0));
        run()
    }
}

/// Puts the depth back, also when the plugin panics.
struct Outer(u32);

impl Drop for Outer {
    fn drop(&mut self) {
        CURRENT.set(self.0);
    }
}
