//! The figures in the crate's README are the code's.

use std::collections::BTreeMap;

use hookgate_core::config::defaults::{
    INSTANCE_MAX_CALLS, INSTANCE_STOCK, INSTANCE_STOCK_MAX, LOG_BYTES_PER_CALL, MAX_PAYLOAD_BYTES,
    MAX_RESULT_BYTES, QUEUE_CALLS,
};
use hookgate_core::config::{Instances, Limits};
use hookgate_core::{FaultKind, MAX_REENTRY_DEPTH};
use hookgate_wasm::{
    EPOCH_TICK, HTTP_BETWEEN_BYTES_TIMEOUT, HTTP_CONNECT_TIMEOUT, HTTP_FIRST_BYTE_TIMEOUT,
    MAX_CODE_CACHE_BYTES, MAX_COMPONENT_BYTES, MAX_HANDLES, MAX_HOSTCALL_BYTES, MAX_HTTP_REQUESTS,
    MAX_HTTP_RESPONSE_BYTES, MAX_HTTP_RESPONSE_HEAD_BYTES, MAX_PART_DEPTH, MAX_PARTS,
    MAX_SECRET_BYTES, POOL_INSTANCES, REUSE_GROWTH_BYTES, SCRATCH_ENTRY_BYTES,
    SECRET_COMMAND_TIMEOUT, STOCK_IDLE, SYNC_TIMEOUT, WASM_STACK_BYTES,
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
        gib if gib % (1 << 30) == 0 => format!("{} GiB", gib >> 30),
        mb if mb % 1_000_000 == 0 => format!("{} MB", mb / 1_000_000),
        mib if mib % (1 << 20) == 0 => format!("{} MiB", mib >> 20),
        kib => format!("{} KiB", kib >> 10),
    }
}

#[test]
fn limits_are_the_codes() {
    let limits = Limits::wasm();
    let time = humantime;
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
            "components within a component, depth and parts",
            format!("{MAX_PART_DEPTH}, {MAX_PARTS}"),
        ),
        (
            "code of all components in the cache",
            bytes(MAX_CODE_CACHE_BYTES),
        ),
        (
            "HTTP requests of one instance under way",
            MAX_HTTP_REQUESTS.to_string(),
        ),
        ("body of one HTTP response", bytes(MAX_HTTP_RESPONSE_BYTES)),
        (
            "head of one HTTP response",
            bytes(MAX_HTTP_RESPONSE_HEAD_BYTES as u64),
        ),
        (
            "an HTTP connection, its first byte, a pause, each within the call",
            [
                HTTP_CONNECT_TIMEOUT,
                HTTP_FIRST_BYTE_TIMEOUT,
                HTTP_BETWEEN_BYTES_TIMEOUT,
            ]
            .map(time)
            .join(", "),
        ),
        (
            "an entry of the scratch folder, besides its content",
            bytes(SCRATCH_ENTRY_BYTES),
        ),
        ("value of a secret", bytes(MAX_SECRET_BYTES as u64)),
        ("command that prints a secret", time(SECRET_COMMAND_TIMEOUT)),
        (
            "hooks asked from within hooks",
            format!("{MAX_REENTRY_DEPTH} deep"),
        ),
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
