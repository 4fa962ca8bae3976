//! [`Calls`]: what is asked of a worker and not answered yet, and the two tasks that move frames.

use std::collections::HashMap;
use std::io;
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::{Duration, Instant};

use hookgate_core::Fault;
use hookgate_core::config::defaults::MAX_RESULT_BYTES;
use serde::Deserialize;
use tokio::io::{AsyncWriteExt as _, BufReader};
use tokio::process::{ChildStdin, ChildStdout};
use tokio::runtime::Handle;
use tokio::sync::{mpsc, oneshot, watch};
use tokio::time::timeout;

use super::frames::{self, Incoming};
use super::log::LogTail;
use super::{Death, Launch, ProcessGroup, Started};
use crate::limits::READ_BYTES;
use crate::tokens::Tokens;

/// A frame on its way to the worker.
pub(super) struct Outgoing {
    frame: Vec<u8>,
    /// The call it asks; it is not sent if nobody waits for that any more.
    call: Option<u64>,
}

impl Outgoing {
    pub(super) fn message(frame: Vec<u8>) -> Self {
        Self { frame, call: None }
    }
}

/// What became of a call.
pub(crate) enum Body {
    /// An `answer` frame.
    Answer(Vec<u8>),
    /// A `fault` frame.
    Fault(Vec<u8>),
    /// The worker ended the call itself.
    Cancelled,
    /// The answer was skipped.
    TooLarge { bytes: usize, limit: usize },
    /// There will be no answer.
    Died(Arc<Death>),
}

impl Body {
    /// Whether the plugin had its say.
    pub(super) fn is_answer(&self) -> bool {
        matches!(
            self,
            Self::Answer(_) | Self::Fault(_) | Self::TooLarge { .. }
        )
    }
}

/// With the moment it arrived, which decides whether it is late.
pub(super) struct Reply {
    pub(super) at: Instant,
    pub(super) body: Body,
}

struct Slot {
    deadline: Instant,
    sent: bool,
    waiter: Waiter,
}

enum Waiter {
    Caller(oneshot::Sender<Reply>),
    /// The caller has gone; dropping this tells the watch that the worker let go of the call.
    Watch {
        _ended: oneshot::Sender<()>,
        /// It went before the deadline: what is cancelled is not late.
        cancelled: bool,
    },
}

#[derive(Default)]
struct Inner {
    slots: HashMap<u64, Slot>,
    death: Option<Arc<Death>>,
    killed_for: Option<String>,
    /// The host has asked it to end: nothing to warn of.
    ending: bool,
}

/// The calls of one worker.
pub(super) struct Calls {
    plugin: Arc<str>,
    group: ProcessGroup,
    outgoing: mpsc::UnboundedSender<Outgoing>,
    inner: Mutex<Inner>,
    alive: AtomicBool,
    /// Cancelled calls the worker has not let go of: while there are some it may be stuck.
    unsettled: watch::Sender<usize>,
    late: Arc<AtomicU64>,
    log: Arc<LogTail>,
    tokens: Arc<Tokens>,
    cancel_grace: Duration,
    runtime: Handle,
}

impl Calls {
    pub(super) fn new(
        launch: &Launch,
        group: ProcessGroup,
        outgoing: mpsc::UnboundedSender<Outgoing>,
    ) -> Self {
        Self {
            plugin: Arc::clone(&launch.plugin),
            group,
            outgoing,
            inner: Mutex::default(),
            alive: AtomicBool::new(true),
            unsettled: watch::Sender::new(0),
            late: Arc::clone(&launch.late),
            log: Arc::default(),
            tokens: Arc::clone(&launch.tokens),
            cancel_grace: launch.supervision.cancel_grace,
            runtime: Handle::current(),
        }
    }

    pub(super) fn plugin(&self) -> &str {
        &self.plugin
    }

    pub(super) fn group(&self) -> &ProcessGroup {
        &self.group
    }

    pub(super) fn log(&self) -> &Arc<LogTail> {
        &self.log
    }

    pub(super) fn log_tail(&self) -> String {
        self.log.text()
    }

    pub(super) fn is_alive(&self) -> bool {
        self.alive.load(Ordering::Acquire)
    }

    /// Whether the worker has let go of every cancelled call.
    pub(super) fn is_settled(&self) -> bool {
        *self.unsettled.borrow() == 0
    }

    /// Waits until the worker has let go of every cancelled call, or was killed for not doing so.
    pub(super) async fn settled(&self) {
        // The sender lives as long as `self`.
        let _ = self
            .unsettled
            .subscribe()
            .wait_for(|count| *count == 0)
            .await;
    }

    pub(super) fn count_late(&self) {
        self.late.fetch_add(1, Ordering::Relaxed);
    }

    /// Queues a frame. One that comes too late is dropped with the queue.
    pub(super) fn send(&self, frame: Outgoing) {
        let _ = self.outgoing.send(frame);
    }

    /// Queues a call and gives what its caller waits on.
    pub(super) fn begin(
        self: &Arc<Self>,
        id: u64,
        deadline: Instant,
        frame: Vec<u8>,
    ) -> Result<(Pending, oneshot::Receiver<Reply>), Fault> {
        let (caller, reply) = oneshot::channel();
        let mut inner = self.lock();
        if let Some(death) = &inner.death {
            return Err(death.fault());
        }
        inner.slots.insert(
            id,
            Slot {
                deadline,
                sent: false,
                waiter: Waiter::Caller(caller),
            },
        );
        drop(inner);
        self.send(Outgoing {
            frame,
            call: Some(id),
        });
        Ok((
            Pending {
                calls: Arc::clone(self),
                id,
                open: true,
            },
            reply,
        ))
    }

    /// Ends the process group; the first cause given is the one told.
    pub(super) fn kill(&self, cause: impl Into<String>) {
        self.alive.store(false, Ordering::Release);
        // A cause may repeat what the worker sent.
        let cause = self.tokens.hide(&cause.into()).into_owned();
        self.lock().killed_for.get_or_insert(cause);
        self.group.kill();
    }

    /// Its end is wanted from now on.
    pub(super) fn expect_end(&self) {
        self.lock().ending = true;
    }

    /// The process has ended: every call that is left hears of it.
    pub(super) fn died(&self, status: String) {
        self.alive.store(false, Ordering::Release);
        let mut inner = self.lock();
        let death = Arc::new(Death {
            status,
            killed_for: inner.killed_for.clone(),
            log: self.log.text(),
        });
        inner.death = Some(Arc::clone(&death));
        let slots = std::mem::take(&mut inner.slots);
        if inner.ending {
            tracing::debug!(plugin = %self.plugin, "{death}");
        } else {
            tracing::warn!(plugin = %self.plugin, calls = slots.len(), "{death}");
        }
        drop(inner);
        for slot in slots.into_values() {
            if let Waiter::Caller(caller) = slot.waiter {
                let _ = caller.send(Reply {
                    at: Instant::now(),
                    body: Body::Died(Arc::clone(&death)),
                });
            }
        }
    }

    pub(super) fn not_alive(&self) {
        self.alive.store(false, Ordering::Release);
    }

    pub(super) fn death(&self) -> Arc<Death> {
        let inner = self.lock();
        inner.death.clone().unwrap_or_else(|| {
            let status = "its end is not known".to_owned();
            Arc::new(Death {
                status,
                killed_for: inner.killed_for.clone(),
                log: self.log.text(),
            })
        })
    }

    /// Whether somebody still waits for the call, whose frame is about to be written.
    fn sending(&self, id: u64) -> bool {
        self.lock().slots.get_mut(&id).is_some_and(|slot| {
            slot.sent = true;
            true
        })
    }

    fn finish(&self, id: u64, body: Body) {
        let slot = self.lock().slots.remove(&id);
        let Some(slot) = slot else {
            tracing::debug!(plugin = %self.plugin, "a frame for call {id}, which is over");
            return;
        };
        let at = Instant::now();
        let late = at > slot.deadline && body.is_answer();
        let unheard = match slot.waiter {
            Waiter::Caller(caller) => caller.send(Reply { at, body }).is_err(),
            Waiter::Watch { cancelled, .. } => !cancelled,
        };
        if late && unheard {
            self.count_late();
        }
    }

    /// Nobody waits for the call any more.
    fn abandon(self: &Arc<Self>, id: u64) {
        let mut inner = self.lock();
        let Some(slot) = inner.slots.get_mut(&id) else {
            return;
        };
        if !slot.sent {
            inner.slots.remove(&id);
            return;
        }
        let (ended, watched) = oneshot::channel();
        slot.waiter = Waiter::Watch {
            _ended: ended,
            cancelled: Instant::now() < slot.deadline,
        };
        drop(inner);
        self.send(Outgoing::message(frames::framed(
            format!(r#"{{"type":"cancel","id":{id}}}"#).as_bytes(),
        )));
        let calls = Arc::clone(self);
        self.unsettled.send_modify(|count| *count += 1);
        self.runtime.spawn(async move {
            if timeout(calls.cancel_grace, watched).await.is_err() {
                calls.kill(format!(
                    "a cancelled call did not end within {:?}",
                    calls.cancel_grace
                ));
            }
            calls.unsettled.send_modify(|count| *count -= 1);
        });
    }

    /// Takes one frame in; the error says how it breaks the protocol.
    fn receive(
        &self,
        body: Vec<u8>,
        started: &mut Option<oneshot::Sender<Started>>,
    ) -> Result<(), String> {
        let (kind, id) = match frames::head(&body) {
            Some((kind, id)) => (kind.to_owned(), id),
            None => Head::read(&body)?,
        };
        match (kind.as_str(), id) {
            ("answer", Some(id)) => self.finish(id, Body::Answer(body)),
            ("fault", Some(id)) => self.finish(id, Body::Fault(body)),
            ("cancelled", Some(id)) => self.finish(id, Body::Cancelled),
            ("bye", _) => {}
            ("ready" | "failed", _) => {
                let first = if kind == "ready" {
                    Started::Ready(parse(&body)?)
                } else {
                    Started::Failed(parse(&body)?)
                };
                let waiter = started
                    .take()
                    .ok_or_else(|| format!("it said `{kind}` twice"))?;
                let _ = waiter.send(first);
            }
            _ => return Err(format!("it sent a frame of type {kind:?}")),
        }
        Ok(())
    }

    fn lock(&self) -> MutexGuard<'_, Inner> {
        self.inner.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

#[derive(Deserialize)]
struct Head {
    #[serde(rename = "type")]
    kind: String,
    id: Option<u64>,
}

impl Head {
    /// For frames whose members come in another order.
    fn read(body: &[u8]) -> Result<(String, Option<u64>), String> {
        parse(body).map(|head: Self| (head.kind, head.id))
    }
}

fn parse<'a, T: Deserialize<'a>>(body: &'a [u8]) -> Result<T, String> {
    serde_json::from_slice(body)
        .map_err(|error| format!("it sent a frame that cannot be read: {error}"))
}

/// A call under way. Dropped before its answer came, it cancels the call.
pub(super) struct Pending {
    calls: Arc<Calls>,
    id: u64,
    open: bool,
}

impl Pending {
    pub(super) fn answered(&mut self) {
        self.open = false;
    }
}

impl Drop for Pending {
    fn drop(&mut self) {
        if self.open {
            self.calls.abandon(self.id);
        }
    }
}

/// The reader: hands each frame to whom it is for, until the pipe ends or breaks the protocol.
pub(super) async fn read(
    stdout: Option<ChildStdout>,
    calls: Arc<Calls>,
    started: oneshot::Sender<Started>,
) {
    let Some(stdout) = stdout else { return };
    let mut pipe = BufReader::with_capacity(READ_BYTES, stdout);
    let mut started = Some(started);
    let limit = MAX_RESULT_BYTES as usize;
    let broken = loop {
        match frames::read(&mut pipe, limit).await {
            Ok(Incoming::Frame(body)) => {
                if let Err(problem) = calls.receive(body, &mut started) {
                    break problem;
                }
            }
            Ok(Incoming::TooLarge { head, bytes }) => match frames::head(&head) {
                Some((_, Some(id))) => calls.finish(id, Body::TooLarge { bytes, limit }),
                _ => break format!("it sent {bytes} bytes that belong to no call"),
            },
            Ok(Incoming::End) => return,
            Err(error) if error.kind() == io::ErrorKind::InvalidData => {
                break format!("it sent {error}");
            }
            // Cut off in the middle of a frame: it is ending, and the monitor knows how.
            Err(_) => return,
        }
    };
    calls.kill(format!("it broke the protocol: {broken}"));
}

/// The writer: frames go out one after another, as fast as the worker reads.
pub(super) async fn write(
    stdin: Option<ChildStdin>,
    mut queue: mpsc::UnboundedReceiver<Outgoing>,
    calls: Arc<Calls>,
) {
    let Some(mut stdin) = stdin else { return };
    while let Some(outgoing) = queue.recv().await {
        if outgoing.call.is_some_and(|id| !calls.sending(id)) {
            continue;
        }
        if stdin.write_all(&outgoing.frame).await.is_err() {
            return;
        }
    }
}
