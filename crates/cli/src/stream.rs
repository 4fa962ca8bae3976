//! Many calls at once, answers in the order of the input.
//!
//! Each line becomes a task of its own. Lines of one request wait for one another: a task holds the
//! receiving end of a channel whose sending end its predecessor drops when its call is over. Answers
//! wait in a queue until it is their turn; the queue's bounds are what limits memory.

use std::collections::{HashMap, VecDeque};
use std::io::Read;
use std::sync::Arc;

use anyhow::Context as _;
use hookgate::{Engine, InvokeError, Outcome, Payload};
use serde_json::value::RawValue;
use tokio::sync::oneshot::error::TryRecvError;
use tokio::sync::{Semaphore, oneshot};
use tokio::task::JoinHandle;

use crate::input::{self, InputLine};
use crate::line::{InvalidLine, Line};
use crate::units::failed;

/// Answers that may wait for an earlier one. A slow call holds back at most so many fast ones.
const WINDOW_LINES: usize = 1_024;
/// Bytes of lines whose answers are not out yet; past it no more is read.
const WINDOW_BYTES: u64 = 64 * 1024 * 1024;
/// Largest line, as a multiple of the largest payload: escapes and the caller's request beside it.
const LINE_PAYLOADS: u64 = 3;

/// How a stream is worked on.
pub struct Settings {
    /// Calls at once.
    pub jobs: usize,
    /// The configuration's largest payload.
    pub max_payload_bytes: u64,
}

/// A line with what came of it.
pub struct Answered {
    /// The line's number, from 1.
    pub number: u64,
    /// Its bytes in the input.
    pub consumed: u64,
    /// The caller's id.
    pub id: Option<Box<RawValue>>,
    /// The hook.
    pub hook: Option<String>,
    /// The payload as it came; none for a line that is no call.
    pub payload: Option<Payload>,
    /// What came of it.
    pub result: Result<Outcome, Unanswered>,
}

/// Why a line has no outcome.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Unanswered {
    /// `invalid_line`, or the code of an [`InvokeError`].
    pub code: &'static str,
    /// One line for a person.
    pub message: String,
}

impl From<InvokeError> for Unanswered {
    fn from(error: InvokeError) -> Self {
        Self {
            code: error.code(),
            message: error.to_string(),
        }
    }
}

/// Takes answers in the order of the input.
pub trait Consumer {
    /// Takes the next.
    fn take(&mut self, answered: Answered) -> anyhow::Result<()>;
    /// Nothing is ready: time to hand on what was taken.
    fn idle(&mut self) -> anyhow::Result<()>;
}

/// Asks about every line of `input`.
pub async fn answer(
    engine: &Engine,
    input: impl Read + Send + 'static,
    settings: &Settings,
    consumer: &mut impl Consumer,
) -> anyhow::Result<()> {
    let max_line_bytes = settings.max_payload_bytes.saturating_mul(LINE_PAYLOADS);
    let mut batches = input::lines(input, max_line_bytes);
    let mut calls = Calls::new(engine, settings.jobs, max_line_bytes);
    let mut open = true;
    while open || !calls.queue.is_empty() {
        let ready = calls
            .queue
            .front()
            .is_some_and(|(task, _)| task.is_finished());
        if !ready && batches.is_empty() {
            consumer.idle()?;
        }
        let room = calls.queue.len() < WINDOW_LINES && calls.bytes < WINDOW_BYTES;
        tokio::select! {
            batch = batches.recv(), if open && room => match batch {
                Some(batch) => {
                    let batch = batch.map_err(|error| failed("the input cannot be read", &error))?;
                    batch.into_iter().for_each(|line| calls.start(line));
                }
                None => open = false,
            },
            Some(answered) = calls.next() => consumer.take(answered?)?,
        }
    }
    consumer.idle()
}

/// The calls under way, oldest first.
struct Calls<'a> {
    engine: &'a Engine,
    jobs: Arc<Semaphore>,
    max_line_bytes: u64,
    queue: VecDeque<(JoinHandle<Answered>, u64)>,
    bytes: u64,
    /// The end of the last call of each request, by its id.
    last: HashMap<String, oneshot::Receiver<()>>,
    /// How many requests there may be before those without calls are forgotten.
    forget_at: usize,
}

impl<'a> Calls<'a> {
    fn new(engine: &'a Engine, jobs: usize, max_line_bytes: u64) -> Self {
        Self {
            engine,
            jobs: Arc::new(Semaphore::new(jobs)),
            max_line_bytes,
            queue: VecDeque::new(),
            bytes: 0,
            last: HashMap::new(),
            forget_at: WINDOW_LINES,
        }
    }

    fn start(&mut self, line: InputLine) {
        let InputLine {
            number,
            consumed,
            text,
        } = line;
        let parsed = match text {
            Some(text) => Line::parse(&text),
            None => Err(InvalidLine::unreadable(format!(
                "longer than {} bytes",
                self.max_line_bytes
            ))),
        };
        let line = match parsed {
            Ok(line) => line,
            Err(InvalidLine { id, hook, message }) => {
                let result = Err(Unanswered {
                    code: InvalidLine::CODE,
                    message,
                });
                let answered = Answered {
                    number,
                    consumed,
                    id,
                    hook,
                    payload: None,
                    result,
                };
                return self.push(tokio::spawn(async { answered }), consumed);
            }
        };
        let (over, before) = self.chain(line.request.id.as_deref());
        let (engine, jobs) = (self.engine.clone(), Arc::clone(&self.jobs));
        let task = tokio::spawn(async move {
            if let Some(before) = before {
                // An error: the sender is gone, which is the sign that is waited for.
                let _ = before.await;
            }
            // INVARIANT: the semaphore is never closed.
            let slot = jobs.acquire().await;
            let Line {
                id,
                hook,
                payload,
                request,
            } = line;
            let result = engine
                .invoke(&hook, payload.clone(), &request)
                .await
                .map_err(Unanswered::from);
            drop(slot);
            drop(over);
            Answered {
                number,
                consumed,
                id,
                hook: Some(hook),
                payload: Some(payload),
                result,
            }
        });
        self.push(task, consumed);
    }

    fn push(&mut self, task: JoinHandle<Answered>, consumed: u64) {
        self.queue.push_back((task, consumed));
        self.bytes += consumed;
    }

    /// Puts a call behind the last one of its request: what it drops when it is over, and what it
    /// waits for first.
    fn chain(
        &mut self,
        request: Option<&str>,
    ) -> (Option<oneshot::Sender<()>>, Option<oneshot::Receiver<()>>) {
        let Some(request) = request else {
            return (None, None);
        };
        if self.last.len() >= self.forget_at {
            self.last
                .retain(|_, over| matches!(over.try_recv(), Err(TryRecvError::Empty)));
            self.forget_at = WINDOW_LINES.max(2 * self.last.len());
        }
        let (sender, receiver) = oneshot::channel();
        (Some(sender), self.last.insert(request.to_owned(), receiver))
    }

    /// The answer of the oldest call; none if there is none. Cancel-safe.
    async fn next(&mut self) -> Option<anyhow::Result<Answered>> {
        let (task, consumed) = self.queue.front_mut()?;
        let answered = task.await;
        self.bytes -= *consumed;
        self.queue.pop_front();
        Some(answered.context("a call was not carried through"))
    }
}
