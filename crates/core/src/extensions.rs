//! [`Extensions`]: typed side-channel slots that travel with a call, filtered per plugin before it is
//! asked and checked after it answered.
//!
//! A request brings slots by name, each a JSON object. `slot` says who is lent what and how each slot may
//! change; `door` checks what came and takes credentials out of it, `filter` makes what one plugin sees,
//! `judge` compares what a plugin wrote with what it was lent, and `change` holds what was accepted in
//! terms that merge. Values nobody touched keep their text.

mod change;
mod door;
mod filter;
mod judge;
mod object;
mod sensitive;
mod slot;

use std::fmt;
use std::sync::Arc;

use indexmap::IndexMap;
use serde::{Serialize, Serializer};

use crate::Json;
use crate::capability::Capabilities;
use crate::secret::{HIDDEN, Search};
use change::Change;
pub use door::InvalidRequest;
pub(crate) use judge::Judged;
pub(crate) use object::Object;
pub(crate) use sensitive::is_sensitive;
pub(crate) use slot::Slot;

/// Slots by name, each a JSON object. Cheap to clone.
#[derive(Clone, Default, PartialEq)]
pub struct Extensions(Option<Arc<IndexMap<Slot, Json>>>);

/// What one answer changes in the slots, in terms that merge with those of other plugins.
#[derive(Debug, Clone, Default, PartialEq)]
pub struct ExtensionChanges(IndexMap<Slot, Change>);

impl Extensions {
    fn new(slots: IndexMap<Slot, Json>) -> Self {
        Self((!slots.is_empty()).then(|| Arc::new(slots)))
    }

    /// Judges a slot as a plugin that was lent these writes it.
    pub(crate) fn judge(&self, slot: Slot, written: &Json, granted: Capabilities) -> Judged {
        judge::judge(slot, self.slot(slot), written, granted)
    }

    /// Carries out accepted changes.
    pub(crate) fn apply(&mut self, changes: &ExtensionChanges) {
        if changes.0.is_empty() {
            return;
        }
        let slots = Arc::make_mut(self.0.get_or_insert_default());
        for (slot, change) in &changes.0 {
            let changed = change.apply(slots.get(slot));
            slots.insert(*slot, changed);
        }
    }

    /// The slots whose value differs from what it was, whole. Tokens are never among them.
    pub(crate) fn changed_since(&self, before: &Self) -> IndexMap<String, Json> {
        let same = match (&self.0, &before.0) {
            (Some(now), Some(before)) => Arc::ptr_eq(now, before),
            (now, _) => now.is_none(),
        };
        if same {
            return IndexMap::new();
        }
        let slots = self.0.iter().flat_map(|slots| slots.iter());
        slots
            .filter(|(slot, value)| {
                let old = before.slot(**slot);
                **slot != Slot::RawCredentials && !old.is_some_and(|old| old.same_value(value))
            })
            .map(|(slot, value)| (slot.name().to_owned(), value.clone()))
            .collect()
    }

    pub(crate) fn slot(&self, slot: Slot) -> Option<&Json> {
        self.0.as_ref()?.get(&slot)
    }

    /// The value of a slot, an object; none where nothing is in it or nothing of it is lent.
    #[must_use]
    pub fn get(&self, slot: &str) -> Option<&Json> {
        self.slot(Slot::named(slot)?)
    }

    /// The slots there are.
    pub fn iter(&self) -> impl Iterator<Item = (&'static str, &Json)> {
        let slots = self.0.iter().flat_map(|slots| slots.iter());
        slots.map(|(slot, value)| (slot.name(), value))
    }

    /// All of them as one object.
    #[must_use]
    pub fn to_json(&self) -> Json {
        let mut slots = Object::default();
        self.iter()
            .for_each(|(name, value)| slots.set(name, value.clone()));
        slots.write()
    }

    /// Whether there is no slot.
    #[must_use]
    pub fn is_empty(&self) -> bool {
        self.0.is_none()
    }
}

/// Shows no tokens.
impl fmt::Debug for Extensions {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let mut map = f.debug_map();
        for (slot, value) in self.iter() {
            match Slot::named(slot) {
                Some(Slot::RawCredentials) => map.entry(&slot, &HIDDEN),
                _ => map.entry(&slot, value),
            };
        }
        map.finish()
    }
}

impl Serialize for Extensions {
    /// An object of slots.
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        serializer.collect_map(self.iter())
    }
}

impl ExtensionChanges {
    /// Whether nothing changes.
    #[must_use]
    pub fn is_empty(&self) -> bool {
        self.0.is_empty()
    }

    /// The slots that change.
    pub fn slots(&self) -> impl Iterator<Item = &'static str> {
        self.0.keys().map(|slot| slot.name())
    }

    /// Looks at everything that is written.
    pub(crate) fn search(&self, search: &mut Search<'_>) {
        self.0.values().for_each(|change| change.search(search));
    }

    /// Bytes of what the change of a slot writes.
    pub(crate) fn bytes(judged: &Judged) -> usize {
        judged.change.as_ref().map_or(0, Change::bytes)
    }

    /// Takes over what was accepted of a written slot, in place of an earlier write of it.
    pub(crate) fn take(&mut self, slot: Slot, judged: Judged) {
        match judged.change {
            Some(change) => {
                self.0.insert(slot, change);
            }
            None => {
                self.0.shift_remove(&slot);
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::capability::Capability;

    fn json(text: &str) -> Json {
        Json::parse(text).expect("I-JSON")
    }

    /// What a plugin with every grant makes of a slot, accepted whole.
    fn change(lent: &Extensions, slot: Slot, written: &str) -> ExtensionChanges {
        let judged = lent.judge(slot, &json(written), Capability::ALL.into_iter().collect());
        assert!(judged.refused.is_empty(), "{:?}", judged.refused);
        let mut changes = ExtensionChanges::default();
        changes.take(slot, judged);
        changes
    }

    #[test]
    fn plugins_that_changed_one_snapshot_both_keep_their_change() {
        for (slot, sent, one, other, expected) in [
            (
                Slot::Custom,
                r#"{"a": 1, "b": 1, "c": 1}"#,
                r#"{"a": 2, "b": 1, "d": 1}"#,
                r#"{"a": 3, "b": 2, "c": 1}"#,
                r#"{"a":3,"b":2,"d":1}"#,
            ),
            (
                Slot::Http,
                r#"{"headers": {"X-A": "1", "X-B": "1"}}"#,
                r#"{"headers": {"x-a": "2"}, "response_headers": {"X-C": "1"}}"#,
                r#"{"headers": {"X-A": "1", "X-b": "3"}}"#,
                r#"{"headers":{"x-a":"2","X-b":"3"},"response_headers":{"X-C":"1"}}"#,
            ),
            (
                Slot::Security,
                r#"{"labels": ["a"]}"#,
                r#"{"labels": ["a", "b", "c"]}"#,
                r#"{"labels": ["a", "d", "b"]}"#,
                r#"{"labels":["a","b","c","d"]}"#,
            ),
            (
                Slot::Delegation,
                r#"{"chain": [{"subject_id": "a"}]}"#,
                r#"{"chain": [{"subject_id": "a"}, {"subject_id": "b"}], "origin_subject_id": "a", "actor_subject_id": "b"}"#,
                r#"{"chain": [{"subject_id": "a"}, {"subject_id": "c"}], "origin_subject_id": "z", "actor_subject_id": "c"}"#,
                r#"{"chain":[{"subject_id": "a"},{"subject_id": "b"},{"subject_id": "c"}],"origin_subject_id":"a","actor_subject_id":"c","depth":3,"delegated":true}"#,
            ),
        ] {
            let snapshot = Extensions::new([(slot, json(sent))].into_iter().collect());
            let changes = [one, other].map(|written| change(&snapshot, slot, written));
            let mut now = snapshot.clone();
            changes.iter().for_each(|changes| now.apply(changes));
            assert_eq!(now.slot(slot).map(Json::as_str), Some(expected));
            assert_eq!(now.changed_since(&snapshot)[slot.name()].as_str(), expected);
        }
    }
}
