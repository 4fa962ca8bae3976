//! Calls every function of `hookgate:plugin@0.1.0` and answers in every way there is.
//!
//! Built once, for `crates/wasm/tests/data/frozen-0.1.0.wasm`; a later engine must go on to load and answer that file. The
//! source stays as it was built. Config: `{"greeting": string}`. Every hook leaves marks of what it saw, and then does what the
//! string at `/args/do` says: `edit`, `deny`, `ask`, `fail`, `unsupported`; anything else allows.
#![deny(missing_docs)]

mod bindings;
mod marks;

use std::sync::OnceLock;

use bindings::exports::hookgate::plugin::{agents, custom, lifecycle, prompts, resources, tools};
use bindings::hookgate::plugin::call::{Context, Document, Matcher, Syntax};
use bindings::hookgate::plugin::types::{
    Approval, Failure, Refusal, Risk, Span, Verdict, Violation,
};

static GREETING: OnceLock<String> = OnceLock::new();

type Answer = Result<Verdict, Failure>;

struct Frozen;

impl lifecycle::Guest for Frozen {
    fn init(config: &Document) -> Result<(), Failure> {
        let greeting = config.get_string("/greeting").unwrap_or_default();
        GREETING
            .set(greeting)
            .map_err(|_| Failure::Failed("init was called twice".to_owned()))
    }
}

#[inline(never)]
fn answer(subject: &str, payload: &Document, ctx: &Context) -> Answer {
    let greeting = GREETING.get().map_or("", String::as_str);
    marks::leave(greeting, subject, payload, ctx).map_err(refused)?;
    match payload.get_string("/args/do").as_deref() {
        Some("edit") => edit(ctx).map_err(refused).map(|()| Verdict::Allow),
        Some("deny") => Ok(Verdict::Deny(deny())),
        Some("ask") => Ok(Verdict::Ask(Approval {
            reason: "frozen asks".to_owned(),
            risk: Risk::Critical,
            details: r#"{"frozen":true}"#.to_owned(),
        })),
        Some("fail") => Err(Failure::Failed("frozen fails".to_owned())),
        Some("unsupported") => Err(Failure::Unsupported),
        _ => Ok(Verdict::Allow),
    }
}

/// One edit of each kind: of `/args/a`, `/args/b`, `/args/c` and the strings below `/args/d`.
fn edit(ctx: &Context) -> Result<(), Refusal> {
    ctx.edit_set("/args/a", r#"{"set":true}"#)?;
    ctx.edit_remove("/args/b")?;
    let span = Span {
        at: "/args/c".to_owned(),
        start: 1,
        end: 2,
    };
    ctx.edit_splice(&span, "--")?;
    let digits = Matcher::compile(&["[0-9]+".to_owned()], Syntax::Regex)?;
    let count = ctx.redact(&digits, "/args/d", "#")?;
    ctx.annotate("redacted", &marks::digit(count))
}

fn deny() -> Violation {
    Violation {
        code: "FROZEN".to_owned(),
        reason: "frozen denies".to_owned(),
        description: "as it was told to".to_owned(),
        details: r#"{"n":1.10}"#.to_owned(),
        mcp_error_code: Some(-32000),
        http_status_code: Some(451),
        http_headers: vec![("x-frozen".to_owned(), "1".to_owned())],
    }
}

fn refused(Refusal { code, message }: Refusal) -> Failure {
    Failure::Failed([code, message].join(": "))
}

impl tools::Guest for Frozen {
    fn pre_invoke(name: String, payload: &Document, ctx: &Context) -> Answer {
        answer(&name, payload, ctx)
    }
    fn post_invoke(name: String, payload: &Document, ctx: &Context) -> Answer {
        answer(&name, payload, ctx)
    }
}

impl prompts::Guest for Frozen {
    fn pre_fetch(prompt_id: String, payload: &Document, ctx: &Context) -> Answer {
        answer(&prompt_id, payload, ctx)
    }
    fn post_fetch(prompt_id: String, payload: &Document, ctx: &Context) -> Answer {
        answer(&prompt_id, payload, ctx)
    }
}

impl resources::Guest for Frozen {
    fn pre_fetch(uri: String, payload: &Document, ctx: &Context) -> Answer {
        answer(&uri, payload, ctx)
    }
    fn post_fetch(uri: String, payload: &Document, ctx: &Context) -> Answer {
        answer(&uri, payload, ctx)
    }
}

impl agents::Guest for Frozen {
    fn pre_invoke(agent_id: String, payload: &Document, ctx: &Context) -> Answer {
        answer(&agent_id, payload, ctx)
    }
    fn post_invoke(agent_id: String, payload: &Document, ctx: &Context) -> Answer {
        answer(&agent_id, payload, ctx)
    }
}

impl custom::Guest for Frozen {
    fn invoke(hook: String, payload: &Document, ctx: &Context) -> Answer {
        answer(&hook, payload, ctx)
    }
}

bindings::export!(Frozen with_types_in bindings);
