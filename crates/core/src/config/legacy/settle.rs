//! Templates of a file that is written anew, in a shape that fills nothing in.
//!
//! The environment may hold secrets, and a file is no place for them, so it is read as if no variable were
//! set. A template with a default becomes that default. In a plugin's own settings, what a template gives
//! no value for is left out, whole: half a text, or an empty one, could mean anything to the plugin.

use std::collections::HashSet;
use std::ops::Range;

use super::{Document, Remark, is_commented, member};
use crate::config::report::{Place, shown};
use crate::config::yaml::{Node, Value};

/// The keys of an entry whose values are the plugin's own.
const OWN: [&str; 3] = ["config", "default_config", "default_configs"];

/// A key of an entry with a member that is the plugin's own, too.
const WITH_OWN: (&str, &str) = ("python", "settings");

/// A template that asks the environment.
pub(super) struct Template {
    pub at: Place,
    pub text: String,
    /// Whether it gave nothing, for want of a variable.
    pub unset: bool,
}

/// Whether a template has a part in the result that depends on the environment.
pub(super) fn asks_environment(template: &str) -> bool {
    let mut words = template.split(|c: char| !c.is_alphanumeric() && c != '_');
    words.any(|word| word == "env")
}

impl Document {
    /// Leaves out what only the environment has a value for, and says what became of every template.
    pub fn settle(&mut self, text: &str) {
        let unset = self.templates.iter().filter(|template| template.unset);
        let file = File {
            text,
            unset: unset.map(|template| template.at.span.clone()).collect(),
            all: self
                .templates
                .iter()
                .map(|template| template.at.span.clone())
                .collect(),
        };
        let mut left_out = HashSet::new();
        if let Value::Mapping(pairs) = &mut self.root.value {
            let plugins = pairs
                .iter_mut()
                .filter(|(key, _)| key.as_str() == Some("plugins"));
            for (_, plugins) in plugins {
                file.settle_plugins(plugins, &mut left_out);
            }
        }
        // What was said about these is said in other words.
        self.remarks
            .retain(|remark| !left_out.contains(&remark.at.span.start));
        for template in &self.templates {
            let start = template.at.span.start;
            if is_commented(text, start) {
                continue;
            }
            let (message, hint) = if left_out.contains(&start) {
                (
                    "left out, since only the environment has a value for it",
                    "write the value there, or let the plugin read the variable: permissions: {env: [NAME]}",
                )
            } else if template.unset {
                continue;
            } else {
                (
                    "filled in as if no variable were set, once and for all",
                    "write another value there if this is not the right one",
                )
            };
            self.remarks.push(Remark {
                at: template.at.clone(),
                message: format!("{message}: {}", shown(&template.text)),
                hint,
            });
        }
    }
}

/// A text and its templates, in its order.
struct File<'t> {
    text: &'t str,
    unset: Vec<Range<usize>>,
    all: Vec<Range<usize>>,
}

impl File<'_> {
    fn settle_plugins(&self, plugins: &mut Node, left_out: &mut HashSet<usize>) {
        let Value::List(entries) = &mut plugins.value else {
            return;
        };
        for entry in entries {
            if member(entry, "name").is_none() {
                continue;
            }
            if let Value::Mapping(pairs) = &mut entry.value {
                let own = |key: &Node| key.as_str().is_some_and(|key| OWN.contains(&key));
                for (key, value) in pairs {
                    if own(key) {
                        self.prune(value, left_out);
                    } else if key.as_str() == Some(WITH_OWN.0)
                        && let Value::Mapping(members) = &mut value.value
                    {
                        let members = members.iter_mut();
                        members
                            .filter(|(key, _)| key.as_str() == Some(WITH_OWN.1))
                            .for_each(|(_, value)| self.prune(value, left_out));
                    }
                }
            }
        }
    }

    /// Takes out of a list or mapping what an unset template has a part in.
    fn prune(&self, node: &mut Node, left_out: &mut HashSet<usize>) {
        match &mut node.value {
            Value::List(items) => items.retain_mut(|item| {
                self.prune(item, left_out);
                !self.left_out(item, None, left_out)
            }),
            Value::Mapping(pairs) => pairs.retain_mut(|(key, value)| {
                self.prune(value, left_out);
                let key_out = self.left_out(key, None, left_out);
                !(self.left_out(value, Some(key), left_out) || key_out)
            }),
            _ => {}
        }
    }

    /// Whether an unset template has a part in a scalar; if so, all of them are noted.
    fn left_out(&self, node: &Node, key: Option<&Node>, left_out: &mut HashSet<usize>) -> bool {
        if matches!(node.value, Value::List(_) | Value::Mapping(_)) {
            return false;
        }
        let span = match (&node.value, key) {
            // Nothing has no place; it belongs behind its colon.
            (Value::Null, Some(key)) if node.at.span.is_empty() => {
                let end = key.at.span.end;
                let colon = self.text[end..]
                    .find(':')
                    .map_or(end, |colon| end + colon + 1);
                colon..colon
            }
            _ => node.at.span.clone(),
        };
        let span = self.widened(span);
        // Both are in the order of the text, and apart from each other.
        let first = self.unset.partition_point(|unset| unset.end <= span.start);
        let found: Vec<_> = self.unset[first..]
            .iter()
            .take_while(|unset| unset.start < span.end)
            .map(|unset| unset.start)
            .collect();
        left_out.extend(&found);
        !found.is_empty()
    }

    /// With the templates beside it, which may have written nothing there.
    fn widened(&self, mut span: Range<usize>) -> Range<usize> {
        let blank = |text: &str| text.chars().all(|c| c == ' ' || c == '\t');
        loop {
            let next = self
                .all
                .partition_point(|template| template.start < span.end);
            let after = self.all.get(next);
            let after = after.filter(|template| blank(&self.text[span.end..template.start]));
            let earlier = self
                .all
                .partition_point(|template| template.end <= span.start);
            let before = earlier.checked_sub(1).map(|index| &self.all[index]);
            let before = before.filter(|template| blank(&self.text[template.end..span.start]));
            match (after, before) {
                (Some(after), _) => span.end = after.end,
                (_, Some(before)) => span.start = before.start,
                _ => return span,
            }
        }
    }
}
