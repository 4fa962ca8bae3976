//! What one plugin is lent of the slots, by its grants and the hook.

use super::Extensions;
use super::object::{self, Object};
use super::slot::{Access, Slot, subject_member};
use crate::Json;
use crate::capability::Capabilities;

impl Extensions {
    /// What a plugin with these grants sees at this hook. What it does not see is not there at all.
    pub(crate) fn lent(&self, granted: Capabilities, hook: &str) -> Self {
        let Some(slots) = &self.0 else {
            return Self::default();
        };
        let lent = slots.iter().filter_map(|(slot, value)| {
            let value = match slot.access() {
                Access::Members => members(*slot, value, granted, hook)?,
                access if access.lends(granted, hook) => value.clone(),
                _ => return None,
            };
            Some((*slot, value))
        });
        Self::new(lent.collect())
    }
}

/// The members of a slot that a plugin is lent. None if it learns nothing from them: the slot alone would
/// tell it that there is something it may not see.
fn members(slot: Slot, value: &Json, granted: Capabilities, hook: &str) -> Option<Json> {
    let all = Object::read(value)?;
    let count = all.0.len();
    let mut seen = false;
    let mut lent = Object::default();
    for (name, value) in all.0 {
        let access = slot.member(&name);
        if !access.lends(granted, hook) {
            continue;
        }
        let value = match access {
            Access::Members => match subject(&value, granted) {
                Some(subject) => subject,
                None => continue,
            },
            _ => value,
        };
        seen |= access != Access::Open || !object::is_nothing(&value);
        lent.0.insert(name, value);
    }
    if !seen {
        return None;
    }
    let whole = lent.0.len() == count && slot != Slot::Security;
    Some(if whole { value.clone() } else { lent.write() })
}

/// The part of a subject that a plugin is lent; none if it is lent none.
fn subject(value: &Json, granted: Capabilities) -> Option<Json> {
    let Some(mut members) = Object::read(value) else {
        // It is null: whoever may see who calls may see that nobody does.
        return subject_member("id", granted).then(|| value.clone());
    };
    members.0.retain(|name, _| subject_member(name, granted));
    (!members.0.is_empty()).then(|| members.write())
}
