//! What plugins at once leave behind merges in the order of the configuration, whoever is done first.

use futures::FutureExt as _;
use hookgate_core::config::Mode;
use hookgate_core::{Draft, HookCall, Json, Outcome, RefusalCode, Violation};
use serde_json::{Value, json};
use tokio::sync::mpsc;

use super::cast::{ask_in, next, on_cue, recorded};
use crate::support::{self, Answered, Scripted, named, plugin};

/// An answer whose every effect says whose it is.
fn leaves(call: &HookCall, tag: &str) -> Answered {
    let mut draft = call.draft();
    let value = || support::json(tag);
    draft.annotate("both", value()).expect("little");
    draft.annotate(tag, value()).expect("little");
    draft.set_header("X-Both", tag).expect("a header");
    draft.set_result(value()).expect("little");
    draft.set_retry_ms(10 - tag.parse::<u32>().expect("a number"));
    draft.set_shared("both", Some(value())).expect("little");
    draft
        .set_request_metadata("both", Some(value()))
        .expect("little");
    let violation = Violation::new(tag, "no");
    Ok(draft.ask(support::approval(tag)).with_suppressed(violation))
}

/// Says what later plugins find in the state of the request.
fn looking() -> (std::sync::Arc<Scripted>, mpsc::UnboundedReceiver<Value>) {
    let (tell, told) = mpsc::unbounded_channel();
    let looks = plugin(move |call| {
        let text = |value: Option<&Json>| value.map(|value| value.as_str().to_owned());
        let shared = text(call.request.shared().get("both"));
        let metadata = text(call.request.metadata().get("both"));
        tell.send(json!([shared, metadata]))
            .expect("the test looks");
        Ok(call.draft().allow())
    });
    (looks, told)
}

/// The outcome without what differs from run to run, and the state the request is left with.
async fn merged(one_is_done_first: bool) -> (Value, Value) {
    let (one, one_cue) = on_cue(|call| leaves(&call, "1"));
    let (two, two_cue) = on_cue(|call| leaves(&call, "2"));
    let (looks, mut told) = looking();
    let (engine, _) = recorded([
        // The priorities are the other way round: they say who begins.
        named("one", one).mode(Mode::Concurrent).priority(7),
        named("two", two).mode(Mode::Concurrent).priority(3),
        named("looks", looks).mode(Mode::FireAndForget),
    ])
    .await;
    let mut asked = Box::pin(ask_in(&engine, "r"));
    assert!((&mut asked).now_or_never().is_none(), "both wait");
    let (first, second) = match one_is_done_first {
        true => (one_cue, two_cue),
        false => (two_cue, one_cue),
    };
    first.give();
    assert!((&mut asked).now_or_never().is_none(), "the other waits");
    second.give();
    let outcome = asked.await;
    (canonical(&outcome), next(&mut told).await)
}

fn canonical(outcome: &Outcome) -> Value {
    let mut value = serde_json::to_value(outcome).expect("JSON");
    value.as_object_mut().expect("an object").remove("record");
    value
}

#[tokio::test]
async fn the_order_of_completion_is_nowhere_to_be_seen() {
    // printf '%s' '{"name":"sh","args":{"cmd":"ls"}}' | sha256sum
    let digest = "0a499402ffd249d37b1e3ec8b15ce55ee34d10f006f3e06c070f652a95702fef";
    let approval = |plugin: &str, reason: &str| json!({"plugin": plugin, "reason": reason, "risk": "medium", "details": {}, "payload_sha256": digest});
    let suppressed = |plugin: &str, code: &str| {
        json!({"plugin": plugin, "mode": "concurrent", "verdict": "ask", "violation": {
            "plugin": plugin, "code": code, "reason": "no", "description": "", "details": {},
            "mcp_error_code": null, "http_status_code": null, "http_headers": {}}})
    };
    let expected = json!({
        "decision": "ask", "payload": {"name": "sh", "args": {"cmd": "ls"}}, "modified": false, "violation": null,
        "approvals": [approval("one", "1"), approval("two", "2")],
        "suppressed": [suppressed("one", "1"), suppressed("two", "2")],
        "faults": [],
        "effects": {"metadata": {"both": 2, "1": 1, "2": 2}, "headers": {"X-Both": "2"}, "retry_after_ms": 9,
            "extensions": {}, "result": 2},
    });
    for one_is_done_first in [true, false] {
        let (outcome, state) = merged(one_is_done_first).await;
        assert_eq!(outcome, expected, "{one_is_done_first}");
        assert_eq!(state, json!(["2", "2"]), "{one_is_done_first}");
    }
}

#[tokio::test]
async fn slots_two_plugins_write_merge_in_that_order_too() {
    let mut found = Vec::new();
    for one_is_done_first in [true, false] {
        let writes = |tag: &'static str| {
            on_cue(move |call| {
                let mut draft = call.draft();
                let slot = format!(r#"{{"both":{tag}}}"#);
                let slot = support::json(&slot);
                draft.set_extension("custom", slot).expect("anybody's");
                Ok(draft.allow())
            })
        };
        let ((one, one_cue), (two, two_cue)) = (writes("1"), writes("2"));
        let (engine, _) = recorded([
            named("one", one).mode(Mode::Concurrent),
            named("two", two).mode(Mode::Concurrent),
        ])
        .await;
        let mut asked = Box::pin(ask_in(&engine, "r"));
        assert!((&mut asked).now_or_never().is_none(), "both wait");
        let (first, second) = match one_is_done_first {
            true => (one_cue, two_cue),
            false => (two_cue, one_cue),
        };
        first.give();
        assert!((&mut asked).now_or_never().is_none(), "the other waits");
        second.give();
        let extensions = asked.await.effects.extensions;
        found.push(serde_json::to_value(&extensions).expect("JSON"));
    }
    let expected = json!({"custom": {"both": 2}});
    assert_eq!(found, [expected.clone(), expected]);
}

#[tokio::test]
async fn effects_of_one_phase_are_seen_by_the_next_but_not_by_an_audits_neighbour() {
    let seen = |mode| {
        let writes = plugin(|call| leaves(&call, "1"));
        let slot = plugin(|call| {
            let mut draft = call.draft();
            let slot = support::json(r#"{"a":1}"#);
            draft.set_extension("custom", slot).expect("anybody's");
            Ok(draft.allow())
        });
        let (tell, mut told) = mpsc::unbounded_channel();
        let looks = plugin(move |call| {
            let shared = call.request.shared().contains_key("both");
            let slot = call.extensions.get("custom").is_some();
            tell.send((shared, slot)).expect("the test looks");
            Ok(call.draft().allow())
        });
        async move {
            let (engine, _) = recorded([
                named("writes", writes).mode(mode),
                named("slot", slot).mode(mode),
                named("looks", looks).mode(mode).priority(200),
            ])
            .await;
            ask_in(&engine, "r").await;
            next(&mut told).await
        }
    };
    assert_eq!(seen(Mode::Sequential).await, (true, true));
    assert_eq!(seen(Mode::Transform).await, (true, true));
    assert_eq!(seen(Mode::Audit).await, (false, false));
    assert_eq!(seen(Mode::Concurrent).await, (false, false));
    assert_eq!(seen(Mode::FireAndForget).await, (false, false));
}

#[tokio::test]
async fn state_that_is_too_much_together_is_dropped_in_that_order_and_recorded() {
    let writes = |bytes: usize| {
        plugin(move |call| {
            let mut draft = call.draft();
            let value = Json::string(&"x".repeat(bytes));
            draft.set_state("k", Some(value)).expect("within the limit");
            mark(&mut draft);
            Ok(draft.allow())
        })
    };
    let mut limits = support::config(&[]);
    limits.max_state_bytes = 100;
    let records = std::sync::Arc::new(support::Kept::default());
    let plugins = [("a", 60), ("b", 60), ("c", 20)];
    let engine = plugins
        .into_iter()
        .fold(
            hookgate_core::Engine::builder().config(limits),
            |builder, (name, bytes)| {
                builder.in_process(named(name, writes(bytes)).mode(Mode::Concurrent))
            },
        )
        .records(records.clone())
        .build()
        .await
        .expect("the names differ");
    // Each is within the limit by itself: 63, 63 and 23 bytes with key and quotes.
    let outcome = ask_in(&engine, "r").await;
    assert_eq!(outcome.faults, []);
    assert_eq!(
        outcome.effects.metadata.len(),
        1,
        "only the state is dropped"
    );
    let record = records.take().remove(0);
    let refused = |place: usize| {
        let refused = record.plugins[place].refused.iter();
        let refused = refused.map(|one| (one.what, one.code, one.count));
        refused.collect::<Vec<_>>()
    };
    assert_eq!((refused(0), refused(2)), (vec![], vec![]));
    assert_eq!(refused(1), [("state", RefusalCode::TooLarge, 1)]);
}

fn mark(draft: &mut Draft) {
    draft.annotate("mark", support::json("1")).expect("little");
}
