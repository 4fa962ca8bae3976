//! `hookgate run`.

use std::io::{BufRead as _, BufReader, Write as _};

use serde_json::{Value, json};

use super::support::{Folder, counter, deny_list, json_lines};

fn call(id: &str, text: &str) -> String {
    format!(
        r#"{{"id": "{id}", "hook": "tool_pre_invoke", "payload": {{"name": "note", "args": {{"text": "{text}"}}}}}}"#
    )
}

fn numbered(request: &str, number: usize) -> String {
    let payload = r#"{"name": "note"}"#;
    format!(
        r#"{{"id": {number}, "hook": "tool_pre_invoke", "payload": {payload}, "request": {{"id": "{request}"}}}}"#
    )
}

#[test]
fn outcomes_come_in_the_order_of_the_input() {
    let folder = Folder::with_config(&deny_list());
    let words = |number: usize| {
        if number.is_multiple_of(3) {
            "a secret"
        } else {
            "news"
        }
    };
    let lines: Vec<String> = (0..500)
        .map(|number| call(&number.to_string(), words(number)))
        .collect();
    folder.write("calls.jsonl", lines.join("\n"));
    let ended = folder.run(&["run", "calls.jsonl"]);
    assert_eq!(ended.code, Some(0), "{}", ended.stderr);
    let answers = ended.lines();
    assert_eq!(answers.len(), 500);
    for (number, answer) in answers.iter().enumerate() {
        let decision = if number.is_multiple_of(3) {
            "deny"
        } else {
            "allow"
        };
        assert_eq!(answer["id"], number.to_string());
        assert_eq!(answer["hook"], "tool_pre_invoke");
        assert_eq!(answer["outcome"]["decision"], decision, "line {number}");
    }
}

#[test]
fn a_line_has_id_hook_and_outcome_and_the_payload_as_it_came() {
    let folder = Folder::with_config(&deny_list());
    let line = r#"{"payload": {"name":"n","args":{"a":1.10,"b":1E5}}, "id": {"k": [1.0]}, "hook": "tool_pre_invoke"}"#;
    let ended = folder.run_with(&["run"], line);
    let expected = r#"{"id":{"k": [1.0]},"hook":"tool_pre_invoke","outcome":{"decision":"allow","payload":{"name":"n","args":{"a":1.10,"b":1E5}},"modified":false,"#;
    assert!(ended.stdout.starts_with(expected), "{}", ended.stdout);
}

#[test]
fn lines_of_one_request_come_one_after_the_other() {
    let folder = Folder::with_config(&counter());
    let lines: Vec<String> = (0..200)
        .map(|number| numbered(["r1", "r2", "r3"][number % 3], number))
        .collect();
    let ended = folder.run_with(&["run", "--jobs", "16"], &lines.join("\n"));
    assert_eq!(ended.code, Some(0), "{}", ended.stderr);
    for (number, answer) in ended.lines().iter().enumerate() {
        assert_eq!(
            answer["outcome"]["effects"]["metadata"]["calls"],
            json!(number / 3 + 1),
            "line {number}"
        );
    }
}

#[test]
fn lines_without_a_request_share_nothing() {
    let folder = Folder::with_config(&counter());
    let line = r#"{"hook": "tool_pre_invoke", "payload": {"name": "note"}}"#;
    let ended = folder.run_with(&["run"], &format!("{line}\n{line}\n{line}\n"));
    let counts: Vec<Value> = ended
        .lines()
        .iter()
        .map(|answer| answer["outcome"]["effects"]["metadata"]["calls"].clone())
        .collect();
    assert_eq!(counts, [1, 1, 1]);
}

#[test]
fn a_slow_call_holds_back_its_own_request_and_no_other() {
    let folder = Folder::with_config(&counter());
    let slow = r#"{"id": "slow", "hook": "prompt_pre_fetch", "payload": {"prompt_id": "p"}, "request": {"id": "r1"}}"#;
    let input = format!("{slow}\n{}\n{}\n", numbered("r1", 1), numbered("r2", 2));
    let ended = folder.run_with(&["run", "--records", "records.jsonl"], &input);
    assert_eq!(ended.code, Some(0), "{}", ended.stderr);
    let ids: Vec<Value> = ended
        .lines()
        .iter()
        .map(|answer| answer["id"].clone())
        .collect();
    assert_eq!(ids, [json!("slow"), json!(1), json!(2)]);
    // Records are written as calls end: the other request first, then the slow call, then what waited for it.
    let records = json_lines(&folder.read("records.jsonl"));
    let order: Vec<(&str, &str)> = records
        .iter()
        .map(|record| {
            (
                record["request"]["id"].as_str().unwrap(),
                record["hook"].as_str().unwrap(),
            )
        })
        .collect();
    assert_eq!(
        order,
        [
            ("r2", "tool_pre_invoke"),
            ("r1", "prompt_pre_fetch"),
            ("r1", "tool_pre_invoke")
        ]
    );
}

#[test]
fn lines_that_are_no_calls_are_named_and_the_rest_is_done() {
    let folder = Folder::with_config(&deny_list());
    let lines = [
        "nonsense".to_owned(),
        String::new(),
        call("a", "news"),
        r#"{"id": 4, "hook": "tool_pre_invoke", "payload": {"name": "a", "n\u0061me": "b"}}"#
            .to_owned(),
        r#"{"id": 5, "hook": "tool_pre_invoke", "payload": {"name": "a"}, "requests": {}}"#
            .to_owned(),
        r#"{"id": 6, "hook": "tool_pre_invoke"}"#.to_owned(),
        call("b", "a secret"),
    ];
    folder.write("calls.jsonl", lines.join("\n"));
    let ended = folder.run(&["run", "calls.jsonl", "--format", "json"]);
    assert_eq!(ended.code, Some(3));
    let duplicate =
        r#"the payload of tool_pre_invoke is not I-JSON: duplicate key "name" at byte 14"#;
    let unknown = "unknown key: requests; a line has id, hook, payload, request";
    let missing = "no payload; a line has id, hook, payload, request";
    let answers = ended.lines();
    let hook = "tool_pre_invoke";
    let errors = [
        (
            0,
            json!({"id": null, "hook": null, "error": {"code": "invalid_line", "message": "not JSON: expected ident at byte 2"}}),
        ),
        (
            2,
            json!({"id": 4, "hook": hook, "error": {"code": "invalid_payload", "message": duplicate}}),
        ),
        (
            3,
            json!({"id": 5, "hook": hook, "error": {"code": "invalid_line", "message": unknown}}),
        ),
        (
            4,
            json!({"id": 6, "hook": hook, "error": {"code": "invalid_line", "message": missing}}),
        ),
    ];
    for (index, error) in errors {
        assert_eq!(answers[index], error);
    }
    assert_eq!(
        (&answers[1]["id"], &answers[1]["outcome"]["decision"]),
        (&json!("a"), &json!("allow"))
    );
    assert_eq!(
        (&answers[5]["id"], &answers[5]["outcome"]["decision"]),
        (&json!("b"), &json!("deny"))
    );
    assert_eq!(answers.len(), 6);
    let expected = format!(
        "error: line 1 of calls.jsonl: not JSON: expected ident at byte 2\n\
        error: line 4 of calls.jsonl: {duplicate}\n\
        error: line 5 of calls.jsonl: {unknown}\n\
        error: line 6 of calls.jsonl: {missing}\n\
        error: 4 of 6 lines could not be read\n"
    );
    assert_eq!(ended.stderr, expected);
}

#[test]
fn a_line_longer_than_three_payloads_is_skipped_whole() {
    let folder = Folder::with_config(&format!("max_payload_bytes: 1KB\n{}", deny_list()));
    let long = call("long", &"x".repeat(3_000));
    let ended = folder.run_with(
        &["run", "--format", "json"],
        &format!("{long}\n{}\n", call("next", "news")),
    );
    assert_eq!(ended.code, Some(3));
    let answers = ended.lines();
    assert_eq!(
        answers[0]["error"],
        json!({"code": "invalid_line", "message": "longer than 3000 bytes"})
    );
    assert_eq!(answers[1]["id"], "next");
    assert!(
        ended
            .stderr
            .starts_with("error: line 1 of stdin: longer than 3000 bytes\n"),
        "{}",
        ended.stderr
    );

    // Below that the door has the last word.
    let ended = folder.run_with(
        &["run", "--format", "json"],
        &call("big", &"x".repeat(2_000)),
    );
    assert_eq!(ended.lines()[0]["error"]["code"], "invalid_payload");
}

#[test]
fn an_answer_is_out_before_the_next_line_is_in() {
    let folder = Folder::with_config(&deny_list());
    let mut child = folder.command(&["run"]).spawn().unwrap();
    let mut input = child.stdin.take().unwrap();
    let mut output = BufReader::new(child.stdout.take().unwrap());
    for id in ["first", "second"] {
        writeln!(input, "{}", call(id, "news")).unwrap();
        input.flush().unwrap();
        let mut line = String::new();
        output.read_line(&mut line).unwrap();
        assert_eq!(serde_json::from_str::<Value>(&line).unwrap()["id"], id);
    }
    drop(input);
    assert_eq!(child.wait().unwrap().code(), Some(0));
}

#[test]
fn the_end_is_a_table_on_stderr_without_any_progress() {
    let folder = Folder::with_config(&deny_list());
    let input = format!("{}\n{}\n", call("a", "news"), call("b", "a secret"));
    let ended = folder.run_with(&["run", "-o", "out.jsonl"], &input);
    assert_eq!((ended.code, ended.stdout.as_str()), (Some(0), ""));
    assert_eq!(json_lines(&folder.read("out.jsonl")).len(), 2);
    let lines: Vec<&str> = ended.stderr.lines().collect();
    assert_eq!(lines.len(), 5, "{}", ended.stderr);
    let words: Vec<&str> = lines[0].split_whitespace().collect();
    assert_eq!(
        words,
        [
            "plugin", "host", "calls", "allowed", "modified", "asked", "denied", "faults", "p50",
            "p99"
        ]
    );
    let words: Vec<&str> = lines[1].split_whitespace().collect();
    assert_eq!(
        words[..8],
        ["deny-list", "wasm", "2", "1", "0", "0", "1", "0"]
    );
    assert_eq!(
        lines[3],
        "calls: 2 (1 allowed, 0 modified, 0 asked, 1 denied, 0 with faults)"
    );
    assert!(
        lines[4].starts_with("time: ") && lines[4].ends_with(" calls per second"),
        "{}",
        lines[4]
    );
    assert!(
        !ended.stderr.contains(['\u{1b}', '\r']),
        "progress without a terminal: {:?}",
        ended.stderr
    );
}

#[test]
fn the_summary_is_the_same_as_json() {
    let folder = Folder::with_config(&deny_list());
    let input = format!(
        "{}\n{}\nnonsense\n",
        call("a", "news"),
        call("b", "a secret")
    );
    assert_eq!(
        folder
            .run_with(&["run", "--summary", "summary.json"], &input)
            .code,
        Some(3)
    );
    let summary: Value = serde_json::from_str(&folder.read("summary.json")).unwrap();
    for (key, count) in [
        ("calls", 2),
        ("allowed", 1),
        ("denied", 1),
        ("modified", 0),
        ("with_faults", 0),
        ("unread", 1),
    ] {
        assert_eq!(summary[key], count, "{key}");
    }
    let plugin = &summary["plugins"][0];
    assert_eq!(
        (&plugin["name"], &plugin["calls"], &plugin["denied"]),
        (&json!("deny-list"), &json!(2), &json!(1))
    );
    let (p50, p99) = (
        plugin["p50_us"].as_u64().unwrap(),
        plugin["p99_us"].as_u64().unwrap(),
    );
    assert!(0 < p50 && p50 <= p99, "{plugin}");
}

#[test]
fn an_input_or_output_that_cannot_be_opened_is_named_before_anything_runs() {
    let folder = Folder::with_config(&deny_list());
    let cases: [(&[&str], &str); 3] = [
        (
            &["run", "missing.jsonl"],
            "error: cannot read missing.jsonl: no such file or folder\n",
        ),
        (
            &["run", "-", "-o", "no/out.jsonl"],
            "error: cannot write no/out.jsonl: no such file or folder\n",
        ),
        (
            &["run", "-", "--records", "no/r.jsonl"],
            "error: records cannot be written to no/r.jsonl: no such file or folder\n",
        ),
    ];
    for (arguments, message) in cases {
        let ended = folder.run(arguments);
        assert_eq!(
            (ended.code, ended.stdout.as_str(), ended.stderr.as_str()),
            (Some(1), "", message)
        );
    }
}

#[test]
fn an_output_that_takes_no_more_is_named_and_1() {
    let folder = Folder::with_config(&deny_list());
    let cases = [
        (
            "-o",
            "error: the output cannot be written: no storage space\n",
        ),
        (
            "--records",
            "error: records cannot be written to /dev/full: no storage space\n",
        ),
        (
            "--summary",
            "error: the summary cannot be written: no storage space\n",
        ),
    ];
    for (option, message) in cases {
        let ended = folder.run_with(&["run", option, "/dev/full"], &call("a", "news"));
        assert_eq!(
            (ended.code, ended.stderr.as_str()),
            (Some(1), message),
            "{option}"
        );
    }
}

#[test]
fn no_file_has_two_parts_to_play() {
    let folder = Folder::with_config(&deny_list());
    folder.write("calls.jsonl", call("a", "news"));
    for (arguments, message) in [
        (
            &["run", "calls.jsonl", "-o", "calls.jsonl"][..],
            "error: the input and --output are one file: calls.jsonl\n  hint: name another file for --output\n",
        ),
        (
            &["run", "calls.jsonl", "--summary", "./hookgate.yaml"],
            "error: the configuration and --summary are one file: ./hookgate.yaml\n  hint: name another file for --summary\n",
        ),
        (
            &["run", "calls.jsonl", "-o", "new", "--records", "./new"],
            "error: --output and --records are one file: ./new\n  hint: name another file for --records\n",
        ),
    ] {
        let ended = folder.run(arguments);
        assert_eq!((ended.code, ended.stderr.as_str()), (Some(1), message));
    }
    assert_eq!(folder.read("calls.jsonl"), call("a", "news"));
}

#[test]
fn a_signal_ends_it_in_order() {
    let folder = Folder::with_config(&deny_list());
    let mut child = folder.command(&["run"]).spawn().unwrap();
    let mut stdin = child.stdin.take().unwrap();
    let mut stdout = BufReader::new(child.stdout.take().unwrap());
    writeln!(stdin, "{}", call("a", "a secret")).unwrap();
    let mut answer = String::new();
    stdout.read_line(&mut answer).unwrap();
    assert!(answer.contains(r#""decision":"deny""#), "{answer}");
    // Its input is still open: only the signal can end it.
    let killed = std::process::Command::new("kill")
        .args(["-TERM", &child.id().to_string()])
        .status();
    assert!(killed.unwrap().success());
    let ended = child.wait_with_output().unwrap();
    drop(stdin);
    assert_eq!(ended.status.code(), Some(130));
    let stderr = String::from_utf8(ended.stderr).unwrap();
    assert!(
        stderr.ends_with("interrupted: the plugins have been ended\n"),
        "{stderr}"
    );
}

#[test]
fn a_request_is_an_object() {
    let folder = Folder::with_config(&deny_list());
    let line = r#"{"hook": "tool_pre_invoke", "payload": {"name": "n"}, "request": []}"#;
    let ended = folder.run_with(&["run"], line);
    assert_eq!(ended.code, Some(3));
    assert_eq!(
        ended.lines()[0]["error"]["code"],
        "invalid_line",
        "{}",
        ended.stdout
    );
}
