//! What one call leaves is not there for the next: globals, memory, open files, a closed folder, pollables.

use std::collections::HashSet;

use hookgate_core::config::{Access, FileGrant, InstancePolicy};
use hookgate_core::{Decision, Outcome};
use hookgate_vectors::guests;
use serde_json::{Value, json};

use crate::files::Folder;
use crate::hand::Hand;
use crate::table::{Bench, PATIENT, Written, suspect};

fn marks(outcome: &Outcome) -> Value {
    assert!(outcome.faults.is_empty(), "{:?}", outcome.faults);
    serde_json::to_value(&outcome.effects.metadata).expect("marks are JSON")
}

#[tokio::test(flavor = "multi_thread")]
async fn globals_memory_files_and_folders() {
    let folder = Folder::new("next");
    let mut spec = suspect(guests::component("hostile"), PATIENT);
    spec.permissions.files = vec![FileGrant {
        host: folder.inside(),
        guest: "/data".into(),
        access: Access::Read,
    }];
    let bench = Bench::new(spec).await;
    let note = json!({ "path": "/data/note" });
    let first = marks(&bench.word("look", &note).await);
    let fresh =
        |pages: &Value| json!({ "count": 0, "pages": pages, "open": false, "folder": true });
    assert_eq!(first, fresh(&first["pages"]));
    // Often enough to come around whatever number of instances is kept.
    for _ in 0..100 {
        let left = bench.word("leave", &note).await;
        assert_eq!(marks(&left), json!({}));
        assert_eq!(left.decision, Decision::Allow);
        assert_eq!(marks(&bench.word("look", &note).await), first);
    }
    // And with many under way at a time.
    let calls = (0..50).map(|n| bench.word(if n % 2 == 0 { "leave" } else { "look" }, &note));
    let seen: HashSet<_> = futures::future::join_all(calls)
        .await
        .iter()
        .map(|outcome| marks(outcome).to_string())
        .collect();
    assert_eq!(seen, HashSet::from(["{}".to_owned(), first.to_string()]));
    assert_eq!(
        open_below(&folder),
        Vec::<String>::new(),
        "descriptors that were left open"
    );
    bench.engine.shutdown().await;
}

/// The same words see what is left where an instance does serve again: they are no test of nothing.
#[tokio::test(flavor = "multi_thread")]
async fn the_words_see_what_reuse_leaves() {
    let folder = Folder::new("next-reuse");
    let mut spec = suspect(guests::component("hostile"), PATIENT);
    spec.permissions.files = vec![FileGrant {
        host: folder.inside(),
        guest: "/data".into(),
        access: Access::Read,
    }];
    spec.instances.policy = InstancePolicy::Reuse;
    spec.instances.stock = 1;
    let bench = Bench::new(spec).await;
    let note = json!({ "path": "/data/note" });
    let first = marks(&bench.word("look", &note).await);
    assert_eq!(
        (&first["count"], &first["open"]),
        (&json!(0), &json!(false))
    );
    marks(&bench.word("leave", &note).await);
    let left = marks(&bench.word("look", &note).await);
    assert_eq!((&left["count"], &left["open"]), (&json!(1), &json!(true)));
    bench.engine.shutdown().await;
}

/// Descriptors of this process for files in the folder; the folder itself may be held open.
fn open_below(folder: &Folder) -> Vec<String> {
    let inside = folder.inside().canonicalize().expect("it is there");
    let note = inside.join("note");
    let open = std::fs::read_dir("/proc/self/fd").expect("a Linux");
    open.filter_map(|entry| std::fs::read_link(entry.ok()?.path()).ok())
        .filter(|path| *path == note)
        .map(|path| path.display().to_string())
        .collect()
}

/// Handles are numbered by the lowest free number: one left behind would move the next.
#[tokio::test(flavor = "multi_thread")]
async fn pollables_and_handles() {
    let hand = Hand {
        imports: "",
        // A clock it subscribes to and never lets go of; the handle's number becomes the mark's key.
        body: "(i32.store8 (i32.const 1050) (i32.add (i32.const 48) (call $subscribe (i64.const 1))))
            (call $annotate (local.get $ctx) (i32.const 1050) (i32.const 1) (i32.const 1024) (i32.const 2) (i32.const 256))
            (if (global.get $before) (then unreachable))
            (global.set $before (i32.const 1))",
        more: r#"(import "host" "subscribe" (func $subscribe (param i64) (result i32))) (global $before (mut i32) (i32.const 0))"#,
        ..Hand::default()
    };
    let clock = r#"(component $C
(import "wasi:io/poll@0.2.0" (instance $poll (export "pollable" (type $pollable (sub resource)))))
(alias export $poll "pollable" (type $pollable))
(import "wasi:clocks/monotonic-clock@0.2.0" (instance $clock
    (alias outer $C $pollable (type $pollable'))
    (export "pollable" (type $pollable (eq $pollable')))
    (export "subscribe-duration" (func (param "when" u64) (result (own $pollable))))))
(core func $subscribe (canon lower (func $clock "subscribe-duration")))"#;
    let text = hand.text().replacen("(component $C", clock, 1).replacen(
        r#"(export "get-strings""#,
        r#"(export "subscribe" (func $subscribe)) (export "get-strings""#,
        1,
    );
    // Imports stand before everything else of a core module.
    let import = r#"(import "host" "subscribe" (func $subscribe (param i64) (result i32)))"#;
    let text = text.replacen(import, "", 1).replacen(
        r#"(import "memory" "memory" (memory $memory 1))"#,
        &format!(r#"{import} (import "memory" "memory" (memory $memory 1))"#),
        1,
    );
    let written = Written::new("pollables", &crate::hand::compile(&text));
    let bench = Bench::new(suspect(written.0.clone(), PATIENT)).await;
    assert!(
        bench.engine.skipped().is_empty(),
        "{:?}",
        bench.engine.skipped()
    );
    let first = marks(&bench.ask("hostile", json!({})).await);
    assert_eq!(
        first.as_object().map(serde_json::Map::len),
        Some(1),
        "{first}"
    );
    for _ in 0..100 {
        assert_eq!(marks(&bench.ask("hostile", json!({})).await), first);
    }
    bench.neighbour_answers("pollables").await;
}
