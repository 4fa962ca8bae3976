//! [`Draft`]: an answer in the making, and [`Answer`], what comes of it.
//!
//! Every host builds its answers here, so that grants, shapes and limits are checked once and alike.

mod extensions;

use std::sync::Arc;

use crate::Json;
use crate::capability::Capabilities;
use crate::document::Document;
use crate::edit::Edits;
use crate::effects::{Changes, Effects};
use crate::extensions::Extensions;
use crate::matcher::{Matcher, Span};
use crate::plugin::HookCall;
use crate::pointer::Pointer;
use crate::refusal::{Refusal, Refusals};
use crate::request::{RequestView, StateMap};
use crate::verdict::{Approval, MAX_HEADERS, Verdict, Violation, is_header};

/// What a plugin answered. Only a [`Draft`] makes one.
#[derive(Debug, Clone)]
pub struct Answer {
    pub(crate) verdict: Verdict,
    pub(crate) edits: Edits,
    pub(crate) effects: Effects,
    pub(crate) refused: Refusals,
    pub(crate) suppressed: Option<Violation>,
}

impl Answer {
    /// The decision.
    #[must_use]
    pub fn verdict(&self) -> &Verdict {
        &self.verdict
    }

    /// The accepted edits.
    #[must_use]
    pub fn edits(&self) -> &Edits {
        &self.edits
    }

    /// State changes, marks, headers.
    #[must_use]
    pub fn effects(&self) -> &Effects {
        &self.effects
    }

    /// The effects, to be changed. Meant for tests that break an answer on purpose.
    pub fn effects_mut(&mut self) -> &mut Effects {
        &mut self.effects
    }

    /// What was refused.
    #[must_use]
    pub fn refused(&self) -> &Refusals {
        &self.refused
    }

    /// The same answer with another verdict.
    #[must_use]
    pub fn with_verdict(mut self, verdict: Verdict) -> Self {
        self.verdict = verdict;
        self
    }

    /// An allow that carries a violation, as legacy plugins can give: it stays an allow, and the
    /// violation is listed as suppressed.
    #[must_use]
    pub fn with_suppressed(mut self, violation: Violation) -> Self {
        self.suppressed = Some(violation);
        self
    }
}

/// Collects edits and effects of one call.
#[derive(Debug, Clone)]
pub struct Draft {
    edits: Edits,
    effects: Effects,
    refused: Refusals,
    request: RequestView,
    hook: Arc<str>,
    /// The side-channel slots as they were lent.
    extensions: Extensions,
    granted: Capabilities,
    max_state_bytes: u64,
    max_effect_bytes: u64,
    effect_bytes: u64,
    state_bytes: u64,
}

impl Draft {
    pub(crate) fn new(call: &HookCall) -> Self {
        Self {
            edits: Edits::new(call.payload.clone(), call.rules.edits),
            effects: Effects::default(),
            refused: Refusals::default(),
            request: call.request.clone(),
            hook: Arc::clone(&call.hook),
            extensions: call.extensions.clone(),
            granted: call.rules.granted,
            max_state_bytes: call.rules.max_state_bytes,
            max_effect_bytes: call.rules.max_effect_bytes,
            effect_bytes: 0,
            state_bytes: call.request.state_bytes,
        }
    }

    /// The payload as the plugin received it.
    #[must_use]
    pub fn document(&self) -> &Document {
        self.edits.document()
    }

    /// [`Edits::set`].
    pub fn set(&mut self, at: &Pointer, value: Json) -> Result<(), Refusal> {
        let result = self.edits.set(at, value);
        self.edit(result)
    }

    /// [`Edits::remove`].
    pub fn remove(&mut self, at: &Pointer) -> Result<(), Refusal> {
        let result = self.edits.remove(at);
        self.edit(result)
    }

    /// [`Edits::splice`].
    pub fn splice(&mut self, at: &Span, replacement: &str) -> Result<(), Refusal> {
        let result = self.edits.splice(at, replacement);
        self.edit(result)
    }

    /// [`Edits::redact`].
    pub fn redact(
        &mut self,
        patterns: &Matcher,
        under: &Pointer,
        replacement: &str,
    ) -> Result<u32, Refusal> {
        let result = self.edits.redact(patterns, under, replacement);
        self.edit(result)
    }

    /// Counts an edit that was refused before it could be made, such as one whose value is not I-JSON.
    pub fn refuse_edit(&mut self, refusal: Refusal) -> Refusal {
        self.refused.note("edit", refusal.code);
        refusal
    }

    fn edit<T>(&mut self, result: Result<T, Refusal>) -> Result<T, Refusal> {
        result.map_err(|refusal| self.refuse_edit(refusal))
    }

    /// Private state, this call's own writes included.
    #[must_use]
    pub fn state(&self, key: &str) -> Option<Json> {
        read(&self.effects.state, self.request.private(), key)
    }

    /// Shared state, this call's own writes included.
    #[must_use]
    pub fn shared(&self, key: &str) -> Option<Json> {
        read(&self.effects.shared, self.request.shared(), key)
    }

    /// Writes (or, with none, removes) private state; refused `too-large` past the limit of a request.
    pub fn set_state(&mut self, key: &str, value: Option<Json>) -> Result<(), Refusal> {
        let old = self.state(key);
        self.resize_state(key, old, value.as_ref())?;
        write(&mut self.effects.state, self.request.private(), key, value);
        Ok(())
    }

    /// Writes (or, with none, removes) shared state; refused `too-large` past the limit of a request.
    pub fn set_shared(&mut self, key: &str, value: Option<Json>) -> Result<(), Refusal> {
        let old = self.shared(key);
        self.resize_state(key, old, value.as_ref())?;
        write(&mut self.effects.shared, self.request.shared(), key, value);
        Ok(())
    }

    /// Writes (or, with none, removes) a member of the request's metadata as later hooks see it.
    pub fn set_request_metadata(&mut self, key: &str, value: Option<Json>) -> Result<(), Refusal> {
        let old = read(&self.effects.request_metadata, self.request.metadata(), key);
        self.resize_state(key, old, value.as_ref())?;
        let metadata = self.request.metadata();
        write(&mut self.effects.request_metadata, metadata, key, value);
        Ok(())
    }

    fn resize_state(
        &mut self,
        key: &str,
        old: Option<Json>,
        new: Option<&Json>,
    ) -> Result<(), Refusal> {
        let size = |value: &Json| (key.len() + value.as_str().len()) as u64;
        let (old, new) = (old.as_ref().map_or(0, size), new.map_or(0, size));
        let total = (self.state_bytes + new).saturating_sub(old);
        if total > self.max_state_bytes && new > old {
            let refusal = Refusal::too_large(format!(
                "the state of the request would have {total} bytes; at most {}",
                self.max_state_bytes
            ));
            self.refused.note("state", refusal.code);
            return Err(refusal);
        }
        self.state_bytes = total;
        Ok(())
    }

    /// A mark for the caller.
    pub fn annotate(&mut self, key: &str, value: Json) -> Result<(), Refusal> {
        self.grow("annotation", key.len() + value.as_str().len())?;
        self.effects.metadata.insert(key.to_owned(), value);
        Ok(())
    }

    /// A header for the caller; refused `invalid` if it is not one.
    pub fn set_header(&mut self, name: &str, value: &str) -> Result<(), Refusal> {
        if !is_header(name, value) {
            self.refused.note("header", crate::RefusalCode::Invalid);
            return Err(Refusal::invalid(format!(
                "not an HTTP header: {name:?}: {value:?}"
            )));
        }
        if self.effects.headers.len() >= MAX_HEADERS {
            self.refused.note("header", crate::RefusalCode::TooLarge);
            return Err(Refusal::too_large(format!(
                "one answer sets at most {MAX_HEADERS} headers"
            )));
        }
        self.grow("header", name.len() + value.len())?;
        self.effects
            .headers
            .push((name.to_owned(), value.to_owned()));
        Ok(())
    }

    /// How long the caller should wait before it tries again.
    pub fn set_retry_ms(&mut self, delay: u32) {
        self.effects.retry_after_ms = Some(delay);
    }

    /// The result of a hook whose answer is not its payload.
    pub fn set_result(&mut self, value: Json) -> Result<(), Refusal> {
        self.grow("result", value.as_str().len())?;
        self.effects.result = Some(value);
        Ok(())
    }

    fn grow(&mut self, what: &'static str, bytes: usize) -> Result<(), Refusal> {
        let total = self.effect_bytes + bytes as u64;
        if total > self.max_effect_bytes {
            self.refused.note(what, crate::RefusalCode::TooLarge);
            return Err(Refusal::too_large(format!(
                "marks, headers, extensions and result would have {total} bytes; at most {}",
                self.max_effect_bytes
            )));
        }
        self.effect_bytes = total;
        Ok(())
    }

    /// Counts and answers the refusal of something no grant was given for.
    pub fn not_granted(&mut self, what: &'static str, message: impl Into<String>) -> Refusal {
        let refusal = Refusal::not_granted(message);
        self.refused.note(what, refusal.code);
        refusal
    }

    /// Lets the call go on, with the edits made.
    #[must_use]
    pub fn allow(self) -> Answer {
        self.answer(Verdict::Allow)
    }

    /// Lets a person decide, with the edits made.
    #[must_use]
    pub fn ask(self, approval: Approval) -> Answer {
        self.answer(Verdict::Ask(approval))
    }

    /// Refuses the call.
    #[must_use]
    pub fn deny(self, violation: Violation) -> Answer {
        self.answer(Verdict::Deny(violation))
    }

    /// Ends the draft with a verdict.
    #[must_use]
    pub fn answer(self, verdict: Verdict) -> Answer {
        Answer {
            verdict,
            edits: self.edits,
            effects: self.effects,
            refused: self.refused,
            suppressed: None,
        }
    }
}

fn read(changes: &Changes, map: &StateMap, key: &str) -> Option<Json> {
    match changes.get(key) {
        Some(change) => change.clone(),
        None => map.get(key).cloned(),
    }
}

/// Notes a change. The removal of what is not there is none: it would cost memory no limit counts.
fn write(changes: &mut Changes, map: &StateMap, key: &str, value: Option<Json>) {
    if value.is_none() && !map.contains_key(key) {
        changes.shift_remove(key);
    } else {
        changes.insert(key.to_owned(), value);
    }
}
