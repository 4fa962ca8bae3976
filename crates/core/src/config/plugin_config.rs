//! A plugin's own `config:` as JSON. What it means is the plugin's affair; that it is JSON is ours.

use std::collections::HashMap;

use serde_json::{Map, Number, Value as JsonValue};

use super::read::expected;
use super::report::{Findings, shown};
use super::yaml::{Node, Value};
use crate::Json;

/// Reads `config:`, which must be a mapping.
pub(super) fn read(node: &Node, findings: &mut Findings) -> Json {
    read_as(node, "config", findings)
}

/// Reads a mapping of somebody else's values; `what` is its key.
pub(super) fn read_as(node: &Node, what: &str, findings: &mut Findings) -> Json {
    if !matches!(node.value, Value::Mapping(_)) {
        expected(findings, node, what, "a mapping");
        return Json::object();
    }
    json(node, what, findings).map_or_else(Json::object, |value| Json::from_value(&value))
}

/// Whether a text holds a Jinja reference to the environment, as legacy configurations write it.
fn names_environment(text: &str) -> bool {
    text.split("{{").skip(1).any(|inside| {
        let name = inside.trim_start().strip_prefix("env");
        name.is_some_and(|rest| rest.starts_with(['.', '[']))
    })
}

fn json(node: &Node, what: &str, findings: &mut Findings) -> Option<JsonValue> {
    Some(match &node.value {
        Value::Null => JsonValue::Null,
        Value::Bool(value) => JsonValue::Bool(*value),
        Value::String(text) => {
            // Taken literally, a list of words would never match and nobody would know. In the legacy shape
            // templates are filled in, and what is left is text.
            if names_environment(text) && !findings.is_legacy() {
                let message = format!(
                    "not supported yet: {{{{ env }}}} in {what}: {}",
                    shown(text)
                );
                let hint = "write the value itself, or let the plugin read a variable granted by permissions.env";
                findings.error(&node.at, message, Some(hint.into()));
                return None;
            }
            JsonValue::String(text.clone())
        }
        Value::Number(number) => {
            let parsed = number
                .json
                .as_deref()
                .and_then(|text| text.parse::<Number>().ok());
            let Some(parsed) = parsed else {
                let message = format!("{what}: not a JSON number: {}", shown(&number.text));
                let hint = format!("write it in quotes: \"{}\"", shown(&number.text));
                findings.error(&node.at, message, Some(hint));
                return None;
            };
            JsonValue::Number(parsed)
        }
        Value::List(items) => {
            // Every item is read, so that all problems are found.
            let items: Vec<_> = items
                .iter()
                .map(|item| json(item, what, findings))
                .collect();
            JsonValue::Array(items.into_iter().collect::<Option<_>>()?)
        }
        Value::Mapping(pairs) => return object(pairs, what, findings),
    })
}

fn object(pairs: &[(Node, Node)], what: &str, findings: &mut Findings) -> Option<JsonValue> {
    let mut map = Map::new();
    let mut lines: HashMap<String, usize> = HashMap::new();
    let mut good = true;
    for (key, value) in pairs {
        let value = json(value, what, findings);
        // YAML keys need not be strings; JSON names are, so scalars are named by their text.
        let name = match &key.value {
            Value::String(text) => text.clone(),
            Value::Number(number) => number.text.clone(),
            Value::Bool(value) => value.to_string(),
            Value::Null => "null".into(),
            Value::List(_) | Value::Mapping(_) => {
                expected(findings, key, &format!("a key of {what}"), "a string");
                good = false;
                continue;
            }
        };
        if let Some(line) = lines.get(&name) {
            let message = format!("key written twice: {}, first on line {line}", shown(&name));
            findings.slip(&key.at, message, Some("keep one of them".into()));
            // In the legacy shape the last one counts.
            good &= findings.is_legacy();
        }
        good &= value.is_some();
        lines.entry(name.clone()).or_insert(key.at.line);
        map.insert(name, value.unwrap_or_default());
    }
    good.then_some(JsonValue::Object(map))
}
