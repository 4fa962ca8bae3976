//! [`Automaton`]: regular expressions byte by byte, so that the search can be stopped anywhere.
//!
//! A lazily built DFA finds where a match ends, a second one that reads backwards finds where it starts.
//! Neither knows word boundaries beside characters that are not ASCII; there [`threads`] go on.

use regex_automata::hybrid::LazyStateID;
use regex_automata::hybrid::dfa::{Cache, DFA};
use regex_automata::nfa::thompson::{self, NFA, WhichCaptures};
use regex_automata::util::pool::{Pool, PoolGuard};
use regex_automata::{Anchored, Input, MatchKind, PatternID};
use regex_syntax::hir::Hir;
use std::sync::Arc;

use super::threads::{self, Threads};
use super::{MAX_REGEX_BYTES, Match};
use crate::interrupt::{INTERRUPT_BYTES, Interrupt, Stopped};
use crate::refusal::Refusal;

/// Bytes of states each direction keeps; past it they are forgotten and made anew.
const CACHE_BYTES: usize = 2 << 20;
/// Bytes of text between two looks at the interrupt, fewer where each may cost much.
const STRIDE_BYTES: usize = 256;

type Create =
    Box<dyn Fn() -> Space + Send + Sync + std::panic::UnwindSafe + std::panic::RefUnwindSafe>;

#[derive(Debug, Clone)]
pub(super) struct Automaton(Arc<Inner>);

#[derive(Debug)]
struct Inner {
    nfa: NFA,
    /// None where a few states would not fit in the cache.
    lazy: Option<Lazy>,
    spaces: Pool<Space, Create>,
    byte_cost: usize,
}

#[derive(Debug, Clone)]
struct Lazy {
    forward: DFA,
    backward: DFA,
}

/// What a search writes to.
#[derive(Debug)]
struct Space {
    lazy: Option<(Cache, Cache)>,
    threads: Threads,
}

/// The space of one string's search.
pub(super) struct Caches<'a> {
    space: PoolGuard<'a, Space, Create>,
    /// The DFAs met a character they cannot tell about: the rest of the string is read without them.
    gave_up: bool,
}

/// Why a DFA has no answer.
enum Halt {
    GaveUp,
    Stopped,
}

impl From<Stopped> for Halt {
    fn from(_: Stopped) -> Self {
        Self::Stopped
    }
}

fn nfa(patterns: &[Hir], reverse: bool) -> Result<NFA, Refusal> {
    thompson::Compiler::new()
        .configure(
            NFA::config()
                .reverse(reverse)
                .which_captures(WhichCaptures::None)
                .nfa_size_limit(Some(MAX_REGEX_BYTES)),
        )
        .build_many_from_hir(patterns)
        .map_err(|error| Refusal::too_large(error.to_string()))
}

impl Lazy {
    fn compile(forward: &NFA, backward: NFA) -> Option<Self> {
        let dfa = |nfa, kind| {
            let config = DFA::config()
                .match_kind(kind)
                .unicode_word_boundary(true)
                .cache_capacity(CACHE_BYTES);
            DFA::builder().configure(config).build_from_nfa(nfa).ok()
        };
        Some(Self {
            forward: dfa(forward.clone(), MatchKind::LeftmostFirst)?,
            backward: dfa(backward, MatchKind::All)?,
        })
    }
}

impl Automaton {
    pub(super) fn compile(patterns: &[Hir]) -> Result<Self, Refusal> {
        let forward = nfa(patterns, false)?;
        let lazy = Lazy::compile(&forward, nfa(patterns, true)?);
        let (states, spaced) = (forward.states().len(), lazy.clone());
        let create: Create = Box::new(move || Space {
            lazy: spaced
                .as_ref()
                .map(|lazy| (lazy.forward.create_cache(), lazy.backward.create_cache())),
            threads: Threads::new(states),
        });
        Ok(Self(Arc::new(Inner {
            nfa: forward,
            lazy,
            spaces: Pool::new(create),
            byte_cost: super::regex::byte_cost(states),
        })))
    }

    pub(super) fn byte_cost(&self) -> usize {
        self.0.byte_cost
    }

    pub(super) fn memory_bytes(&self) -> usize {
        let lazy = self.0.lazy.as_ref();
        // The two directions are about equally large, and the cache is there once for each thread.
        2 * self.0.nfa.memory_usage() + lazy.map_or(0, |_| 2 * CACHE_BYTES)
    }

    pub(super) fn caches(&self) -> Caches<'_> {
        Caches {
            space: self.0.spaces.get(),
            gave_up: self.0.lazy.is_none(),
        }
    }

    /// The first match at or behind `from`.
    pub(super) fn find(
        &self,
        text: &str,
        from: usize,
        caches: &mut Caches<'_>,
        interrupt: &mut Interrupt<'_>,
    ) -> Result<Option<Match>, Stopped> {
        let space = &mut *caches.space;
        if let (Some(lazy), Some(cache), false) = (&self.0.lazy, &mut space.lazy, caches.gave_up) {
            let mut pace = Pace {
                cost: self.0.byte_cost,
                interrupt,
            };
            match lazy.find(text.as_bytes(), from, cache, &mut pace) {
                Ok(found) => return Ok(found),
                Err(Halt::Stopped) => return Err(Stopped),
                Err(Halt::GaveUp) => caches.gave_up = true,
            }
        }
        threads::find(
            &self.0.nfa,
            text.as_bytes(),
            from,
            &mut space.threads,
            interrupt,
        )
    }
}

struct Pace<'a, 'b> {
    cost: usize,
    interrupt: &'a mut Interrupt<'b>,
}

impl Pace<'_, '_> {
    /// Bytes to read between two looks: the states met in them may all be new, and to make one each state
    /// of the expressions is looked at.
    fn stride(&self) -> usize {
        (INTERRUPT_BYTES / self.cost).clamp(1, STRIDE_BYTES)
    }

    fn spend(&mut self, bytes: usize) -> Result<(), Stopped> {
        self.interrupt.spend(bytes * self.cost)
    }
}

impl Lazy {
    fn find(
        &self,
        text: &[u8],
        from: usize,
        (forward, backward): &mut (Cache, Cache),
        pace: &mut Pace<'_, '_>,
    ) -> Result<Option<Match>, Halt> {
        let Some((pattern, end)) = self.end(text, from, forward, pace)? else {
            return Ok(None);
        };
        let start = self.start(text, from..end, backward, pace)?;
        // A start there is, or there were no end.
        Ok(start.map(|start| (pattern.as_u32(), start..end)))
    }

    /// The end of the leftmost match. A state tells of a match one byte behind its end.
    fn end(
        &self,
        text: &[u8],
        from: usize,
        cache: &mut Cache,
        pace: &mut Pace<'_, '_>,
    ) -> Result<Option<(PatternID, usize)>, Halt> {
        let dfa = &self.forward;
        let input = Input::new(text).range(from..);
        let mut state = dfa
            .start_state_forward(cache, &input)
            .map_err(|_| Halt::GaveUp)?;
        let (mut found, size) = (None, pace.stride());
        for (index, stride) in text[from..].chunks(size).enumerate() {
            pace.spend(stride.len())?;
            let mut offset = 0;
            while offset < stride.len() {
                offset += known(dfa, cache, &mut state, &stride[offset..]);
                let Some(byte) = stride.get(offset) else {
                    break;
                };
                state = next(dfa, cache, state, *byte)?;
                if state.is_match() {
                    let at = from + index * size + offset;
                    found = Some((dfa.match_pattern(cache, state, 0), at));
                } else if state.is_dead() {
                    return Ok(found);
                } else if state.is_quit() {
                    return Err(Halt::GaveUp);
                }
                offset += 1;
            }
        }
        let last = dfa.next_eoi_state(cache, state).map_err(|_| Halt::GaveUp)?;
        if last.is_match() {
            found = Some((dfa.match_pattern(cache, last, 0), text.len()));
        }
        Ok(found)
    }

    /// The start of the match that lies in `range` and ends with it: the leftmost of those that could be.
    fn start(
        &self,
        text: &[u8],
        range: std::ops::Range<usize>,
        cache: &mut Cache,
        pace: &mut Pace<'_, '_>,
    ) -> Result<Option<usize>, Halt> {
        let dfa = &self.backward;
        let input = Input::new(text)
            .range(range.clone())
            .anchored(Anchored::Yes);
        let mut state = dfa
            .start_state_reverse(cache, &input)
            .map_err(|_| Halt::GaveUp)?;
        let (mut found, mut at) = (None, range.end);
        for stride in text[range.clone()].rchunks(pace.stride()) {
            pace.spend(stride.len())?;
            for byte in stride.iter().rev() {
                state = next(dfa, cache, state, *byte)?;
                if state.is_tagged() {
                    if state.is_match() {
                        found = Some(at);
                    } else if state.is_dead() {
                        return Ok(found);
                    } else if state.is_quit() {
                        return Err(Halt::GaveUp);
                    }
                }
                at -= 1;
            }
        }
        let last = match range.start.checked_sub(1) {
            Some(before) => next(dfa, cache, state, text[before])?,
            None => dfa.next_eoi_state(cache, state).map_err(|_| Halt::GaveUp)?,
        };
        if last.is_match() {
            found = Some(range.start);
        } else if last.is_quit() {
            return Err(Halt::GaveUp);
        }
        Ok(found)
    }
}

/// Reads on as long as nothing happens: no match, no end, no state that is yet to be made. Answers how far.
#[inline]
fn known(dfa: &DFA, cache: &Cache, state: &mut LazyStateID, text: &[u8]) -> usize {
    if state.is_tagged() {
        return 0;
    }
    let mut at = *state;
    let mut read = 0;
    for byte in text {
        let next = dfa.next_state_untagged(cache, at, *byte);
        if next.is_tagged() {
            break;
        }
        at = next;
        read += 1;
    }
    *state = at;
    read
}

#[inline(always)]
fn next(dfa: &DFA, cache: &mut Cache, state: LazyStateID, byte: u8) -> Result<LazyStateID, Halt> {
    dfa.next_state(cache, state, byte).map_err(|_| Halt::GaveUp)
}
