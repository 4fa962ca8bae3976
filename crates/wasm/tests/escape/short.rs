//! Who is called on the caller's own stack: guests of a short limit that import nothing of `wasi:`. Such a call
//! cannot give way, so nothing else of its thread runs until it ends; every other call lets the others in.

use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};
use std::time::Duration;

use hookgate_core::{Decision, FaultKind, Phase};
use hookgate_wasm::SYNC_TIMEOUT;
use serde_json::json;

use crate::hand::{Hand, MISBEHAVE};
use crate::table::{Bench, Written, judge, suspect, timeout};

/// How often another task of the same thread came around while a guest looped until its deadline.
async fn let_in(what: &str, component: &[u8], limit: Duration) -> u64 {
    let written = Written::new(what, component);
    let bench = Bench::new(suspect(written.0.clone(), limit)).await;
    let skipped = bench.engine.skipped();
    assert!(skipped.is_empty(), "{what}: {skipped:?}");
    let turns = Arc::new(AtomicU64::new(0));
    let count = Arc::clone(&turns);
    let other = tokio::spawn(async move {
        loop {
            count.fetch_add(1, Ordering::Relaxed);
            tokio::task::yield_now().await;
        }
    });
    tokio::task::yield_now().await;
    let before = turns.load(Ordering::Relaxed);
    assert!(before > 0, "the other task runs");
    let outcome = bench.ask(MISBEHAVE, json!({})).await;
    let after = turns.load(Ordering::Relaxed);
    judge(what, timeout(Phase::Guest), &outcome, &bench.kept);
    other.abort();
    // The next call is a clean one, on whatever stack.
    let outcome = bench.ask("probe", json!({})).await;
    let late = outcome
        .faults
        .iter()
        .any(|fault| fault.kind == FaultKind::Timeout);
    assert!(
        late || outcome.decision == Decision::Allow,
        "{what}: {outcome:?}"
    );
    bench.engine.shutdown().await;
    after - before
}

#[tokio::test(flavor = "current_thread")]
async fn a_short_limit_and_nothing_of_the_system() {
    let endless = Hand::hook("(loop $for-ever (br $for-ever))");
    let plain = endless.bytes();
    let short = SYNC_TIMEOUT;
    assert_eq!(let_in("short", &plain, short).await, 0);
    let longer = let_in("longer", &plain, Duration::from_secs(1)).await;
    assert!(longer > 0, "a guest of a longer limit gives way");
}

/// What waits in the system needs a fiber, however short its limit.
#[tokio::test(flavor = "current_thread")]
async fn a_short_limit_and_a_clock() {
    let wasi = r#"(component $C
(import "wasi:clocks/monotonic-clock@0.2.0" (instance (export "now" (func (result u64)))))"#;
    let text = Hand::hook("(loop $for-ever (br $for-ever))").text();
    let text = text.replacen("(component $C", wasi, 1);
    let component = crate::hand::compile(&text);
    // One look in a millisecond: at a limit of ten, a busy machine may be late for all of them once.
    let mut turns = 0;
    for attempt in 0..50 {
        turns += let_in(&format!("clock-{attempt}"), &component, SYNC_TIMEOUT).await;
        if turns > 0 {
            return;
        }
    }
    panic!("it never gave way");
}
