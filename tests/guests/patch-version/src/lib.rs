//! Built for `hookgate:plugin@0.1.7`; a host of 0.1.0 accepts it, and it allows every call.
#![deny(missing_docs)]

mod bindings;

use bindings::exports::hookgate::plugin::{lifecycle, tools};
use bindings::hookgate::plugin::call::{Context, Document};
use bindings::hookgate::plugin::types::{Failure, Verdict};

struct PatchVersion;

impl lifecycle::Guest for PatchVersion {
    fn init(_: &Document) -> Result<(), Failure> {
        Ok(())
    }
}

impl tools::Guest for PatchVersion {
    fn pre_invoke(_: String, _: &Document, _: &Context) -> Result<Verdict, Failure> {
        Ok(Verdict::Allow)
    }
    fn post_invoke(_: String, _: &Document, _: &Context) -> Result<Verdict, Failure> {
        Ok(Verdict::Allow)
    }
}

bindings::export!(PatchVersion with_types_in bindings);
