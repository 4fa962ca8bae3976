//! [`Entry`]: a loaded plugin with everything the operator said about it.

use std::panic::{AssertUnwindSafe, catch_unwind};
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, AtomicU32, AtomicU64, Ordering};
use std::task::Poll;
use std::time::{Duration, Instant};

use futures::FutureExt as _;
use futures::future::BoxFuture;
use tokio::sync::{Semaphore, SemaphorePermit};
use tokio::time::{sleep_until, timeout_at};

use crate::capability::{Capabilities, Capability};
use crate::condition::Condition;
use crate::config::defaults::{MAX_RESULT_BYTES, QUEUE_CALLS, TIMEOUT_MAX_SECONDS};
use crate::config::{Mode, OnError};
use crate::depth::Depth;
use crate::document::Document;
use crate::draft::Answer;
use crate::fault::{Fault, FaultKind, Phase};
use crate::plugin::{HookCall, Plugin, PluginInfo};
use crate::record::PluginRecord;
use crate::refusal::Refused;
use crate::secret::{self, Tokens};
use crate::verdict::Verdict;

/// How long past the deadline a host that keeps deadlines itself gets to say so before its future is
/// dropped: two rounds of a busy scheduler.
const BACKSTOP: Duration = Duration::from_millis(250);

/// A plugin as the pipeline sees it.
pub(crate) struct Entry {
    pub(crate) name: Arc<str>,
    pub(crate) kind: &'static str,
    pub(crate) group: Option<String>,
    pub(crate) hooks: Vec<String>,
    pub(crate) mode: Mode,
    pub(crate) priority: i32,
    pub(crate) on_error: OnError,
    pub(crate) timeout: Duration,
    pub(crate) conditions: Vec<Condition>,
    pub(crate) granted: Capabilities,
    pub(crate) digest: Option<Arc<str>>,
    pub(crate) sandbox: Arc<str>,
    pub(crate) plugin: Arc<dyn Plugin>,
    /// Whether the plugin is the engine's own and outlives the generation.
    pub(crate) in_process: bool,
    disabled: AtomicBool,
    slots: Semaphore,
    concurrency: u32,
    waiting: AtomicU32,
    late: AtomicU64,
    /// Background calls under way.
    pub(crate) in_background: AtomicU64,
}

/// What a plugin's call gives.
type Answered = Result<Answer, Fault>;

/// What one call came to, with its times.
pub(crate) struct Called {
    pub(crate) result: Result<Answer, Fault>,
    pub(crate) queue: Duration,
    /// When it was over.
    pub(crate) ended: Instant,
    /// What the plugin was refused, also where its answer was no answer.
    pub(crate) refused: Vec<Refused>,
}

impl Entry {
    pub(crate) fn new(name: &str, plugin: Arc<dyn Plugin>, settings: EntrySettings) -> Self {
        let info = plugin.describe();
        Self {
            name: name.into(),
            kind: info.kind,
            group: settings.group,
            hooks: settings.hooks,
            mode: settings.mode,
            priority: settings.priority,
            on_error: settings.on_error,
            // One set in code may be any number, and a deadline must be a point in time.
            timeout: settings
                .timeout
                .min(Duration::from_secs(TIMEOUT_MAX_SECONDS)),
            conditions: settings.conditions,
            granted: settings.granted,
            digest: info.digest.map(Into::into),
            sandbox: info.sandbox.into(),
            plugin,
            in_process: settings.in_process,
            disabled: AtomicBool::new(false),
            slots: Semaphore::new(settings.concurrency as usize),
            concurrency: settings.concurrency,
            waiting: AtomicU32::new(0),
            late: AtomicU64::new(0),
            in_background: AtomicU64::new(0),
        }
    }

    pub(crate) fn is_disabled(&self) -> bool {
        self.disabled.load(Ordering::Acquire)
    }

    pub(crate) fn set_disabled(&self, disabled: bool) {
        self.disabled.store(disabled, Ordering::Release);
    }

    /// Whether it sees a payload's headers.
    pub(crate) fn sees_headers(&self) -> bool {
        sees_headers(self.kind, self.granted)
    }

    pub(crate) fn info(&self) -> PluginInfo {
        let mut info = self.plugin.describe();
        info.late_answers += self.late.load(Ordering::Relaxed);
        info
    }

    /// Asks the plugin, from `started` on: a slot, the call, the deadline over both; panics become faults.
    pub(crate) async fn call(&self, call: HookCall, started: Instant) -> Called {
        let deadline = call.deadline;
        let mut queue = Duration::ZERO;
        let depth = match Depth::of_next() {
            Ok(depth) => depth,
            Err(fault) => {
                return Called {
                    result: Err(fault),
                    queue,
                    ended: Instant::now(),
                    refused: Vec::new(),
                };
            }
        };
        let permit = match self.slots.try_acquire() {
            Ok(permit) => permit,
            Err(_) => {
                let slot = self.slot(deadline).await;
                let ended = Instant::now();
                queue = ended - started;
                match slot {
                    Ok(permit) => permit,
                    Err(fault) => {
                        return Called {
                            result: Err(fault),
                            queue,
                            ended,
                            refused: Vec::new(),
                        };
                    }
                }
            }
        };
        let keeps = self.plugin.keeps_deadline();
        let backstop = if keeps { deadline + BACKSTOP } else { deadline };
        let asked = call.payload.clone();
        let tokens = Tokens::of(&call);
        let hidden = secret::hidden(&call.hook, self.granted);
        let guard = |answered| match &tokens {
            Some(tokens) => tokens.guard(answered),
            None => answered,
        };
        let mut refused = Vec::new();
        // Not in `until`: an async function moves its arguments once more.
        let begun = || depth.within(|| self.plugin.call(call));
        let answered = match catch_unwind(AssertUnwindSafe(begun)) {
            Ok(asking) => until(backstop, depth, asking).await,
            Err(panic) => Some(Err(panic)),
        };
        let ended = Instant::now();
        let result = match answered {
            // A host that keeps deadlines itself may say so late; an answer is late from any.
            Some(Ok(answered)) if (answered.is_ok() || !keeps) && ended > deadline => {
                self.late.fetch_add(1, Ordering::Relaxed);
                Err(self.timed_out())
            }
            Some(Ok(answered)) => guard(answered).and_then(|answer| {
                refused.extend_from_slice(answer.refused().list());
                self.accept(answer, &asked, hidden)
            }),
            Some(Err(panic)) => guard(Err(Fault::new(
                FaultKind::PluginError,
                format!("panicked: {}", panic_text(&*panic)),
            ))),
            None => Err(self.timed_out()),
        };
        drop(permit);
        Called {
            result,
            queue,
            ended,
            refused,
        }
    }

    /// Its part in an outcome before anything is known of it but its times and what it was refused.
    pub(crate) fn part(
        &self,
        took: Duration,
        queue: Duration,
        refused: Vec<Refused>,
    ) -> PluginRecord {
        PluginRecord {
            name: Arc::clone(&self.name),
            kind: self.kind,
            digest: self.digest.clone(),
            sandbox: Arc::clone(&self.sandbox),
            mode: self.mode,
            verdict: None,
            code: None,
            fault: None,
            edits: Vec::new(),
            refused,
            duration_us: micros(took),
            queue_us: micros(queue),
        }
    }

    /// Tells the log of a fault.
    pub(crate) fn log_fault(&self, hook: &str, fault: &Fault) {
        tracing::warn!(plugin = %self.name, hook = %hook, mode = %self.mode, on_error = %self.on_error, "{fault}");
    }

    /// Ends the plugin once no call is under way.
    pub(crate) async fn shutdown(&self) {
        let all = self.slots.acquire_many(self.concurrency).await;
        self.plugin.shutdown().await;
        drop(all);
    }

    /// An answer that may count, or what is wrong with it. The value of the payload's member `hidden` was not
    /// shown to the plugin.
    fn accept(
        &self,
        answer: Answer,
        asked: &Document,
        hidden: Option<&str>,
    ) -> Result<Answer, Fault> {
        if answer.refused().has_edit() && !matches!(answer.verdict(), Verdict::Deny(_)) {
            return Err(Fault::new(
                FaultKind::Protocol,
                format!(
                    "answered {} although an edit of its was refused",
                    answer.verdict().decision()
                ),
            ));
        }
        // Spans into one text mean nothing in another.
        if !answer.edits().is_empty() && answer.edits().document() != asked {
            return Err(Fault::new(
                FaultKind::Protocol,
                "answered with edits of a payload that is not the one it was asked about",
            ));
        }
        if let Some(member) = hidden
            && secret::edits_hidden(answer.edits(), member)
        {
            return Err(Fault::new(
                FaultKind::Protocol,
                format!(
                    "answered with an edit of what it was not shown: the token in /{member} and in headers"
                ),
            ));
        }
        if let Verdict::Ask(approval) = answer.verdict() {
            check_size("approval", approval.bytes())?;
            if !approval.details.is_object() {
                return Err(Fault::new(
                    FaultKind::PluginError,
                    "the details of its approval are not a JSON object",
                ));
            }
        }
        let denied = match answer.verdict() {
            Verdict::Deny(violation) => Some(violation),
            Verdict::Ask(_) | Verdict::Allow => None,
        };
        for violation in denied.into_iter().chain(answer.suppressed()) {
            check_size("violation", violation.bytes())?;
            violation
                .check()
                .map_err(|problem| Fault::new(FaultKind::PluginError, problem))?;
        }
        Ok(answer)
    }

    fn timed_out(&self) -> Fault {
        Fault::timeout(
            Phase::Guest,
            format!(
                "no answer within {}",
                humantime::format_duration(self.timeout)
            ),
        )
    }

    async fn slot(&self, deadline: Instant) -> Result<SemaphorePermit<'_>, Fault> {
        let _place = Place::take(&self.waiting, &self.name)?;
        match timeout_at(deadline.into(), self.slots.acquire()).await {
            Ok(Ok(permit)) => Ok(permit),
            Ok(Err(_)) => Err(Fault::new(
                FaultKind::Overloaded,
                "the plugin is shutting down",
            )),
            Err(_) => Err(Fault::timeout(
                Phase::Queue,
                format!(
                    "no free slot of {} within {}",
                    self.concurrency,
                    humantime::format_duration(self.timeout)
                ),
            )),
        }
    }
}

/// The plugin's answer or panic; none past the backstop. A plugin that answers at once costs no timer.
async fn until(
    backstop: Instant,
    depth: Depth,
    asking: BoxFuture<'_, Answered>,
) -> Option<std::thread::Result<Answered>> {
    let mut asking = AssertUnwindSafe(asking).catch_unwind();
    let mut timer = None;
    std::future::poll_fn(|task| {
        if let Poll::Ready(answered) = depth.within(|| asking.poll_unpin(task)) {
            return Poll::Ready(Some(answered));
        }
        let timer = timer.get_or_insert_with(|| {
            // Not held up by a plugin that uses up what this task may do at a time.
            let timer = tokio::task::unconstrained(sleep_until(backstop.into()));
            Box::pin(timer)
        });
        timer.as_mut().poll(task).map(|()| None)
    })
    .await
}

/// Whether a plugin of a kind with these grants sees a payload's headers: a legacy class does as it does
/// at home; anything else needs the grant.
pub(crate) fn sees_headers(kind: &str, granted: Capabilities) -> bool {
    granted.allows(Capability::ReadHeaders) || kind == "python"
}

/// What the operator said about a plugin, or the defaults.
pub(crate) struct EntrySettings {
    pub(crate) group: Option<String>,
    pub(crate) hooks: Vec<String>,
    pub(crate) mode: Mode,
    pub(crate) priority: i32,
    pub(crate) on_error: OnError,
    pub(crate) timeout: Duration,
    pub(crate) concurrency: u32,
    pub(crate) conditions: Vec<Condition>,
    pub(crate) granted: Capabilities,
    pub(crate) in_process: bool,
}

/// A duration as records show it.
pub(crate) fn micros(duration: Duration) -> u64 {
    u64::try_from(duration.as_micros()).unwrap_or(u64::MAX)
}

fn check_size(what: &str, bytes: u64) -> Result<(), Fault> {
    if bytes > MAX_RESULT_BYTES {
        return Err(Fault::new(
            FaultKind::ResponseTooLarge,
            format!("its {what} has {bytes} bytes; at most {MAX_RESULT_BYTES}"),
        ));
    }
    Ok(())
}

/// A place in a plugin's queue, given back on drop.
struct Place<'a>(&'a AtomicU32);

impl<'a> Place<'a> {
    fn take(waiting: &'a AtomicU32, plugin: &str) -> Result<Self, Fault> {
        if waiting.fetch_add(1, Ordering::AcqRel) >= QUEUE_CALLS {
            waiting.fetch_sub(1, Ordering::AcqRel);
            return Err(Fault::new(
                FaultKind::Overloaded,
                format!("{} calls already wait for {plugin}", QUEUE_CALLS),
            ));
        }
        Ok(Self(waiting))
    }
}

impl Drop for Place<'_> {
    fn drop(&mut self) {
        self.0.fetch_sub(1, Ordering::AcqRel);
    }
}

fn panic_text(panic: &(dyn std::any::Any + Send)) -> &str {
    panic
        .downcast_ref::<&str>()
        .copied()
        .or_else(|| panic.downcast_ref::<String>().map(String::as_str))
        .unwrap_or("no message")
}
