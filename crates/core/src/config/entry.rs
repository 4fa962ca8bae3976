//! One entry of `plugins:`.

use std::collections::HashMap;

use super::defaults;
use super::groups;
use super::keys::{Fields, Keys};
use super::paths::{Check, Paths};
use super::read::{choice, integer, list, string, word, words};
use super::report::{Findings, shown};
use super::rules::Rules;
use super::spec::{About, Limits, Mode, OnError, PluginSpec};
use super::yaml::{Node, Value};
use super::{
    conditions, digest, hooks, instances, kind, legacy, limits, permissions, plugin_config, python,
};

pub(super) const MODES: [(&str, Mode); 6] = [
    ("sequential", Mode::Sequential),
    ("transform", Mode::Transform),
    ("audit", Mode::Audit),
    ("concurrent", Mode::Concurrent),
    ("fire_and_forget", Mode::FireAndForget),
    ("disabled", Mode::Disabled),
];

/// The legacy framework's own names, with what to write in our shape.
pub(super) const LEGACY_MODES: [(&str, &str); 3] = [
    ("enforce", "write `mode: sequential`, which is the same"),
    (
        "enforce_ignore_error",
        "write `mode: sequential` and `on_error: ignore`, which is the same",
    ),
    ("permissive", "write `mode: transform`, which is the same"),
];

pub(super) const ON_ERRORS: [(&str, OnError); 3] = [
    ("fail", OnError::Fail),
    ("ignore", OnError::Ignore),
    ("disable", OnError::Disable),
];

/// Reads the list `plugins:`. Entries with problems are reported and left out.
pub(super) fn read_all(node: &Node, rules: &Rules, findings: &mut Findings) -> Vec<PluginSpec> {
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
    for item in legacy::without_spares(items, rules, findings) {
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
        findings.lenient(rules.leave_alone(item));
        specs.extend(read(item, rules, findings));
        findings.lenient(false);
    }
    findings.enter(None);
    specs
}

/// The value of the last `name:`, before anything is checked; the legacy shape lets one be written twice.
pub(super) fn name_of(entry: &Node) -> Option<&Node> {
    let Value::Mapping(pairs) = &entry.value else {
        return None;
    };
    pairs
        .iter()
        .rev()
        .find(|(key, _)| key.as_str() == Some("name"))
        .map(|(_, value)| value)
}

fn read(entry: &Node, rules: &Rules, findings: &mut Findings) -> Option<PluginSpec> {
    let is_legacy = rules.legacy.is_some();
    let fields = match rules.legacy {
        Some(_) => legacy::entry(entry, findings),
        None => Keys::ENTRY.read(entry, findings),
    }?;
    let name = match fields.get("name") {
        Some(node) => word(node, "name", findings),
        None => missing(
            entry,
            "name",
            "write a name of its own for each plugin",
            findings,
        ),
    };
    let group = name.and_then(|name| rules.groups.of(name));
    let (own_mode, implied_on_error) = match fields.get("mode") {
        Some(node) if is_legacy => legacy::mode(node, &MODES, findings).unzip(),
        Some(node) => (choice(node, "mode", &MODES, &LEGACY_MODES, findings), None),
        None => (None, None),
    };
    let mode = own_mode
        .or(group.and_then(|group| group.mode))
        .unwrap_or(defaults::MODE);
    let left_alone = rules.leave_alone(entry);
    let paths = Paths {
        base_dir: rules.base_dir,
        check: match mode {
            Mode::Disabled if left_alone => Check::None,
            Mode::Disabled => Check::Noted,
            _ => Check::Required,
        },
    };
    let config_node = match is_legacy {
        true => legacy::config_node(&fields, findings),
        false => fields.get("config").cloned(),
    };
    let config_node = config_node.as_ref();
    let kind = match left_alone {
        true if rules.rewriting => {
            let kind = kind::read(entry, &fields, config_node, rules, paths, findings);
            Some(kind.unwrap_or_else(|| legacy::unjudged(&fields)))
        }
        true => Some(legacy::unjudged(&fields)),
        false => kind::read(entry, &fields, config_node, rules, paths, findings),
    };
    let is_wasm = kind::is_wasm(&fields, rules);
    let digest = digest::read(&fields, is_wasm, findings);
    let hooks = match fields.get("hooks") {
        _ if is_legacy && legacy::has_no_hooks(entry, &fields, findings) => Vec::new(),
        Some(node) => hooks::read(node, findings),
        None => missing(
            entry,
            "hooks",
            "write when it is asked, for example hooks: [tool_pre_invoke]",
            findings,
        )
        .unwrap_or_default(),
    };
    let conditions = fields
        .get("conditions")
        .map(|node| (node, conditions::read_for(node, &hooks, findings)));
    let conditions = match (group, conditions) {
        (Some(group), own) => group.narrow(own, mode, &hooks, findings),
        (None, own) => own.map_or_else(Vec::new, |(_, own)| own),
    };
    let priority = fields
        .get("priority")
        .and_then(|node| match is_legacy {
            true => legacy::priority(node, findings),
            false => integer(node, "priority", i32::MIN.into(), i32::MAX.into(), findings),
        })
        .and_then(|value| i32::try_from(value).ok())
        .or(group.and_then(|group| group.priority))
        .unwrap_or(defaults::PRIORITY);
    let own_on_error = fields
        .get("on_error")
        .and_then(|node| choice(node, "on_error", &ON_ERRORS, &[], findings));
    let on_error = own_on_error
        .or(implied_on_error.flatten())
        .or(group.and_then(|group| group.on_error))
        .unwrap_or(defaults::ON_ERROR);
    if let Some(node) = fields.get("on_error") {
        groups::background_must_not_fail(Some(mode), own_on_error, &node.used, "", findings);
    }
    if let (Some(group), Some(mode), Some(node)) = (group, own_mode, fields.get("mode")) {
        group.check_mode(mode, own_on_error, &node.used, findings);
    }
    let default_limits = match (is_wasm, rules.legacy) {
        (Some(false), Some(around)) => legacy::limits(&fields, config_node, around, findings),
        (Some(false), None) => Limits::python(),
        _ => Limits::wasm(),
    };
    let limits = limits::read(fields.get("limits"), default_limits, findings);
    let instances = instances::read(&fields, is_wasm, findings);
    let python = python::read(&fields, is_wasm, paths, findings);
    let mut permissions = permissions::read(fields.get("permissions"), is_wasm, paths, findings);
    permissions.data = legacy::capabilities(&fields, permissions.data, findings);
    let config = config_node.map(|node| plugin_config::read(node, findings));
    let about = about(&fields, findings);
    let framework = match is_legacy && (!left_alone || rules.rewriting) {
        true => legacy::framework(&fields, config_node, findings),
        false => crate::Json::object(),
    };

    let mut spec = PluginSpec::new(name?, kind?);
    spec.digest = digest;
    spec.hooks = hooks;
    spec.conditions = conditions;
    spec.mode = mode;
    spec.priority = priority;
    spec.on_error = on_error;
    spec.group = group.map(|group| group.name.clone());
    spec.limits = limits;
    spec.instances = instances;
    spec.python = python;
    spec.permissions = permissions;
    spec.config = config.unwrap_or_else(crate::Json::object);
    spec.about = about;
    spec.framework = framework;
    spec.line = entry.used.line;
    spec.base_dir = rules.base_dir.to_owned();
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
            Value::Null if findings.is_legacy() => None,
            // `version: 1.10` is a number to YAML and a version to everybody else.
            Value::Number(number) if key == "version" => Some(number.text.clone()),
            _ => string(node, key, findings).map(str::to_owned),
        }
    };
    let (description, author, version) = (text("description"), text("author"), text("version"));
    let namespace = text("namespace");
    let tags = fields
        .get("tags")
        .filter(|node| !(findings.is_legacy() && matches!(node.value, Value::Null)))
        .map(|node| words(node, "tags", "words", findings, |_, _, _| true));
    About {
        description,
        author,
        version,
        namespace,
        tags: tags.unwrap_or_default(),
    }
}
