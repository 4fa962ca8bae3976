//! What an entry of the framework's shape says in words of its own.

use std::collections::HashMap;

use serde_json::{Map, Value as JsonValue, json};

use super::{MODES, Surroundings, coerce, kind, member};
use crate::Json;
use crate::capability::Capabilities;
use crate::config::entry::name_of;
use crate::config::keys::{Fields, Keys, More, choices_hint};
use crate::config::read::{expected, list, string};
use crate::config::report::{Findings, shown};
use crate::config::rules::Rules;
use crate::config::spec::{Limits, Mode, OnError};
use crate::config::yaml::{Node, Value};
use crate::config::{permissions, plugin_config};

/// Reads `mode:`, in the framework's names or in ours. They are written in lower case, without spaces.
pub(in crate::config) fn mode(
    node: &Node,
    ours: &[(&str, Mode)],
    findings: &mut Findings,
) -> Option<(Mode, Option<OnError>)> {
    let text = string(node, "mode", findings)?;
    let alias = MODES.iter().find(|(name, ..)| *name == text);
    if let Some((_, mode, on_error)) = alias {
        return Some((*mode, *on_error));
    }
    if let Some((_, mode)) = ours.iter().find(|(name, _)| *name == text) {
        return Some((*mode, None));
    }
    let names = ours.iter().map(|(name, _)| *name);
    let names = names.chain(MODES.iter().map(|(name, ..)| *name));
    let message = format!("unknown mode: {}", shown(text));
    findings.error(&node.at, message, Some(choices_hint(text, names, "values")));
    None
}

/// Reads `priority:`.
pub(in crate::config) fn priority(node: &Node, findings: &mut Findings) -> Option<i64> {
    coerce::whole(node, "priority", i32::MIN.into(), i32::MAX.into(), findings)
}

/// Whether an entry has no hooks, with a note if it is loaded: the framework never asks it then.
pub(in crate::config) fn has_no_hooks(
    entry: &Node,
    fields: &Fields,
    findings: &mut Findings,
) -> bool {
    let node = fields.get("hooks");
    let empty =
        node.is_none_or(|node| matches!(&node.value, Value::List(items) if items.is_empty()));
    if empty && !findings.is_lenient() {
        let at = node.map_or(&entry.at, |node| &node.at);
        let hint = "write when it is asked, for example hooks: [tool_pre_invoke]";
        findings.note(at, "never asked: it has no hooks".into(), Some(hint.into()));
    }
    empty
}

/// Reads `capabilities:`, which are our `permissions.data`; `ours` is what that says.
pub(in crate::config) fn capabilities(
    fields: &Fields,
    ours: Capabilities,
    findings: &mut Findings,
) -> Capabilities {
    let Some((key, node)) = fields.pair("capabilities") else {
        return ours;
    };
    let permissions = fields.get("permissions");
    if permissions.is_some_and(|permissions| member(permissions, "data").is_some()) {
        let message = "capabilities: permissions.data is written too, and they are the same";
        let hint = "keep one of them";
        findings.error(&key.at, message.into(), Some(hint.into()));
    }
    permissions::data(node, "capabilities", findings)
}

/// The plugin's own settings with the defaults of a manifest behind them, as the framework's catalogue puts
/// the two together: a key that the entry has is the entry's, whatever is in it.
pub(in crate::config) fn config_node(fields: &Fields, findings: &mut Findings) -> Option<Node> {
    let own = fields
        .get("config")
        .filter(|node| !matches!(node.value, Value::Null));
    let defaults = fields.pair("default_config");
    if let (Some(_), Some((key, _))) = (defaults, fields.pair("default_configs")) {
        let message = "default_configs: default_config is written too, and they are the same";
        findings.error(&key.at, message.into(), Some("keep one of them".into()));
    }
    let defaults = defaults
        .or_else(|| fields.pair("default_configs"))
        .map(|(_, node)| node)
        .filter(|node| !matches!(node.value, Value::Null));
    let Some(defaults) = defaults else {
        return own.cloned();
    };
    let Value::Mapping(more) = &defaults.value else {
        expected(findings, defaults, "default_config", "a mapping");
        return own.cloned();
    };
    let Some(own) = own else {
        return Some(defaults.clone());
    };
    let mut node = own.clone();
    if let Value::Mapping(pairs) = &mut node.value {
        for (key, value) in more {
            if member(own, key.as_str().unwrap_or_default()).is_none() {
                pairs.push((key.clone(), value.clone()));
            }
        }
    }
    Some(node)
}

/// What a Python plugin may take if its entry says nothing in our words.
pub(in crate::config) fn limits(
    fields: &Fields,
    config: Option<&Node>,
    around: &Surroundings,
    findings: &mut Findings,
) -> Limits {
    let mut limits = Limits::python();
    if let Some(timeout) = kind::timeout(fields, config, findings).or(around.timeout) {
        limits.timeout = timeout;
    }
    limits
}

/// The entries without spare ones, which are disabled and only bear the name of another: the framework
/// allows those. Each is left out with a note.
pub(in crate::config) fn without_spares<'n>(
    entries: &'n [Node],
    rules: &Rules,
    findings: &mut Findings,
) -> Vec<&'n Node> {
    let name = |entry| name_of(entry).and_then(Node::as_str);
    let enabled = entries.iter().filter(|entry| !rules.leave_alone(entry));
    let mut lines: HashMap<&str, usize> = HashMap::new();
    for entry in enabled {
        if let Some(name) = name(entry) {
            lines.entry(name).or_insert(entry.used.line);
        }
    }
    let mut kept = Vec::new();
    for entry in entries {
        let name = name_of(entry).filter(|_| rules.leave_alone(entry));
        let Some((at, name)) = name.and_then(|node| Some((&node.used, node.as_str()?))) else {
            kept.push(entry);
            continue;
        };
        match lines.get(name) {
            Some(line) => {
                findings.enter(Some(name));
                let message = format!(
                    "left out: it is disabled and has the name of the entry on line {line}"
                );
                findings.note(at, message, None);
            }
            None => {
                lines.insert(name, entry.used.line);
                kept.push(entry);
            }
        }
    }
    kept
}

/// What only the plugin reads: members of the framework's own model of an entry, in its names.
pub(in crate::config) fn framework(
    fields: &Fields,
    config: Option<&Node>,
    findings: &mut Findings,
) -> Json {
    let mut members = Map::new();
    if config.is_none() {
        // Nothing written is None to a class, which may tell it from an empty mapping.
        members.insert("config".into(), JsonValue::Null);
    }
    if fields.get("kind").and_then(Node::as_str) == Some(kind::ISOLATED) {
        members.insert("kind".into(), json!(kind::ISOLATED));
    }
    if let Some(node) = fields.get("max_content_size") {
        let size = coerce::whole(node, "max_content_size", i64::MIN, i64::MAX, findings);
        let message = "means nothing here: max_content_size";
        let hint = "it bounds the framework's own worker; max_payload_bytes at the top of the file bounds ours";
        findings.note(&node.at, message.into(), Some(hint.into()));
        members.extend(size.map(|size| ("max_content_size".to_owned(), json!(size))));
    }
    if let Some(node) = fields.get("applied_to")
        && !matches!(node.value, Value::Null)
    {
        check_applied_to(node, findings);
        let hint = "the framework reads it nowhere either; the plugin gets it, `conditions:` say when it is asked";
        findings.note(
            &node.at,
            "means nothing here: applied_to".into(),
            Some(hint.into()),
        );
        let value = plugin_config::read(node, findings);
        let value = serde_json::from_str(value.as_str()).unwrap_or(JsonValue::Null);
        members.insert("applied_to".into(), value);
    }
    Json::from_value(&JsonValue::Object(members))
}

/// Checks the shape that the framework's model demands.
fn check_applied_to(node: &Node, findings: &mut Findings) {
    let Some(fields) = Keys::APPLIED_TO.read_with(&More::NONE, node, findings) else {
        return;
    };
    let templates = [
        ("tools", &Keys::TOOL_TEMPLATE, "tool_name"),
        ("prompts", &Keys::PROMPT_TEMPLATE, "prompt_name"),
        ("resources", &Keys::RESOURCE_TEMPLATE, "resource_uri"),
    ];
    for (key, keys, name) in templates {
        let node = fields
            .get(key)
            .filter(|node| !matches!(node.value, Value::Null));
        let Some(node) = node else {
            continue;
        };
        let what = format!("applied_to.{key}");
        for item in list(node, &what, "templates", findings).unwrap_or_default() {
            let Some(template) = keys.read_with(&More::NONE, item, findings) else {
                continue;
            };
            match template.get(name) {
                Some(node) => drop(string(node, &format!("{what}.{name}"), findings)),
                None => findings.error(&item.at, format!("missing key: {what}.{name}"), None),
            }
            for key in ["context", "fields"] {
                let what = format!("{what}.{key}");
                let node = template
                    .get(key)
                    .filter(|node| !matches!(node.value, Value::Null));
                for item in node
                    .and_then(|node| list(node, &what, "strings", findings))
                    .unwrap_or_default()
                {
                    string(item, &what, findings);
                }
            }
            if let Some(node) = template.get("result") {
                coerce::boolean(node, &format!("{what}.result"), findings);
            }
        }
    }
}
