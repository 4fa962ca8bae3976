//! `hookgate explain`.

use serde_json::json;

use super::support::{Ended, Folder};

const CONFIG: &str = "plugins:
- {name: told, kind: a.B, hooks: [tool_pre_invoke], mode: fire_and_forget, on_error: ignore}
- {name: gate, kind: wasm, component: gate.wasm, hooks: [tool_pre_invoke, prompt_pre_fetch], priority: 10, limits: {timeout: 50ms}}
- name: labels
  kind: wasm
  component: gate.wasm
  hooks: [tool_pre_invoke]
  mode: transform
  on_error: disable
  permissions: {data: [append_labels, write_headers]}
- {name: watch, kind: a.B, hooks: [tool_pre_invoke], mode: audit, conditions: [{tools: [sh]}]}
- {name: off, kind: a.B, hooks: [tool_pre_invoke], mode: disabled}
- {name: off-elsewhere, kind: a.B, hooks: [x], mode: disabled}
- {name: results, kind: a.B, hooks: [tool_post_invoke, prompt_post_fetch]}
- {name: slip, kind: a.B, hooks: [tool_pre_invok]}
- name: admins
  kind: a.B
  hooks: [tool_pre_invoke]
  conditions:
  - {tenant_ids: [t1, t2]}
  - {user_patterns: [admin]}
  - {tools: [a, b, c, d, e, f, g]}
";

const PAYLOAD: &str = r#"{"name": "sh", "args": {"cmd": "ls"}}"#;

fn folder() -> Folder {
    let folder = Folder::with_config(CONFIG);
    // Nothing is loaded: an empty component will do.
    folder.write("gate.wasm", "");
    folder
}

fn explain(arguments: &[&str]) -> Ended {
    let ended = folder().run(&[&["explain"], arguments].concat());
    assert_eq!((ended.code, ended.stderr.as_str()), (Some(0), ""));
    ended
}

#[test]
fn who_is_asked_and_why_the_others_are_not() {
    let request = r#"{"tenant_id": "t3", "extensions": {"meta": {}, "security": {"labels": []}}}"#;
    let ended = explain(&[
        "tool_pre_invoke",
        PAYLOAD,
        "--user",
        "bob",
        "--request",
        request,
    ]);
    let expected = "\
hook: tool_pre_invoke
subject: sh

asked in this order, until one denies:
  place  phase            plugin  kind    priority  may           timeout  on_error  sees                              grants
      1  sequential       gate    wasm          10  modify, deny    50 ms  fail      payload, meta                     -
      2  transform        labels  wasm         100  modify            1 s  disable   payload, headers, meta, security  append_labels, write_headers
      3  audit            watch   python       100  -                30 s  fail      payload, headers, meta            -
      4  fire_and_forget  told    python       100  -                30 s  ignore    payload, headers, meta            -

not asked:
  results: listens to tool_post_invoke, prompt_post_fetch
  slip: listens to tool_pre_invok; is `tool_pre_invok` the hook that is meant?
  admins: none of its conditions holds
    tenant_ids: wants one of t1, t2, found t3
    user_patterns: wants admin, found bob
    tools: wants one of a, b, c, d, e, 2 more, found sh
  off: mode disabled, it is not loaded
  off-elsewhere: mode disabled, it is not loaded; it would not listen to this hook either
";
    assert_eq!(ended.stdout, expected);
}

#[test]
fn a_hook_nobody_listens_to() {
    let ended = explain(&["prompt_pre_fetc", "no JSON"]);
    let expected = "\
hook: prompt_pre_fetc
nobody listens to this hook: the call is allowed, and its payload is not checked
  hint: did you mean `prompt_pre_fetch`?

not asked:
  gate: listens to tool_pre_invoke, prompt_pre_fetch; is `prompt_pre_fetch` the hook that is meant?
";
    assert!(ended.stdout.starts_with(expected), "{}", ended.stdout);
}

#[test]
fn nobody_is_asked_where_no_condition_holds() {
    let folder = Folder::with_config(
        "plugins:\n- {name: p, kind: a.B, hooks: [tool_pre_invoke], conditions: [{server_ids: [s1]}]}\n",
    );
    let expected = "\
hook: tool_pre_invoke
subject: sh
nobody is asked: the call is allowed

not asked:
  p: none of its conditions holds
    server_ids: wants s1, found nothing
";
    let ended = folder.run(&["explain", "tool_pre_invoke", PAYLOAD]);
    assert_eq!((ended.code, ended.stdout.as_str()), (Some(0), expected));
}

#[test]
fn no_plugins_at_all() {
    let ended = Folder::with_config("plugins: []\n").run(&["explain", "x", "{}"]);
    let expected = "hook: x\nnobody listens to this hook: the call is allowed, and its payload is not checked\n";
    assert_eq!((ended.code, ended.stdout.as_str()), (Some(0), expected));
}

#[test]
fn a_group_is_named() {
    let folder = Folder::with_config(
        "groups:
- {name: late, plugins: [a, b, c], priority: 200}
plugins:
- {name: a, kind: a.B, hooks: [tool_pre_invoke]}
- {name: b, kind: a.B, hooks: [tool_pre_invoke], mode: disabled}
- {name: c, kind: a.B, hooks: [tool_pre_invoke], conditions: [{tools: [x]}]}
- {name: d, kind: a.B, hooks: [tool_pre_invoke]}
",
    );
    let ended = folder.run(&["explain", "tool_pre_invoke", PAYLOAD]);
    let expected = "\
hook: tool_pre_invoke
subject: sh

asked in this order, until one denies:
  place  phase       plugin  kind    priority  may           timeout  on_error  sees              grants  group
      1  sequential  d       python       100  modify, deny     30 s  fail      payload, headers  -       -
      2  sequential  a       python       200  modify, deny     30 s  fail      payload, headers  -       late

not asked:
  c: none of its conditions holds (group late)
    tools: wants x, found sh
  b: mode disabled, it is not loaded (group late)
";
    assert_eq!((ended.code, ended.stdout.as_str()), (Some(0), expected));
}

#[test]
fn of_many_alternatives_the_first_are_told() {
    let alternatives: Vec<String> = (0..24)
        .map(|number| format!("{{tools: [t{}]}}", number / 2))
        .collect();
    let folder = Folder::with_config(&format!(
        "plugins:\n- {{name: p, kind: a.B, hooks: [tool_pre_invoke], conditions: [{}]}}\n",
        alternatives.join(", ")
    ));
    let ended = folder.run(&["explain", "tool_pre_invoke", PAYLOAD]);
    let lines: Vec<&str> = ended.stdout.lines().skip(5).collect();
    let mut expected = vec!["  p: none of its conditions holds".to_owned()];
    expected.extend((0..10).map(|number| format!("    tools: wants t{number}, found sh")));
    expected.push("    and 2 more, see --format json".to_owned());
    assert_eq!(lines, expected);
}

#[test]
fn json_is_the_whole_explanation() {
    let explanation = explain(&["tool_pre_invoke", PAYLOAD, "--format", "json"]).json();
    assert_eq!(
        (
            &explanation["hook"],
            &explanation["subject"],
            &explanation["heard"]
        ),
        (&json!("tool_pre_invoke"), &json!("sh"), &json!(true))
    );
    let plugins = explanation["plugins"].as_array().unwrap();
    let found: Vec<_> = plugins
        .iter()
        .map(|plugin| {
            json!([
                plugin["name"],
                plugin["verdict"],
                plugin["position"],
                plugin["reason"]["code"]
            ])
        })
        .collect();
    let expected = [
        json!(["gate", "runs", 1, null]),
        json!(["results", "skipped", null, "not_listening"]),
        json!(["slip", "skipped", null, "not_listening"]),
        json!(["admins", "skipped", null, "conditions"]),
        json!(["labels", "runs", 2, null]),
        json!(["watch", "runs", 3, null]),
        json!(["told", "runs", 4, null]),
        json!(["off", "skipped", null, "disabled"]),
        json!(["off-elsewhere", "skipped", null, "disabled"]),
    ];
    assert_eq!(found, expected);
    let admins = &plugins[3]["reason"]["alternatives"];
    assert_eq!(
        admins[0],
        json!({"field": "tenant_ids", "expected": ["t1", "t2"], "found": null})
    );
    assert_eq!(admins[2]["expected"].as_array().unwrap().len(), 7);
}

#[test]
fn a_call_that_does_not_pass_the_door_is_an_error_and_3() {
    let message =
        "the payload of tool_pre_invoke has the wrong shape: the payload is not an object";
    let ended = folder().run(&["explain", "tool_pre_invoke", "[]"]);
    assert_eq!((ended.code, ended.stdout.as_str()), (Some(3), ""));
    assert_eq!(ended.stderr, format!("error: invalid_payload: {message}\n"));
    let ended = folder().run(&["explain", "tool_pre_invoke", "[]", "--format", "json"]);
    assert_eq!((ended.code, ended.stderr.as_str()), (Some(3), ""));
    let expected = json!({"error": {"code": "invalid_payload", "message": message}});
    assert_eq!(ended.json(), expected);
}

#[test]
fn the_payload_comes_from_an_argument_a_file_or_stdin() {
    let folder = folder();
    folder.write("payload.json", PAYLOAD);
    let expected = folder.run(&["explain", "tool_pre_invoke", PAYLOAD]).stdout;
    for (payload, input) in [
        (Some("@payload.json"), ""),
        (Some("-"), PAYLOAD),
        (None, PAYLOAD),
    ] {
        let mut arguments = vec!["explain", "tool_pre_invoke"];
        arguments.extend(payload);
        let ended = folder.run_with(&arguments, input);
        assert_eq!(
            (ended.code, &ended.stdout),
            (Some(0), &expected),
            "{payload:?}"
        );
    }
}

#[test]
fn a_token_is_not_printed() {
    let folder = Folder::with_config(
        "plugins:\n- {name: p, kind: a.B, hooks: [identity_resolve], conditions: [{tools: [search]}]}\n",
    );
    let payload = r#"{"raw_token": "s3cr3t"}"#;
    for format in ["text", "json"] {
        let ended = folder.run(&["explain", "identity_resolve", payload, "--format", format]);
        assert_eq!(ended.code, Some(0));
        assert!(ended.stdout.contains("found"), "{}", ended.stdout);
        assert!(!ended.stdout.contains("s3cr3t"), "{}", ended.stdout);
    }
}

#[test]
fn text_of_the_caller_does_not_reach_the_terminal_as_it_is() {
    let folder = Folder::with_config(
        "plugins:\n- {name: p, kind: a.B, hooks: [tool_pre_invoke], conditions: [{tools: [x]}]}\n",
    );
    let ended = folder.run(&["explain", "tool_pre_invoke", r#"{"name": "\u001b[31m\n"}"#]);
    assert!(
        ended.stdout.contains("subject: \\u{1b}[31m\\n\n"),
        "{}",
        ended.stdout
    );
    assert!(
        ended.stdout.contains("found \\u{1b}[31m\\n\n"),
        "{}",
        ended.stdout
    );
}
