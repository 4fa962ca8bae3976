//! `hookgate import`: a legacy file in hookgate's own words.
//!
//! The configuration goes to stdout or into a file, what could not be carried over to stderr.

use std::fs::OpenOptions;
use std::io::{self, Write as _};
use std::path::{Path, PathBuf};

use anyhow::bail;
use clap::Args;
use hookgate::config::Imported;
use serde::Serialize;

use super::Status;
use crate::arguments::{Format, ShapeArgument};
use crate::problems::{self, Entry};
use crate::setup::SetupError;
use crate::terminal::Terminal;
use crate::units::failed;

/// Arguments of `hookgate import`.
#[derive(Debug, Args)]
pub struct ImportArguments {
    /// A legacy configuration or a plugin-manifest.yaml.
    #[arg(value_name = "FILE")]
    file: PathBuf,
    /// Write here instead of stdout; paths in it start at its folder, else at the current one.
    #[arg(long, value_name = "FILE")]
    output: Option<PathBuf>,
    /// Overwrite the file that is there.
    #[arg(long, requires = "output")]
    force: bool,
    #[command(flatten)]
    shape: ShapeArgument,
}

/// What `--format json` prints.
#[derive(Serialize)]
struct Report<'a> {
    file: String,
    output: Option<String>,
    plugins: usize,
    /// None if it was written into a file.
    config: Option<&'a str>,
    notes: Vec<Entry<'a>>,
}

/// Reads the file and writes it anew.
pub fn import(
    arguments: &ImportArguments,
    format: Format,
    terminal: &Terminal,
) -> anyhow::Result<Status> {
    let output = arguments.output.as_deref();
    if let Some(output) = output.filter(|output| !arguments.force && output.exists()) {
        bail!(
            "there is a file already: {}\n  hint: name another one, or overwrite it with --force",
            output.display()
        );
    }
    let folder = match output.and_then(Path::parent) {
        Some(folder) if folder != Path::new("") => folder,
        _ => Path::new("."),
    };
    let imported = Imported::load(&arguments.file, arguments.shape.into(), folder)
        .map_err(SetupError::Config)?;
    if let Some(output) = output {
        write(output, &imported.text, arguments.force)?;
    }
    match format {
        Format::Json => {
            let notes = imported.report.notes.iter().map(problems::config_entry);
            let report = Report {
                file: arguments.file.display().to_string(),
                output: output.map(|output| output.display().to_string()),
                plugins: imported.plugins,
                config: output.is_none().then_some(imported.text.as_str()),
                notes: notes.collect(),
            };
            print(&(serde_json::to_string_pretty(&report)? + "\n"))?;
        }
        Format::Text => {
            if output.is_none() {
                print(&imported.text)?;
            }
            let notes = problems::notes(&imported.report, terminal.colour_stderr());
            terminal.say(&format!("{notes}{}", conclusion(arguments, &imported)));
        }
    }
    Ok(Status::Done)
}

fn conclusion(arguments: &ImportArguments, imported: &Imported) -> String {
    let plugins = match imported.plugins {
        1 => "1 plugin".to_owned(),
        plugins => format!("{plugins} plugins"),
    };
    let place = match &arguments.output {
        Some(output) => format!("in {}", output.display()),
        None => "for a file in this folder".to_owned(),
    };
    let notes = match imported.report.notes.len() {
        0 => "nothing was left out".to_owned(),
        1 => "1 note".to_owned(),
        notes => format!("{notes} notes"),
    };
    format!("{}: {plugins} {place}, {notes}", arguments.file.display())
}

fn write(output: &Path, text: &str, force: bool) -> anyhow::Result<()> {
    let mut options = OpenOptions::new();
    options.write(true);
    // Only a file that nobody else has made in the meantime.
    if force {
        options.create(true).truncate(true);
    } else {
        options.create_new(true);
    }
    options
        .open(output)
        .and_then(|mut file| file.write_all(text.as_bytes()))
        .map_err(|error| failed(format_args!("cannot write {}", output.display()), &error))
}

fn print(text: &str) -> anyhow::Result<()> {
    io::stdout()
        .write_all(text.as_bytes())
        .map_err(|error| failed("cannot write to stdout", &error))
}
