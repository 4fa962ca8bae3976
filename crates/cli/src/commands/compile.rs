//! `hookgate compile`: fills the code cache, so that the next start compiles nothing.

use std::fmt::Write as _;
use std::io::{self, Write as _};
use std::path::{Path, PathBuf};

use anyhow::anyhow;
use clap::Args;
use hookgate::config::{Config, Mode, PluginKind};
use hookgate::{CodeOrigin, CompiledComponent, LoadError, WasmHost};
use serde::Serialize;

use super::Status;
use crate::arguments::{ConfigArgument, Format};
use crate::problems::{Entry, explain, load_entry};
use crate::setup::{self, SetupError};
use crate::table::Table;
use crate::terminal::Terminal;
use crate::units::{duration, failed, shown, thousands};

/// Arguments of `hookgate compile`.
#[derive(Debug, Args)]
pub struct CompileArguments {
    /// Components, instead of those of a configuration.
    #[arg(value_name = "COMPONENT", conflicts_with_all = ["config", "shape"])]
    components: Vec<PathBuf>,
    #[command(flatten)]
    config: ConfigArgument,
}

/// A component to compile.
#[derive(Debug, PartialEq)]
struct Wanted {
    file: PathBuf,
    /// The digest it must have.
    pinned: Option<String>,
    /// The entries that name it.
    plugins: Vec<String>,
    /// The line of the first of them.
    line: Option<usize>,
}

/// Everything `--format json` prints.
#[derive(Serialize)]
struct Report<'a> {
    ok: bool,
    /// The code cache.
    folder: String,
    components: Vec<Row<'a>>,
    problems: Vec<Entry<'a>>,
}

/// One component whose code there is.
#[derive(Serialize)]
struct Row<'a> {
    file: String,
    plugins: &'a [String],
    digest: &'a str,
    /// Where its code came from: `cache` or `compiled`.
    from: &'static str,
    /// Whether it is in the cache now.
    kept: bool,
    code_bytes: u64,
    duration_us: u64,
}

/// Compiles every component; problems are told after all of them.
pub async fn compile(
    arguments: CompileArguments,
    format: Format,
    terminal: &Terminal,
) -> anyhow::Result<Status> {
    let (source, wanted) = if arguments.components.is_empty() {
        let config = arguments.config.read()?;
        let source = arguments.config.config.display().to_string();
        (source, of_config(&config))
    } else {
        (String::new(), of_files(arguments.components))
    };
    let folder = hookgate::default_code_cache().ok_or_else(|| {
        anyhow!("no folder for compiled code: HOME is not set\n  hint: set HOOKGATE_CACHE_DIR to a folder of yours")
    })?;
    let host = WasmHost::with_options(setup::wasm_options()).map_err(SetupError::Host)?;
    let mut results = Vec::new();
    for wanted in &wanted {
        let spinner = terminal.bar(None);
        spinner.set_message(format!("compiling {}", shown(&wanted.name())));
        let result = host.compile(&wanted.file, wanted.pinned.as_deref()).await;
        spinner.finish_and_clear();
        results.push((wanted, result));
    }
    let ok = results.iter().all(|(_, result)| problem(result).is_none());
    let text = match format {
        Format::Json => json(&source, &folder, &results, ok)?,
        Format::Text => {
            // The table stands before what is wrong with its rows.
            print(&table(&source, &folder, &results))?;
            for (wanted, result) in &results {
                if let Some(error) = problem(result) {
                    terminal.say(&complaint(&source, wanted, result.is_ok(), error));
                }
            }
            String::new()
        }
    };
    print(&text)?;
    Ok(if ok { Status::Done } else { Status::Failed })
}

type Compiled<'a> = (&'a Wanted, Result<CompiledComponent, LoadError>);

impl Wanted {
    fn name(&self) -> String {
        self.file.display().to_string()
    }
}

/// The components of the entries that are loaded, each once, in their order.
fn of_config(config: &Config) -> Vec<Wanted> {
    let mut wanted: Vec<Wanted> = Vec::new();
    for spec in &config.plugins {
        let PluginKind::Wasm { component } = &spec.kind else {
            continue;
        };
        if spec.mode == Mode::Disabled {
            continue;
        }
        let same = |other: &&mut Wanted| other.file == *component && other.pinned == spec.digest;
        match wanted.iter_mut().find(same) {
            Some(other) => other.plugins.push(spec.name.clone()),
            None => wanted.push(Wanted {
                file: component.clone(),
                pinned: spec.digest.clone(),
                plugins: vec![spec.name.clone()],
                line: Some(spec.line),
            }),
        }
    }
    wanted
}

fn of_files(files: Vec<PathBuf>) -> Vec<Wanted> {
    let mut wanted: Vec<Wanted> = Vec::new();
    for file in files {
        if wanted.iter().all(|other| other.file != file) {
            wanted.push(Wanted {
                file,
                pinned: None,
                plugins: Vec::new(),
                line: None,
            });
        }
    }
    wanted
}

/// Why a component does not load, or why it will be compiled again.
fn problem(result: &Result<CompiledComponent, LoadError>) -> Option<&LoadError> {
    match result {
        Ok(compiled) => compiled.not_kept.as_ref(),
        Err(error) => Some(error),
    }
}

fn from(compiled: &CompiledComponent) -> &'static str {
    match compiled.origin {
        CodeOrigin::Cache => "cache",
        _ => "compiled",
    }
}

fn micros(compiled: &CompiledComponent) -> u64 {
    u64::try_from(compiled.took.as_micros()).unwrap_or(u64::MAX)
}

fn json(source: &str, folder: &Path, results: &[Compiled<'_>], ok: bool) -> anyhow::Result<String> {
    let mut components = Vec::new();
    let mut problems = Vec::new();
    for (wanted, result) in results {
        if let Ok(compiled) = result {
            components.push(Row {
                file: wanted.name(),
                plugins: &wanted.plugins,
                digest: &compiled.digest,
                from: from(compiled),
                kept: compiled.not_kept.is_none(),
                code_bytes: compiled.code_bytes,
                duration_us: micros(compiled),
            });
        }
        if let Some(error) = problem(result) {
            let plugin = wanted.plugins.first().map(String::as_str);
            problems.push(load_entry(source, wanted.line, plugin, error));
        }
    }
    let report = Report {
        ok,
        folder: folder.display().to_string(),
        components,
        problems,
    };
    Ok(serde_json::to_string_pretty(&report)? + "\n")
}

/// A row for each component whose code there is, and how many there are.
fn table(source: &str, folder: &Path, results: &[Compiled<'_>]) -> String {
    let mut table = Table::new(&["component", "code", "#bytes", "#time", "digest"]);
    let (mut cached, mut made, mut failed) = (0, 0, 0);
    for (wanted, result) in results {
        let Ok(compiled) = result else {
            failed += 1;
            continue;
        };
        let code = match compiled.origin {
            CodeOrigin::Cache => {
                cached += 1;
                "from the cache"
            }
            _ => {
                made += 1;
                "compiled"
            }
        };
        table.row(vec![
            shown(&wanted.name()),
            code.to_owned(),
            thousands(compiled.code_bytes),
            duration(micros(compiled)),
            compiled.digest.clone(),
        ]);
    }
    if results.is_empty() {
        return format!("{source}: no wasm plugins, nothing to compile\n");
    }
    let mut out = String::new();
    if cached + made > 0 {
        out += &table.lines().join("\n");
        out += "\n\n";
    }
    let _ = write!(
        out,
        "{}: {made} compiled, {cached} from the cache",
        folder.display()
    );
    if failed > 0 {
        let _ = write!(out, ", {failed} failed");
    }
    out + "\n"
}

/// A problem for people.
fn complaint(source: &str, wanted: &Wanted, compiled: bool, error: &LoadError) -> String {
    let what = if compiled { "compiled, but " } else { "" };
    let mut out = format!("error: {}: {what}{}", shown(&wanted.name()), error.message);
    if let Some(line) = wanted.line {
        let plugins: Vec<String> = wanted.plugins.iter().map(|name| shown(name)).collect();
        let _ = write!(out, "\n  --> {source}:{line} ({})", plugins.join(", "));
    }
    explain(&mut out, error);
    out
}

fn print(text: &str) -> anyhow::Result<()> {
    io::stdout()
        .write_all(text.as_bytes())
        .map_err(|error| failed("cannot write to stdout", &error))
}
