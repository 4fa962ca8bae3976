//! The payload of a hook about tokens, as a plugin without the grant for them receives it.
//!
//! The members stay, so that a class that needs them can be made, with asterisks for values: what the legacy
//! framework's own dump of such a payload holds.

use super::HIDDEN;
use crate::Json;
use crate::capability::{Capabilities, Capability};
use crate::document::Document;
use crate::edit::Edits;
use crate::extensions::{Object, is_sensitive};

/// The member with request headers.
const HEADERS: &str = "headers";

/// The member that is a token, and who is lent it.
fn token_of(hook: &str) -> Option<(&'static str, Capability)> {
    match hook {
        "identity_resolve" => Some(("raw_token", Capability::ReadInboundCredentials)),
        "token_delegate" => Some(("bearer_token", Capability::ReadDelegatedTokens)),
        _ => None,
    }
}

/// The member whose value a plugin with these grants is not shown at a hook.
pub(crate) fn hidden(hook: &str, granted: Capabilities) -> Option<&'static str> {
    let (member, capability) = token_of(hook)?;
    (!granted.allows(capability)).then_some(member)
}

/// The payload without the value of a member, and of headers that may repeat it. None if it holds neither.
pub(crate) fn masked(payload: &Document, member: &str) -> Option<Document> {
    let mut members = object(payload)?;
    let mut changed = false;
    if members.get(member).is_some() {
        members.set(member, Json::string(HIDDEN));
        changed = true;
    }
    if let Some(mut headers) = members.get(HEADERS).and_then(Object::read) {
        let sensitive: Vec<_> = sensitive_names(&headers).map(str::to_owned).collect();
        for name in &sensitive {
            headers.set(name, Json::string(HIDDEN));
        }
        if !sensitive.is_empty() {
            members.set(HEADERS, headers.write());
            changed = true;
        }
    }
    changed.then(|| Document::new(members.write()))
}

/// Whether edits of a masked payload would change what was hidden in it.
pub(crate) fn edits_hidden(edits: &Edits, member: &str) -> bool {
    let hides_headers = || {
        let headers = object(edits.document())
            .and_then(|members| members.get(HEADERS).and_then(Object::read));
        headers.is_some_and(|headers| sensitive_names(&headers).next().is_some())
    };
    edits.list().iter().any(|note| match note.at.tokens() {
        [first] if first == HEADERS => hides_headers(),
        [first, name, ..] if first == HEADERS => is_sensitive(name),
        [first, ..] => first == member,
        [] => false,
    })
}

fn sensitive_names(headers: &Object) -> impl Iterator<Item = &str> {
    let names = headers.iter().map(|(name, _)| name);
    names.filter(|name| is_sensitive(name))
}

fn object(document: &Document) -> Option<Object> {
    Object::read(&Json::trusted(document.text().clone()))
}
