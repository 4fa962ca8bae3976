//! Plain scalars as the framework's YAML 1.1 resolves them.
//!
//! A legacy file says `yes` for true and `010` for eight. Read by the rules of today's YAML, a check that
//! was switched off with `no` would be handed the text "no", which is true to Python.

use crate::config::number::Number;
use crate::config::report::Place;
use crate::config::yaml::{Node, Value};

/// Resolves the values below `node` anew; keys stay text. Gives the places of dates.
pub(in crate::config) fn resolve(node: &mut Node, text: &str) -> Vec<Place> {
    let mut dates = Vec::new();
    visit(node, text, &mut dates);
    dates
}

fn visit(node: &mut Node, text: &str, dates: &mut Vec<Place>) {
    match &mut node.value {
        Value::List(items) => items.iter_mut().for_each(|item| visit(item, text, dates)),
        Value::Mapping(pairs) => {
            for (key, value) in pairs {
                key_as_text(key, text);
                visit(value, text, dates);
            }
        }
        _ => {
            let Some(plain) = plain(node, text) else {
                return;
            };
            if is_date(plain) {
                dates.push(node.at.clone());
            }
            node.value = scalar(plain);
        }
    }
}

/// A key such as `on:` is a name.
fn key_as_text(key: &mut Node, text: &str) {
    if let Some(plain) = plain(key, text)
        && !matches!(key.value, Value::Null)
    {
        key.value = Value::String(plain.to_owned());
    }
}

/// The text of a scalar without quotes, tag or line break.
fn plain<'t>(node: &Node, text: &'t str) -> Option<&'t str> {
    let written = text.get(node.at.span.clone())?.trim();
    let is_scalar = !matches!(node.value, Value::List(_) | Value::Mapping(_));
    let marked =
        written.starts_with(['"', '\'', '|', '>', '!', '&', '*']) || written.contains('\n');
    // A tag and an anchor may stand before it, in either order.
    let tagged = text[..node.at.span.start]
        .split_whitespace()
        .rev()
        .take_while(|before| before.starts_with(['!', '&']))
        .any(|before| before.starts_with('!'));
    (is_scalar && !written.is_empty() && !marked && !tagged).then_some(written)
}

fn scalar(plain: &str) -> Value {
    match plain {
        "~" | "null" | "Null" | "NULL" => Value::Null,
        "yes" | "Yes" | "YES" | "true" | "True" | "TRUE" | "on" | "On" | "ON" => Value::Bool(true),
        "no" | "No" | "NO" | "false" | "False" | "FALSE" | "off" | "Off" | "OFF" => {
            Value::Bool(false)
        }
        _ => number(plain).map_or_else(|| Value::String(plain.to_owned()), Value::Number),
    }
}

fn number(plain: &str) -> Option<Number> {
    let canonical = float(plain).or_else(|| integer(plain))?;
    Number::resolve(&canonical).map(|number| Number {
        text: plain.to_owned(),
        ..number
    })
}

fn sign(text: &str) -> (&str, &str) {
    match text.as_bytes().first() {
        Some(b'-') => ("-", &text[1..]),
        Some(b'+') => ("", &text[1..]),
        _ => ("", text),
    }
}

fn digits(text: &str, allowed: impl Fn(u8) -> bool) -> bool {
    !text.is_empty() && text.bytes().all(|b| allowed(b) || b == b'_')
}

fn decimal(text: &str) -> bool {
    text.starts_with(|c: char| c.is_ascii_digit()) && digits(text, |b| b.is_ascii_digit())
}

/// A float in the text of today's YAML: a point is required, and a sign in the exponent.
fn float(plain: &str) -> Option<String> {
    if matches!(plain, ".nan" | ".NaN" | ".NAN") {
        return Some(plain.to_owned());
    }
    let (minus, unsigned) = sign(plain);
    if matches!(unsigned, ".inf" | ".Inf" | ".INF") {
        return Some(format!("{minus}{unsigned}"));
    }
    if let Some((whole, fraction)) = unsigned.split_once('.')
        && whole.contains(':')
    {
        let fraction_fits = fraction.is_empty() || digits(fraction, |b| b.is_ascii_digit());
        let seconds = sexagesimal(whole).filter(|_| fraction_fits)?;
        return Some(format!("{minus}{seconds}.{}", bare(fraction)));
    }
    let (mantissa, exponent) = match unsigned.find(['e', 'E']) {
        Some(at) => (&unsigned[..at], &unsigned[at..]),
        None => (unsigned, ""),
    };
    let exponent_fits = exponent.is_empty()
        || exponent[1..]
            .strip_prefix(['-', '+'])
            .is_some_and(|digits| !digits.is_empty() && digits.bytes().all(|b| b.is_ascii_digit()));
    let (whole, fraction) = mantissa.split_once('.')?;
    let mantissa_fits = if whole.is_empty() {
        // A sign before the point makes it a text.
        unsigned == plain && decimal(fraction)
    } else {
        decimal(whole) && (fraction.is_empty() || digits(fraction, |b| b.is_ascii_digit()))
    };
    (mantissa_fits && exponent_fits)
        .then(|| format!("{minus}{}.{}{exponent}", bare(whole), bare(fraction)))
}

fn integer(plain: &str) -> Option<String> {
    let (minus, unsigned) = sign(plain);
    let radix = |digits: &str, radix| {
        i128::from_str_radix(&bare(digits), radix)
            .ok()
            .map(|value| format!("{minus}{value}"))
    };
    if let Some(binary) = unsigned.strip_prefix("0b") {
        return digits(binary, |b| matches!(b, b'0' | b'1'))
            .then(|| radix(binary, 2))
            .flatten();
    }
    if let Some(hexadecimal) = unsigned.strip_prefix("0x") {
        return digits(hexadecimal, |b| b.is_ascii_hexdigit())
            .then(|| radix(hexadecimal, 16))
            .flatten();
    }
    if unsigned.len() > 1 && unsigned.starts_with('0') {
        return digits(unsigned, |b| matches!(b, b'0'..=b'7'))
            .then(|| radix(unsigned, 8))
            .flatten();
    }
    if unsigned.contains(':') {
        let fits = !unsigned.starts_with('0');
        return sexagesimal(unsigned)
            .filter(|_| fits)
            .map(|value| format!("{minus}{value}"));
    }
    decimal(unsigned).then(|| format!("{minus}{}", bare(unsigned)))
}

/// `190:20:30`, in seconds.
fn sexagesimal(text: &str) -> Option<u128> {
    let mut parts = text.split(':');
    let first = parts.next().filter(|part| decimal(part))?;
    let mut value: u128 = bare(first).parse().ok()?;
    for part in parts {
        let fits = matches!(part.len(), 1 | 2) && part.bytes().all(|b| b.is_ascii_digit());
        let part: u128 = part.parse().ok().filter(|part| fits && *part < 60)?;
        value = value.checked_mul(60)?.checked_add(part)?;
    }
    Some(value)
}

fn bare(digits: &str) -> String {
    digits.replace('_', "")
}

/// Whether YAML 1.1 makes a date or a time of it.
fn is_date(plain: &str) -> bool {
    let bytes = plain.as_bytes();
    let digits_at = |range: std::ops::Range<usize>| {
        bytes
            .get(range)
            .is_some_and(|part| part.iter().all(u8::is_ascii_digit))
    };
    if !digits_at(0..4) || bytes.get(4) != Some(&b'-') {
        return false;
    }
    let whole_day = bytes.len() == 10 && digits_at(5..7) && bytes[7] == b'-' && digits_at(8..10);
    let Some((month, rest)) = plain[5..].split_once('-') else {
        return false;
    };
    let Some((day, time)) = rest.split_once(['T', 't', ' ', '\t']) else {
        return whole_day;
    };
    let short =
        |part: &str| matches!(part.len(), 1 | 2) && part.bytes().all(|b| b.is_ascii_digit());
    let mut parts = time.trim_start().splitn(3, ':');
    let (hour, minute, seconds) = (parts.next(), parts.next(), parts.next());
    let two = |part: &str| part.len() == 2 && short(part);
    short(month)
        && short(day)
        && hour.is_some_and(short)
        && minute.is_some_and(two)
        && seconds.is_some_and(|seconds| seconds.get(..2).is_some_and(two))
}

#[cfg(test)]
mod tests {
    use super::{is_date, scalar};
    use crate::config::yaml::Value;

    /// A resolved scalar in one word.
    fn resolved(plain: &str) -> String {
        match scalar(plain) {
            Value::Null => "null".into(),
            Value::Bool(value) => value.to_string(),
            Value::Number(number) => number.json.unwrap_or_else(|| "not JSON".into()),
            Value::String(text) => format!("{text:?}"),
            Value::List(_) | Value::Mapping(_) => unreachable!(),
        }
    }

    #[test]
    fn scalars_are_what_yaml_1_1_makes_of_them() {
        let cases = [
            ("yes", "true"),
            ("NO", "false"),
            ("On", "true"),
            ("off", "false"),
            ("nO", "\"nO\""),
            ("y", "\"y\""),
            ("~", "null"),
            ("Null", "null"),
            ("012", "10"),
            ("0o17", "\"0o17\""),
            ("08", "\"08\""),
            ("0", "0"),
            ("-0", "-0"),
            ("1_000", "1000"),
            ("0b11", "3"),
            ("-0x1F", "-31"),
            ("0_7", "7"),
            ("+1", "1"),
            ("1e3", "\"1e3\""),
            ("1.5e3", "\"1.5e3\""),
            ("1.5e+3", "1.5e+3"),
            ("1.", "1.0"),
            (".5", "0.5"),
            ("-.5", "\"-.5\""),
            ("1_0.5", "10.5"),
            (".inf", "not JSON"),
            ("-.INF", "not JSON"),
            (".nan", "not JSON"),
            ("12:30", "750"),
            ("190:20:30", "685230"),
            ("190:20:30.15", "685230.15"),
            ("12:60", "\"12:60\""),
            ("1.2.3", "\"1.2.3\""),
            ("a", "\"a\""),
        ];
        for (plain, expected) in cases {
            assert_eq!(resolved(plain), expected, "{plain}");
        }
    }

    #[test]
    fn dates() {
        for text in [
            "2024-01-01",
            "2001-12-14t21:59:43.10-05:00",
            "2001-1-4 1:59:43",
            "2001-12-14 21:59:43Z",
        ] {
            assert!(is_date(text), "{text}");
        }
        for text in [
            "2024-1-1",
            "2024-01",
            "1.0-2024",
            "20240-01-01",
            "2024-01-01x",
            "2024-01-01 12:00",
        ] {
            assert!(!is_date(text), "{text}");
        }
    }
}
