//! Each reason for which a plugin is not asked.

use std::sync::Arc;

use hookgate_core::config::{Config, Mode, OnError};
use hookgate_core::{
    Engine, Explanation, FaultKind, InvokeError, Json, PluginExplanation, Request, SkipReason, Turn,
};
use serde_json::{Value, json};

use crate::support::{HOOK, PAYLOAD, Shelf, allowing, ask, config, engine, entry, faulting, named};

fn parse(plugins: &str) -> Config {
    let text = format!("plugins:\n{plugins}");
    Config::parse(&text, "hookgate.yaml", ".".as_ref()).unwrap_or_else(|report| panic!("{report}"))
}

/// Explains [`PAYLOAD`] at [`HOOK`] to one plugin with more lines in its entry.
fn explain_one(more: &str, request: &Request) -> PluginExplanation {
    let config = parse(&format!("- name: p\n  kind: a.B\n{more}\n"));
    let explained = config.explain(HOOK, PAYLOAD, request);
    explained.expect("passes the door").plugins.remove(0)
}

fn reason(plugin: &PluginExplanation) -> Value {
    match &plugin.turn {
        Turn::Skipped { reason } => serde_json::to_value(reason).expect("JSON"),
        turn => panic!("{}: {turn:?}", plugin.name),
    }
}

#[test]
fn a_disabled_plugin() {
    for (hooks, listens) in [("tool_pre_invoke", true), ("tool_post_invoke", false)] {
        let config = parse(&format!(
            "- {{name: on, kind: a.B, hooks: [tool_pre_invoke]}}\n- {{name: off, kind: a.B, hooks: [{hooks}], mode: disabled}}\n"
        ));
        let explained = config.explain(HOOK, PAYLOAD, &Request::default());
        let explained = explained.expect("passes the door");
        assert_eq!(
            reason(&explained.plugins[1]),
            json!({"code": "disabled", "listens": listens})
        );
    }
}

#[test]
fn a_plugin_that_listens_elsewhere() {
    let rows = [
        // Hooks that are both known are two hooks.
        ("tool_post_invoke, prompt_pre_fetch", HOOK, Value::Null),
        ("deploy.started", HOOK, Value::Null),
        // A slip in the configuration, and one in the question.
        (
            "prompt_pre_fetch, tool_pre_invok",
            HOOK,
            json!("tool_pre_invok"),
        ),
        (
            "prompt_pre_fetch, tool_pre_invoke",
            "tool_pre_invok",
            json!("tool_pre_invoke"),
        ),
        ("deploy.started", "deploy.startd", json!("deploy.started")),
    ];
    for (hooks, asked, nearest) in rows {
        let config = parse(&format!("- {{name: p, kind: a.B, hooks: [{hooks}]}}\n"));
        let explained = config.explain(asked, PAYLOAD, &Request::default());
        let explained = explained.expect("nobody listens");
        let hooks: Vec<&str> = hooks.split(", ").collect();
        let expected = json!({"code": "not_listening", "hooks": hooks, "nearest": nearest});
        assert_eq!(reason(&explained.plugins[0]), expected, "{asked}");
    }
}

#[test]
fn a_hook_nobody_listens_to_is_not_checked() {
    let config = parse(
        "- {name: p, kind: a.B, hooks: [tool_pre_invoke, deploy.started]}\n- {name: off, kind: a.B, hooks: [agent_pre_invoke], mode: disabled}\n",
    );
    let rows = [
        ("tool_pre_invok", Some(HOOK)),
        ("deploy_started", Some("deploy.started")),
        ("TOOL_PRE_INVOKE", Some(HOOK)),
        ("prompt_prefetch", Some("prompt_pre_fetch")),
        ("xyzzy", None),
        // These are no slips.
        ("tool_post_invoke", None),
        ("agent_pre_invoke", None),
        ("cmf.tool_pre_invoke", None),
    ];
    for (hook, nearest) in rows {
        let explained = config.explain(hook, "no JSON", &Request::default());
        let explained = explained.expect("nobody listens");
        assert_eq!(
            (explained.heard, explained.subject),
            (false, None),
            "{hook}"
        );
        assert_eq!(explained.nearest_hook.as_deref(), nearest, "{hook}");
        assert!(
            explained
                .plugins
                .iter()
                .all(|plugin| matches!(plugin.turn, Turn::Skipped { .. })),
            "{hook}"
        );
    }
}

#[test]
fn a_call_that_does_not_pass_the_door() {
    let config = parse("- {name: p, kind: a.B, hooks: [tool_pre_invoke]}\n");
    let error = config.explain(HOOK, "[]", &Request::default()).unwrap_err();
    assert_eq!(error.code(), "invalid_payload");
    assert_eq!(
        error.to_string(),
        "the payload of tool_pre_invoke has the wrong shape: the payload is not an object"
    );
    let request = Request {
        extensions: Some(Json::parse(r#"{"security": 5}"#).expect("JSON")),
        ..Request::default()
    };
    let error = config.explain(HOOK, PAYLOAD, &request).unwrap_err();
    assert_eq!(error.code(), "invalid_request");
    let mut small = config;
    small.max_payload_bytes = 10;
    let error = small
        .explain(HOOK, PAYLOAD, &Request::default())
        .unwrap_err();
    assert_eq!(
        error.to_string(),
        format!(
            "the payload of tool_pre_invoke has {} bytes; at most 10",
            PAYLOAD.len()
        )
    );
}

#[test]
fn the_first_field_that_does_not_hold_of_each_alternative() {
    let mut request = Request::with_id("r");
    request.server_id = Some("s1".into());
    request.content_type = Some("Text/HTML; charset=utf-8".into());
    request.user = Some(Json::string("alice"));
    let mismatch = |field: &str, expected: &[&str], found: Value| json!({"field": field, "expected": expected, "found": found});
    let rows = [
        (
            "{server_ids: [s3, s2]}",
            mismatch("server_ids", &["s2", "s3"], json!("s1")),
        ),
        (
            "{server_ids: [s1], tenant_ids: [t]}",
            mismatch("tenant_ids", &["t"], Value::Null),
        ),
        (
            "{content_types: [A/B]}",
            mismatch("content_types", &["a/b"], json!("text/html")),
        ),
        (
            "{user_patterns: [bob, eve]}",
            mismatch("user_patterns", &["bob", "eve"], json!("alice")),
        ),
        (
            "{tools: [bash], user_patterns: [ali]}",
            mismatch("tools", &["bash"], json!("sh")),
        ),
    ];
    for (alternative, expected) in &rows {
        let more = format!("  hooks: [tool_pre_invoke]\n  conditions: [{alternative}]");
        assert_eq!(
            reason(&explain_one(&more, &request)),
            json!({"code": "conditions", "alternatives": [expected]})
        );
    }
    let all: Vec<&str> = rows.iter().map(|(alternative, _)| *alternative).collect();
    let more = format!(
        "  hooks: [tool_pre_invoke]\n  conditions: [{}]",
        all.join(", ")
    );
    let expected: Vec<&Value> = rows.iter().map(|(_, expected)| expected).collect();
    assert_eq!(
        reason(&explain_one(&more, &request)),
        json!({"code": "conditions", "alternatives": expected})
    );
    let held = format!(
        "{more_but_bracket}, {{tools: [sh]}}]",
        more_but_bracket = more.trim_end_matches(']')
    );
    assert!(
        matches!(explain_one(&held, &request).turn, Turn::Runs(_)),
        "{held}"
    );
}

#[test]
fn a_user_that_is_an_object_is_told_by_its_keys() {
    let rows = [
        (
            r#"{"name": "s3cr3t", "role": {"x": 1}}"#,
            "an object with name, role",
        ),
        ("{}", "an empty object"),
    ];
    for (user, found) in rows {
        let request = Request {
            user: Some(Json::parse(user).expect("JSON")),
            ..Request::default()
        };
        let more = "  hooks: [tool_pre_invoke]\n  conditions: [{user_patterns: [admin]}]";
        let reason = reason(&explain_one(more, &request));
        assert_eq!(reason["alternatives"][0]["found"], found);
    }
}

async fn served(explained: Result<Explanation, InvokeError>) -> Vec<(String, Option<SkipReason>)> {
    let explained = explained.expect("passes the door");
    let turn = |plugin: PluginExplanation| match plugin.turn {
        Turn::Skipped { reason } => (plugin.name, Some(reason)),
        _ => (plugin.name, None),
    };
    explained.plugins.into_iter().map(turn).collect()
}

#[tokio::test]
async fn a_plugin_that_a_fault_switched_off() {
    let broken = named("broken", faulting(FaultKind::Trap)).on_error(OnError::Disable);
    let engine = engine([broken, named("other", allowing())]).await;
    let explain = || served(engine.explain(HOOK, PAYLOAD, &Request::default()));
    let runs = |name: &str| (name.to_owned(), None);
    assert_eq!(explain().await, [runs("broken"), runs("other")]);
    ask(&engine).await;
    let off = ("broken".to_owned(), Some(SkipReason::SwitchedOff));
    assert_eq!(explain().await, [off, runs("other")]);
    assert!(engine.enable("broken"));
    assert_eq!(explain().await, [runs("broken"), runs("other")]);
}

#[tokio::test]
async fn an_engine_knows_what_it_did_not_load() {
    let shelf = Shelf::new();
    let loaded = allowing();
    shelf.put("loaded", &loaded);
    let mut plugins = config(&["loaded"]);
    let mut off = entry("off");
    off.mode = Mode::Disabled;
    off.group = Some("later".into());
    plugins.plugins.insert(0, off);
    let disabled = allowing();
    let engine = Engine::builder()
        .host(shelf)
        .config(plugins)
        .in_process(named("here", allowing()).priority(1))
        .in_process(named("here-off", disabled.clone()).mode(Mode::Disabled))
        .build()
        .await
        .expect("all load");
    let explained = engine.explain(HOOK, PAYLOAD, &Request::default());
    let explained = explained.expect("passes the door");
    let off = |name: &str| {
        (
            name.to_owned(),
            Some(SkipReason::Disabled { listens: true }),
        )
    };
    assert_eq!(explained.plugins[2].group.as_deref(), Some("later"));
    assert_eq!(
        served(Ok(explained)).await,
        [
            ("here".to_owned(), None),
            ("loaded".to_owned(), None),
            off("off"),
            off("here-off")
        ]
    );
    assert_eq!((loaded.calls(), disabled.calls()), (0, 0));
    // A reload forgets what the old configuration had disabled.
    engine
        .reload(Config::default())
        .await
        .expect("nothing to load");
    let explained = engine.explain(HOOK, PAYLOAD, &Request::default());
    assert_eq!(
        served(explained).await,
        [("here".to_owned(), None), off("here-off")]
    );
}

#[tokio::test]
async fn a_plugin_that_was_left_out() {
    let shelf = Shelf::new();
    shelf.put("there", &allowing());
    let mut plugins = config(&["there", "missing"]);
    plugins.skip_unloadable = true;
    plugins.plugins[1].hooks = vec!["deploy.started".into()];
    let builder = Engine::builder().host(shelf).config(plugins);
    let engine = builder.build().await.expect("one is left out");
    let problem = "no such component".to_owned();
    let missing = ("missing".to_owned(), Some(SkipReason::LeftOut { problem }));
    let explained = engine.explain(HOOK, PAYLOAD, &Request::default());
    assert_eq!(
        served(explained).await,
        [("there".to_owned(), None), missing]
    );
    // It listens to nothing.
    let explained = engine.explain("deploy.started", "no JSON", &Request::default());
    assert!(!explained.expect("nobody listens").heard);
}

#[tokio::test]
async fn an_engine_that_was_shut_down() {
    let engine = engine([named("p", allowing())]).await;
    engine.shutdown().await;
    for hook in [HOOK, "unheard"] {
        let error = engine
            .explain(hook, PAYLOAD, &Request::default())
            .unwrap_err();
        assert_eq!(error, InvokeError::ShutDown);
    }
}

#[tokio::test]
async fn a_configuration_and_its_engine_say_the_same() {
    let mut plugins = config(&["a", "b", "c", "d", "e"]);
    plugins.plugins[0].mode = Mode::Concurrent;
    plugins.plugins[1].priority = 200;
    plugins.plugins[2].hooks = vec!["tool_post_invoke".into()];
    plugins.plugins[3].mode = Mode::Disabled;
    plugins.plugins[4].on_error = OnError::Ignore;
    let shelf = Shelf::new();
    for name in ["a", "b", "c", "e"] {
        shelf.put(name, &allowing());
    }
    let builder = Engine::builder().host(Arc::clone(&shelf) as Arc<_>);
    let engine = builder
        .config(plugins.clone())
        .build()
        .await
        .expect("all load");
    for hook in [HOOK, "tool_post_invoke", "other"] {
        let payload = r#"{"name":"t","result":1}"#;
        let by_config = plugins.explain(hook, payload, &Request::default());
        let mut by_engine = engine
            .explain(hook, payload, &Request::default())
            .expect("passes the door");
        for plugin in &mut by_engine.plugins {
            // The plugins on the shelf call themselves in-process.
            plugin.kind = "wasm".into();
        }
        assert_eq!(by_config.expect("passes the door"), by_engine, "{hook}");
    }
}
