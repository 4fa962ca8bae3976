//! [`Draft`]: an answer in the making, and [`Answer`], what comes of it.
//!
//! Every host builds its answers here, so that grants, shapes and limits are checked once and alike.

mod extensions;

use std::sync::{Arc, LazyLock};

use crate::Json;
use crate::capability::Capabilities;
use crate::document::Document;
use crate::edit::Edits;
use crate::effects::{Changes, Effects};
use crate::extensions::Extensions;
use crate::interrupt::{Interrupt, Stopped};
use crate::matcher::{Matcher, Span};
use crate::plugin::HookCall;
use crate::pointer::Pointer;
use crate::refusal::{Refusal, RefusalCode, Refusals, Refused};
use crate::request::{RequestView, StateMap};
use crate::verdict::{Approval, MAX_HEADERS, Verdict, Violation, is_header};

/// What a plugin answered. Only a [`Draft`] makes one.
#[derive(Debug, Clone)]
pub struct Answer(Box<Parts>);

/// An answer's parts, behind one pointer: an answer goes through many hands, and moving this much each
/// time cost a quarter of an empty plugin's call.
#[derive(Debug, Clone)]
pub(crate) struct Parts {
    pub(crate) verdict: Verdict,
    pub(crate) edits: Edits,
    /// None until there is one: most answers leave nothing behind.
    pub(crate) effects: Option<Box<Effects>>,
    pub(crate) refused: Refusals,
    pub(crate) suppressed: Option<Box<Violation>>,
}

static NO_EFFECTS: LazyLock<Effects> = LazyLock::new(Effects::default);

impl Parts {
    fn effects(&self) -> &Effects {
        self.effects.as_deref().unwrap_or(&NO_EFFECTS)
    }

    fn effects_mut(&mut self) -> &mut Effects {
        self.effects.get_or_insert_default()
    }
}

impl Answer {
    pub(crate) fn of(parts: Box<Parts>) -> Self {
        Self(parts)
    }

    pub(crate) fn into_parts(self) -> Box<Parts> {
        self.0
    }

    pub(crate) fn suppressed(&self) -> Option<&Violation> {
        self.0.suppressed.as_deref()
    }

    /// The decision.
    #[must_use]
    pub fn verdict(&self) -> &Verdict {
        &self.0.verdict
    }

    /// The accepted edits.
    #[must_use]
    pub fn edits(&self) -> &Edits {
        &self.0.edits
    }

    /// State changes, marks, headers.
    #[must_use]
    pub fn effects(&self) -> &Effects {
        self.0.effects()
    }

    /// The effects, to be changed. Meant for tests that break an answer on purpose.
    pub fn effects_mut(&mut self) -> &mut Effects {
        self.0.effects_mut()
    }

    /// What was refused.
    #[must_use]
    pub fn refused(&self) -> &Refusals {
        &self.0.refused
    }

    /// The same answer with another verdict.
    #[must_use]
    pub fn with_verdict(mut self, verdict: Verdict) -> Self {
        self.0.verdict = verdict;
        self
    }

    /// An allow that carries a violation, as legacy plugins can give: it stays an allow, and the
    /// violation is listed as suppressed.
    #[must_use]
    pub fn with_suppressed(mut self, violation: Violation) -> Self {
        self.0.suppressed = Some(Box::new(violation));
        self
    }
}

/// Collects edits and effects of one call.
#[derive(Debug, Clone)]
pub struct Draft {
    parts: Box<Parts>,
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
            parts: Box::new(Parts {
                verdict: Verdict::Allow,
                edits: Edits::new(call.payload.clone(), call.rules.edits),
                effects: None,
                refused: Refusals::default(),
                suppressed: None,
            }),
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
        self.parts.edits.document()
    }

    /// [`Edits::set`].
    pub fn set(&mut self, at: &Pointer, value: Json) -> Result<(), Refusal> {
        let result = self.parts.edits.set(at, value);
        self.edit(result)
    }

    /// [`Edits::remove`].
    pub fn remove(&mut self, at: &Pointer) -> Result<(), Refusal> {
        let result = self.parts.edits.remove(at);
        self.edit(result)
    }

    /// [`Edits::splice`].
    pub fn splice(&mut self, at: &Span, replacement: &str) -> Result<(), Refusal> {
        let result = self.parts.edits.splice(at, replacement);
        self.edit(result)
    }

    /// [`Edits::set_until`].
    pub fn set_until(
        &mut self,
        at: &Pointer,
        value: Json,
        interrupt: &mut Interrupt<'_>,
    ) -> Result<Result<(), Refusal>, Stopped> {
        let result = self.parts.edits.set_until(at, value, interrupt)?;
        Ok(self.edit(result))
    }

    /// [`Edits::remove_until`].
    pub fn remove_until(
        &mut self,
        at: &Pointer,
        interrupt: &mut Interrupt<'_>,
    ) -> Result<Result<(), Refusal>, Stopped> {
        let result = self.parts.edits.remove_until(at, interrupt)?;
        Ok(self.edit(result))
    }

    /// [`Edits::splice_until`].
    pub fn splice_until(
        &mut self,
        at: &Span,
        replacement: &str,
        interrupt: &mut Interrupt<'_>,
    ) -> Result<Result<(), Refusal>, Stopped> {
        let edits = &mut self.parts.edits;
        let result = edits.splice_until(at, replacement, interrupt)?;
        Ok(self.edit(result))
    }

    /// [`Edits::redact`].
    pub fn redact(
        &mut self,
        patterns: &Matcher,
        under: &Pointer,
        replacement: &str,
    ) -> Result<u32, Refusal> {
        let result = self.parts.edits.redact(patterns, under, replacement);
        self.edit(result)
    }

    /// [`Edits::redact_until`].
    pub fn redact_until(
        &mut self,
        patterns: &Matcher,
        under: &Pointer,
        replacement: &str,
        interrupt: &mut Interrupt<'_>,
    ) -> Result<Result<u32, Refusal>, Stopped> {
        let edits = &mut self.parts.edits;
        let result = edits.redact_until(patterns, under, replacement, interrupt)?;
        Ok(self.edit(result))
    }

    /// Counts an edit that was refused before it could be made, such as one whose value is not I-JSON.
    pub fn refuse_edit(&mut self, refusal: Refusal) -> Refusal {
        self.refuse("edit", refusal)
    }

    /// Counts what was refused so often where no refusal could be handed to the plugin.
    pub fn count_refused(&mut self, what: &'static str, code: RefusalCode, times: u32) {
        if times > 0 {
            let count = times;
            self.parts.refused.add(Refused { what, code, count });
        }
    }

    /// Counts what a host refused before it came to this draft, and answers the same refusal. `what` is the
    /// word records list it under, such as `state`.
    pub fn refuse(&mut self, what: &'static str, refusal: Refusal) -> Refusal {
        self.parts.refused.note(what, refusal.code);
        refusal
    }

    fn edit<T>(&mut self, result: Result<T, Refusal>) -> Result<T, Refusal> {
        result.map_err(|refusal| self.refuse_edit(refusal))
    }

    /// Private state, this call's own writes included.
    #[must_use]
    pub fn state(&self, key: &str) -> Option<Json> {
        read(&self.parts.effects().state, self.request.private(), key)
    }

    /// Shared state, this call's own writes included.
    #[must_use]
    pub fn shared(&self, key: &str) -> Option<Json> {
        read(&self.parts.effects().shared, self.request.shared(), key)
    }

    /// Writes (or, with none, removes) private state; refused `too-large` past the limit of a request.
    pub fn set_state(&mut self, key: &str, value: Option<Json>) -> Result<(), Refusal> {
        let old = self.state(key);
        self.resize_state(key, old, value.as_ref())?;
        write(
            &mut self.parts.effects_mut().state,
            self.request.private(),
            key,
            value,
        );
        Ok(())
    }

    /// Writes (or, with none, removes) shared state; refused `too-large` past the limit of a request.
    pub fn set_shared(&mut self, key: &str, value: Option<Json>) -> Result<(), Refusal> {
        let old = self.shared(key);
        self.resize_state(key, old, value.as_ref())?;
        write(
            &mut self.parts.effects_mut().shared,
            self.request.shared(),
            key,
            value,
        );
        Ok(())
    }

    /// Writes (or, with none, removes) a member of the request's metadata as later hooks see it.
    pub fn set_request_metadata(&mut self, key: &str, value: Option<Json>) -> Result<(), Refusal> {
        let old = read(
            &self.parts.effects().request_metadata,
            self.request.metadata(),
            key,
        );
        self.resize_state(key, old, value.as_ref())?;
        let metadata = self.request.metadata();
        write(
            &mut self.parts.effects_mut().request_metadata,
            metadata,
            key,
            value,
        );
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
            self.parts.refused.note("state", refusal.code);
            return Err(refusal);
        }
        self.state_bytes = total;
        Ok(())
    }

    /// A mark for the caller.
    pub fn annotate(&mut self, key: &str, value: Json) -> Result<(), Refusal> {
        self.grow("annotation", key.len() + value.as_str().len())?;
        self.parts
            .effects_mut()
            .metadata
            .insert(key.to_owned(), value);
        Ok(())
    }

    /// A header for the caller; refused `invalid` if it is not one.
    pub fn set_header(&mut self, name: &str, value: &str) -> Result<(), Refusal> {
        if !is_header(name, value) {
            self.parts
                .refused
                .note("header", crate::RefusalCode::Invalid);
            return Err(Refusal::invalid(format!(
                "not an HTTP header: {name:?}: {value:?}"
            )));
        }
        if self.parts.effects().headers.len() >= MAX_HEADERS {
            self.parts
                .refused
                .note("header", crate::RefusalCode::TooLarge);
            return Err(Refusal::too_large(format!(
                "one answer sets at most {MAX_HEADERS} headers"
            )));
        }
        self.grow("header", name.len() + value.len())?;
        self.parts
            .effects_mut()
            .headers
            .push((name.to_owned(), value.to_owned()));
        Ok(())
    }

    /// How long the caller should wait before it tries again.
    pub fn set_retry_ms(&mut self, delay: u32) {
        self.parts.effects_mut().retry_after_ms = Some(delay);
    }

    /// The result of a hook whose answer is not its payload.
    pub fn set_result(&mut self, value: Json) -> Result<(), Refusal> {
        self.grow("result", value.as_str().len())?;
        self.parts.effects_mut().result = Some(value);
        Ok(())
    }

    fn grow(&mut self, what: &'static str, bytes: usize) -> Result<(), Refusal> {
        let total = self.effect_bytes + bytes as u64;
        if total > self.max_effect_bytes {
            self.parts.refused.note(what, crate::RefusalCode::TooLarge);
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
        self.parts.refused.note(what, refusal.code);
        refusal
    }

    /// Counts what a host refused a plugin somewhere else than through this draft: an address, a write.
    pub fn note_refused(&mut self, refusals: &Refusals) {
        for refused in refusals.list() {
            self.parts.refused.add(*refused);
        }
    }

    /// Lets the call go on, with the edits made.
    #[must_use]
    pub fn allow(self) -> Answer {
        // What a draft begins with.
        Answer(self.parts)
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
        let mut parts = self.parts;
        parts.verdict = verdict;
        Answer(parts)
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
