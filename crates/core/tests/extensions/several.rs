//! Several plugins, and what is told of their writes.

use std::sync::{Arc, Mutex};

use hookgate_core::{Capability, ExtensionChanges, InProcess, Json, Violation};

use crate::calls::invoke;
use crate::support;
use crate::support::{HOOK, engine, json, plugin};

/// Writes one slot as a function of what is lent.
fn writing(slot: &'static str, change: fn(&Json) -> String) -> Arc<support::Scripted> {
    plugin(move |call| {
        let mut draft = call.draft();
        let seen = draft
            .extension(slot)
            .expect("granted")
            .unwrap_or_else(Json::object);
        draft
            .set_extension(slot, json(&change(&seen)))
            .expect("granted");
        Ok(draft.allow())
    })
}

#[tokio::test]
async fn a_later_plugin_sees_what_an_earlier_one_wrote_as_far_as_its_grants_go() {
    let writer = writing("security", |_| r#"{"labels": ["a", "b"]}"#.into());
    let reader = plugin(|call| {
        let mut draft = call.draft();
        let seen = draft
            .extension("security")
            .expect("open")
            .unwrap_or_else(Json::null);
        draft.annotate("seen", seen).expect("little");
        Ok(draft.allow())
    });
    for (grants, expected) in [
        (vec![Capability::ReadLabels], r#"{"labels":["a","b"]}"#),
        (vec![], "null"),
    ] {
        let engine = engine([
            InProcess::new("writer", Arc::clone(&writer) as _).data([Capability::AppendLabels]),
            InProcess::new("reader", Arc::clone(&reader) as _).data(grants),
        ])
        .await;
        let outcome = invoke(&engine, HOOK, r#"{"security": {"labels": ["a"]}}"#).await;
        let outcome = outcome.expect("passes the door");
        assert_eq!(outcome.effects.metadata["seen"], json(expected));
        assert_eq!(
            outcome.effects.extensions["security"],
            json(r#"{"labels":["a","b"]}"#)
        );
    }
}

#[tokio::test]
async fn a_change_that_is_undone_is_none() {
    let there = writing("custom", |_| r#"{"a": 2, "b": 1}"#.into());
    let back = writing("custom", |_| r#"{"b": 1, "a": 1}"#.into());
    let engine = engine([InProcess::new("there", there), InProcess::new("back", back)]).await;
    let outcome = invoke(&engine, HOOK, r#"{"custom": {"a": 1, "b": 1}}"#).await;
    assert!(
        outcome
            .expect("passes the door")
            .effects
            .extensions
            .is_empty()
    );
}

#[tokio::test]
async fn a_denial_keeps_what_was_written_and_a_fault_drops_it() {
    let denies = plugin(|call| {
        let mut draft = call.draft();
        draft
            .set_extension("custom", json(r#"{"a": 1}"#))
            .expect("open");
        Ok(draft.deny(Violation::new("NO", "no")))
    });
    let one = engine([InProcess::new("p", denies)]).await;
    let outcome = invoke(&one, HOOK, "{}").await.expect("passes the door");
    assert_eq!(outcome.effects.extensions["custom"], json(r#"{"a":1}"#));
    let faults = plugin(|call| {
        let mut draft = call.draft();
        draft
            .set_extension("custom", json(r#"{"a": 1}"#))
            .expect("open");
        draft
            .remove(&support::at("/name"))
            .expect_err("the shape needs it");
        Ok(draft.allow())
    });
    let other = engine([InProcess::new("p", faults)]).await;
    let outcome = invoke(&other, HOOK, "{}").await.expect("passes the door");
    assert!(outcome.effects.extensions.is_empty());
}

#[tokio::test]
async fn an_answer_says_which_slots_it_changes() {
    let changed = Arc::new(Mutex::new(Vec::new()));
    let told = Arc::clone(&changed);
    let writes = plugin(move |call| {
        let mut draft = call.draft();
        draft
            .set_extension("custom", json(r#"{"a": 1}"#))
            .expect("open");
        let answer = draft.allow();
        let changes: &ExtensionChanges = &answer.effects().extensions;
        assert!(!changes.is_empty());
        told.lock().expect("no panic").extend(changes.slots());
        Ok(answer)
    });
    let engine = engine([InProcess::new("p", writes)]).await;
    invoke(&engine, HOOK, "{}").await.expect("passes the door");
    assert_eq!(*changed.lock().expect("no panic"), ["custom"]);
}
