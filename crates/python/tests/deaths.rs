//! Workers that die: what their calls hear, and how the next worker comes.

#[path = "support/stub.rs"]
mod stub;

use std::time::Duration;

use futures::FutureExt as _;
use futures::future::join_all;
use hookgate_core::{Decision, FaultKind, Phase};
use serde_json::json;
use stub::{Rig, Setup, marks};

#[tokio::test(flavor = "multi_thread")]
async fn an_exit_is_worker_died_with_status_and_log() {
    let rig = Rig::new().await;
    let outcome = rig.ask(json!({"do": "exit", "code": 7})).await;
    assert_eq!(outcome.decision, Decision::Deny);
    let fault = &outcome.faults[0];
    assert_eq!(
        (fault.kind, fault.message.as_str()),
        (FaultKind::WorkerDied, "the worker died: exit code 7")
    );
    assert_eq!(
        fault.details.to_value(),
        json!({"exit": "exit code 7", "log": "about to exit"})
    );
    assert_eq!(
        rig.ask(json!({"do": "allow"})).await.decision,
        Decision::Allow
    );
}

#[tokio::test(flavor = "multi_thread")]
async fn a_signal_ends_every_call_in_flight() {
    let rig = Rig::new().await;
    let held = rig.ask(json!({"do": "hold", "n": 1}));
    let mut held = Box::pin(held);
    assert!((&mut held).now_or_never().is_none());
    let killed = rig.fault(json!({"do": "kill"})).await;
    assert_eq!(killed.message, "the worker died: signal 9");
    assert_eq!(held.await.faults[0].message, "the worker died: signal 9");
}

#[tokio::test(flavor = "multi_thread")]
async fn callers_share_one_respawn() {
    let mut setup = Setup::new(json!({}));
    setup.config = json!({"starts": setup.file("starts")});
    let rig = setup.build().await;
    let first = rig.pid().await;
    rig.fault(json!({"do": "exit", "code": 0})).await;
    assert_eq!(rig.state(), "restarting");
    let pids = join_all((0..8).map(|_| rig.pid())).await;
    assert!(
        pids.iter().all(|pid| *pid == pids[0] && *pid != first),
        "{first} {pids:?}"
    );
    assert_eq!((rig.starts(), rig.state()), (2, "ready"));
}

#[tokio::test(flavor = "multi_thread")]
async fn a_plugin_that_keeps_dying_is_given_up_for_a_while() {
    let mut setup = Setup::new(json!({}));
    setup.config = json!({"starts": setup.file("starts")});
    let rig = setup.build().await;
    for _ in 0..4 {
        assert_eq!(
            rig.fault(json!({"do": "exit", "code": 7})).await.message,
            "the worker died: exit code 7"
        );
    }
    assert_eq!(rig.state(), "failed");
    let fault = rig.fault(json!({"do": "allow"})).await;
    assert_eq!(fault.kind, FaultKind::WorkerDied);
    let message = fault.message;
    assert!(
        message.starts_with("3 respawns did not help, the next try is possible in "),
        "{message}"
    );
    assert!(
        message.ends_with(" s: the worker died: exit code 7"),
        "{message}"
    );
    assert_eq!(rig.starts(), 4);
}

#[tokio::test(flavor = "multi_thread")]
async fn a_successful_call_gives_the_respawns_back() {
    let rig = Rig::new().await;
    for _ in 0..6 {
        rig.fault(json!({"do": "exit", "code": 1})).await;
        rig.pid().await;
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn respawns_past_the_window_do_not_count() {
    let mut setup = Setup::new(json!({}));
    setup.options.supervision.respawn_window = Duration::ZERO;
    let rig = setup.build().await;
    for _ in 0..6 {
        assert_eq!(
            rig.fault(json!({"do": "exit", "code": 1})).await.message,
            "the worker died: exit code 1"
        );
    }
    rig.pid().await;
}

#[tokio::test(flavor = "multi_thread")]
async fn a_respawn_that_dies_counts_and_says_so() {
    let mut setup = Setup::new(json!({}));
    setup.config = json!({"starts": setup.file("starts"), "dies_from": 2});
    let rig = setup.build().await;
    rig.fault(json!({"do": "exit", "code": 1})).await;
    for _ in 0..3 {
        let fault = rig.fault(json!({"do": "allow"})).await;
        assert_eq!(fault.kind, FaultKind::WorkerDied);
        let message = "the worker did not come back: the worker died: exit code 3 before the plugin was ready";
        assert_eq!(fault.message, message);
    }
    let last = rig.fault(json!({"do": "allow"})).await.message;
    assert!(last.starts_with("3 respawns did not help"), "{last}");
    assert_eq!(rig.starts(), 4);
}

#[tokio::test(flavor = "multi_thread")]
async fn a_start_past_the_deadline_is_a_timeout_in_the_start() {
    let mut setup = Setup::new(json!({})).timeout(500);
    setup.config = json!({"starts": setup.file("starts"), "hangs_from": 2});
    let rig = setup.build().await;
    rig.fault(json!({"do": "exit", "code": 1})).await;
    let faults = join_all((0..3).map(|_| rig.fault(json!({"do": "allow"})))).await;
    for fault in faults {
        assert_eq!(
            (fault.kind, fault.phase),
            (FaultKind::Timeout, Some(Phase::Start))
        );
    }
    assert_eq!(rig.state(), "restarting");
    assert_eq!(rig.starts(), 2);
}

#[tokio::test(flavor = "multi_thread")]
async fn a_worker_that_breaks_the_protocol_is_ended() {
    for (args, cause) in [
        (
            json!({"do": "bytes", "bytes": "{]"}),
            "it sent a frame that cannot be read",
        ),
        (
            json!({"do": "bytes", "bytes": "{\"type\":\"weird\",\"id\":1}"}),
            "it sent a frame of type \"weird\"",
        ),
        (
            json!({"do": "bytes", "bytes": "{\"type\":\"answer\"}"}),
            "it sent a frame of type \"answer\"",
        ),
        (
            json!({"do": "lengths"}),
            "it sent a frame of 4294967295 bytes",
        ),
    ] {
        let rig = Rig::new().await;
        let fault = rig.fault(args).await;
        assert_eq!(fault.kind, FaultKind::WorkerDied);
        let expected = format!("the worker was ended: it broke the protocol: {cause}");
        assert!(fault.message.starts_with(&expected), "{}", fault.message);
        rig.pid().await;
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn answers_find_their_calls_in_any_order() {
    let rig = Rig::new().await;
    let mut held: Vec<_> = (0..5)
        .map(|n| Box::pin(rig.ask(json!({"do": "hold", "n": n}))))
        .collect();
    for call in &mut held {
        assert!(call.now_or_never().is_none());
    }
    rig.ask(json!({"do": "release"})).await;
    for (n, outcome) in join_all(held).await.iter().enumerate() {
        assert_eq!(marks(outcome)["was"], json!(n));
    }
}
