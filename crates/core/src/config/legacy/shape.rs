//! Which shape a text has.

use super::MODES;
use super::template::{self, is_template};
use crate::config::options::{Environment, Shape};
use crate::config::yaml::{self, Node, Value};

/// Keys at the top of a file that only the framework's shape has.
const TOP_KEYS: [&str; 2] = ["plugin_dirs", "plugin_settings"];

/// The shape of a text: a text that is no YAML before its templates are filled in is looked at line by
/// line, and one that says nothing is looked at once more when they are.
pub(in crate::config) fn detect(text: &str, environment: &Environment) -> Shape {
    let legacy = match yaml::parse(text) {
        Ok(root) => is_legacy(&root),
        Err(_) => text.lines().any(line_is_legacy),
    };
    let filled_in = || {
        let rendered = template::render(text, environment).ok()?;
        yaml::parse(&rendered.text).ok()
    };
    if legacy || (is_template(text) && filled_in().is_some_and(|root| is_legacy(&root))) {
        Shape::Legacy
    } else {
        Shape::Hookgate
    }
}

fn is_legacy(root: &Node) -> bool {
    if TOP_KEYS.iter().any(|key| member(root, key).is_some()) {
        return true;
    }
    let Some(Value::List(entries)) = member(root, "plugins").map(|plugins| &plugins.value) else {
        return false;
    };
    entries.iter().any(|entry| {
        let mode = member(entry, "mode").and_then(Node::as_str);
        mode.is_some_and(is_legacy_mode)
    })
}

fn is_legacy_mode(mode: &str) -> bool {
    MODES.iter().any(|(name, ..)| *name == mode)
}

fn line_is_legacy(line: &str) -> bool {
    let Some((key, value)) = line.split_once(':') else {
        return false;
    };
    if TOP_KEYS.contains(&key) {
        return true;
    }
    let key = key.trim().trim_start_matches("- ");
    let value = value.split('#').next().unwrap_or_default().trim();
    key == "mode" && is_legacy_mode(value.trim_matches(['"', '\'']))
}

/// The last value of a key, as the framework reads it.
pub(in crate::config) fn member<'n>(node: &'n Node, name: &str) -> Option<&'n Node> {
    let Value::Mapping(pairs) = &node.value else {
        return None;
    };
    pairs
        .iter()
        .rev()
        .find(|(key, _)| key.as_str() == Some(name))
        .map(|(_, value)| value)
}
