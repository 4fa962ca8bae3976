//! [`Supervisor`]: the plugin's worker of the moment, and the next one when it has died.
//!
//! A respawn belongs to nobody: the first call that finds the worker dead begins it, every call that
//! comes meanwhile waits for the same one, each until its own deadline, and it goes on when they have
//! all given up. It starts a process and nothing else; no installer runs.

use std::collections::VecDeque;
use std::sync::atomic::Ordering;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError, Weak};
use std::time::Instant;

use hookgate_core::{Fault, FaultKind, Phase};
use tokio::sync::watch;
use tokio::task::AbortHandle;
use tokio::time::{sleep, timeout_at};

use crate::tokens::Tokens;
use crate::worker::{Launch, StartError, Worker};

type Started = Result<Arc<Worker>, Arc<StartError>>;

/// Keeps one plugin's worker.
pub(crate) struct Supervisor {
    launch: Arc<Launch>,
    state: Mutex<State>,
}

struct State {
    current: Current,
    /// When the respawns that count were begun, oldest first.
    respawns: VecDeque<Instant>,
}

enum Current {
    Running(Arc<Worker>),
    Starting {
        started: watch::Receiver<Option<Started>>,
        task: AbortHandle,
    },
    Failed(Arc<StartError>),
    Closed,
}

/// What a call finds.
enum Found {
    Worker(Arc<Worker>),
    Starting(watch::Receiver<Option<Started>>),
}

impl Supervisor {
    /// Takes over the worker the plugin was loaded in.
    pub(crate) fn new(launch: Launch, worker: Worker) -> Arc<Self> {
        let state = State {
            current: Current::Running(Arc::new(worker)),
            respawns: VecDeque::new(),
        };
        Arc::new(Self {
            launch: Arc::new(launch),
            state: Mutex::new(state),
        })
    }

    /// The running worker, or the next one if it is there before the deadline.
    pub(crate) async fn worker(self: &Arc<Self>, deadline: Instant) -> Result<Arc<Worker>, Fault> {
        let mut starting = loop {
            match self.find()? {
                Found::Worker(worker) if worker.is_settled() => return Ok(worker),
                // It may be stuck in the call that was cancelled: asked now, this call would die with it.
                Found::Worker(worker) => {
                    if timeout_at(deadline.into(), worker.settled()).await.is_err() {
                        return Err(Fault::timeout(
                            Phase::Start,
                            "the worker did not let go of a cancelled call",
                        ));
                    }
                }
                Found::Starting(starting) => break starting,
            }
        };
        let started = timeout_at(deadline.into(), starting.wait_for(Option::is_some)).await;
        match started {
            Ok(Ok(started)) => match &*started {
                Some(Ok(worker)) => Ok(Arc::clone(worker)),
                Some(Err(error)) => Err(error.fault()),
                None => Err(closed()),
            },
            Ok(Err(_)) => Err(closed()),
            Err(_) => Err(Fault::timeout(
                Phase::Start,
                "the worker did not come back by the deadline",
            )),
        }
    }

    /// A call was answered: the deaths before it do not count any more.
    pub(crate) fn succeeded(&self) {
        let mut state = self.lock();
        if !state.respawns.is_empty() {
            state.respawns.clear();
        }
    }

    /// Answers that came too late, over all workers.
    pub(crate) fn late_answers(&self) -> u64 {
        self.launch.late().load(Ordering::Relaxed)
    }

    /// The tokens it was lent, over all workers.
    pub(crate) fn tokens(&self) -> &Arc<Tokens> {
        self.launch.tokens()
    }

    /// `ready`, `restarting` or `failed`.
    pub(crate) fn word(&self) -> &'static str {
        let mut state = self.lock();
        match &state.current {
            Current::Running(worker) if worker.is_alive() => "ready",
            Current::Starting { .. } => "restarting",
            Current::Closed => "failed",
            Current::Running(_) | Current::Failed(_) => {
                self.forget_old(&mut state);
                if state.respawns.len() < self.launch.supervision().respawns {
                    "restarting"
                } else {
                    "failed"
                }
            }
        }
    }

    /// Lets the plugin shut down; calls that come later are faults.
    pub(crate) async fn shutdown(&self) {
        let current = std::mem::replace(&mut self.lock().current, Current::Closed);
        match current {
            Current::Running(worker) => {
                worker
                    .shutdown(self.launch.supervision().shutdown_grace)
                    .await
            }
            Current::Starting { task, .. } => task.abort(),
            Current::Failed(_) | Current::Closed => {}
        }
    }

    fn find(self: &Arc<Self>) -> Result<Found, Fault> {
        let mut state = self.lock();
        match &state.current {
            Current::Running(worker) if worker.is_alive() => {
                return Ok(Found::Worker(Arc::clone(worker)));
            }
            Current::Starting { started, .. } => return Ok(Found::Starting(started.clone())),
            Current::Closed => return Err(closed()),
            Current::Running(_) | Current::Failed(_) => {}
        }
        self.respawn(&mut state).map(Found::Starting)
    }

    fn respawn(
        self: &Arc<Self>,
        state: &mut State,
    ) -> Result<watch::Receiver<Option<Started>>, Fault> {
        self.forget_old(state);
        let supervision = self.launch.supervision();
        if let Some(oldest) = state.respawns.front()
            && state.respawns.len() >= supervision.respawns
        {
            let again =
                (*oldest + supervision.respawn_window).saturating_duration_since(Instant::now());
            let last = match &state.current {
                Current::Failed(error) => error.to_string(),
                Current::Running(worker) => worker.death().to_string(),
                Current::Starting { .. } | Current::Closed => String::new(),
            };
            return Err(Fault::new(
                FaultKind::WorkerDied,
                format!(
                    "{} respawns did not help, the next try is possible in {} s: {last}",
                    state.respawns.len(),
                    again.as_secs_f64().ceil()
                ),
            ));
        }
        let doubled = u32::try_from(state.respawns.len()).unwrap_or(u32::MAX);
        let backoff = supervision
            .respawn_backoff
            .saturating_mul(2u32.saturating_pow(doubled));
        state.respawns.push_back(Instant::now());
        let (tell, started) = watch::channel(None);
        let (launch, supervisor) = (Arc::clone(&self.launch), Arc::downgrade(self));
        let task = tokio::spawn(async move {
            sleep(backoff).await;
            let outcome = Worker::start(&launch).await.map(Arc::new).map_err(Arc::new);
            Self::install(&supervisor, &outcome);
            let _ = tell.send(Some(outcome));
        });
        state.current = Current::Starting {
            started: started.clone(),
            task: task.abort_handle(),
        };
        Ok(started)
    }

    /// Puts the outcome of a respawn in place, unless the plugin was shut down or dropped meanwhile.
    fn install(supervisor: &Weak<Self>, outcome: &Started) {
        let Some(supervisor) = supervisor.upgrade() else {
            return;
        };
        let mut state = supervisor.lock();
        if !matches!(state.current, Current::Starting { .. }) {
            return;
        }
        state.current = match outcome {
            Ok(worker) => Current::Running(Arc::clone(worker)),
            Err(error) => {
                tracing::warn!("a worker did not come back: {error}");
                Current::Failed(Arc::clone(error))
            }
        };
    }

    fn forget_old(&self, state: &mut State) {
        let window = self.launch.supervision().respawn_window;
        while state
            .respawns
            .front()
            .is_some_and(|begun| begun.elapsed() > window)
        {
            state.respawns.pop_front();
        }
    }

    fn lock(&self) -> MutexGuard<'_, State> {
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl Drop for Supervisor {
    fn drop(&mut self) {
        if let Current::Starting { task, .. } = &self.lock().current {
            task.abort();
        }
    }
}

fn closed() -> Fault {
    Fault::new(FaultKind::WorkerDied, "the plugin was shut down")
}
