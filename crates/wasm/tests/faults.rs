//! What a guest can do wrong in a call, and the fault it becomes. After each the next call succeeds.

mod hostile;

use std::time::Duration;

use hookgate_core::{Decision, FaultKind, Phase};
use hostile::{ask, engine};
use serde_json::json;

/// Asks for trouble, expects the fault, and then a good call on the same engine.
async fn expect(what: &str, kind: FaultKind, phase: Option<Phase>, timeout: Duration) {
    let engine = engine(|spec| spec.limits.timeout = timeout).await;
    let outcome = ask(&engine, what, json!({})).await;
    let faults: Vec<_> = outcome
        .faults
        .iter()
        .map(|fault| (fault.kind, fault.phase))
        .collect();
    assert_eq!(faults, [(kind, phase)], "{what}: {:?}", outcome.faults);
    assert_eq!(
        outcome.decision,
        Decision::Deny,
        "{what}: a fault is never an allow"
    );
    assert_eq!(
        outcome
            .violation
            .as_ref()
            .map(|violation| violation.code.as_str()),
        Some("plugin_fault")
    );
    assert_eq!(
        ask(&engine, "nothing", json!({})).await.decision,
        Decision::Allow,
        "after {what}"
    );
}

const PATIENT: Duration = Duration::from_secs(60);
/// Short, for guests that only a deadline ends. The good call after them must fit in it.
const SHORT: Duration = Duration::from_millis(1500);

#[tokio::test]
async fn trap() {
    expect("trap", FaultKind::Trap, None, PATIENT).await;
}

#[tokio::test]
async fn panic() {
    expect("panic", FaultKind::Trap, None, PATIENT).await;
}

#[tokio::test]
async fn exit() {
    expect("exit", FaultKind::Exit, None, PATIENT).await;
}

#[tokio::test]
async fn endless_loop() {
    expect("loop", FaultKind::Timeout, Some(Phase::Guest), SHORT).await;
}

#[tokio::test]
async fn sleep_in_a_host_call() {
    expect("sleep", FaultKind::Timeout, Some(Phase::HostCall), SHORT).await;
}

#[tokio::test]
async fn memory_bomb() {
    expect("memory-bomb", FaultKind::OutOfMemory, None, PATIENT).await;
}

#[tokio::test]
async fn deep_recursion() {
    expect("deep-recursion", FaultKind::StackOverflow, None, PATIENT).await;
}

#[tokio::test]
async fn flood_of_prints() {
    expect("print-flood", FaultKind::ResourceLimit, None, PATIENT).await;
}

#[tokio::test]
async fn flood_of_logs() {
    expect("log-flood", FaultKind::ResourceLimit, None, PATIENT).await;
}

#[tokio::test]
async fn handles_without_end() {
    expect("leak-handles", FaultKind::ResourceLimit, None, PATIENT).await;
}

#[tokio::test]
async fn answer_too_large() {
    expect("big-answer", FaultKind::ResponseTooLarge, None, PATIENT).await;
}

#[tokio::test]
async fn details_that_are_not_json() {
    expect("bad-json", FaultKind::PluginError, None, PATIENT).await;
}

#[tokio::test]
async fn text_that_is_no_pointer() {
    expect("bad-pointer", FaultKind::Protocol, None, PATIENT).await;
}

#[tokio::test]
async fn allow_after_a_refused_edit() {
    expect("edit-bad", FaultKind::Protocol, None, PATIENT).await;
}

#[tokio::test]
async fn unsupported_hook() {
    expect("unsupported", FaultKind::Unsupported, None, PATIENT).await;
}

#[tokio::test]
async fn failure() {
    expect("fail", FaultKind::PluginError, None, PATIENT).await;
}

/// One runtime thread, a guest that never ends and another call: the epoch yield lets both run.
#[tokio::test]
async fn an_endless_loop_does_not_keep_others_waiting() {
    let engine = engine(|spec| spec.limits.timeout = SHORT).await;
    let spinner = ask(&engine, "loop", json!({}));
    let other = ask(&engine, "nothing", json!({}));
    tokio::pin!(spinner);
    let other = tokio::select! {
        outcome = other => outcome,
        _ = &mut spinner => panic!("the endless loop ended before a call that does nothing"),
    };
    assert_eq!(other.decision, Decision::Allow);
    assert_eq!(spinner.await.faults[0].kind, FaultKind::Timeout);
}
