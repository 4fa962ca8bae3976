//! Decision records of `call` and `run`.

use std::os::unix::fs::PermissionsExt as _;

use serde_json::{Value, json};

use super::support::{Folder, deny_list, json_lines};

const SECRET: &str = r#"{"name": "note", "args": {"text": "a secret"}}"#;

#[test]
fn a_record_says_who_decided_and_holds_no_payload() {
    let folder = Folder::with_config(&deny_list());
    let ended = folder.run(&[
        "call",
        "tool_pre_invoke",
        SECRET,
        "--records",
        "records.jsonl",
        "--format",
        "json",
    ]);
    assert_eq!(ended.code, Some(0));
    let text = folder.read("records.jsonl");
    assert!(
        text.ends_with('\n') && text.lines().count() == 1,
        "{text:?}"
    );
    assert!(!text.contains("a secret"), "{text}");
    let record = &json_lines(&text)[0];
    assert_eq!(record["id"], ended.json()["record"]);
    let expected = [
        ("hook", json!("tool_pre_invoke")),
        ("subject", json!("note")),
        ("decision", json!("deny")),
        ("modified", json!(false)),
        ("payload_bytes", json!(SECRET.len())),
        ("final_sha256", Value::Null),
        ("generation", json!(1)),
    ];
    for (key, value) in expected {
        assert_eq!(record[key], value, "{key}");
    }
    let plugin = &record["plugins"][0];
    assert_eq!(
        (&plugin["name"], &plugin["verdict"], &plugin["code"]),
        (&json!("deny-list"), &json!("deny"), &json!("DENY_WORD"))
    );
    let mode = std::fs::metadata(folder.path().join("records.jsonl"))
        .unwrap()
        .permissions()
        .mode();
    assert_eq!(mode & 0o077, 0, "other users may read it");
}

#[test]
fn records_are_appended_one_a_call() {
    let folder = Folder::with_config(&deny_list());
    folder.write("records.jsonl", "{\"kept\": true}\n");
    let line = format!(r#"{{"hook": "tool_pre_invoke", "payload": {SECRET}}}"#);
    let unheard = r#"{"hook": "other_hook", "payload": {}}"#;
    let invalid = r#"{"hook": "tool_pre_invoke", "payload": {}}"#;
    let input = format!("{line}\n{unheard}\n{invalid}\n{line}\n");
    let ended = folder.run_with(&["run", "--records", "records.jsonl"], &input);
    assert_eq!(ended.code, Some(3));
    let records = json_lines(&folder.read("records.jsonl"));
    assert_eq!(
        records.len(),
        3,
        "the line that was there, and one for each call that plugins answered"
    );
    assert_eq!(records[0], json!({"kept": true}));
    let mut written: Vec<&Value> = records[1..].iter().map(|record| &record["id"]).collect();
    let answers = ended.lines();
    let mut named: Vec<&Value> = [0, 3]
        .map(|index| &answers[index]["outcome"]["record"])
        .to_vec();
    // Records are in the order the calls ended.
    written.sort_by_key(|id| id.to_string());
    named.sort_by_key(|id| id.to_string());
    assert_eq!(written, named);
}
