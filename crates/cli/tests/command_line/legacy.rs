//! Configurations of the legacy framework on the command line.

use hookgate_vectors::guests;
use serde_json::json;

use super::support::{Folder, entry};

/// A file in the shape of a gateway's, whose plugins need no Python.
fn config() -> String {
    let good = entry(
        "deny-list",
        "deny-list-rust",
        "tool_pre_invoke",
        "    mode: enforce\n    config: {words: [\"{{ env.DENIED | default('secret') }}\"]}\n",
    );
    format!(
        "plugin_dirs: [plugins/none]\nplugin_settings: {{fail_on_plugin_error: false, include_user_info: true}}\nplugins:\n{good}  \
         - name: broken\n    kind: wasm\n    component: broken.wasm\n    hooks: [tool_pre_invoke]\n  \
         - {{name: elsewhere, kind: external, mode: disabled}}\n"
    )
}

fn folder() -> Folder {
    let folder = Folder::new();
    std::fs::create_dir(folder.path().join("plugins")).unwrap();
    folder.write("plugins/config.yaml", config());
    folder.write("broken.wasm", "no component");
    folder
}

#[test]
fn check_says_what_is_not_as_at_home() {
    let ended = folder().run(&["check", "plugins/config.yaml"]);
    assert_eq!(ended.code, Some(0), "{ended:?}");
    for expected in [
        "note: a legacy configuration: paths start at ",
        "note: plugin_dirs: no such folder: plugins/none\n",
        "note: plugin_settings.fail_on_plugin_error: false: a plugin that does not load is left out\n",
        "note: means nothing here: plugin_settings.include_user_info\n",
        "\nbroken\n  hooks: tool_pre_invoke\n  grants: none\n  left out, since it does not load: ",
        "elsewhere  external  disabled",
    ] {
        assert!(
            ended.stdout.contains(expected),
            "{expected}\n{}",
            ended.stdout
        );
    }
    assert!(
        ended
            .stdout
            .ends_with("plugins/config.yaml: 1 plugin loaded, 1 disabled, 1 left out\n"),
        "{}",
        ended.stdout
    );
    assert!(
        ended.stderr.contains("left out, since it does not load"),
        "{}",
        ended.stderr
    );
}

#[test]
fn check_has_all_of_it_as_json() {
    let ended = folder().run(&["check", "--format", "json", "plugins/config.yaml"]);
    let report = ended.json();
    assert_eq!(report["ok"], true);
    let left_out = &report["plugins"][1];
    assert_eq!(
        (&left_out["name"], &left_out["loaded"]),
        (&json!("broken"), &json!(null))
    );
    assert!(left_out["left_out"]["message"].is_string(), "{left_out}");
    assert_eq!(report["plugins"][0].get("left_out"), None);
    assert_eq!(report["plugins"][2]["kind"], "external");
}

#[test]
fn variables_of_the_process_are_filled_in() {
    let folder = folder();
    let arguments = [
        "call",
        "--config",
        "plugins/config.yaml",
        "--format",
        "json",
        "tool_pre_invoke",
    ];
    let payload = r#"{"name": "t", "args": {"q": "forbidden"}}"#;
    let decision = |denied: Option<&str>| {
        let mut command = folder.command(&[&arguments[..], &[payload]].concat());
        command.env_remove("DENIED");
        command.envs(denied.map(|denied| ("DENIED", denied)));
        let output = command.output().unwrap();
        let outcome: serde_json::Value = serde_json::from_slice(&output.stdout).unwrap();
        outcome["decision"].clone()
    };
    assert_eq!(decision(None), "allow");
    assert_eq!(decision(Some("forbidden")), "deny");
}

#[test]
fn the_shape_can_be_said() {
    let folder = folder();
    let ended = folder.run(&["check", "--shape", "hookgate", "plugins/config.yaml"]);
    assert_eq!(ended.code, Some(1));
    for expected in [
        "only the legacy shape has it: plugin_dirs",
        "only the legacy shape has it: plugin_settings",
        "only the legacy shape has it: mode enforce",
        "write `mode: sequential`, which is the same",
    ] {
        assert!(
            ended.stderr.contains(expected),
            "{expected}\n{}",
            ended.stderr
        );
    }
    let component = guests::component("deny-list-rust");
    let text = format!(
        "plugins:\n- {{name: p, kind: wasm, component: {}, hooks: [tool_pre_invoke], namespace: n, config: {{words: [x]}}}}\n",
        component.display()
    );
    folder.write("plain.yaml", text);
    for (shape, code) in [("auto", 1), ("hookgate", 1), ("legacy", 0)] {
        let ended = folder.run(&["check", "plain.yaml", "--shape", shape]);
        assert_eq!(ended.code, Some(code), "{shape}: {}", ended.stderr);
    }
    for command in ["call", "run", "demo"] {
        let help = folder.run(&[command, "--help"]);
        assert!(
            help.stdout.contains("--shape <SHAPE>"),
            "{command}: {}",
            help.stdout
        );
    }
}

#[test]
fn a_template_that_cannot_be_filled_in_is_shown_in_the_file() {
    let folder = folder();
    folder.write(
        "plugins/config.yaml",
        config().replace("| default(", "| defalt("),
    );
    let ended = folder.run(&["check", "plugins/config.yaml"]);
    assert_eq!(ended.code, Some(1));
    for expected in [
        "template: unknown filter: defalt",
        "did you mean `default`?",
        "defalt('secret')",
        "plugins/config.yaml:9",
    ] {
        assert!(
            ended.stderr.contains(expected),
            "{expected}\n{}",
            ended.stderr
        );
    }
}
