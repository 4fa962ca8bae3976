//! The peer's side: a `PluginManager` with handlers registered in code.

use std::hint::black_box;
use std::sync::Arc;
use std::time::Instant;

use cpex_core::context::PluginContext;
use cpex_core::executor::PipelineResult;
use cpex_core::hooks::payload::Extensions;
use cpex_core::hooks::trait_def::{HookHandler, HookTypeDef, PluginResult};
use cpex_core::manager::{ManagerConfig, PluginManager};
use cpex_core::plugin::{Plugin, PluginConfig, PluginMode};
use serde::Deserialize;
use tokio::runtime::Runtime;

use crate::clock::Calls;
use crate::{HOOK, Start};

/// The tool call as a host of the peer would hold it.
#[derive(Debug, Clone, Deserialize)]
#[expect(dead_code, reason = "a no-op plugin reads nothing of it")]
struct ToolCall {
    name: String,
    args: serde_json_lenient::Value,
}

cpex_core::impl_plugin_payload!(ToolCall);

impl ToolCall {
    fn read(text: &str) -> Self {
        serde_json_lenient::from_str(black_box(text)).expect("the payload is a tool call")
    }
}

struct ToolPreInvoke;

impl HookTypeDef for ToolPreInvoke {
    type Payload = ToolCall;
    type Result = PluginResult<ToolCall>;
    const NAME: &'static str = HOOK;
}

/// Allows everything.
struct NoOp {
    config: PluginConfig,
}

#[async_trait::async_trait]
impl Plugin for NoOp {
    fn config(&self) -> &PluginConfig {
        &self.config
    }
}

impl HookHandler<ToolPreInvoke> for NoOp {
    async fn handle(
        &self,
        _: &ToolCall,
        _: &Extensions,
        _: &mut PluginContext,
    ) -> PluginResult<ToolCall> {
        PluginResult::allow()
    }
}

/// Calls of a manager with that many plugins.
pub fn calls<'a>(runtime: &'a Runtime, text: &'a str, plugins: usize, start: Start) -> Calls<'a> {
    let manager = manager(runtime, plugins);
    asks_all(runtime, &manager, text, plugins);
    Box::new(move |count| {
        let mut finals = Vec::with_capacity(count);
        let mut ready = Vec::new();
        if start == Start::AtHand {
            ready.extend((0..count).map(|_| ToolCall::read(text)));
        }
        let mut ready = ready.into_iter();
        runtime.block_on(async {
            let started = Instant::now();
            for _ in 0..count {
                let payload = ready.next().unwrap_or_else(|| ToolCall::read(text));
                let mut result = ask(&manager, payload).await;
                finals.push(result.modified_payload.take());
            }
            started.elapsed()
        })
    })
}

/// The peer's parse, without an engine.
pub fn reading(text: &str) -> Calls<'_> {
    Box::new(move |count| {
        let mut kept = Vec::with_capacity(count);
        let started = Instant::now();
        for _ in 0..count {
            kept.push(ToolCall::read(text));
        }
        started.elapsed()
    })
}

fn manager(runtime: &Runtime, plugins: usize) -> PluginManager {
    let manager = PluginManager::new(ManagerConfig::default());
    for number in 0..plugins {
        let config = PluginConfig {
            name: format!("no-op-{number}"),
            kind: "builtin".into(),
            hooks: vec![HOOK.into()],
            mode: PluginMode::Sequential,
            priority: 100,
            ..PluginConfig::default()
        };
        let plugin = Arc::new(NoOp {
            config: config.clone(),
        });
        manager
            .register_handler::<ToolPreInvoke, _>(plugin, config)
            .expect("the names differ");
    }
    runtime
        .block_on(manager.initialize())
        .expect("no-ops start");
    manager
}

async fn ask(manager: &PluginManager, payload: ToolCall) -> PipelineResult {
    let extensions = Extensions::default();
    let (result, background) = manager
        .invoke::<ToolPreInvoke>(payload, extensions, None)
        .await;
    assert!(background.is_empty());
    assert!(result.continue_processing);
    result
}

/// What is measured is what is meant: the manager asks every one of its plugins, each of which
/// leaves a context behind.
fn asks_all(runtime: &Runtime, manager: &PluginManager, text: &str, plugins: usize) {
    let result = runtime.block_on(ask(manager, ToolCall::read(text)));
    assert_eq!(result.context_table.len(), plugins);
}
