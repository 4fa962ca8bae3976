//! [`Matcher`]: many patterns compiled into one search.

use std::ops::Range;

use aho_corasick::{AhoCorasick, AhoCorasickKind, MatchKind};
use regex_automata::meta::Regex;

use crate::pointer::Pointer;
use crate::refusal::Refusal;

/// Patterns of one matcher. A larger list is a data set, not a policy, and would cost memory outside the guest's limit.
pub const MAX_PATTERNS: usize = 10_000;
/// Bytes of all patterns of one matcher together, for the same reason.
pub const MAX_PATTERN_BYTES: usize = 1 << 20;
/// Bytes of patterns up to which a DFA may be made of them: it takes up to 1 KiB for each.
const MAX_DFA_PATTERN_BYTES: usize = 8 << 10;
/// Bytes a compiled regular expression may take; a `\w{1000}` would take more.
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
}

#[derive(Debug, Clone)]
enum Search {
    Literal(AhoCorasick),
    Regex(Box<Regex>),
}

impl Matcher {
    /// Compiles `patterns`; refused `invalid` for a pattern that is empty, can match the empty
    /// string or is not of the syntax, `too-large` past the limits of this module.
    pub fn compile<P: AsRef<str>>(patterns: &[P], syntax: Syntax) -> Result<Self, Refusal> {
        let bytes: usize = patterns.iter().map(|pattern| pattern.as_ref().len()).sum();
        if patterns.len() > MAX_PATTERNS || bytes > MAX_PATTERN_BYTES {
            return Err(Refusal::too_large(format!(
                "{} patterns of {bytes} bytes; at most {MAX_PATTERNS} patterns of {MAX_PATTERN_BYTES} bytes together",
                patterns.len()
            )));
        }
        let search = match syntax {
            Syntax::Literal | Syntax::LiteralIgnoreCase => {
                if let Some(empty) = patterns
                    .iter()
                    .position(|pattern| pattern.as_ref().is_empty())
                {
                    return Err(Refusal::invalid(format!("pattern {empty} is empty")));
                }
                let small = bytes <= MAX_DFA_PATTERN_BYTES;
                let search = AhoCorasick::builder()
                    .kind((!small).then_some(AhoCorasickKind::ContiguousNFA))
                    .match_kind(MatchKind::LeftmostFirst)
                    .ascii_case_insensitive(syntax == Syntax::LiteralIgnoreCase)
                    .build(patterns.iter().map(AsRef::as_ref))
                    .map_err(|error| Refusal::too_large(error.to_string()))?;
                Search::Literal(search)
            }
            Syntax::Regex => Search::Regex(Box::new(compile_regex(patterns)?)),
        };
        Ok(Self { search })
    }

    /// The matches in `text`: pattern index and byte range.
    pub fn find_iter<'a>(
        &'a self,
        text: &'a str,
    ) -> Box<dyn Iterator<Item = (u32, Range<usize>)> + 'a> {
        match &self.search {
            Search::Literal(search) => Box::new(
                search
                    .find_iter(text)
                    .map(|hit| (hit.pattern().as_u32(), hit.start()..hit.end())),
            ),
            Search::Regex(search) => Box::new(
                search
                    .find_iter(text)
                    .map(|hit| (hit.pattern().as_u32(), hit.start()..hit.end())),
            ),
        }
    }
}

fn compile_regex<P: AsRef<str>>(patterns: &[P]) -> Result<Regex, Refusal> {
    let mut parsed = Vec::with_capacity(patterns.len());
    for (index, pattern) in patterns.iter().enumerate() {
        let hir = regex_syntax::parse(pattern.as_ref()).map_err(|error| {
            Refusal::invalid(format!(
                "pattern {index} is not a regular expression: {error}"
            ))
        })?;
        if hir.properties().minimum_len() == Some(0) {
            return Err(Refusal::invalid(format!(
                "pattern {index} can match the empty string"
            )));
        }
        parsed.push(hir);
    }
    Regex::builder()
        .configure(
            Regex::config()
                .nfa_size_limit(Some(MAX_REGEX_BYTES))
                .onepass_size_limit(Some(MAX_REGEX_BYTES)),
        )
        .build_many_from_hir(&parsed)
        .map_err(|error| Refusal::too_large(error.to_string()))
}
