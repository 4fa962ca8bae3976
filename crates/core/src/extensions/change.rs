//! [`Change`]: what one answer changes in a slot, in terms that merge: two plugins that changed the same
//! snapshot both keep their change.

use indexmap::IndexMap;

use super::object::{self, Object};
use crate::Json;
use crate::effects::Changes;
use crate::secret::Search;

/// An accepted change of one slot.
#[derive(Debug, Clone, PartialEq)]
pub(super) enum Change {
    /// Headers to set or remove, by the name of their map.
    Headers(IndexMap<&'static str, Changes>),
    /// Labels to add.
    Labels(Vec<String>),
    /// Hops to append, and members besides the chain.
    Chain { hops: Vec<Json>, members: Changes },
    /// Members to set or remove.
    Members(Changes),
}

/// A member of `delegation` that is set once: the root of the chain.
pub(super) const ORIGIN: &str = "origin_subject_id";

/// Members of `delegation` that follow from the chain, whatever a plugin writes there.
pub(super) const DERIVED: [&str; 2] = ["depth", "delegated"];

impl Change {
    /// Whether nothing changes.
    pub(super) fn is_empty(&self) -> bool {
        match self {
            Self::Headers(maps) => maps.values().all(IndexMap::is_empty),
            Self::Labels(labels) => labels.is_empty(),
            Self::Chain { hops, members } => hops.is_empty() && members.is_empty(),
            Self::Members(members) => members.is_empty(),
        }
    }

    /// Bytes of what it writes.
    pub(super) fn bytes(&self) -> usize {
        let changes = |changes: &Changes| -> usize {
            let sizes = changes.iter().map(|(name, value)| {
                name.len() + value.as_ref().map_or(0, |value| value.as_str().len())
            });
            sizes.sum()
        };
        match self {
            Self::Headers(maps) => maps.values().map(changes).sum(),
            Self::Labels(labels) => labels.iter().map(String::len).sum(),
            Self::Chain { hops, members } => {
                hops.iter().map(|hop| hop.as_str().len()).sum::<usize>() + changes(members)
            }
            Self::Members(members) => changes(members),
        }
    }

    /// Looks at everything it writes.
    pub(super) fn search(&self, search: &mut Search<'_>) {
        match self {
            Self::Headers(maps) => maps.values().for_each(|changes| search.changes(changes)),
            Self::Labels(labels) => labels.iter().for_each(|label| search.text(label)),
            Self::Chain { hops, members } => {
                hops.iter().for_each(|hop| search.json(hop));
                search.changes(members);
            }
            Self::Members(members) => search.changes(members),
        }
    }

    /// The slot with the change made.
    pub(super) fn apply(&self, slot: Option<&Json>) -> Json {
        let mut members = slot.and_then(Object::read).unwrap_or_default();
        match self {
            Self::Headers(maps) => {
                for (name, changes) in maps {
                    let mut headers = members.get(name).and_then(Object::read).unwrap_or_default();
                    changes.iter().for_each(|(header, value)| {
                        set_header(&mut headers, header, value.as_ref())
                    });
                    members.set(name, headers.write());
                }
            }
            Self::Labels(added) => {
                let mut labels =
                    object::elements_or_none(members.get("labels")).unwrap_or_default();
                for label in added {
                    if !labels
                        .iter()
                        .any(|one| object::string(one).as_ref() == Some(label))
                    {
                        labels.push(Json::string(label));
                    }
                }
                members.set("labels", object::array(&labels));
            }
            Self::Chain {
                hops,
                members: others,
            } => append(&mut members, hops, others),
            Self::Members(changes) => set_all(&mut members, changes),
        }
        members.write()
    }
}

fn append(delegation: &mut Object, hops: &[Json], others: &Changes) {
    let rooted = delegation.get(ORIGIN).is_some();
    for (name, value) in others {
        if name == ORIGIN && rooted {
            continue;
        }
        set(delegation, name, value.as_ref());
    }
    if hops.is_empty() {
        return;
    }
    let mut chain = object::elements_or_none(delegation.get("chain")).unwrap_or_default();
    chain.extend_from_slice(hops);
    let [depth, delegated] = DERIVED;
    delegation.set("chain", object::array(&chain));
    delegation.set(depth, Json::trusted(chain.len().to_string().into()));
    delegation.set(delegated, Json::trusted("true".into()));
}

fn set_all(members: &mut Object, changes: &Changes) {
    for (name, value) in changes {
        set(members, name, value.as_ref());
    }
}

fn set(members: &mut Object, name: &str, value: Option<&Json>) {
    match value {
        Some(value) => members.set(name, value.clone()),
        None => {
            members.0.shift_remove(name);
        }
    }
}

/// Sets or removes a header: names are compared without case, the last writer's spelling stands.
pub(super) fn set_header(headers: &mut Object, name: &str, value: Option<&Json>) {
    let there = header_at(headers, name);
    headers
        .0
        .retain(|other, _| !other.eq_ignore_ascii_case(name));
    if let Some(value) = value {
        let at = there.unwrap_or(usize::MAX).min(headers.0.len());
        headers.0.shift_insert(at, name.to_owned(), value.clone());
    }
}

/// Where a header stands, its name compared without case.
pub(super) fn header_at(headers: &Object, name: &str) -> Option<usize> {
    headers
        .0
        .keys()
        .position(|other| other.eq_ignore_ascii_case(name))
}
