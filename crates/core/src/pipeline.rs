//! The pipeline: every plugin of a hook, phase by phase, merged into one outcome.
//!
//! The phases are the modes in their order, so a phase knows what the ones before it made of the
//! payload: `sequential` and `transform` change it, `audit` looks, `concurrent` judges what came out,
//! `fire_and_forget` is told. A denial stops all but the last; an `ask` is kept while the rest goes on;
//! a fault becomes what `on_error` says and never an allow. What an answer may do in which mode is
//! [`merge`]'s; what a plugin is lent is decided here.

mod background;
mod concurrent;
mod headers;
mod merge;

use std::sync::Arc;
use std::time::Instant;

pub(crate) use background::BackgroundCall;

use crate::condition::{self, Tested};
use crate::document::Document;
use crate::edit::EditRules;
use crate::effects::OutcomeEffects;
use crate::entry::Entry;
use crate::extensions::Extensions;
use crate::generation::Listeners;
use crate::hooks::Shape;
use crate::outcome::{ApprovalRequest, FaultReport, Outcome, Suppressed};
use crate::plugin::{CallRules, HookCall};
use crate::pointer::Pointer;
use crate::record::{PluginRecord, sha256};
use crate::request::{Request, RequestView};
use crate::store::RequestStore;
use crate::verdict::{Decision, Violation};
use crate::{secret, value};

/// What one hook is asked about, and with what bounds.
pub(crate) struct Question<'a> {
    pub(crate) hook: Arc<str>,
    pub(crate) payload: Document,
    /// What the hook's payloads look like.
    pub(crate) shape: Shape,
    /// What this one is about, as it arrived.
    pub(crate) subject: Option<Arc<str>>,
    /// Whether it has a member `headers`.
    pub(crate) has_headers: bool,
    pub(crate) caller: Arc<Request>,
    /// The side-channel slots the caller sent.
    pub(crate) extensions: Extensions,
    pub(crate) store: &'a RequestStore,
    pub(crate) max_payload_bytes: u64,
    pub(crate) max_state_bytes: u64,
    /// Whether anybody wants to know each plugin's part.
    pub(crate) recorded: bool,
}

/// The outcome without its record id, and what else is left to do.
pub(crate) struct Concluded {
    pub(crate) outcome: Outcome,
    pub(crate) subject: Option<Arc<str>>,
    /// Each plugin's part in it; none if nobody wants to know.
    pub(crate) plugins: Vec<PluginRecord>,
    /// Whom to tell of it.
    pub(crate) background: Vec<BackgroundCall>,
}

/// Runs the plugins of one hook.
pub(crate) async fn run(listeners: &Listeners, question: Question<'_>) -> Concluded {
    let mut run = Run::new(listeners, question);
    for entry in &listeners.serial {
        if run.concerns(entry) {
            run.ask(entry).await;
            if run.violation.is_some() {
                break;
            }
        }
    }
    if run.violation.is_none() && !listeners.concurrent.is_empty() {
        run.ask_at_once(listeners).await;
    }
    let background = run.background(&listeners.background);
    run.conclude(background)
}

/// One call on its way through the phases.
struct Run<'a> {
    question: Question<'a>,
    /// When the last plugin was done: a look at the clock costs more than many a verdict.
    now: Instant,
    payload: Document,
    /// The payload without headers, once somebody was lent it.
    bare: Option<Document>,
    edited: bool,
    extensions: Extensions,
    violation: Option<Violation>,
    approvals: Vec<ApprovalRequest>,
    suppressed: Vec<Suppressed>,
    faults: Vec<FaultReport>,
    effects: OutcomeEffects,
    plugins: Vec<PluginRecord>,
}

impl<'a> Run<'a> {
    fn new(listeners: &Listeners, question: Question<'a>) -> Self {
        let plugins = match question.recorded {
            true => Vec::with_capacity(listeners.iter().count()),
            false => Vec::new(),
        };
        Self {
            // Not when the payload came: a deadline is that of one plugin's call.
            now: Instant::now(),
            payload: question.payload.clone(),
            bare: (!question.has_headers).then(|| question.payload.clone()),
            edited: false,
            extensions: question.extensions.clone(),
            violation: None,
            approvals: Vec::new(),
            suppressed: Vec::new(),
            faults: Vec::new(),
            effects: OutcomeEffects::default(),
            plugins,
            question,
        }
    }

    /// Whether the entry is asked: it is on, and its conditions hold, which are tested by the payload
    /// as it arrived.
    fn concerns(&self, entry: &Entry) -> bool {
        !entry.is_disabled()
            && (entry.conditions.is_empty()
                || condition::hold(
                    &entry.conditions,
                    Tested {
                        hook: &self.question.hook,
                        payload: &self.question.payload,
                        subject: self.question.subject.as_deref(),
                        request: &self.question.caller,
                    },
                ))
    }

    /// Asks one plugin of a serial phase, and merges what it says.
    async fn ask(&mut self, entry: &Entry) {
        let started = self.now;
        let view = self.question.store.view(&self.question.caller, &entry.name);
        let call = self.call(entry, view, started);
        let called = entry.call(call, started).await;
        self.now = called.ended;
        let took = called.ended - started;
        self.take(entry, called, took, true);
    }

    /// What this plugin is asked: the payload as it is now, without what it has no grant for.
    fn call(&mut self, entry: &Entry, request: RequestView, started: Instant) -> HookCall {
        let payload = self.lent(entry);
        // What the plugin does not see counts all the same.
        let hidden = self.payload.size().saturating_sub(payload.size());
        HookCall {
            hook: Arc::clone(&self.question.hook),
            subject: self.question.subject.clone(),
            payload,
            request,
            extensions: self.extensions.lent(entry.granted, &self.question.hook),
            deadline: started + entry.timeout,
            rules: CallRules {
                edits: EditRules {
                    shape: self.question.shape,
                    headers: entry.sees_headers(),
                    max_bytes: self.question.max_payload_bytes.saturating_sub(hidden),
                },
                max_state_bytes: self.question.max_state_bytes,
                max_effect_bytes: self.question.max_payload_bytes,
                granted: entry.granted,
            },
        }
    }

    fn lent(&mut self, entry: &Entry) -> Document {
        let payload = if entry.sees_headers() {
            self.payload.clone()
        } else {
            // Looked for once a payload, not once a plugin.
            let bare = self
                .bare
                .get_or_insert_with(|| headers::without(&self.payload));
            bare.clone()
        };
        let hidden = secret::hidden(&self.question.hook, entry.granted);
        let masked = hidden.and_then(|member| secret::masked(&payload, member));
        masked.unwrap_or(payload)
    }

    fn conclude(mut self, background: Vec<BackgroundCall>) -> Concluded {
        let decision = match (&self.violation, self.approvals.is_empty()) {
            (Some(_), _) => Decision::Deny,
            (None, false) => Decision::Ask,
            (None, true) => Decision::Allow,
        };
        let denied = decision == Decision::Deny;
        if denied {
            self.approvals.clear();
        }
        self.bind_approvals();
        let modified = self.edited
            && !denied
            && !value::same(self.question.payload.text(), self.payload.text());
        self.effects.extensions = self.extensions.changed_since(&self.question.extensions);
        let outcome = Outcome {
            decision,
            payload: (!denied).then(|| self.payload.into()),
            modified,
            violation: self.violation,
            approvals: self.approvals,
            suppressed: self.suppressed,
            faults: self.faults,
            effects: self.effects,
            record: None,
        };
        Concluded {
            outcome,
            subject: self.question.subject,
            plugins: self.plugins,
            background,
        }
    }

    /// Binds every approval, those that do not count included, to the payload as it is in the end.
    fn bind_approvals(&mut self) {
        let suppressed = self.suppressed.iter_mut();
        let suppressed = suppressed.filter_map(|suppressed| suppressed.approval.as_mut());
        let mut approvals = self.approvals.iter_mut().chain(suppressed).peekable();
        if approvals.peek().is_some() {
            let digest = sha256(self.payload.text());
            approvals.for_each(|approval| approval.payload_sha256.clone_from(&digest));
        }
    }
}

pub(crate) fn subject_of(payload: &Document, member: &str) -> Option<Arc<str>> {
    let mut at = Pointer::root();
    at.push(member);
    payload.get_string(&at).map(|subject| subject.into())
}
