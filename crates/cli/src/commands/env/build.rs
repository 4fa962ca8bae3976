//! `hookgate env build`.

use std::fmt::Write as _;

use clap::Args;
use futures::future::join_all;
use hookgate::config::{Mode, PluginKind, PluginSpec};
use hookgate::{LoadError, Prepared, PythonHost};
use serde::Serialize;

use super::options;
use crate::arguments::{ConfigArgument, Format, OfflineArgument};
use crate::commands::Status;
use crate::commands::call::print;
use crate::problems::{Entry, explain, load_entry};
use crate::table::Table;
use crate::terminal::Terminal;
use crate::units::shown;

/// Arguments of `hookgate env build`.
#[derive(Debug, Args)]
pub struct BuildArguments {
    #[command(flatten)]
    config: ConfigArgument,
    #[command(flatten)]
    offline: OfflineArgument,
}

/// Everything `--format json` prints.
#[derive(Serialize)]
struct Report<'a> {
    ok: bool,
    /// The store.
    folder: String,
    environments: Vec<Row<'a>>,
    problems: Vec<Entry<'a>>,
}

/// An entry whose environment is there.
#[derive(Serialize)]
struct Row<'a> {
    plugin: &'a str,
    path: String,
    python: &'a str,
    /// What was found before.
    verdict: &'static str,
    built: bool,
    notes: &'a [String],
}

type Built<'a> = (&'a PluginSpec, Result<Prepared, LoadError>);

/// Builds what is not there; problems are told after all of them.
pub async fn build(
    arguments: BuildArguments,
    format: Format,
    terminal: &Terminal,
) -> anyhow::Result<Status> {
    let config = arguments.config.read()?;
    let source = arguments.config.config.display().to_string();
    let options = options(arguments.offline.offline, terminal)?;
    let folder = options.store.display().to_string();
    let host = PythonHost::new(options);
    let specs = config.plugins.iter().filter(|spec| {
        spec.mode != Mode::Disabled && matches!(spec.kind, PluginKind::Python { .. })
    });
    // Entries that need the same wait for one build; the others do not wait for them.
    let host = &host;
    let builds = specs.map(|spec| async move { (spec, host.prepare(spec).await) });
    let results: Vec<Built<'_>> = join_all(builds).await;
    terminal.clear();
    let ok = results.iter().all(|(_, result)| result.is_ok());
    match format {
        Format::Json => print(&json(&source, folder, &results, ok)?)?,
        Format::Text => {
            // The table stands before what is wrong with its rows.
            print(&table(&source, &folder, &results))?;
            for (spec, result) in &results {
                if let Err(error) = result {
                    terminal.say(&complaint(&source, spec, error));
                }
            }
        }
    }
    Ok(if ok { Status::Done } else { Status::Failed })
}

fn json(source: &str, folder: String, results: &[Built<'_>], ok: bool) -> anyhow::Result<String> {
    let mut environments = Vec::new();
    let mut problems = Vec::new();
    for (spec, result) in results {
        match result {
            Ok(prepared) => environments.push(Row {
                plugin: &spec.name,
                path: prepared.environment.path.display().to_string(),
                python: &prepared.environment.python,
                verdict: prepared.verdict.as_str(),
                built: prepared.built,
                notes: &prepared.notes,
            }),
            Err(error) => {
                problems.push(load_entry(source, Some(spec.line), Some(&spec.name), error));
            }
        }
    }
    let report = Report {
        ok,
        folder,
        environments,
        problems,
    };
    Ok(serde_json::to_string_pretty(&report)?)
}

/// A row for each entry whose environment is there, and how many there are.
fn table(source: &str, folder: &str, results: &[Built<'_>]) -> String {
    if results.is_empty() {
        return format!("{source}: no Python plugins, nothing to build");
    }
    let mut table = Table::new(&["plugin", "environment", "before", "python", "path"]);
    let (mut built, mut there, mut failed) = (0, 0, 0);
    let mut notes = String::new();
    for (spec, result) in results {
        let Ok(prepared) = result else {
            failed += 1;
            continue;
        };
        let what = if prepared.built {
            built += 1;
            "built"
        } else {
            there += 1;
            "there"
        };
        table.row(vec![
            shown(&spec.name),
            what.to_owned(),
            prepared.verdict.as_str().to_owned(),
            prepared.environment.python.clone(),
            prepared.environment.path.display().to_string(),
        ]);
        for note in &prepared.notes {
            let _ = writeln!(notes, "note: {}: {}", shown(&spec.name), shown(note));
        }
    }
    let mut out = String::new();
    if built + there > 0 {
        out += &table.lines().join("\n");
        out += "\n\n";
    }
    out += &notes;
    let _ = write!(out, "{folder}: {built} built, {there} there");
    if failed > 0 {
        let _ = write!(out, ", {failed} failed");
    }
    out
}

/// A problem for people.
fn complaint(source: &str, spec: &PluginSpec, error: &LoadError) -> String {
    let mut out = format!("error: plugin {}: {}", shown(&spec.name), error.message);
    let _ = write!(out, "\n  --> {source}:{}", spec.line);
    explain(&mut out, error);
    out
}
