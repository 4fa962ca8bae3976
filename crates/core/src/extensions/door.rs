//! The check of a request's extensions, once per call and before any plugin: what the policy cannot tell
//! apart it cannot filter, so a request whose slots are of other shapes is not asked about at all.

use indexmap::IndexMap;

use super::Extensions;
use super::object::{self, Object};
use super::sensitive;
use super::slot::{Access, HEADER_MAPS, SUBJECT_MEMBERS, Slot};
use crate::Json;
use crate::scan;

/// Names of a request shown in one warning: they are the caller's, and there may be many.
const SHOWN_NAMES: usize = 8;

/// A request that no plugin can be asked about safely.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("the extensions of the request do not fit: {problem}")]
pub struct InvalidRequest {
    /// What does not fit, and what is possible.
    pub problem: String,
}

impl InvalidRequest {
    /// The code callers see.
    pub const CODE: &'static str = "invalid_request";
}

impl Extensions {
    /// The slots of a request, as a front door sent them, without sensitive headers.
    pub(crate) fn of(sent: Option<&Json>, hook: &str) -> Result<Self, InvalidRequest> {
        let Some(sent) = sent.filter(|sent| !sent.is_null()) else {
            return Ok(Self::default());
        };
        let members = object_at(sent, "extensions")?;
        let mut slots = IndexMap::new();
        let mut unknown = Vec::new();
        for (name, value) in members.0 {
            let Some(slot) = Slot::named(&name) else {
                unknown.push(name);
                continue;
            };
            if value.is_null() {
                continue;
            }
            check(slot, &value, &mut unknown)?;
            let value = if slot == Slot::Http {
                sensitive::stripped(&value)
            } else {
                value
            };
            slots.insert(slot, value);
        }
        warn(&unknown, hook);
        Ok(Self::new(slots))
    }
}

/// Checks the shape of what the policy looks into, and notes members it does not know.
fn check(slot: Slot, value: &Json, unknown: &mut Vec<String>) -> Result<(), InvalidRequest> {
    let at = format!("extensions.{}", slot.name());
    let members = object_at(value, &at)?;
    match slot {
        Slot::Http => {
            for name in HEADER_MAPS {
                if let Some(headers) = members.get(name) {
                    object_at(headers, &format!("{at}.{name}"))?;
                }
            }
        }
        Slot::Security => {
            if let Some(labels) = members.get("labels") {
                strings_at(labels, &format!("{at}.labels"))?;
            }
            if let Some(subject) = members.get("subject") {
                let subject = object_at(subject, &format!("{at}.subject"))?;
                let known = |name: &str| SUBJECT_MEMBERS.contains(&name);
                note(unknown, "security.subject", &subject, known);
            }
        }
        Slot::Delegation => {
            if let Some(chain) = members.get("chain") {
                array_at(chain, &format!("{at}.chain"))?;
            }
        }
        _ => {}
    }
    if slot.access() == Access::Members {
        let known = |name: &str| slot.member(name) != Access::Nobody;
        note(unknown, slot.name(), &members, known);
    }
    Ok(())
}

fn note(unknown: &mut Vec<String>, at: &str, members: &Object, known: impl Fn(&str) -> bool) {
    let names = members.0.keys().filter(|name| !known(name));
    unknown.extend(names.map(|name| format!("{at}.{name}")));
}

fn warn(unknown: &[String], hook: &str) {
    if unknown.is_empty() {
        return;
    }
    let shown: Vec<&str> = unknown
        .iter()
        .take(SHOWN_NAMES)
        .map(|name| scan::shown(name))
        .collect();
    tracing::warn!(
        %hook,
        count = unknown.len(),
        "extensions that no plugin is lent, since their grants are not known: {shown:?}, the slots are: {}",
        Slot::names()
    );
}

fn object_at(value: &Json, at: &str) -> Result<Object, InvalidRequest> {
    Object::read(value).ok_or_else(|| unfit(at, "an object", value))
}

fn array_at(value: &Json, at: &str) -> Result<Vec<Json>, InvalidRequest> {
    object::elements(value).ok_or_else(|| unfit(at, "an array", value))
}

fn strings_at(value: &Json, at: &str) -> Result<(), InvalidRequest> {
    let elements = array_at(value, at)?;
    match elements
        .iter()
        .position(|one| object::string(one).is_none())
    {
        None => Ok(()),
        Some(index) => Err(unfit(
            &format!("{at}[{index}]"),
            "a string",
            &elements[index],
        )),
    }
}

fn unfit(at: &str, possible: &str, value: &Json) -> InvalidRequest {
    InvalidRequest {
        problem: format!("{at} is {}, {possible} is possible", object::kind(value)),
    }
}
