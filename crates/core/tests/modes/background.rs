//! `fire_and_forget`: told of the outcome, waited for by nobody, without any say in it.

use std::sync::Arc;
use std::time::Duration;

use futures::FutureExt as _;
use hookgate_core::config::{Mode, OnError};
use hookgate_core::{
    Capability, Decision, FaultKind, InProcess, Plugin, RecordedVerdict, Request, Violation,
};
use tokio::sync::mpsc;

use super::cast::{ask_in, denied_by, next, on_cue, parts, recorded, silent};
use super::logs::Warnings;
use crate::support::{
    Scripted, allowing, ask, ask_about, denying, faulting, json, named, plugin, tagging, waiting,
};

fn told(name: &str, plugin: Arc<dyn Plugin>) -> InProcess {
    named(name, plugin).mode(Mode::FireAndForget)
}

/// Says which payload it is told.
fn looking() -> (Arc<Scripted>, mpsc::UnboundedReceiver<String>) {
    let (tell, told) = mpsc::unbounded_channel();
    let looks = plugin(move |call| {
        let text = call.payload.text().to_string();
        tell.send(text).expect("the test looks");
        Ok(call.draft().allow())
    });
    (looks, told)
}

#[tokio::test]
async fn nobody_waits_for_it() {
    let (waits, mut cue) = on_cue(|call| Ok(call.draft().deny(Violation::new("NO", "no"))));
    let (engine, records) = recorded([told("p", waits.clone())]).await;
    let outcome = ask(&engine).now_or_never().expect("nothing to wait for");
    assert_eq!(outcome.decision, Decision::Allow);
    assert_eq!(parts(&records.take()[0]), ["p: background"]);
    cue.begun().await;
    cue.give();
    let later = records.wait(1).await.remove(0);
    assert_eq!(parts(&later), ["p: deny NO"]);
    assert_eq!(later.of, outcome.record);
}

#[tokio::test]
async fn it_is_told_of_a_denial_and_sees_the_payload_where_the_pipeline_stopped() {
    for stops in [Mode::Sequential, Mode::Concurrent] {
        let (looks, mut seen) = looking();
        let (engine, records) = recorded([
            named("tags", tagging("!")),
            named("denies", denying("NO")).mode(stops),
            named("never", tagging("?")).priority(200).mode(stops),
            told("p", looks),
        ])
        .await;
        let outcome = ask(&engine).await;
        assert_eq!(denied_by(&outcome), ("denies", "NO"));
        let expected = r#"{"name":"sh","args":{"cmd":"ls!"}}"#;
        assert_eq!(next(&mut seen).await, expected, "{stops}");
        let records = records.wait(2).await;
        assert_eq!(records[1].decision, Decision::Deny);
        assert_eq!(parts(&records[1]), ["p: allow"]);
    }
}

#[tokio::test]
async fn it_sees_headers_only_with_the_grant() {
    let payload = r#"{"name":"sh","headers":{"a":"b"}}"#;
    let (plain, mut plain_seen) = looking();
    let (granted, mut granted_seen) = looking();
    let (engine, _) = recorded([
        named("denies", denying("NO")),
        told("plain", plain),
        told("granted", granted).data([Capability::ReadHeaders]),
    ])
    .await;
    ask_about(&engine, payload).await;
    assert_eq!(next(&mut plain_seen).await, r#"{"name":"sh"}"#);
    assert_eq!(next(&mut granted_seen).await, payload);
}

#[tokio::test]
async fn it_sees_the_request_as_it_was_and_leaves_no_trace_in_it() {
    let (tell, mut seen) = mpsc::unbounded_channel();
    let looks = plugin(move |call| {
        let mut draft = call.draft();
        let shared = call
            .request
            .shared()
            .get("k")
            .map(|k| k.as_str().to_owned());
        let slot = call
            .extensions
            .get("custom")
            .map(|it| it.as_str().to_owned());
        let private = call.request.private().len();
        tell.send((shared, slot, private)).expect("the test looks");
        super::cells::every_effect(&mut draft);
        Ok(draft.allow())
    });
    let writes = plugin(|call| {
        let mut draft = call.draft();
        draft.set_shared("k", Some(json("7"))).expect("little");
        let slot = json(r#"{"a":7}"#);
        draft.set_extension("custom", slot).expect("anybody's");
        Ok(draft.allow())
    });
    let (engine, records) = recorded([named("writes", writes), told("p", looks)]).await;
    let expected = (Some("7".to_owned()), Some(r#"{"a":7}"#.to_owned()), 0);
    for _ in 0..2 {
        ask_in(&engine, "r").await;
        records.wait(2).await;
        assert_eq!(next(&mut seen).await, expected);
    }
    // A request without an id is forgotten when its outcome is known; it has seen it all the same.
    ask(&engine).await;
    records.wait(2).await;
    assert_eq!(next(&mut seen).await, expected);
    assert_eq!(engine.requests().len(), 1);
}

#[tokio::test]
async fn a_caller_that_goes_away_before_the_outcome_leaves_nobody_told() {
    let (waits, gone) = silent();
    let plugin = allowing();
    let (engine, records) = recorded([named("waits", waits), told("p", plugin.clone())]).await;
    let mut call = Box::pin(ask(&engine));
    assert!((&mut call).now_or_never().is_none());
    drop(call);
    assert!(gone.is());
    engine.shutdown().await;
    assert_eq!((plugin.calls(), records.take().len()), (0, 0));
}

#[tokio::test]
async fn a_payload_that_does_not_pass_the_door_is_told_nobody() {
    let plugin = allowing();
    let (engine, records) = recorded([told("p", plugin.clone())]).await;
    let asked = engine
        .invoke(crate::support::HOOK, "{}", &Request::default())
        .await;
    asked.expect_err("it has no name");
    engine.shutdown().await;
    assert_eq!((plugin.calls(), records.take().len()), (0, 0));
}

#[tokio::test]
async fn a_fault_of_it_goes_to_the_log_and_nowhere_else() {
    for on_error in [OnError::Fail, OnError::Ignore, OnError::Disable] {
        let warnings = Warnings::listen();
        let broken = told("p", faulting(FaultKind::Trap)).on_error(on_error);
        let (engine, records) = recorded([broken]).await;
        let outcome = ask(&engine).await;
        records.wait(2).await;
        assert_eq!(
            (outcome.decision, outcome.faults.len()),
            (Decision::Allow, 0)
        );
        let expected = format!(
            "plugin=p hook=tool_pre_invoke mode=fire_and_forget on_error={on_error} trap: broken"
        );
        assert_eq!(warnings.take(), [expected]);
        let off = engine.plugins()[0].disabled;
        assert_eq!(off, on_error == OnError::Disable);
    }
}

#[tokio::test]
async fn without_a_sink_it_is_told_all_the_same() {
    let (looks, mut seen) = looking();
    let engine = crate::support::engine([told("p", looks)]).await;
    ask(&engine).await;
    let expected = crate::support::PAYLOAD;
    assert_eq!(next(&mut seen).await, expected);
}

#[tokio::test(start_paused = true)]
async fn its_deadline_begins_when_it_is_started() {
    let (waits, gone) = silent();
    let entry = told("p", waits).timeout(Duration::from_secs(60));
    let (engine, records) = recorded([entry]).await;
    ask(&engine).await;
    let began = tokio::time::Instant::now();
    let later = records.wait(2).await.remove(1);
    assert_eq!(parts(&later), ["p: timeout"]);
    assert!(gone.is());
    let took = began.elapsed();
    assert!(
        took > Duration::from_secs(59) && took < Duration::from_secs(61),
        "{took:?}"
    );
    assert_eq!(engine.plugins()[0].info.late_answers, 0);
}

#[tokio::test]
async fn it_has_slots_and_a_queue_of_its_own() {
    let gate = Arc::new(tokio::sync::Semaphore::new(0));
    let opens = Arc::clone(&gate);
    let waits = waiting(false, move |call| {
        let gate = Arc::clone(&gate);
        async move {
            let pass = gate.acquire().await;
            pass.expect("it stays open").forget();
            Ok(call.draft().allow())
        }
        .boxed()
    });
    let entry = told("p", waits.clone()).concurrency(1);
    let (engine, records) = recorded([entry]).await;
    // One is in the slot, 1,024 wait for it, and the next is too many.
    for _ in 0..1_026 {
        ask(&engine).await;
    }
    let overloaded =
        |record: &&hookgate_core::Record| record.plugins[0].fault == Some(FaultKind::Overloaded);
    let so_far = records.wait(1_026 + 1).await;
    assert_eq!(so_far.iter().filter(overloaded).count(), 1);
    assert_eq!(waits.calls(), 1);
    opens.add_permits(1_025);
    let rest = records.wait(1_025).await;
    let allowed =
        |record: &&hookgate_core::Record| record.plugins[0].verdict == Some(RecordedVerdict::Allow);
    assert_eq!(rest.iter().filter(allowed).count(), 1_025);
}
