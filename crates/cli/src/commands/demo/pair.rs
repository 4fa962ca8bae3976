//! The same policy twice, as a component and as a Python class, asked about one payload.

use hookgate::config::{Config, Mode};
use hookgate::{Outcome, Request};
use serde::Serialize;

use crate::setup;
use crate::terminal::Terminal;

/// What both are asked.
const HOOK: &str = "tool_pre_invoke";
const PAYLOAD: &str = r#"{"name": "shell", "args": {"command": "sudo reboot", "retries": 1.10}}"#;

/// The question and both answers.
#[derive(Debug, Serialize)]
pub struct Pair {
    /// The hook.
    pub hook: &'static str,
    /// The payload.
    pub payload: &'static str,
    /// One answer a plugin.
    pub answers: Vec<PairAnswer>,
}

/// One plugin's answer, it being alone.
#[derive(Debug, Serialize)]
pub struct PairAnswer {
    /// Its host.
    pub host: String,
    /// What runs: a file or a class.
    pub code: String,
    /// What came of it.
    pub outcome: Outcome,
}

/// Asks each plugin of `config` in an engine of its own: in one engine the first denial ends the call.
pub async fn ask(config: Config, terminal: &Terminal) -> anyhow::Result<Pair> {
    let mut answers = Vec::new();
    for index in 0..config.plugins.len() {
        let spec = &config.plugins[index];
        if spec.mode == Mode::Disabled {
            continue;
        }
        let (host, code) = (spec.kind.name().to_owned(), code(&spec.kind));
        let mut alone = config.clone();
        alone.plugins = vec![spec.clone()];
        let engine = setup::engine(alone, None, false, terminal).await?;
        let outcome = engine.invoke(HOOK, PAYLOAD, &Request::default()).await;
        engine.shutdown().await;
        answers.push(PairAnswer {
            host,
            code,
            outcome: outcome?,
        });
    }
    Ok(Pair {
        hook: HOOK,
        payload: PAYLOAD,
        answers,
    })
}

fn code(kind: &hookgate::config::PluginKind) -> String {
    match kind {
        hookgate::config::PluginKind::Wasm { component } => component
            .file_name()
            .unwrap_or_default()
            .to_string_lossy()
            .into_owned(),
        hookgate::config::PluginKind::Python { class, .. } => class.clone(),
        other => other.name().to_owned(),
    }
}

impl Pair {
    /// Whether all say the same about the call; who says it may differ in name only.
    pub fn agrees(&self) -> bool {
        let answers: Vec<_> = self
            .answers
            .iter()
            .map(|answer| said(&answer.outcome))
            .collect();
        answers.len() > 1 && answers.windows(2).all(|two| two[0] == two[1])
    }
}

fn said(outcome: &Outcome) -> serde_json::Value {
    let violation = outcome.violation.as_ref().map(|violation| {
        let details = violation.details.to_value();
        serde_json::json!([
            violation.code,
            violation.reason,
            violation.description,
            details
        ])
    });
    let payload = outcome.payload.as_ref().map(|payload| payload.as_str());
    serde_json::json!([
        outcome.decision,
        outcome.modified,
        payload,
        violation,
        outcome.faults.len()
    ])
}
