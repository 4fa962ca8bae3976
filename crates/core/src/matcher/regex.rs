//! Regular expressions in one string.

mod parse;

use regex_automata::Input;
use regex_automata::meta::Regex;
use regex_automata::nfa::thompson::WhichCaptures;
use regex_syntax::hir::{Hir, HirKind};

use super::automaton::{Automaton, Caches};
use super::{MAX_REGEX_BYTES, Match};
use crate::interrupt::{INTERRUPT_BYTES, Interrupt, Stopped};
use crate::refusal::Refusal;

pub(super) use parse::{matches_nothing, parse};

/// States of an automaton that may all be looked at for one byte of text in the time that a plain scan takes
/// for one byte more. The search is seldom that slow, but nobody can tell beforehand.
pub(super) const STATES_A_BYTE: usize = 16;

/// What one byte of text may cost an automaton of so many states, in bytes of a plain scan.
pub(super) fn byte_cost(states: usize) -> usize {
    1 + states / STATES_A_BYTE
}

/// An engine that is fast and cannot be stopped, for strings that it is sure to be done with soon, and an
/// automaton that can be, for all others.
#[derive(Debug, Clone)]
pub(super) struct Expressions {
    engine: Regex,
    automaton: Automaton,
    /// What one byte of text may cost, in bytes of a plain scan.
    byte_cost: usize,
    /// Bytes of the longest match; none where there is no end to it.
    longest: Option<usize>,
}

/// What a search keeps from match to match.
#[derive(Default)]
pub(super) struct State<'a> {
    caches: Option<Caches<'a>>,
}

/// The patterns if each of them is a word.
pub(super) fn words(patterns: &[Hir]) -> Option<Vec<&str>> {
    fn word(pattern: &Hir) -> Option<&str> {
        match pattern.kind() {
            HirKind::Literal(text) => std::str::from_utf8(&text.0).ok(),
            _ => None,
        }
    }
    patterns.iter().map(word).collect()
}

/// The engine of the expressions, which has a size budget for each of its parts.
pub(super) fn engine(patterns: &[Hir]) -> Result<Regex, Refusal> {
    Regex::builder()
        .configure(
            Regex::config()
                // Nobody asks for groups.
                .which_captures(WhichCaptures::Implicit)
                .nfa_size_limit(Some(MAX_REGEX_BYTES))
                .onepass_size_limit(Some(MAX_REGEX_BYTES)),
        )
        .build_many_from_hir(patterns)
        .map_err(|error| Refusal::too_large(error.to_string()))
}

impl Expressions {
    pub(super) fn compile(patterns: &[Hir]) -> Result<Self, Refusal> {
        // First, since it is what most of those fail at that are too large.
        let automaton = Automaton::compile(patterns)?;
        let lengths = patterns
            .iter()
            .map(|pattern| pattern.properties().maximum_len());
        Ok(Self {
            engine: engine(patterns)?,
            byte_cost: automaton.byte_cost(),
            automaton,
            longest: lengths
                .collect::<Option<Vec<_>>>()
                .map(|lengths| lengths.into_iter().max().unwrap_or(0)),
        })
    }

    pub(super) fn byte_cost(&self) -> usize {
        self.byte_cost
    }

    pub(super) fn memory_bytes(&self) -> usize {
        self.engine.memory_usage() + self.automaton.memory_bytes()
    }

    /// The first match at or behind `from`.
    pub(super) fn find<'a>(
        &'a self,
        text: &str,
        from: usize,
        state: &mut State<'a>,
        interrupt: &mut Interrupt<'_>,
    ) -> Result<Option<Match>, Stopped> {
        if from >= text.len() {
            return Ok(None);
        }
        let window = INTERRUPT_BYTES / self.byte_cost;
        if text.len() <= window {
            // Even if it goes to the end for each match.
            interrupt.spend((text.len() - from) * self.byte_cost)?;
            return Ok(self.engine_find(text, from, text.len()));
        }
        match self.longest {
            Some(longest) if longest <= window => {
                self.find_in_windows(text, from, window, longest, interrupt)
            }
            _ => {
                let caches = state.caches.get_or_insert_with(|| self.automaton.caches());
                self.automaton.find(text, from, caches, interrupt)
            }
        }
    }

    fn engine_find(&self, text: &str, from: usize, end: usize) -> Option<Match> {
        let found = self.engine.find(Input::new(text).range(from..end))?;
        Some((found.pattern().as_u32(), found.range()))
    }

    /// A match that starts in a window ends at most the longest match behind it, so that a look that far
    /// sees all that compete for the place. What stands around the window is seen as well.
    fn find_in_windows(
        &self,
        text: &str,
        mut from: usize,
        window: usize,
        longest: usize,
        interrupt: &mut Interrupt<'_>,
    ) -> Result<Option<Match>, Stopped> {
        while from < text.len() {
            let next = from + window;
            let end = text.len().min(next + longest);
            interrupt.spend((end - from) * self.byte_cost)?;
            match self.engine_find(text, from, end) {
                Some(found) if found.1.start < next => return Ok(Some(found)),
                _ => from = next,
            }
        }
        Ok(None)
    }
}
