//! An in-process plugin that does nothing, which leaves the engine's own cost.

use futures::future::BoxFuture;
use hookgate::{Answer, Fault, HookCall, Plugin, PluginInfo};

/// Allows everything.
pub struct Probe;

impl Plugin for Probe {
    fn describe(&self) -> PluginInfo {
        PluginInfo {
            kind: "in-process",
            hooks: vec!["tool_pre_invoke".into()],
            ..PluginInfo::default()
        }
    }

    fn call(&self, call: HookCall) -> BoxFuture<'_, Result<Answer, Fault>> {
        Box::pin(async move { Ok(call.draft().allow()) })
    }
}
