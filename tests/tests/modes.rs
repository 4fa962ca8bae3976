//! What an outcome cannot show of the modes: the background, what is cancelled, what is recorded, what comes late.
//!
//! Each scenario runs on components, on legacy classes in workers, and on trait objects of this process.

#[path = "modes/stage.rs"]
mod stage;

use hookgate::{Decision, FaultKind, Outcome, RecordedVerdict};
use hookgate_vectors::Kind;
use serde_json::{Value, json};
use stage::{SOON, Stage, part, plugin};

fn deny() -> Value {
    json!({ "op": "deny", "violation": { "code": "NO", "reason": "no", "description": "" } })
}

fn fail() -> Value {
    json!({ "op": "fail", "message": "broken on purpose" })
}

fn hang() -> Value {
    json!({ "op": "hang" })
}

fn set(value: &str) -> Value {
    json!({ "op": "set", "at": "/args/q", "value": value })
}

/// Who denied, and with which code.
fn denied(outcome: &Outcome) -> (&str, &str) {
    assert_eq!(outcome.decision, Decision::Deny, "{outcome:?}");
    let violation = outcome.violation.as_ref().expect("a denial has one");
    let plugin = violation.plugin.as_deref();
    (plugin.expect("a plugin denied"), &violation.code)
}

/// A test on each host for each scenario.
macro_rules! on_every_host {
    ($($scenario:ident)+) => {$(
        mod $scenario {
            use hookgate_vectors::Kind;

            #[tokio::test(flavor = "multi_thread")]
            async fn component() {
                super::$scenario(Kind::Rust).await;
            }

            #[tokio::test(flavor = "multi_thread")]
            async fn legacy_class() {
                super::$scenario(Kind::Legacy).await;
            }

            #[tokio::test(flavor = "multi_thread")]
            async fn in_this_process() {
                super::$scenario(Kind::InProcess).await;
            }
        }
    )+};
}

on_every_host! {
    the_background_is_told_of_a_denial
    the_background_sees_the_final_payload
    the_background_leaves_no_state
    a_fault_in_the_background_disables
    a_shutdown_waits_for_the_background
    a_shutdown_gives_up_on_an_endless_background
    a_denial_cancels_its_siblings
    a_fault_cancels_its_siblings
    denials_at_once_are_all_listed
    edits_that_do_not_count_are_listed
}

async fn the_background_is_told_of_a_denial(kind: Kind) {
    let plugins = [
        plugin("watch", "fire_and_forget", json!({})),
        plugin("first", "sequential", json!({})),
        plugin("gate", "concurrent", json!({})),
    ];
    let mut stage = Stage::new(kind, &plugins).await;
    for denying in ["first", "gate"] {
        let watch = [json!({ "op": "annotate", "key": "w", "value": 1 }), deny()];
        let outcome = stage
            .ask(json!({ denying: [deny()], "watch": watch }))
            .await;
        assert_eq!(denied(&outcome), (denying, "NO"));
        assert!(outcome.effects.metadata.is_empty(), "{outcome:?}");
        let (first, told) = stage.told(&outcome).await;
        assert_eq!(first.decision, Decision::Deny);
        assert_eq!(
            part(&first, "watch").verdict,
            Some(RecordedVerdict::Background)
        );
        assert_eq!(
            (&*told.name, told.verdict, told.code.as_deref()),
            ("watch", Some(RecordedVerdict::Deny), Some("NO"))
        );
    }
    assert!(stage.shutdown().await.is_empty());
}

async fn the_background_sees_the_final_payload(kind: Kind) {
    let plugins = [
        plugin("watch", "fire_and_forget", json!({})),
        plugin("gate", "concurrent", json!({})),
        plugin("first", "sequential", json!({})),
    ];
    let mut stage = Stage::new(kind, &plugins).await;
    // Nothing is there to copy but in the payload as `first` leaves it; without it the plugin fails.
    let adds = json!({ "op": "set", "at": "/args/new", "value": "x" });
    let copies = json!({ "op": "copy", "from": "/args/new", "at": "/args/q" });
    for gate in [json!([]), json!([deny()])] {
        let outcome = stage
            .ask(json!({ "first": [adds], "gate": gate, "watch": [copies] }))
            .await;
        let (_, told) = stage.told(&outcome).await;
        assert_eq!(
            (told.verdict, told.fault, told.edits.len()),
            (Some(RecordedVerdict::Allow), None, 1),
            "{told:?}"
        );
    }
    assert!(stage.shutdown().await.is_empty());
}

async fn the_background_leaves_no_state(kind: Kind) {
    let plugins = [
        plugin("watch", "fire_and_forget", json!({})),
        plugin("first", "sequential", json!({})),
    ];
    let mut stage = Stage::new(kind, &plugins).await;
    let writes = json!({ "op": "shared", "key": "k", "value": 1 });
    let outcome = stage.ask_in("r", json!({ "watch": [writes] })).await;
    let (_, told) = stage.told(&outcome).await;
    assert_eq!(told.verdict, Some(RecordedVerdict::Allow));
    let reads = json!({ "op": "annotate_shared", "key": "k", "from": "k" });
    let outcome = stage.ask_in("r", json!({ "first": [reads] })).await;
    let found = outcome
        .effects
        .metadata
        .get("k")
        .map(|value| value.as_str());
    assert_eq!(found, Some("null"));
    stage.shutdown().await;
}

async fn a_fault_in_the_background_disables(kind: Kind) {
    let plugins = [
        plugin("watch", "fire_and_forget", json!({ "on_error": "disable" })),
        plugin("first", "sequential", json!({})),
    ];
    let mut stage = Stage::new(kind, &plugins).await;
    let disabled = |stage: &Stage| {
        let plugins = stage.engine.plugins();
        let watch = plugins.iter().find(|plugin| plugin.name == "watch");
        watch.expect("it is there").disabled
    };
    let outcome = stage.ask(json!({ "watch": [fail()] })).await;
    assert_eq!(
        (outcome.decision, outcome.faults.len()),
        (Decision::Allow, 0)
    );
    let (_, told) = stage.told(&outcome).await;
    assert_eq!(
        (told.verdict, told.fault),
        (None, Some(FaultKind::PluginError))
    );
    assert!(disabled(&stage));
    stage.ask(json!({})).await;
    let names = |record: &hookgate::Record| {
        let plugins = record.plugins.iter();
        plugins
            .map(|part| part.name.to_string())
            .collect::<Vec<_>>()
    };
    assert_eq!(names(&stage.record().await), ["first"]);
    assert!(stage.engine.enable("watch"));
    let outcome = stage.ask(json!({})).await;
    let (_, told) = stage.told(&outcome).await;
    assert_eq!(told.verdict, Some(RecordedVerdict::Allow));
    assert!(stage.shutdown().await.is_empty());
}

async fn a_shutdown_waits_for_the_background(kind: Kind) {
    let mut stage = Stage::new(kind, &[plugin("watch", "fire_and_forget", json!({}))]).await;
    let outcome = stage.ask(json!({ "watch": [deny()] })).await;
    let left = stage.shutdown().await;
    let of: Vec<_> = left.iter().map(|record| record.of.as_ref()).collect();
    assert_eq!(of, [None, outcome.record.as_ref()]);
    assert_eq!(left[1].plugins[0].verdict, Some(RecordedVerdict::Deny));
}

async fn a_shutdown_gives_up_on_an_endless_background(kind: Kind) {
    let mut stage = Stage::new(kind, &[plugin("watch", "fire_and_forget", json!({}))]).await;
    let outcome = stage.ask(json!({ "watch": [hang()] })).await;
    assert_eq!(outcome.decision, Decision::Allow);
    let left = stage.shutdown().await;
    assert_eq!(left[1].of, outcome.record);
    let told = &left[1].plugins[0];
    assert_eq!(
        (told.verdict, told.fault),
        (Some(RecordedVerdict::Cancelled), None)
    );
}

/// `stuck` never ends of itself; it is gone when the outcome is there, and holds up no shutdown.
async fn cancels(kind: Kind, gate: Value, sign: (&str, Option<FaultKind>), stuck: Value) {
    let plugins = [
        plugin("stuck", "concurrent", json!({ "priority": 1 })),
        plugin("gate", "concurrent", json!({ "priority": 2 })),
    ];
    let mut stage = Stage::new(kind, &plugins).await;
    let marks = json!({ "op": "annotate", "key": "stuck", "value": 1 });
    let outcome = stage
        .ask(json!({ "stuck": [marks, stuck], "gate": [gate] }))
        .await;
    assert_eq!(denied(&outcome), ("gate", sign.0));
    assert!(outcome.effects.metadata.is_empty(), "{outcome:?}");
    let record = stage.record().await;
    let cancelled = part(&record, "stuck");
    assert_eq!(
        (cancelled.verdict, cancelled.fault),
        (Some(RecordedVerdict::Cancelled), None)
    );
    assert_eq!(part(&record, "gate").fault, sign.1);
    assert!(stage.shutdown().await.is_empty());
}

async fn a_denial_cancels_its_siblings(kind: Kind) {
    cancels(kind, deny(), ("NO", None), hang()).await;
}

async fn a_fault_cancels_its_siblings(kind: Kind) {
    let sign = ("plugin_fault", Some(FaultKind::PluginError));
    cancels(kind, fail(), sign, hang()).await;
}

/// A worker whose code never gives way cannot be told to stop: it is ended.
#[tokio::test(flavor = "multi_thread")]
async fn a_denial_cancels_a_legacy_class_that_gives_no_way() {
    let spin = json!({ "op": "spin" });
    cancels(Kind::Legacy, deny(), ("NO", None), spin).await;
}

async fn denials_at_once_are_all_listed(kind: Kind) {
    let plugins = [
        plugin("one", "concurrent", json!({ "priority": 2 })),
        plugin("two", "concurrent", json!({ "priority": 1 })),
    ];
    let mut stage = Stage::new(kind, &plugins).await;
    let outcome = stage.ask(json!({ "one": [deny()], "two": [deny()] })).await;
    let record = stage.record().await;
    let said: Vec<_> = record.plugins.iter().map(|part| part.verdict).collect();
    let denies = Some(RecordedVerdict::Deny);
    // Whoever has not answered by then is cancelled; of those who have, the first in config order counts.
    let counts = if said[0] == denies { "one" } else { "two" };
    assert_eq!(denied(&outcome), (counts, "NO"));
    let cancelled = Some(RecordedVerdict::Cancelled);
    assert!(
        said.iter()
            .all(|verdict| [denies, cancelled].contains(verdict))
            && said.contains(&denies),
        "{said:?}"
    );
    if kind == Kind::InProcess {
        // These answer at once.
        assert_eq!((said, counts), (vec![denies, denies], "one"));
    }
    stage.shutdown().await;
}

async fn edits_that_do_not_count_are_listed(kind: Kind) {
    let plugins = [
        plugin("watch", "fire_and_forget", json!({})),
        plugin("gate", "concurrent", json!({})),
        plugin("look", "audit", json!({})),
    ];
    let mut stage = Stage::new(kind, &plugins).await;
    let outcome = stage
        .ask(json!({ "watch": [set("w")], "gate": [set("g")], "look": [set("l")] }))
        .await;
    assert_eq!(
        (outcome.decision, outcome.modified),
        (Decision::Allow, false)
    );
    let (record, told) = stage.told(&outcome).await;
    for part in [part(&record, "gate"), part(&record, "look"), &told] {
        let at: Vec<_> = part.edits.iter().map(|edit| edit.at.to_string()).collect();
        assert_eq!(at, ["/args/q"], "{part:?}");
    }
    assert_eq!(record.final_sha256.as_ref(), Some(&record.payload_sha256));
    stage.shutdown().await;
}

/// What a person is asked to approve is what the record has as final; a legacy class asks nobody.
#[tokio::test(flavor = "multi_thread")]
async fn approvals_are_bound_to_what_is_recorded() {
    for kind in [Kind::Rust, Kind::InProcess] {
        let plugins = [
            plugin("first", "sequential", json!({})),
            plugin("shape", "transform", json!({})),
        ];
        let mut stage = Stage::new(kind, &plugins).await;
        let approval = json!({ "reason": "right?", "risk": "low", "details": {} });
        let ask = json!({ "op": "ask", "approval": approval });
        let outcome = stage
            .ask(json!({ "first": [ask], "shape": [set("changed")] }))
            .await;
        assert_eq!(outcome.decision, Decision::Ask);
        let record = stage.record().await;
        assert_ne!(record.final_sha256.as_ref(), Some(&record.payload_sha256));
        let bound = outcome.approvals.first().map(|one| &one.payload_sha256);
        assert_eq!(bound, record.final_sha256.as_ref());
        stage.shutdown().await;
    }
}

/// An answer behind its deadline is no answer, whatever it says, in any mode; it is counted. A component is
/// stopped at its deadline and cannot be late.
async fn late(kind: Kind) {
    for mode in [
        "sequential",
        "transform",
        "audit",
        "concurrent",
        "fire_and_forget",
    ] {
        let more = json!({ "on_error": "ignore", "timeout_ms": 300 });
        // A worker that is slow must be late here, not stuck.
        let mut stage = Stage::with_grace(kind, &[plugin("late", mode, more)], Some(SOON)).await;
        let block = json!({ "op": "block", "ms": 600 });
        let marks = json!({ "op": "annotate", "key": "late", "value": 1 });
        let outcome = stage
            .ask(json!({ "late": [marks, set("late"), block, deny()] }))
            .await;
        assert_eq!(
            (outcome.decision, outcome.modified),
            (Decision::Allow, false),
            "{mode}"
        );
        assert!(outcome.effects.metadata.is_empty() && outcome.suppressed.is_empty());
        let fault = if mode == "fire_and_forget" {
            assert!(outcome.faults.is_empty());
            stage.told(&outcome).await.1.fault
        } else {
            part(&stage.record().await, "late").fault
        };
        assert_eq!(fault, Some(FaultKind::Timeout), "{mode}");
        let counted: u64 = stage
            .engine
            .plugins()
            .iter()
            .map(|plugin| plugin.info.late_answers)
            .sum();
        stage.shutdown().await;
        // A worker has answered everything by the time it says good-bye.
        let counted = match kind {
            Kind::Legacy => stage.loaded.late_answers(),
            _ => counted,
        };
        assert_eq!(counted, 1, "{mode}");
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn late_answers_of_a_legacy_class() {
    late(Kind::Legacy).await;
}

#[tokio::test(flavor = "multi_thread")]
async fn late_answers_in_this_process() {
    late(Kind::InProcess).await;
}
