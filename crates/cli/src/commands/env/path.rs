//! `hookgate env path`.

use anyhow::{anyhow, bail};
use clap::Args;
use hookgate::config::{Config, PluginKind, PluginSpec};
use hookgate::{EnvironmentVerdict, PythonHost};
use serde::Serialize;

use super::options;
use crate::arguments::{ConfigArgument, Format};
use crate::commands::Status;
use crate::commands::call::print;
use crate::setup::SetupError;
use crate::terminal::Terminal;
use crate::units::shown;

/// Arguments of `hookgate env path`.
#[derive(Debug, Args)]
pub struct PathArguments {
    /// The name of an entry.
    #[arg(value_name = "PLUGIN")]
    plugin: String,
    #[command(flatten)]
    config: ConfigArgument,
}

/// What `--format json` prints.
#[derive(Serialize)]
struct Report<'a> {
    plugin: &'a str,
    verdict: &'static str,
    /// None if there is none that the entry can use as it is.
    path: Option<String>,
    python: Option<&'a str>,
}

/// Prints where the environment of a plugin lies, and nothing if there is none.
pub async fn path(
    arguments: PathArguments,
    format: Format,
    terminal: &Terminal,
) -> anyhow::Result<Status> {
    let config = arguments.config.read()?;
    let spec = find(&config, &arguments.plugin)?;
    let host = PythonHost::new(options(true, terminal)?);
    let verdict = host.judge(spec).await.map_err(SetupError::Host)?;
    let found = match &verdict {
        EnvironmentVerdict::Valid(environment) => Some(environment),
        _ => None,
    };
    match (format, found) {
        (Format::Json, _) => print(&serde_json::to_string_pretty(&Report {
            plugin: &spec.name,
            verdict: verdict.as_str(),
            path: found.map(|found| found.path.display().to_string()),
            python: found.map(|found| found.python.as_str()),
        })?)?,
        (Format::Text, Some(found)) => print(&found.path.display().to_string())?,
        (Format::Text, None) => terminal.say(&format!(
            "error: no environment of {}: {verdict}\n  hint: hookgate env build --config {}",
            shown(&spec.name),
            arguments.config.config.display()
        )),
    }
    Ok(if found.is_some() {
        Status::Done
    } else {
        Status::Failed
    })
}

fn find<'a>(config: &'a Config, name: &str) -> anyhow::Result<&'a PluginSpec> {
    let is_python = |spec: &&PluginSpec| matches!(spec.kind, PluginKind::Python { .. });
    match config.plugins.iter().find(|spec| spec.name == name) {
        Some(spec) if is_python(&spec) => Ok(spec),
        Some(spec) => bail!(
            "not a Python plugin: {}, it is {}",
            shown(name),
            shown(spec.kind.name())
        ),
        None => {
            let names = config.plugins.iter().filter(is_python);
            let names: Vec<String> = names.map(|spec| shown(&spec.name)).collect();
            let hint = match names.is_empty() {
                true => "the configuration has no Python plugins".to_owned(),
                false => format!("Python plugins: {}", names.join(", ")),
            };
            Err(anyhow!(
                "no plugin of this name: {}\n  hint: {hint}",
                shown(name)
            ))
        }
    }
}
