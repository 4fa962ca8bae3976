//! What an answer or a fault does to the outcome, by the plugin's mode.
//!
//! | mode | edits | deny, ask | effects | a fault under `on_error: fail` |
//! |---|---|---|---|---|
//! | `sequential` | count, unless it denies | count | all | denies |
//! | `transform` | count, unless it denies | `suppressed` | all | denies |
//! | `audit` | recorded | `suppressed` | marks | denies |
//! | `concurrent` | recorded | count | all, of the denying one alone if one denies | denies |
//! | `fire_and_forget` | recorded | recorded | none | is logged |
//!
//! The last row is [`super::background`]'s.

use std::time::{Duration, Instant};

use super::Run;
use crate::config::{Mode, OnError};
use crate::draft::Answer;
use crate::effects::Effects;
use crate::entry::{Called, Entry};
use crate::fault::Fault;
use crate::outcome::{ApprovalRequest, FaultReport, Suppressed};
use crate::record::PluginRecord;
use crate::refusal::RefusalCode;
use crate::verdict::{Approval, Decision, Verdict, Violation};

impl Run<'_> {
    /// Merges what a plugin's call came to. What does not count, since a sibling's denial does, is
    /// only listed.
    pub(super) fn take(&mut self, entry: &Entry, called: Called, took: Duration, counts: bool) {
        let recorded = self.question.recorded;
        let mut part = recorded.then(|| entry.part(took, called.queue, called.refused));
        match called.result {
            Ok(answer) => {
                if let Some(part) = &mut part {
                    part.note(&answer);
                }
                self.merge(entry, answer, counts, part.as_mut());
            }
            Err(fault) => {
                if let Some(part) = &mut part {
                    part.fault = Some(fault.kind);
                }
                self.fault(entry, &fault, counts);
            }
        }
        self.plugins.extend(part);
    }

    fn merge(
        &mut self,
        entry: &Entry,
        answer: Answer,
        counts: bool,
        part: Option<&mut PluginRecord>,
    ) {
        let mut answer = answer.into_parts();
        let decision = answer.verdict.decision();
        if counts && let Some(effects) = answer.effects.take() {
            self.leave(entry, *effects, part);
        }
        if let Some(violation) = answer.suppressed.take() {
            self.suppress(entry, decision, Some(*violation), None);
        }
        if entry.mode.may_modify() && decision != Decision::Deny && !answer.edits.is_empty() {
            self.payload = answer.edits.apply_to(&self.payload);
            self.bare = None;
            self.edited = true;
            // A large payload takes its time, which is not the next plugin's.
            self.now = Instant::now();
        }
        match answer.verdict {
            Verdict::Deny(violation) if !entry.mode.may_block() => {
                self.suppress(entry, decision, Some(violation), None);
            }
            Verdict::Ask(approval) if !entry.mode.may_block() => {
                self.suppress(entry, decision, None, Some(approval));
            }
            Verdict::Deny(violation) if counts => {
                self.violation = Some(by(entry, violation));
            }
            Verdict::Ask(approval) if counts => {
                let approval = ApprovalRequest::new(&entry.name, approval);
                self.approvals.push(approval);
            }
            Verdict::Deny(_) | Verdict::Ask(_) | Verdict::Allow => {}
        }
    }

    /// Leaves behind what the plugin's mode lets it.
    fn leave(&mut self, entry: &Entry, effects: Effects, part: Option<&mut PluginRecord>) {
        if entry.mode == Mode::Audit {
            self.effects.metadata.extend(effects.metadata);
            return;
        }
        let request = self.question.caller.id.as_deref().unwrap_or_default();
        let limit = self.question.max_state_bytes;
        let store = self.question.store;
        // Each of several plugins at once was within the limit by itself; together they may not be, and
        // the one that is too much can no longer be told.
        if !store.commit(request, &entry.name, &effects, limit) {
            tracing::warn!(plugin = %entry.name, hook = %self.question.hook, "its state is dropped: the request would have more than {limit} bytes");
            if let Some(part) = part {
                part.refuse("state", RefusalCode::TooLarge);
            }
        }
        self.extensions.apply(&effects.extensions);
        self.effects.merge(effects);
    }

    fn suppress(
        &mut self,
        entry: &Entry,
        verdict: Decision,
        violation: Option<Violation>,
        approval: Option<Approval>,
    ) {
        self.suppressed.push(Suppressed {
            plugin: entry.name.to_string(),
            mode: entry.mode,
            verdict,
            violation: violation.map(|violation| by(entry, violation)),
            approval: approval.map(|approval| ApprovalRequest::new(&entry.name, approval)),
        });
    }

    fn fault(&mut self, entry: &Entry, fault: &Fault, counts: bool) {
        let report = FaultReport::new(&entry.name, fault, entry.on_error);
        match entry.on_error {
            OnError::Fail if counts => self.violation = Some(report.violation()),
            OnError::Fail | OnError::Ignore => {}
            OnError::Disable => entry.set_disabled(true),
        }
        entry.log_fault(&self.question.hook, fault);
        self.faults.push(report);
    }
}

/// The violation with its plugin's name, whatever the plugin wrote there.
fn by(entry: &Entry, mut violation: Violation) -> Violation {
    violation.plugin = Some(entry.name.to_string());
    violation
}
