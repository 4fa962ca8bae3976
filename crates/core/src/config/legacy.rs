//! The legacy framework's configuration, read into the same specs as our own.
//!
//! A file of that shape is filled in first ([`template`]), then read as YAML 1.1 ([`yaml11`]), and then
//! its entries go through the same readers as ours, with a few more words: aliases of modes, the kind
//! `isolated_venv`, `plugin_dirs`, `plugin_settings`. Three rules differ. Known keys that mean nothing here
//! are notes; a disabled entry is only parsed, whatever is wrong with it is a note; and a plugin's own
//! `config:` is nobody's business. Unknown keys elsewhere stay errors.

mod base;
mod coerce;
mod entry;
mod keys;
mod kind;
mod origin;
mod settings;
mod settle;
mod shape;
mod surroundings;
mod template;
mod yaml11;

use super::hidden::Hidden;
use super::keys::{Fields, Keys};
use super::options::Environment;
use super::report::{Findings, Place, shown};
use super::spec::{Mode, OnError};
use super::yaml::{self, Broken, Node, Value};

pub(super) use base::has_package;
pub(super) use entry::{
    capabilities, config_node, framework, has_no_hooks, limits, mode, priority, without_spares,
};
pub(super) use kind::{ISOLATED, isolated, unjudged};
pub(super) use shape::{detect, member};
pub(super) use surroundings::{Surroundings, surroundings};
pub(super) use yaml11::resolve as resolve_yaml11;

/// The framework's own names of modes, with ours and the `on_error` that goes with them.
pub(super) const MODES: [(&str, Mode, Option<OnError>); 3] = [
    ("enforce", Mode::Sequential, None),
    (
        "enforce_ignore_error",
        Mode::Sequential,
        Some(OnError::Ignore),
    ),
    ("permissive", Mode::Transform, None),
];

/// A legacy text as a tree, with what is to be said about it once its entries are known.
pub(super) struct Document {
    pub root: Node,
    remarks: Vec<Remark>,
    /// The templates that ask the environment.
    templates: Vec<settle::Template>,
}

struct Remark {
    at: Place,
    message: String,
    hint: &'static str,
}

/// Fills a text in and parses it; every node gets its place in the file.
pub(super) fn parse(
    text: &str,
    environment: &Environment,
    findings: &mut Findings,
) -> Result<Document, Broken> {
    if !template::is_template(text) {
        findings.read_legacy(Hidden::default());
        let mut root = yaml::parse(text)?;
        let remarks = resolve_yaml11(&mut root, text)
            .into_iter()
            .map(date)
            .collect();
        return Ok(Document {
            root,
            remarks,
            templates: Vec::new(),
        });
    }
    let rendered = template::render(text, environment)?;
    let origin = &rendered.origin;
    let mut hidden = Hidden::default();
    for written in &origin.written {
        hidden.add(written.span.clone(), &written.value, &written.code);
    }
    let place = origin.places();
    let mut root = yaml::parse(&rendered.text).map_err(|broken| {
        let at = place(&broken.at);
        // What the library says may be about a value, of which it shows a part.
        if hidden.may_tell(&broken.message) {
            let hint = "write the templates in quotes, or give their values to the filter `tojson`";
            return Broken {
                message: "not valid YAML once the templates are filled in".into(),
                hint: Some(hint.into()),
                at,
            };
        }
        Broken { at, ..broken }
    })?;
    let dates = resolve_yaml11(&mut root, &rendered.text);
    root.relocate(&place);
    hide_scalars(&root, text, &origin.written, &mut hidden);
    findings.read_legacy(hidden);
    let unset = rendered.unset.iter().map(|number| {
        let expression = &origin.expressions[*number];
        Remark {
            at: place_of(text, expression),
            message: format!(
                "not set, so nothing is filled in: {}",
                shown(&expression.text)
            ),
            hint: "set the variable, or give another value: {{ env.NAME | default('...') }}",
        }
    });
    let commented = |remark: &Remark| is_commented(text, remark.at.span.start);
    let mut remarks: Vec<_> = unset.filter(|remark| !commented(remark)).collect();
    remarks.extend(dates.iter().map(|at| date(place(at))));
    let templates = origin.expressions.iter().enumerate();
    let templates = templates
        .filter(|(_, expression)| settle::asks_environment(&expression.text))
        .map(|(number, expression)| settle::Template {
            at: place_of(text, expression),
            text: expression.text.clone(),
            unset: rendered.unset.contains(&number),
        });
    Ok(Document {
        root,
        remarks,
        templates: templates.collect(),
    })
}

fn place_of(text: &str, expression: &origin::Expression) -> Place {
    origin::Source::new(text).place(expression.span.clone())
}

fn date(at: Place) -> Remark {
    Remark {
        at,
        message: "a date for the framework; the plugin gets its text".into(),
        hint: "write it in quotes",
    }
}

/// Whether a place is in a line that is a comment.
fn is_commented(text: &str, at: usize) -> bool {
    let line_start = text[..at].rfind('\n').map_or(0, |at| at + 1);
    text[line_start..at].trim_start().starts_with('#')
}

/// Hides the scalars that templates had a part in as YAML reads them: unescaped, and whole.
fn hide_scalars(node: &Node, text: &str, written: &[origin::Written], hidden: &mut Hidden) {
    match &node.value {
        Value::List(items) => items
            .iter()
            .for_each(|item| hide_scalars(item, text, written, hidden)),
        Value::Mapping(pairs) => pairs.iter().for_each(|(key, value)| {
            hide_scalars(key, text, written, hidden);
            hide_scalars(value, text, written, hidden);
        }),
        Value::String(value) => {
            let span = &node.at.span;
            let has_part = |written: &origin::Written| {
                written.span.start < span.end && span.start < written.span.end
            };
            if written.iter().any(has_part) {
                let said = shown(text.get(span.clone()).unwrap_or_default());
                hidden.add(span.clone(), value, &said);
            }
        }
        _ => {}
    }
}

impl Document {
    /// Says what was kept until the entries were known; nothing about those that are not loaded.
    pub fn remark(self, findings: &mut Findings) {
        let entries = match member(&self.root, "plugins").map(|plugins| &plugins.value) {
            Some(Value::List(entries)) => entries.as_slice(),
            _ => &[],
        };
        let end = end_of_plugins(&self.root);
        for remark in &self.remarks {
            let at = remark.at.span.start;
            let entry = entries.iter().rev().find(|entry| entry.at.span.start <= at);
            let entry = entry.filter(|_| at < end);
            if entry.is_some_and(is_left_alone) {
                continue;
            }
            findings.enter(
                entry
                    .and_then(|entry| member(entry, "name"))
                    .and_then(Node::as_str),
            );
            findings.note_source(&remark.at, remark.message.clone(), Some(remark.hint.into()));
        }
        findings.enter(None);
    }
}

/// Where the key after `plugins:` begins.
fn end_of_plugins(root: &Node) -> usize {
    let Value::Mapping(pairs) = &root.value else {
        return usize::MAX;
    };
    let mut keys = pairs
        .iter()
        .map(|(key, _)| key)
        .skip_while(|key| key.as_str() != Some("plugins"));
    keys.nth(1).map_or(usize::MAX, |key| key.at.span.start)
}

/// Whether an entry is disabled, and so only parsed.
pub(super) fn is_left_alone(entry: &Node) -> bool {
    member(entry, "mode").and_then(Node::as_str) == Some("disabled")
}

/// Opens the top of a file.
pub(super) fn top<'n>(root: &'n Node, findings: &mut Findings) -> Option<Fields<'n>> {
    Keys::TOP.read_with(&keys::TOP, root, findings)
}

/// Whether `groups:` are those of a policy engine, a mapping, and not ours, a list.
pub(super) fn are_policy_groups(node: &Node, findings: &mut Findings) -> bool {
    let theirs = matches!(node.value, Value::Mapping(_));
    if theirs {
        let hint = "entries are chosen by their own conditions";
        findings.note(
            &node.at,
            "means nothing here: groups".into(),
            Some(hint.into()),
        );
    }
    theirs
}

/// Notes a file without plugins, which the framework loads.
pub(super) fn note_no_plugins(at: &Place, findings: &mut Findings) {
    let hint = "add entries under `plugins:`";
    findings.note(
        at,
        "no plugins, every call is allowed".into(),
        Some(hint.into()),
    );
}

/// Opens an entry.
pub(super) fn entry<'n>(entry: &'n Node, findings: &mut Findings) -> Option<Fields<'n>> {
    Keys::ENTRY.read_with(&keys::ENTRY, entry, findings)
}
