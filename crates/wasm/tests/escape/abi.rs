//! Answers and arguments that the canonical ABI does not allow. Each is a trap: no answer can be read.

use hookgate_core::FaultKind;

use crate::hand::Hand;
use crate::table::{Case, PATIENT, fault, hand, run};

/// A denial made of two strings, after both handles are given back.
macro_rules! deny {
    ($code:literal, $len:literal, $details:literal, $details_len:literal) => {
        concat!(
            "(call $drop (local.get $doc) (local.get $ctx)) (return (call $deny (i32.const ",
            $code,
            ") (i32.const ",
            $len,
            ") (i32.const ",
            $details,
            ") (i32.const ",
            $details_len,
            ") (i32.const 0) (i32.const 0)))"
        )
    };
}

/// A mark whose key is given, with the value `{}`.
macro_rules! annotate {
    ($key:literal, $len:literal) => {
        concat!(
            "(call $annotate (local.get $ctx) (i32.const ",
            $key,
            ") (i32.const ",
            $len,
            ") (i32.const 1024) (i32.const 2) (i32.const 256))"
        )
    };
}

fn trap(what: &'static str, body: &'static str) -> Case {
    hand(what, Hand::hook(body), fault(FaultKind::Trap))
}

#[tokio::test(flavor = "multi_thread")]
async fn answers() {
    run(
        vec![
            trap("an answer beyond the memory", "(call $drop (local.get $doc) (local.get $ctx)) (return (i32.const -16))"),
            trap("an answer at an odd address", "(call $drop (local.get $doc) (local.get $ctx)) (return (i32.const 17))"),
            trap("text beyond the memory", deny!("2147483647", "10", "1024", "2")),
            trap("text that ends beyond the memory", deny!("1026", "-1", "1024", "2")),
            trap("text that wraps around", deny!("-8", "16", "1024", "2")),
            trap("text that is not UTF-8", deny!("1032", "2", "1024", "2")),
            trap("JSON that is not UTF-8", deny!("1026", "4", "1032", "2")),
            trap(
                "a verdict there is none of",
                "(call $drop (local.get $doc) (local.get $ctx)) (drop (call $allow)) (i32.store (i32.const 20) (i32.const 9)) (return (i32.const 16))",
            ),
            trap(
                "neither an answer nor a failure",
                "(call $drop (local.get $doc) (local.get $ctx)) (drop (call $allow)) (i32.store (i32.const 16) (i32.const 7)) (return (i32.const 16))",
            ),
            trap("the document kept after the answer", "(call $drop-context (local.get $ctx)) (return (call $allow))"),
            trap("the context given back twice", "(call $drop-context (local.get $ctx)) (call $drop-context (local.get $ctx))"),
            trap("a handle never given", "(call $drop-document (i32.const 77))"),
            trap("the document as the context", "(call $drop-context (local.get $doc))"),
        ],
        PATIENT,
        |_| {},
    )
    .await;
}

#[tokio::test(flavor = "multi_thread")]
async fn arguments() {
    run(
        vec![
            trap("a key beyond the memory", annotate!("2147483647", "10")),
            trap("a key that wraps around", annotate!("-8", "16")),
            trap("a key that is not UTF-8", annotate!("1032", "2")),
            trap(
                "a place for the answer beyond the memory",
                "(call $annotate (local.get $ctx) (i32.const 1026) (i32.const 4) (i32.const 1024) (i32.const 2) (i32.const -4))",
            ),
            trap(
                "a mark on the document",
                "(call $annotate (local.get $doc) (i32.const 1026) (i32.const 4) (i32.const 1024) (i32.const 2) (i32.const 256))",
            ),
            trap("a list beyond the memory", "(call $compile (i32.const 2147483640) (i32.const 4) (i32.const 0) (i32.const 256))"),
            trap("a list at an odd address", "(call $compile (i32.const 1025) (i32.const 1) (i32.const 0) (i32.const 256))"),
            trap("a syntax there is none of", "(call $compile (i32.const 1024) (i32.const 0) (i32.const 9) (i32.const 256))"),
        ],
        PATIENT,
        |_| {},
    )
    .await;
}

/// What the host is told to write to.
#[tokio::test(flavor = "multi_thread")]
async fn reallocations() {
    let realloc = |what, text| {
        let hand = Hand {
            realloc: text,
            ..Hand::default()
        };
        crate::table::hand(what, hand, fault(FaultKind::Trap))
    };
    run(
        vec![
            realloc(
                "a pointer beyond the memory",
                "(if (i32.eq (local.get $size) (i32.const 7)) (then (return (i32.const -4)))) (i32.const 2359296)",
            ),
            realloc(
                "a trap",
                "(if (i32.eq (local.get $size) (i32.const 7)) (then unreachable)) (i32.const 2359296)",
            ),
            realloc(
                "a call to the host",
                "(if (i32.eq (local.get $size) (i32.const 7)) (then (drop (call $document-size (i32.const 1))))) (i32.const 2359296)",
            ),
            // For a list of strings, which has pointers in it.
            hand(
                "an odd address for a list",
                Hand {
                    realloc: "(if (i32.gt_u (local.get $align) (i32.const 1)) (then (return (i32.const 2359297)))) (i32.const 2359296)",
                    body: "(call $get-strings (local.get $doc) (i32.const 1040) (i32.const 10) (i32.const 256))",
                    more: r#"(data (i32.const 1040) "/args/list")"#,
                    ..Hand::default()
                },
                fault(FaultKind::Trap),
            ),
        ],
        PATIENT,
        |_| {},
    )
    .await;
}
