//! More of something than a plugin may have: memory, tables, stack, log, handles.

use hookgate_core::config::{Access, FileGrant};
use hookgate_core::{FaultKind, RefusalCode};
use serde_json::{Value, json};

use crate::files::Folder;
use crate::hand::Hand;
use crate::table::{Ends, PATIENT, fault, hand, run, word};

#[tokio::test(flavor = "multi_thread")]
async fn memory_tables_and_stack() {
    let deep = Hand {
        body: "(drop (call $deep (i32.const 1)))",
        // Too many values to be kept in registers, and no tail call.
        more: "(func $deep (param $n i32) (result i32) (i32.add (local.get $n) (call $deep (i32.add (local.get $n) (i32.const 1)))))",
        ..Hand::default()
    };
    let realloc = Hand {
        realloc: "(if (i32.eq (local.get $size) (i32.const 7)) (then
            (loop $more (br_if $more (i32.ne (memory.grow (i32.const 16)) (i32.const -1))))
            unreachable))
            (i32.const 2359296)",
        ..Hand::default()
    };
    run(
        vec![
            word("memory-bomb", Value::Null, fault(FaultKind::OutOfMemory)),
            hand(
                "memory until it is refused, then a trap",
                Hand::hook("(loop $more (br_if $more (i32.ne (memory.grow (i32.const 16)) (i32.const -1)))) unreachable"),
                fault(FaultKind::OutOfMemory),
            ),
            hand(
                "memory until it is refused, then an answer",
                Hand::hook("(loop $more (br_if $more (i32.ne (memory.grow (i32.const 16)) (i32.const -1))))"),
                Ends::Refused("memory", RefusalCode::TooLarge, 1),
            ),
            hand("memory in cabi_realloc", realloc, fault(FaultKind::OutOfMemory)),
            hand(
                "a table that grows",
                Hand::hook("(loop $more (br_if $more (i32.ne (table.grow $table (ref.null func) (i32.const 4096)) (i32.const -1))))"),
                fault(FaultKind::ResourceLimit),
            ),
            hand("recursion", deep, fault(FaultKind::StackOverflow)),
            word("deep-recursion", Value::Null, fault(FaultKind::StackOverflow)),
        ],
        PATIENT,
        |_| {},
    )
    .await;
}

#[tokio::test(flavor = "multi_thread")]
async fn logs_and_handles() {
    let folder = Folder::new("handles");
    let grant = FileGrant {
        host: folder.inside(),
        guest: "/data".into(),
        access: Access::Read,
    };
    run(
        vec![
            word("print-flood", Value::Null, fault(FaultKind::ResourceLimit)),
            word("log-flood", Value::Null, fault(FaultKind::ResourceLimit)),
            word("leak-handles", Value::Null, fault(FaultKind::ResourceLimit)),
            word(
                "open-files",
                json!({ "path": "/data/note" }),
                fault(FaultKind::ResourceLimit),
            ),
            word(
                "big-answer",
                Value::Null,
                fault(FaultKind::ResponseTooLarge),
            ),
        ],
        PATIENT,
        |spec| spec.permissions.files = vec![grant.clone()],
    )
    .await;
}
