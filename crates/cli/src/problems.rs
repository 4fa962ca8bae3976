//! Everything that keeps a configuration from being used, for people and for programs.

use std::fmt::Write as _;

use hookgate::config::{ConfigReport, Problem};
use hookgate::{LoadError, LoadReport};
use miette::{
    Diagnostic, GraphicalReportHandler, GraphicalTheme, LabeledSpan, MietteDiagnostic, NamedSource,
    Severity, SourceCode, ThemeCharacters, ThemeStyles,
};
use serde::Serialize;

use crate::setup::SetupError;
use crate::units::shown;

/// Lines of the file shown above and below the one that is wrong.
const CONTEXT_LINES: usize = 1;
/// Messages are not wrapped: a terminal does it, and a log keeps one message in one line.
const WIDTH: usize = 4_096;

/// One problem or note, wherever it comes from.
#[derive(Debug, Serialize)]
pub struct Entry<'a> {
    /// `config` or `load`.
    stage: &'static str,
    message: &'a str,
    hint: Option<&'a str>,
    file: &'a str,
    line: Option<usize>,
    column: Option<usize>,
    plugin: Option<&'a str>,
    detail: Option<&'a str>,
}

/// The problems for a program.
pub fn entries(error: &SetupError) -> Vec<Entry<'_>> {
    match error {
        SetupError::Config(report) => report.problems.iter().map(config_entry).collect(),
        SetupError::Host(error) => vec![load_entry("", None, None, error)],
        SetupError::Load { file, report } => {
            let problems = report.problems.iter();
            problems
                .map(|problem| {
                    load_entry(file, problem.line, Some(&problem.plugin), &problem.error)
                })
                .collect()
        }
    }
}

/// The problem or note of a configuration for a program.
pub fn config_entry(problem: &Problem) -> Entry<'_> {
    Entry {
        stage: "config",
        message: &problem.message,
        hint: problem.hint.as_deref(),
        file: &problem.file,
        line: Some(problem.line),
        column: Some(problem.column),
        plugin: problem.plugin.as_deref(),
        detail: None,
    }
}

/// What keeps one plugin from loading, for a program.
pub fn load_entry<'a>(
    file: &'a str,
    line: Option<usize>,
    plugin: Option<&'a str>,
    error: &'a LoadError,
) -> Entry<'a> {
    Entry {
        stage: "load",
        message: &error.message,
        hint: error.hint.as_deref(),
        file,
        line,
        column: None,
        plugin,
        detail: error.detail.as_deref(),
    }
}

/// The problems for people, and how many there are.
pub fn text(error: &SetupError, colour: bool) -> String {
    match error {
        SetupError::Config(report) => config_text(report, colour),
        SetupError::Host(error) => {
            let mut out = format!("error: {}", error.message);
            explain(&mut out, error);
            out
        }
        SetupError::Load { file, report } => load_text(file, report),
    }
}

fn config_text(report: &ConfigReport, colour: bool) -> String {
    let mut out: String = report
        .problems
        .iter()
        .map(|problem| block(problem, report, Severity::Error, colour))
        .collect();
    out.push_str(&notes(report, colour));
    let file = report
        .problems
        .first()
        .map_or("", |problem| problem.file.as_str());
    let _ = write!(
        out,
        "{} in {file}; nothing was loaded",
        count(report.problems.len())
    );
    out
}

/// The notes of a configuration; empty, or ending with a newline.
pub fn notes(report: &ConfigReport, colour: bool) -> String {
    report
        .notes
        .iter()
        .map(|note| block(note, report, Severity::Advice, colour))
        .collect()
}

fn count(problems: usize) -> String {
    if problems == 1 {
        "1 problem".to_owned()
    } else {
        format!("{problems} problems")
    }
}

/// A message with the place in the file below it, and the hint.
fn block(problem: &Problem, report: &ConfigReport, severity: Severity, colour: bool) -> String {
    let label = match severity {
        Severity::Error => "error",
        _ => "note",
    };
    let mut out = snippet(problem, report, severity, colour).unwrap_or_else(|| {
        let (file, line, column) = (&problem.file, problem.line, problem.column);
        format!(
            "{label}: {}\n  --> {file}:{line}:{column}\n",
            problem.message
        )
    });
    if let Some(plugin) = &problem.plugin {
        let _ = writeln!(out, "  plugin: {}", shown(plugin));
    }
    if let Some(hint) = &problem.hint {
        let _ = writeln!(out, "  hint: {hint}");
    }
    out.push('\n');
    out
}

/// None where there is no text to show.
fn snippet(
    problem: &Problem,
    report: &ConfigReport,
    severity: Severity,
    colour: bool,
) -> Option<String> {
    let source = &report.source;
    let start = problem.span.start;
    if source.is_empty() || !source.is_char_boundary(start) {
        return None;
    }
    // Of a whole mapping only the first line is marked.
    let line_end = source[start..]
        .find('\n')
        .map_or(source.len(), |at| start + at);
    let end = problem.span.end.clamp(start, line_end);
    let diagnostic = MietteDiagnostic::new(problem.message.as_str())
        .with_severity(severity)
        .with_label(LabeledSpan::new(None, start, end - start));
    let diagnostic = Located {
        diagnostic,
        source: NamedSource::new(&problem.file, source.to_string()),
    };
    let theme = GraphicalTheme {
        characters: ThemeCharacters {
            error: "error:".into(),
            advice: "note:".into(),
            ..ThemeCharacters::unicode()
        },
        styles: if colour {
            ThemeStyles::ansi()
        } else {
            ThemeStyles::none()
        },
    };
    let handler = GraphicalReportHandler::new_themed(theme)
        .with_context_lines(CONTEXT_LINES)
        .with_width(WIDTH);
    let mut out = String::new();
    handler.render_report(&mut out, &diagnostic).ok()?;
    Some(out.trim_start().to_owned())
}

/// A diagnostic beside the text it points into.
#[derive(Debug)]
struct Located {
    diagnostic: MietteDiagnostic,
    source: NamedSource<String>,
}

impl std::fmt::Display for Located {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        self.diagnostic.fmt(f)
    }
}

impl std::error::Error for Located {}

impl Diagnostic for Located {
    fn severity(&self) -> Option<Severity> {
        self.diagnostic.severity()
    }

    fn source_code(&self) -> Option<&dyn SourceCode> {
        Some(&self.source)
    }

    fn labels(&self) -> Option<Box<dyn Iterator<Item = LabeledSpan> + '_>> {
        self.diagnostic.labels()
    }
}

fn load_text(file: &str, report: &LoadReport) -> String {
    let mut out = String::new();
    for problem in &report.problems {
        let _ = write!(
            out,
            "error: plugin {}: {}",
            shown(&problem.plugin),
            problem.error.message
        );
        if let Some(line) = problem.line.filter(|line| *line > 0) {
            let _ = write!(out, "\n  --> {file}:{line}");
        }
        explain(&mut out, &problem.error);
        out.push_str("\n\n");
    }
    let problems = report.problems.len();
    let plugins = if problems == 1 {
        "1 plugin".to_owned()
    } else {
        format!("{problems} plugins")
    };
    let _ = write!(out, "{plugins} of {file} did not load");
    out
}

/// Adds an error's details and its hint below its message.
pub fn explain(out: &mut String, error: &LoadError) {
    for line in error.detail.iter().flat_map(|detail| detail.lines()) {
        let _ = write!(out, "\n  | {}", shown(line));
    }
    if let Some(hint) = &error.hint {
        let _ = write!(out, "\n  hint: {hint}");
    }
}
