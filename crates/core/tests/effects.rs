//! What a plugin leaves behind: state, marks, headers, delays, results, and the store between hooks.

mod support;

use std::time::Duration;

use hookgate_core::{Draft, Engine, Fault, FaultKind, Outcome, RefusalCode, Request, Violation};
use support::{HOOK, PAYLOAD, ask, at, config, engine, json, named, plugin};

/// Asks in the name of a request.
async fn ask_in(engine: &Engine, id: &str) -> Outcome {
    let outcome = engine.invoke(HOOK, PAYLOAD, &Request::with_id(id)).await;
    outcome.expect("the payload passes the door")
}

/// A plugin that marks what it reads and then writes.
fn marking(
    write: impl Fn(&mut Draft) + Send + Sync + 'static,
) -> std::sync::Arc<support::Scripted> {
    plugin(move |call| {
        let mut draft = call.draft();
        for (name, value) in [("state", draft.state("k")), ("shared", draft.shared("k"))] {
            if let Some(value) = value {
                draft.annotate(name, value).expect("little");
            }
        }
        write(&mut draft);
        Ok(draft.allow())
    })
}

fn marks(outcome: &Outcome) -> Vec<(&str, &str)> {
    let metadata = outcome.effects.metadata.iter();
    metadata
        .map(|(key, value)| (&**key, value.as_str()))
        .collect()
}

#[tokio::test]
async fn private_state_is_the_plugins_and_shared_state_is_everybodys() {
    let writer = marking(|draft| {
        draft.set_state("k", Some(json("1.10"))).expect("little");
        draft.set_shared("k", Some(json("[1]"))).expect("little");
        assert_eq!(
            draft.state("k"),
            Some(json("1.10")),
            "its own write is seen at once"
        );
    });
    let reader = marking(|_| {});
    let engine = engine([named("writer", writer), named("reader", reader)]).await;
    // The reader runs after the writer in the first hook already.
    assert_eq!(marks(&ask_in(&engine, "r").await), [("shared", "[1]")]);
    assert_eq!(
        marks(&ask_in(&engine, "r").await),
        [("state", "1.10"), ("shared", "[1]")]
    );
    // Another request has state of its own.
    assert_eq!(marks(&ask_in(&engine, "q").await), [("shared", "[1]")]);
    assert_eq!(engine.requests().len(), 2);
    engine.requests().forget("r");
    assert_eq!(marks(&ask_in(&engine, "r").await), [("shared", "[1]")]);
}

#[tokio::test]
async fn removed_state_is_gone() {
    let plugin = marking(|draft| {
        let value = draft.state("k").is_none().then(|| json("0"));
        draft.set_state("k", value.clone()).expect("little");
        draft.set_shared("k", value).expect("little");
    });
    let engine = engine([named("p", plugin)]).await;
    for expected in [vec![], vec![("state", "0"), ("shared", "0")], vec![]] {
        assert_eq!(marks(&ask_in(&engine, "r").await), expected);
    }
}

#[tokio::test]
async fn a_request_without_an_id_leaves_nothing() {
    let plugin = marking(|draft| draft.set_state("k", Some(json("0"))).expect("little"));
    let engine = engine([named("p", plugin)]).await;
    ask(&engine).await;
    assert!(engine.requests().is_empty());
    assert_eq!(marks(&ask(&engine).await), []);
}

#[tokio::test]
async fn a_request_without_an_id_leaves_nothing_when_its_caller_goes_away() {
    use futures::FutureExt as _;
    let gate = std::sync::Arc::new(support::Gate::default());
    let writer = marking(|draft| draft.set_state("k", Some(json("0"))).expect("little"));
    let engine = engine([
        named("writer", writer),
        named("waits", support::gated(&gate)),
    ])
    .await;
    let mut call = Box::pin(ask(&engine));
    assert!((&mut call).now_or_never().is_none());
    assert_eq!(engine.requests().len(), 1, "the first plugin has written");
    drop(call);
    assert!(engine.requests().is_empty());
}

#[tokio::test]
async fn identity_is_taken_from_each_call() {
    let plugin = plugin(|call| {
        let mut draft = call.draft();
        let user = call.request.caller().user.clone();
        draft
            .annotate("user", user.unwrap_or_else(hookgate_core::Json::null))
            .expect("little");
        Ok(draft.allow())
    });
    let engine = engine([named("p", plugin)]).await;
    let mut request = Request::with_id("r");
    for (user, expected) in [(Some(json("\"u\"")), "\"u\""), (None, "null")] {
        request.user = user;
        let outcome = engine
            .invoke(HOOK, PAYLOAD, &request)
            .await
            .expect("passes the door");
        assert_eq!(marks(&outcome), [("user", expected)]);
    }
}

#[tokio::test]
async fn later_marks_and_headers_win_and_the_longest_delay() {
    let writer = |tag: &'static str, header: &'static str, delay| {
        plugin(move |call| {
            let mut draft = call.draft();
            draft.annotate("both", json(tag)).expect("little");
            draft.annotate(tag, json("0")).expect("little");
            draft.set_header(header, tag).expect("a header");
            draft.set_header("X-Mine", "first").expect("a header");
            draft.set_header("x-mine", tag).expect("a header");
            draft.set_retry_ms(7);
            draft.set_retry_ms(delay);
            draft.set_result(json(tag)).expect("little");
            Ok(draft.allow())
        })
    };
    let engine = engine([
        named("one", writer("1", "X-Tag", 300)),
        named("two", writer("2", "x-TAG", 200)),
        named("silent", support::allowing()),
    ])
    .await;
    let effects = serde_json::to_string(&ask(&engine).await.effects).expect("JSON");
    let expected = r#"{"metadata":{"both":2,"1":0,"2":0},"headers":{"x-TAG":"2","x-mine":"2"},"retry_after_ms":300,"extensions":{},"result":2}"#;
    assert_eq!(effects, expected);
}

#[tokio::test]
async fn effects_are_dropped_on_a_fault_and_kept_on_a_denial() {
    let effects = |draft: &mut Draft| {
        draft.annotate("mark", json("1")).expect("little");
        draft.set_header("X-A", "1").expect("a header");
        draft.set_retry_ms(5);
        draft.set_state("k", Some(json("1"))).expect("little");
        draft.set_shared("k", Some(json("1"))).expect("little");
    };
    let faulting = plugin(move |call| {
        let mut draft = call.draft();
        effects(&mut draft);
        // Refused, and yet it allows: fault `protocol`.
        draft.remove(&at("/name")).expect_err("the shape needs it");
        Ok(draft.allow())
    });
    let one = engine([named("p", faulting)]).await;
    let outcome = ask_in(&one, "r").await;
    assert_eq!(outcome.faults[0].kind, FaultKind::Protocol);
    assert_eq!(outcome.effects, hookgate_core::OutcomeEffects::default());
    assert!(one.requests().is_empty());

    let denying = plugin(move |call| {
        let mut draft = call.draft();
        effects(&mut draft);
        Ok(draft.deny(Violation::new("NO", "no")))
    });
    let other = engine([named("p", denying)]).await;
    let outcome = ask_in(&other, "r").await;
    assert_eq!(marks(&outcome), [("mark", "1")]);
    assert_eq!(
        outcome.effects.headers,
        [("X-A".to_owned(), "1".to_owned())]
    );
    assert_eq!(outcome.effects.retry_after_ms, Some(5));
    assert_eq!(other.requests().len(), 1);
}

#[tokio::test]
async fn headers_are_headers_and_bounded_in_number() {
    let plugin = plugin(|call| {
        let mut draft = call.draft();
        let cases = [
            ("", "a"),
            ("A b", "a"),
            ("A:", "a"),
            ("Ä", "a"),
            ("A", "a\r\nB: c"),
            ("A", "\0"),
            ("A", "\u{7f}"),
        ];
        for (name, value) in cases {
            let refusal = draft.set_header(name, value).expect_err(name);
            assert_eq!(refusal.code, RefusalCode::Invalid);
        }
        for index in 0..1_000 {
            draft
                .set_header(&format!("X-{index}"), "a\tä")
                .expect("a header");
        }
        let refusal = draft.set_header("X", "a").expect_err("one too many");
        assert_eq!(refusal.code, RefusalCode::TooLarge);
        // A refused mark is no refused edit: it may still allow.
        Ok(draft.allow())
    });
    let engine = engine([named("p", plugin)]).await;
    let outcome = ask(&engine).await;
    assert_eq!(
        (outcome.faults.len(), outcome.effects.headers.len()),
        (0, 1_000)
    );
}

#[tokio::test]
async fn marks_results_and_headers_share_the_limit_of_a_payload() {
    let mut limits = config(&[]);
    limits.max_payload_bytes = 100;
    let plugin = plugin(|call| {
        let mut draft = call.draft();
        draft
            .annotate("k", json(&"1".repeat(59)))
            .expect("60 bytes");
        draft.set_header("A", &"b".repeat(29)).expect("30 bytes");
        let refusal = draft.set_result(json("12345678901")).expect_err("11 bytes");
        assert_eq!(refusal.code, RefusalCode::TooLarge);
        draft.set_result(json("1234567890")).expect("10 bytes");
        Ok(draft.allow())
    });
    let builder = Engine::builder()
        .config(limits)
        .in_process(named("p", plugin));
    let engine = builder.build().await.expect("one plugin");
    assert_eq!(ask(&engine).await.effects.result, Some(json("1234567890")));
}

#[tokio::test]
async fn the_state_of_a_request_is_bounded_over_all_its_plugins() {
    let mut limits = config(&[]);
    limits.max_state_bytes = 10;
    let first = marking(|draft| {
        let mut code = |key: &str, value: &str| {
            let result = draft.set_state(key, Some(json(value)));
            result.err().map(|refusal| refusal.code)
        };
        // The key counts as well.
        assert_eq!(code("k", "12345678"), None);
        assert_eq!(code("a", "1"), Some(RefusalCode::TooLarge));
        assert_eq!(code("", "1"), None);
        assert_eq!(code("k", "123456789"), Some(RefusalCode::TooLarge));
        assert_eq!(code("k", "12"), None);
        assert_eq!(code("k", "1234567"), None);
    });
    let second = marking(|draft| {
        let mut code = |key: &str, value: Option<&str>| {
            let result = draft.set_shared(key, value.map(json));
            result.err().map(|refusal| refusal.code)
        };
        // 9 bytes are the first plugin's.
        assert_eq!(code("a", Some("1")), Some(RefusalCode::TooLarge));
        assert_eq!(code("", Some("1")), None);
        assert_eq!(code("", None), None);
        assert_eq!(code("never", None), None);
        assert_eq!(code("", Some("2")), None);
    });
    let builder = Engine::builder()
        .config(limits)
        .in_process(named("first", first))
        .in_process(named("second", second));
    let engine = builder.build().await.expect("two plugins");
    let outcome = ask_in(&engine, "r").await;
    assert_eq!(outcome.faults, [], "{outcome:?}");
}

#[tokio::test]
async fn removing_what_is_not_there_leaves_no_trace() {
    let plugin = plugin(|call| {
        let mut draft = call.draft();
        for key in 0..100 {
            draft
                .set_state(&key.to_string(), Some(json("0")))
                .expect("little");
            draft.set_state(&key.to_string(), None).expect("a removal");
            draft.set_shared(&key.to_string(), None).expect("a removal");
        }
        let answer = draft.allow();
        assert!(answer.effects().state.is_empty() && answer.effects().shared.is_empty());
        Ok(answer)
    });
    let engine = engine([named("p", plugin)]).await;
    assert_eq!(ask_in(&engine, "r").await.faults, []);
    assert!(engine.requests().is_empty());
}

#[tokio::test]
async fn the_store_keeps_the_ten_thousand_requests_used_last() {
    let plugin = marking(|draft| draft.set_state("k", Some(json("0"))).expect("little"));
    let engine = engine([named("p", plugin)]).await;
    for request in 0..10_000 {
        ask_in(&engine, &request.to_string()).await;
    }
    assert_eq!(engine.requests().len(), 10_000);
    assert_eq!(
        marks(&ask_in(&engine, "0").await),
        [("state", "0")],
        "used again"
    );
    assert_eq!(marks(&ask_in(&engine, "one more").await), []);
    assert_eq!(engine.requests().len(), 10_000);
    assert_eq!(marks(&ask_in(&engine, "0").await), [("state", "0")]);
    assert_eq!(marks(&ask_in(&engine, "2").await), [("state", "0")]);
    assert_eq!(
        marks(&ask_in(&engine, "1").await),
        [],
        "the one used longest ago went"
    );
}

#[tokio::test(start_paused = true)]
async fn the_store_forgets_after_ten_minutes_without_use() {
    let plugin = marking(|draft| draft.set_state("k", Some(json("0"))).expect("little"));
    let engine = engine([named("p", plugin)]).await;
    ask_in(&engine, "a").await;
    ask_in(&engine, "b").await;
    tokio::time::advance(Duration::from_secs(599)).await;
    assert_eq!(marks(&ask_in(&engine, "a").await), [("state", "0")]);
    tokio::time::advance(Duration::from_secs(2)).await;
    assert_eq!(marks(&ask_in(&engine, "a").await), [("state", "0")]);
    assert_eq!(engine.requests().len(), 1);
    tokio::time::advance(Duration::from_secs(601)).await;
    assert_eq!(marks(&ask_in(&engine, "a").await), []);
}

#[tokio::test]
async fn a_fault_after_another_plugins_answer_keeps_that_ones_effects() {
    let plugin = marking(|draft| draft.annotate("mark", json("1")).expect("little"));
    let broken = support::plugin(|_| Err(Fault::new(FaultKind::Trap, "broken")));
    let engine = engine([named("p", plugin), named("broken", broken)]).await;
    assert_eq!(marks(&ask(&engine).await), [("mark", "1")]);
}
