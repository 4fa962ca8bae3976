//! Does what its config lists, step by step, so that one set of tests can drive every kind of plugin.
//!
//! Config: `{"hooks": {"<hook name>": [{"op": ...}, ...]}}`. The ops listed for a hook run in order; the end of the list allows.
//! The same policy exists as `script-python` and `script-legacy`.
#![deny(missing_docs)]

mod bindings;
mod op;
mod run;
mod slots;

use std::collections::BTreeMap;
use std::sync::OnceLock;

use bindings::exports::hookgate::plugin::{agents, custom, lifecycle, prompts, resources, tools};
use bindings::hookgate::plugin::call::{Context, Document};
use bindings::hookgate::plugin::types::{Failure, Verdict};
use op::Op;

/// Ops by hook. Set by `init`, which the engine calls once, before any hook of the instance.
static SCRIPT: OnceLock<BTreeMap<String, Vec<Op>>> = OnceLock::new();

fn run(payload: &Document, ctx: &Context) -> Result<Verdict, Failure> {
    let script = SCRIPT
        .get()
        .ok_or_else(|| Failure::Failed("a hook was called before init".to_owned()))?;
    match script.get(&ctx.hook()) {
        None => Ok(Verdict::Allow),
        Some(ops) => run::run(ops, payload, ctx),
    }
}

struct Script;

impl lifecycle::Guest for Script {
    fn init(config: &Document) -> Result<(), Failure> {
        let script = op::read(config).map_err(Failure::Failed)?;
        SCRIPT
            .set(script)
            .map_err(|_| Failure::Failed("init was called twice".to_owned()))
    }
}

impl tools::Guest for Script {
    fn pre_invoke(_: String, payload: &Document, ctx: &Context) -> Result<Verdict, Failure> {
        run(payload, ctx)
    }
    fn post_invoke(_: String, payload: &Document, ctx: &Context) -> Result<Verdict, Failure> {
        run(payload, ctx)
    }
}

impl prompts::Guest for Script {
    fn pre_fetch(_: String, payload: &Document, ctx: &Context) -> Result<Verdict, Failure> {
        run(payload, ctx)
    }
    fn post_fetch(_: String, payload: &Document, ctx: &Context) -> Result<Verdict, Failure> {
        run(payload, ctx)
    }
}

impl resources::Guest for Script {
    fn pre_fetch(_: String, payload: &Document, ctx: &Context) -> Result<Verdict, Failure> {
        run(payload, ctx)
    }
    fn post_fetch(_: String, payload: &Document, ctx: &Context) -> Result<Verdict, Failure> {
        run(payload, ctx)
    }
}

impl agents::Guest for Script {
    fn pre_invoke(_: String, payload: &Document, ctx: &Context) -> Result<Verdict, Failure> {
        run(payload, ctx)
    }
    fn post_invoke(_: String, payload: &Document, ctx: &Context) -> Result<Verdict, Failure> {
        run(payload, ctx)
    }
}

impl custom::Guest for Script {
    fn invoke(_: String, payload: &Document, ctx: &Context) -> Result<Verdict, Failure> {
        run(payload, ctx)
    }
}

bindings::export!(Script with_types_in bindings);
