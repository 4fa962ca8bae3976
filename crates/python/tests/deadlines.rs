//! Deadlines and cancelled calls: asynchronous ones are let go, stuck ones cost the worker its life.

#[path = "support/stub.rs"]
mod stub;

use std::time::{Duration, Instant};

use futures::FutureExt as _;
use hookgate_core::{FaultKind, Phase};
use serde_json::json;
use stub::{Lifeline, Rig, Setup, marks};

#[tokio::test(flavor = "multi_thread")]
async fn a_deadline_cancels_the_call_and_keeps_the_worker() {
    let rig = Setup::new(json!({})).timeout(300).build().await;
    let pid = rig.pid().await;
    let fault = rig.fault(json!({"do": "hold", "n": 5})).await;
    assert_eq!(
        (fault.kind, fault.phase),
        (FaultKind::Timeout, Some(Phase::Guest))
    );
    let outcome = rig.ask(json!({"do": "cancelled"})).await;
    assert_eq!(marks(&outcome), json!({"cancelled": [5], "pid": pid}));
    assert_eq!(rig.late_answers(), 0);
}

#[tokio::test(flavor = "multi_thread")]
async fn a_late_answer_is_dropped_and_counted() {
    let rig = Setup::new(json!({})).timeout(300).build().await;
    let fault = rig.fault(json!({"do": "late", "n": 1})).await;
    assert_eq!(fault.kind, FaultKind::Timeout);
    // The stub answers in order: once this is here, the late one has been read.
    rig.pid().await;
    assert_eq!(rig.late_answers(), 1);
}

#[tokio::test(flavor = "multi_thread")]
async fn the_answer_to_a_call_that_was_cancelled_before_its_deadline_is_not_late() {
    let timeout = Duration::from_millis(300);
    let mut setup = Setup::new(json!({})).timeout(300);
    setup.options.supervision.cancel_grace = stub::LONG;
    let rig = setup.build().await;
    let began = Instant::now();
    let mut call = Box::pin(rig.ask(json!({"do": "dawdle", "n": 1, "seconds": 0.5})));
    assert!((&mut call).now_or_never().is_none());
    // The second is answered behind the first: the first has been received.
    rig.pid().await;
    drop(call);
    // On a machine so slow that its time was up before, it may be late.
    let most = u64::from(began.elapsed() >= timeout);
    // The next call waits for the worker to let go of the first, for longer than it has itself.
    for _ in 0..100 {
        if rig.ask(json!({"do": "allow"})).await.faults.is_empty() {
            break;
        }
    }
    rig.pid().await;
    assert!(rig.late_answers() <= most);
}

#[tokio::test(flavor = "multi_thread")]
async fn a_stuck_worker_is_killed_and_the_others_hear_of_it() {
    let mut setup = Setup::new(json!({})).timeout(60_000);
    setup.options.supervision.cancel_grace = Duration::from_millis(500);
    let rig = setup.build().await;
    let pid = rig.pid().await;
    let held = rig.fault(json!({"do": "hold", "n": 3}));
    // The caller gives up on the stuck call long before the deadline of both.
    let stuck = tokio::time::timeout(Duration::from_secs(1), rig.ask(json!({"do": "hang"})));
    let (held, stuck) = tokio::join!(held, stuck);
    assert!(stuck.is_err());
    assert_eq!(held.kind, FaultKind::WorkerDied);
    assert_eq!(
        held.message,
        "the worker was ended: a cancelled call did not end within 500ms"
    );
    assert_ne!(rig.pid().await, pid);
}

#[tokio::test(flavor = "multi_thread")]
async fn a_call_behind_a_stuck_one_waits_for_the_next_worker() {
    let mut setup = Setup::new(json!({})).timeout(5_000);
    setup.options.supervision.cancel_grace = Duration::from_millis(500);
    let rig = setup.build().await;
    let pid = rig.pid().await;
    let fault = rig.fault(json!({"do": "hang"})).await;
    assert_eq!(
        (fault.kind, fault.phase),
        (FaultKind::Timeout, Some(Phase::Guest))
    );
    // Asked at once, while the worker may still let go of the call: a good call is answered.
    assert_ne!(rig.pid().await, pid);
}

#[tokio::test(flavor = "multi_thread")]
async fn a_dropped_call_is_cancelled() {
    let rig = Rig::new().await;
    let pid = rig.pid().await;
    let mut call = Box::pin(rig.ask(json!({"do": "hold", "n": 3})));
    assert!((&mut call).now_or_never().is_none());
    // The second is answered behind the first: the first has been received.
    rig.pid().await;
    drop(call);
    assert_eq!(
        marks(&rig.ask(json!({"do": "cancelled"})).await),
        json!({"cancelled": [3], "pid": pid})
    );
}

#[tokio::test(flavor = "multi_thread")]
async fn a_dropped_call_of_a_stuck_worker_costs_its_life() {
    let mut setup = Setup::new(json!({}));
    setup.options.supervision.cancel_grace = Duration::from_millis(100);
    let lifeline = Lifeline::new(&mut setup);
    let rig = setup.build().await;
    let mut call = Box::pin(rig.ask(json!({"do": "hold", "n": 3})));
    assert!((&mut call).now_or_never().is_none());
    rig.ask(json!({"do": "then_hang"})).await;
    assert!(lifeline.is_open());
    drop(call);
    lifeline.ended().await;
}

#[tokio::test(flavor = "multi_thread")]
async fn a_large_call_does_not_hold_up_the_deadline_of_another() {
    let rig = Setup::new(json!({})).timeout(500).build().await;
    rig.ask(json!({"do": "then_hang"})).await;
    let large = rig.fault(json!({"do": "allow", "text": "x".repeat(8_000_000)}));
    let (large, small) = futures::join!(large, rig.fault(json!({"do": "allow"})));
    assert_eq!(
        (large.kind, small.kind),
        (FaultKind::Timeout, FaultKind::Timeout)
    );
}
