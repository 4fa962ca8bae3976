//! Memory past the limit: a typed fault, at most 64 MiB later, and nothing left.

use std::fs;
use std::io::Read as _;
use std::process::Command;

use hookgate_core::config::Access;
use hookgate_core::{Decision, FaultKind, Outcome};
use hookgate_python::MEMORY_SLACK_BYTES;
use serde_json::json;

use crate::{grant, load, spec};

const LIMIT: u64 = 300 << 20;

fn is_out_of_memory(outcome: &Outcome) {
    let kinds: Vec<_> = outcome.faults.iter().map(|fault| fault.kind).collect();
    assert_eq!(kinds, [FaultKind::OutOfMemory], "{:?}", outcome.faults);
    assert_eq!(outcome.decision, Decision::Deny);
}

#[tokio::test(flavor = "multi_thread")]
async fn private_memory_ends_at_the_limit_and_the_worker_lives() {
    let mut spec = spec("memory.Memory");
    spec.limits.memory_bytes = LIMIT;
    let plugin = load(spec).await;
    is_out_of_memory(&plugin.ask(json!({"do": "private"})).await);
    // The most it ever had, of the same process if it lived.
    let peak = plugin.tries(json!({"do": "peak"})).await;
    let peak = peak.as_u64().expect("bytes");
    assert!(peak <= LIMIT + MEMORY_SLACK_BYTES, "{} MiB", peak >> 20);
    plugin.still_answers().await;
}

#[tokio::test(flavor = "multi_thread")]
async fn shared_memory_past_the_limit_ends_the_worker() {
    let folder = tempfile::tempdir().expect("a folder");
    let count = folder.path().join("count");
    fs::write(&count, [0; 8]).expect("a file");
    let mut spec = spec("memory.Memory");
    spec.limits.memory_bytes = LIMIT;
    grant(&mut spec, folder.path(), Access::ReadWrite);
    let plugin = load(spec).await;
    let outcome = plugin.ask(json!({"do": "shared", "count": count})).await;
    is_out_of_memory(&outcome);
    let message = &outcome.faults[0].message;
    assert!(
        message.starts_with("the worker was ended: it used more memory than its limit: ")
            && message.ends_with(" MiB, at most 300 MiB are possible"),
        "{message}"
    );
    let filled: [u8; 8] = fs::read(&count)
        .expect("a file")
        .try_into()
        .expect("8 bytes");
    let filled = u64::from_le_bytes(filled) << 20;
    assert!(
        filled > 0 && filled <= LIMIT + MEMORY_SLACK_BYTES,
        "{} MiB",
        filled >> 20
    );
    plugin.still_answers().await;
}

#[tokio::test(flavor = "multi_thread")]
async fn children_count_and_end_with_it_in_whatever_session() {
    let folder = tempfile::tempdir().expect("a folder");
    let lifeline = folder.path().join("lifeline");
    assert!(
        Command::new("mkfifo")
            .arg(&lifeline)
            .status()
            .expect("mkfifo runs")
            .success()
    );
    let mut spec = spec("memory.Memory");
    spec.limits.memory_bytes = LIMIT;
    spec.permissions.processes = true;
    grant(&mut spec, folder.path(), Access::ReadWrite);
    let read = {
        let lifeline = lifeline.clone();
        std::thread::spawn(move || {
            let mut pipe = fs::File::open(lifeline).expect("the pipe opens");
            let mut all = Vec::new();
            pipe.read_to_end(&mut all).map(|_| all)
        })
    };
    let plugin = load(spec).await;
    is_out_of_memory(
        &plugin
            .ask(json!({"do": "family", "lifeline": lifeline}))
            .await,
    );
    // The pipe ends when the last process has that was given it.
    let said = tokio::task::spawn_blocking(move || read.join())
        .await
        .expect("a wait")
        .expect("no panic")
        .expect("every process ends");
    assert!(said.iter().all(|byte| *byte == b'x'), "{said:?}");
    plugin.still_answers().await;
}
