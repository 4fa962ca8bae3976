//! The side-channel slots of a call: what the plugin was lent, and what it writes.

use super::Draft;
use crate::Json;
use crate::extensions::{ExtensionChanges, Judged, Object, Slot};
use crate::refusal::{Refusal, RefusalCode};

/// What a refused slot is called in a record.
const WHAT: &str = "extension";

impl Draft {
    /// A side-channel slot as the plugin may see it, its own writes included; none where there is nothing.
    ///
    /// # Errors
    ///
    /// `not-granted` for a slot that needs a data grant the plugin does not have, whether anything is in it
    /// or not; `invalid` for a slot there is not.
    pub fn extension(&mut self, slot: &str) -> Result<Option<Json>, Refusal> {
        let readable = Slot::wanted(slot).and_then(|slot| {
            slot.readable(self.granted, &self.hook)?;
            Ok(slot)
        });
        let slot = self.note(readable)?;
        let mut seen = self.extensions.clone();
        seen.apply(&self.parts.effects().extensions);
        Ok(seen.slot(slot).cloned())
    }

    /// Writes a side-channel slot whole, all of it or nothing. What a plugin may change:
    ///
    /// - `custom`: anything;
    /// - `http`: headers, with `write_headers`. Sensitive ones are left out without an error, and counted;
    /// - `security`: more `labels`, with `append_labels`;
    /// - `delegation`: more hops in `chain`, and what goes with them, with `append_delegation`. `depth` and
    ///   `delegated` follow from the chain.
    ///
    /// Everything else in the slot must be as it was lent. A second write of a slot takes the place of the
    /// first. A refused write is no refused edit: the plugin may still allow.
    ///
    /// # Errors
    ///
    /// `not-granted` for what it may not change, `invalid` for what does not fit or takes something away
    /// that only grows, `too-large` past the limit of an answer.
    pub fn set_extension(&mut self, slot: &str, value: Json) -> Result<(), Refusal> {
        let wanted = Slot::wanted(slot);
        let slot = self.note(wanted)?;
        let mut judged = self.extensions.judge(slot, &value, self.granted);
        self.note_stripped(&judged);
        if judged.refused.is_empty() {
            return self.accept(slot, judged);
        }
        let refusal = judged.refused.swap_remove(0);
        self.note(Err(refusal))
    }

    /// Takes over what a plugin returned of the slots, for plugins that hand back all of them at once. Each
    /// part the policy judges by itself counts or is refused by itself, so that one forged slot does not
    /// cost the others. A slot that is missing or null is as it was lent, but a null `custom` is an empty one.
    ///
    /// Answers what was refused, which the record lists as well.
    pub fn merge_extensions(&mut self, returned: &Json) -> Vec<Refusal> {
        let mut refused = Vec::new();
        let Some(slots) = Object::read_or_empty(Some(returned)) else {
            let refusal =
                Refusal::invalid("the extensions a plugin returns are an object of slots");
            refused.extend(self.note::<()>(Err(refusal)).err());
            return refused;
        };
        for (name, value) in slots.iter() {
            let wanted = Slot::wanted(name);
            let slot = match self.note(wanted) {
                Ok(slot) => slot,
                Err(refusal) => {
                    refused.push(refusal);
                    continue;
                }
            };
            if value.is_null() && slot != Slot::Custom {
                continue;
            }
            let mut judged = self.extensions.judge(slot, value, self.granted);
            self.note_stripped(&judged);
            for refusal in std::mem::take(&mut judged.refused) {
                refused.extend(self.note::<()>(Err(refusal)).err());
            }
            refused.extend(self.accept(slot, judged).err());
        }
        refused
    }

    /// Counts a write that was refused before it could be judged, such as one whose value is not I-JSON.
    pub fn refuse_extension(&mut self, refusal: Refusal) -> Refusal {
        self.parts.refused.note(WHAT, refusal.code);
        refusal
    }

    fn accept(&mut self, slot: Slot, judged: Judged) -> Result<(), Refusal> {
        self.grow(WHAT, ExtensionChanges::bytes(&judged))?;
        self.parts.effects_mut().extensions.take(slot, judged);
        Ok(())
    }

    fn note_stripped(&mut self, judged: &Judged) {
        for _ in 0..judged.stripped {
            self.parts.refused.note(WHAT, RefusalCode::NotGranted);
        }
    }

    fn note<T>(&mut self, result: Result<T, Refusal>) -> Result<T, Refusal> {
        result.inspect_err(|refusal| self.parts.refused.note(WHAT, refusal.code))
    }
}
