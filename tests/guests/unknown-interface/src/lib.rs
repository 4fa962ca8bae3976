//! Exports `hookgate:plugin/gadgets` besides the tool hooks; no host knows it, so each refuses the load.
#![deny(missing_docs)]

mod bindings;

use bindings::exports::hookgate::plugin::{gadgets, lifecycle, tools};
use bindings::hookgate::plugin::call::{Context, Document};
use bindings::hookgate::plugin::types::{Failure, Verdict};

struct UnknownInterface;

impl lifecycle::Guest for UnknownInterface {
    fn init(_: &Document) -> Result<(), Failure> {
        Ok(())
    }
}

impl tools::Guest for UnknownInterface {
    fn pre_invoke(_: String, _: &Document, _: &Context) -> Result<Verdict, Failure> {
        Ok(Verdict::Allow)
    }
    fn post_invoke(_: String, _: &Document, _: &Context) -> Result<Verdict, Failure> {
        Ok(Verdict::Allow)
    }
}

impl gadgets::Guest for UnknownInterface {
    fn pre_invoke(_: String, _: &Document, _: &Context) -> Result<Verdict, Failure> {
        Ok(Verdict::Allow)
    }
}

bindings::export!(UnknownInterface with_types_in bindings);
