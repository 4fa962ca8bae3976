//! The `conditions:` of an entry: alternatives, one of which must hold for the plugin to be asked.
//!
//! An empty field holds always, and a misspelt one would be empty; so an unknown field is an error, and
//! what holds where its author may not expect it gets a note.

use super::keys::{Fields, Keys};
use super::read::{list, string};
use super::report::{Findings, shown};
use super::yaml::{Node, Value};
use crate::condition::{Condition, content_type, subject_field};

/// Fields that are compared at every hook.
const OF_EVERY_HOOK: [&str; 4] = ["server_ids", "tenant_ids", "user_patterns", "content_types"];

/// Reads the list of an entry that listens to `hooks`.
pub(super) fn read_for(node: &Node, hooks: &[String], findings: &mut Findings) -> Vec<Condition> {
    let alternatives = alternatives(node, findings);
    for alternative in &alternatives {
        alternative.note_fields(hooks, findings);
    }
    note_open(&alternatives, hooks, findings);
    conditions(alternatives)
}

/// Reads a list that is for entries with different hooks.
pub(super) fn read(node: &Node, findings: &mut Findings) -> Vec<Condition> {
    conditions(alternatives(node, findings))
}

fn conditions(alternatives: Vec<Alternative>) -> Vec<Condition> {
    alternatives
        .into_iter()
        .map(|alternative| alternative.condition)
        .collect()
}

fn alternatives<'n>(node: &'n Node, findings: &mut Findings) -> Vec<Alternative<'n>> {
    if let Value::Mapping(pairs) = &node.value
        && !pairs.is_empty()
    {
        let message = "conditions: expected a list of alternatives, found a mapping".into();
        let hint = "write it as one item of a list: conditions: [{tools: [search]}]";
        findings.error(&node.at, message, Some(hint.into()));
        return Vec::new();
    }
    let items = list(node, "conditions", "alternatives", findings).unwrap_or_default();
    let alternatives: Vec<Alternative> = items
        .iter()
        .filter_map(|item| Alternative::read(item, findings))
        .collect();
    if alternatives.len() > 1 {
        for empty in alternatives
            .iter()
            .filter(|alternative| alternative.is_empty())
        {
            let message = "conditions: an empty alternative always holds, the others mean nothing";
            let hint = "remove it, or keep it alone";
            findings.note(&empty.node.used, message.into(), Some(hint.into()));
        }
    }
    alternatives
}

struct Alternative<'n> {
    node: &'n Node,
    fields: Fields<'n>,
    condition: Condition,
}

impl<'n> Alternative<'n> {
    fn read(node: &'n Node, findings: &mut Findings) -> Option<Self> {
        let fields = Keys::CONDITION.read(node, findings)?;
        let mut listed = |field: &str| {
            let node = fields.get(field);
            node.map_or_else(Vec::new, |node| strings(node, field, findings))
        };
        let condition = Condition {
            server_ids: listed("server_ids").into_iter().collect(),
            tenant_ids: listed("tenant_ids").into_iter().collect(),
            tools: listed("tools").into_iter().collect(),
            prompts: listed("prompts").into_iter().collect(),
            resources: listed("resources").into_iter().collect(),
            agents: listed("agents").into_iter().collect(),
            user_patterns: listed("user_patterns"),
            content_types: listed("content_types"),
            ..Condition::default()
        };
        Some(Self {
            node,
            fields,
            condition: condition.normalised(),
        })
    }

    fn lists(&self, field: &str) -> bool {
        !self.condition.listed(field).is_empty()
    }

    /// Whether it lists something in a field that is compared at the hook.
    fn restricts(&self, hook: &str) -> bool {
        let mut compared = OF_EVERY_HOOK.into_iter().chain(subject_field(hook));
        compared.any(|field| self.lists(field))
    }

    fn is_empty(&self) -> bool {
        !Condition::FIELDS.into_iter().any(|field| self.lists(field))
    }

    /// Fields that say nothing, or never yes, at the entry's hooks.
    fn note_fields(&self, hooks: &[String], findings: &mut Findings) {
        let known = |field: &&str| self.lists(field);
        for field in Condition::FIELDS.into_iter().filter(known) {
            let Some((key, _)) = self.fields.pair(field) else {
                continue;
            };
            if let Some((what, of_field)) = hooks_about(field)
                && !hooks.iter().any(|hook| subject_field(hook) == Some(field))
            {
                let message = format!(
                    "conditions.{field}: no hook of the entry is about {what}, the field always holds"
                );
                let hint = format!("remove it; it is for {of_field}");
                findings.note(&key.at, message, Some(hint));
            } else if field == "tools" && hooks.iter().any(|hook| hook == "identity_resolve") {
                let message = "conditions.tools: never holds at identity_resolve, which is about a token and no tool";
                let hint = "give identity_resolve an entry of its own, without tools";
                findings.note(&key.at, message.into(), Some(hint.into()));
            }
        }
    }
}

/// What a field names, and the hooks it is compared at; none for fields of every hook.
fn hooks_about(field: &str) -> Option<(&'static str, &'static str)> {
    Some(match field {
        "tools" => (
            "a tool",
            "tool_pre_invoke, tool_post_invoke, token_delegate",
        ),
        "prompts" => ("a prompt", "prompt_pre_fetch, prompt_post_fetch"),
        "resources" => ("a resource", "resource_pre_fetch, resource_post_fetch"),
        "agents" => ("an agent", "agent_pre_invoke, agent_post_invoke"),
        _ => return None,
    })
}

/// Notes an alternative that restricts some hooks and leaves others open, where the rest then means nothing.
fn note_open(alternatives: &[Alternative], hooks: &[String], findings: &mut Findings) {
    for alternative in alternatives {
        // One that restricts no hook at all is empty, or has a note at each of its fields.
        if !hooks.iter().any(|hook| alternative.restricts(hook)) {
            continue;
        }
        let open: Vec<&str> = hooks
            .iter()
            .map(String::as_str)
            .filter(|hook| !alternative.restricts(hook))
            .filter(|hook| alternatives.iter().any(|other| other.restricts(hook)))
            .collect();
        if !open.is_empty() {
            let message = format!(
                "conditions: this alternative always holds at {}, where the others mean nothing",
                open.join(", ")
            );
            let hint = "a field is compared only at hooks about what it names; write the fields in one alternative";
            findings.note(&alternative.node.used, message, Some(hint.into()));
        }
    }
}

/// A list of strings; nothing is an empty one.
fn strings(node: &Node, field: &str, findings: &mut Findings) -> Vec<String> {
    let what = format!("conditions.{field}");
    if matches!(node.value, Value::Null) {
        return Vec::new();
    }
    let mut out = Vec::new();
    for item in list(node, &what, "strings", findings).unwrap_or_default() {
        let Some(text) = string(item, &what, findings) else {
            continue;
        };
        if text.chars().any(char::is_control) {
            let message = format!("{what}: holds a control character: {}", shown(text));
            let hint = "write printable characters only";
            findings.error(&item.at, message, Some(hint.into()));
            continue;
        }
        note_empty(item, text, field, findings);
        out.push(text.to_owned());
    }
    out
}

fn note_empty(item: &Node, text: &str, field: &str, findings: &mut Findings) {
    let nothing = match field {
        "content_types" => content_type(text).is_empty(),
        _ => text.is_empty(),
    };
    if nothing {
        let effect = match field {
            "user_patterns" => "an empty text is in every user's name",
            "content_types" => "a content type without a name",
            _ => "an empty string names nothing",
        };
        let message = format!("conditions.{field}: {effect}");
        findings.note(&item.used, message, Some("remove it".into()));
    }
}
