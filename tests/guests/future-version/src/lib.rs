//! Built for `hookgate:plugin@0.2.0`; a host of 0.1 refuses it at load.
#![deny(missing_docs)]

mod bindings;

use bindings::exports::hookgate::plugin::{lifecycle, tools};
use bindings::hookgate::plugin::call::{Context, Document};
use bindings::hookgate::plugin::types::{Failure, Verdict};

struct FutureVersion;

impl lifecycle::Guest for FutureVersion {
    fn init(_: &Document) -> Result<(), Failure> {
        Ok(())
    }
}

impl tools::Guest for FutureVersion {
    fn pre_invoke(_: String, _: &Document, _: &Context) -> Result<Verdict, Failure> {
        Ok(Verdict::Allow)
    }
    fn post_invoke(_: String, _: &Document, _: &Context) -> Result<Verdict, Failure> {
        Ok(Verdict::Allow)
    }
}

bindings::export!(FutureVersion with_types_in bindings);
