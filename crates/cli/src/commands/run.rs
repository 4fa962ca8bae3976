//! `hookgate run`: every line of a JSONL file, outcomes in the order of the input.

use std::fs::File;
use std::io::{self, BufWriter, IsTerminal as _, Read, Write};
use std::num::NonZeroUsize;
use std::os::unix::fs::MetadataExt as _;
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::time::Instant;

use clap::Args;
use hookgate::Outcome;
use indicatif::ProgressBar;
use serde::Serialize;
use serde_json::value::RawValue;

use super::Status;
use super::call::ErrorBody;
use crate::arguments::{ConfigArgument, Format, OfflineArgument};
use crate::records::{Records, json_line};
use crate::setup;
use crate::stream::{self, Answered, Consumer, Settings};
use crate::terminal::Terminal;
use crate::units::{failed, thousands};

mod summary;

pub use summary::{Summary, Totals};

/// Arguments of `hookgate run`.
#[derive(Debug, Args)]
pub struct RunArguments {
    #[command(flatten)]
    config: ConfigArgument,
    /// A file with one {"id", "hook", "payload", "request"} a line, or - for stdin.
    #[arg(default_value = "-")]
    input: PathBuf,
    /// Write outcomes to this file instead of stdout.
    #[arg(short, long, value_name = "FILE")]
    output: Option<PathBuf>,
    /// Append decision records to this file.
    #[arg(long, value_name = "FILE")]
    records: Option<PathBuf>,
    /// Calls at once; those of one request come one after the other.
    #[arg(long, value_name = "N", default_value = "32")]
    jobs: NonZeroUsize,
    /// Write what each plugin answered, and how fast, to this file as JSON.
    #[arg(long, value_name = "FILE")]
    summary: Option<PathBuf>,
    #[command(flatten)]
    offline: OfflineArgument,
}

/// Asks about every line.
pub async fn run(
    arguments: RunArguments,
    format: Format,
    terminal: &Terminal,
) -> anyhow::Result<Status> {
    let config = arguments.config.read()?;
    let input = Input::open(&arguments.input)?;
    distinct(&arguments)?;
    let output = Output::open(arguments.output.as_deref())?;
    let summary_file = arguments.summary.as_deref().map(create).transpose()?;
    let records = Arc::new(Records::open(arguments.records.as_deref())?);
    let settings = Settings {
        jobs: arguments.jobs.get(),
        max_payload_bytes: config.max_payload_bytes,
    };
    let offline = arguments.offline.offline;
    let engine = setup::engine(config, Some(records.clone()), offline, terminal).await?;
    records.begin(&engine.plugins());

    // A bar would stand in the middle of outcomes that go to the same screen.
    let bar = match output.on_screen {
        true => ProgressBar::hidden(),
        false => terminal.bar(input.bytes),
    };
    let mut writer = Writer {
        output,
        name: input.name,
        terminal,
        bar,
        totals: Totals::default(),
    };
    let started = Instant::now();
    let streamed = stream::answer(&engine, input.reader, &settings, &mut writer).await;
    let elapsed = started.elapsed();
    writer.bar.finish_and_clear();
    engine.shutdown().await;
    records.finish()?;
    streamed?;

    let summary = Summary::new(writer.totals, elapsed, records.summary());
    if let Some(mut file) = summary_file {
        let written = serde_json::to_writer_pretty(&mut file, &summary).map_err(io::Error::from);
        let written = written.and_then(|()| file.write_all(b"\n"));
        written.map_err(|error| failed("the summary cannot be written", &error))?;
    }
    if format == Format::Text {
        terminal.say(&summary.text());
    }
    if summary.totals.unread == 0 {
        return Ok(Status::Done);
    }
    let (unread, calls) = (
        thousands(summary.totals.unread),
        thousands(summary.totals.lines()),
    );
    terminal.say(&format!(
        "error: {unread} of {calls} lines could not be read"
    ));
    Ok(Status::Unread)
}

/// No file may have two parts to play: an output that is the input would empty it before it is read.
fn distinct(arguments: &RunArguments) -> anyhow::Result<()> {
    let roles = [
        ("the input", Some(&arguments.input)),
        ("the configuration", Some(&arguments.config.config)),
        ("--output", arguments.output.as_ref()),
        ("--records", arguments.records.as_ref()),
        ("--summary", arguments.summary.as_ref()),
    ];
    let mut seen: Vec<(&str, FileId)> = Vec::new();
    for (role, path) in roles {
        let Some(id) = path.and_then(|path| file_id(path)) else {
            continue;
        };
        if let Some((other, _)) = seen.iter().find(|(_, there)| *there == id) {
            let path = path.map(|path| path.display().to_string());
            anyhow::bail!(
                "{other} and {role} are one file: {}\n  hint: name another file for {role}",
                path.unwrap_or_default()
            );
        }
        seen.push((role, id));
    }
    Ok(())
}

/// What makes two paths one file: device and inode, or the name where nothing is there yet.
#[derive(PartialEq)]
enum FileId {
    There(u64, u64),
    Named(PathBuf),
}

/// None for what is no file of its own, such as a terminal or a pipe.
fn file_id(path: &Path) -> Option<FileId> {
    match std::fs::metadata(path) {
        Ok(there) => there
            .is_file()
            .then(|| FileId::There(there.dev(), there.ino())),
        Err(_) => {
            let folder = path
                .parent()
                .filter(|folder| !folder.as_os_str().is_empty())
                .unwrap_or(Path::new("."));
            Some(FileId::Named(
                folder.canonicalize().ok()?.join(path.file_name()?),
            ))
        }
    }
}

fn create(path: &Path) -> anyhow::Result<File> {
    File::create(path)
        .map_err(|error| failed(format_args!("cannot write {}", path.display()), &error))
}

/// Where lines come from.
pub struct Input {
    /// What messages call it.
    pub name: String,
    /// Its size, for a file.
    pub bytes: Option<u64>,
    /// The lines.
    pub reader: Box<dyn Read + Send>,
}

impl Input {
    /// Opens a file, or stdin for `-`.
    pub fn open(path: &Path) -> anyhow::Result<Self> {
        if path.as_os_str() == "-" {
            return Ok(Self {
                name: "stdin".to_owned(),
                bytes: None,
                reader: Box::new(io::stdin()),
            });
        }
        let name = path.display().to_string();
        let opened =
            File::open(path).and_then(|file| file.metadata().map(|metadata| (file, metadata)));
        let (file, metadata) =
            opened.map_err(|error| failed(format_args!("cannot read {name}"), &error))?;
        let bytes = metadata.is_file().then_some(metadata.len());
        Ok(Self {
            name,
            bytes,
            reader: Box::new(file),
        })
    }
}

struct Output {
    writer: Box<dyn Write>,
    on_screen: bool,
}

impl Output {
    fn open(path: Option<&Path>) -> anyhow::Result<Self> {
        match path {
            Some(path) => Ok(Self {
                writer: Box::new(BufWriter::new(create(path)?)),
                on_screen: false,
            }),
            None => {
                let stdout = io::stdout();
                let on_screen = stdout.is_terminal();
                Ok(Self {
                    writer: Box::new(BufWriter::new(stdout)),
                    on_screen,
                })
            }
        }
    }
}

/// One line of output.
#[derive(Serialize)]
struct OutcomeLine<'a> {
    id: Option<&'a RawValue>,
    hook: Option<&'a str>,
    #[serde(skip_serializing_if = "Option::is_none")]
    outcome: Option<&'a Outcome>,
    #[serde(skip_serializing_if = "Option::is_none")]
    error: Option<ErrorBody>,
}

/// Writes answers, names bad lines, counts.
struct Writer<'a> {
    output: Output,
    name: String,
    terminal: &'a Terminal,
    bar: ProgressBar,
    totals: Totals,
}

impl Consumer for Writer<'_> {
    fn take(&mut self, answered: Answered) -> anyhow::Result<()> {
        let Answered {
            number,
            consumed,
            id,
            hook,
            payload: _,
            result,
        } = answered;
        self.totals.add(result.as_ref().ok());
        let (outcome, error) = match result {
            Ok(outcome) => (Some(outcome), None),
            Err(unanswered) => {
                self.terminal.say(&format!(
                    "error: line {number} of {}: {}",
                    self.name, unanswered.message
                ));
                (None, Some(ErrorBody::from(unanswered)))
            }
        };
        let line = OutcomeLine {
            id: id.as_deref(),
            hook: hook.as_deref(),
            outcome: outcome.as_ref(),
            error,
        };
        let written = json_line(&line).and_then(|line| self.output.writer.write_all(&line));
        written.map_err(|error| failed("the output cannot be written", &error))?;
        self.bar.inc(consumed);
        self.bar
            .set_message(format!("{} calls", thousands(self.totals.lines())));
        Ok(())
    }

    fn idle(&mut self) -> anyhow::Result<()> {
        self.output
            .writer
            .flush()
            .map_err(|error| failed("the output cannot be written", &error))
    }
}
