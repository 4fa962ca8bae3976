//! Values in the forms that the framework's model takes for others: `"50"` for 50, `on` for true.

use crate::config::read::{TRUE_OR_FALSE, expected, integer};
use crate::config::report::Findings;
use crate::config::yaml::{Node, Value};

/// An integer, or a text or a number that is one.
pub(in crate::config) fn whole(
    node: &Node,
    what: &str,
    min: i64,
    max: i64,
    findings: &mut Findings,
) -> Option<i64> {
    let value = match &node.value {
        Value::Bool(value) => Some(i64::from(*value)),
        Value::Number(number) if !number.is_integer => number
            .json
            .as_deref()
            .and_then(|text| text.parse().ok())
            .and_then(whole_float),
        Value::String(text) => digits(text.trim()),
        _ => None,
    };
    match value {
        Some(value) if (min..=max).contains(&value) => Some(value),
        _ => integer(node, what, min, max, findings),
    }
}

/// A float without a fraction, as far as floats count one by one.
fn whole_float(float: f64) -> Option<i64> {
    const EXACT: f64 = 9_007_199_254_740_992.0;
    (float.fract() == 0.0 && float.abs() <= EXACT).then_some(float as i64)
}

/// Digits with a sign, single underscores between them, and a fraction of zeros.
fn digits(text: &str) -> Option<i64> {
    let (whole, fraction) = text.split_once('.').unwrap_or((text, "0"));
    let unsigned = whole.strip_prefix(['-', '+']).unwrap_or(whole);
    let spaced = unsigned.starts_with('_') || unsigned.ends_with('_') || unsigned.contains("__");
    let fits = !spaced && !fraction.is_empty() && fraction.bytes().all(|b| b == b'0');
    fits.then(|| whole.replace('_', "").parse().ok()).flatten()
}

/// A number, or a text that is one.
pub(in crate::config) fn float(node: &Node) -> Option<f64> {
    match &node.value {
        Value::Number(number) => number.json.as_deref()?.parse().ok(),
        Value::String(text) => text.trim().parse().ok(),
        _ => None,
    }
}

/// A boolean, or a text or a number that stands for one.
pub(in crate::config) fn boolean(node: &Node, what: &str, findings: &mut Findings) -> Option<bool> {
    let text = match &node.value {
        Value::Bool(value) => return Some(*value),
        Value::Number(number) => number.text.clone(),
        Value::String(text) => text.trim().to_lowercase(),
        _ => String::new(),
    };
    let value = match text.as_str() {
        "true" | "t" | "yes" | "y" | "on" | "1" => Some(true),
        "false" | "f" | "no" | "n" | "off" | "0" => Some(false),
        _ => None,
    };
    if value.is_none() {
        expected(findings, node, what, TRUE_OR_FALSE);
    }
    value
}
