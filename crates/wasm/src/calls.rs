//! What a guest may ask of the host: the `call`, `log` and `secrets` interfaces.
//!
//! Refusals go back to the guest, which decides; a broken pointer and a limit passed end the call.

use hookgate_core::{
    Document, Draft, HookCall, Interrupt, Json, Pointer, Refusal, RefusalCode, Span, Syntax,
};
use wasmtime::component::Resource;

use crate::bindings::{call, log, secrets, types};
use crate::faults::Ended;
use crate::guest::{CompiledMatcher, Guest, LentContext, LentDocument};

/// What a line of the log shows for fields that are not JSON.
const INVALID_FIELDS: &str = r#"{"fields":"left out, since they are not I-JSON"}"#;

/// What a host function that may end the call answers.
type Trap<T> = wasmtime::Result<T>;
/// A host function's answer that may be a refusal.
type Refusable<T> = wasmtime::Result<Result<T, types::Refusal>>;

impl Guest {
    fn document(&self, document: &Resource<LentDocument>) -> Trap<&Document> {
        Ok(&self.table.get(document)?.0)
    }

    fn draft(&mut self) -> Trap<&mut Draft> {
        self.draft
            .as_mut()
            .ok_or_else(|| Ended::protocol("it used a context outside of a call"))
    }

    fn call(&self) -> Trap<&HookCall> {
        self.call
            .as_ref()
            .ok_or_else(|| Ended::protocol("it used a context outside of a call"))
    }

    /// Ends work on a long text at the guest's deadline, which no epoch does while the host works.
    fn interrupt(&self) -> Interrupt<'static> {
        Interrupt::at(self.deadline)
    }
}

fn pointer(text: &str) -> Trap<Pointer> {
    Pointer::parse(text).map_err(|error| Ended::protocol(error.to_string()))
}

fn refusal(refusal: Refusal) -> types::Refusal {
    types::Refusal {
        code: refusal.code.as_str().into(),
        message: refusal.message,
    }
}

fn text(json: Json) -> String {
    json.as_str().to_owned()
}

/// What the guest gave as JSON, or a refusal that is counted as one of `what`.
fn json(draft: &mut Draft, what: &'static str, text: String) -> Result<Json, Refusal> {
    Json::parse(text).map_err(|error| {
        let refusal = Refusal::invalid(format!("the value is not I-JSON: {error}"));
        draft.refuse(what, refusal)
    })
}

impl types::Host for Guest {}

impl call::Host for Guest {}

impl call::HostDocument for Guest {
    fn size(&mut self, document: Resource<LentDocument>) -> Trap<u64> {
        Ok(self.document(&document)?.size())
    }

    fn text(&mut self, document: Resource<LentDocument>) -> Trap<String> {
        Ok(self.document(&document)?.text().to_string())
    }

    fn get(&mut self, document: Resource<LentDocument>, at: String) -> Trap<Option<String>> {
        let found = self
            .document(&document)?
            .get_until(&pointer(&at)?, &mut self.interrupt())
            .map_err(Ended::late)?;
        Ok(found.map(ToOwned::to_owned))
    }

    fn get_string(&mut self, document: Resource<LentDocument>, at: String) -> Trap<Option<String>> {
        let found = self
            .document(&document)?
            .get_string_until(&pointer(&at)?, &mut self.interrupt())
            .map_err(Ended::late)?;
        Ok(found.map(|value| value.into_owned()))
    }

    fn get_strings(&mut self, document: Resource<LentDocument>, at: String) -> Trap<Vec<String>> {
        self.document(&document)?
            .get_strings_until(&pointer(&at)?, &mut self.interrupt())
            .map_err(Ended::late)
    }

    fn keys(&mut self, document: Resource<LentDocument>, at: String) -> Trap<Vec<String>> {
        self.document(&document)?
            .keys_until(&pointer(&at)?, &mut self.interrupt())
            .map_err(Ended::late)
    }

    fn find(
        &mut self,
        document: Resource<LentDocument>,
        patterns: Resource<CompiledMatcher>,
        under: String,
        limit: u32,
    ) -> Trap<call::Found> {
        let matcher = &self.table.get(&patterns)?.0;
        let found = self
            .document(&document)?
            .find_until(matcher, &pointer(&under)?, limit, &mut self.interrupt())
            .map_err(Ended::late)?;
        if found.over_budget {
            return Err(Ended::resource(
                "one search found more than can be held at once",
            ));
        }
        let hits = found.hits.into_iter().map(|hit| call::Hit {
            pattern: hit.pattern,
            span: types::Span {
                at: hit.span.at.to_string(),
                start: hit.span.start,
                end: hit.span.end,
            },
        });
        Ok(call::Found {
            hits: hits.collect(),
            truncated: found.truncated,
        })
    }

    fn drop(&mut self, document: Resource<LentDocument>) -> Trap<()> {
        self.table.delete(document)?;
        Ok(())
    }
}

impl call::HostMatcher for Guest {
    fn compile(
        &mut self,
        patterns: Vec<String>,
        syntax: call::Syntax,
    ) -> Refusable<Resource<CompiledMatcher>> {
        let syntax = match syntax {
            call::Syntax::Literal => Syntax::Literal,
            call::Syntax::LiteralIgnoreCase => Syntax::LiteralIgnoreCase,
            call::Syntax::Regex => Syntax::Regex,
        };
        match self.matchers.compile(patterns, syntax) {
            Ok(matcher) => Ok(Ok(self.table.push(CompiledMatcher(matcher))?)),
            Err(refused) => Ok(Err(refusal(refused))),
        }
    }

    fn drop(&mut self, matcher: Resource<CompiledMatcher>) -> Trap<()> {
        self.table.delete(matcher)?;
        Ok(())
    }
}

impl call::HostContext for Guest {
    fn request_id(&mut self, _: Resource<LentContext>) -> Trap<String> {
        Ok(self.call()?.request.id().to_owned())
    }

    fn call_id(&mut self, _: Resource<LentContext>) -> Trap<Option<String>> {
        Ok(self.call()?.request.caller().call_id.clone())
    }

    fn hook(&mut self, _: Resource<LentContext>) -> Trap<String> {
        Ok(self.call()?.hook.to_string())
    }

    fn remaining_ms(&mut self, _: Resource<LentContext>) -> Trap<u64> {
        let left = self
            .deadline
            .saturating_duration_since(std::time::Instant::now());
        Ok(u64::try_from(left.as_millis()).unwrap_or(u64::MAX))
    }

    fn caller(&mut self, _: Resource<LentContext>, field: String) -> Refusable<Option<String>> {
        Ok(Ok(self.call()?.request.caller().field(&field).map(text)))
    }

    fn state(&mut self, _: Resource<LentContext>, key: String) -> Trap<Option<String>> {
        Ok(self.draft()?.state(&key).map(text))
    }

    fn set_state(&mut self, _: Resource<LentContext>, key: String, value: String) -> Refusable<()> {
        let draft = self.draft()?;
        Ok(json(draft, "state", value)
            .and_then(|value| draft.set_state(&key, Some(value)))
            .map_err(refusal))
    }

    fn remove_state(&mut self, _: Resource<LentContext>, key: String) -> Refusable<()> {
        Ok(self.draft()?.set_state(&key, None).map_err(refusal))
    }

    fn shared(&mut self, _: Resource<LentContext>, key: String) -> Trap<Option<String>> {
        Ok(self.draft()?.shared(&key).map(text))
    }

    fn set_shared(
        &mut self,
        _: Resource<LentContext>,
        key: String,
        value: String,
    ) -> Refusable<()> {
        let draft = self.draft()?;
        Ok(json(draft, "state", value)
            .and_then(|value| draft.set_shared(&key, Some(value)))
            .map_err(refusal))
    }

    fn remove_shared(&mut self, _: Resource<LentContext>, key: String) -> Refusable<()> {
        Ok(self.draft()?.set_shared(&key, None).map_err(refusal))
    }

    fn extension(&mut self, _: Resource<LentContext>, slot: String) -> Refusable<Option<String>> {
        let seen = self.draft()?.extension(&slot);
        Ok(seen.map(|value| value.map(text)).map_err(refusal))
    }

    fn set_extension(
        &mut self,
        _: Resource<LentContext>,
        slot: String,
        value: String,
    ) -> Refusable<()> {
        let draft = self.draft()?;
        Ok(json(draft, "extension", value)
            .and_then(|value| draft.set_extension(&slot, value))
            .map_err(refusal))
    }

    fn edit_set(&mut self, _: Resource<LentContext>, at: String, value: String) -> Refusable<()> {
        let at = pointer(&at)?;
        let mut interrupt = self.interrupt();
        let draft = self.draft()?;
        Ok(match json(draft, "edit", value) {
            Ok(value) => draft
                .set_until(&at, value, &mut interrupt)
                .map_err(Ended::late)?,
            Err(refusal) => Err(refusal),
        }
        .map_err(refusal))
    }

    fn edit_remove(&mut self, _: Resource<LentContext>, at: String) -> Refusable<()> {
        let at = pointer(&at)?;
        let mut interrupt = self.interrupt();
        let removed = self
            .draft()?
            .remove_until(&at, &mut interrupt)
            .map_err(Ended::late)?;
        Ok(removed.map_err(refusal))
    }

    fn edit_splice(
        &mut self,
        _: Resource<LentContext>,
        at: types::Span,
        replacement: String,
    ) -> Refusable<()> {
        let span = Span {
            at: pointer(&at.at)?,
            start: at.start,
            end: at.end,
        };
        let mut interrupt = self.interrupt();
        let spliced = self
            .draft()?
            .splice_until(&span, &replacement, &mut interrupt)
            .map_err(Ended::late)?;
        Ok(spliced.map_err(refusal))
    }

    fn redact(
        &mut self,
        _: Resource<LentContext>,
        patterns: Resource<CompiledMatcher>,
        under: String,
        replacement: String,
    ) -> Refusable<u32> {
        let under = pointer(&under)?;
        let matcher = std::sync::Arc::clone(&self.table.get(&patterns)?.0);
        let mut interrupt = self.interrupt();
        let redacted = self
            .draft()?
            .redact_until(&matcher, &under, &replacement, &mut interrupt)
            .map_err(Ended::late)?;
        Ok(redacted.map_err(refusal))
    }

    fn set_result(&mut self, _: Resource<LentContext>, value: String) -> Refusable<()> {
        let draft = self.draft()?;
        Ok(json(draft, "result", value)
            .and_then(|value| draft.set_result(value))
            .map_err(refusal))
    }

    fn annotate(&mut self, _: Resource<LentContext>, key: String, value: String) -> Refusable<()> {
        let draft = self.draft()?;
        Ok(json(draft, "annotation", value)
            .and_then(|value| draft.annotate(&key, value))
            .map_err(refusal))
    }

    fn set_header(
        &mut self,
        _: Resource<LentContext>,
        name: String,
        value: String,
    ) -> Refusable<()> {
        Ok(self.draft()?.set_header(&name, &value).map_err(refusal))
    }

    fn set_retry_ms(&mut self, _: Resource<LentContext>, delay: u32) -> Refusable<()> {
        self.draft()?.set_retry_ms(delay);
        Ok(Ok(()))
    }

    fn drop(&mut self, context: Resource<LentContext>) -> Trap<()> {
        self.table.delete(context)?;
        Ok(())
    }
}

impl log::Host for Guest {
    fn write(&mut self, level: log::Level, message: String, fields: String) -> Trap<()> {
        match Json::parse(fields) {
            Ok(fields) => self.log.write(level, &message, fields.as_str())?,
            // The function has no way to say no, and a line lost is worse than one without its fields.
            Err(error) => {
                if let Some(draft) = &mut self.draft {
                    let refusal = Refusal::invalid(format!("the fields are not I-JSON: {error}"));
                    draft.refuse("log", refusal);
                }
                self.log.write(level, &message, INVALID_FIELDS)?;
            }
        }
        Ok(())
    }
}

impl secrets::Host for Guest {
    fn get(&mut self, name: String) -> Refusable<String> {
        if let Some(value) = self.session.secrets().get(&name) {
            return Ok(Ok(value.to_owned()));
        }
        self.session
            .reach()
            .refuse("secret", RefusalCode::NotGranted);
        let message = format!("no secret of the name {name} is granted");
        Ok(Err(refusal(Refusal::not_granted(message))))
    }
}
