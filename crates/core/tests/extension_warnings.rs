//! What a request brings that no grant is known for is said. Alone in its binary: which subscriber a
//! place in the code speaks to is remembered by the whole process.

mod support;

use std::sync::{Arc, Mutex};

use hookgate_core::{InProcess, Request};
use support::{HOOK, PAYLOAD, engine, json};

/// Counts warnings by the words they hold.
struct Warnings(Mutex<Vec<String>>);

impl tracing::Subscriber for Warnings {
    fn enabled(&self, metadata: &tracing::Metadata<'_>) -> bool {
        *metadata.level() == tracing::Level::WARN
    }

    fn new_span(&self, _: &tracing::span::Attributes<'_>) -> tracing::span::Id {
        tracing::span::Id::from_u64(1)
    }

    fn record(&self, _: &tracing::span::Id, _: &tracing::span::Record<'_>) {}

    fn record_follows_from(&self, _: &tracing::span::Id, _: &tracing::span::Id) {}

    fn event(&self, event: &tracing::Event<'_>) {
        struct Message(String);
        impl tracing::field::Visit for Message {
            fn record_debug(&mut self, field: &tracing::field::Field, value: &dyn std::fmt::Debug) {
                if field.name() == "message" {
                    self.0 = format!("{value:?}");
                }
            }
        }
        let mut message = Message(String::new());
        event.record(&mut message);
        self.0.lock().expect("no panic").push(message.0);
    }

    fn enter(&self, _: &tracing::span::Id) {}

    fn exit(&self, _: &tracing::span::Id) {}
}

#[tokio::test]
async fn what_no_grant_is_known_for_is_said_once_a_call() {
    let warnings = Arc::new(Warnings(Mutex::default()));
    support::hear_logs();
    let _guard = tracing::subscriber::set_default(Arc::clone(&warnings));
    let engine = engine([
        InProcess::new("one", support::allowing()),
        InProcess::new("two", support::allowing()),
    ])
    .await;
    let request = |extensions: &str| Request {
        extensions: Some(json(extensions)),
        ..Request::default()
    };
    let unknown = r#"{
        "unheard_of": {"a": 1}, "http": {"headers": {}, "raw": ["a"]},
        "security": {"odd": 1, "subject": {"id": "u1", "odd": 1}}
    }"#;
    let asked = engine.invoke(HOOK, PAYLOAD, &request(unknown)).await;
    asked.expect("passes the door");
    let said = std::mem::take(&mut *warnings.0.lock().expect("no panic"));
    let [said] = &said[..] else {
        panic!("not one warning: {said:?}");
    };
    for name in [
        "\"unheard_of\"",
        "\"http.raw\"",
        "\"security.odd\"",
        "\"security.subject.odd\"",
        "custom",
    ] {
        assert!(said.contains(name), "no {name} in {said}");
    }
    let known = r#"{"custom": {"a": 1}, "security": {"labels": []}}"#;
    let asked = engine.invoke(HOOK, PAYLOAD, &request(known)).await;
    asked.expect("passes the door");
    assert!(warnings.0.lock().expect("no panic").is_empty());
}
