//! Records of the phases: what is under way, what was cancelled, and what was answered later.

use hookgate_core::config::Mode;
use hookgate_core::{Decision, Record, RecordedVerdict, Request, Violation};
use serde_json::{Value, json};

use super::cast::{recorded, silent};
use crate::support::{HOOK, Kept, PAYLOAD, at, denying, named, plugin, tagging};

fn value(record: &Record) -> Value {
    serde_json::to_value(record).expect("JSON")
}

async fn asked(records: &Kept, engine: &hookgate_core::Engine, count: usize) -> Vec<Record> {
    let mut request = Request::with_id("r9");
    request.user = Some(crate::support::json("\"u1\""));
    request.tenant_id = Some("t".into());
    let outcome = engine.invoke(HOOK, PAYLOAD, &request).await;
    outcome.expect("it passes the door");
    records.wait(count).await
}

/// The members a later record shares with the first.
const SHARED: [&str; 9] = [
    "hook",
    "subject",
    "request",
    "generation",
    "decision",
    "modified",
    "payload_sha256",
    "payload_bytes",
    "final_sha256",
];

#[tokio::test]
async fn what_is_answered_later_is_a_record_of_its_own_that_names_the_first() {
    for denied in [false, true] {
        let answers = plugin(|call| {
            let mut draft = call.draft();
            let gone = crate::support::json("1");
            draft.set(&at("/args/new"), gone).expect("an object");
            draft.set_header("a b", "").expect_err("no header");
            Ok(draft.deny(Violation::new("LATER", "later")))
        });
        let mut plugins = vec![
            named("tags", tagging("!")),
            named("p", answers).mode(Mode::FireAndForget),
        ];
        if denied {
            plugins.push(named("denies", denying("NO")));
        }
        let (engine, records) = recorded(plugins).await;
        let records = asked(&records, &engine, 2).await;
        let (first, later) = (value(&records[0]), value(&records[1]));
        assert_eq!(first.get("of"), None, "left out, not null");
        assert_eq!(later["of"], first["id"]);
        assert_ne!(later["id"], first["id"]);
        assert!(later["time"].as_str() >= first["time"].as_str());
        for member in SHARED {
            assert_eq!(later[member], first[member], "{member}");
        }
        assert_eq!(
            first["decision"],
            json!(if denied { "deny" } else { "allow" })
        );
        assert_eq!(first["final_sha256"].is_null(), denied);
        assert_eq!(first["request"]["user"], json!("u1"));

        let common = |more: Value| {
            let mut part = json!({"name": "p", "kind": "in-process", "digest": null, "sandbox": "",
                "mode": "fire_and_forget", "code": null, "fault": null, "edits": [], "refused": []});
            let members = part.as_object_mut().expect("an object");
            members.extend(more.as_object().expect("an object").clone());
            part
        };
        let timeless = |part: &Value| {
            let mut part = part.clone();
            let members = part.as_object_mut().expect("an object");
            assert!(members.remove("duration_us").is_some_and(|it| it.is_u64()));
            assert!(members.remove("queue_us").is_some_and(|it| it.is_u64()));
            part
        };
        let parts = first["plugins"].as_array().expect("an array");
        let expected = common(json!({"verdict": "background"}));
        assert_eq!(timeless(parts.last().expect("one")), expected);
        let parts = later["plugins"].as_array().expect("an array");
        assert_eq!(parts.len(), 1);
        let expected = common(json!({"verdict": "deny", "code": "LATER",
            "edits": [{"op": "set", "at": "/args/new", "bytes": 1}],
            "refused": [{"what": "header", "code": "invalid", "count": 1}]}));
        assert_eq!(timeless(&parts[0]), expected);
    }
}

#[tokio::test]
async fn every_background_plugin_has_a_record() {
    let plugins = ["a", "b", "c"].map(|name| {
        let entry = named(name, crate::support::asking("?"));
        entry.mode(Mode::FireAndForget)
    });
    let (engine, records) = recorded(plugins).await;
    let records = asked(&records, &engine, 4).await;
    let first = &records[0];
    assert_eq!(first.of, None);
    let verdicts: Vec<_> = first.plugins.iter().map(|part| part.verdict).collect();
    assert_eq!(verdicts, [Some(RecordedVerdict::Background); 3]);
    let mut later: Vec<_> = records[1..]
        .iter()
        .map(|record| {
            (
                record.of.as_ref(),
                &*record.plugins[0].name,
                record.plugins[0].verdict,
            )
        })
        .collect();
    later.sort_by_key(|(_, name, _)| *name);
    let asked = Some(RecordedVerdict::Ask);
    let of = Some(&first.id);
    assert_eq!(
        later,
        [(of, "a", asked), (of, "b", asked), (of, "c", asked)]
    );
    let mut ids: Vec<_> = records.iter().map(|record| &record.id).collect();
    ids.sort();
    ids.dedup();
    assert_eq!(ids.len(), 4);
}

#[tokio::test]
async fn a_cancelled_plugin_is_listed_without_code_or_fault() {
    let (waits, _) = silent();
    let (engine, records) = recorded([
        named("waits", waits).mode(Mode::Concurrent),
        named("denies", denying("NO")).mode(Mode::Concurrent),
    ])
    .await;
    let records = asked(&records, &engine, 1).await;
    let part = &value(&records[0])["plugins"][0];
    assert_eq!(part["verdict"], json!("cancelled"));
    assert_eq!(
        (&part["code"], &part["fault"]),
        (&Value::Null, &Value::Null)
    );
    assert_eq!(records[0].decision, Decision::Deny);
}

#[test]
fn the_words_a_record_has_for_a_verdict() {
    let words = [
        (RecordedVerdict::Allow, "allow"),
        (RecordedVerdict::Ask, "ask"),
        (RecordedVerdict::Deny, "deny"),
        (RecordedVerdict::Background, "background"),
        (RecordedVerdict::Cancelled, "cancelled"),
    ];
    for (verdict, word) in words {
        assert_eq!(serde_json::to_value(verdict).expect("JSON"), json!(word));
        assert_eq!(
            (verdict.as_str(), verdict.to_string()),
            (word, word.to_owned())
        );
    }
    for decision in [Decision::Allow, Decision::Ask, Decision::Deny] {
        assert_eq!(RecordedVerdict::from(decision).as_str(), decision.as_str());
    }
}
