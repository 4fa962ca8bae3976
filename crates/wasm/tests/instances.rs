//! How instances serve: one call each and no more, or one after another until something speaks against it.

mod hostile;

use hookgate_core::config::{InstancePolicy, Instances, PluginSpec};
use hookgate_core::{Decision, Engine, FaultKind};
use hookgate_wasm::REUSE_GROWTH_BYTES;
use hostile::{ask, engine, load, mark, spec};
use serde_json::{Value, json};

fn single_use(stock: u32) -> Instances {
    Instances {
        policy: InstancePolicy::SingleUse,
        stock,
        ..Instances::default()
    }
}

fn reuse(stock: u32, max_calls: u32) -> Instances {
    Instances {
        policy: InstancePolicy::Reuse,
        stock,
        max_calls,
    }
}

async fn serving(instances: Instances) -> Engine {
    engine(|spec| spec.instances = instances).await
}

/// How many instances wait.
fn ready(engine: &Engine) -> u32 {
    let info = &engine.plugins()[0].info;
    info.ready_instances.expect("a wasm plugin has a stock")
}

/// Waits until so many wait.
async fn until_ready(engine: &Engine, wanted: u32) {
    while ready(engine) != wanted {
        tokio::task::yield_now().await;
    }
}

/// How often the instance that answered has been asked.
async fn count(engine: &Engine, what: &str, more: Value) -> u64 {
    let outcome = ask(engine, what, more).await;
    assert_eq!(outcome.decision, Decision::Allow, "{outcome:?}");
    mark(&outcome, "count").as_u64().expect("a number")
}

#[tokio::test(flavor = "multi_thread")]
async fn one_of_single_use_serves_one_call() {
    for stock in [0, 1, 4] {
        let engine = serving(single_use(stock)).await;
        for _ in 0..20 {
            assert_eq!(count(&engine, "count", json!({})).await, 1, "stock {stock}");
        }
        engine.shutdown().await;
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn single_use_is_what_is_meant_where_nothing_is_written() {
    let engine = engine(|_| {}).await;
    for _ in 0..10 {
        assert_eq!(count(&engine, "count", json!({})).await, 1);
    }
    engine.shutdown().await;
}

#[tokio::test]
async fn the_stock_is_filled_and_no_further() {
    let engine = serving(single_use(3)).await;
    until_ready(&engine, 3).await;
    for _ in 0..10 {
        assert_eq!(count(&engine, "count", json!({})).await, 1);
        until_ready(&engine, 3).await;
    }
    engine.shutdown().await;
}

#[tokio::test]
async fn a_fault_costs_an_instance_and_no_more() {
    for instances in [single_use(2), reuse(2, 1_000)] {
        let engine = serving(instances).await;
        until_ready(&engine, 2).await;
        let outcome = ask(&engine, "trap", json!({})).await;
        assert_eq!(outcome.faults[0].kind, FaultKind::Trap);
        until_ready(&engine, 2).await;
        assert_eq!(count(&engine, "count", json!({})).await, 1);
        engine.shutdown().await;
    }
}

#[tokio::test]
async fn one_that_serves_again_does_until_it_has_served_enough() {
    let engine = serving(reuse(1, 3)).await;
    let mut counts = Vec::new();
    for _ in 0..7 {
        // Or a call that comes while one is being made would make its own.
        until_ready(&engine, 1).await;
        counts.push(count(&engine, "count", json!({})).await);
    }
    assert_eq!(counts, [1, 2, 3, 1, 2, 3, 1]);
    engine.shutdown().await;
}

#[tokio::test]
async fn one_that_ended_in_a_fault_serves_no_more() {
    let engine = serving(reuse(1, 1_000)).await;
    for word in ["trap", "exit", "fail"] {
        until_ready(&engine, 1).await;
        assert_eq!(count(&engine, "count", json!({})).await, 1, "after {word}");
        assert_eq!(count(&engine, "count", json!({})).await, 2);
        let outcome = ask(&engine, word, json!({})).await;
        assert_eq!(outcome.faults.len(), 1, "{outcome:?}");
    }
    until_ready(&engine, 1).await;
    assert_eq!(count(&engine, "count", json!({})).await, 1);
    engine.shutdown().await;
}

#[tokio::test]
async fn one_that_has_grown_too_much_serves_no_more() {
    let room = 4 * REUSE_GROWTH_BYTES;
    let engine = engine(|spec| {
        spec.instances = reuse(1, 1_000);
        spec.limits.memory_bytes = room;
    })
    .await;
    let little = json!({ "bytes": 1 << 20 });
    let much = json!({ "bytes": REUSE_GROWTH_BYTES });
    let mut counts = Vec::new();
    for more in [&little, &little, &much, &little, &little] {
        until_ready(&engine, 1).await;
        counts.push(count(&engine, "gather", more.clone()).await);
    }
    assert_eq!(counts, [1, 2, 3, 1, 2]);
    engine.shutdown().await;
}

#[tokio::test]
async fn what_a_call_was_lent_is_gone_with_it() {
    // More calls than an instance may hold handles: one that kept them would end in `resource_limit`.
    let engine = serving(reuse(1, 10_000)).await;
    until_ready(&engine, 1).await;
    for asked in 1..=2_000 {
        assert_eq!(count(&engine, "count", json!({})).await, asked);
    }
    engine.shutdown().await;
}

#[tokio::test]
async fn what_all_plugins_may_hold_at_once_must_fit_the_pool() {
    let large = |name: &str, concurrency: u32| -> PluginSpec {
        let mut large = spec("hostile");
        large.name = name.into();
        large.limits.concurrency = concurrency;
        large
    };
    let engine = load(large("large", 4_000)).await.expect("it fits");
    engine.shutdown().await;
    drop(engine);
    let problem = match load(large("too-large", 4_093)).await {
        Ok(_) => panic!("it was given more than there is"),
        Err(report) => report.to_string(),
    };
    assert!(
        problem.contains("no room for 4097 instances at once (4093 calls in flight, 4 in stock)"),
        "{problem}"
    );
    assert!(problem.contains("limits: {concurrency: N}"), "{problem}");
}

#[tokio::test(flavor = "multi_thread")]
async fn many_calls_at_once_get_an_answer_each() {
    for instances in [single_use(2), reuse(2, 5)] {
        let engine = serving(instances).await;
        let calls = (0..200).map(|_| {
            let engine = engine.clone();
            tokio::spawn(async move { count(&engine, "count", json!({})).await })
        });
        let calls: Vec<_> = calls.collect();
        for call in calls {
            let asked = call.await.expect("the call ends");
            let most = match instances.policy {
                InstancePolicy::SingleUse => 1,
                InstancePolicy::Reuse => 5,
            };
            assert!((1..=most).contains(&asked), "{asked} of at most {most}");
        }
        engine.shutdown().await;
    }
}
