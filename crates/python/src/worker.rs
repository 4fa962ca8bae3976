//! [`Worker`]: one process that holds one plugin, and the calls it is asked.
//!
//! Four tasks serve a worker. The *writer* takes frames off a queue, so that a large one never holds
//! up a caller. The *reader* cuts the answers into frames and hands each to its call. The *log* reads
//! stderr. The *monitor* waits for the end, however it comes, and tells every call that is left.
//! None of them keeps the process alive: dropping the worker kills its process group.

mod calls;
mod error;
mod frames;
mod group;
mod launch;
mod log;
mod memory;
mod monitor;
mod processes;
mod sources;

use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};
use std::time::Duration;

use hookgate_core::{Fault, FaultKind, HookCall, Phase};
use serde::Deserialize;
use tokio::sync::{mpsc, oneshot, watch};
use tokio::time::{timeout, timeout_at};

pub(crate) use calls::Body;
pub(crate) use error::{Death, StartError, tail};
pub(crate) use frames::{begin as begin_frame, finish as finish_frame};
pub(crate) use group::ProcessGroup;
pub(crate) use launch::{ClassPlace, Launch};

use crate::call_frame;
use calls::{Calls, Outgoing};
use monitor::Tasks;

/// What a worker says of itself once the plugin is loaded.
#[derive(Debug, Clone, Deserialize)]
pub(crate) struct Ready {
    pub(crate) python: String,
    pub(crate) framework: Framework,
    pub(crate) hooks: Vec<String>,
    /// Those of `hooks` that take side-channel slots.
    #[serde(default)]
    pub(crate) extensions: Vec<String>,
}

impl Ready {
    /// Whether the hook may want the side-channel slots. One the plugin registers later is not known yet.
    fn takes_extensions(&self, hook: &str) -> bool {
        let among = |names: &[String]| names.iter().any(|name| name == hook);
        among(&self.extensions) || !among(&self.hooks)
    }
}

/// The framework found in the environment.
#[derive(Debug, Clone, Deserialize)]
pub(crate) struct Framework {
    pub(crate) name: String,
    pub(crate) version: String,
}

/// Why the plugin was not loaded, in the worker's words.
#[derive(Debug, Clone, Deserialize)]
pub(crate) struct Failed {
    pub(crate) stage: String,
    pub(crate) message: String,
    #[serde(default)]
    pub(crate) traceback: String,
}

/// The first thing a worker says.
pub(crate) enum Started {
    Ready(Ready),
    Failed(Failed),
}

/// A running worker whose plugin is loaded.
pub(crate) struct Worker {
    calls: Arc<Calls>,
    next_id: AtomicU64,
    ready: Ready,
    ended: watch::Receiver<bool>,
}

impl Worker {
    /// Starts the process and waits until the plugin is loaded. Dropping the future ends the process.
    pub(crate) async fn start(launch: &Launch) -> Result<Self, StartError> {
        let mut child = launch.spawn()?;
        let group = ProcessGroup::of(&child);
        memory::limit(&group, launch.memory_bytes);
        let (outgoing, queue) = mpsc::unbounded_channel();
        let (started, first) = oneshot::channel();
        let calls = Arc::new(Calls::new(launch, group, outgoing));
        memory::watch(launch, &calls);
        let log = tokio::spawn(log::follow(
            child.stderr.take(),
            Arc::clone(&launch.plugin),
            Arc::clone(calls.log()),
            Arc::clone(&launch.tokens),
        ));
        let reader = tokio::spawn(calls::read(
            child.stdout.take(),
            Arc::clone(&calls),
            started,
        ));
        let writer = tokio::spawn(calls::write(child.stdin.take(), queue, Arc::clone(&calls)));
        let (end, ended) = watch::channel(false);
        tokio::spawn(monitor::watch(
            child,
            Arc::clone(&calls),
            Tasks {
                reader,
                writer,
                log,
            },
            end,
        ));
        // From here on dropping the worker ends the process.
        let nothing = Framework {
            name: String::new(),
            version: String::new(),
        };
        let ready = Ready {
            python: String::new(),
            framework: nothing,
            hooks: Vec::new(),
            extensions: Vec::new(),
        };
        let mut worker = Self {
            calls,
            next_id: AtomicU64::new(1),
            ready,
            ended,
        };
        worker
            .calls
            .send(Outgoing::message(sources::frame().to_vec()));
        worker
            .calls
            .send(Outgoing::message(frames::framed(launch.start.as_bytes())));
        match timeout(launch.supervision.start_timeout, first).await {
            Ok(Ok(Started::Ready(ready))) => worker.ready = ready,
            Ok(Ok(Started::Failed(failed))) => return Err(StartError::Failed(failed)),
            Ok(Err(_)) => {
                let _ = worker.ended.wait_for(|ended| *ended).await;
                return Err(StartError::Died(worker.calls.death()));
            }
            Err(_) => {
                return Err(StartError::TimedOut {
                    limit: launch.supervision.start_timeout,
                    log: worker.calls.log_tail(),
                });
            }
        }
        Ok(worker)
    }

    /// What it said when it was ready.
    pub(crate) fn ready(&self) -> &Ready {
        &self.ready
    }

    /// Whether it can be asked.
    pub(crate) fn is_alive(&self) -> bool {
        self.calls.is_alive()
    }

    /// Whether it has let go of every cancelled call.
    pub(crate) fn is_settled(&self) -> bool {
        self.calls.is_settled()
    }

    /// Waits until it has let go of every cancelled call, or was killed for not doing so.
    pub(crate) async fn settled(&self) {
        self.calls.settled().await;
    }

    /// How it ended, as far as that is known.
    pub(crate) fn death(&self) -> Arc<Death> {
        self.calls.death()
    }

    /// Asks about one hook and waits until the deadline.
    pub(crate) async fn ask(&self, call: &HookCall) -> Result<Body, Fault> {
        let id = self.next_id.fetch_add(1, Ordering::Relaxed);
        let extensions = self.ready.takes_extensions(&call.hook);
        let frame = call_frame::encode(id, call, extensions)?;
        let (mut pending, mut reply) = self.calls.begin(id, call.deadline, frame)?;
        let waited = match timeout_at(call.deadline.into(), &mut reply).await {
            Ok(waited) => Some(waited),
            // It may have come between the last look and the timer.
            Err(_) => reply.try_recv().ok().map(Ok),
        };
        match waited {
            Some(Ok(reply)) => {
                pending.answered();
                if reply.at > call.deadline && reply.body.is_answer() {
                    self.calls.count_late();
                    return Err(timed_out());
                }
                match reply.body {
                    Body::TooLarge { bytes, limit } => Err(Fault::new(
                        FaultKind::ResponseTooLarge,
                        format!("an answer of {bytes} bytes, at most {limit} are possible"),
                    )),
                    Body::Died(death) => Err(death.fault()),
                    body => Ok(body),
                }
            }
            Some(Err(_)) => Err(self.calls.death().fault()),
            None => {
                drop(pending);
                Err(timed_out())
            }
        }
    }

    /// Lets the plugin shut down, for as long as it is given, then ends the process.
    pub(crate) async fn shutdown(&self, grace: Duration) {
        let mut ended = self.ended.clone();
        self.calls.expect_end();
        self.calls
            .send(Outgoing::message(frames::framed(br#"{"type":"shutdown"}"#)));
        if timeout(grace, ended.wait_for(|ended| *ended))
            .await
            .is_err()
        {
            tracing::warn!(plugin = %self.calls.plugin(), "the plugin did not shut down within {grace:?}");
            self.calls.kill("it did not shut down in time");
            let _ = ended.wait_for(|ended| *ended).await;
        }
    }
}

impl Drop for Worker {
    fn drop(&mut self) {
        self.calls.expect_end();
        self.calls.kill("it was not needed any more");
    }
}

fn timed_out() -> Fault {
    Fault::timeout(Phase::Guest, "no answer from the worker by the deadline")
}
