//! The payload as a plugin without the grant `read_headers` receives it.

use crate::document::Document;
use crate::edit::{EditRules, Edits};
use crate::hooks::Shape;
use crate::pointer::Pointer;

/// The payload without its member `headers`.
pub(super) fn without(payload: &Document) -> Document {
    let mut at = Pointer::root();
    at.push("headers");
    if payload.get(&at).is_none() {
        return payload.clone();
    }
    let rules = EditRules {
        shape: Shape::of(""),
        headers: true,
        max_bytes: u64::MAX,
    };
    let mut edits = Edits::new(payload.clone(), rules);
    match edits.remove(&at) {
        Ok(()) => edits.apply(),
        // INVARIANT: a member that is there can be removed; were it not, the plugin sees nothing at all.
        Err(_) => Document::trusted("{}".into()),
    }
}
