//! Exports the tool hooks and no others, and allows every call.
#![deny(missing_docs)]

mod bindings;

use bindings::exports::hookgate::plugin::{lifecycle, tools};
use bindings::hookgate::plugin::call::{Context, Document};
use bindings::hookgate::plugin::types::{Failure, Verdict};

struct ToolsOnly;

impl lifecycle::Guest for ToolsOnly {
    fn init(_: &Document) -> Result<(), Failure> {
        Ok(())
    }
}

impl tools::Guest for ToolsOnly {
    fn pre_invoke(_: String, _: &Document, _: &Context) -> Result<Verdict, Failure> {
        Ok(Verdict::Allow)
    }
    fn post_invoke(_: String, _: &Document, _: &Context) -> Result<Verdict, Failure> {
        Ok(Verdict::Allow)
    }
}

bindings::export!(ToolsOnly with_types_in bindings);
