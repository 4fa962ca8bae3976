//! Hookgate in thirty lines: a plugin of this program beside those of a configuration file.
//!
//! `cargo run -p hookgate --example embed [hookgate.yaml]`

use std::{error::Error, sync::Arc};

use futures::future::BoxFuture;
use hookgate::config::Config;
use hookgate::{Answer, Fault, HookCall, Outcome, Plugin, PluginInfo, Request, Violation};

/// Lets tools run only if their name says that they read.
struct ReadOnly;

impl Plugin for ReadOnly {
    fn describe(&self) -> PluginInfo {
        PluginInfo::in_process(["tool_pre_invoke"])
    }

    fn call(&self, call: HookCall) -> BoxFuture<'_, Result<Answer, Fault>> {
        Box::pin(async move {
            match call.subject.as_deref() {
                Some(tool) if tool.starts_with("get_") => Ok(call.draft().allow()),
                _ => Ok(call
                    .draft()
                    .deny(Violation::new("READ_ONLY", "it may change something"))),
            }
        })
    }
}

/// What an engine with the plugins of `config` and [`ReadOnly`] makes of a payload.
pub async fn ask(config: Config, payload: &str) -> Result<Outcome, Box<dyn Error>> {
    let builder = hookgate::engine(config)?.plugin("read-only", Arc::new(ReadOnly));
    let engine = builder.build().await?;
    Ok(engine
        .invoke("tool_pre_invoke", payload, &Request::default())
        .await?)
}

#[tokio::main]
#[allow(dead_code, reason = "the test of this example calls `ask`")]
async fn main() -> Result<(), Box<dyn Error>> {
    let file = std::env::args_os().nth(1);
    let config = file.map_or_else(|| Ok(Config::default()), |file| Config::load(file.as_ref()))?;
    let outcome = ask(
        config,
        r#"{"name": "drop_table", "args": {"table": "users"}}"#,
    )
    .await?;
    println!("{}", serde_json::to_string_pretty(&outcome)?);
    Ok(())
}
