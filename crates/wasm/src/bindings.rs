//! The contract's types and import traits, generated from `wit/plugin.wit`.
//!
//! Exports are not generated: all hook functions have one signature, and which of them a component
//! has is found out by name (see [`crate::contract`]).

#[allow(missing_docs, clippy::all)]
mod generated {
    wasmtime::component::bindgen!({
        path: "../../wit",
        world: "imports",
        imports: { default: trappable },
        with: {
            "hookgate:plugin/call.document": crate::guest::LentDocument,
            "hookgate:plugin/call.matcher": crate::guest::CompiledMatcher,
            "hookgate:plugin/call.context": crate::guest::LentContext,
        },
    });
}

pub(crate) use generated::hookgate::plugin::{call, log, secrets, types};
