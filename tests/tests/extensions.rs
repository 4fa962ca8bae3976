//! Side-channel slots on every kind of plugin: what a plugin is lent, and what of its changes counts.
//!
//! Each fact is stated once, in terms of the `script` policy, and holds for components, for legacy classes in
//! workers, and for trait objects of this process.

use std::sync::{Arc, Mutex, OnceLock};

use hookgate::config::Config;
use hookgate::{
    Decision, Engine, EngineBuilder, Host, Json, PythonHost, PythonHostOptions, Record, RecordSink,
    Request, WasmHost,
};
use hookgate_vectors::guests::environments;
use hookgate_vectors::{Kind, PluginEntry, in_process};
use serde_json::{Value, json};

const HOOK: &str = "tool_pre_invoke";

/// A test on each host for each fact. The compiled component takes long to load: it is told them all at once.
macro_rules! on_every_host {
    ($($fact:ident)+) => {
        $(mod $fact {
            use hookgate_vectors::Kind;

            #[tokio::test(flavor = "multi_thread")]
            async fn component() {
                super::$fact(Kind::Rust).await;
            }

            #[tokio::test(flavor = "multi_thread")]
            async fn legacy_class() {
                super::$fact(Kind::Legacy).await;
            }

            #[tokio::test(flavor = "multi_thread")]
            async fn in_this_process() {
                super::$fact(Kind::InProcess).await;
            }
        })+

        #[tokio::test(flavor = "multi_thread")]
        async fn every_fact_on_the_compiled_component() {
            // Held, so that it is compiled once.
            let held = engine(Kind::CompiledPython, &[plugin("held", &[])], &Arc::default()).await;
            $($fact(Kind::CompiledPython).await;)+
            held.shutdown().await;
        }
    };
}

on_every_host! {
    the_inbound_task_carries_visible_slots_without_sensitive_headers
    a_plugin_without_read_labels_gets_no_security_slot
    an_appended_label_survives_the_merge_when_the_capability_is_declared
    an_appended_label_is_dropped_without_the_capability
    a_label_append_is_accepted_with_append_labels
    a_label_removal_is_rejected_by_the_monotonic_tier
    a_custom_change_is_accepted_as_mutable
    a_forged_immutable_slot_does_not_poison_the_merge
    an_http_write_is_accepted_only_with_write_headers
    a_returned_sensitive_header_never_reenters_the_pipeline
    plugins_at_once_both_keep_their_change
}

/// A `script` plugin with these grants that does what stands in the payload under `/args/<name>`.
fn plugin(name: &str, grants: &[&str]) -> PluginEntry {
    let hooks = json!({ HOOK: [{ "op": "do", "from": format!("/args/{name}") }] });
    let entry = json!({
        "name": name, "policy": "script", "hooks": [HOOK], "config": { "hooks": hooks }, "data": grants,
    });
    serde_json::from_value(entry).expect("an entry")
}

#[derive(Default)]
struct Kept(Mutex<Vec<Record>>);

impl RecordSink for Kept {
    fn write(&self, record: Record) {
        self.0.lock().expect("no panic").push(record);
    }
}

fn host(kind: Kind) -> Arc<dyn Host> {
    // One for all tests: a component is compiled once as long as somebody holds it.
    static COMPONENTS: OnceLock<Arc<dyn Host>> = OnceLock::new();
    match kind {
        Kind::Rust | Kind::CompiledPython => Arc::clone(
            COMPONENTS.get_or_init(|| Arc::new(WasmHost::new().expect("wasmtime starts")) as _),
        ),
        Kind::Legacy | Kind::InProcess => {
            Arc::new(PythonHost::new(PythonHostOptions::new(environments())))
        }
    }
}

async fn engine(kind: Kind, plugins: &[PluginEntry], kept: &Arc<Kept>) -> Engine {
    let mut builder = Engine::builder().records(Arc::clone(kept) as _);
    if kind == Kind::InProcess {
        let plugins = plugins.iter();
        let plugins = plugins.map(|said| in_process::entry(said, in_process::policy(said)));
        builder = plugins.fold(builder, EngineBuilder::in_process);
    } else {
        let mut config = Config::default();
        config.plugins = plugins.iter().map(|entry| kind.spec(entry)).collect();
        builder = builder.config(config).host(host(kind));
    }
    let built = builder.build().await;
    built.unwrap_or_else(|report| panic!("{report}"))
}

/// What came of one call.
struct Found {
    /// What the plugins saw, by the key they marked it with.
    seen: Value,
    /// The changed slots, as the caller hears of them.
    changed: Value,
    /// What the plugins were refused, together.
    refused: Vec<(&'static str, String, u32)>,
}

/// An engine of `script` plugins, and what it records.
struct Stage {
    engine: Engine,
    kept: Arc<Kept>,
}

impl Stage {
    async fn new(kind: Kind, plugins: &[PluginEntry]) -> Self {
        let kept = Arc::new(Kept::default());
        let engine = engine(kind, plugins, &kept).await;
        Self { engine, kept }
    }

    /// Asks about a request with these extensions, each plugin doing what is said of it.
    async fn ask(&self, extensions: Value, does: Value) -> Found {
        let payload = json!({ "name": "note", "args": does });
        let request = Request {
            extensions: Some(Json::from_value(&extensions)),
            ..Request::default()
        };
        let outcome = self.engine.invoke(HOOK, &payload, &request).await;
        let outcome = outcome.expect("the request passes the door");
        assert!(outcome.faults.is_empty(), "{:?}", outcome.faults);
        assert_eq!(
            outcome.decision,
            Decision::Allow,
            "whatever is refused of extensions"
        );
        let tree = |map: &_| serde_json::to_value(map).expect("JSON");
        let record = self.kept.0.lock().expect("no panic").pop();
        let parts = record.expect("each call is recorded").plugins;
        let refused = parts.iter().flat_map(|part| &part.refused);
        Found {
            seen: tree(&outcome.effects.metadata),
            changed: tree(&outcome.effects.extensions),
            refused: refused
                .map(|one| (one.what, one.code.as_str().to_owned(), one.count))
                .collect(),
        }
    }

    async fn end(self) {
        self.engine.shutdown().await;
    }
}

/// Asks plugins once.
async fn ask(kind: Kind, plugins: &[PluginEntry], extensions: Value, does: Value) -> Found {
    let stage = Stage::new(kind, plugins).await;
    let found = stage.ask(extensions, does).await;
    stage.end().await;
    found
}

fn look(key: &str, slot: &str, from: &str) -> Value {
    json!({ "op": "annotate_extension", "key": key, "slot": slot, "from": from })
}

fn extend(slot: &str, at: &str, value: Value) -> Value {
    json!({ "op": "extend", "slot": slot, "at": at, "value": value })
}

fn shrink(slot: &str, at: &str) -> Value {
    json!({ "op": "shrink", "slot": slot, "at": at })
}

fn refused(code: &str) -> Vec<(&'static str, String, u32)> {
    vec![("extension", code.to_owned(), 1)]
}

async fn the_inbound_task_carries_visible_slots_without_sensitive_headers(kind: Kind) {
    let extensions = json!({
        "request": {"environment": "test"},
        "agent": {"session_id": "s"},
        "meta": {"scope": "m"},
        "custom": {"k": [1]},
        "http": {"headers": {
            "X-Trace": "1", "Authorization": "Bearer t", "cookie": "c", "X-API-Key": "k", "SET-COOKIE": "s",
            "proxy-authorization": "p",
        }},
    });
    let looks = [
        look("environment", "request", "/environment"),
        look("scope", "meta", "/scope"),
        look("k", "custom", "/k"),
        look("headers", "http", "/headers"),
        look("agent", "agent", ""),
        look("llm", "llm", ""),
    ];
    let found = ask(
        kind,
        &[plugin("p", &["read_headers"])],
        extensions,
        json!({ "p": looks }),
    )
    .await;
    assert_eq!(
        found.seen,
        json!({
            "environment": "test", "scope": "m", "k": [1], "headers": {"X-Trace": "1"}, "agent": null, "llm": null,
        })
    );
    assert_eq!(found.changed, json!({}));
}

async fn a_plugin_without_read_labels_gets_no_security_slot(kind: Kind) {
    let plugins = [
        plugin("none", &["read_headers"]),
        plugin("reads", &["read_labels"]),
    ];
    let does = json!({
        "none": [look("none", "security", "")],
        "reads": [look("reads", "security", "/labels")],
    });
    let extensions =
        json!({ "security": {"labels": ["PII"], "subject": {"id": "u", "type": "user"}} });
    let found = ask(kind, &plugins, extensions, does).await;
    assert_eq!(found.seen, json!({ "none": null, "reads": ["PII"] }));
    assert!(found.refused.is_empty(), "{:?}", found.refused);
}

async fn an_appended_label_survives_the_merge_when_the_capability_is_declared(kind: Kind) {
    let security = json!({
        "labels": ["PII"], "classification": "internal",
        "subject": {"id": "u", "type": "user", "roles": ["admin"]}, "client": {"client_id": "c"},
    });
    let does = json!({ "p": [extend("security", "/labels/-", json!("HIPAA"))] });
    let plugins = [plugin("p", &["append_labels"])];
    let found = ask(
        kind,
        &plugins,
        json!({ "security": security, "custom": {"k": 1} }),
        does,
    )
    .await;
    let mut expected = security;
    expected["labels"] = json!(["PII", "HIPAA"]);
    assert_eq!(
        found.changed,
        json!({ "security": expected }),
        "what the plugin did not see stays"
    );
    assert!(found.refused.is_empty(), "{:?}", found.refused);
}

async fn an_appended_label_is_dropped_without_the_capability(kind: Kind) {
    let plugins = [plugin("reads", &["read_labels"]), plugin("none", &[])];
    let stage = Stage::new(kind, &plugins).await;
    for name in ["reads", "none"] {
        let does = json!({ name: [extend("security", "/labels/-", json!("HIPAA"))] });
        let extensions = json!({ "security": {"labels": ["PII"]} });
        let found = stage.ask(extensions, does).await;
        assert_eq!(found.changed, json!({}));
        assert_eq!(found.refused, refused("not-granted"));
    }
    stage.end().await;
}

async fn a_label_append_is_accepted_with_append_labels(kind: Kind) {
    let plugins = [
        plugin("writes", &["append_labels"]),
        plugin("reads", &["read_labels"]),
    ];
    let does = json!({
        "writes": [extend("security", "/labels/-", json!("B")), look("own", "security", "/labels")],
        "reads": [look("labels", "security", "/labels")],
    });
    let found = ask(
        kind,
        &plugins,
        json!({ "security": {"labels": ["A"]} }),
        does,
    )
    .await;
    assert_eq!(
        found.seen,
        json!({ "own": ["A", "B"], "labels": ["A", "B"] }),
        "also a later plugin sees it"
    );
    assert_eq!(found.changed, json!({ "security": {"labels": ["A", "B"]} }));
}

async fn a_label_removal_is_rejected_by_the_monotonic_tier(kind: Kind) {
    let plugins = [
        plugin("p", &["append_labels"]),
        plugin("reads", &["read_labels"]),
    ];
    let stage = Stage::new(kind, &plugins).await;
    for takes_away in [
        shrink("security", "/labels/0"),
        extend("security", "/labels", json!(["NEW"])),
    ] {
        let does = json!({ "p": [takes_away], "reads": [look("labels", "security", "/labels")] });
        let extensions = json!({ "security": {"labels": ["PII"]} });
        let found = stage.ask(extensions, does).await;
        assert_eq!(found.seen, json!({ "labels": ["PII"] }));
        assert_eq!(found.changed, json!({}));
        assert_eq!(found.refused, refused("invalid"));
    }
    stage.end().await;
}

async fn a_custom_change_is_accepted_as_mutable(kind: Kind) {
    let does = json!({ "p": [
        extend("custom", "/new", json!({"a": [true, null]})),
        extend("custom", "/deep/b", json!("B")),
        shrink("custom", "/gone"),
    ] });
    let extensions = json!({ "custom": {"kept": 1, "gone": 2, "deep": {"a": "A"}} });
    let found = ask(kind, &[plugin("p", &[])], extensions, does).await;
    assert_eq!(
        found.changed,
        json!({ "custom": {"kept": 1, "deep": {"a": "A", "b": "B"}, "new": {"a": [true, null]}} })
    );
    assert!(found.refused.is_empty(), "{:?}", found.refused);
}

async fn a_forged_immutable_slot_does_not_poison_the_merge(kind: Kind) {
    let does = json!({ "p": [
        extend("custom", "/mine", json!(1)),
        extend("request", "/environment", json!("forged")),
        extend("security", "/labels/-", json!("NEW")),
    ] });
    let extensions = json!({ "request": {"environment": "test"}, "security": {"labels": ["PII"]}, "custom": {} });
    let plugins = [plugin("p", &["append_labels"]), plugin("reads", &[])];
    let mut does = does;
    does["reads"] = json!([look("environment", "request", "/environment")]);
    let found = ask(kind, &plugins, extensions, does).await;
    assert_eq!(found.seen, json!({ "environment": "test" }));
    assert_eq!(
        found.changed,
        json!({ "custom": {"mine": 1}, "security": {"labels": ["PII", "NEW"]} })
    );
    assert_eq!(found.refused, refused("not-granted"));
}

async fn an_http_write_is_accepted_only_with_write_headers(kind: Kind) {
    let plugins = [
        plugin("writes", &["write_headers"]),
        plugin("reads", &["read_headers"]),
        plugin("none", &["append_labels"]),
    ];
    let stage = Stage::new(kind, &plugins).await;
    let http = json!({ "http": {"headers": {"X-Old": "1", "X-Kept": "1"}, "method": "GET", "path": "/p"} });
    let change = [
        extend("http", "/headers/X-New", json!("2")),
        shrink("http", "/headers/X-Old"),
    ];
    let found = stage.ask(http.clone(), json!({ "writes": change })).await;
    assert_eq!(
        found.changed,
        json!({ "http": {"headers": {"X-Kept": "1", "X-New": "2"}, "method": "GET", "path": "/p"} }),
        "the request line stays"
    );
    assert!(found.refused.is_empty(), "{:?}", found.refused);
    for name in ["reads", "none"] {
        let does = json!({ name: [extend("http", "/headers/X-New", json!("2"))] });
        let found = stage.ask(http.clone(), does).await;
        assert_eq!(found.changed, json!({}));
        // A class sees that there is nothing; anything else has to ask, and is refused that as well.
        let asked = u32::from(name == "none" && kind != Kind::Legacy);
        assert_eq!(
            found.refused,
            [("extension", "not-granted".to_owned(), 1 + asked)]
        );
    }
    stage.end().await;
}

async fn a_returned_sensitive_header_never_reenters_the_pipeline(kind: Kind) {
    let plugins = [
        plugin("writes", &["write_headers"]),
        plugin("reads", &["read_headers"]),
    ];
    let does = json!({
        "writes": [
            extend("http", "/headers/AUTHORIZATION", json!("Bearer stolen")),
            extend("http", "/headers/X-New", json!("1")),
        ],
        "reads": [look("headers", "http", "/headers")],
    });
    let extensions = json!({ "http": {"headers": {"X-Old": "1", "Authorization": "Bearer t"}} });
    let found = ask(kind, &plugins, extensions, does).await;
    let left = json!({ "X-Old": "1", "X-New": "1" });
    assert_eq!(found.seen, json!({ "headers": left }));
    assert_eq!(found.changed, json!({ "http": {"headers": left} }));
    assert_eq!(
        found.refused,
        refused("not-granted"),
        "it is dropped, and counted"
    );
}

async fn plugins_at_once_both_keep_their_change(kind: Kind) {
    let mut plugins = [
        plugin("one", &["append_labels"]),
        plugin("two", &["append_labels"]),
    ];
    for entry in &mut plugins {
        entry.mode = Some(hookgate::config::Mode::Concurrent);
    }
    let change = |name: &str| {
        json!([
            extend("security", "/labels/-", json!(name)),
            extend("custom", &format!("/{name}"), json!(1)),
            extend("custom", "/both", json!(name)),
        ])
    };
    let extensions = json!({ "security": {"labels": ["PII"]}, "custom": {"k": 0} });
    let does = json!({ "one": change("one"), "two": change("two") });
    let found = ask(kind, &plugins, extensions, does).await;
    assert_eq!(
        found.changed,
        json!({
            "security": {"labels": ["PII", "one", "two"]},
            "custom": {"k": 0, "one": 1, "two": 1, "both": "two"},
        }),
        "of two changes of one member the later plugin's stands"
    );
}

/// What a class changes reaches the engine through the field the framework's own `PluginResult` has for it, whose
/// model keeps no other: the worker's own tests look at the model.
#[tokio::test(flavor = "multi_thread")]
async fn the_return_field_matches_the_python_plugin_result_model() {
    let does = json!({ "p": [extend("custom", "/k", json!(1))] });
    let found = ask(Kind::Legacy, &[plugin("p", &[])], json!({}), does).await;
    assert_eq!(found.changed, json!({ "custom": {"k": 1} }));
}

/// The successor of the legacy framework has two header maps where the class's has one.
#[tokio::test(flavor = "multi_thread")]
async fn the_request_headers_are_a_class_s_headers() {
    let http =
        json!({ "http": {"request_headers": {"X-A": "1"}, "response_headers": {"X-R": "1"}} });
    let does = json!({ "p": [look("headers", "http", "/headers"), extend("http", "/headers/X-B", json!("2"))] });
    let found = ask(Kind::Legacy, &[plugin("p", &["write_headers"])], http, does).await;
    assert_eq!(found.seen, json!({ "headers": {"X-A": "1"} }));
    assert_eq!(
        found.changed,
        json!({ "http": {"request_headers": {"X-A": "1", "X-B": "2"}, "response_headers": {"X-R": "1"}} })
    );
}
