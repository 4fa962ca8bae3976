//! A component that reaches outside on demand, for tests of grants.
//!
//! A `tool_pre_invoke` call does what the string at `/args/do` says, with the other strings of `/args`; the
//! modules list the words. `init` does what `/init/do` of the config says, and each call tells what came of
//! it. Marks: `result` and `init`, JSON objects; a failed attempt has a member `error`.
#![deny(missing_docs)]

mod bindings;
mod exhaust;
mod files;
mod http;
mod secrets;
mod sockets;

use std::sync::OnceLock;

use bindings::exports::hookgate::plugin::{lifecycle, tools};
use bindings::hookgate::plugin::call::{Context, Document};
use bindings::hookgate::plugin::types::{Failure, Refusal, Verdict};
use serde_json::{Value, json};

struct NetClient;

/// What came of what `init` was told to do.
static INIT: OnceLock<Value> = OnceLock::new();

/// Where a word and its arguments are.
struct Order<'d> {
    document: &'d Document,
    at: &'static str,
}

impl Order<'_> {
    fn text(&self, name: &str) -> Option<String> {
        self.document.get_string(&format!("{}/{name}", self.at))
    }

    fn need(&self, name: &str) -> String {
        self.text(name)
            .unwrap_or_else(|| panic!("no string at {}/{name}", self.at))
    }

    fn number(&self, name: &str) -> Option<u64> {
        self.text(name)
            .map(|text| text.parse().expect("a number, as a string"))
    }

    fn run(&self) -> Result<Value, Failure> {
        let Some(word) = self.text("do") else {
            return Ok(json!({}));
        };
        None.or_else(|| sockets::answer(&word, self))
            .or_else(|| http::answer(&word, self))
            .or_else(|| files::answer(&word, self))
            .or_else(|| secrets::answer(&word, self))
            .or_else(|| exhaust::answer(&word, self))
            .unwrap_or_else(|| Err(Failure::Failed(format!("no such word: {word}"))))
    }
}

/// What a word led to: `None` means the module does not know it.
type Answer = Option<Result<Value, Failure>>;

impl lifecycle::Guest for NetClient {
    fn init(config: &Document) -> Result<(), Failure> {
        let order = Order {
            document: config,
            at: "/init",
        };
        let result = order.run()?;
        INIT.set(result)
            .map_err(|_| Failure::Failed("init ran twice".to_owned()))
    }
}

impl tools::Guest for NetClient {
    fn pre_invoke(_: String, payload: &Document, ctx: &Context) -> Result<Verdict, Failure> {
        let order = Order {
            document: payload,
            at: "/args",
        };
        let result = order.run()?;
        let init = INIT.get().cloned().unwrap_or_default();
        for (key, value) in [("result", result), ("init", init)] {
            ctx.annotate(key, &value.to_string()).map_err(refused)?;
        }
        Ok(Verdict::Allow)
    }

    fn post_invoke(_: String, _: &Document, _: &Context) -> Result<Verdict, Failure> {
        Ok(Verdict::Allow)
    }
}

fn refused(Refusal { code, message }: Refusal) -> Failure {
    Failure::Failed(format!("refused ({code}): {message}"))
}

/// The outcome of something that may fail.
fn outcome(result: std::io::Result<Value>) -> Value {
    result.unwrap_or_else(
        |error| json!({ "error": error.to_string(), "kind": format!("{:?}", error.kind()) }),
    )
}

bindings::export!(NetClient with_types_in bindings);
