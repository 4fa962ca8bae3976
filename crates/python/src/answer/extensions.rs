//! What a plugin made of the side-channel slots: edits of them as they were lent, judged like any plugin's.
//!
//! A Python plugin hands back all slots at once and hears nothing of what becomes of them, so what is refused
//! is logged. It is no fault: the rest counts, and the plugin's verdict stands.

use hookgate_core::{Document, Draft, EditRules, Edits, HookCall, Json, Pointer, Refusal, Shape};

use super::json;
use super::wire::Edit;
use crate::tokens::Tokens;

/// Takes over what the plugin changed, as far as it may.
pub(super) fn merge(changes: &[Edit<'_>], call: &HookCall, draft: &mut Draft, tokens: &Tokens) {
    if changes.is_empty() {
        return;
    }
    let rules = EditRules {
        shape: Shape::of(""),
        headers: true,
        max_bytes: u64::MAX,
    };
    let mut edits = Edits::new(Document::new(call.extensions.to_json()), rules);
    for edit in changes {
        if let Err(refusal) = apply(edit, &mut edits) {
            refused(call, &draft.refuse_extension(refusal), tokens);
        }
    }
    match Json::parse(edits.apply().text().to_string()) {
        Ok(returned) => {
            for refusal in draft.merge_extensions(&returned) {
                refused(call, &refusal, tokens);
            }
        }
        Err(error) => {
            let refusal = Refusal::invalid(format!("the extensions are not I-JSON: {error}"));
            refused(call, &draft.refuse_extension(refusal), tokens);
        }
    }
}

fn apply(edit: &Edit<'_>, edits: &mut Edits) -> Result<(), Refusal> {
    let invalid = |problem: String| Refusal::invalid(format!("extensions{}: {problem}", edit.at));
    let at = Pointer::parse(&edit.at).map_err(|error| invalid(error.to_string()))?;
    match (&*edit.op, edit.value) {
        ("set", Some(value)) => edits.set(&at, json(value).map_err(invalid)?),
        ("remove", _) => edits.remove(&at),
        (op, _) => Err(invalid(format!("no edit of that kind: {op}"))),
    }
}

fn refused(call: &HookCall, refusal: &Refusal, tokens: &Tokens) {
    let refusal = refusal.to_string();
    let refusal = tokens.hide(&refusal);
    tracing::warn!(hook = %call.hook, request = %call.request.id(), "a plugin's change of the extensions was refused: {refusal}");
}
