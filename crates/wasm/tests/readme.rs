//! The figures in the crate's README are the code's.

use std::collections::BTreeMap;

use hookgate_core::FaultKind;
use hookgate_core::config::defaults::{
    INSTANCE_MAX_CALLS, INSTANCE_STOCK, INSTANCE_STOCK_MAX, LOG_BYTES_PER_CALL, MAX_PAYLOAD_BYTES,
    MAX_RESULT_BYTES, QUEUE_CALLS,
};
use hookgate_core::config::{Instances, Limits};
use hookgate_wasm::{
    EPOCH_TICK, MAX_COMPONENT_BYTES, MAX_HANDLES, MAX_HOSTCALL_BYTES, POOL_INSTANCES,
    REUSE_GROWTH_BYTES, STOCK_IDLE, SYNC_TIMEOUT, WASM_STACK_BYTES,
};

const README: &str = include_str!("../README.md");

/// The cells of the table under a heading, without its head.
fn table(heading: &str) -> Vec<Vec<String>> {
    let text = README.split(heading).nth(1).expect("the heading is there");
    let rows = text.lines().skip_while(|line| !line.starts_with('|'));
    rows.take_while(|line| line.starts_with('|'))
        .skip(2)
        .map(|line| {
            let cells = line.trim_matches('|').split('|');
            cells.map(|cell| cell.trim().to_owned()).collect()
        })
        .collect()
}

fn bytes(count: u64) -> String {
    match count {
        mb if mb % 1_000_000 == 0 => format!("{} MB", mb / 1_000_000),
        mib if mib % (1 << 20) == 0 => format!("{} MiB", mib >> 20),
        kib => format!("{} KiB", kib >> 10),
    }
}

#[test]
fn limits_are_the_codes() {
    let limits = Limits::wasm();
    let time = |time| humantime(time);
    let expected = [
        ("deadline of one call", time(limits.timeout)),
        ("memory of one instance", bytes(limits.memory_bytes)),
        ("calls in flight", limits.concurrency.to_string()),
        ("calls that wait for a slot", QUEUE_CALLS.to_string()),
        ("instances that wait ready", INSTANCE_STOCK.to_string()),
        (
            "instances that wait ready, at most",
            INSTANCE_STOCK_MAX.to_string(),
        ),
        (
            "calls an instance serves under `policy: reuse`",
            INSTANCE_MAX_CALLS.to_string(),
        ),
        (
            "growth after which an instance of `policy: reuse` is dropped",
            bytes(REUSE_GROWTH_BYTES),
        ),
        (
            "instances wait ready for a plugin nobody calls",
            time(STOCK_IDLE),
        ),
        (
            "instances of all plugins at once",
            POOL_INSTANCES.to_string(),
        ),
        ("payload", bytes(MAX_PAYLOAD_BYTES)),
        ("result", bytes(MAX_RESULT_BYTES)),
        ("log of one call", bytes(LOG_BYTES_PER_CALL)),
        ("handles of one instance", MAX_HANDLES.to_string()),
        (
            "bytes one call to the host may copy",
            bytes(MAX_HOSTCALL_BYTES as u64),
        ),
        ("stack of a guest", bytes(WASM_STACK_BYTES as u64)),
        ("component file", bytes(MAX_COMPONENT_BYTES)),
        (
            "a guest that imports nothing of `wasi:` runs without a fiber, up to a timeout of",
            time(SYNC_TIMEOUT),
        ),
        ("a running guest gives way every", time(EPOCH_TICK)),
    ];
    let expected: BTreeMap<String, String> = expected
        .into_iter()
        .map(|(what, value)| (what.to_owned(), value))
        .collect();
    let written: BTreeMap<String, String> = table("## Limits and defaults")
        .into_iter()
        .map(|cells| (cells[0].clone(), cells[1].clone()))
        .collect();
    assert_eq!(written, expected);
    assert_eq!(Instances::default().stock, INSTANCE_STOCK);
}

#[test]
fn faults_are_kinds_there_are() {
    let rows = table("## Faults");
    assert!(rows.len() > 8, "{rows:?}");
    for cells in rows {
        let named = cells[1].split(',').next().expect("a kind");
        let name = named.trim_matches('`').to_owned();
        let kind: Result<FaultKind, _> = serde_json::from_value(name.into());
        assert_eq!(format!("`{}`", kind.expect(named)), named);
    }
}

fn humantime(time: std::time::Duration) -> String {
    match time.as_millis() {
        whole if whole % 1_000 == 0 => format!("{} s", whole / 1_000),
        millis => format!("{millis} ms"),
    }
}
