//! Loops without end, wherever a guest's code runs, and waiting in the host.

use hookgate_core::Phase;
use serde_json::Value;

use crate::hand::{Hand, MISBEHAVE};
use crate::table::{Bench, Case, SHORT, Written, hand, run, suspect, timeout, word};

const LOOP: &str = "(loop $for-ever (br $for-ever))";

#[tokio::test(flavor = "multi_thread")]
async fn in_a_call() {
    let realloc = Hand {
        // Only for the tool's name.
        realloc: "(if (i32.eq (local.get $size) (i32.const 7)) (then (loop $for-ever (br $for-ever)))) (i32.const 2359296)",
        ..Hand::default()
    };
    let post_return = Hand {
        body: "(i32.store (i32.const 512) (i32.const 1))",
        post_return: "(if (i32.load (i32.const 512)) (then (loop $for-ever (br $for-ever))))",
        ..Hand::default()
    };
    let cases: Vec<Case> = vec![
        hand(
            "a loop in the hook",
            Hand::hook(LOOP),
            timeout(Phase::Guest),
        ),
        hand("a loop in cabi_realloc", realloc, timeout(Phase::Guest)),
        hand(
            "a loop after the answer",
            post_return,
            timeout(Phase::Guest),
        ),
        word("loop", Value::Null, timeout(Phase::Guest)),
        word("sleep", Value::Null, timeout(Phase::HostCall)),
    ];
    assert_eq!(MISBEHAVE.len(), 7, "what the rows above look for");
    run(cases, SHORT, |_| {}).await;
}

/// Where no call can succeed: the load ends at its deadline and says where the time went.
#[tokio::test(flavor = "multi_thread")]
async fn before_any_call() {
    let start = Hand {
        more: "(func $start (loop $for-ever (br $for-ever))) (start $start)",
        ..Hand::default()
    };
    let init = Hand {
        init: LOOP,
        ..Hand::default()
    };
    for (what, hand, phase) in [
        (
            "a loop in the start function",
            start,
            "while its instance started",
        ),
        ("a loop in init", init, "in its `init`"),
    ] {
        let written = Written::new(what, &hand.bytes());
        let bench = Bench::new(suspect(written.0.clone(), SHORT)).await;
        let skipped = bench.engine.skipped();
        assert_eq!(skipped.len(), 1, "{what}: it loaded");
        assert_eq!(
            skipped[0].error.message,
            format!(
                "a trial instance did not start: timeout: it was not done at its deadline, {phase}"
            ),
        );
        bench.neighbour_answers(what).await;
    }
}
