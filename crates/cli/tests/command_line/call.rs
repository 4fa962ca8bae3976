//! `hookgate call`.

use std::io::{BufRead as _, BufReader};

use serde_json::{Value, json};

use super::support::{Folder, counter, deny_list};

const SECRET: &str = r#"{"name": "note", "args": {"text": "a secret"}}"#;

fn without_record(text: &str) -> String {
    text.lines()
        .filter(|line| !line.starts_with("record: "))
        .collect::<Vec<_>>()
        .join("\n")
}

#[test]
fn a_denial_is_an_answer() {
    let ended = Folder::with_config(&deny_list()).run(&["call", "tool_pre_invoke", SECRET]);
    assert_eq!((ended.code, ended.stderr.as_str()), (Some(0), ""));
    let expected = "decision: deny\nby: deny-list\ncode: DENY_WORD\nreason: denied word\n\
        description: 'secret' at /args/text\ndetails: {\"word\":\"secret\",\"at\":\"/args/text\"}";
    assert_eq!(without_record(&ended.stdout), expected);
}

#[test]
fn an_allow_shows_the_payload_as_it_came() {
    let payload = r#"{"name": "note", "args": {"n": 1.10, "big": 1208925819614629174706176}}"#;
    let ended = Folder::with_config(&deny_list()).run(&["call", "tool_pre_invoke", payload]);
    assert_eq!(
        without_record(&ended.stdout),
        format!("decision: allow\nmodified: no\npayload: {payload}")
    );
}

#[test]
fn json_is_the_canonical_outcome() {
    let ended = Folder::with_config(&deny_list()).run(&[
        "call",
        "--format",
        "json",
        "tool_pre_invoke",
        SECRET,
    ]);
    let mut outcome = ended.json();
    let record = outcome.as_object_mut().unwrap().remove("record").unwrap();
    assert_eq!(record.as_str().unwrap().len(), 26);
    let expected = json!({
        "decision": "deny", "payload": null, "modified": false,
        "violation": {"plugin": "deny-list", "code": "DENY_WORD", "reason": "denied word",
            "description": "'secret' at /args/text", "details": {"word": "secret", "at": "/args/text"},
            "mcp_error_code": null, "http_status_code": null, "http_headers": {}},
        "approvals": [], "suppressed": [], "faults": [],
        "effects": {"metadata": {}, "headers": {}, "retry_after_ms": null, "extensions": {}, "result": null},
    });
    assert_eq!(outcome, expected);
}

#[test]
fn the_payload_comes_from_an_argument_a_file_or_stdin() {
    let folder = Folder::with_config(&deny_list());
    folder.write("payload.json", SECRET);
    let by_argument = folder.run(&["call", "tool_pre_invoke", SECRET]);
    let expected = without_record(&by_argument.stdout);
    for (payload, input) in [
        (Some("@payload.json"), ""),
        (Some("-"), SECRET),
        (None, SECRET),
    ] {
        let mut arguments = vec!["call", "tool_pre_invoke"];
        arguments.extend(payload);
        let ended = folder.run_with(&arguments, input);
        assert_eq!(
            (ended.code, without_record(&ended.stdout)),
            (Some(0), expected.clone()),
            "{payload:?}"
        );
    }
}

#[test]
fn a_payload_that_fails_the_check_is_an_error_and_3() {
    let folder = Folder::with_config(&deny_list());
    let ended = folder.run(&[
        "call",
        "--format",
        "json",
        "tool_pre_invoke",
        r#"{"name": "a", "name": "b"}"#,
    ]);
    assert_eq!(ended.code, Some(3));
    let message =
        r#"the payload of tool_pre_invoke is not I-JSON: duplicate key "name" at byte 14"#;
    assert_eq!(
        ended.json(),
        json!({"error": {"code": "invalid_payload", "message": message}})
    );

    let ended = folder.run(&["call", "tool_pre_invoke", "[]"]);
    assert_eq!((ended.code, ended.stdout.as_str()), (Some(3), ""));
    assert!(
        ended.stderr.starts_with(
            "error: invalid_payload: the payload of tool_pre_invoke has the wrong shape"
        ),
        "{ended:?}"
    );
}

#[test]
fn a_payload_that_is_too_large_is_not_read_to_its_end() {
    let folder = Folder::with_config(&format!("max_payload_bytes: 1KB\n{}", deny_list()));
    let payload = format!(r#"{{"name": "{}"}}"#, "x".repeat(2_000));
    let ended = folder.run_with(&["call", "tool_pre_invoke", "--format", "json"], &payload);
    assert_eq!(ended.code, Some(3));
    assert_eq!(
        ended.json()["error"]["message"],
        "the payload of tool_pre_invoke has more than 1000 bytes"
    );
}

#[test]
fn a_hook_nobody_listens_to_allows_what_is_json() {
    let folder = Folder::with_config(&deny_list());
    let ended = folder.run(&["call", "--format", "json", "other_hook", r#"{"a": 1.10}"#]);
    assert_eq!(ended.code, Some(0));
    let outcome = ended.json();
    assert_eq!(
        (&outcome["decision"], &outcome["record"]),
        (&json!("allow"), &Value::Null)
    );
    assert!(
        ended.stdout.contains(r#""payload":{"a": 1.10}"#),
        "{}",
        ended.stdout
    );

    let ended = folder.run(&["call", "--format", "json", "other_hook", "nonsense"]);
    assert_eq!(ended.code, Some(3));
    assert_eq!(ended.json()["error"]["code"], "invalid_payload");
}

#[test]
fn who_asks_is_told_by_a_json_object_and_options_that_go_over_it() {
    let folder = Folder::with_config(&deny_list());
    let request = r#"{"id": "r1", "user": {"name": "ann"}, "tenant_id": "t1", "server_id": "s1"}"#;
    let call = [
        "call",
        "tool_pre_invoke",
        SECRET,
        "--records",
        "r.jsonl",
        "--request",
        request,
    ];
    assert_eq!(folder.run(&call).code, Some(0));
    let options = [
        "--request-id",
        "r2",
        "--user",
        "bob",
        "--tenant",
        "t2",
        "--server",
        "s2",
    ];
    assert_eq!(
        folder.run(&[call.as_slice(), &options].concat()).code,
        Some(0)
    );
    let records: Vec<Value> = super::support::json_lines(&folder.read("r.jsonl"));
    let requests: Vec<&Value> = records.iter().map(|record| &record["request"]).collect();
    let expected = [
        json!({"id": "r1", "user": {"name": "ann"}, "tenant_id": "t1", "server_id": "s1"}),
        json!({"id": "r2", "user": "bob", "tenant_id": "t2", "server_id": "s2"}),
    ];
    assert_eq!(requests, expected.iter().collect::<Vec<_>>());
}

#[test]
fn a_fault_is_told_apart_from_a_denial() {
    let folder = Folder::with_config(&counter().replace("timeout: 3s", "timeout: 50ms"));
    let ended = folder.run(&["call", "prompt_pre_fetch", r#"{"prompt_id": "p"}"#]);
    assert_eq!(ended.code, Some(0));
    assert!(
        ended
            .stdout
            .starts_with("decision: deny\nby: counter\ncode: plugin_fault\nreason: plugin fault\n"),
        "{ended:?}"
    );
    assert!(
        ended.stdout.contains("\nfault: counter: timeout: "),
        "{ended:?}"
    );
}

#[test]
fn a_file_that_is_not_there_is_named() {
    let ended =
        Folder::with_config(&deny_list()).run(&["call", "tool_pre_invoke", "@missing.json"]);
    assert_eq!(ended.code, Some(1));
    assert_eq!(
        ended.stderr,
        "error: cannot read missing.json: no such file or folder\n"
    );
}

#[test]
fn a_signal_is_heard_while_the_payload_is_awaited() {
    let folder = Folder::with_config(&deny_list());
    let mut child = folder
        .command(&["-v", "call", "tool_pre_invoke"])
        .spawn()
        .unwrap();
    let stdin = child.stdin.take().unwrap();
    let mut stderr = BufReader::new(child.stderr.take().unwrap()).lines();
    let said = stderr.find(|line| line.as_ref().unwrap().contains("is read from stdin"));
    assert!(said.is_some(), "it did not come to reading");
    let killed = std::process::Command::new("kill")
        .args(["-TERM", &child.id().to_string()])
        .status();
    assert!(killed.unwrap().success());
    assert_eq!(child.wait().unwrap().code(), Some(130));
    drop(stdin);
}
