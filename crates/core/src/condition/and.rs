//! Both of two conditions as one condition, and whether one can hold at all.
//!
//! An empty field holds always, so two lists without a common word must never become an empty one: they
//! are kept side by side, the second in [`Condition::also`].

use std::collections::BTreeSet;

use super::{Condition, subject_field};

impl Condition {
    /// The condition that holds exactly where both hold.
    #[must_use]
    pub fn and(&self, other: &Self) -> Self {
        let (mut both, other) = (self.clone().normalised(), other.clone().normalised());
        let mut rest = Self::default();
        for (one, other, rest) in [
            (
                &mut both.server_ids,
                &other.server_ids,
                &mut rest.server_ids,
            ),
            (
                &mut both.tenant_ids,
                &other.tenant_ids,
                &mut rest.tenant_ids,
            ),
            (&mut both.tools, &other.tools, &mut rest.tools),
            (&mut both.prompts, &other.prompts, &mut rest.prompts),
            (&mut both.resources, &other.resources, &mut rest.resources),
            (&mut both.agents, &other.agents, &mut rest.agents),
        ] {
            let common: BTreeSet<String> = &*one & other;
            if one.is_empty() {
                one.clone_from(other);
            } else if !common.is_empty() {
                *one = common;
            } else {
                rest.clone_from(other);
            }
        }
        let listed_too = |kind: &String| other.content_types.contains(kind);
        if both.content_types.is_empty() {
            both.content_types.clone_from(&other.content_types);
        } else if both.content_types.iter().any(listed_too) {
            both.content_types.retain(listed_too);
        } else {
            rest.content_types.clone_from(&other.content_types);
        }
        // One name may hold a text of each list, so lists of texts have nothing in common.
        if both.user_patterns.is_empty() {
            both.user_patterns.clone_from(&other.user_patterns);
        } else if both.user_patterns != other.user_patterns {
            rest.user_patterns.clone_from(&other.user_patterns);
        }
        both.also.extend(other.also);
        if rest != Self::default() {
            both.also.push(rest);
        }
        both
    }

    /// The field that keeps the condition from ever holding at a hook, whoever calls and whatever it is about.
    pub(crate) fn never_at(&self, hook: &str) -> Option<&'static str> {
        let parts = self.parts();
        ["server_ids", "tenant_ids", "content_types"]
            .into_iter()
            .chain(subject_field(hook))
            .find(|field| {
                let mut lists = parts
                    .iter()
                    .map(|part| part.listed(field))
                    .filter(|listed| !listed.is_empty());
                lists.next().is_some_and(|mut left| {
                    lists.for_each(|listed| left.retain(|name| listed.contains(name)));
                    left.is_empty()
                })
            })
    }

    /// The condition and all that must hold as well.
    fn parts(&self) -> Vec<&Self> {
        let mut parts = vec![self];
        let mut at = 0;
        while let Some(part) = parts.get(at).copied() {
            parts.extend(&part.also);
            at += 1;
        }
        parts
    }
}

#[cfg(test)]
mod tests;
