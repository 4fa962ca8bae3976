//! `groups:`: what several plugins share.
//!
//! A group names entries of `plugins:` and says for all of them when they are asked, in which mode, how
//! early, and what a fault does. What an entry writes itself wins, except for conditions: there both must
//! hold, so a group only ever narrows. The order of the plugins stays that of `plugins:`.

use std::collections::HashMap;

use indexmap::IndexSet;

use super::conditions;
use super::defaults::CONDITION_ALTERNATIVES_MAX;
use super::entry::{LEGACY_MODES, MODES, ON_ERRORS, name_of};
use super::keys::{Fields, Keys, nearest};
use super::read::{choice, integer, list, word};
use super::report::{Findings, Place, shown};
use super::spec::{Mode, OnError};
use super::yaml::{Node, Value};
use crate::condition::Condition;

/// What a group may say for its plugins.
const SHARED: [&str; 4] = ["mode", "priority", "on_error", "conditions"];

/// What a plugin in the background can do about a fault.
const INSTEAD_OF_FAIL: &str = "write `on_error: ignore` or `on_error: disable`";

/// Names a message lists at most; forty are no help.
const LISTED_NAMES: usize = 10;

/// Every group, and who is in which.
#[derive(Default)]
pub(super) struct Groups {
    groups: Vec<Group>,
    /// Of each plugin's name: its group, and the line that says so.
    members: HashMap<String, (usize, usize)>,
}

/// What the members of one group share.
pub(super) struct Group {
    pub name: String,
    pub mode: Option<Mode>,
    pub priority: Option<i32>,
    pub on_error: Option<OnError>,
    pub conditions: Vec<Condition>,
}

impl Groups {
    /// The group a plugin is in.
    pub fn of(&self, plugin: &str) -> Option<&Group> {
        let (group, _) = self.members.get(plugin)?;
        self.groups.get(*group)
    }
}

/// Reads `groups:`; `plugins` are the entries its members are looked for in.
pub(super) fn read(node: &Node, plugins: Option<&Node>, findings: &mut Findings) -> Groups {
    let mut groups = Groups::default();
    let names = plugins.and_then(names);
    let mut lines: HashMap<&str, usize> = HashMap::new();
    for item in list(node, "groups", "groups", findings).unwrap_or_default() {
        let Some(fields) = Keys::GROUP.read(item, findings) else {
            continue;
        };
        let name = read_name(item, &fields, &mut lines, findings);
        let index = groups.groups.len();
        match fields.get("plugins") {
            Some(node) => groups.join(index, name, node, names.as_ref(), findings),
            None => {
                let hint =
                    "write the names of its plugins, for example plugins: [pii-filter, redactor]";
                findings.error(
                    &item.at,
                    about("missing key: groups.plugins", name),
                    Some(hint.into()),
                );
            }
        }
        let on_error = fields.get("on_error");
        let group = Group {
            name: name.to_owned(),
            mode: fields
                .get("mode")
                .and_then(|node| choice(node, "groups.mode", &MODES, &LEGACY_MODES, findings)),
            priority: fields
                .get("priority")
                .and_then(|node| {
                    integer(
                        node,
                        "groups.priority",
                        i32::MIN.into(),
                        i32::MAX.into(),
                        findings,
                    )
                })
                .and_then(|value| i32::try_from(value).ok()),
            on_error: on_error
                .and_then(|node| choice(node, "groups.on_error", &ON_ERRORS, &[], findings)),
            conditions: fields
                .get("conditions")
                .map(|node| conditions::read(node, findings))
                .unwrap_or_default(),
        };
        if let Some(node) = on_error {
            background_must_not_fail(group.mode, group.on_error, &node.used, "groups.", findings);
        }
        let shared = |key: &&str| {
            let node = fields.get(key);
            node.is_some_and(|node| !matches!(&node.value, Value::List(items) if items.is_empty()))
        };
        if !SHARED.iter().any(shared) {
            let message = about("nothing is shared", name);
            let hint = format!("write one of: {}", SHARED.join(", "));
            findings.note(&item.used, message, Some(hint));
        }
        groups.groups.push(group);
    }
    groups
}

/// The name of a group, empty if it has none.
fn read_name<'n>(
    group: &Node,
    fields: &Fields<'n>,
    lines: &mut HashMap<&'n str, usize>,
    findings: &mut Findings,
) -> &'n str {
    let Some(node) = fields.get("name") else {
        let hint = "write a name of its own for each group";
        findings.error(
            &group.at,
            "missing key: groups.name".into(),
            Some(hint.into()),
        );
        return "";
    };
    let Some(name) = word(node, "groups.name", findings) else {
        return "";
    };
    if let Some(line) = lines.get(name) {
        let message = format!(
            "duplicate group name: {}, on line {} and first on line {line}",
            shown(name),
            node.used.line
        );
        let hint = "give each group a name of its own, or write its plugins into one";
        findings.error(&node.used, message, Some(hint.into()));
    }
    lines.entry(name).or_insert(node.used.line);
    name
}

impl Groups {
    /// Reads the names of a group's plugins.
    fn join(
        &mut self,
        index: usize,
        group: &str,
        node: &Node,
        names: Option<&IndexSet<&str>>,
        findings: &mut Findings,
    ) {
        let items = list(node, "groups.plugins", "plugin names", findings);
        if items.is_some_and(<[Node]>::is_empty) {
            let message = about("there are no plugins", group);
            let hint = "write the names of its plugins, or remove the group";
            findings.note(&node.used, message, Some(hint.into()));
        }
        for item in items.unwrap_or_default() {
            let Some(plugin) = word(item, "groups.plugins", findings) else {
                continue;
            };
            // What is wrong with `plugins:` itself is told there.
            if let Some(names) = names
                && !names.contains(plugin)
            {
                let message = format!("groups.plugins: no such plugin: {}", shown(plugin));
                findings.error(&item.at, message, Some(choices(plugin, names)));
                continue;
            }
            let Some((other, line)) = self.members.get(plugin) else {
                self.members
                    .insert(plugin.to_owned(), (index, item.used.line));
                continue;
            };
            let (message, hint) = if *other == index {
                let message = format!("groups.plugins: listed twice: {}", shown(plugin));
                (message, "keep one of them")
            } else {
                let other = self.groups.get(*other).map_or("", |group| &group.name);
                let message = format!(
                    "groups.plugins: {} is in two groups, {} since line {line} and {}",
                    shown(plugin),
                    shown(other),
                    shown(group)
                );
                let hint =
                    "remove it from one of them, and write what it needs besides in its entry";
                (message, hint)
            };
            findings.error(&item.used, message, Some(hint.into()));
        }
    }
}

impl Group {
    /// Judges a `mode:` that a member wrote itself, against what its group says.
    pub fn check_mode(
        &self,
        mode: Mode,
        own_on_error: Option<OnError>,
        at: &Place,
        findings: &mut Findings,
    ) {
        let group = shown(&self.name);
        let on_error = own_on_error.or(self.on_error);
        if mode == Mode::FireAndForget && own_on_error.is_none() && on_error == Some(OnError::Fail)
        {
            let message = format!(
                "mode: fire_and_forget is not possible with on_error: fail of the group {group}"
            );
            let hint = format!("{INSTEAD_OF_FAIL} in the entry");
            findings.slip(at, message, Some(hint));
        }
        if mode != Mode::Disabled && self.mode == Some(Mode::Disabled) {
            let message = format!(
                "stays on although its group {group} is disabled: the entry says mode: {mode}"
            );
            let hint = "remove `mode:` from the entry to switch it off with its group";
            findings.note(at, message, Some(hint.into()));
        }
    }

    /// The conditions of a member: those of the group and its own, which stand at a node.
    pub fn narrow(
        &self,
        own: Option<(&Node, Vec<Condition>)>,
        mode: Mode,
        hooks: &[String],
        findings: &mut Findings,
    ) -> Vec<Condition> {
        let Some((node, own)) = own.filter(|(_, own)| !own.is_empty()) else {
            return self.conditions.clone();
        };
        if self.conditions.is_empty() {
            return own;
        }
        let alternatives = self.conditions.len() * own.len();
        if alternatives > CONDITION_ALTERNATIVES_MAX {
            let message = format!(
                "conditions: {} of the group {} with {} of the entry are {alternatives} alternatives",
                self.conditions.len(),
                shown(&self.name),
                own.len()
            );
            let hint = format!(
                "at most {CONDITION_ALTERNATIVES_MAX} are possible: alternatives that differ in one list can be one"
            );
            findings.error(&node.used, message, Some(hint));
            return own;
        }
        let with = |group: &Condition| own.iter().map(|own| group.and(own)).collect::<Vec<_>>();
        let both: Vec<Condition> = self.conditions.iter().flat_map(with).collect();
        if mode != Mode::Disabled {
            self.note_never(&both, hooks, &node.used, findings);
        }
        both
    }

    /// Notes a member that its own conditions and its group's leave no call.
    fn note_never(
        &self,
        both: &[Condition],
        hooks: &[String],
        at: &Place,
        findings: &mut Findings,
    ) {
        let never = |hook: &String| {
            let mut fields = both.iter().map(|condition| condition.never_at(hook));
            let first = fields.next().flatten()?;
            fields.all(|field| field.is_some()).then_some(first)
        };
        let fields: Option<Vec<_>> = hooks.iter().map(never).collect();
        if let Some(field) = fields.and_then(|fields| fields.first().copied()) {
            let message = format!(
                "never asked: {field} of its conditions and of its group {} have nothing in common",
                shown(&self.name)
            );
            let hint = "both must hold: let them name the same, or remove one of them";
            findings.note(at, message, Some(hint.into()));
        }
    }
}

/// Reports an `on_error: fail` that was written for calls which are answered before the plugin is. The
/// legacy framework loads such an entry, and the word means nothing there.
pub(super) fn background_must_not_fail(
    mode: Option<Mode>,
    on_error: Option<OnError>,
    at: &Place,
    place: &str,
    findings: &mut Findings,
) {
    if (mode, on_error) == (Some(Mode::FireAndForget), Some(OnError::Fail)) {
        let message = format!(
            "{place}on_error: fail is not possible in mode fire_and_forget: the call is answered before the plugin"
        );
        let hint = format!("{INSTEAD_OF_FAIL}, or `mode: audit`, which waits for the plugin");
        findings.slip(at, message, Some(hint));
    }
}

/// A message about a group, if that has a name.
fn about(message: &str, name: &str) -> String {
    match name {
        "" => message.to_owned(),
        name => format!("{message} in group {}", shown(name)),
    }
}

/// The names in `plugins:`, also of entries with problems; none if it is no list.
fn names(plugins: &Node) -> Option<IndexSet<&str>> {
    let Value::List(entries) = &plugins.value else {
        return None;
    };
    let names = entries.iter().filter_map(name_of).filter_map(Node::as_str);
    Some(names.collect())
}

fn choices(word: &str, names: &IndexSet<&str>) -> String {
    let mut hint = match nearest(word, names.iter().copied()) {
        Some(near) => format!("did you mean `{}`? ", shown(near)),
        None => String::new(),
    };
    if names.is_empty() {
        hint.push_str("there are no plugins");
        return hint;
    }
    hint.push_str("possible values: ");
    let listed: Vec<_> = names
        .iter()
        .take(LISTED_NAMES)
        .map(|name| shown(name))
        .collect();
    hint.push_str(&listed.join(", "));
    if names.len() > LISTED_NAMES {
        hint.push_str(", ...");
    }
    hint
}
