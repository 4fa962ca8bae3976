//! Nodes as typed values. Each reader reports what does not fit and gives nothing then.

use std::collections::HashSet;

use super::keys::choices_hint;
use super::report::{Findings, shown};
use super::yaml::{Node, Value};

/// What a node is, as a message names it.
fn found(node: &Node) -> &'static str {
    match &node.value {
        Value::Null => "nothing",
        Value::Bool(_) => "a boolean",
        Value::Number(number) if number.is_integer => "an integer",
        Value::Number(_) => "a number",
        Value::String(_) => "a string",
        Value::List(_) => "a list",
        Value::Mapping(_) => "a mapping",
    }
}

/// Reports a value of the wrong type.
pub(super) fn expected(findings: &mut Findings, node: &Node, what: &str, wanted: &str) {
    let hint = match &node.value {
        Value::Null => Some("write a value, or remove the key".into()),
        // `{{ env.X }}` is a mapping whose key is a mapping.
        Value::Mapping(pairs)
            if pairs
                .first()
                .is_some_and(|(key, _)| matches!(key.value, Value::Mapping(_))) =>
        {
            Some("templates are not filled in; write the value itself".into())
        }
        Value::Bool(value) if wanted == "a string" => {
            Some(format!("write it in quotes: \"{value}\""))
        }
        Value::Number(number) if wanted == "a string" => {
            Some(format!("write it in quotes: \"{}\"", shown(&number.text)))
        }
        Value::String(text) if wanted == TRUE_OR_FALSE => {
            truth(text).map(|value| format!("write {value}"))
        }
        Value::String(text) if wanted.starts_with("a list") && !text.is_empty() => {
            Some(format!("write it in brackets: [{}]", shown(text)))
        }
        _ => None,
    };
    let message = format!("{what}: expected {wanted}, found {}", found(node));
    findings.error(&node.at, message, hint);
}

/// What a boolean is called where something else stands.
pub(super) const TRUE_OR_FALSE: &str = "true or false";

/// What a word for a boolean in other formats means.
fn truth(text: &str) -> Option<bool> {
    match text.to_lowercase().as_str() {
        "true" | "yes" | "on" => Some(true),
        "false" | "no" | "off" => Some(false),
        _ => None,
    }
}

/// `true` or `false`.
pub(super) fn boolean(node: &Node, what: &str, findings: &mut Findings) -> Option<bool> {
    if let Value::Bool(value) = &node.value {
        return Some(*value);
    }
    expected(findings, node, what, TRUE_OR_FALSE);
    None
}

/// A string, as it is.
pub(super) fn string<'n>(node: &'n Node, what: &str, findings: &mut Findings) -> Option<&'n str> {
    let text = node.as_str();
    if text.is_none() {
        expected(findings, node, what, "a string");
    }
    text
}

/// A string that is not empty and holds no control characters.
pub(super) fn word<'n>(node: &'n Node, what: &str, findings: &mut Findings) -> Option<&'n str> {
    let text = string(node, what, findings)?;
    if text.is_empty() {
        findings.error(
            &node.at,
            format!("{what}: is empty"),
            Some("write at least one character".into()),
        );
        return None;
    }
    if text.chars().any(char::is_control) {
        let message = format!("{what}: holds a control character: {}", shown(text));
        findings.error(
            &node.at,
            message,
            Some("write printable characters only".into()),
        );
        return None;
    }
    Some(text)
}

/// The items of a list.
pub(super) fn list<'n>(
    node: &'n Node,
    what: &str,
    of: &str,
    findings: &mut Findings,
) -> Option<&'n [Node]> {
    let Value::List(items) = &node.value else {
        expected(findings, node, what, &format!("a list of {of}"));
        return None;
    };
    Some(items)
}

/// A list of distinct words that each pass `check`, which reports what it refuses.
pub(super) fn words(
    node: &Node,
    what: &str,
    of: &str,
    findings: &mut Findings,
    check: impl Fn(&Node, &str, &mut Findings) -> bool,
) -> Vec<String> {
    let mut out = Vec::new();
    let mut seen = HashSet::new();
    for item in list(node, what, of, findings).unwrap_or_default() {
        let Some(text) = word(item, what, findings) else {
            continue;
        };
        if !seen.insert(text) {
            let message = format!("{what}: listed twice: {}", shown(text));
            findings.slip(&item.used, message, Some("keep one of them".into()));
        } else if check(item, text, findings) {
            out.push(text.to_owned());
        }
    }
    out
}

/// One of a few words. `legacy` are words of the legacy shape, with what to write in ours.
pub(super) fn choice<T: Copy>(
    node: &Node,
    what: &str,
    choices: &[(&str, T)],
    legacy: &[(&str, &str)],
    findings: &mut Findings,
) -> Option<T> {
    let text = string(node, what, findings)?;
    if let Some((_, value)) = choices.iter().find(|(word, _)| *word == text) {
        return Some(*value);
    }
    if let Some((_, hint)) = legacy.iter().find(|(word, _)| *word == text) {
        let message = format!("only the legacy shape has it: {what} {text}");
        findings.error(&node.at, message, Some((*hint).into()));
        return None;
    }
    let hint = choices_hint(text, choices.iter().map(|(word, _)| *word), "values");
    findings.error(
        &node.at,
        format!("unknown {what}: {}", shown(text)),
        Some(hint),
    );
    None
}

/// An integer from `min` to `max`.
pub(super) fn integer(
    node: &Node,
    what: &str,
    min: i64,
    max: i64,
    findings: &mut Findings,
) -> Option<i64> {
    let Value::Number(number) = &node.value else {
        expected(findings, node, what, "an integer");
        return None;
    };
    if !number.is_integer {
        expected(findings, node, what, "an integer");
        return None;
    }
    let value = number
        .integer::<i64>()
        .filter(|value| (min..=max).contains(value));
    if value.is_none() {
        let message = format!("{what}: out of range: {}", shown(&number.text));
        findings.error(
            &node.at,
            message,
            Some(format!("write an integer from {min} to {max}")),
        );
    }
    value
}
