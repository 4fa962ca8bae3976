//! [`Detector`]: whether a string can hold a match, told from how it is written.
//!
//! A string without a backslash is written as it reads. So a stretch of JSON text in which the detector
//! sees nothing has no match in any such string; where it sees something, that string has to be looked
//! at. A quote, a backslash or a control character stands in no such string, hence a pattern that needs
//! one is left out: only strings with a backslash, which are always looked at, can match it.

use std::sync::Arc;

use aho_corasick::packed::Searcher;
use aho_corasick::{AhoCorasick, Input};
use regex_automata::meta::Regex;
use regex_syntax::hir::Hir;

use super::literal::Literals;
use super::parts::{grams, packed};
use super::regex::{engine, matches_nothing};
use crate::interrupt::INTERRUPT_BYTES;

mod relax;

/// What a regular expression may cost for each byte of text for a look ahead to be worth it.
const MAX_BYTE_COST: usize = 256;

#[derive(Debug, Clone)]
pub(crate) enum Detector {
    /// No string without a backslash can match.
    Nothing,
    /// Any string can.
    Anything,
    /// Few words, or parts of words.
    Packed(Arc<Searcher>),
    Words(AhoCorasick),
    /// Expressions without what depends on the surroundings, and what each byte costs them.
    Relaxed(Box<Regex>, usize),
}

impl Detector {
    pub(super) fn of_literals(patterns: &[&str], ignore_case: bool, literals: &Literals) -> Self {
        let plain: Vec<&str> = patterns
            .iter()
            .copied()
            .filter(|pattern| !pattern.bytes().any(needs_escape))
            .collect();
        if plain.is_empty() {
            return Self::Nothing;
        }
        let parts = match ignore_case {
            true => grams(&plain),
            false => Some(plain.iter().map(|word| word.as_bytes().to_vec()).collect()),
        };
        match parts.and_then(packed) {
            Some(packed) => Self::Packed(packed),
            None => Self::Words(literals.automaton()),
        }
    }

    pub(super) fn of_expressions(patterns: &[Hir], byte_cost: usize) -> Self {
        let relaxed: Vec<Hir> = patterns
            .iter()
            .map(relax::relax)
            .filter(|pattern| !matches_nothing(pattern))
            .collect();
        if relaxed.is_empty() {
            return Self::Nothing;
        }
        if byte_cost > MAX_BYTE_COST {
            return Self::Anything;
        }
        match engine(&relaxed) {
            Ok(engine) => Self::Relaxed(Box::new(engine), byte_cost),
            Err(_) => Self::Anything,
        }
    }

    /// What reading a byte costs, in bytes of a plain scan.
    pub(crate) fn byte_cost(&self) -> usize {
        match self {
            Self::Relaxed(_, cost) => *cost,
            _ => 1,
        }
    }

    /// Bytes of text that may be looked through at once.
    pub(crate) fn window(&self) -> usize {
        INTERRUPT_BYTES / self.byte_cost()
    }

    /// A place in the first string that can hold a match, or in what is between strings before it. There
    /// must be no backslash in `text`, and its ends must lie outside of strings.
    pub(crate) fn find(&self, text: &[u8]) -> Option<usize> {
        match self {
            Self::Nothing => None,
            // Behind the next quote, so that it is a place in a string.
            Self::Anything => memchr::memchr(b'"', text).map(|quote| quote + 1),
            Self::Packed(words) => words.find(text).map(|found| found.start()),
            Self::Words(words) => words.find(Input::new(text)).map(|found| found.start()),
            // The last byte of the match, which lies within one string as the first does.
            Self::Relaxed(regex, _) => regex.search_half(&text.into()).map(|end| end.offset() - 1),
        }
    }

    pub(super) fn memory_bytes(&self) -> usize {
        match self {
            Self::Nothing | Self::Anything => 0,
            Self::Packed(words) => words.memory_usage(),
            Self::Words(words) => words.memory_usage(),
            Self::Relaxed(regex, _) => regex.memory_usage(),
        }
    }
}

/// Whether the byte is never written as itself in a JSON string.
pub(super) fn needs_escape(byte: u8) -> bool {
    matches!(byte, b'"' | b'\\' | 0..=0x1f)
}
