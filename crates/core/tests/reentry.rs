//! Plugins that ask an engine from inside their own call: the chain ends at its bound, and nothing else does.

mod support;

use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::{Arc, Mutex, OnceLock};

use futures::FutureExt as _;
use futures::future::{BoxFuture, join_all};
use hookgate_core::config::{Mode, OnError};
use hookgate_core::{
    Decision, Engine, FaultKind, HookCall, MAX_REENTRY_DEPTH, Outcome, RecordedVerdict, Request,
};
use support::{Answered, HOOK, Kept, PAYLOAD, Scripted, ask, engine, named, plugin, soon, waiting};

const DEPTH: usize = MAX_REENTRY_DEPTH as usize;

/// An engine that is put in place after the plugin that asks it.
#[derive(Clone, Default)]
struct Later(Arc<OnceLock<Engine>>);

impl Later {
    fn set(&self, engine: &Engine) {
        assert!(self.0.set(engine.clone()).is_ok(), "set once");
    }

    async fn ask(&self) -> Outcome {
        ask(self.0.get().expect("set before anybody asks")).await
    }
}

/// Outcomes as they came back, innermost first.
type Seen = Arc<Mutex<Vec<Outcome>>>;

/// Gives way to other tasks, asks `next`, keeps what it heard, and allows whatever that was.
fn asker(next: &Later, seen: &Seen) -> Arc<Scripted> {
    let (next, seen) = (next.clone(), Arc::clone(seen));
    waiting(
        false,
        move |call: HookCall| -> BoxFuture<'static, Answered> {
            let (next, seen) = (next.clone(), Arc::clone(&seen));
            async move {
                tokio::task::yield_now().await;
                let outcome = next.ask().await;
                tokio::task::yield_now().await;
                seen.lock().expect("no panic").push(outcome);
                Ok(call.draft().allow())
            }
            .boxed()
        },
    )
}

/// The innermost plugin was refused its turn, so the engine denied there; all others answered.
fn assert_ended_at_the_bound(seen: &Seen) {
    let seen = seen.lock().expect("no panic");
    assert_eq!(seen.len(), DEPTH);
    let innermost = &seen[0];
    assert_eq!(innermost.decision, Decision::Deny);
    assert_eq!(innermost.faults.len(), 1);
    assert_eq!(innermost.faults[0].kind, FaultKind::ResourceLimit);
    for outcome in &seen[1..] {
        assert_eq!(outcome.decision, Decision::Allow);
        assert!(outcome.faults.is_empty(), "{:?}", outcome.faults);
    }
}

#[tokio::test]
async fn a_plugin_that_asks_its_own_engine() {
    let (next, seen) = (Later::default(), Seen::default());
    let asks = asker(&next, &seen);
    let engine = engine([named("p", asks.clone())]).await;
    next.set(&engine);
    for _ in 0..2 {
        let calls = asks.calls();
        let outcome = ask(&engine).await;
        assert_eq!(outcome.decision, Decision::Allow);
        assert_eq!(
            asks.calls() - calls,
            DEPTH,
            "the one too deep is not called"
        );
        assert_ended_at_the_bound(&seen);
        seen.lock().expect("no panic").clear();
    }
}

#[tokio::test]
async fn a_chain_through_plugins_and_engines() {
    let seen = Seen::default();
    let nexts = [Later::default(), Later::default(), Later::default()];
    let mut engines = Vec::new();
    for next in &nexts {
        engines.push(engine([named("p", asker(next, &seen))]).await);
    }
    for (place, next) in nexts.iter().enumerate() {
        next.set(&engines[(place + 1) % engines.len()]);
    }
    ask(&engines[0]).await;
    assert_ended_at_the_bound(&seen);
}

/// The plugin's own thread, not a future: what it does inside `call` itself counts too.
#[test]
fn a_plugin_that_blocks_on_its_own_engine() {
    let (next, calls) = (Later::default(), Arc::new(AtomicUsize::new(0)));
    let (inner, counted) = (next.clone(), Arc::clone(&calls));
    let blocks = plugin(move |call| {
        counted.fetch_add(1, Ordering::SeqCst);
        let heard = inner.ask().now_or_never().expect("nothing waits");
        match heard.faults.first() {
            Some(fault) => assert_eq!(fault.kind, FaultKind::ResourceLimit),
            None => assert_eq!(heard.decision, Decision::Allow),
        }
        Ok(call.draft().allow())
    });
    let engine = engine([named("p", blocks)])
        .now_or_never()
        .expect("nothing waits");
    next.set(&engine);
    let outcome = ask(&engine).now_or_never().expect("nothing waits");
    assert_eq!(outcome.decision, Decision::Allow);
    assert!(outcome.faults.is_empty(), "{:?}", outcome.faults);
    assert_eq!(calls.load(Ordering::SeqCst), DEPTH);
}

/// Many on few threads, each giving way half-way: nobody counts anybody else's calls.
#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn chains_side_by_side_do_not_count_each_other() {
    let chains = (0..40).map(|_| async {
        let (next, seen) = (Later::default(), Seen::default());
        let engine = engine([named("p", asker(&next, &seen))]).await;
        next.set(&engine);
        ask(&engine).await;
        assert_ended_at_the_bound(&seen);
    });
    join_all(chains.map(tokio::spawn))
        .await
        .into_iter()
        .for_each(|chain| chain.expect("no panic"));
}

/// Wide is not deep: one after another and at the same time.
#[tokio::test]
async fn a_plugin_that_asks_often_is_not_deep() {
    let other = engine([named("q", support::allowing())]).await;
    let asks = waiting(false, move |call| {
        let other = other.clone();
        async move {
            for _ in 0..3 * DEPTH {
                assert_eq!(ask(&other).await.decision, Decision::Allow);
            }
            for outcome in join_all((0..3 * DEPTH).map(|_| ask(&other))).await {
                assert_eq!(outcome.decision, Decision::Allow);
            }
            Ok(call.draft().allow())
        }
        .boxed()
    });
    let engine = engine([named("p", asks)]).await;
    let outcome = ask(&engine).await;
    assert!(outcome.faults.is_empty(), "{:?}", outcome.faults);
}

#[tokio::test]
async fn a_panic_leaves_no_count_behind() {
    let begins = plugin(|_| panic!("on purpose"));
    let waits = waiting(false, |_| {
        async {
            tokio::task::yield_now().await;
            panic!("on purpose")
        }
        .boxed()
    });
    let ignored = |name: &str, plugin: Arc<Scripted>| named(name, plugin).on_error(OnError::Ignore);
    let engine = engine([ignored("begins", begins), ignored("waits", waits)]).await;
    for _ in 0..=DEPTH {
        let kinds: Vec<_> = ask(&engine)
            .await
            .faults
            .into_iter()
            .map(|fault| fault.kind)
            .collect();
        assert_eq!(kinds, [FaultKind::PluginError, FaultKind::PluginError]);
    }
}

#[tokio::test]
async fn a_plugin_that_is_told_and_asks_does_not_go_on_for_ever() {
    let (next, seen) = (Later::default(), Seen::default());
    let told = asker(&next, &seen);
    let kept = Arc::new(Kept::default());
    let engine = Engine::builder()
        .in_process(named("told", told.clone()).mode(Mode::FireAndForget))
        .records(kept.clone())
        .build()
        .await
        .expect("it builds");
    next.set(&engine);
    let asked = engine.invoke(HOOK, PAYLOAD, &Request::default()).await;
    assert_eq!(asked.expect("a good payload").decision, Decision::Allow);
    // An outcome's record, and one of what the plugin told of it answered, for each level; the last was not asked.
    let records = soon(kept.wait(2 * (DEPTH + 1))).await;
    assert_eq!(told.calls(), DEPTH);
    let faults = records.iter().filter(|record| record.of.is_some());
    let faults: Vec<_> = faults
        .filter_map(|record| record.plugins[0].fault)
        .collect();
    assert_eq!(faults, [FaultKind::ResourceLimit]);
    let told = records.iter().filter(|record| record.of.is_none());
    assert!(
        told.clone()
            .all(|record| record.plugins[0].verdict == Some(RecordedVerdict::Background))
    );
    assert_eq!(told.count(), DEPTH + 1);
    engine.shutdown().await;
}
