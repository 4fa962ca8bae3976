//! What a plugin that is asked may see and do, and the form of it all.

use std::time::Duration;

use hookgate_core::config::{Config, Mode, OnError};
use hookgate_core::{Capability, Json, Part, Request, Turn};
use serde_json::json;

use crate::support::{HOOK, PAYLOAD, allowing, engine, named};

const CONFIG: &str = "plugins:
- {name: told, kind: a.B, hooks: [tool_pre_invoke], mode: fire_and_forget, on_error: ignore}
- {name: late, kind: a.B, hooks: [tool_pre_invoke], priority: 200}
- {name: judge, kind: a.B, hooks: [tool_pre_invoke], mode: concurrent, on_error: ignore, limits: {timeout: 50ms}}
- {name: first, kind: a.B, hooks: [tool_pre_invoke], priority: 200}
- {name: early, kind: a.B, hooks: [tool_pre_invoke], priority: -1, permissions: {data: [append_labels, read_subject]}}
- {name: off, kind: a.B, hooks: [tool_pre_invoke], mode: disabled, priority: -9}
- {name: watch, kind: a.B, hooks: [tool_pre_invoke], mode: audit}
- {name: change, kind: a.B, hooks: [tool_pre_invoke], mode: transform, on_error: disable}
- {name: elsewhere, kind: a.B, hooks: [tool_post_invoke], mode: transform, priority: 1}
";

#[test]
fn the_order_is_phase_priority_configuration() {
    let config = Config::parse(CONFIG, "hookgate.yaml", ".".as_ref()).expect("a configuration");
    let explained = config.explain(HOOK, PAYLOAD, &Request::default());
    let explained = explained.expect("passes the door");
    let found: Vec<_> = explained
        .plugins
        .iter()
        .map(|plugin| match &plugin.turn {
            Turn::Runs(part) => (
                plugin.name.as_str(),
                part.position,
                part.may_modify,
                part.may_block,
            ),
            _ => (plugin.name.as_str(), 0, false, false),
        })
        .collect();
    let expected = [
        ("early", 1, true, true),
        ("late", 2, true, true),
        ("first", 3, true, true),
        ("elsewhere", 0, false, false),
        ("change", 4, true, false),
        ("watch", 5, false, false),
        ("judge", 6, false, true),
        ("told", 7, false, false),
        ("off", 0, false, false),
    ];
    assert_eq!(found, expected);
    assert_eq!(explained.subject.as_deref(), Some("sh"));
}

#[test]
fn as_json() {
    let text = "plugins:
- name: early
  kind: a.B
  hooks: [tool_pre_invoke]
  priority: -1
  limits: {timeout: 50ms}
  permissions: {data: [read_subject, append_labels]}
- {name: off, kind: a.B, hooks: [x], mode: disabled}
";
    let config = Config::parse(text, "hookgate.yaml", ".".as_ref()).expect("a configuration");
    let mut request = Request::default();
    let slots = r#"{"meta": {"tags": ["a"]}, "agent": {"session_id": "s"}, "security": {"labels": ["pii"]}}"#;
    request.extensions = Some(Json::parse(slots).expect("JSON"));
    let explained = config.explain(HOOK, PAYLOAD, &request);
    let expected = json!({
        "hook": "tool_pre_invoke", "subject": "sh", "heard": true, "nearest_hook": null,
        "plugins": [
            {"name": "early", "kind": "python", "group": null, "mode": "sequential", "priority": -1,
             "verdict": "runs", "position": 1, "may_modify": true, "may_block": true, "on_error": "fail",
             "timeout_ms": 50, "sees_headers": true, "data": ["append_labels", "read_subject"],
             "extensions": ["meta", "security"]},
            {"name": "off", "kind": "python", "group": null, "mode": "disabled", "priority": 100,
             "verdict": "skipped", "reason": {"code": "disabled", "listens": false}},
        ],
    });
    let found = serde_json::to_value(explained.expect("passes the door")).expect("JSON");
    assert_eq!(found, expected);
}

#[tokio::test]
async fn what_a_plugin_of_this_process_may_see() {
    let rows: [(&[Capability], bool, &[&str]); 4] = [
        (&[], false, &["meta"]),
        (&[Capability::ReadHeaders], true, &["http", "meta"]),
        (&[Capability::WriteHeaders], true, &["http", "meta"]),
        (&[Capability::ReadAgent], false, &["agent", "meta"]),
    ];
    let slots = r#"{"meta": {"tags": ["a"]}, "agent": {"session_id": "s"}, "http": {"headers": {"a": "b"}}}"#;
    let request = Request {
        extensions: Some(Json::parse(slots).expect("JSON")),
        ..Request::default()
    };
    for (granted, sees_headers, slots) in rows {
        let plugin = named("p", allowing())
            .data(granted.iter().copied())
            .timeout(Duration::from_millis(1_500))
            .on_error(OnError::Ignore)
            .mode(Mode::Audit);
        let explained = engine([plugin]).await.explain(HOOK, PAYLOAD, &request);
        let explained = explained.expect("passes the door");
        let Turn::Runs(part) = &explained.plugins[0].turn else {
            panic!("{explained:?}");
        };
        let Part {
            position: 1,
            may_modify: false,
            may_block: false,
            on_error: OnError::Ignore,
            timeout_ms: 1_500,
            data,
            extensions,
            ..
        } = part
        else {
            panic!("{part:?}");
        };
        assert_eq!(part.sees_headers, sees_headers, "{granted:?}");
        assert_eq!(data.iter().collect::<Vec<_>>(), granted);
        let mut lent = extensions.clone();
        lent.sort_unstable();
        assert_eq!(lent, slots, "{granted:?}");
        assert_eq!(explained.plugins[0].kind, "in-process");
    }
}
