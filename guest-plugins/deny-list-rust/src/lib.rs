//! Refuses a call when any string value of its payload holds a listed word.
//!
//! The search runs on the host: `init` compiles the words once, each hook asks the payload where they occur.
//! No payload text is copied into the component.
#![deny(missing_docs)]

mod bindings;
mod config;
mod json;

use std::sync::OnceLock;

use bindings::exports::hookgate::plugin::{agents, custom, lifecycle, prompts, resources, tools};
use bindings::hookgate::plugin::call::{Context, Document, Matcher, Syntax};
use bindings::hookgate::plugin::types::{Failure, Verdict, Violation};
use config::Config;

struct Policy {
    words: Vec<String>,
    /// `None` for an empty list: there is nothing to compile, and nothing to find.
    matcher: Option<Matcher>,
}

/// Set by `init`, which the engine calls once, before any hook of the instance.
static POLICY: OnceLock<Policy> = OnceLock::new();

impl Policy {
    fn new(config: &Document) -> Result<Self, String> {
        let Config {
            words,
            ignore_ascii_case,
        } = Config::read(config)?;
        let syntax = if ignore_ascii_case {
            Syntax::LiteralIgnoreCase
        } else {
            Syntax::Literal
        };
        let matcher = match words.as_slice() {
            [] => None,
            words => Some(
                Matcher::compile(words, syntax)
                    .map_err(|refusal| format!("config `words`: {}", refusal.message))?,
            ),
        };
        Ok(Self { words, matcher })
    }

    /// The first string that holds a word decides; `find` answers in document order, leftmost first.
    fn check(&self, payload: &Document) -> Verdict {
        let hit = self
            .matcher
            .as_ref()
            .and_then(|matcher| payload.find(matcher, "", 1).hits.into_iter().next());
        match hit {
            None => Verdict::Allow,
            Some(hit) => Verdict::Deny(violation(&self.words[hit.pattern as usize], &hit.span.at)),
        }
    }
}

fn violation(word: &str, at: &str) -> Violation {
    Violation {
        code: "DENY_WORD".to_owned(),
        reason: "denied word".to_owned(),
        description: format!("'{word}' at {at}"),
        details: format!(
            r#"{{"word":{},"at":{}}}"#,
            json::quote(word),
            json::quote(at)
        ),
        mcp_error_code: None,
        http_status_code: None,
        http_headers: Vec::new(),
    }
}

fn check(payload: &Document) -> Result<Verdict, Failure> {
    let policy = POLICY
        .get()
        .ok_or_else(|| Failure::Failed("a hook was called before init".to_owned()))?;
    Ok(policy.check(payload))
}

struct DenyList;

impl lifecycle::Guest for DenyList {
    fn init(config: &Document) -> Result<(), Failure> {
        let policy = Policy::new(config).map_err(Failure::Failed)?;
        POLICY
            .set(policy)
            .map_err(|_| Failure::Failed("init was called twice".to_owned()))
    }
}

impl tools::Guest for DenyList {
    fn pre_invoke(_: String, payload: &Document, _: &Context) -> Result<Verdict, Failure> {
        check(payload)
    }
    fn post_invoke(_: String, payload: &Document, _: &Context) -> Result<Verdict, Failure> {
        check(payload)
    }
}

impl prompts::Guest for DenyList {
    fn pre_fetch(_: String, payload: &Document, _: &Context) -> Result<Verdict, Failure> {
        check(payload)
    }
    fn post_fetch(_: String, payload: &Document, _: &Context) -> Result<Verdict, Failure> {
        check(payload)
    }
}

impl resources::Guest for DenyList {
    fn pre_fetch(_: String, payload: &Document, _: &Context) -> Result<Verdict, Failure> {
        check(payload)
    }
    fn post_fetch(_: String, payload: &Document, _: &Context) -> Result<Verdict, Failure> {
        check(payload)
    }
}

impl agents::Guest for DenyList {
    fn pre_invoke(_: String, payload: &Document, _: &Context) -> Result<Verdict, Failure> {
        check(payload)
    }
    fn post_invoke(_: String, payload: &Document, _: &Context) -> Result<Verdict, Failure> {
        check(payload)
    }
}

impl custom::Guest for DenyList {
    fn invoke(_: String, payload: &Document, _: &Context) -> Result<Verdict, Failure> {
        check(payload)
    }
}

bindings::export!(DenyList with_types_in bindings);
