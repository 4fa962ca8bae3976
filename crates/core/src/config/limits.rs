//! Durations, sizes and counts.

use std::time::Duration;

use bytesize::ByteSize;

use super::defaults::{
    CONCURRENCY_MAX_CALLS, MEMORY_MAX_BYTES, MEMORY_MIN_BYTES, SCRATCH_MAX_BYTES,
    SCRATCH_MIN_BYTES, SIZE_MAX_BYTES, TIMEOUT_MAX_SECONDS,
};
use super::keys::Keys;
use super::number::Number;
use super::read::{expected, integer};
use super::report::{Findings, shown};
use super::spec::Limits;
use super::yaml::{Node, Value};

const DURATION_UNITS: &str = "units: ns, us, ms, s, m, h";
const SIZE_UNITS: &str = "units: B, KB, MB, GB, KiB, MiB, GiB";

/// Reads `limits:` over the defaults of a kind.
pub(super) fn read(node: Option<&Node>, defaults: Limits, findings: &mut Findings) -> Limits {
    let mut limits = defaults;
    let Some(fields) = node.and_then(|node| Keys::LIMITS.read(node, findings)) else {
        return limits;
    };
    if let Some(value) = fields
        .get("timeout")
        .and_then(|node| timeout(node, findings))
    {
        limits.timeout = value;
    }
    if let Some(value) = fields.get("memory").and_then(|node| memory(node, findings)) {
        limits.memory_bytes = value;
    }
    let max = i64::from(CONCURRENCY_MAX_CALLS);
    if let Some(value) = fields
        .get("concurrency")
        .and_then(|node| integer(node, "limits.concurrency", 1, max, findings))
        .and_then(|value| u32::try_from(value).ok())
    {
        limits.concurrency = value;
    }
    limits
}

fn timeout(node: &Node, findings: &mut Findings) -> Option<Duration> {
    const WHAT: &str = "limits.timeout";
    let text = with_unit(
        node,
        WHAT,
        "a duration",
        ["ms", "s"],
        DURATION_UNITS,
        findings,
    )?;
    let Ok(value) = humantime::parse_duration(text) else {
        let message = format!("{WHAT}: not a duration: {}", shown(text));
        let hint = format!("write a number and a unit, for example 50ms; {DURATION_UNITS}");
        findings.error(&node.at, message, Some(hint));
        return None;
    };
    let max = Duration::from_secs(TIMEOUT_MAX_SECONDS);
    if value.is_zero() || value > max {
        let message = format!("{WHAT}: out of range: {}", shown(text));
        let hint = format!(
            "write more than 0s and at most {}",
            humantime::format_duration(max)
        );
        findings.error(&node.at, message, Some(hint));
        return None;
    }
    Some(value)
}

fn memory(node: &Node, findings: &mut Findings) -> Option<u64> {
    let range = (MEMORY_MIN_BYTES, MEMORY_MAX_BYTES);
    size_with_unit(node, "limits.memory", range, findings)
}

/// Reads `permissions.scratch`.
pub(super) fn scratch(node: &Node, findings: &mut Findings) -> Option<u64> {
    let range = (SCRATCH_MIN_BYTES, SCRATCH_MAX_BYTES);
    size_with_unit(node, "permissions.scratch", range, findings)
}

fn size_with_unit(
    node: &Node,
    what: &str,
    (min, max): (u64, u64),
    findings: &mut Findings,
) -> Option<u64> {
    let text = with_unit(node, what, "a size", ["MiB", "GiB"], SIZE_UNITS, findings)?;
    let value = parse_size(node, what, text, findings)?;
    in_range(node, what, text, value, min, max, findings)
}

/// A size in bytes: a plain integer, or a number with a unit.
pub(super) fn size(node: &Node, what: &str, findings: &mut Findings) -> Option<u64> {
    let (text, value) = match &node.value {
        Value::String(text) => (text, parse_size(node, what, text, findings)?),
        // Past 64 bits is out of range too.
        Value::Number(number) if number.is_integer => {
            (&number.text, number.integer().unwrap_or(u64::MAX))
        }
        _ => {
            expected(
                findings,
                node,
                what,
                "a number of bytes or a size such as 10MB",
            );
            return None;
        }
    };
    in_range(node, what, text, value, 1, SIZE_MAX_BYTES, findings)
}

/// The text of a value that needs a unit; a bare number is reported with what it may have meant.
fn with_unit<'n>(
    node: &'n Node,
    what: &str,
    wanted: &str,
    guesses: [&str; 2],
    units: &str,
    findings: &mut Findings,
) -> Option<&'n str> {
    let text = match &node.value {
        Value::Number(number) => &number.text,
        Value::String(text) => text,
        _ => {
            expected(findings, node, what, wanted);
            return None;
        }
    };
    let bare = Number::resolve(text.trim()).is_some_and(|number| number.json.is_some());
    if !bare {
        return Some(text);
    }
    let text = shown(text.trim());
    let [small, large] = guesses;
    let hint = format!("write {text}{small} or {text}{large}; {units}");
    findings.error(
        &node.at,
        format!("{what}: a unit is missing: {text}"),
        Some(hint),
    );
    None
}

fn parse_size(node: &Node, what: &str, text: &str, findings: &mut Findings) -> Option<u64> {
    let value = text.parse::<ByteSize>().ok();
    if value.is_none() {
        let hint = format!("write a number and a unit, for example 10MB; {SIZE_UNITS}");
        findings.error(
            &node.at,
            format!("{what}: not a size: {}", shown(text)),
            Some(hint),
        );
    }
    value.map(|value| value.as_u64())
}

fn in_range(
    node: &Node,
    what: &str,
    text: &str,
    value: u64,
    min: u64,
    max: u64,
    findings: &mut Findings,
) -> Option<u64> {
    if (min..=max).contains(&value) {
        return Some(value);
    }
    let hint = format!(
        "write at least {} and at most {}",
        bytes_text(min),
        bytes_text(max)
    );
    findings.error(
        &node.at,
        format!("{what}: out of range: {}", shown(text)),
        Some(hint),
    );
    None
}

/// A number of bytes in the largest unit that needs no fraction.
pub(super) fn bytes_text(bytes: u64) -> String {
    const UNITS: [(u64, &str); 7] = [
        (1 << 40, "TiB"),
        (1 << 30, "GiB"),
        (1_000_000_000, "GB"),
        (1 << 20, "MiB"),
        (1_000_000, "MB"),
        (1 << 10, "KiB"),
        (1_000, "KB"),
    ];
    match UNITS
        .iter()
        .find(|(size, _)| bytes >= *size && bytes.is_multiple_of(*size))
    {
        Some((size, unit)) => format!("{} {unit}", bytes / size),
        None => format!("{bytes} B"),
    }
}
