//! Regular expressions by following all ways through their automaton at once: slow, exact everywhere,
//! and stopped anywhere.

use regex_automata::nfa::thompson::{NFA, State};
use regex_automata::util::primitives::StateID;

use super::Match;
use super::regex::STATES_A_BYTE;
use crate::interrupt::{Interrupt, Stopped};

/// Where all ways are that the search is on.
#[derive(Debug)]
pub(super) struct Threads {
    now: Places,
    then: Places,
    /// States to go on from, the last first.
    stack: Vec<StateID>,
}

/// States with the start of the match that leads there, first come first, each once.
#[derive(Debug)]
struct Places {
    order: Vec<(StateID, usize)>,
    /// For each state the round in which it was last put in.
    seen: Vec<u64>,
    round: u64,
}

impl Threads {
    pub(super) fn new(states: usize) -> Self {
        let places = || Places {
            order: Vec::new(),
            seen: vec![0; states],
            round: 0,
        };
        Self {
            now: places(),
            then: places(),
            stack: Vec::new(),
        }
    }
}

impl Places {
    fn clear(&mut self) {
        self.order.clear();
        self.round += 1;
    }

    fn is_new(&mut self, state: StateID) -> bool {
        let seen = &mut self.seen[state.as_usize()];
        std::mem::replace(seen, self.round) != self.round
    }
}

/// Counts states looked at.
struct Pace<'a, 'b> {
    states: usize,
    interrupt: &'a mut Interrupt<'b>,
}

impl Pace<'_, '_> {
    fn step(&mut self) -> Result<(), Stopped> {
        self.states += 1;
        if self.states < STATES_A_BYTE {
            return Ok(());
        }
        self.states = 0;
        self.interrupt.spend(1)
    }
}

/// The first match at or behind `from`.
pub(super) fn find(
    nfa: &NFA,
    text: &[u8],
    from: usize,
    threads: &mut Threads,
    interrupt: &mut Interrupt<'_>,
) -> Result<Option<Match>, Stopped> {
    let Threads { now, then, stack } = threads;
    let mut pace = Pace {
        states: 0,
        interrupt,
    };
    let mut found: Option<Match> = None;
    now.clear();
    for at in from..=text.len() {
        if found.is_some() && now.order.is_empty() {
            break;
        }
        if found.is_none() {
            // A match that starts later is wished for less than all that are under way.
            reach(
                nfa,
                text,
                at,
                (nfa.start_anchored(), at),
                now,
                stack,
                &mut pace,
            )?;
        }
        then.clear();
        for &(id, start) in &now.order {
            pace.step()?;
            let next = match nfa.state(id) {
                State::ByteRange { trans } => trans.matches(text, at).then_some(trans.next),
                State::Sparse(ranges) => ranges.matches(text, at),
                State::Dense(ranges) => ranges.matches(text, at),
                State::Match { pattern_id } => {
                    found = Some((pattern_id.as_u32(), start..at));
                    // What comes later in the order is wished for less.
                    break;
                }
                _ => None,
            };
            if let Some(next) = next {
                reach(nfa, text, at + 1, (next, start), then, stack, &mut pace)?;
            }
        }
        pace.interrupt.spend(1)?;
        std::mem::swap(now, then);
    }
    Ok(found)
}

/// Puts in the states that are reached without reading a byte, those wished for most first.
fn reach(
    nfa: &NFA,
    text: &[u8],
    at: usize,
    (from, start): (StateID, usize),
    places: &mut Places,
    stack: &mut Vec<StateID>,
    pace: &mut Pace<'_, '_>,
) -> Result<(), Stopped> {
    stack.clear();
    stack.push(from);
    while let Some(id) = stack.pop() {
        if !places.is_new(id) {
            continue;
        }
        pace.step()?;
        match nfa.state(id) {
            State::Fail => {}
            State::Look { look, next } => {
                if nfa.look_matcher().matches(*look, text, at) {
                    stack.push(*next);
                }
            }
            State::Union { alternates } => stack.extend(alternates.iter().rev()),
            State::BinaryUnion { alt1, alt2 } => stack.extend([*alt2, *alt1]),
            State::Capture { next, .. } => stack.push(*next),
            _ => places.order.push((id, start)),
        }
    }
    Ok(())
}
