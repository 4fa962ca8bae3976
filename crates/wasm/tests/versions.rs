//! Components of other versions: one compiled for 0.1.0 goes on working, a later 0.1.x loads as far as it can,
//! anything else is refused by name.

#[allow(dead_code)]
#[path = "escape/hand.rs"]
mod hand;
mod hostile;

use std::path::{Path, PathBuf};
use std::sync::Arc;

use hand::{BEHAVE, Hand, MISBEHAVE};
use hookgate_core::config::{Config, PluginKind, PluginSpec};
use hookgate_core::{Capability, Decision, Engine, FaultKind, Json, Outcome, Request, Risk};
use hookgate_wasm::WasmHost;
use hostile::{load, spec};
use serde_json::{Value, json};

/// Every hook with an interface of its own, one without, and what their payloads are about.
const HOOKS: [(&str, &str, &str); 9] = [
    (
        "tool_pre_invoke",
        "name",
        r#"{"name":"frozen","args":ARGS}"#,
    ),
    (
        "tool_post_invoke",
        "name",
        r#"{"name":"frozen","result":1,"args":ARGS}"#,
    ),
    (
        "prompt_pre_fetch",
        "prompt_id",
        r#"{"prompt_id":"frozen","args":ARGS}"#,
    ),
    (
        "prompt_post_fetch",
        "prompt_id",
        r#"{"prompt_id":"frozen","result":1,"args":ARGS}"#,
    ),
    (
        "resource_pre_fetch",
        "uri",
        r#"{"uri":"frozen","args":ARGS}"#,
    ),
    (
        "resource_post_fetch",
        "uri",
        r#"{"uri":"frozen","content":1,"args":ARGS}"#,
    ),
    (
        "agent_pre_invoke",
        "agent_id",
        r#"{"agent_id":"frozen","messages":[],"args":ARGS}"#,
    ),
    (
        "agent_post_invoke",
        "agent_id",
        r#"{"agent_id":"frozen","messages":[],"args":ARGS}"#,
    ),
    ("ledger_append", "", r#"{"args":ARGS}"#),
];

async fn frozen() -> Engine {
    let component = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/data/frozen-0.1.0.wasm");
    let mut frozen = PluginSpec::new("frozen", PluginKind::Wasm { component });
    frozen.hooks = HOOKS.iter().map(|(hook, ..)| (*hook).into()).collect();
    frozen.limits.timeout = std::time::Duration::from_secs(60);
    frozen.config = Json::from_value(&json!({ "greeting": "hello" }));
    frozen.permissions.data.insert(Capability::WriteHeaders);
    let mut config = Config::default();
    config.plugins.push(frozen);
    Engine::builder()
        .config(config)
        .host(Arc::new(WasmHost::new().expect("wasmtime starts")))
        .build()
        .await
        .unwrap_or_else(|report| panic!("{report}"))
}

async fn ask(engine: &Engine, hook: &str, payload: &str, args: &str, request: &Request) -> Outcome {
    let payload = payload.replace("ARGS", args);
    let outcome = engine.invoke(hook, payload, request).await;
    outcome.unwrap_or_else(|error| panic!("{hook}: {error}"))
}

#[tokio::test]
async fn a_component_compiled_for_0_1_0_sees_what_it_saw() {
    let engine = frozen().await;
    let args = r#"{"n":1.10,"word":"a secret word","list":["x",5,"y"]}"#;
    for (hook, subject, payload) in HOOKS {
        // Arguments of a prompt are strings.
        let prompt = hook == "prompt_pre_fetch";
        let args = if prompt {
            r#"{"n":"1","word":"a secret word"}"#
        } else {
            args
        };
        let request = Request {
            call_id: Some("c1".into()),
            user: Some(Json::string("u1")),
            ..Request::with_id(format!("request of {hook}"))
        };
        for round in ["", "1 2"] {
            let outcome = ask(&engine, hook, payload, args, &request).await;
            assert!(outcome.faults.is_empty(), "{hook}: {:?}", outcome.faults);
            assert_eq!(outcome.decision, Decision::Allow, "{hook}");
            assert!(!outcome.modified, "{hook}");
            let marks = serde_json::to_value(&outcome.effects.metadata).expect("marks are JSON");
            let whole: Value = serde_json::from_str(&payload.replace("ARGS", args)).expect("JSON");
            let told = if subject.is_empty() { hook } else { "frozen" };
            let (strings, keys) = match prompt {
                true => (json!([]), json!(["n", "word"])),
                false => (json!(["x", "y"]), json!(["n", "word", "list"])),
            };
            let state = if round.is_empty() { " " } else { round };
            let expected = json!({
                "greeting": "hello",
                "subject": told,
                "hook": hook,
                "request": format!("request of {hook}"),
                "call": "c1",
                "user": "u1",
                "in_time": true,
                "sized": true,
                "whole": whole,
                "get": whole["args"]["n"],
                "string": "a secret word",
                "strings": strings,
                "keys": keys,
                // `SECRET`, its case ignored, is the first of the two.
                "hits": ["0 /args/word 2 8"],
                "truncated": true,
                "state": state,
                "gone": true,
                "extension": "granted",
                "set_extension": "granted",
                "secret": "not-granted",
            });
            assert_eq!(marks, expected, "{hook}");
            let headers = serde_json::to_value(&outcome.effects.headers).expect("JSON");
            assert_eq!(headers, json!([["X-Frozen", "1"]]), "{hook}");
            assert_eq!(outcome.effects.retry_after_ms, Some(7), "{hook}");
            let result = outcome.effects.result.as_ref().map(Json::to_value);
            assert_eq!(result, Some(json!({ "frozen": true })), "{hook}");
        }
    }
}

#[tokio::test]
async fn a_component_compiled_for_0_1_0_answers_as_it_did() {
    let engine = frozen().await;
    let (hook, _, payload) = HOOKS[0];
    let request = Request::default();

    let args = r#"{"do":"edit","a":1,"b":2,"c":"xyz","d":["a12b","3"]}"#;
    let edited = ask(&engine, hook, payload, args, &request).await;
    assert!(edited.faults.is_empty(), "{:?}", edited.faults);
    assert!(edited.modified);
    assert_eq!(edited.effects.metadata["redacted"].to_value(), json!(2));
    assert_eq!(
        edited.payload.expect("allowed").as_str(),
        r##"{"name":"frozen","args":{"do":"edit","a":{"set":true},"c":"x--z","d":["a#b","#"]}}"##
    );

    let denied = ask(&engine, hook, payload, r#"{"do":"deny"}"#, &request).await;
    let violation = serde_json::to_value(denied.violation.expect("denied")).expect("JSON");
    let expected: Value = serde_json::from_str(
        r#"{"plugin":"frozen","code":"FROZEN","reason":"frozen denies","description":"as it was told to","details":{"n":1.10},
            "mcp_error_code":-32000,"http_status_code":451,"http_headers":{"x-frozen":"1"}}"#,
    )
    .expect("JSON");
    assert_eq!(violation, expected);

    let asked = ask(&engine, hook, payload, r#"{"do":"ask"}"#, &request).await;
    assert_eq!(asked.decision, Decision::Ask);
    let approval = &asked.approvals[0];
    assert_eq!(
        (approval.reason.as_str(), approval.risk),
        ("frozen asks", Risk::Critical)
    );
    assert_eq!(approval.details.to_value(), json!({ "frozen": true }));

    for (word, kind) in [
        ("fail", FaultKind::PluginError),
        ("unsupported", FaultKind::Unsupported),
    ] {
        let args = json!({ "do": word }).to_string();
        let failed = ask(&engine, hook, payload, &args, &request).await;
        assert_eq!(failed.faults[0].kind, kind, "{word}");
        assert_eq!(failed.decision, Decision::Deny, "{word}");
    }
}

/// A component written as text for another version, in a file that goes when this is dropped.
struct Written(PathBuf);

impl Written {
    fn new(hand: &Hand) -> Self {
        use std::sync::atomic::{AtomicUsize, Ordering};
        static NEXT: AtomicUsize = AtomicUsize::new(0);
        let name = format!(
            "version-{}-{}.wasm",
            std::process::id(),
            NEXT.fetch_add(1, Ordering::Relaxed)
        );
        let path = Path::new(env!("CARGO_TARGET_TMPDIR")).join(name);
        std::fs::write(&path, hand.bytes()).expect("a file for the test");
        Self(path)
    }

    fn spec(&self) -> PluginSpec {
        let mut spec = spec("tools-only");
        spec.kind = PluginKind::Wasm {
            component: self.0.clone(),
        };
        spec
    }
}

impl Drop for Written {
    fn drop(&mut self) {
        drop(std::fs::remove_file(&self.0));
    }
}

#[tokio::test]
async fn a_later_patch_that_calls_what_is_there_loads() {
    for version in ["0.1.0", "0.1.1", "0.1.9"] {
        let hand = Hand {
            version,
            // A denial, so that the answer is its own.
            body: "(call $drop (local.get $doc) (local.get $ctx))
                (return (call $deny (i32.const 1026) (i32.const 4) (i32.const 1024) (i32.const 2) (i32.const 0) (i32.const 0)))",
            ..Hand::default()
        };
        let written = Written::new(&hand);
        let engine = load(written.spec())
            .await
            .unwrap_or_else(|report| panic!("{version}: {report}"));
        for (tool, code) in [(BEHAVE, None), (MISBEHAVE, Some("CODE".to_owned()))] {
            let payload = json!({ "name": tool });
            let outcome = engine
                .invoke("tool_pre_invoke", &payload, &Request::default())
                .await;
            let outcome = outcome.expect("a good payload");
            assert!(outcome.faults.is_empty(), "{version}: {:?}", outcome.faults);
            assert_eq!(
                outcome.violation.map(|violation| violation.code),
                code,
                "{version}"
            );
        }
    }
}

async fn refusal(hand: &Hand) -> hookgate_core::LoadError {
    let written = Written::new(hand);
    match load(written.spec()).await {
        Ok(_) => panic!("{} loaded", hand.version),
        Err(report) => report.problems[0].error.clone(),
    }
}

#[tokio::test]
async fn a_later_patch_that_calls_what_is_not_there_is_refused_by_that_name() {
    for version in ["0.1.0", "0.1.9"] {
        let hand = Hand {
            version,
            imports: r#"(export "[method]context.tomorrow" (func (param "self" (borrow $context)) (result u64)))"#,
            ..Hand::default()
        };
        let error = refusal(&hand).await;
        assert!(
            error.message.contains("[method]context.tomorrow"),
            "{}",
            error.message
        );
    }
}

#[tokio::test]
async fn other_tracks_are_refused_with_both_versions() {
    for version in [
        "0.2.0",
        "0.2.9",
        "0.0.1",
        "1.0.0",
        "1.1.0",
        "0.1.0-rc.1",
        "0.1.1-rc.1",
    ] {
        let error = refusal(&Hand {
            version,
            ..Hand::default()
        })
        .await;
        assert_eq!(
            error.message,
            format!(
                "the component speaks hookgate:plugin@{version}; this engine speaks hookgate:plugin@0.1.0"
            )
        );
        let hint = "rebuild the plugin against wit/plugin.wit 0.1.0 (any 0.1.x will do)";
        assert_eq!(error.hint.as_deref(), Some(hint));
    }
}
