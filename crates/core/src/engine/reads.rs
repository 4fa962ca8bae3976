//! How much of a payload a call reads: the check at the door once, and then what somebody looks at. The
//! bytes are counted where they are read.

use std::sync::Arc;

use futures::future::BoxFuture;

use super::{Engine, InProcess};
use crate::config::Mode;
use crate::scan::SCANNED;
use crate::{
    Answer, Condition, Decision, Fault, HookCall, Plugin, PluginInfo, Pointer, Record, RecordSink,
    Request,
};

const HOOK: &str = "tool_pre_invoke";
/// What may be read of a payload of any size for a few members of it.
const LITTLE_BYTES: usize = 2_000;

/// A plugin that looks at what it is told to.
struct Looks(fn(&HookCall));

impl Plugin for Looks {
    fn describe(&self) -> PluginInfo {
        PluginInfo {
            kind: "in-process",
            hooks: vec![HOOK.into()],
            ..PluginInfo::default()
        }
    }

    fn call(&self, call: HookCall) -> BoxFuture<'_, Result<Answer, Fault>> {
        (self.0)(&call);
        Box::pin(async move { Ok(call.draft().allow()) })
    }
}

struct Drops;

impl RecordSink for Drops {
    fn write(&self, _: Record) {}
}

fn at(pointer: &str) -> Pointer {
    Pointer::parse(pointer).expect("a pointer")
}

/// Items of 100 bytes each.
fn items(count: usize) -> String {
    let item = r#"{"id":17,"title":"item number \"17\" of the list","tags":["red","green"],"price":17.50,"ok":true}"#;
    vec![item; count].join(",")
}

/// 100 bytes and a megabyte in the same members. What is asked for stands before, behind and in what is large.
fn payloads(members: &str) -> [String; 2] {
    [1, 10_000].map(|count| {
        let items = items(count);
        format!(r#"{{"args":{{"items":[{items}],"cmd":"ls"}},{members}"name":"store"}}"#)
    })
}

/// Bytes read besides the check at the door, by three plugins that look at the same.
async fn read(payload: &str, looks: fn(&HookCall)) -> usize {
    let stores = Condition {
        tools: ["store".to_owned()].into(),
        ..Condition::default()
    };
    let plugin = |name: &str, mode| {
        InProcess::new(name, Arc::new(Looks(looks)))
            .mode(mode)
            .conditions([stores.clone()])
    };
    let engine = Engine::builder()
        .in_process(plugin("sequential", Mode::Sequential))
        .in_process(plugin("audit", Mode::Audit))
        .in_process(plugin("concurrent", Mode::Concurrent))
        .records(Arc::new(Drops))
        .build()
        .await
        .expect("three plugins");
    let request = Request::default();
    SCANNED.set(0);
    let outcome = engine.invoke(HOOK, payload, &request).await;
    let read = SCANNED.get();
    let outcome = outcome.expect("passes the door");
    assert_eq!(outcome.decision, Decision::Allow);
    assert_eq!(outcome.payload.expect("allowed").as_str(), payload);
    SCANNED.set(0);
    let explained = engine.explain(HOOK, payload, &request);
    assert_eq!(
        explained.expect("passes the door").subject.as_deref(),
        Some("store")
    );
    assert!(
        SCANNED.get() < payload.len() + LITTLE_BYTES,
        "explain read {}",
        SCANNED.get()
    );
    read - payload.len()
}

#[tokio::test]
async fn a_payload_nobody_looks_into_is_read_once() {
    for payload in payloads("") {
        // The subject, for what the condition compares.
        assert!(
            read(&payload, |_| ()).await <= 2 * "store".len(),
            "{}",
            payload.len()
        );
    }
}

#[tokio::test]
async fn what_a_plugin_may_not_see_costs_no_look_at_the_rest() {
    for payload in payloads(r#""headers":{"a":"b"},"#) {
        let read = read(&payload, |call| {
            assert!(call.payload.get(&at("/headers")).is_none())
        })
        .await;
        assert!(read < LITTLE_BYTES, "{read} of {}", payload.len());
    }
}

#[tokio::test]
async fn a_look_up_reads_what_stands_beside_it_and_nothing_below() {
    let looks: [fn(&HookCall); 5] = [
        |call| {
            assert_eq!(
                call.payload.get_string(&at("/name")).as_deref(),
                Some("store")
            )
        },
        |call| {
            assert_eq!(
                call.payload.get_string(&at("/args/cmd")).as_deref(),
                Some("ls")
            )
        },
        |call| assert_eq!(call.payload.get(&at("/args/items/0/id")), Some("17")),
        |call| assert_eq!(call.payload.get(&at("/none")), None),
        |call| assert_eq!(call.payload.keys(&at("")), ["args", "name"]),
    ];
    for payload in payloads("") {
        for (index, looks) in looks.iter().enumerate() {
            let read = read(&payload, *looks).await;
            assert!(read < LITTLE_BYTES, "{index}: {read} of {}", payload.len());
        }
    }
}
