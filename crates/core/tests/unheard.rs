//! A hook nobody listens to: answered before anything is checked, and nothing is allocated for it.
//!
//! In a binary of its own since the crate that counts replaces the allocator.

mod support;

use std::sync::Arc;

use hookgate_core::{Decision, Engine, Payload, Request};
use support::{Kept, PAYLOAD, allowing, named};

fn runtime() -> tokio::runtime::Runtime {
    let mut builder = tokio::runtime::Builder::new_current_thread();
    builder.enable_all().build().expect("a runtime")
}

#[test]
fn the_answer_comes_before_any_check_and_leaves_no_record() {
    let records = Arc::new(Kept::default());
    let plugin = allowing();
    let builder = Engine::builder()
        .in_process(named("p", plugin.clone()))
        .records(records.clone());
    runtime().block_on(async {
        let engine = builder.build().await.expect("one plugin");
        let text = "\u{feff} not JSON, and of no shape";
        for hook in ["tool_post_invoke", "", "no hook at all", "TOOL_PRE_INVOKE"] {
            let outcome = engine.invoke(hook, text, &Request::with_id("r")).await;
            let outcome = outcome.expect("nobody listens");
            assert_eq!(outcome.decision, Decision::Allow);
            assert_eq!(support::text(&outcome), text);
            assert_eq!((outcome.modified, outcome.record), (false, None));
        }
        assert!(engine.requests().is_empty());
    });
    assert_eq!((plugin.calls(), records.take().len()), (0, 0));
}

#[test]
fn it_allocates_nothing() {
    runtime().block_on(async {
        let builder = Engine::builder().in_process(named("p", allowing()));
        let engine = builder
            .records(Arc::new(Kept::default()))
            .build()
            .await
            .expect("one plugin");
        let payload = Payload::from(PAYLOAD);
        let request = Request::with_id("r");
        let ask = |hook: &'static str| {
            let asked = engine.invoke(hook, payload.clone(), &request);
            futures::FutureExt::now_or_never(asked)
                .expect("nothing to wait for")
                .expect("an outcome")
        };
        // What a thread sets up once is not the call's.
        ask("tool_post_invoke");
        let unheard = allocation_counter::measure(|| drop(ask("tool_post_invoke")));
        assert_eq!((unheard.count_total, unheard.bytes_total), (0, 0));
        // The counter counts: a hook somebody listens to is not free.
        let heard = allocation_counter::measure(|| drop(ask("tool_pre_invoke")));
        assert!(heard.count_total > 0);
    });
}
