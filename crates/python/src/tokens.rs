//! [`Tokens`]: the tokens a plugin has been lent, which nothing it prints or raises may show.
//!
//! A plugin can print a token long after the call that brought it, so the last ones stay known when their
//! calls have ended. Texts are searched for a token as it is, as JSON writes it, in base64 and percent-encoded;
//! one that was encrypted, compressed or spelled out is not found.

mod forms;
mod scrub;

use std::borrow::Cow;
use std::collections::VecDeque;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use hookgate_core::{Fault, Json};
use serde_json::{Map, Value};

use scrub::Finder;
pub(crate) use scrub::Scrubber;

/// What stands in the place of a token, as in the legacy framework's own dumps.
pub(crate) const HIDDEN: &str = "**********";
/// Shortest token that is looked for, in bytes: what the legacy framework looks for. Words are shorter by
/// chance, tokens of real issuers never.
pub(crate) const MIN_BYTES: usize = 12;
/// Tokens that stay known when their calls have ended. Far more than a class keeps in hand for its next
/// line; those of calls under way are always known.
const KEPT_TOKENS: usize = 64;
/// All of these together, in bytes: the search needs some ten times as much. The newest is always kept.
const KEPT_BYTES: usize = 256 * 1024;

/// The tokens one plugin knows, over all its workers.
#[derive(Default)]
pub(crate) struct Tokens(Mutex<Known>);

#[derive(Default)]
struct Known {
    /// The newest last.
    entries: VecDeque<Entry>,
    /// Made when something is searched, not when a token comes: most plugins print nothing.
    finder: Option<Arc<Finder>>,
}

struct Entry {
    token: Arc<str>,
    /// Calls under way that brought it.
    users: usize,
}

impl Tokens {
    /// Knows these at least as long as the answer lives.
    pub(crate) fn hold(self: &Arc<Self>, tokens: Vec<String>) -> Held {
        let mut known = self.lock();
        let tokens = tokens.into_iter().filter(|token| token.len() >= MIN_BYTES);
        let tokens: Vec<Arc<str>> = tokens.map(|token| known.learn(&token, 1)).collect();
        drop(known);
        Held {
            tokens,
            of: Arc::clone(self),
        }
    }

    /// Knows one for a while.
    pub(crate) fn remember(&self, token: &str) {
        if token.len() >= MIN_BYTES {
            self.lock().learn(token, 0);
        }
    }

    /// What finds them; none while there is nothing to find.
    pub(crate) fn finder(&self) -> Option<Arc<Finder>> {
        let mut known = self.lock();
        if known.entries.is_empty() {
            return None;
        }
        if known.finder.is_none() {
            let tokens = known.entries.iter().map(|entry| &*entry.token);
            known.finder = Some(Arc::new(Finder::new(tokens)));
        }
        known.finder.clone()
    }

    /// A text with asterisks for each.
    pub(crate) fn hide<'t>(&self, text: &'t str) -> Cow<'t, str> {
        match self.finder() {
            Some(finder) => finder.hide(text),
            None => text.into(),
        }
    }

    /// The same for a fault.
    pub(crate) fn hide_in(&self, mut fault: Fault) -> Fault {
        let Some(finder) = self.finder() else {
            return fault;
        };
        fault.message = finder.hide(&fault.message).into_owned();
        let before = fault.details.to_value();
        let after = hidden(before.clone(), &finder);
        if before != after {
            fault.details = Json::from_value(&after);
        }
        fault
    }

    fn lock(&self) -> MutexGuard<'_, Known> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl Known {
    fn learn(&mut self, token: &str, users: usize) -> Arc<str> {
        let place = self.entries.iter().position(|entry| &*entry.token == token);
        let mut entry = place
            .and_then(|at| self.entries.remove(at))
            .unwrap_or_else(|| {
                self.finder = None;
                Entry {
                    token: token.into(),
                    users: 0,
                }
            });
        entry.users += users;
        let token = Arc::clone(&entry.token);
        self.entries.push_back(entry);
        self.forget_old();
        token
    }

    fn release(&mut self, token: &str) {
        let mut entries = self.entries.iter_mut();
        if let Some(entry) = entries.find(|entry| &*entry.token == token) {
            entry.users -= 1;
        }
        self.forget_old();
    }

    fn forget_old(&mut self) {
        let (mut count, mut bytes) = (0, 0);
        let before = self.entries.len();
        // From the newest on; what a call holds does not count.
        for at in (0..before).rev() {
            let entry = &self.entries[at];
            if entry.users > 0 {
                continue;
            }
            count += 1;
            bytes += entry.token.len();
            if count > KEPT_TOKENS || (bytes > KEPT_BYTES && count > 1) {
                self.entries.remove(at);
            }
        }
        if self.entries.len() < before {
            self.finder = None;
        }
    }
}

/// Tokens of a call under way.
pub(crate) struct Held {
    tokens: Vec<Arc<str>>,
    of: Arc<Tokens>,
}

impl Drop for Held {
    fn drop(&mut self) {
        let mut known = self.of.lock();
        for token in &self.tokens {
            known.release(token);
        }
    }
}

fn hidden(value: Value, finder: &Finder) -> Value {
    match value {
        Value::String(text) => finder.hide(&text).into_owned().into(),
        Value::Array(items) => items.into_iter().map(|item| hidden(item, finder)).collect(),
        Value::Object(members) => members
            .into_iter()
            .map(|(name, value)| (finder.hide(&name).into_owned(), hidden(value, finder)))
            .collect::<Map<_, _>>()
            .into(),
        other => other,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn token(number: usize) -> String {
        format!("token-number-{number:04}")
    }

    fn knows(tokens: &Tokens, token: &str) -> bool {
        !tokens.hide(token).contains(token)
    }

    #[test]
    fn the_last_tokens_are_known_and_those_of_calls_under_way() {
        let tokens = Arc::new(Tokens::default());
        assert_eq!(tokens.hide("token-number-0001"), "token-number-0001");
        let held = tokens.hold(vec![token(0), "short".into()]);
        for number in 1..=KEPT_TOKENS + 1 {
            drop(tokens.hold(vec![token(number)]));
        }
        assert!(knows(&tokens, &token(0)), "its call is under way");
        assert!(!knows(&tokens, &token(1)), "the oldest is forgotten");
        assert!(knows(&tokens, &token(2)));
        assert!(!knows(&tokens, "short"));
        drop(held);
        assert!(!knows(&tokens, &token(0)));
        assert_eq!(tokens.lock().entries.len(), KEPT_TOKENS);
    }

    #[test]
    fn a_token_that_comes_again_is_as_new_as_any() {
        let tokens = Arc::new(Tokens::default());
        let first = tokens.hold(vec![token(0)]);
        drop(tokens.hold(vec![token(0)]));
        drop(first);
        for number in 1..KEPT_TOKENS {
            tokens.remember(&token(number));
        }
        tokens.remember(&token(0));
        tokens.remember(&token(KEPT_TOKENS));
        assert!(knows(&tokens, &token(0)));
        assert!(!knows(&tokens, &token(1)));
    }

    #[test]
    fn what_is_kept_is_bounded_and_the_newest_always_there() {
        let tokens = Arc::new(Tokens::default());
        for letter in ["a", "b", "c"] {
            tokens.remember(&letter.repeat(KEPT_BYTES));
        }
        let known = tokens.lock();
        let kept: Vec<_> = known
            .entries
            .iter()
            .map(|entry| &entry.token[..1])
            .collect();
        assert_eq!(kept, ["c"]);
    }

    #[test]
    fn faults_hide_them_in_message_names_and_values() {
        let tokens = Tokens::default();
        tokens.remember("token-number-0001");
        let details = serde_json::json!({"a token-number-0001": ["token%2Dnumber%2d0001", 1]});
        let fault = Fault::new(
            hookgate_core::FaultKind::PluginError,
            "no token-number-0001!",
        );
        let fault = tokens.hide_in(fault.with_details(Json::from_value(&details)));
        assert_eq!(fault.message, "no **********!");
        assert_eq!(
            fault.details.to_value(),
            serde_json::json!({"a **********": ["**********", 1]})
        );
    }
}
