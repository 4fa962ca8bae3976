//! The canonical form of outcomes, in which two are compared.

use hookgate_core::Outcome;
use serde_json::{Map, Value};
use sha2::{Digest as _, Sha256};

/// Stands in expected outcomes for the digest of the payload, where the contract does not say what
/// text edits leave.
const OF_THE_PAYLOAD: &str = "of the payload";

/// The canonical form: without `record`, faults without message and details, numbers outside of the
/// payload as exact decimals; key order is that of a map and does not matter.
///
/// # Panics
///
/// If the outcome does not serialise, which is a fault of the engine.
#[must_use]
pub fn outcome(outcome: &Outcome) -> Value {
    let text = serde_json::to_string(outcome).expect("an outcome serialises");
    canonical(serde_json::from_str(&text).expect("an outcome is JSON"))
}

/// The canonical form of an outcome that is JSON already.
#[must_use]
pub fn canonical(mut value: Value) -> Value {
    let Some(outcome) = value.as_object_mut() else {
        return value;
    };
    outcome.remove("record");
    if let Some(Value::Array(faults)) = outcome.get_mut("faults") {
        for fault in faults.iter_mut().filter_map(Value::as_object_mut) {
            fault.remove("message");
            fault.remove("details");
        }
    }
    for (key, part) in outcome.iter_mut() {
        if key != "payload" {
            decimals(part);
        }
    }
    value
}

/// The canonical form of what is expected of an outcome: where an approval is bound to an edited
/// payload, to the text this very outcome has.
#[must_use]
pub fn expected(mut expected: Value, found: &Outcome) -> Value {
    if let Some(payload) = &found.payload {
        let digest = Sha256::digest(payload.as_str().as_bytes());
        let digest: String = digest.iter().map(|byte| format!("{byte:02x}")).collect();
        let all = |list: &Value| list.as_array().map_or(0, Vec::len);
        let places = (0..all(&expected["approvals"])).map(|index| format!("/approvals/{index}"));
        let suppressed =
            (0..all(&expected["suppressed"])).map(|index| format!("/suppressed/{index}/approval"));
        for place in places.chain(suppressed).collect::<Vec<_>>() {
            if let Some(bound) = expected.pointer_mut(&format!("{place}/payload_sha256"))
                && bound == OF_THE_PAYLOAD
            {
                *bound = digest.clone().into();
            }
        }
    }
    canonical(expected)
}

/// Replaces every number by a string of its exact decimal value, so that 1, 1.0 and 1e0 are one.
fn decimals(value: &mut Value) {
    match value {
        Value::Number(number) => {
            *value = Value::String(format!("number {}", decimal(&number.to_string())))
        }
        Value::Array(items) => items.iter_mut().for_each(decimals),
        Value::Object(members) => members.values_mut().for_each(decimals),
        _ => {}
    }
}

/// `-12.50e1` as `-125e0`: digits without zeros at either end, and an exponent.
fn decimal(text: &str) -> String {
    let (sign, text) = text
        .strip_prefix('-')
        .map_or(("", text), |rest| ("-", rest));
    let (mantissa, exponent) = text.split_once(['e', 'E']).unwrap_or((text, "0"));
    let (whole, fraction) = mantissa.split_once('.').unwrap_or((mantissa, ""));
    let mut exponent: i64 = exponent.parse().unwrap_or(i64::MAX);
    let digits = format!("{whole}{fraction}");
    exponent = exponent.saturating_sub(fraction.len() as i64);
    let digits = digits.trim_start_matches('0');
    let trimmed = digits.trim_end_matches('0');
    exponent = exponent.saturating_add((digits.len() - trimmed.len()) as i64);
    if trimmed.is_empty() {
        "0".into()
    } else {
        format!("{sign}{trimmed}e{exponent}")
    }
}

/// A one-line account of where two canonical values differ first.
#[must_use]
pub fn first_difference(expected: &Value, found: &Value) -> Option<String> {
    difference(expected, found, &mut String::new())
}

fn difference(expected: &Value, found: &Value, at: &mut String) -> Option<String> {
    if expected == found {
        return None;
    }
    match (expected, found) {
        (Value::Object(one), Value::Object(other)) => {
            let null = Value::Null;
            let keys = one
                .keys()
                .chain(other.keys().filter(|key| !one.contains_key(*key)));
            keys.filter(|key| one.get(*key) != other.get(*key))
                .find_map(|key| {
                    let length = at.len();
                    at.push_str(&format!("/{key}"));
                    let found = difference(field(one, key, &null), field(other, key, &null), at)
                        .or_else(|| Some(format!("{at}: there on one side only")));
                    at.truncate(length);
                    found
                })
        }
        (Value::Array(one), Value::Array(other)) if one.len() == other.len() => one
            .iter()
            .zip(other)
            .enumerate()
            .find_map(|(index, (one, other))| {
                let length = at.len();
                at.push_str(&format!("/{index}"));
                let found = difference(one, other, at);
                at.truncate(length);
                found
            }),
        _ => Some(format!(
            "{at}: expected {}, found {}",
            short(expected),
            short(found)
        )),
    }
}

fn field<'a>(map: &'a Map<String, Value>, key: &str, missing: &'a Value) -> &'a Value {
    map.get(key).unwrap_or(missing)
}

fn short(value: &Value) -> String {
    let text = value.to_string();
    if text.chars().count() > 300 {
        format!(
            "{}... ({} bytes)",
            text.chars().take(300).collect::<String>(),
            text.len()
        )
    } else {
        text
    }
}
