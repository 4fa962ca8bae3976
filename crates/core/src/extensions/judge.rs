//! Whether a plugin may write what it wrote: a slot as written is compared with the slot as lent, and
//! what differs is accepted or refused by the slot's tier.

use indexmap::IndexMap;

use super::change::{Change, DERIVED, ORIGIN, header_at, set_header};
use super::object::{self, Object};
use super::sensitive;
use super::slot::{HEADER_MAPS, Slot, Tier};
use crate::Json;
use crate::capability::{Capabilities, Capability};
use crate::effects::Changes;
use crate::json::MAX_DEPTH;
use crate::refusal::Refusal;
use crate::scan;
use crate::verdict::is_header;

/// What became of one written slot.
#[derive(Debug, Default)]
pub(crate) struct Judged {
    /// What is accepted.
    pub(super) change: Option<Change>,
    /// What is refused, a unit of the policy each.
    pub(crate) refused: Vec<Refusal>,
    /// Sensitive headers that were left out.
    pub(crate) stripped: u32,
}

impl Judged {
    fn refuse(&mut self, refusal: Refusal) {
        self.refused.push(refusal);
    }

    fn refused(refusal: Refusal) -> Self {
        Self {
            refused: vec![refusal],
            ..Self::default()
        }
    }
}

/// Judges a slot as written whole; null and an empty object are the same.
pub(super) fn judge(
    slot: Slot,
    lent: Option<&Json>,
    written: &Json,
    granted: Capabilities,
) -> Judged {
    let name = slot.name();
    let Some(new) = Object::read_or_empty(Some(written)) else {
        return Judged::refused(unfit(name, "an object", written));
    };
    // The slot itself is a level of the extensions.
    if scan::depth(written.as_str()) >= MAX_DEPTH {
        return Judged::refused(Refusal::invalid(format!(
            "extension {name} would nest deeper than {MAX_DEPTH}"
        )));
    }
    let old = lent.and_then(Object::read).unwrap_or_default();
    let mut judged = match slot.tier() {
        Tier::Immutable => unchanged(slot, &old, &new, |_| false),
        Tier::Headers => headers(&old, new, granted),
        Tier::Labels => labels(&old, &new, granted),
        Tier::Chain => chain(&old, &new, granted),
        Tier::Mutable => Judged {
            change: Some(Change::Members(members(&old, &new, |_| false))),
            ..Judged::default()
        },
    };
    judged.change = judged.change.filter(|change| !change.is_empty());
    judged
}

/// Refuses a change of the members that no plugin may write.
fn unchanged(slot: Slot, old: &Object, new: &Object, writable: impl Fn(&str) -> bool) -> Judged {
    let name = slot.name();
    let Some(member) = old
        .names_of_both(new)
        .find(|member| !writable(member) && differ(old.get(member), new.get(member)))
    else {
        return Judged::default();
    };
    Judged::refused(Refusal::not_granted(format!(
        "extension {name}: no plugin may change {:?}, plugins write custom, headers of http with the data \
         grant `write_headers`, labels of security with `append_labels`, and delegation with \
         `append_delegation`",
        scan::shown(member)
    )))
}

fn headers(old: &Object, mut new: Object, granted: Capabilities) -> Judged {
    let mut judged = unchanged(Slot::Http, old, &new, |name| HEADER_MAPS.contains(&name));
    let mut maps = IndexMap::new();
    for name in HEADER_MAPS {
        let before = old.get(name).and_then(Object::read).unwrap_or_default();
        let Some(mut after) = Object::read_or_empty(new.0.shift_remove(name).as_ref()) else {
            judged.refuse(Refusal::invalid(format!(
                "extension http.{name} is an object of header names and values"
            )));
            return judged;
        };
        judged.stripped += sensitive::strip(&mut after);
        match header_changes(&before, after) {
            Ok(changes) if changes.is_empty() => {}
            Ok(changes) => {
                maps.insert(name, changes);
            }
            Err(header) => {
                judged.refuse(Refusal::invalid(format!(
                    "extension http.{name}: not an HTTP header: {:?}",
                    scan::shown(&header)
                )));
                return judged;
            }
        }
    }
    if maps.is_empty() {
        return judged;
    }
    if granted.allows(Capability::WriteHeaders) {
        judged.change = Some(Change::Headers(maps));
    } else {
        judged.refuse(missing("http", Capability::WriteHeaders));
    }
    judged
}

/// What makes one header map of the other; the error is the name of what is no header.
fn header_changes(before: &Object, after: Object) -> Result<Changes, String> {
    // Two spellings of one name are one header.
    let mut folded = Object::default();
    for (name, value) in &after.0 {
        set_header(&mut folded, name, Some(value));
    }
    let mut changes = Changes::new();
    for (name, value) in &folded.0 {
        if before.0.get(name).is_some_and(|old| old.same_value(value)) {
            continue;
        }
        let fits = object::string(value).is_some_and(|value| is_header(name, &value));
        if !fits {
            return Err(name.clone());
        }
        changes.insert(name.clone(), Some(value.clone()));
    }
    for name in before.0.keys() {
        if header_at(&folded, name).is_none() {
            changes.insert(name.clone(), None);
        }
    }
    Ok(changes)
}

fn labels(old: &Object, new: &Object, granted: Capabilities) -> Judged {
    let mut judged = unchanged(Slot::Security, old, new, |name| name == "labels");
    let Some(after) = strings(new.get("labels")) else {
        judged.refuse(Refusal::invalid(
            "extension security.labels is an array of strings",
        ));
        return judged;
    };
    let before = strings(old.get("labels")).unwrap_or_default();
    let mut added: Vec<String> = Vec::new();
    for label in &after {
        if !before.contains(label) && !added.contains(label) {
            added.push(label.clone());
        }
    }
    let removed = before.iter().find(|label| !after.contains(label));
    if added.is_empty() && removed.is_none() {
        return judged;
    }
    if !granted.allows(Capability::AppendLabels) {
        judged.refuse(missing("security.labels", Capability::AppendLabels));
    } else if let Some(label) = removed {
        judged.refuse(Refusal::invalid(format!(
            "extension security.labels: labels are only ever added, {:?} was removed",
            scan::shown(label)
        )));
    } else {
        judged.change = Some(Change::Labels(added));
    }
    judged
}

fn chain(old: &Object, new: &Object, granted: Capabilities) -> Judged {
    let differs = old
        .names_of_both(new)
        .any(|name| differ(old.get(name), new.get(name)));
    if !differs {
        return Judged::default();
    }
    if !granted.allows(Capability::AppendDelegation) {
        return Judged::refused(missing("delegation", Capability::AppendDelegation));
    }
    let Some(after) = object::elements_or_none(new.get("chain")) else {
        return Judged::refused(Refusal::invalid("extension delegation.chain is an array"));
    };
    let before = object::elements_or_none(old.get("chain")).unwrap_or_default();
    let extends = after.len() >= before.len()
        && before
            .iter()
            .zip(&after)
            .all(|(old, new)| old.same_value(new));
    if !extends {
        return Judged::refused(Refusal::invalid(format!(
            "extension delegation.chain: hops are only ever appended, the first {} stay as they are",
            before.len()
        )));
    }
    if old.get(ORIGIN).is_some() && differ(old.get(ORIGIN), new.get(ORIGIN)) {
        return Judged::refused(Refusal::invalid(format!(
            "extension delegation.{ORIGIN} is set once, at the root of the chain"
        )));
    }
    let hops = after[before.len()..].to_vec();
    if let Some(hop) = hops.iter().find(|hop| Object::read(hop).is_none()) {
        return Judged::refused(unfit("delegation.chain[]", "an object", hop));
    }
    let derived = |name: &str| name == "chain" || DERIVED.contains(&name);
    Judged {
        change: Some(Change::Chain {
            hops,
            members: members(old, new, derived),
        }),
        ..Judged::default()
    }
}

/// What makes one object's members those of the other, but for some.
fn members(old: &Object, new: &Object, left_out: impl Fn(&str) -> bool) -> Changes {
    let mut changes = Changes::new();
    for name in old.names_of_both(new).filter(|name| !left_out(name)) {
        let (before, after) = (old.0.get(name), new.0.get(name));
        if differ(before, after) {
            changes.insert(name.to_owned(), after.cloned());
        }
    }
    changes
}

fn differ(one: Option<&Json>, other: Option<&Json>) -> bool {
    match (one, other) {
        (Some(one), Some(other)) => !one.same_value(other),
        (None, None) => false,
        _ => true,
    }
}

/// The strings of an array that may be missing; none if it is something else.
fn strings(value: Option<&Json>) -> Option<Vec<String>> {
    object::elements_or_none(value)?
        .iter()
        .map(object::string)
        .collect()
}

fn missing(what: &str, capability: Capability) -> Refusal {
    Refusal::not_granted(format!(
        "extension {what}: the plugin has no data grant `{capability}`\nhint: permissions: {{data: [{capability}]}}"
    ))
}

fn unfit(at: &str, possible: &str, value: &Json) -> Refusal {
    Refusal::invalid(format!(
        "extension {at} is {possible}, not {}",
        object::kind(value)
    ))
}
