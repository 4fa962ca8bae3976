//! Hookgate in thirty lines: a plugin of this program beside those of a configuration file.
//!
//! `cargo run -p hookgate --example embed [hookgate.yaml]`

use std::path::Path;
use std::sync::Arc;

use futures::future::BoxFuture;
use hookgate::config::Config;
use hookgate::{Answer, Fault, HookCall, Outcome, Plugin, PluginInfo, Request, Violation};

/// Lets tools run only if their name says that they read.
struct ReadOnly;

impl Plugin for ReadOnly {
    fn describe(&self) -> PluginInfo {
        let hooks = vec!["tool_pre_invoke".into()];
        PluginInfo {
            kind: "in-process",
            hooks,
            ..PluginInfo::default()
        }
    }

    fn call(&self, call: HookCall) -> BoxFuture<'_, Result<Answer, Fault>> {
        let reads = call
            .subject
            .as_deref()
            .is_some_and(|tool| tool.starts_with("get_"));
        let violation = Violation::new("READ_ONLY", "this tool may change something");
        let draft = call.draft();
        Box::pin(async move {
            Ok(if reads {
                draft.allow()
            } else {
                draft.deny(violation)
            })
        })
    }
}

/// What an engine with `file` and [`ReadOnly`] makes of a payload.
pub async fn ask(
    file: Option<&Path>,
    payload: &str,
) -> Result<Outcome, Box<dyn std::error::Error>> {
    let config = file.map_or_else(|| Ok(Config::default()), Config::load)?;
    let engine = hookgate::engine(config)?
        .plugin("read-only", Arc::new(ReadOnly))
        .build()
        .await?;
    let outcome = engine
        .invoke("tool_pre_invoke", payload, &Request::default())
        .await?;
    engine.shutdown().await;
    Ok(outcome)
}

#[tokio::main]
#[allow(dead_code, reason = "the test of this example calls `ask`")]
async fn main() -> Result<(), Box<dyn std::error::Error>> {
    let file = std::env::args_os().nth(1);
    let payload = r#"{"name": "drop_table", "args": {"table": "users"}}"#;
    let outcome = ask(file.as_deref().map(Path::new), payload).await?;
    println!("{}", serde_json::to_string_pretty(&outcome)?);
    Ok(())
}
