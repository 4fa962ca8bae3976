//! `hookgate check` on configurations that load.

use serde_json::json;

use super::support::{Folder, deny_list, entry};

fn full() -> String {
    let granted = "    priority: 10
    on_error: ignore
    limits: {timeout: 50ms, memory: 32MiB, concurrency: 8}
    permissions:
      files: [{host: ./data, guest: /data, access: read}]
      env: [API_BASE]
      data: [read_headers]
    config: {words: [secret]}
";
    let granted = entry(
        "deny-list",
        "deny-list-rust",
        "tool_pre_invoke, prompt_pre_fetch",
        granted,
    );
    let disabled = entry(
        "later",
        "redactor-rust",
        "tool_pre_invoke",
        "    mode: disabled\n    config: {words: [x]}\n",
    );
    format!("plugins:\n{granted}{disabled}")
}

fn folder() -> Folder {
    let folder = Folder::with_config(&full());
    std::fs::create_dir(folder.path().join("data")).unwrap();
    folder
}

#[test]
fn a_table_and_the_rest_plugin_by_plugin() {
    let folder = folder();
    let ended = folder.run(&["check"]);
    assert_eq!((ended.code, ended.stderr.as_str()), (Some(0), ""));
    let data = std::fs::canonicalize(folder.path()).unwrap().join("data");
    let expected = [
        "plugin     kind  mode        priority  on_error  timeout  memory  concurrency".to_owned(),
        "deny-list  wasm  sequential        10  ignore      50 ms  32 MiB            8".to_owned(),
        "later      wasm  disabled         100  fail          1 s  64 MiB           64".to_owned(),
        String::new(),
        "deny-list".to_owned(),
        "  hooks: tool_pre_invoke, prompt_pre_fetch".to_owned(),
        format!(
            "  grants: read of {} as /data, env API_BASE, data read_headers",
            data.display()
        ),
    ];
    let lines: Vec<&str> = ended.stdout.lines().collect();
    assert_eq!(lines[..expected.len()], expected);
    assert!(
        lines.iter().any(|line| line.starts_with("  sandbox: wasm")),
        "{}",
        ended.stdout
    );
    assert!(
        lines
            .iter()
            .any(|line| line.starts_with("  digest: sha256:")),
        "{}",
        ended.stdout
    );
    let end = [
        "",
        "later",
        "  hooks: tool_pre_invoke",
        "  grants: none",
        "  disabled: not loaded",
        "",
    ];
    assert_eq!(lines[lines.len() - 7..lines.len() - 1], end);
    assert_eq!(
        lines[lines.len() - 1],
        "hookgate.yaml: 1 plugin loaded, 1 disabled"
    );
}

#[test]
fn json_has_all_of_it() {
    let report = folder().run(&["check", "--format", "json"]).json();
    assert_eq!(
        (&report["ok"], &report["file"]),
        (&json!(true), &json!("hookgate.yaml"))
    );
    assert_eq!(
        (&report["problems"], &report["notes"]),
        (&json!([]), &json!([]))
    );
    let plugin = &report["plugins"][0];
    assert_eq!(
        plugin["limits"],
        json!({"timeout_ms": 50, "memory_bytes": 33_554_432, "concurrency": 8})
    );
    assert_eq!(plugin["grants"]["env"], json!(["API_BASE"]));
    assert_eq!(plugin["grants"]["data"], json!(["read_headers"]));
    assert_eq!(plugin["grants"]["files"][0]["guest"], "/data");
    assert_eq!(plugin["loaded"]["environment"], json!(null));
    assert!(
        plugin["loaded"]["sandbox"]
            .as_str()
            .unwrap()
            .starts_with("wasm")
    );
    assert_eq!(
        (
            &report["plugins"][1]["mode"],
            &report["plugins"][1]["loaded"]
        ),
        (&json!("disabled"), &json!(null))
    );
}

#[test]
fn the_file_is_an_argument_or_an_option() {
    let folder = Folder::new();
    folder.write("other.yaml", deny_list());
    for arguments in [
        ["check", "other.yaml"].as_slice(),
        &["check", "--config", "other.yaml"],
    ] {
        let ended = folder.run(arguments);
        assert_eq!(ended.code, Some(0));
        assert!(
            ended.stdout.ends_with("\nother.yaml: 1 plugin loaded\n"),
            "{}",
            ended.stdout
        );
    }
}

#[test]
fn notes_are_shown_and_are_no_problems() {
    let folder = Folder::with_config(&deny_list().replace("tool_pre_invoke", "tool_pre_invok"));
    let ended = folder.run(&["check"]);
    assert_eq!((ended.code, ended.stderr.as_str()), (Some(0), ""));
    assert!(
        ended
            .stdout
            .contains("note: not a known hook, treated as custom: tool_pre_invok\n"),
        "{}",
        ended.stdout
    );
    assert!(
        ended
            .stdout
            .contains("  hint: did you mean `tool_pre_invoke`?\n"),
        "{}",
        ended.stdout
    );
    let report = folder.run(&["check", "--format", "json"]).json();
    assert_eq!(report["notes"][0]["line"], 5);
    assert_eq!(report["notes"][0]["plugin"], "deny-list");
}

#[test]
fn a_plugin_shows_the_group_it_is_in() {
    let groups = "groups: [{name: words, plugins: [deny-list], priority: 7, on_error: ignore}]\n";
    let folder = Folder::with_config(&format!("{}{groups}", deny_list()));
    let ended = folder.run(&["check"]);
    assert_eq!((ended.code, ended.stderr.as_str()), (Some(0), ""));
    assert!(
        ended
            .stdout
            .contains("\ndeny-list\n  group: words\n  hooks: tool_pre_invoke\n"),
        "{}",
        ended.stdout
    );
    let plugin = folder.run(&["check", "--format", "json"]).json()["plugins"][0].clone();
    assert_eq!(
        (&plugin["group"], &plugin["priority"], &plugin["on_error"]),
        (&json!("words"), &json!(7), &json!("ignore"))
    );
    let alone = Folder::with_config(&deny_list());
    assert!(!alone.run(&["check"]).stdout.contains("group:"));
    let plugin = alone.run(&["check", "--format", "json"]).json()["plugins"][0].clone();
    assert_eq!(plugin["group"], json!(null));
}

#[test]
fn what_is_imported_granted_and_unused() {
    let permissions = "    permissions:
      network: [{host: api.example.com, port: 443}, {host: 10.0.0.0/8, port: 5432}]
      scratch: 16MiB
      env: [API_BASE]
      secrets: [{name: token, command: [printf, s3cr3t]}]
    config: {words: [secret]}
";
    let entry = entry(
        "deny-list",
        "deny-list-rust",
        "tool_pre_invoke",
        permissions,
    );
    let folder = Folder::with_config(&format!("plugins:\n{entry}"));
    let ended = folder.run(&["check"]);
    assert_eq!((ended.code, ended.stderr.as_str()), (Some(0), ""));
    let line = |begins: &str| {
        let found = ended.stdout.lines().find(|line| line.starts_with(begins));
        found
            .unwrap_or_else(|| panic!("{begins}: {}", ended.stdout))
            .to_owned()
    };
    assert_eq!(
        line("  grants: "),
        "  grants: network api.example.com port 443 (TCP), network 10.0.0.0/8 port 5432 (TCP), scratch of 16 MiB, env API_BASE, secret token"
    );
    let imports = line("  imports: ");
    assert!(imports.contains("hookgate:plugin/call@0.1.0"), "{imports}");
    assert!(imports.contains("wasi:cli/environment@"), "{imports}");
    assert_eq!(
        line("  granted and unused: "),
        "  granted and unused: scratch, network api.example.com port 443, network 10.0.0.0/8 port 5432, secret token"
    );
    let report = folder.run(&["check", "--format", "json"]).json();
    let plugin = &report["plugins"][0];
    assert_eq!(
        plugin["grants"],
        json!({
            "files": [], "scratch_bytes": 16_777_216, "env": ["API_BASE"], "secrets": ["token"], "data": [],
            "network": [{"host": "api.example.com", "port": 443}, {"host": "10.0.0.0/8", "port": 5432}],
        })
    );
    assert_eq!(plugin["loaded"]["unused"][0], "scratch");
    let imports = plugin["loaded"]["imports"].as_array().unwrap();
    assert!(
        imports.contains(&json!("hookgate:plugin/call@0.1.0")),
        "{imports:?}"
    );
    assert!(!report.to_string().contains("s3cr3t"));
}

#[test]
fn an_import_without_its_grant_is_told_with_the_line_to_write() {
    let entry = entry("client", "net-client", "tool_pre_invoke", "");
    let folder = Folder::with_config(&format!("plugins:\n{entry}"));
    let report = folder.run(&["check", "--format", "json"]).json();
    let problem = &report["problems"][0];
    let message = problem["message"].as_str().unwrap();
    assert!(message.contains("imports wasi:http/"), "{message}");
    assert!(
        message.contains("needs a grant: permissions.network"),
        "{message}"
    );
    assert_eq!(
        problem["hint"],
        "write `permissions: {network: [{host: api.example.com, port: 443}]}` in the entry, with the hosts it connects to"
    );
}

#[test]
fn a_component_that_brings_a_runtime_along_would_do_better_with_reuse() {
    let checked = |more: &str| {
        let config = entry("heavy", "deny-list-python", "tool_pre_invoke", more);
        let folder = Folder::with_config(&format!("plugins:\n{config}"));
        let text = folder.run(&["check"]);
        assert_eq!(text.code, Some(0), "{text:?}");
        let json = folder.run(&["check", "--format", "json"]).json();
        (text.stdout, json["plugins"][0]["loaded"]["notes"].clone())
    };
    let words = "    config: {words: [secret]}\n";
    let (text, notes) = checked(words);
    assert!(text.contains("  note: its component has "), "{text}");
    assert!(
        text.contains("write `instances: {policy: reuse}`"),
        "{text}"
    );
    assert_eq!(notes.as_array().map(Vec::len), Some(1), "{notes}");
    let (text, notes) = checked(&format!("{words}    instances: {{policy: reuse}}\n"));
    assert!(!text.contains("  note: "), "{text}");
    assert_eq!(notes, json!([]));
}
