//! The engine around the pipeline: loading, reloading, shutting down, slots and switches.

mod support;

use std::sync::Arc;
use std::time::Duration;

use futures::FutureExt as _;
use hookgate_core::config::{Config, Mode, OnError};
use hookgate_core::{
    Decision, Engine, FaultKind, InvokeError, LoadReport, Outcome, Phase, Plugin, PluginInfo,
    Request, Violation,
};
use support::{
    Gate, HOOK, PAYLOAD, Scripted, Shelf, allowing, ask, config, denying, entry, gated, named,
    plugin,
};
use tokio::sync::Semaphore;

/// An engine of `wasm` entries on a shelf.
async fn loaded(shelf: &Arc<Shelf>, names: &[&str]) -> Engine {
    let builder = Engine::builder().host(shelf.clone()).config(config(names));
    builder.build().await.expect("all are on the shelf")
}

fn problems_of(report: &LoadReport) -> Vec<(&str, &str)> {
    let problems = report.problems.iter();
    problems
        .map(|problem| (&*problem.plugin, &*problem.error.message))
        .collect()
}

fn code(outcome: &Outcome) -> &str {
    &outcome.violation.as_ref().expect("a denial").code
}

#[tokio::test]
async fn every_entry_that_does_not_load_is_named_and_the_others_are_ended() {
    let shelf = Shelf::new();
    let good = allowing();
    shelf.put("good", &good);
    let mut wanted = config(&["bad", "good", "worse", "off"]);
    wanted.plugins[0].line = 3;
    wanted.plugins[3].mode = Mode::Disabled;
    let builder = Engine::builder().host(shelf).config(wanted);
    let report = builder.build().await.err().expect("two are missing");
    let missing = "no such component";
    assert_eq!(problems_of(&report), [("bad", missing), ("worse", missing)]);
    assert_eq!(report.problems[0].line, Some(3));
    let expected = "error: plugin bad: no such component\n  hint: put one there\nerror: plugin worse: no such component\n  hint: put one there";
    assert_eq!(report.to_string(), expected);
    assert_eq!((good.calls(), good.ended()), (0, 1));
}

#[tokio::test]
async fn a_kind_without_a_host_does_not_load() {
    let builder = Engine::builder().config(config(&["p"]));
    let report = builder.build().await.err().expect("no host");
    assert_eq!(
        problems_of(&report),
        [("p", "no host for plugins of kind `wasm` in this engine")]
    );
}

#[tokio::test]
async fn a_name_is_given_once_and_what_had_loaded_is_ended() {
    let twice = [named("p", allowing()), named("p", allowing())];
    let builder = twice
        .into_iter()
        .fold(Engine::builder(), |builder, plugin| {
            builder.in_process(plugin)
        });
    let report = builder.build().await.err().expect("twice");
    assert_eq!(problems_of(&report)[0], ("p", "the name is given twice"));

    let shelf = Shelf::new();
    let configured = allowing();
    shelf.put("p", &configured);
    let own = allowing();
    let builder = Engine::builder()
        .host(shelf)
        .config(config(&["p"]))
        .in_process(named("p", own.clone()));
    let report = builder.build().await.err().expect("twice");
    assert_eq!(problems_of(&report), [("p", "the name is given twice")]);
    assert_eq!((configured.ended(), own.ended()), (1, 0));
}

#[tokio::test]
async fn in_process_plugins_come_after_configured_ones_of_equal_priority() {
    let shelf = Shelf::new();
    shelf.put("configured", &denying("CONFIGURED"));
    let mut wanted = config(&["configured"]);
    let build = async |wanted: &Config| {
        let builder = Engine::builder().host(shelf.clone()).config(wanted.clone());
        builder
            .in_process(named("own", denying("OWN")))
            .build()
            .await
            .expect("both load")
    };
    assert_eq!(code(&ask(&build(&wanted).await).await), "CONFIGURED");
    wanted.plugins[0].priority += 1;
    assert_eq!(code(&ask(&build(&wanted).await).await), "OWN");
}

#[tokio::test]
async fn a_plugin_hears_its_hooks_once_and_not_at_all_when_off() {
    let (hears, off) = (allowing(), denying("OFF"));
    let engine = support::engine([
        named("hears", hears.clone()).hooks([HOOK, "mine", HOOK]),
        named("off", off.clone()).mode(Mode::Disabled),
    ])
    .await;
    ask(&engine).await;
    assert_eq!(hears.calls(), 1);
    engine
        .invoke("mine", "{}", &Request::default())
        .await
        .expect("an object");
    assert_eq!((hears.calls(), off.calls()), (2, 0));
    let names: Vec<_> = engine
        .plugins()
        .into_iter()
        .map(|plugin| plugin.name)
        .collect();
    assert_eq!(names, ["hears"]);
}

#[tokio::test]
async fn a_reload_waits_for_nobody_and_ends_the_old_plugin_after_its_last_call() {
    let shelf = Shelf::new();
    let gate = Arc::new(Gate::default());
    let (old, new, own) = (gated(&gate), denying("NEW"), allowing());
    shelf.put("p", &old);
    let builder = Engine::builder().host(shelf.clone()).config(config(&["p"]));
    let engine = builder
        .in_process(named("own", own.clone()))
        .build()
        .await
        .expect("both load");
    let in_flight = tokio::spawn({
        let engine = engine.clone();
        async move { ask(&engine).await }
    });
    gate.arrival().await;
    shelf.put("p", &new);
    engine.reload(config(&["p"])).await.expect("it loads");
    assert_eq!(engine.generation(), 2);
    assert_eq!(code(&ask(&engine).await), "NEW");
    assert_eq!(old.ended(), 0, "its call is under way");
    let mut shutdown = Box::pin(engine.shutdown());
    assert!(
        (&mut shutdown).now_or_never().is_none(),
        "it waits for that call"
    );
    assert_eq!((new.ended(), own.ended()), (0, 0));
    gate.open();
    let outcome = in_flight.await.expect("no panic");
    assert_eq!(
        outcome.decision,
        Decision::Allow,
        "to its end on the generation it began with"
    );
    shutdown.await;
    assert_eq!((old.calls(), new.calls(), own.calls()), (1, 1, 1));
    // The plugin of this process served both generations, and ends with the engine.
    assert_eq!((old.ended(), new.ended(), own.ended()), (1, 1, 1));
}

#[tokio::test]
async fn a_call_whose_caller_went_away_does_not_hold_a_generation() {
    let shelf = Shelf::new();
    let gate = Arc::new(Gate::default());
    let old = gated(&gate);
    shelf.put("p", &old);
    let engine = loaded(&shelf, &["p"]).await;
    let mut call = Box::pin(ask(&engine));
    assert!((&mut call).now_or_never().is_none());
    drop(call);
    engine.shutdown().await;
    assert_eq!((old.calls(), old.ended()), (1, 1));
}

#[tokio::test]
async fn a_failing_reload_leaves_the_old_generation_and_ends_what_it_had_loaded() {
    let shelf = Shelf::new();
    let (old, fresh) = (denying("OLD"), allowing());
    shelf.put("old", &old);
    shelf.put("fresh", &fresh);
    let engine = loaded(&shelf, &["old"]).await;
    let report = engine
        .reload(config(&["fresh", "missing"]))
        .await
        .expect_err("one is missing");
    assert_eq!(problems_of(&report), [("missing", "no such component")]);
    assert_eq!((engine.generation(), code(&ask(&engine).await)), (1, "OLD"));
    assert_eq!((old.ended(), fresh.ended(), fresh.calls()), (0, 1, 0));
}

#[tokio::test]
async fn reloads_follow_each_other() {
    let shelf = Shelf::new();
    shelf.put("one", &denying("ONE"));
    shelf.put("two", &denying("TWO"));
    let engine = loaded(&shelf, &[]).await;
    assert_eq!(ask(&engine).await.record, None);
    let (one, two) = (
        engine.reload(config(&["one"])),
        engine.reload(config(&["two"])),
    );
    let (one, two) = futures::join!(one, two);
    assert!(one.is_ok() && two.is_ok());
    assert_eq!((engine.generation(), code(&ask(&engine).await)), (3, "TWO"));
    assert_eq!(engine.plugins().len(), 1);
}

#[tokio::test]
async fn state_outlives_a_reload() {
    let shelf = Shelf::new();
    let counts = plugin(|call| {
        let mut draft = call.draft();
        if draft.state("seen").is_some() {
            return Ok(draft.deny(Violation::new("AGAIN", "again")));
        }
        draft
            .set_state("seen", Some(support::json("true")))
            .expect("little");
        Ok(draft.allow())
    });
    shelf.put("p", &counts);
    let engine = loaded(&shelf, &["p"]).await;
    let request = Request::with_id("r");
    let first = engine
        .invoke(HOOK, PAYLOAD, &request)
        .await
        .expect("passes the door");
    assert_eq!(first.decision, Decision::Allow);
    engine.reload(config(&["p"])).await.expect("it loads");
    let second = engine
        .invoke(HOOK, PAYLOAD, &request)
        .await
        .expect("passes the door");
    assert_eq!(code(&second), "AGAIN");
}

#[tokio::test]
async fn after_a_shutdown_every_call_is_an_error_and_stays_one() {
    let shelf = Shelf::new();
    let plugin = allowing();
    shelf.put("p", &plugin);
    let engine = loaded(&shelf, &["p"]).await;
    engine.shutdown().await;
    engine.shutdown().await;
    assert_eq!(plugin.ended(), 1);
    for hook in [HOOK, "nobody listens"] {
        let error = engine
            .invoke(hook, PAYLOAD, &Request::default())
            .await
            .expect_err("shut down");
        assert_eq!(
            (&error, error.code()),
            (&InvokeError::ShutDown, "shut_down")
        );
    }
    let report = engine.reload(config(&["p"])).await.expect_err("shut down");
    assert_eq!(report.to_string(), "error: the engine was shut down");
    assert!(
        engine
            .invoke(HOOK, PAYLOAD, &Request::default())
            .await
            .is_err()
    );
    assert_eq!(
        (plugin.calls(), plugin.ended(), engine.plugins().len()),
        (0, 1, 0)
    );
}

#[tokio::test]
async fn a_shutdown_during_a_reload_ends_what_the_reload_loads() {
    let shelf = Shelf::new();
    let plugin = allowing();
    shelf.put("p", &plugin);
    let engine = loaded(&shelf, &[]).await;
    shelf.permits.forget_permits(Semaphore::MAX_PERMITS);
    let mut reload = Box::pin(engine.reload(config(&["p"])));
    assert!((&mut reload).now_or_never().is_none());
    shelf.loading.notified().await;
    engine.shutdown().await;
    shelf.permits.add_permits(1);
    let report = reload.await.expect_err("shut down meanwhile");
    assert_eq!(report.to_string(), "error: the engine was shut down");
    assert_eq!(plugin.ended(), 1);
    let error = engine
        .invoke(HOOK, PAYLOAD, &Request::default())
        .await
        .expect_err("shut down");
    assert_eq!(error, InvokeError::ShutDown);
}

/// An engine whose one plugin answers one call at a time, and the gate its calls wait at.
async fn narrow(on_error: OnError) -> (Engine, Arc<Gate>, Arc<Scripted>) {
    let gate = Arc::new(Gate::default());
    let plugin = gated(&gate);
    let entry = named("p", plugin.clone()).concurrency(1).on_error(on_error);
    // Only tests that let time pass come to the end of it.
    let entry = entry.timeout(Duration::from_secs(3_600));
    (support::engine([entry]).await, gate, plugin)
}

#[tokio::test(start_paused = true)]
async fn waiting_for_a_slot_is_inside_the_timeout() {
    let (engine, _gate, plugin) = narrow(OnError::Ignore).await;
    let mut first = Box::pin(ask(&engine));
    assert!((&mut first).now_or_never().is_none());
    // Time passes by itself when everybody waits. The first call keeps its own deadline, and has a
    // moment longer than the second, which is still in the queue.
    let outcome = ask(&engine).await;
    let fault = &outcome.faults[0];
    assert_eq!(
        (fault.kind, fault.phase),
        (FaultKind::Timeout, Some(Phase::Queue))
    );
    assert_eq!(fault.message, "no free slot of 1 within 1h");
    assert_eq!(plugin.calls(), 1);
    assert_eq!(first.await.faults[0].phase, Some(Phase::Guest));
}

#[tokio::test]
async fn a_slot_is_given_on_when_a_call_ends_or_is_dropped() {
    let (engine, gate, plugin) = narrow(OnError::Fail).await;
    let mut calls: Vec<_> = (0..3).map(|_| Box::pin(ask(&engine))).collect();
    for call in &mut calls {
        assert!(call.now_or_never().is_none());
    }
    assert_eq!(plugin.calls(), 1);
    gate.open();
    assert_eq!(calls.remove(0).await.decision, Decision::Allow);
    assert!((&mut calls[0]).now_or_never().is_none());
    assert_eq!(plugin.calls(), 2);
    drop(calls.remove(0));
    assert!((&mut calls[0]).now_or_never().is_none());
    assert_eq!(plugin.calls(), 3);
    gate.open();
    assert_eq!(calls.remove(0).await.decision, Decision::Allow);
}

#[tokio::test]
async fn one_call_more_than_the_queue_holds_is_overloaded() {
    let (engine, gate, plugin) = narrow(OnError::Fail).await;
    let mut calls: Vec<_> = (0..1 + 1_024).map(|_| Box::pin(ask(&engine))).collect();
    for call in &mut calls {
        let outcome = call.now_or_never();
        assert!(
            outcome.is_none(),
            "in the slot or in the queue: {outcome:?}"
        );
    }
    let outcome = ask(&engine).await;
    assert_eq!(outcome.decision, Decision::Deny);
    assert_eq!(outcome.faults[0].kind, FaultKind::Overloaded);
    assert_eq!(outcome.faults[0].message, "1024 calls already wait for p");
    // A place that is given up can be taken again.
    drop(calls.pop());
    let mut last = Box::pin(ask(&engine));
    assert!((&mut last).now_or_never().is_none());
    drop(calls);
    assert!((&mut last).now_or_never().is_none());
    gate.open();
    assert_eq!(last.await.decision, Decision::Allow);
    assert_eq!(plugin.calls(), 2);
}

#[tokio::test]
async fn being_disabled_ends_with_enable_or_a_reload() {
    let shelf = Shelf::new();
    let broken = support::faulting(FaultKind::Trap);
    shelf.put("p", &broken);
    let mut wanted = config(&[]);
    wanted.plugins.push(entry("p"));
    wanted.plugins[0].on_error = OnError::Disable;
    let builder = Engine::builder().host(shelf).config(wanted.clone());
    let engine = builder.build().await.expect("it loads");
    let asked = async || {
        let before = broken.calls();
        let outcome = ask(&engine).await;
        // Somebody listens to the hook all the same: there is a record.
        assert!(outcome.record.is_some() && outcome.decision == Decision::Allow);
        broken.calls() - before
    };
    assert_eq!((asked().await, asked().await), (1, 0));
    assert!(engine.enable("p"));
    assert_eq!((asked().await, asked().await), (1, 0));
    engine.reload(wanted).await.expect("it loads");
    assert_eq!((asked().await, asked().await), (1, 0));
}

#[tokio::test]
async fn the_list_of_plugins_says_what_the_operator_said() {
    struct Described;
    impl Plugin for Described {
        fn describe(&self) -> PluginInfo {
            PluginInfo {
                kind: "in-process",
                hooks: vec!["a".into(), "b".into()],
                digest: Some("sha256:0".into()),
                sandbox: "none".into(),
                state: "ready",
                late_answers: 3,
                ..PluginInfo::default()
            }
        }

        fn call(
            &self,
            call: hookgate_core::HookCall,
        ) -> futures::future::BoxFuture<'_, support::Answered> {
            Box::pin(async move { Ok(call.draft().allow()) })
        }
    }
    let entry = named("p", Arc::new(Described))
        .priority(-1)
        .on_error(OnError::Ignore);
    let engine = support::engine([entry.timeout(Duration::from_millis(1_500))]).await;
    let listed = serde_json::to_string(&engine.plugins()).expect("JSON");
    let expected = r#"[{"name":"p","hooks":["a","b"],"mode":"sequential","priority":-1,"on_error":"ignore","timeout_ms":1500,"disabled":false,"kind":"in-process","digest":"sha256:0","sandbox":"none","state":"ready","late_answers":3,"environment":null}]"#;
    assert_eq!(listed, expected);
}
