//! The `concurrent` phase: all at once, and what a denial does to the others.

use std::sync::Arc;
use std::time::Duration;

use futures::FutureExt as _;
use hookgate_core::config::{Mode, OnError};
use hookgate_core::{Decision, Engine, Fault, FaultKind, InProcess, Plugin, Violation};
use tokio::sync::{Barrier, oneshot};

use super::cast::{ask_in, denied_by, on_cue, parts, recorded, silent, take};
use crate::support::{
    Scripted, allowing, ask, asking, at, denying, faulting, json, named, plugin, waiting,
};

fn concurrent(name: &str, plugin: Arc<dyn Plugin>) -> InProcess {
    named(name, plugin).mode(Mode::Concurrent)
}

/// Denies with `code` after it has let the plugins go on that wait for these.
fn denying_after(code: &'static str, lets: Vec<oneshot::Sender<()>>) -> Arc<Scripted> {
    let once = std::sync::Mutex::new(Some(lets));
    plugin(move |call| {
        for one in take(&once) {
            one.send(()).expect("it waits");
        }
        Ok(call.draft().deny(Violation::new(code, "no")))
    })
}

fn late_answers(engine: &Engine) -> u64 {
    let plugins = engine.plugins();
    plugins.iter().map(|plugin| plugin.info.late_answers).sum()
}

#[tokio::test]
async fn all_run_at_once_on_one_snapshot() {
    let barrier = Arc::new(Barrier::new(3));
    let meets = |tag: &'static str| {
        let barrier = Arc::clone(&barrier);
        let plugin = waiting(false, move |call| {
            let barrier = Arc::clone(&barrier);
            async move {
                let mut draft = call.draft();
                // What one does before it waits the others do not see.
                assert_eq!(draft.shared("k"), None);
                assert_eq!(call.extensions.get("custom"), None);
                draft.set_shared("k", Some(json(tag))).expect("little");
                draft.set(&at("/args/cmd"), json(tag)).expect("a member");
                barrier.wait().await;
                assert_eq!(call.payload.text().as_ref(), crate::support::PAYLOAD);
                Ok(draft.allow())
            }
            .boxed()
        });
        concurrent(tag, plugin)
    };
    let (engine, records) = recorded(["1", "2", "3"].map(meets)).await;
    let outcome = ask_in(&engine, "r").await;
    assert_eq!(
        (outcome.decision, outcome.modified),
        (Decision::Allow, false)
    );
    let record = records.take().remove(0);
    assert_eq!(parts(&record), ["1: allow", "2: allow", "3: allow"]);
    assert!(record.plugins.iter().all(|part| part.edits.len() == 1));
}

#[tokio::test]
async fn a_denial_drops_the_calls_that_are_under_way() {
    let (first, first_gone) = silent();
    let (last, last_gone) = silent();
    let (engine, records) = recorded([
        concurrent("first", first),
        concurrent("denies", denying("NO")),
        concurrent("last", last),
    ])
    .await;
    let outcome = ask(&engine).await;
    assert!(first_gone.is() && last_gone.is());
    assert_eq!(denied_by(&outcome), ("denies", "NO"));
    // Cancelled is neither a fault nor late.
    assert_eq!((outcome.faults.len(), late_answers(&engine)), (0, 0));
    let expected = ["first: cancelled", "denies: deny NO", "last: cancelled"];
    assert_eq!(parts(&records.take()[0]), expected);
}

#[tokio::test]
async fn a_denial_that_comes_late_drops_them_too() {
    let (waits, gone) = silent();
    let (denies, mut cue) = on_cue(|call| Ok(call.draft().deny(Violation::new("NO", "no"))));
    let (engine, records) =
        recorded([concurrent("waits", waits), concurrent("denies", denies)]).await;
    let asked = tokio::spawn({
        let engine = engine.clone();
        async move { ask(&engine).await }
    });
    cue.begun().await;
    assert!(!gone.is());
    cue.give();
    let outcome = asked.await.expect("no panic");
    assert!(gone.is());
    assert_eq!(denied_by(&outcome), ("denies", "NO"));
    let expected = ["waits: cancelled", "denies: deny NO"];
    assert_eq!(parts(&records.take()[0]), expected);
}

#[tokio::test]
async fn a_fault_that_denies_drops_them_and_one_that_does_not_leaves_them() {
    let (waits, gone) = silent();
    let (engine, _) = recorded([
        concurrent("waits", waits),
        concurrent("broken", faulting(FaultKind::Trap)),
    ])
    .await;
    assert_eq!(denied_by(&ask(&engine).await), ("broken", "plugin_fault"));
    assert!(gone.is());

    for on_error in [OnError::Ignore, OnError::Disable] {
        let (waits, mut cue) = on_cue(|call| Ok(call.draft().allow()));
        let (engine, records) = recorded([
            concurrent("broken", faulting(FaultKind::Trap)).on_error(on_error),
            concurrent("waits", waits),
        ])
        .await;
        let asked = async {
            cue.begun().await;
            cue.give();
        };
        let (outcome, ()) = futures::join!(ask(&engine), asked);
        assert_eq!(outcome.decision, Decision::Allow);
        let expected = ["broken: trap", "waits: allow"];
        assert_eq!(parts(&records.take()[0]), expected);
    }
}

#[tokio::test]
async fn one_that_is_done_when_another_denies_has_answered() {
    // They begin in this order: the first is polled, and waits, before the second lets it go on.
    let allows = |call: hookgate_core::HookCall| {
        let mut draft = call.draft();
        draft.annotate("mark", json("1")).expect("little");
        draft.set_shared("k", Some(json("1"))).expect("little");
        Ok(draft.allow().with_suppressed(Violation::new("NOTED", "no")))
    };
    let (done, cue) = on_cue(allows);
    let denies = denying_after("NO", vec![cue.into_sender()]);
    let (engine, records) = recorded([
        concurrent("done", done),
        concurrent("denies", denies),
        concurrent("not yet asked", asking("sure?")),
    ])
    .await;
    let outcome = ask_in(&engine, "r").await;
    assert_eq!(denied_by(&outcome), ("denies", "NO"));
    let expected = ["done: allow", "denies: deny NO", "not yet asked: ask"];
    assert_eq!(parts(&records.take()[0]), expected);
    let suppressed = outcome.suppressed.iter().map(|one| &*one.plugin);
    assert_eq!(suppressed.collect::<Vec<_>>(), ["done"]);
    // What they leave is dropped all the same.
    assert_eq!(
        (outcome.approvals.len(), outcome.effects.metadata.len()),
        (0, 0)
    );
    assert!(engine.requests().is_empty());
}

#[tokio::test]
async fn the_last_look_finds_one_that_is_done_however_much_this_task_has_done() {
    let (done, cue) = on_cue(|call| Ok(call.draft().deny(Violation::new("FIRST", "no"))));
    let once = std::sync::Mutex::new(Some(cue.into_sender()));
    let denies = plugin(move |call| {
        take(&once).send(()).expect("it waits");
        // From here on the runtime lets nothing of this task be ready.
        while tokio::task::coop::has_budget_remaining() {
            tokio::task::coop::consume_budget().now_or_never();
        }
        Ok(call.draft().deny(Violation::new("SECOND", "no")))
    });
    let (engine, _) = recorded([concurrent("done", done), concurrent("denies", denies)]).await;
    let asked = tokio::spawn(async move { ask(&engine).await });
    let outcome = asked.await.expect("no panic");
    assert_eq!(denied_by(&outcome), ("done", "FIRST"));
}

#[tokio::test]
async fn of_several_denials_the_first_of_the_configuration_is_the_violation() {
    let deny = |code: &'static str| {
        move |call: hookgate_core::HookCall| {
            let mut draft = call.draft();
            draft.annotate(code, json("1")).expect("little");
            Ok(draft.deny(Violation::new(code, "no")))
        }
    };
    // Whether the other one denies first or last, both have denied when the phase stops.
    for first_is_quick in [true, false] {
        let (slow, cue) = on_cue(deny(if first_is_quick { "B" } else { "A" }));
        let quick_code = if first_is_quick { "A" } else { "B" };
        let once = std::sync::Mutex::new(Some(cue.into_sender()));
        let quick = plugin(move |call| {
            take(&once).send(()).expect("it waits");
            deny(quick_code)(call)
        });
        let (a, b) = match first_is_quick {
            true => (quick, slow),
            false => (slow, quick),
        };
        // The one that waits begins first in either case.
        let (a_priority, b_priority) = if first_is_quick { (2, 1) } else { (1, 2) };
        let (engine, records) = recorded([
            concurrent("a", a).priority(a_priority),
            concurrent("b", b).priority(b_priority),
        ])
        .await;
        let outcome = ask(&engine).await;
        assert_eq!(denied_by(&outcome), ("a", "A"), "{first_is_quick}");
        let parts = parts(&records.take()[0]);
        assert_eq!(parts, ["a: deny A", "b: deny B"], "{first_is_quick}");
        // Like any denial's, what the one that counts leaves is kept, and of the other nothing.
        let marks: Vec<_> = outcome.effects.metadata.keys().collect();
        assert_eq!(marks, ["A"], "{first_is_quick}");
    }
}

#[tokio::test]
async fn a_fault_before_a_denial_may_be_the_violation_and_is_listed_after_it_too() {
    let cases = [
        (OnError::Fail, 0, ("broken", "plugin_fault")),
        (OnError::Fail, 1, ("denies", "NO")),
        (OnError::Ignore, 0, ("denies", "NO")),
        (OnError::Disable, 1, ("denies", "NO")),
    ];
    for (on_error, place, violation) in cases {
        let mut plugins = vec![concurrent("denies", denying("NO"))];
        let broken = concurrent("broken", faulting(FaultKind::Exit)).on_error(on_error);
        plugins.insert(place, broken);
        let (engine, records) = recorded(plugins).await;
        let outcome = ask(&engine).await;
        assert_eq!(denied_by(&outcome), violation, "{on_error} {place}");
        let faults = outcome.faults.iter();
        let faults: Vec<_> = faults.map(|fault| (&*fault.plugin, fault.kind)).collect();
        assert_eq!(faults, [("broken", FaultKind::Exit)], "{on_error} {place}");
        let mut expected = vec!["denies: deny NO".to_owned()];
        expected.insert(place, "broken: exit".to_owned());
        assert_eq!(parts(&records.take()[0]), expected);
        let off = engine.plugins().iter().any(|plugin| plugin.disabled);
        assert_eq!(off, on_error == OnError::Disable);
    }
}

#[tokio::test]
async fn a_caller_that_goes_away_cancels_all_of_them() {
    let (one, one_gone) = silent();
    let (two, two_gone) = silent();
    let told = allowing();
    let (engine, records) = recorded([
        concurrent("one", one),
        concurrent("two", two),
        named("told", told.clone()).mode(Mode::FireAndForget),
    ])
    .await;
    let mut call = Box::pin(ask(&engine));
    assert!((&mut call).now_or_never().is_none());
    drop(call);
    assert!(one_gone.is() && two_gone.is());
    engine.shutdown().await;
    assert_eq!((records.take().len(), told.calls()), (0, 0));
}

#[tokio::test(start_paused = true)]
async fn each_has_its_own_deadline_from_the_beginning_of_the_phase() {
    let hour = Duration::from_secs(3_600);
    let times = [hour / 4, hour / 2, hour / 3];
    let (one, two, three) = (silent(), silent(), silent());
    let plugins = [("one", one.0), ("two", two.0), ("three", three.0)];
    let plugins = plugins
        .into_iter()
        .zip(times)
        .map(|((name, plugin), time)| {
            let entry = concurrent(name, plugin).timeout(time);
            entry.on_error(OnError::Ignore)
        });
    let (engine, _) = recorded(plugins).await;
    let began = tokio::time::Instant::now();
    let outcome = ask(&engine).await;
    let took = began.elapsed();
    // As long as the longest, and not as all together.
    assert!(took < hour / 2 + Duration::from_secs(1), "{took:?}");
    let faults: Vec<_> = outcome.faults.iter().map(|fault| &*fault.plugin).collect();
    assert_eq!(faults, ["one", "two", "three"]);
}

#[tokio::test]
async fn each_has_a_slot_of_its_own() {
    let (narrow, mut cue) = on_cue(|call| Ok(call.draft().allow()));
    let free = allowing();
    let (engine, records) = recorded([
        concurrent("narrow", narrow.clone())
            .concurrency(1)
            .on_error(OnError::Ignore),
        concurrent("free", free.clone()),
    ])
    .await;
    let first = tokio::spawn({
        let engine = engine.clone();
        async move { ask(&engine).await }
    });
    cue.begun().await;
    // The second call waits for the one slot until its time is up; its sibling is not held up.
    let mut second = Box::pin(ask(&engine));
    assert!((&mut second).now_or_never().is_none());
    assert_eq!((narrow.calls(), free.calls()), (1, 2));
    cue.give();
    first.await.expect("no panic");
    drop(second);
    assert_eq!(parts(&records.take()[0]), ["narrow: allow", "free: allow"]);
}

#[tokio::test]
async fn one_that_blocks_its_thread_is_noticed_when_it_returns() {
    // It cannot be cancelled: what it says counts, if it is in time.
    let blocks = plugin(|call| {
        std::thread::spawn(|| {}).join().expect("no panic");
        Ok(call.draft().deny(Violation::new("BLOCKS", "no")))
    });
    let (engine, records) = recorded([
        concurrent("blocks", blocks).priority(200),
        concurrent("denies", denying("NO")),
    ])
    .await;
    assert_eq!(denied_by(&ask(&engine).await), ("blocks", "BLOCKS"));
    let expected = ["blocks: deny BLOCKS", "denies: deny NO"];
    assert_eq!(parts(&records.take()[0]), expected);
}

#[tokio::test]
async fn a_call_holds_its_slot_no_longer_than_until_it_is_cancelled() {
    let (waits, _) = silent();
    let (engine, _) = recorded([
        concurrent("waits", waits.clone()).concurrency(1),
        concurrent("denies", denying("NO")),
    ])
    .await;
    for calls in 1..4 {
        ask(&engine).await;
        assert_eq!(waits.calls(), calls, "its slot was free again");
    }
}

#[tokio::test]
async fn many_are_asked_at_once() {
    let barrier = Arc::new(Barrier::new(200));
    let plugins = (0..200).map(|number: usize| {
        let barrier = Arc::clone(&barrier);
        let plugin = waiting(false, move |call| {
            let barrier = Arc::clone(&barrier);
            async move {
                barrier.wait().await;
                match number % 2 {
                    0 => Ok(call.draft().allow()),
                    _ => Err(Fault::new(FaultKind::Trap, "odd")),
                }
            }
            .boxed()
        });
        concurrent(&number.to_string(), plugin).on_error(OnError::Ignore)
    });
    let (engine, _) = recorded(plugins).await;
    let outcome = ask(&engine).await;
    let faults: Vec<_> = outcome
        .faults
        .iter()
        .map(|fault| fault.plugin.clone())
        .collect();
    let expected: Vec<_> = (0..200)
        .filter(|n| n % 2 == 1)
        .map(|n| n.to_string())
        .collect();
    assert_eq!((outcome.decision, faults), (Decision::Allow, expected));
}
