//! Replaces listed words in every string value of a payload, except in the hook's own subject.
//!
//! Search and replacement run on the host; no payload text is copied into the component.
#![deny(missing_docs)]

mod bindings;
mod config;

use std::sync::OnceLock;

use bindings::exports::hookgate::plugin::{agents, custom, lifecycle, prompts, resources, tools};
use bindings::hookgate::plugin::call::{Context, Document, Matcher, Syntax};
use bindings::hookgate::plugin::types::{Failure, Refusal, Verdict};
use config::Config;

struct Policy {
    /// `None` for an empty list: there is nothing to compile, and nothing to replace.
    matcher: Option<Matcher>,
    replacement: String,
}

/// Set by `init`, which the engine calls once, before any hook of the instance.
static POLICY: OnceLock<Policy> = OnceLock::new();

impl Policy {
    fn new(config: &Document) -> Result<Self, String> {
        let Config { words, replacement } = Config::read(config)?;
        let matcher = match words.as_slice() {
            [] => None,
            words => Some(
                Matcher::compile(words, Syntax::Literal)
                    .map_err(|refusal| format!("config `words`: {}", refusal.message))?,
            ),
        };
        Ok(Self {
            matcher,
            replacement,
        })
    }

    fn redact(
        &self,
        subject: Option<&str>,
        payload: &Document,
        ctx: &Context,
    ) -> Result<(), Refusal> {
        let Some(matcher) = &self.matcher else {
            return Ok(());
        };
        let Some(subject) = subject else {
            return ctx.redact(matcher, "", &self.replacement).map(drop);
        };
        for key in payload.keys("").iter().filter(|key| *key != subject) {
            ctx.redact(matcher, &member(key), &self.replacement)?;
        }
        Ok(())
    }
}

/// The RFC 6901 pointer to a member of the payload itself.
fn member(key: &str) -> String {
    format!("/{}", key.replace('~', "~0").replace('/', "~1"))
}

fn redact(subject: Option<&str>, payload: &Document, ctx: &Context) -> Result<Verdict, Failure> {
    let policy = POLICY
        .get()
        .ok_or_else(|| Failure::Failed("a hook was called before init".to_owned()))?;
    match policy.redact(subject, payload, ctx) {
        Ok(()) => Ok(Verdict::Allow),
        // What could not be redacted must not go on.
        Err(Refusal { code, message }) => Err(Failure::Failed(format!(
            "the host refused to redact ({code}): {message}"
        ))),
    }
}

struct Redactor;

impl lifecycle::Guest for Redactor {
    fn init(config: &Document) -> Result<(), Failure> {
        let policy = Policy::new(config).map_err(Failure::Failed)?;
        POLICY
            .set(policy)
            .map_err(|_| Failure::Failed("init was called twice".to_owned()))
    }
}

impl tools::Guest for Redactor {
    fn pre_invoke(_: String, payload: &Document, ctx: &Context) -> Result<Verdict, Failure> {
        redact(Some("name"), payload, ctx)
    }
    fn post_invoke(_: String, payload: &Document, ctx: &Context) -> Result<Verdict, Failure> {
        redact(Some("name"), payload, ctx)
    }
}

impl prompts::Guest for Redactor {
    fn pre_fetch(_: String, payload: &Document, ctx: &Context) -> Result<Verdict, Failure> {
        redact(Some("prompt_id"), payload, ctx)
    }
    fn post_fetch(_: String, payload: &Document, ctx: &Context) -> Result<Verdict, Failure> {
        redact(Some("prompt_id"), payload, ctx)
    }
}

impl resources::Guest for Redactor {
    fn pre_fetch(_: String, payload: &Document, ctx: &Context) -> Result<Verdict, Failure> {
        redact(Some("uri"), payload, ctx)
    }
    fn post_fetch(_: String, payload: &Document, ctx: &Context) -> Result<Verdict, Failure> {
        redact(Some("uri"), payload, ctx)
    }
}

impl agents::Guest for Redactor {
    fn pre_invoke(_: String, payload: &Document, ctx: &Context) -> Result<Verdict, Failure> {
        redact(Some("agent_id"), payload, ctx)
    }
    fn post_invoke(_: String, payload: &Document, ctx: &Context) -> Result<Verdict, Failure> {
        redact(Some("agent_id"), payload, ctx)
    }
}

impl custom::Guest for Redactor {
    fn invoke(_: String, payload: &Document, ctx: &Context) -> Result<Verdict, Failure> {
        redact(None, payload, ctx)
    }
}

bindings::export!(Redactor with_types_in bindings);

#[cfg(test)]
mod tests {
    use super::member;

    #[test]
    fn a_member_is_escaped_as_the_rfc_says() {
        for (name, key, expected) in [
            ("plain", "args", "/args"),
            ("empty", "", "/"),
            ("slash", "a/b", "/a~1b"),
            ("tilde", "a~b", "/a~0b"),
            ("tilde that looks escaped", "~1", "/~01"),
        ] {
            assert_eq!(member(key), expected, "{name}");
        }
    }
}
