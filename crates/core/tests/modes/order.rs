//! Phases in their order, and plugins in theirs.

use std::sync::{Arc, Mutex};

use hookgate_core::config::Mode;
use hookgate_core::{Condition, Decision, InProcess};

use super::cast::{MODES, recorded};
use crate::support::{allowing, ask, ask_about, at, named, plugin, tagging, text};

/// Plugins that take down their names when they are asked.
#[derive(Default)]
struct Asked(Arc<Mutex<Vec<&'static str>>>);

impl Asked {
    fn plugin(&self, name: &'static str, mode: Mode) -> InProcess {
        let asked = Arc::clone(&self.0);
        let takes = plugin(move |call| {
            asked.lock().expect("no panic").push(name);
            Ok(call.draft().allow())
        });
        named(name, takes).mode(mode)
    }

    fn take(&self) -> Vec<&'static str> {
        std::mem::take(&mut *self.0.lock().expect("no panic"))
    }
}

#[tokio::test]
async fn phases_come_in_their_order_whatever_the_configuration_and_the_priorities() {
    let asked = Asked::default();
    let (engine, records) = recorded([
        asked.plugin("told", Mode::FireAndForget).priority(1),
        asked.plugin("at once", Mode::Concurrent).priority(2),
        asked.plugin("looks", Mode::Audit).priority(3),
        asked.plugin("changes", Mode::Transform).priority(4),
        asked.plugin("first", Mode::Sequential).priority(5),
    ])
    .await;
    ask(&engine).await;
    let records = records.wait(2).await;
    let order = ["first", "changes", "looks", "at once", "told"];
    assert_eq!(asked.take(), order);
    let listed: Vec<_> = records[0].plugins.iter().map(|part| &*part.name).collect();
    assert_eq!(listed, order);
}

#[tokio::test]
async fn inside_a_phase_priority_counts_and_then_the_order_of_the_configuration() {
    for mode in MODES {
        let asked = Asked::default();
        let (engine, records) = recorded([
            asked.plugin("d", mode),
            asked.plugin("b", mode).priority(5),
            asked.plugin("c", mode).priority(5),
            asked.plugin("a", mode).priority(-7),
        ])
        .await;
        ask(&engine).await;
        records
            .wait(if mode == Mode::FireAndForget { 5 } else { 1 })
            .await;
        assert_eq!(asked.take(), ["a", "b", "c", "d"], "{mode}");
    }
}

#[tokio::test]
async fn what_a_phase_sees_is_what_the_ones_before_made() {
    let seen = Arc::new(Mutex::new(Vec::new()));
    let looks = |name: &'static str, mode| {
        let seen = Arc::clone(&seen);
        let looks = plugin(move |call| {
            let cmd = call.payload.get_string(&at("/args/cmd"));
            let cmd = cmd.expect("a string").into_owned();
            seen.lock().expect("no panic").push((name, cmd));
            Ok(call.draft().allow())
        });
        named(name, looks).mode(mode).priority(200)
    };
    let (engine, records) = recorded([
        named("one", tagging("1")),
        looks("sequential", Mode::Sequential),
        named("two", tagging("2")).mode(Mode::Transform),
        looks("transform", Mode::Transform),
        named("not", tagging("3")).mode(Mode::Audit),
        looks("audit", Mode::Audit),
        named("nor", tagging("4")).mode(Mode::Concurrent),
        looks("concurrent", Mode::Concurrent),
        looks("background", Mode::FireAndForget),
    ])
    .await;
    let outcome = ask(&engine).await;
    let records = records.wait(2).await;
    assert_eq!(text(&outcome), r#"{"name":"sh","args":{"cmd":"ls12"}}"#);
    let seen = std::mem::take(&mut *seen.lock().expect("no panic"));
    let seen: Vec<_> = seen.iter().map(|(name, cmd)| (*name, &**cmd)).collect();
    let expected = [
        ("sequential", "ls1"),
        ("transform", "ls12"),
        ("audit", "ls12"),
        ("concurrent", "ls12"),
        ("background", "ls12"),
    ];
    assert_eq!(seen, expected);
    // Also what did not count is listed, by place and size alone.
    let edits = records[0]
        .plugins
        .iter()
        .filter(|part| !part.edits.is_empty());
    let edits: Vec<_> = edits
        .map(|part| (&*part.name, part.edits[0].bytes))
        .collect();
    assert_eq!(edits, [("one", 5), ("two", 6), ("not", 7), ("nor", 7)]);
}

#[tokio::test]
async fn a_plugin_whose_conditions_do_not_hold_is_not_asked_in_any_mode() {
    for mode in MODES {
        let asked = allowing();
        let mut condition = Condition::default();
        condition.tools.insert("sh".into());
        let entry = named("p", asked.clone()).mode(mode).conditions([condition]);
        let (engine, records) = recorded([entry]).await;
        let outcome = ask_about(&engine, r#"{"name":"other"}"#).await;
        let listed = records.wait(1).await;
        // Somebody listens all the same: an allow, with a record that names nobody.
        assert_eq!(outcome.decision, Decision::Allow, "{mode}");
        assert_eq!(outcome.record.as_ref(), Some(&listed[0].id), "{mode}");
        assert_eq!((listed[0].plugins.len(), asked.calls()), (0, 0), "{mode}");
        ask(&engine).await;
        records
            .wait(if mode == Mode::FireAndForget { 2 } else { 1 })
            .await;
        assert_eq!(asked.calls(), 1, "{mode}");
    }
}

#[tokio::test]
async fn conditions_look_at_the_call_as_it_arrived_in_every_phase() {
    for mode in MODES {
        let renames = plugin(|call| {
            let mut draft = call.draft();
            let other = crate::support::json("\"other\"");
            draft.set(&at("/name"), other).expect("a string");
            Ok(draft.allow())
        });
        let asked = allowing();
        let mut condition = Condition::default();
        condition.tools.insert("sh".into());
        let (engine, records) = recorded([
            named("renames", renames),
            named("p", asked.clone())
                .mode(mode)
                .priority(200)
                .conditions([condition]),
        ])
        .await;
        ask(&engine).await;
        records
            .wait(if mode == Mode::FireAndForget { 2 } else { 1 })
            .await;
        assert_eq!(asked.calls(), 1, "{mode}");
    }
}
