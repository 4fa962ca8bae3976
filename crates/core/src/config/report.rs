//! What was wrong with a configuration, and where.

use std::fmt;
use std::ops::Range;
use std::sync::Arc;

use serde::Serialize;

use super::hidden::Hidden;

/// Longest piece of the user's text a message repeats, in characters; a message stays one line.
const SHOWN_CHARS: usize = 80;

/// One thing wrong (or worth a note), with its place.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
#[non_exhaustive]
pub struct Problem {
    /// What was asked and why it cannot be, in one line.
    pub message: String,
    /// What to write instead.
    pub hint: Option<String>,
    /// The file as the caller named it.
    pub file: String,
    /// Line, from 1.
    pub line: usize,
    /// Column in characters, from 1.
    pub column: usize,
    /// The `plugins:` entry it belongs to, where that has a name.
    pub plugin: Option<String>,
    /// Bytes of [`ConfigReport::source`] it is about; empty where a thing is missing.
    pub span: Range<usize>,
}

impl Problem {
    fn write(&self, label: &str, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(
            f,
            "{label}: {}\n  --> {}:{}:{}",
            self.message, self.file, self.line, self.column
        )?;
        if let Some(plugin) = &self.plugin {
            write!(f, " (plugin {})", shown(plugin))?;
        }
        if let Some(hint) = &self.hint {
            write!(f, "\n  hint: {hint}")?;
        }
        Ok(())
    }
}

/// Every problem of one configuration, and the notes that are no problems.
///
/// Both lists are in the order of the text. As an error it has at least one problem.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize)]
#[non_exhaustive]
pub struct ConfigReport {
    /// What must change before the configuration can be used.
    pub problems: Vec<Problem>,
    /// What an operator may want to know.
    pub notes: Vec<Problem>,
    /// The text the spans point into; empty if the file could not be read.
    #[serde(skip)]
    pub source: Arc<str>,
}

impl fmt::Display for ConfigReport {
    /// One block per problem, then one per note, without a newline at the end.
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let problems = self.problems.iter().map(|problem| ("error", problem));
        let notes = self.notes.iter().map(|note| ("note", note));
        for (index, (label, problem)) in problems.chain(notes).enumerate() {
            if index > 0 {
                f.write_str("\n")?;
            }
            problem.write(label, f)?;
        }
        Ok(())
    }
}

impl std::error::Error for ConfigReport {}

/// A place in the text.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct Place {
    pub line: usize,
    pub column: usize,
    pub span: Range<usize>,
}

impl Place {
    pub const START: Self = Self {
        line: 1,
        column: 1,
        span: 0..0,
    };
}

/// Collects problems while a text is read.
pub(super) struct Findings<'a> {
    file: &'a str,
    plugin: Option<String>,
    problems: Vec<Problem>,
    notes: Vec<Problem>,
    /// What templates wrote, if the text is a legacy one; it may be secret and is never told.
    legacy: Option<Hidden>,
    lenient: bool,
}

impl<'a> Findings<'a> {
    pub fn new(file: &'a str) -> Self {
        Self {
            file,
            plugin: None,
            problems: Vec::new(),
            notes: Vec::new(),
            legacy: None,
            lenient: false,
        }
    }

    /// From now on the text is a legacy one, in which templates wrote what is `hidden`.
    pub fn read_legacy(&mut self, hidden: Hidden) {
        self.legacy = Some(hidden);
    }

    /// Whether the text is a legacy one.
    pub fn is_legacy(&self) -> bool {
        self.legacy.is_some()
    }

    /// Whether problems are only notes from now on: what nobody loads need not be right.
    pub fn lenient(&mut self, lenient: bool) {
        self.lenient = lenient;
    }

    /// Whether problems are only notes.
    pub fn is_lenient(&self) -> bool {
        self.lenient
    }

    /// Names the entry that the findings from now on belong to.
    pub fn enter(&mut self, plugin: Option<&str>) {
        self.plugin = plugin.map(str::to_owned);
    }

    pub fn error(&mut self, at: &Place, message: String, hint: Option<String>) {
        let problem = self.problem(at, message, hint);
        if self.lenient {
            self.notes.push(problem);
        } else {
            self.problems.push(problem);
        }
    }

    /// What the legacy framework takes without a word, and our own shape does not.
    pub fn slip(&mut self, at: &Place, message: String, hint: Option<String>) {
        if self.is_legacy() {
            self.note(at, message, hint);
        } else {
            self.error(at, message, hint);
        }
    }

    pub fn note(&mut self, at: &Place, message: String, hint: Option<String>) {
        let note = self.problem(at, message, hint);
        self.notes.push(note);
    }

    /// A note in words of the file itself, of which nothing is hidden.
    pub fn note_source(&mut self, at: &Place, message: String, hint: Option<String>) {
        let note = self.plain(at, message, hint);
        self.notes.push(note);
    }

    fn problem(&self, at: &Place, message: String, hint: Option<String>) -> Problem {
        let told = |text: String| match &self.legacy {
            Some(hidden) => hidden.hide(&text, &at.span),
            None => text,
        };
        self.plain(at, told(message), hint.map(told))
    }

    fn plain(&self, at: &Place, message: String, hint: Option<String>) -> Problem {
        Problem {
            message,
            hint,
            file: self.file.to_owned(),
            line: at.line,
            column: at.column,
            plugin: self.plugin.clone(),
            span: at.span.clone(),
        }
    }

    pub fn into_report(mut self, text: &str) -> ConfigReport {
        let place = |problem: &Problem| (problem.line, problem.column);
        self.problems.sort_by_key(place);
        self.notes.sort_by_key(place);
        ConfigReport {
            problems: self.problems,
            notes: self.notes,
            source: text.into(),
        }
    }
}

/// The user's text as a message shows it: one line, no control characters, not endless.
pub(super) fn shown(text: &str) -> String {
    let rest = text.char_indices().nth(SHOWN_CHARS);
    match rest {
        Some((end, _)) => printable(&text[..end]) + "...",
        None => printable(text),
    }
}

/// One line without control characters.
pub(super) fn printable(text: &str) -> String {
    let mut out = String::new();
    for c in text.chars() {
        // Besides control characters: marks that turn the direction of a terminal's line.
        if c.is_control()
            || matches!(c, '\u{2028}' | '\u{2029}' | '\u{202a}'..='\u{202e}' | '\u{2066}'..='\u{2069}')
        {
            out.extend(c.escape_default());
        } else {
            out.push(c);
        }
    }
    out
}
