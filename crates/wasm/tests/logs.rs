//! What a guest prints and logs: lines that say whose call they belong to, within a budget.

mod lines;
mod outside;

use hookgate_core::FaultKind;
use hookgate_core::config::defaults::LOG_BYTES_PER_CALL;
use outside::{Plugin, net_client};
use serde_json::{Map, Value, json};

async fn named(name: &str) -> Plugin {
    net_client()
        .with(|spec| spec.name = name.into())
        .plugin()
        .await
}

/// One event, by its members.
fn event(plugin: &str, more: Value) -> Map<String, Value> {
    let mut event = json!({ "plugin": plugin, "hook": "tool_pre_invoke", "request": "r1" });
    for (key, value) in more.as_object().into_iter().flatten() {
        event[key] = value.clone();
    }
    event.as_object().cloned().unwrap_or_default()
}

#[tokio::test]
async fn lines_belong_to_a_call() {
    let lines = lines::capture();
    let plugin = named("printer").await;
    for order in [
        json!({ "do": "print", "text": "one\ntwo" }),
        json!({ "do": "print-err", "text": "three\n" }),
        json!({ "do": "log", "text": "four" }),
    ] {
        plugin.ask(order).await;
    }
    let expected = [
        json!({ "message": "one", "stream": "stdout" }),
        // A line that the call did not finish.
        json!({ "message": "two", "stream": "stdout" }),
        json!({ "message": "three", "stream": "stderr" }),
        json!({ "message": "four", "fields": "{}" }),
    ];
    assert_eq!(
        lines.of("printer"),
        expected.map(|more| event("printer", more))
    );
}

#[tokio::test]
async fn what_init_prints_is_of_no_call() {
    let lines = lines::capture();
    let plugin = net_client()
        .with(|spec| spec.name = "early".into())
        .init(json!({ "do": "print", "text": "hello" }))
        .plugin()
        .await;
    plugin.answers().await;
    let said = lines.of("early");
    assert!(!said.is_empty());
    for event in said {
        assert_eq!(
            (&event["hook"], &event["request"]),
            (&json!("init"), &json!(""))
        );
    }
}

/// A line without an end costs as much as one with it, and each call has the whole budget.
#[tokio::test]
async fn an_unfinished_line_is_bounded() {
    let plugin = named("endless").await;
    let most = usize::try_from(LOG_BYTES_PER_CALL).expect("64 bits");
    for _ in 0..2 {
        let order = json!({ "do": "print", "text": "x".repeat(most) });
        assert_eq!(plugin.ask(order).await, json!({}));
        let order = json!({ "do": "print", "text": "x".repeat(most + 1) });
        let outcome = plugin.invoke(order).await;
        assert_eq!(outcome.faults[0].kind, FaultKind::ResourceLimit);
    }
    plugin.answers().await;
}
