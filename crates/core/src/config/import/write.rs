//! Values as YAML: mappings in blocks, short lists in a line, strings as the library quotes them.
//!
//! The library has no way to write a number by its text, so the lines are laid out here, and only
//! strings are given to it. It quotes what YAML 1.1 and 1.2 readers could take for something else.

use serde::Serialize;
use serde_json::Value;
use serde_saphyr::{DoubleQuoted, FlowSeq, LitStr};

/// Longest line a list of words is written in, in characters; a longer one gets a line a word.
const LINE_CHARS: usize = 100;
/// Longest key that may stand before its colon, in bytes; YAML 1.2 allows 1,024 characters.
const KEY_BYTES: usize = 1_000;

/// Writes the members of a mapping, each line indented. Nothing for an empty one.
pub(super) fn members<'v>(
    out: &mut String,
    pairs: impl IntoIterator<Item = (&'v str, &'v Value)>,
    indent: usize,
) {
    for (key, value) in pairs {
        pad(out, indent);
        let key = key_text(key);
        if key.len() > KEY_BYTES {
            out.push_str("? ");
            out.push_str(&key);
            out.push('\n');
            pad(out, indent);
        } else {
            out.push_str(&key);
        }
        out.push(':');
        match in_a_line(value, indent + key.len().min(LINE_CHARS)) {
            Some(line) => {
                out.push(' ');
                out.push_str(&line);
                out.push('\n');
            }
            None => below(out, value, indent),
        }
    }
}

/// Writes what does not fit behind a colon.
fn below(out: &mut String, value: &Value, indent: usize) {
    match value {
        Value::Object(pairs) => {
            out.push('\n');
            let pairs = pairs.iter().map(|(key, value)| (key.as_str(), value));
            members(out, pairs, indent + 2);
        }
        Value::Array(list) => {
            out.push('\n');
            items(out, list, indent + 2);
        }
        Value::String(text) => block(out, text, indent),
        _ => out.push('\n'),
    }
}

/// Writes the items of a list, each with its dash.
fn items(out: &mut String, list: &[Value], indent: usize) {
    for item in list {
        pad(out, indent);
        out.push('-');
        if let Some(line) = in_a_line(item, indent) {
            out.push(' ');
            out.push_str(&line);
            out.push('\n');
            continue;
        }
        // The first line of what is below goes behind the dash.
        let mut rest = String::new();
        match item {
            Value::Object(pairs) => {
                let pairs = pairs.iter().map(|(key, value)| (key.as_str(), value));
                members(&mut rest, pairs, indent + 2);
            }
            Value::Array(list) => items(&mut rest, list, indent + 2),
            other => {
                below(out, other, indent);
                continue;
            }
        }
        out.push(' ');
        out.push_str(rest.trim_start_matches(' '));
    }
}

/// A value that needs no lines of its own: a scalar, an empty one, or a short list of scalars.
fn in_a_line(value: &Value, used: usize) -> Option<String> {
    match value {
        Value::Object(pairs) => pairs.is_empty().then(|| "{}".to_owned()),
        Value::Array(list) => {
            let words: Option<Vec<_>> = list.iter().map(flow).collect();
            let line = format!("[{}]", words?.join(", "));
            let fits = list.len() < 2 || used + line.chars().count() <= LINE_CHARS;
            fits.then_some(line)
        }
        Value::String(text) if is_block(text) => None,
        Value::String(text) => Some(yaml(text)),
        scalar => flow(scalar),
    }
}

/// A scalar inside brackets.
fn flow(value: &Value) -> Option<String> {
    Some(match value {
        Value::Null => "null".to_owned(),
        Value::Bool(value) => value.to_string(),
        // JSON's numbers are numbers in YAML, too, and keep their text.
        Value::Number(number) => number.to_string(),
        Value::String(text) => {
            let list = yaml(&FlowSeq([text]));
            list.strip_prefix('[')?.strip_suffix(']')?.to_owned()
        }
        Value::Array(_) | Value::Object(_) => return None,
    })
}

/// A key: plain if nobody can misread it.
fn key_text(key: &str) -> String {
    let plain = |c: char| c.is_ascii_alphanumeric() || matches!(c, '_' | '-' | '.');
    if key.starts_with(|c: char| c.is_ascii_alphabetic())
        && key.chars().all(plain)
        && yaml(key) == key
    {
        return key.to_owned();
    }
    yaml(&DoubleQuoted(key))
}

/// Whether a text reads better as a block of its lines.
fn is_block(text: &str) -> bool {
    text.trim_end_matches('\n').contains('\n') && block_lines(text).is_some()
}

/// A text as `|` and its lines, which are not indented here; none if it cannot be a block.
fn block_lines(text: &str) -> Option<(&'static str, Vec<&str>)> {
    let (header, body) = match text.strip_suffix('\n') {
        Some(body) => ("|", body),
        None => ("|-", text),
    };
    // A blank line at either end, or a first line with spaces, would need more than a bar.
    let lines: Vec<&str> = body.split('\n').collect();
    let good = |line: &&str| !line.chars().any(|c| c.is_control() && c != '\t');
    let ends = [lines.first()?, lines.last()?];
    let clear = |line: &&&str| !line.trim().is_empty() && !line.starts_with([' ', '\t']);
    let shown = yaml(&LitStr(text));
    let as_library = shown
        .strip_prefix(header)
        .is_some_and(|rest| rest.starts_with("\n  "));
    (lines.iter().all(good) && ends.iter().all(clear) && as_library).then_some((header, lines))
}

fn block(out: &mut String, text: &str, indent: usize) {
    let Some((header, lines)) = block_lines(text) else {
        return;
    };
    out.push(' ');
    out.push_str(header);
    out.push('\n');
    for line in lines {
        if !line.is_empty() {
            pad(out, indent + 2);
            out.push_str(line);
        }
        out.push('\n');
    }
}

fn pad(out: &mut String, indent: usize) {
    out.extend(std::iter::repeat_n(' ', indent));
}

/// A value as the library writes it in one line.
fn yaml(value: &(impl Serialize + ?Sized)) -> String {
    let options = serde_saphyr::ser_options! { prefer_block_scalars: false };
    // INVARIANT: strings and lists of strings are always written.
    let mut text = serde_saphyr::to_string_with_options(&value, options).unwrap_or_default();
    text.truncate(text.trim_end_matches('\n').len());
    text
}

#[cfg(test)]
mod tests;
