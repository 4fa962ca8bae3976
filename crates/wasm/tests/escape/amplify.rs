//! A little guest memory that would make the host allocate a lot: lists whose elements are one and the same text.

use hookgate_core::FaultKind;

use crate::hand::Hand;
use crate::table::{PATIENT, fault, hand, run};

/// Fills `count` pairs of pointer and length from 1179648 on, all of the megabyte at 131072.
const ALIASES: &str = "
    (func $aliases (param $count i32)
        (local $at i32)
        (memory.fill (i32.const 131072) (i32.const 97) (i32.const 1048576))
        (local.set $at (i32.const 1179648))
        (loop $next
            (i32.store (local.get $at) (i32.const 131072))
            (i32.store offset=4 (local.get $at) (i32.const 1048576))
            (local.set $at (i32.add (local.get $at) (i32.const 8)))
            (local.set $count (i32.sub (local.get $count) (i32.const 1)))
            (br_if $next (local.get $count))))";

#[tokio::test(flavor = "multi_thread")]
async fn aliased_lists() {
    run(
        vec![
            hand(
                "5,000 times one megabyte to the host",
                Hand {
                    more: ALIASES,
                    body: "(call $aliases (i32.const 5000)) (call $compile (i32.const 1179648) (i32.const 5000) (i32.const 0) (i32.const 256))",
                    ..Hand::default()
                },
                fault(FaultKind::ResourceLimit),
            ),
            hand(
                "2,500 headers of two megabytes in a verdict",
                Hand {
                    more: ALIASES,
                    body: "(call $aliases (i32.const 5000)) (call $drop (local.get $doc) (local.get $ctx))
                        (return (call $deny (i32.const 1026) (i32.const 4) (i32.const 1024) (i32.const 2) (i32.const 1179648) (i32.const 2500)))",
                    ..Hand::default()
                },
                fault(FaultKind::ResourceLimit),
            ),
            hand(
                "a list of 100 million elements in a verdict",
                Hand::hook("(call $drop (local.get $doc) (local.get $ctx))
                    (return (call $deny (i32.const 1026) (i32.const 4) (i32.const 1024) (i32.const 2) (i32.const 1024) (i32.const 100000000)))"),
                fault(FaultKind::Trap),
            ),
            // Within what may be copied, above what an answer may have.
            hand(
                "10 headers of two megabytes in a verdict",
                Hand {
                    more: ALIASES,
                    body: "(call $aliases (i32.const 20)) (call $drop (local.get $doc) (local.get $ctx))
                        (return (call $deny (i32.const 1026) (i32.const 4) (i32.const 1024) (i32.const 2) (i32.const 1179648) (i32.const 10)))",
                    ..Hand::default()
                },
                fault(FaultKind::ResponseTooLarge),
            ),
        ],
        PATIENT,
        |_| {},
    )
    .await;
}
