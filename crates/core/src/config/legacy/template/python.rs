//! Values as Python writes them, since that is what a legacy file was written against.

use minijinja::value::{Value, ValueKind};
use minijinja::{Error, ErrorKind};

/// What `str()` makes of a value.
pub(super) fn text(value: &Value) -> Result<String, Error> {
    match value.kind() {
        ValueKind::Undefined => Ok(String::new()),
        ValueKind::String => Ok(value.as_str().unwrap_or_default().to_owned()),
        _ => repr(value),
    }
}

/// What `repr()` makes of a value.
fn repr(value: &Value) -> Result<String, Error> {
    Ok(match value.kind() {
        ValueKind::Undefined => "Undefined".into(),
        ValueKind::None => "None".into(),
        ValueKind::Bool if value.is_true() => "True".into(),
        ValueKind::Bool => "False".into(),
        ValueKind::Number => number(value),
        ValueKind::String => quoted(value.as_str().unwrap_or_default()),
        ValueKind::Seq | ValueKind::Iterable => {
            let items: Result<Vec<_>, _> = value.try_iter()?.map(|item| repr(&item)).collect();
            format!("[{}]", items?.join(", "))
        }
        ValueKind::Map => {
            let pairs: Result<Vec<_>, Error> = value
                .try_iter()?
                .map(|key| {
                    Ok(format!(
                        "{}: {}",
                        repr(&key)?,
                        repr(&value.get_item(&key)?)?
                    ))
                })
                .collect();
            format!("{{{}}}", pairs?.join(", "))
        }
        other => {
            let message = format!("a value of type {other} cannot be written");
            return Err(Error::new(ErrorKind::InvalidOperation, message));
        }
    })
}

fn number(value: &Value) -> String {
    match f64::try_from(value.clone()) {
        Ok(float) if !value.is_integer() => float_text(float),
        _ => value.to_string(),
    }
}

/// The shortest text that reads back as the same number, in Python's form.
fn float_text(float: f64) -> String {
    if float.is_nan() {
        return "nan".into();
    }
    if float.is_infinite() {
        return if float > 0.0 { "inf" } else { "-inf" }.into();
    }
    let scientific = format!("{float:e}");
    let (digits, exponent) = scientific.split_once('e').unwrap_or((&scientific, "0"));
    let exponent: i32 = exponent.parse().unwrap_or_default();
    // Python switches to exponents at 1e16 and below 1e-4.
    if (-4..16).contains(&exponent) {
        let plain = format!("{float}");
        if plain.contains('.') {
            plain
        } else {
            plain + ".0"
        }
    } else {
        let sign = if exponent < 0 { '-' } else { '+' };
        format!("{digits}e{sign}{:02}", exponent.abs())
    }
}

/// A string as Python source: single quotes, unless only those occur in it.
fn quoted(text: &str) -> String {
    let quote = if text.contains('\'') && !text.contains('"') {
        '"'
    } else {
        '\''
    };
    let mut out = String::from(quote);
    for c in text.chars() {
        match c {
            '\\' => out.push_str("\\\\"),
            '\n' => out.push_str("\\n"),
            '\r' => out.push_str("\\r"),
            '\t' => out.push_str("\\t"),
            c if c == quote => {
                out.push('\\');
                out.push(c);
            }
            c if c.is_control() && (c as u32) < 0x100 => {
                out.push_str(&format!("\\x{:02x}", c as u32));
            }
            c => out.push(c),
        }
    }
    out.push(quote);
    out
}

/// What the filter `tojson` makes of a value: sorted keys, ASCII only, safe inside HTML.
pub(super) fn json(value: &Value) -> Result<String, Error> {
    Ok(match value.kind() {
        ValueKind::None => "null".into(),
        ValueKind::Bool => value.to_string(),
        ValueKind::Number => match number(value).as_str() {
            "nan" => "NaN".into(),
            "inf" => "Infinity".into(),
            "-inf" => "-Infinity".into(),
            number => number.into(),
        },
        ValueKind::String => json_string(value.as_str().unwrap_or_default()),
        ValueKind::Seq | ValueKind::Iterable => {
            let items: Result<Vec<_>, _> = value.try_iter()?.map(|item| json(&item)).collect();
            format!("[{}]", items?.join(", "))
        }
        ValueKind::Map => {
            let mut pairs = Vec::new();
            for key in value.try_iter()? {
                pairs.push((text(&key)?, json(&value.get_item(&key)?)?));
            }
            pairs.sort();
            let pairs = pairs.iter();
            let pairs: Vec<_> = pairs
                .map(|(key, value)| format!("{}: {value}", json_string(key)))
                .collect();
            format!("{{{}}}", pairs.join(", "))
        }
        other => {
            let message = format!("tojson: a value of type {other} is no JSON");
            return Err(Error::new(ErrorKind::InvalidOperation, message));
        }
    })
}

fn json_string(text: &str) -> String {
    let mut out = String::from('"');
    for unit in text.encode_utf16() {
        match char::from_u32(u32::from(unit)) {
            Some('"') => out.push_str("\\\""),
            Some('\\') => out.push_str("\\\\"),
            Some('\n') => out.push_str("\\n"),
            Some('\r') => out.push_str("\\r"),
            Some('\t') => out.push_str("\\t"),
            Some('\u{8}') => out.push_str("\\b"),
            Some('\u{c}') => out.push_str("\\f"),
            Some(c @ (' '..='~')) if !matches!(c, '<' | '>' | '&' | '\'') => out.push(c),
            _ => out.push_str(&format!("\\u{unit:04x}")),
        }
    }
    out.push('"');
    out
}

/// A text inside HTML, as the framework's escaping writes it.
pub(super) fn escaped(text: &str) -> String {
    let mut out = String::with_capacity(text.len());
    for c in text.chars() {
        match c {
            '&' => out.push_str("&amp;"),
            '<' => out.push_str("&lt;"),
            '>' => out.push_str("&gt;"),
            '"' => out.push_str("&#34;"),
            '\'' => out.push_str("&#39;"),
            c => out.push(c),
        }
    }
    out
}

/// An integer in Python's decimal spelling, or in that of another base.
pub(super) fn int(text: &str, base: u32) -> Option<i128> {
    let (negative, digits) = sign(text.trim());
    let prefix = match base {
        2 => "0b",
        8 => "0o",
        16 => "0x",
        _ => "",
    };
    let lower = digits.to_lowercase();
    let digits = lower.strip_prefix(prefix).unwrap_or(&lower);
    let value = i128::from_str_radix(&without_underscores(digits)?, base).ok()?;
    Some(if negative { -value } else { value })
}

/// A float in Python's spelling.
pub(super) fn float(text: &str) -> Option<f64> {
    let (negative, digits) = sign(text.trim());
    let digits = without_underscores(digits)?.to_lowercase();
    let known = matches!(digits.as_str(), "inf" | "infinity" | "nan");
    let starts = digits.starts_with(|c: char| c.is_ascii_digit() || c == '.');
    let value: f64 = (known || starts).then(|| digits.parse().ok()).flatten()?;
    Some(if negative { -value } else { value })
}

fn sign(text: &str) -> (bool, &str) {
    match text.as_bytes().first() {
        Some(b'-') => (true, &text[1..]),
        Some(b'+') => (false, &text[1..]),
        _ => (false, text),
    }
}

/// Single underscores between digits are spacing; others are none.
fn without_underscores(digits: &str) -> Option<String> {
    let bad = digits.starts_with(['_', '-', '+']) || digits.ends_with('_') || digits.contains("__");
    (!bad && !digits.is_empty()).then(|| digits.replace('_', ""))
}
