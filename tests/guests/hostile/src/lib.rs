//! A component that misbehaves on demand, for tests of limits, grants and refusals.
//!
//! `init` does what config `init` says: `ok` (also when absent), `loop`, `trap`, `fail` or `exit`. A `tool_pre_invoke` call does what
//! the string at `/args/do` says; the modules list the words. Any other word, none, and `tool_post_invoke`: allow.
#![deny(missing_docs)]

mod answers;
mod bindings;
mod context;
mod exhaust;
mod files;
mod leave;
mod misfit;
mod outside;
mod remember;

use bindings::exports::hookgate::plugin::{lifecycle, tools};
use bindings::hookgate::plugin::call::{Context, Document};
use bindings::hookgate::plugin::types::{Failure, Refusal, Verdict};

/// What a word led to: `None` means the module does not know it.
type Answer = Option<Result<Verdict, Failure>>;

struct Hostile;

impl lifecycle::Guest for Hostile {
    fn init(config: &Document) -> Result<(), Failure> {
        match config.get_string("/init").as_deref() {
            None | Some("ok") => Ok(()),
            Some("loop") => exhaust::spin(),
            Some("trap") => exhaust::trap(),
            Some("fail") => Err(Failure::Failed("init was told to fail".to_owned())),
            Some("exit") => std::process::exit(3),
            Some(other) => Err(Failure::Failed(format!(
                "config `init` is unknown: {other}"
            ))),
        }
    }
}

impl tools::Guest for Hostile {
    fn pre_invoke(_: String, payload: &Document, ctx: &Context) -> Result<Verdict, Failure> {
        let Some(word) = payload.get_string("/args/do") else {
            return Ok(Verdict::Allow);
        };
        None.or_else(|| exhaust::answer(&word))
            .or_else(|| outside::answer(&word, payload, ctx))
            .or_else(|| files::answer(&word, payload, ctx))
            .or_else(|| leave::answer(&word, payload, ctx))
            .or_else(|| misfit::answer(&word, payload, ctx))
            .or_else(|| context::answer(&word, payload, ctx))
            .or_else(|| remember::answer(&word, payload, ctx))
            .or_else(|| answers::answer(&word, ctx))
            .unwrap_or(Ok(Verdict::Allow))
    }

    fn post_invoke(_: String, _: &Document, _: &Context) -> Result<Verdict, Failure> {
        Ok(Verdict::Allow)
    }
}

/// Leaves a mark for the test to look at, and allows.
fn annotate(ctx: &Context, key: &str, value: &serde_json::Value) -> Result<Verdict, Failure> {
    ctx.annotate(key, &value.to_string()).map_err(refused)?;
    Ok(Verdict::Allow)
}

fn refused(Refusal { code, message }: Refusal) -> Failure {
    Failure::Failed(format!("refused ({code}): {message}"))
}

bindings::export!(Hostile with_types_in bindings);
