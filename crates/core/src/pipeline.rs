//! The pipeline: every plugin of a hook, in order, merged into one outcome.
//!
//! Each plugin receives the payload as the ones before it left it. A denial stops; an `ask` is kept
//! while the rest goes on; a fault becomes what `on_error` says and never an allow. Edits and effects
//! of a plugin that did not answer are dropped whole.

use std::sync::Arc;
use std::time::{Duration, Instant};

use crate::condition::{self, Tested};
use crate::config::OnError;
use crate::document::Document;
use crate::draft::Answer;
use crate::edit::EditRules;
use crate::effects::OutcomeEffects;
use crate::entry::{Called, Entry};
use crate::extensions::Extensions;
use crate::hooks::Shape;
use crate::outcome::{ApprovalRequest, FaultReport, Outcome, Suppressed};
use crate::plugin::{CallRules, HookCall};
use crate::pointer::Pointer;
use crate::record::{PluginRecord, sha256};
use crate::request::Request;
use crate::store::RequestStore;
use crate::value;
use crate::verdict::{Decision, Verdict, Violation};

/// What one hook is asked about, and with what bounds.
pub(crate) struct Question<'a> {
    pub(crate) hook: Arc<str>,
    pub(crate) payload: Document,
    pub(crate) caller: Arc<Request>,
    pub(crate) store: &'a RequestStore,
    pub(crate) max_payload_bytes: u64,
    pub(crate) max_state_bytes: u64,
}

/// The outcome without its record id, and each plugin's part in it.
pub(crate) struct Concluded {
    pub(crate) outcome: Outcome,
    pub(crate) subject: Option<Arc<str>>,
    pub(crate) plugins: Vec<PluginRecord>,
}

/// Runs the plugins of one hook, which are sorted by priority.
pub(crate) async fn run(entries: &[Arc<Entry>], question: Question<'_>) -> Concluded {
    let shape = Shape::of(&question.hook);
    let subject = shape
        .subject()
        .and_then(|member| subject_of(&question.payload, member));
    let mut run = Run {
        shape,
        subject,
        payload: question.payload.clone(),
        extensions: Extensions::of(question.caller.extensions.as_ref()),
        question,
        bare: None,
        edited: false,
        violation: None,
        approvals: Vec::new(),
        suppressed: Vec::new(),
        faults: Vec::new(),
        effects: OutcomeEffects::default(),
        plugins: Vec::with_capacity(entries.len()),
    };
    for entry in entries {
        if entry.is_disabled() || !run.concerns(entry) {
            continue;
        }
        run.ask(entry).await;
        if run.violation.is_some() {
            break;
        }
    }
    run.conclude()
}

struct Run<'a> {
    question: Question<'a>,
    shape: Shape,
    subject: Option<Arc<str>>,
    payload: Document,
    extensions: Extensions,
    /// The payload without headers, once somebody was lent it.
    bare: Option<Document>,
    edited: bool,
    violation: Option<Violation>,
    approvals: Vec<ApprovalRequest>,
    suppressed: Vec<Suppressed>,
    faults: Vec<FaultReport>,
    effects: OutcomeEffects,
    plugins: Vec<PluginRecord>,
}

impl Run<'_> {
    /// Whether the entry's conditions hold, which are tested by the payload as it arrived.
    fn concerns(&self, entry: &Entry) -> bool {
        entry.conditions.is_empty()
            || condition::hold(
                &entry.conditions,
                Tested {
                    hook: &self.question.hook,
                    payload: &self.question.payload,
                    subject: self.subject.as_deref(),
                    request: &self.question.caller,
                },
            )
    }

    async fn ask(&mut self, entry: &Entry) {
        let started = Instant::now();
        let call = self.call(entry, started);
        let Called {
            result,
            queue,
            refused,
        } = entry.call(call).await;
        let mut record = self.record(entry, started, queue);
        record.refused = refused;
        match result {
            Ok(answer) => self.merge(entry, answer, &mut record),
            Err(fault) => {
                let report = FaultReport::new(&entry.name, &fault, entry.on_error);
                record.fault = Some(fault.kind);
                match entry.on_error {
                    OnError::Fail => self.violation = Some(report.violation()),
                    OnError::Ignore => {}
                    OnError::Disable => entry.set_disabled(true),
                }
                tracing::warn!(plugin = %entry.name, hook = %self.question.hook, on_error = %entry.on_error, "{fault}");
                self.faults.push(report);
            }
        }
        self.plugins.push(record);
    }

    /// What this plugin is asked: the payload as it is now, without what it has no grant for.
    fn call(&mut self, entry: &Entry, started: Instant) -> HookCall {
        let payload = self.lent(entry);
        // What the plugin does not see counts all the same.
        let hidden = self.payload.size().saturating_sub(payload.size());
        HookCall {
            hook: Arc::clone(&self.question.hook),
            subject: self.subject.clone(),
            payload,
            request: self.question.store.view(&self.question.caller, &entry.name),
            extensions: self.extensions.lent(entry.granted, &self.question.hook),
            deadline: started + entry.timeout,
            rules: CallRules {
                edits: EditRules {
                    shape: self.shape,
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
        if entry.sees_headers() {
            return self.payload.clone();
        }
        // Looked for once a payload, not once a plugin.
        let bare = self
            .bare
            .get_or_insert_with(|| without_headers(&self.payload));
        bare.clone()
    }

    fn merge(&mut self, entry: &Entry, answer: Answer, record: &mut PluginRecord) {
        record.verdict = Some(answer.verdict.decision());
        record.edits = answer.edits.list().to_vec();
        let request = self.question.caller.id.as_deref().unwrap_or_default();
        self.question
            .store
            .commit(request, &entry.name, &answer.effects);
        self.effects.merge(&answer.effects);
        self.extensions.apply(&answer.effects.extensions);
        if let Some(mut violation) = answer.suppressed {
            violation.plugin = Some(entry.name.to_string());
            self.suppressed.push(Suppressed {
                plugin: entry.name.to_string(),
                mode: entry.mode,
                verdict: answer.verdict.decision(),
                violation: Some(violation),
                approval: None,
            });
        }
        match answer.verdict {
            Verdict::Deny(mut violation) => {
                violation.plugin = Some(entry.name.to_string());
                record.code = Some(violation.code.clone());
                self.violation = Some(violation);
                return;
            }
            Verdict::Ask(approval) => self
                .approvals
                .push(ApprovalRequest::new(&entry.name, approval)),
            Verdict::Allow => {}
        }
        if !answer.edits.is_empty() {
            self.payload = answer.edits.apply_to(&self.payload);
            self.bare = None;
            self.edited = true;
        }
    }

    fn record(&self, entry: &Entry, started: Instant, queue: Duration) -> PluginRecord {
        PluginRecord {
            name: Arc::clone(&entry.name),
            kind: entry.kind,
            digest: entry.digest.clone(),
            sandbox: Arc::clone(&entry.sandbox),
            mode: entry.mode,
            verdict: None,
            code: None,
            fault: None,
            edits: Vec::new(),
            refused: Vec::new(),
            duration_us: micros(started.elapsed()),
            queue_us: micros(queue),
        }
    }

    fn conclude(mut self) -> Concluded {
        let decision = match (&self.violation, self.approvals.is_empty()) {
            (Some(_), _) => Decision::Deny,
            (None, false) => Decision::Ask,
            (None, true) => Decision::Allow,
        };
        let denied = decision == Decision::Deny;
        if denied {
            self.approvals.clear();
        } else if !self.approvals.is_empty() {
            let digest = sha256(self.payload.text());
            self.approvals
                .iter_mut()
                .for_each(|approval| approval.payload_sha256.clone_from(&digest));
        }
        let modified = self.edited
            && !denied
            && !value::same(self.question.payload.text(), self.payload.text());
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
            subject: self.subject,
            plugins: self.plugins,
        }
    }
}

fn micros(duration: Duration) -> u64 {
    u64::try_from(duration.as_micros()).unwrap_or(u64::MAX)
}

fn subject_of(payload: &Document, member: &str) -> Option<Arc<str>> {
    let mut at = Pointer::root();
    at.push(member);
    payload.get_string(&at).map(|subject| subject.into())
}

/// The payload as a plugin without `read_headers` receives it.
fn without_headers(payload: &Document) -> Document {
    let mut at = Pointer::root();
    at.push("headers");
    if payload.get(&at).is_none() {
        return payload.clone();
    }
    let rules = EditRules {
        shape: Shape::of(""),
        headers: true,
        max_bytes: u64::MAX,
    };
    let mut edits = crate::edit::Edits::new(payload.clone(), rules);
    match edits.remove(&at) {
        Ok(()) => edits.apply(),
        // INVARIANT: a member that is there can be removed; were it not, the plugin sees nothing at all.
        Err(_) => Document::trusted("{}".into()),
    }
}
