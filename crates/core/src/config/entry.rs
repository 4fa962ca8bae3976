//! One entry of `plugins:`.

use std::collections::HashMap;
use std::path::Path;

use super::defaults;
use super::keys::{Fields, Keys};
use super::paths::Paths;
use super::read::{choice, integer, list, string, word, words};
use super::report::{Findings, shown};
use super::spec::{About, Limits, Mode, OnError, PluginSpec};
use super::yaml::{Node, Value};
use super::{hooks, kind, limits, permissions, plugin_config};

const MODES: [(&str, Mode); 6] = [
    ("sequential", Mode::Sequential),
    ("transform", Mode::Transform),
    ("audit", Mode::Audit),
    ("concurrent", Mode::Concurrent),
    ("fire_and_forget", Mode::FireAndForget),
    ("disabled", Mode::Disabled),
];

/// The legacy framework's own names, with what to write.
const MODES_LATER: [(&str, &str); 3] = [
    ("enforce", "write `mode: sequential`, which is the same"),
    (
        "enforce_ignore_error",
        "write `mode: sequential` and `on_error: ignore`, which is the same",
    ),
    ("permissive", "write `mode: transform`, which is the same"),
];

const ON_ERRORS: [(&str, OnError); 3] = [
    ("fail", OnError::Fail),
    ("ignore", OnError::Ignore),
    ("disable", OnError::Disable),
];

/// Reads the list `plugins:`. Entries with problems are reported and left out.
pub(super) fn read_all(node: &Node, base_dir: &Path, findings: &mut Findings) -> Vec<PluginSpec> {
    let Some(items) = list(node, "plugins", "entries", findings) else {
        return Vec::new();
    };
    if items.is_empty() {
        let hint = "add an entry with `name:`, `kind:` and `hooks:`";
        let message = "plugins: the list is empty, every call is allowed";
        findings.note(&node.at, message.into(), Some(hint.into()));
    }
    let mut specs = Vec::new();
    let mut names: HashMap<&str, usize> = HashMap::new();
    for item in items {
        findings.enter(name_of(item).and_then(Node::as_str));
        if let Some(node) = name_of(item)
            && let Some(name) = node.as_str()
        {
            if let Some(line) = names.get(name) {
                let message = format!(
                    "duplicate plugin name: {}, on line {} and first on line {line}",
                    shown(name),
                    node.used.line
                );
                findings.error(
                    &node.used,
                    message,
                    Some("give each plugin a name of its own".into()),
                );
            }
            names.entry(name).or_insert(node.used.line);
        }
        specs.extend(read(item, base_dir, findings));
    }
    findings.enter(None);
    specs
}

/// The value of the first `name:`, before anything is checked.
fn name_of(entry: &Node) -> Option<&Node> {
    let Value::Mapping(pairs) = &entry.value else {
        return None;
    };
    pairs
        .iter()
        .find(|(key, _)| key.as_str() == Some("name"))
        .map(|(_, value)| value)
}

fn read(entry: &Node, base_dir: &Path, findings: &mut Findings) -> Option<PluginSpec> {
    let fields = Keys::ENTRY.read(entry, findings)?;
    let name = match fields.get("name") {
        Some(node) => word(node, "name", findings),
        None => missing(
            entry,
            "name",
            "write a name of its own for each plugin",
            findings,
        ),
    };
    let mode = fields
        .get("mode")
        .and_then(|node| choice(node, "mode", &MODES, &MODES_LATER, findings))
        .unwrap_or(defaults::MODE);
    let paths = Paths {
        base_dir,
        required: mode != Mode::Disabled,
    };
    let kind = kind::read(entry, &fields, paths, findings);
    let is_wasm = kind::is_wasm(&fields);
    let hooks = match fields.get("hooks") {
        Some(node) => hooks::read(node, findings),
        None => missing(
            entry,
            "hooks",
            "write when it is asked, for example hooks: [tool_pre_invoke]",
            findings,
        )
        .unwrap_or_default(),
    };
    let priority = fields
        .get("priority")
        .and_then(|node| integer(node, "priority", i32::MIN.into(), i32::MAX.into(), findings))
        .and_then(|value| i32::try_from(value).ok())
        .unwrap_or(defaults::PRIORITY);
    let on_error = fields
        .get("on_error")
        .and_then(|node| choice(node, "on_error", &ON_ERRORS, &[], findings))
        .unwrap_or(defaults::ON_ERROR);
    let default_limits = if is_wasm == Some(false) {
        Limits::python()
    } else {
        Limits::wasm()
    };
    let limits = limits::read(fields.get("limits"), default_limits, findings);
    let permissions = permissions::read(fields.get("permissions"), is_wasm, paths, findings);
    let config = fields
        .get("config")
        .map(|node| plugin_config::read(node, findings));
    let about = about(&fields, findings);

    let mut spec = PluginSpec::new(name?, kind?);
    spec.hooks = hooks;
    spec.mode = mode;
    spec.priority = priority;
    spec.on_error = on_error;
    spec.limits = limits;
    spec.permissions = permissions;
    spec.config = config.unwrap_or_else(crate::Json::object);
    spec.about = about;
    spec.line = entry.used.line;
    spec.base_dir = base_dir.to_owned();
    Some(spec)
}

fn missing<T>(entry: &Node, key: &str, hint: &str, findings: &mut Findings) -> Option<T> {
    findings.error(&entry.at, format!("missing key: {key}"), Some(hint.into()));
    None
}

fn about(fields: &Fields, findings: &mut Findings) -> About {
    let mut text = |key: &str| {
        let node = fields.get(key)?;
        match &node.value {
            // `version: 1.10` is a number to YAML and a version to everybody else.
            Value::Number(number) if key == "version" => Some(number.text.clone()),
            _ => string(node, key, findings).map(str::to_owned),
        }
    };
    let (description, author, version) = (text("description"), text("author"), text("version"));
    let tags = fields
        .get("tags")
        .map(|node| words(node, "tags", "words", findings, |_, _, _| true));
    About {
        description,
        author,
        version,
        tags: tags.unwrap_or_default(),
    }
}
