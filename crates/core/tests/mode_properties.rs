//! What holds for every set of plugins over the phases, tried on random ones.

mod support;

use std::sync::Arc;
use std::time::Duration;

use futures::FutureExt as _;
use hookgate_core::config::{Mode, OnError};
use hookgate_core::{Decision, Fault, FaultKind, HookCall, InProcess, Json, Outcome, Violation};
use proptest::collection::vec;
use proptest::prelude::*;
use serde_json::Value;
use support::{Answered, Scripted, ask, ask_about, at, json, named, plugin, text, waiting};

/// Failing cases are printed, not kept in a file.
fn cases(cases: u32) -> ProptestConfig {
    ProptestConfig {
        cases,
        failure_persistence: None,
        ..ProptestConfig::default()
    }
}

/// What a plugin says.
#[derive(Debug, Clone, Copy, PartialEq)]
enum Says {
    Allow,
    Ask,
    Deny,
    Fault(OnError),
}

/// A plugin of a random set.
#[derive(Debug, Clone, Copy)]
struct Cast {
    says: Says,
    mode: Mode,
    priority: i32,
}

fn on_errors() -> impl Strategy<Value = OnError> {
    prop_oneof![
        Just(OnError::Fail),
        Just(OnError::Ignore),
        Just(OnError::Disable)
    ]
}

fn says() -> impl Strategy<Value = Says> {
    prop_oneof![
        4 => Just(Says::Allow),
        2 => Just(Says::Ask),
        1 => Just(Says::Deny),
        2 => on_errors().prop_map(Says::Fault),
    ]
}

fn modes() -> impl Strategy<Value = Mode> {
    prop_oneof![
        Just(Mode::Sequential),
        Just(Mode::Transform),
        Just(Mode::Audit),
        Just(Mode::Concurrent),
        Just(Mode::FireAndForget)
    ]
}

fn cast() -> impl Strategy<Value = Cast> {
    (says(), modes(), -2..3).prop_map(|(says, mode, priority)| Cast {
        says,
        mode,
        priority,
    })
}

/// Says it, and leaves marks that tell who was merged when.
fn answer(call: &HookCall, says: Says, name: &str) -> Answered {
    let mut draft = call.draft();
    let mark = || Json::string(name);
    draft.annotate("last", mark()).expect("little");
    draft.annotate(name, mark()).expect("little");
    draft.set_header("X-Last", name).expect("a header");
    draft.set_result(mark()).expect("little");
    let slot = format!(r#"{{"last":"{name}","{name}":1}}"#);
    draft
        .set_extension("custom", json(&slot))
        .expect("anybody's");
    draft.set_shared("last", Some(mark())).expect("little");
    match says {
        Says::Allow => Ok(draft.allow()),
        Says::Ask => Ok(draft.ask(support::approval(name))),
        Says::Deny => Ok(draft.deny(Violation::new("NO", name))),
        Says::Fault(_) => Err(Fault::new(FaultKind::Trap, name)),
    }
}

/// A plugin that says it after a while.
fn delayed(says: Says, name: String, delay_ms: u64) -> Arc<Scripted> {
    waiting(false, move |call| {
        let name = name.clone();
        async move {
            if delay_ms > 0 {
                tokio::time::sleep(Duration::from_millis(delay_ms)).await;
            }
            answer(&call, says, &name)
        }
        .boxed()
    })
}

fn entry(place: usize, cast: Cast, delay_ms: u64) -> InProcess {
    let name = format!("p{place}");
    let on_error = match cast.says {
        Says::Fault(on_error) => on_error,
        _ => OnError::Fail,
    };
    named(&name, delayed(cast.says, name.clone(), delay_ms))
        .mode(cast.mode)
        .priority(cast.priority)
        .on_error(on_error)
}

/// The outcome of a set, in time that passes only when everybody waits.
fn outcome(entries: Vec<InProcess>) -> Outcome {
    let runtime = tokio::runtime::Builder::new_current_thread()
        .enable_all()
        .start_paused(true)
        .build();
    runtime.expect("a runtime").block_on(async {
        let engine = support::engine(entries).await;
        ask(&engine).await
    })
}

fn at_once(set: &[Cast]) -> Outcome {
    let entries = set.iter().enumerate();
    outcome(
        entries
            .map(|(place, cast)| entry(place, *cast, 0))
            .collect(),
    )
}

/// The outcome without what differs from run to run.
fn canonical(outcome: &Outcome) -> Value {
    let mut value = serde_json::to_value(outcome).expect("JSON");
    value.as_object_mut().expect("an object").remove("record");
    value
}

/// What one plugin by itself makes of the decision.
fn counts(cast: &Cast) -> Decision {
    match (cast.says, cast.mode) {
        (_, Mode::FireAndForget) => Decision::Allow,
        (Says::Fault(OnError::Fail), _) => Decision::Deny,
        (Says::Deny, Mode::Sequential | Mode::Concurrent) => Decision::Deny,
        (Says::Ask, Mode::Sequential | Mode::Concurrent) => Decision::Ask,
        _ => Decision::Allow,
    }
}

proptest! {
    #![proptest_config(cases(300))]

    #[test]
    fn the_decision_is_the_strictest_that_counts(set in vec(cast(), 1..8)) {
        let outcome = at_once(&set);
        prop_assert_eq!(Some(outcome.decision), set.iter().map(counts).max());
        prop_assert_eq!(outcome.violation.is_some(), outcome.decision == Decision::Deny);
        prop_assert_eq!(outcome.payload.is_none(), outcome.decision == Decision::Deny);
    }

    #[test]
    fn a_plugin_that_only_denies_never_makes_a_decision_looser(
        set in vec(cast(), 0..7),
        added in cast(),
        says in prop_oneof![Just(Says::Deny), on_errors().prop_map(Says::Fault)],
        place in any::<prop::sample::Index>(),
    ) {
        let before = at_once(&set).decision;
        let added = Cast { says, ..added };
        let mut more = set.clone();
        more.insert(place.index(set.len() + 1), added);
        let after = at_once(&more).decision;
        prop_assert!(after >= before, "{before} became {after}");
        prop_assert!(after >= counts(&added));
    }

    #[test]
    fn a_fault_is_an_allow_only_where_it_is_listed_or_in_the_background(set in vec(cast(), 1..8)) {
        let outcome = at_once(&set);
        let faulty = |cast: &&Cast| matches!(cast.says, Says::Fault(_)) && cast.mode != Mode::FireAndForget;
        if outcome.decision != Decision::Deny {
            prop_assert_eq!(outcome.faults.len(), set.iter().filter(faulty).count());
        }
    }

    #[test]
    fn nothing_depends_on_who_is_done_first(
        set in vec((cast(), 0_u64..50, 0_u64..50), 1..8),
        more_at_once in any::<bool>(),
    ) {
        let run = |which: usize| {
            let entries = set.iter().enumerate().map(|(place, (cast, one, other))| {
                // Half of the sets are mostly of the phase where time can make a difference.
                let mode = match cast.mode {
                    Mode::Transform | Mode::Audit if more_at_once => Mode::Concurrent,
                    mode => mode,
                };
                entry(place, Cast { mode, ..*cast }, [*one, *other][which])
            });
            outcome(entries.collect())
        };
        let (one, other) = (run(0), run(1));
        prop_assert_eq!(one.decision, other.decision);
        if one.decision != Decision::Deny {
            prop_assert_eq!(canonical(&one), canonical(&other));
        }
    }

    #[test]
    fn edits_of_different_members_commute(
        members in vec((any::<bool>(), edit(), 0..3_usize), 1..8),
        modes in (any::<bool>(), any::<bool>()),
    ) {
        let payload = payload(&members);
        let edits = |owner: usize| -> Vec<(usize, Edit)> {
            let own = members.iter().enumerate().filter(|(_, member)| member.2 == owner);
            own.map(|(place, (_, edit, _))| (place, edit.clone())).collect()
        };
        let mode = |transform| if transform { Mode::Transform } else { Mode::Sequential };
        let run = |priorities: [i32; 2]| {
            let first = named("first", editing(edits(0))).mode(mode(modes.0)).priority(priorities[0]);
            let second = named("second", editing(edits(1))).mode(mode(modes.1)).priority(priorities[1]);
            let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build();
            runtime.expect("a runtime").block_on(async {
                let engine = support::engine([first, second]).await;
                ask_about(&engine, &payload).await
            })
        };
        let (one, other) = (run([1, 2]), run([2, 1]));
        prop_assert_eq!(&one.faults, &[]);
        let value = |outcome: &Outcome| serde_json::from_str::<Value>(text(outcome)).expect("JSON");
        prop_assert_eq!(value(&one), value(&other));
        prop_assert_eq!(one.modified, other.modified);
        // The members that are nobody's are as they were.
        let after = value(&one);
        let before: Value = serde_json::from_str(&payload).expect("JSON");
        for (place, _) in members.iter().enumerate().filter(|(_, member)| member.2 == 2) {
            let at = format!("/args/m{place}");
            prop_assert_eq!(after.pointer(&at), before.pointer(&at));
        }
    }
}

/// What is done to one member of the arguments.
#[derive(Debug, Clone)]
enum Edit {
    Set(&'static str),
    SetBelow(&'static str),
    Remove,
}

fn edit() -> impl Strategy<Value = Edit> {
    let value = prop_oneof![
        Just("1.10"),
        Just("null"),
        Just("\"\\u0061\""),
        Just(r#"{"b":[1E2]}"#)
    ];
    prop_oneof![
        value.clone().prop_map(Edit::Set),
        value.prop_map(Edit::SetBelow),
        Just(Edit::Remove)
    ]
}

/// A payload of which some members are there.
fn payload(members: &[(bool, Edit, usize)]) -> String {
    let there = members.iter().enumerate().filter(|(_, member)| member.0);
    let there = there.map(|(place, _)| format!(r#""m{place}": {{"a": {place}.0}}"#));
    let there: Vec<_> = there.collect();
    format!(r#"{{"name":"sh","args":{{{}}}}}"#, there.join(", "))
}

/// Does what fits, and leaves the rest.
fn editing(edits: Vec<(usize, Edit)>) -> Arc<Scripted> {
    plugin(move |call| {
        let mut draft = call.draft();
        for (place, edit) in &edits {
            let member = at(&format!("/args/m{place}"));
            let is_there = call.payload.get(&member).is_some();
            let below = at(&format!("/args/m{place}/a"));
            let done = match edit {
                Edit::Set(value) => draft.set(&member, json(value)),
                Edit::SetBelow(value) if is_there => draft.set(&below, json(value)),
                Edit::Remove if is_there => draft.remove(&member),
                Edit::SetBelow(_) | Edit::Remove => Ok(()),
            };
            done.expect("it fits");
        }
        Ok(draft.allow())
    })
}
