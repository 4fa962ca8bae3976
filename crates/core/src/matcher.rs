//! [`Matcher`]: many patterns compiled into one search.

mod automaton;
mod detector;
mod literal;
mod parts;
mod regex;
mod threads;

use std::ops::Range;

use regex_syntax::hir::Hir;

use crate::interrupt::{Interrupt, Stopped};
use crate::pointer::Pointer;
use crate::refusal::Refusal;

pub(crate) use detector::Detector;
use literal::Literals;
use regex::Expressions;

/// Patterns of one matcher. A larger list is a data set, not a policy, and would cost memory outside the guest's limit.
pub const MAX_PATTERNS: usize = 10_000;
/// Bytes of all patterns of one matcher together, for the same reason.
pub const MAX_PATTERN_BYTES: usize = 1 << 20;
/// Bytes of all regular expressions of one matcher together: what is made of them while they are read takes
/// a few hundred times as much.
pub const MAX_REGEX_PATTERN_BYTES: usize = 128 << 10;
/// Bytes a compiled regular expression may take; a `\w{1000}` would take more. It bounds what a search may
/// cost for each byte of text as well, since that grows with it.
pub const MAX_REGEX_BYTES: usize = 10 << 20;

/// A stretch of the string at `at`, in bytes of its decoded UTF-8.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Span {
    /// The string.
    pub at: Pointer,
    /// First byte.
    pub start: u32,
    /// Byte behind the last.
    pub end: u32,
}

/// How the patterns of a matcher are read.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum Syntax {
    /// Exact text.
    Literal,
    /// Text, ASCII case ignored.
    LiteralIgnoreCase,
    /// Regular expressions matched in linear time: no look-around, no back-references.
    Regex,
}

/// Compiled patterns. Matches are leftmost first, not overlapping, ties to the lower index.
#[derive(Debug, Clone)]
pub struct Matcher {
    search: Search,
    detector: Detector,
}

#[derive(Debug, Clone)]
enum Search {
    Literal(Literals),
    Regex(Box<Expressions>),
}

/// Pattern index and byte range.
pub(crate) type Match = (u32, Range<usize>);

impl Matcher {
    /// Compiles `patterns`; refused `invalid` for a pattern that is empty, can match the empty
    /// string or is not of the syntax, `too-large` past the limits of this module.
    pub fn compile<P: AsRef<str>>(patterns: &[P], syntax: Syntax) -> Result<Self, Refusal> {
        let bytes: usize = patterns.iter().map(|pattern| pattern.as_ref().len()).sum();
        let max_bytes = match syntax {
            Syntax::Literal | Syntax::LiteralIgnoreCase => MAX_PATTERN_BYTES,
            Syntax::Regex => MAX_REGEX_PATTERN_BYTES,
        };
        if patterns.len() > MAX_PATTERNS || bytes > max_bytes {
            return Err(Refusal::too_large(format!(
                "{} patterns of {bytes} bytes; at most {MAX_PATTERNS} patterns of {max_bytes} bytes together",
                patterns.len()
            )));
        }
        let patterns: Vec<&str> = patterns.iter().map(AsRef::as_ref).collect();
        if syntax == Syntax::Regex {
            let parsed = regex::parse(&patterns)?;
            return match regex::words(&parsed) {
                Some(words) => Self::of_words(&words, false),
                None => Self::of_expressions(&parsed),
            };
        }
        match patterns.iter().position(|pattern| pattern.is_empty()) {
            Some(empty) => Err(Refusal::invalid(format!("pattern {empty} is empty"))),
            None => Self::of_words(&patterns, syntax == Syntax::LiteralIgnoreCase),
        }
    }

    fn of_words(words: &[&str], ignore_case: bool) -> Result<Self, Refusal> {
        let literals = Literals::compile(words, ignore_case)?;
        Ok(Self {
            detector: Detector::of_literals(words, ignore_case, &literals),
            search: Search::Literal(literals),
        })
    }

    fn of_expressions(patterns: &[Hir]) -> Result<Self, Refusal> {
        let expressions = Expressions::compile(patterns)?;
        Ok(Self {
            detector: Detector::of_expressions(patterns, expressions.byte_cost()),
            search: Search::Regex(Box::new(expressions)),
        })
    }

    /// The matches in `text`: pattern index and byte range.
    pub fn find_iter<'a>(
        &'a self,
        text: &'a str,
    ) -> Box<dyn Iterator<Item = (u32, Range<usize>)> + 'a> {
        let mut matches = self.matches(text);
        Box::new(std::iter::from_fn(move || {
            matches.next(&mut Interrupt::never()).ok().flatten()
        }))
    }

    /// Bytes the compiled patterns take, what a search adds for itself aside.
    #[must_use]
    pub fn memory_bytes(&self) -> usize {
        let search = match &self.search {
            Search::Literal(literals) => literals.memory_bytes(),
            Search::Regex(expressions) => expressions.memory_bytes(),
        };
        search + self.detector.memory_bytes()
    }

    pub(crate) fn detector(&self) -> &Detector {
        &self.detector
    }

    /// The matches in one string, one after another.
    pub(crate) fn matches<'a>(&'a self, text: &'a str) -> Matches<'a> {
        Matches {
            matcher: self,
            text,
            at: 0,
            state: regex::State::default(),
        }
    }
}

/// The matches in one string. Asked for one at a time, so that the search can be stopped.
pub(crate) struct Matches<'a> {
    matcher: &'a Matcher,
    text: &'a str,
    at: usize,
    state: regex::State<'a>,
}

impl Matches<'_> {
    pub(crate) fn next(&mut self, interrupt: &mut Interrupt<'_>) -> Result<Option<Match>, Stopped> {
        let found = match &self.matcher.search {
            Search::Literal(literals) => literals.find(self.text, self.at, interrupt)?,
            Search::Regex(expressions) => {
                expressions.find(self.text, self.at, &mut self.state, interrupt)?
            }
        };
        // No pattern matches the empty string, so that each search starts further on.
        self.at = found
            .as_ref()
            .map_or(self.text.len(), |(_, range)| range.end);
        Ok(found)
    }
}
