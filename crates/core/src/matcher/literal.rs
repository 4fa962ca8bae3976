//! Plain words in one string.

use std::sync::Arc;

use aho_corasick::{AhoCorasick, AhoCorasickKind, Input, MatchKind, packed};

use super::Match;
use super::parts::{grams, packed};
use crate::interrupt::{INTERRUPT_BYTES, Interrupt, Stopped};
use crate::refusal::Refusal;

/// Bytes of patterns up to which a DFA may be made of them: it takes up to 1 KiB for each.
const MAX_DFA_PATTERN_BYTES: usize = 8 << 10;

#[derive(Debug, Clone)]
pub(super) struct Literals {
    words: AhoCorasick,
    /// Bytes of the longest word.
    longest: usize,
    /// Where case is ignored: parts of the words that vector code finds, while the words need an automaton.
    parts: Option<Arc<packed::Searcher>>,
}

impl Literals {
    pub(super) fn compile(patterns: &[&str], ignore_case: bool) -> Result<Self, Refusal> {
        let bytes: usize = patterns.iter().map(|pattern| pattern.len()).sum();
        let small = bytes <= MAX_DFA_PATTERN_BYTES;
        let words = AhoCorasick::builder()
            .kind((!small).then_some(AhoCorasickKind::ContiguousNFA))
            .match_kind(MatchKind::LeftmostFirst)
            .ascii_case_insensitive(ignore_case)
            .build(patterns)
            .map_err(|error| Refusal::too_large(error.to_string()))?;
        let longest = patterns.iter().map(|pattern| pattern.len()).max();
        Ok(Self {
            words,
            longest: longest.unwrap_or(0),
            parts: ignore_case.then(|| packed(grams(patterns)?)).flatten(),
        })
    }

    /// The words as one automaton, shared.
    pub(super) fn automaton(&self) -> AhoCorasick {
        self.words.clone()
    }

    pub(super) fn memory_bytes(&self) -> usize {
        self.words.memory_usage()
    }

    /// The first match at or behind `from`.
    ///
    /// A long string is searched window by window. A match that starts in a window ends at most one word
    /// behind it, so that a look that far sees all that compete for the place.
    pub(super) fn find(
        &self,
        text: &str,
        mut from: usize,
        interrupt: &mut Interrupt<'_>,
    ) -> Result<Option<Match>, Stopped> {
        let window = INTERRUPT_BYTES.max(self.longest);
        while from < text.len() {
            let next = from + window;
            let end = text.len().min(next + self.longest);
            let start = match &self.parts {
                Some(parts) => match parts.find_in(text, (from..end).into()) {
                    // No word that has the part can start before.
                    Some(part) => from.max((part.start() + 1).saturating_sub(self.longest)),
                    None => end,
                },
                None => from,
            };
            match self.words.find(Input::new(text).range(start..end)) {
                Some(found) if found.start() < next => {
                    // The search went on behind the match until nothing longer could come.
                    interrupt.spend(found.end() - from + self.longest)?;
                    return Ok(Some((found.pattern().as_u32(), found.start()..found.end())));
                }
                _ => interrupt.spend(end - from)?,
            }
            from = next;
        }
        Ok(None)
    }
}
