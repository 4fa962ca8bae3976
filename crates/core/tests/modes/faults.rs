//! A fault in every mode, under every `on_error`: never an allow that nobody notices.

use std::time::{Duration, Instant};

use futures::FutureExt as _;
use hookgate_core::config::{Mode, OnError};
use hookgate_core::{Draft, Fault, FaultKind, HookCall, Violation};
use tokio::sync::mpsc;

use super::cast::{MODES, recorded};
use super::cells::{every_effect, mode_named, rows, seen};
use crate::support::{Answered, HOOK, approval, ask, at, json, named, waiting};

/// A timeout that is over at once.
const SHORT: Duration = Duration::from_millis(2);

/// What a fault of kind `{}` comes to. Whatever the plugin wanted to change or leave is nowhere.
const CELLS: &str = "
sequential      | fail    | deny plugin_fault; faults {}; stops; told ls; says {}
sequential      | ignore  | allow; faults {}; told ls; says {}
sequential      | disable | allow; faults {}; told ls; says {}; off
transform       | fail    | deny plugin_fault; faults {}; stops; told ls; says {}
transform       | ignore  | allow; faults {}; told ls; says {}
transform       | disable | allow; faults {}; told ls; says {}; off
audit           | fail    | deny plugin_fault; faults {}; stops; told ls; says {}
audit           | ignore  | allow; faults {}; told ls; says {}
audit           | disable | allow; faults {}; told ls; says {}; off
concurrent      | fail    | deny plugin_fault; faults {}; told ls; says {}
concurrent      | ignore  | allow; faults {}; told ls; says {}
concurrent      | disable | allow; faults {}; told ls; says {}; off
fire_and_forget | fail    | allow; told ls; says background; then {}
fire_and_forget | ignore  | allow; told ls; says background; then {}
fire_and_forget | disable | allow; told ls; says background; then {}; off
";

/// How a plugin fails to answer, and the fault that is.
const WAYS: &[(&str, FaultKind)] = &[
    ("error", FaultKind::OutOfMemory),
    ("panic", FaultKind::PluginError),
    ("panic while waiting", FaultKind::PluginError),
    ("silence", FaultKind::Timeout),
    ("late allow", FaultKind::Timeout),
    ("late deny", FaultKind::Timeout),
    ("refused edit, then allow", FaultKind::Protocol),
    ("refused edit, then ask", FaultKind::Protocol),
    ("violation that is none", FaultKind::PluginError),
    ("suppressed violation that is none", FaultKind::PluginError),
    ("approval that is none", FaultKind::PluginError),
];

#[tokio::test]
async fn every_fault_does_in_every_mode_what_on_error_says() {
    for [mode, on_error, expected] in rows(CELLS) {
        let mode = mode_named(mode);
        let on_error: OnError = serde_json::from_value(on_error.into()).expect("one of three");
        for (way, kind) in WAYS {
            let (kept, mut keeps) = mpsc::unbounded_channel();
            let faulty = waiting(false, move |call| {
                if &*call.hook == "probe" {
                    let state = call.request.private().len()
                        + call.request.shared().len()
                        + call.request.metadata().len();
                    kept.send(vec!["something"; state]).expect("the test waits");
                    return Box::pin(async move { Ok(call.draft().allow()) });
                }
                fails(call, way)
            });
            let entry = named("p", faulty).hooks([HOOK, "probe"]).timeout(time(way));
            let entry = entry.mode(mode).on_error(on_error);
            let found = seen(entry, mode, &mut keeps).await;
            let expected = expected.replace("{}", kind.as_str());
            assert_eq!(found, expected, "{mode}, on_error: {on_error}, {way}");
        }
    }
}

#[test]
fn every_mode_is_there_under_every_on_error() {
    let mut cells: Vec<_> = rows(CELLS)
        .map(|[mode, on_error, _]| (mode, on_error))
        .collect();
    cells.sort_unstable();
    cells.dedup();
    assert_eq!(cells.len(), MODES.len() * 3);
}

#[tokio::test]
async fn the_violation_of_a_fault_says_which_fault_in_every_mode_that_can_deny() {
    for mode in MODES
        .into_iter()
        .filter(|mode| *mode != Mode::FireAndForget)
    {
        let broken = crate::support::faulting(FaultKind::Trap);
        let (engine, _) = recorded([named("p", broken).mode(mode)]).await;
        let violation = ask(&engine).await.violation.expect("a denial");
        let expected = Violation {
            plugin: Some("p".into()),
            details: json(r#"{"fault":"trap"}"#),
            ..Violation::new("plugin_fault", "plugin fault")
        };
        assert_eq!(violation, expected, "{mode}");
    }
}

#[tokio::test]
async fn late_answers_are_dropped_and_counted_in_every_mode() {
    for mode in MODES {
        let late = waiting(false, |call| fails(call, "late allow"));
        let entry = named("p", late).mode(mode).on_error(OnError::Ignore);
        let (engine, records) = recorded([entry.timeout(SHORT)]).await;
        for count in 1..3 {
            ask(&engine).await;
            let background = usize::from(mode == Mode::FireAndForget);
            let records = records.wait(1 + background).await;
            let part = &records[background].plugins[0];
            assert_eq!(
                (part.verdict, part.fault),
                (None, Some(FaultKind::Timeout)),
                "{mode}"
            );
            assert_eq!(engine.plugins()[0].info.late_answers, count, "{mode}");
        }
    }
}

#[tokio::test]
async fn a_plugin_that_was_switched_off_is_not_asked_in_any_mode() {
    for mode in MODES {
        let broken = crate::support::faulting(FaultKind::Trap);
        let entry = named("p", broken.clone())
            .mode(mode)
            .on_error(OnError::Disable);
        let (engine, records) = recorded([entry]).await;
        let background = usize::from(mode == Mode::FireAndForget);
        ask(&engine).await;
        records.wait(1 + background).await;
        ask(&engine).await;
        let records_then = records.wait(1).await;
        assert_eq!(
            (broken.calls(), records_then[0].plugins.len()),
            (1, 0),
            "{mode}"
        );
        assert!(engine.enable("p"));
        ask(&engine).await;
        records.wait(1 + background).await;
        assert_eq!(broken.calls(), 2, "{mode}");
    }
}

fn time(way: &str) -> Duration {
    match way {
        "silence" | "late allow" | "late deny" => SHORT,
        _ => Duration::from_secs(3_600),
    }
}

/// Wants to change and leave all it can, and does not answer.
fn fails(call: HookCall, way: &'static str) -> futures::future::BoxFuture<'static, Answered> {
    let mut draft = call.draft();
    every_effect(&mut draft);
    draft
        .set(&at("/args/cmd"), json("\"ls!\""))
        .expect("a member");
    let refused = |mut draft: Draft| {
        draft.remove(&at("/name")).expect_err("the shape needs it");
        draft
    };
    let broken = Violation {
        details: json("[]"),
        ..Violation::new("NO", "no")
    };
    let answered = match way {
        "error" => Err(Fault::new(FaultKind::OutOfMemory, "broken")),
        "panic" => panic!("on purpose"),
        "panic while waiting" => return async { panic!("{}", "on purpose") }.boxed(),
        "silence" => return futures::future::pending().boxed(),
        "late allow" => {
            outlast(call.deadline);
            Ok(draft.allow())
        }
        "late deny" => {
            outlast(call.deadline);
            Ok(draft.deny(Violation::new("NO", "no")))
        }
        "refused edit, then allow" => Ok(refused(draft).allow()),
        "refused edit, then ask" => Ok(refused(draft).ask(approval("?"))),
        "violation that is none" => Ok(draft.deny(broken)),
        "suppressed violation that is none" => Ok(draft.allow().with_suppressed(broken)),
        "approval that is none" => {
            let mut approval = approval("?");
            approval.details = json("null");
            Ok(draft.ask(approval))
        }
        other => panic!("{other}"),
    };
    async move { answered }.boxed()
}

/// Blocks until the deadline is behind it.
fn outlast(deadline: Instant) {
    while Instant::now() <= deadline {
        std::hint::spin_loop();
    }
}
