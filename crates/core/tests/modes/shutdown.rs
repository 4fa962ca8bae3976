//! Background calls hold their generation: through a reload, and for a while at a shutdown.

use std::sync::Arc;
use std::time::Duration;

use futures::FutureExt as _;
use hookgate_core::config::Mode;
use hookgate_core::{Engine, InvokeError, Request};

use super::cast::{on_cue, parts, recorded, silent};
use super::logs::Warnings;
use crate::support::{HOOK, Kept, PAYLOAD, Scripted, Shelf, allowing, ask, config, entry, named};

/// The bound on what a shutdown waits for background calls.
const DRAIN: Duration = Duration::from_secs(5);

/// An engine of `wasm` entries that are told in the background.
async fn told(shelf: &Arc<Shelf>, names: &[&str]) -> (Engine, Arc<Kept>) {
    let records = Arc::new(Kept::default());
    let builder = Engine::builder()
        .host(shelf.clone())
        .config(told_config(names));
    let builder = builder.records(records.clone());
    (
        builder.build().await.expect("all are on the shelf"),
        records,
    )
}

fn told_config(names: &[&str]) -> hookgate_core::config::Config {
    let mut wanted = config(&[]);
    wanted.plugins = names.iter().map(|name| entry(name)).collect();
    for plugin in &mut wanted.plugins {
        plugin.mode = Mode::FireAndForget;
        plugin.limits.timeout = Duration::from_secs(3_600);
    }
    wanted
}

fn put(shelf: &Shelf, name: &str, plugin: &Arc<Scripted>) {
    shelf.put(name, plugin);
}

#[tokio::test]
async fn a_reload_ends_the_old_plugin_after_its_background_call() {
    let shelf = Shelf::new();
    let (old, mut cue) = on_cue(|call| Ok(call.draft().allow()));
    put(&shelf, "p", &old);
    let (engine, records) = told(&shelf, &["p"]).await;
    let first = ask(&engine).await;
    cue.begun().await;
    let new = allowing();
    put(&shelf, "p", &new);
    engine.reload(told_config(&["p"])).await.expect("it loads");
    ask(&engine).await;
    // The new one has answered, the old one is still at it.
    let so_far = records.wait(3).await;
    assert_eq!((old.ended(), new.calls()), (0, 1));
    assert_eq!(so_far[2].generation, 2);
    let mut shutdown = Box::pin(engine.shutdown());
    assert!((&mut shutdown).now_or_never().is_none());
    assert_eq!((old.ended(), new.ended()), (0, 0));
    cue.give();
    shutdown.await;
    assert_eq!((old.ended(), new.ended()), (1, 1));
    let last = records.take().remove(0);
    assert_eq!((last.generation, last.of), (1, first.record));
}

#[tokio::test]
async fn a_shutdown_waits_for_background_calls_and_their_records() {
    let (waits, mut cue) = on_cue(|call| Ok(call.draft().allow()));
    let (engine, records) = recorded([named("p", waits.clone()).mode(Mode::FireAndForget)]).await;
    ask(&engine).await;
    cue.begun().await;
    let mut shutdown = Box::pin(engine.shutdown());
    assert!((&mut shutdown).now_or_never().is_none());
    let asked = engine.invoke(HOOK, PAYLOAD, &Request::default()).await;
    assert_eq!(
        asked.expect_err("it is shutting down"),
        InvokeError::ShutDown
    );
    assert_eq!(waits.ended(), 0, "its call is under way");
    cue.give();
    shutdown.await;
    assert_eq!(waits.ended(), 1);
    let records = records.take();
    assert_eq!(parts(&records[1]), ["p: allow"]);
}

#[tokio::test(start_paused = true)]
async fn past_the_bound_a_shutdown_drops_them_and_names_their_plugins() {
    let warnings = Warnings::listen();
    let (b, b_gone) = silent();
    let (a, a_gone) = silent();
    let quick = allowing();
    let (engine, records) = recorded([
        named("b", b.clone()).mode(Mode::FireAndForget),
        named("a", a.clone()).mode(Mode::FireAndForget),
        named("quick", quick).mode(Mode::FireAndForget),
    ])
    .await;
    let first = ask(&engine).await;
    let second = ask(&engine).await;
    let began = tokio::time::Instant::now();
    engine.shutdown().await;
    let took = began.elapsed();
    assert!(
        took >= DRAIN && took < DRAIN + Duration::from_secs(1),
        "{took:?}"
    );
    assert!(a_gone.is() && b_gone.is());
    assert_eq!(
        (a.ended(), b.ended()),
        (1, 1),
        "ended when no call was under way"
    );
    let expected =
        "plugins=a, b background calls did not end within 5s of the shutdown and were dropped";
    assert_eq!(warnings.take(), [expected]);
    // Each has a record all the same.
    let records = records.take();
    let dropped = records.iter().filter(|record| record.of.is_some());
    let dropped = dropped.filter(|record| !parts(record)[0].starts_with("quick"));
    let mut dropped: Vec<_> = dropped
        .map(|record| (record.of.clone(), parts(record)))
        .collect();
    dropped.sort();
    let (a, b) = (
        vec!["a: cancelled".to_owned()],
        vec!["b: cancelled".to_owned()],
    );
    let mut expected = Vec::new();
    for outcome in [first, second] {
        expected.push((outcome.record.clone(), a.clone()));
        expected.push((outcome.record, b.clone()));
    }
    expected.sort();
    assert_eq!(dropped, expected);
}

#[tokio::test(start_paused = true)]
async fn the_bound_begins_when_nobody_waits_for_an_outcome_any_more() {
    let (waits, mut cue) = on_cue(|call| Ok(call.draft().allow()));
    let (silent, gone) = silent();
    let (engine, _) = recorded([
        named("waits", waits),
        named("p", silent).mode(Mode::FireAndForget),
    ])
    .await;
    let asked = tokio::spawn({
        let engine = engine.clone();
        async move { ask(&engine).await }
    });
    cue.begun().await;
    let shutdown = tokio::spawn({
        let engine = engine.clone();
        async move { engine.shutdown().await }
    });
    // Longer than the bound: the call under way has its outcome, and its plugin is told.
    tokio::time::sleep(DRAIN * 2).await;
    let released = tokio::time::Instant::now();
    cue.give();
    asked.await.expect("no panic");
    shutdown.await.expect("no panic");
    let took = released.elapsed();
    assert!(
        took >= DRAIN && took < DRAIN + Duration::from_secs(1),
        "{took:?}"
    );
    assert!(gone.is());
}

#[tokio::test(start_paused = true)]
async fn a_shutdown_drops_those_of_replaced_generations_too() {
    let warnings = Warnings::listen();
    let shelf = Shelf::new();
    let (old, gone) = silent();
    put(&shelf, "old", &old);
    let (engine, records) = told(&shelf, &["old"]).await;
    ask(&engine).await;
    engine.reload(told_config(&[])).await.expect("it loads");
    engine.shutdown().await;
    assert!(gone.is());
    assert_eq!(old.ended(), 1);
    assert_eq!(warnings.take().len(), 1);
    assert_eq!(parts(&records.take()[1]), ["old: cancelled"]);
}

#[tokio::test]
async fn an_engine_nobody_holds_any_more_still_tells() {
    let (waits, mut cue) = on_cue(|call| Ok(call.draft().allow()));
    let (engine, records) = recorded([named("p", waits).mode(Mode::FireAndForget)]).await;
    ask(&engine).await;
    cue.begun().await;
    drop(engine);
    cue.give();
    assert_eq!(parts(&records.wait(2).await[1]), ["p: allow"]);
}
