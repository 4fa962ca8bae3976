//! [`Effects`]: what a plugin leaves behind besides its verdict and its edits.

use std::fmt;

use indexmap::IndexMap;
use serde::Serialize;

use crate::Json;
use crate::extensions::ExtensionChanges;
use crate::request::StateMap;
use crate::secret::{Headers, Search, shown, without_tokens_of};
use crate::verdict::{header_map, set_header};

/// Changes of a key-value map: a value to write, or none to remove the key.
pub type Changes = IndexMap<String, Option<Json>>;

/// What one plugin's answer leaves behind. Dropped whole when the call ends in a fault.
#[derive(Clone, Default, PartialEq)]
pub struct Effects {
    /// Private state.
    pub state: Changes,
    /// Shared state.
    pub shared: Changes,
    /// The request's metadata, as later hooks of the request see it.
    pub request_metadata: Changes,
    /// Marks for the caller.
    pub metadata: IndexMap<String, Json>,
    /// Headers for the caller.
    pub headers: Vec<(String, String)>,
    /// Milliseconds the caller should wait before it tries again.
    pub retry_after_ms: Option<u32>,
    /// Side-channel slots.
    pub extensions: ExtensionChanges,
    /// The result of a hook whose answer is not its payload.
    pub result: Option<Json>,
}

/// Shows no tokens.
impl fmt::Debug for Effects {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        /// The same members, of which headers are shown in a way of their own.
        #[derive(Debug)]
        #[expect(dead_code, reason = "only what it prints is used")]
        struct Effects<'e> {
            state: &'e Changes,
            shared: &'e Changes,
            request_metadata: &'e Changes,
            metadata: &'e IndexMap<String, Json>,
            headers: Headers<'e>,
            retry_after_ms: Option<u32>,
            extensions: &'e ExtensionChanges,
            result: &'e Option<Json>,
        }
        let plain = Effects {
            state: &self.state,
            shared: &self.shared,
            request_metadata: &self.request_metadata,
            metadata: &self.metadata,
            headers: Headers(&self.headers),
            retry_after_ms: self.retry_after_ms,
            extensions: &self.extensions,
            result: &self.result,
        };
        // A header may repeat the token of a result.
        let text = format!("{plain:?}");
        f.write_str(&without_tokens_of(self.result.as_ref(), text))
    }
}

impl Effects {
    /// Looks at everything in it.
    pub(crate) fn search(&self, search: &mut Search<'_>) {
        let Self {
            state,
            shared,
            request_metadata,
            metadata,
            headers,
            retry_after_ms: _,
            extensions,
            result,
        } = self;
        for changes in [state, shared, request_metadata] {
            search.changes(changes);
        }
        for (name, value) in metadata {
            search.text(name);
            search.json(value);
        }
        for (name, value) in headers {
            search.text(name);
            search.text(value);
        }
        extensions.search(search);
        if let Some(result) = result {
            search.json(result);
        }
    }
}

/// The effects of all plugins of one hook, as the caller sees them.
#[derive(Clone, Default, PartialEq, Serialize)]
pub struct OutcomeEffects {
    /// Marks; of two with one key the later plugin's stands.
    pub metadata: IndexMap<String, Json>,
    /// Headers; names are compared without case, the last writer wins.
    #[serde(with = "header_map")]
    pub headers: Vec<(String, String)>,
    /// The longest delay any plugin asked for.
    pub retry_after_ms: Option<u32>,
    /// Typed side-channel slots that changed.
    pub extensions: IndexMap<String, Json>,
    /// The last plugin's result. That of `token_delegate` has a `delegated_token`, which the caller gets and
    /// debug output hides.
    pub result: Option<Json>,
}

/// What the caller is handed, without what holds tokens: a result of `token_delegate` is one.
impl fmt::Debug for OutcomeEffects {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let text = serde_json::to_string(self).map_err(|_| fmt::Error)?;
        write!(f, "OutcomeEffects({})", shown(&text))
    }
}

impl OutcomeEffects {
    /// Adds what one plugin left behind.
    pub(crate) fn merge(&mut self, effects: Effects) {
        self.metadata.extend(effects.metadata);
        for (name, value) in &effects.headers {
            set_header(&mut self.headers, name, value);
        }
        self.retry_after_ms = self.retry_after_ms.max(effects.retry_after_ms);
        if effects.result.is_some() {
            self.result = effects.result;
        }
    }
}

/// Applies changes to a map.
pub(crate) fn apply(changes: &Changes, map: &mut StateMap) {
    for (key, change) in changes {
        match change {
            Some(value) => {
                map.insert(key.clone(), value.clone());
            }
            None => {
                map.shift_remove(key);
            }
        }
    }
}

/// Bytes a map of state counts for: keys and JSON text.
pub(crate) fn bytes(map: &StateMap) -> u64 {
    map.iter()
        .map(|(key, value)| (key.len() + value.as_str().len()) as u64)
        .sum()
}

/// Bytes that go from a map with these changes, and bytes that come.
pub(crate) fn resized(changes: &Changes, map: &StateMap) -> (u64, u64) {
    let size = |key: &str, value: &Json| (key.len() + value.as_str().len()) as u64;
    changes.iter().fold((0, 0), |(gone, new), (key, change)| {
        let old = map.get(key).map_or(0, |value| size(key, value));
        let now = change.as_ref().map_or(0, |value| size(key, value));
        (gone + old, new + now)
    })
}
