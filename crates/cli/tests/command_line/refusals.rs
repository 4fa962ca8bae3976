//! Configurations that are not usable: every command says why, and exits 1.

use serde_json::{Value, json};

use super::support::{Ended, Folder, deny_list, entry};

fn check(text: &str) -> Ended {
    let ended = Folder::with_config(text).run(&["check"]);
    assert_eq!(
        (ended.code, ended.stdout.as_str()),
        (Some(1), ""),
        "{}",
        ended.stderr
    );
    ended
}

/// The problems of a configuration as programs see them.
fn problems(text: &str) -> Vec<Value> {
    let ended = Folder::with_config(text).run(&["check", "--format", "json"]);
    assert_eq!((ended.code, ended.stderr.as_str()), (Some(1), ""));
    let report = ended.json();
    assert_eq!(
        (&report["ok"], &report["plugins"]),
        (&json!(false), &json!([]))
    );
    report["problems"].as_array().unwrap().clone()
}

#[test]
fn a_missing_file_has_a_hint() {
    let expected = "error: the configuration cannot be read: no such file or folder
  --> hookgate.yaml:1:1
  hint: name another file with --config FILE

1 problem in hookgate.yaml; nothing was loaded
";
    let folder = Folder::new();
    let commands: [&[&str]; 4] = [
        &["check"],
        &["call", "x", "{}"],
        &["explain", "x", "{}"],
        &["run"],
    ];
    for arguments in commands {
        let ended = folder.run(arguments);
        assert_eq!(
            (ended.code, ended.stdout.as_str(), ended.stderr.as_str()),
            (Some(1), "", expected),
            "{arguments:?}"
        );
    }
}

#[test]
fn an_unknown_key_is_shown_where_it_stands() {
    let ended = check(&deny_list().replace("hooks:", "hook:"));
    let expected = "error: unknown key: hook
   ╭─[hookgate.yaml:5:5]
 4 │     component: ";
    assert!(ended.stderr.contains(expected), "{}", ended.stderr);
    assert!(
        ended
            .stderr
            .contains(" 5 │     hook: [tool_pre_invoke]\n   ·     ────\n"),
        "{}",
        ended.stderr
    );
    assert!(
        ended
            .stderr
            .contains("  plugin: deny-list\n  hint: did you mean `hooks`? possible keys: "),
        "{}",
        ended.stderr
    );
    assert!(
        ended
            .stderr
            .ends_with("in hookgate.yaml; nothing was loaded\n"),
        "{}",
        ended.stderr
    );
    assert!(
        !ended.stderr.contains('\u{1b}'),
        "colour without a terminal: {:?}",
        ended.stderr
    );
}

#[test]
fn text_that_is_no_yaml_is_one_problem() {
    let found = problems("plugins: [\n");
    assert_eq!(found.len(), 1);
    assert_eq!(
        (&found[0]["stage"], &found[0]["file"]),
        (&json!("config"), &json!("hookgate.yaml"))
    );
    assert!(check("plugins: [\n").stderr.starts_with("error: "));
}

#[test]
fn all_problems_of_a_file_are_named_at_once() {
    let twice = entry(
        "deny-list",
        "redactor-rust",
        "tool_pre_invoke",
        "    priority: first\n",
    );
    let missing = "  - {name: gone, kind: wasm, component: gone.wasm, hooks: [tool_pre_invoke]}\n";
    let found = problems(&format!("{}{twice}{missing}", deny_list()));
    let told: Vec<(&str, u64, &str)> = found
        .iter()
        .map(|problem| {
            let text = |key: &str| problem[key].as_str().unwrap();
            (
                text("message"),
                problem["line"].as_u64().unwrap(),
                text("plugin"),
            )
        })
        .collect();
    assert_eq!(told.len(), 3, "{told:?}");
    assert_eq!(
        told[0],
        (
            "duplicate plugin name: deny-list, on line 7 and first on line 2",
            7,
            "deny-list"
        )
    );
    assert_eq!(
        told[1],
        (
            "priority: expected an integer, found a string",
            11,
            "deny-list"
        )
    );
    assert_eq!(
        told[2],
        ("component: no such file or folder: gone.wasm", 12, "gone")
    );
}

#[test]
fn a_component_of_another_version_is_refused_with_both_versions() {
    let ended = check(&format!(
        "plugins:\n{}",
        entry("gate", "future-version", "tool_pre_invoke", "")
    ));
    let expected = "error: plugin gate: the component speaks hookgate:plugin@0.2.0; this engine speaks hookgate:plugin@0.1.0
  --> hookgate.yaml:2
  hint: rebuild the plugin against wit/plugin.wit 0.1.0 (any 0.1.x will do)

1 plugin of hookgate.yaml did not load
";
    assert_eq!(ended.stderr, expected);
}

#[test]
fn every_plugin_that_does_not_load_is_named() {
    let folder = Folder::new();
    folder.write("core.wasm", b"\0asm\x01\0\0\0");
    folder.write("text.wasm", "hello");
    let core = "  - {name: core, kind: wasm, component: core.wasm, hooks: [tool_pre_invoke]}\n";
    let text = "  - {name: text, kind: wasm, component: text.wasm, hooks: [tool_pre_invoke]}\n";
    let tools = entry("tools", "tools-only", "prompt_pre_fetch", "");
    folder.write(
        "hookgate.yaml",
        format!("{}{core}{text}{tools}", deny_list()),
    );
    let ended = folder.run(&["check", "--format", "json"]);
    assert_eq!(ended.code, Some(1));
    let report = ended.json();
    let problems = report["problems"].as_array().unwrap();
    let plugins: Vec<&Value> = problems.iter().map(|problem| &problem["plugin"]).collect();
    assert_eq!(plugins, ["core", "text", "tools"]);
    let lines: Vec<&Value> = problems.iter().map(|problem| &problem["line"]).collect();
    assert_eq!(lines, [7, 8, 9]);
    assert!(
        problems
            .iter()
            .all(|problem| problem["stage"] == "load" && problem["hint"].is_string()),
        "{problems:?}"
    );
    assert!(
        problems[0]["message"]
            .as_str()
            .unwrap()
            .ends_with("core.wasm is a core module, not a component")
    );

    let ended = folder.run(&["run"]);
    assert_eq!((ended.code, ended.stdout.as_str()), (Some(1), ""));
    assert!(
        ended
            .stderr
            .ends_with("\n3 plugins of hookgate.yaml did not load\n"),
        "{}",
        ended.stderr
    );
}

#[test]
fn a_plugin_that_refuses_its_config_says_so() {
    let ended = check(&deny_list().replace("words: [secret]", "words: 3"));
    assert!(
        ended.stderr.starts_with("error: plugin deny-list: "),
        "{}",
        ended.stderr
    );
    assert!(ended.stderr.contains("words"), "{}", ended.stderr);
    assert!(
        ended
            .stderr
            .ends_with("\n1 plugin of hookgate.yaml did not load\n"),
        "{}",
        ended.stderr
    );
}
