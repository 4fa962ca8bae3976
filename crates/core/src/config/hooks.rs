//! The `hooks:` of an entry.

use super::keys::nearest;
use super::read::words;
use super::report::{Findings, shown};
use super::yaml::Node;
use crate::hooks::KNOWN_HOOKS;

/// Hooks that have a meaning besides those with a payload shape of their own.
const ALSO_KNOWN: [&str; 11] = [
    "identity_resolve",
    "token_delegate",
    "evaluate",
    "cmf.tool_pre_invoke",
    "cmf.tool_post_invoke",
    "cmf.llm_input",
    "cmf.llm_output",
    "cmf.prompt_pre_fetch",
    "cmf.prompt_post_fetch",
    "cmf.resource_pre_fetch",
    "cmf.resource_post_fetch",
];

/// Reads the list: not empty, distinct legal names. A name that is nearly a known one gets a note.
pub(super) fn read(node: &Node, findings: &mut Findings) -> Vec<String> {
    let hooks = words(
        node,
        "hooks",
        "hook names",
        findings,
        |item, name, findings| {
            let legal = name
                .chars()
                .all(|c| c.is_ascii_alphanumeric() || "_.-".contains(c));
            if legal {
                note_unless_known(item, name, findings);
            } else {
                let message = format!("hooks: not a hook's name: {}", shown(name));
                let hint = "write letters, digits, `_`, `.` and `-` only";
                findings.error(&item.at, message, Some(hint.into()));
            }
            legal
        },
    );
    if matches!(&node.value, super::yaml::Value::List(items) if items.is_empty()) {
        let hint = "write at least one, for example hooks: [tool_pre_invoke]";
        findings.error(
            &node.at,
            "hooks: the list is empty".into(),
            Some(hint.into()),
        );
    }
    hooks
}

/// Hooks with a meaning of their own. Any other name is a custom hook.
pub(crate) fn known_hooks() -> impl Iterator<Item = &'static str> {
    KNOWN_HOOKS.iter().chain(&ALSO_KNOWN).copied()
}

/// Whether a hook has a meaning of its own.
pub(crate) fn is_known_hook(name: &str) -> bool {
    known_hooks().any(|hook| hook == name)
}

fn note_unless_known(item: &Node, name: &str, findings: &mut Findings) {
    if is_known_hook(name) {
        return;
    }
    if let Some(near) = nearest(name, known_hooks()) {
        let message = format!("not a known hook, treated as custom: {name}");
        findings.note(&item.at, message, Some(format!("did you mean `{near}`?")));
    }
}
