//! `hookgate check`: what a configuration does, or everything that is wrong with it.

use std::io::{self, Write as _};
use std::path::{Path, PathBuf};

use clap::Args;
use hookgate::config::Config;
use hookgate::config::defaults::{DefaultRow, defaults_table};
use serde::Serialize;

use super::Status;
use crate::arguments::{DEFAULT_CONFIG, Format, OfflineArgument, ShapeArgument};
use crate::problems::{self, Entry};
use crate::setup::{self, SetupError};
use crate::table::Table;
use crate::terminal::Terminal;
use crate::units::failed;

mod plugin;

use plugin::PluginReport;

/// Arguments of `hookgate check`.
#[derive(Debug, Args)]
pub struct CheckArguments {
    /// The configuration file [default: hookgate.yaml].
    #[arg(value_name = "FILE", conflicts_with = "config")]
    file: Option<PathBuf>,
    /// The same, as other commands take it.
    #[arg(long, value_name = "FILE")]
    config: Option<PathBuf>,
    /// Print the value of everything a configuration may leave out, and load nothing.
    #[arg(long)]
    defaults: bool,
    #[command(flatten)]
    shape: ShapeArgument,
    #[command(flatten)]
    offline: OfflineArgument,
}

/// Everything `--format json` prints.
#[derive(Serialize)]
struct Report<'a> {
    file: String,
    ok: bool,
    problems: Vec<Entry<'a>>,
    notes: Vec<Entry<'a>>,
    plugins: Vec<PluginReport>,
}

/// Loads everything and says what is there.
pub async fn check(
    arguments: CheckArguments,
    format: Format,
    terminal: &Terminal,
) -> anyhow::Result<Status> {
    if arguments.defaults {
        print(&defaults(&defaults_table(), format)?)?;
        return Ok(Status::Done);
    }
    let file = arguments
        .file
        .or(arguments.config)
        .unwrap_or_else(|| DEFAULT_CONFIG.into());
    let config = match setup::config(&file, arguments.shape) {
        Ok(config) => config,
        Err(error) => return refuse(&file, None, &error, format, terminal),
    };
    let offline = arguments.offline.offline;
    let engine = match setup::engine(config.clone(), None, offline, terminal).await {
        Ok(engine) => engine,
        Err(error) => return refuse(&file, Some(&config), &error, format, terminal),
    };
    let plugins = plugin::reports(&config, &engine.plugins(), &engine.skipped());
    engine.shutdown().await;
    match format {
        Format::Json => {
            let notes = config
                .report
                .notes
                .iter()
                .map(problems::config_entry)
                .collect();
            let file = file.display().to_string();
            print(&json(&Report {
                file,
                ok: true,
                problems: Vec::new(),
                notes,
                plugins,
            })?)?;
        }
        Format::Text => {
            let notes = problems::notes(&config.report, false);
            print(&format!(
                "{}\n{notes}{}",
                plugin::text(&plugins),
                conclusion(&file, &plugins)
            ))?;
        }
    }
    Ok(Status::Done)
}

fn refuse(
    file: &Path,
    config: Option<&Config>,
    error: &SetupError,
    format: Format,
    terminal: &Terminal,
) -> anyhow::Result<Status> {
    let reported = match error {
        SetupError::Config(report) => Some(report),
        _ => config.map(|config| &config.report),
    };
    match format {
        Format::Json => {
            let notes = reported
                .iter()
                .flat_map(|report| &report.notes)
                .map(problems::config_entry)
                .collect();
            let problems = problems::entries(error);
            let file = file.display().to_string();
            print(&json(&Report {
                file,
                ok: false,
                problems,
                notes,
                plugins: Vec::new(),
            })?)?;
        }
        Format::Text => {
            if let Some(config) = config {
                let notes = problems::notes(&config.report, terminal.colour_stderr());
                if !notes.is_empty() {
                    terminal.say(notes.trim_end());
                }
            }
            terminal.say(&problems::text(error, terminal.colour_stderr()));
        }
    }
    Ok(Status::Failed)
}

fn conclusion(file: &Path, plugins: &[PluginReport]) -> String {
    let (file, loaded) = (
        file.display(),
        plugins
            .iter()
            .filter(|plugin| plugin.loaded.is_some())
            .count(),
    );
    let left_out = plugins
        .iter()
        .filter(|plugin| plugin.left_out.is_some())
        .count();
    let disabled = match plugins.len() - loaded - left_out {
        0 => String::new(),
        disabled => format!(", {disabled} disabled"),
    };
    let left_out = match left_out {
        0 => String::new(),
        left_out => format!(", {left_out} left out"),
    };
    format!(
        "{file}: {loaded} {} loaded{disabled}{left_out}\n",
        if loaded == 1 { "plugin" } else { "plugins" }
    )
}

fn defaults(rows: &[DefaultRow], format: Format) -> anyhow::Result<String> {
    if format == Format::Json {
        return json(&rows);
    }
    let mut table = Table::new(&["default", "wasm", "python", "in-process"]);
    for row in rows {
        table.row(vec![
            row.what.to_owned(),
            row.wasm.clone(),
            row.python.clone(),
            row.in_process.clone(),
        ]);
    }
    Ok(table.lines().join("\n") + "\n")
}

fn json(value: &impl Serialize) -> anyhow::Result<String> {
    Ok(serde_json::to_string_pretty(value)? + "\n")
}

fn print(text: &str) -> anyhow::Result<()> {
    io::stdout()
        .write_all(text.as_bytes())
        .map_err(|error| failed("cannot write to stdout", &error))
}
