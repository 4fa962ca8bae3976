//! `hookgate demo` on a chain of components: what it checks, and that it notices.

use hookgate_vectors::guests;

use super::support::{Ended, Folder, deny_list, entry, json_lines};

const CALLS: &str = r#"{"id":"c1","hook":"tool_pre_invoke","payload":{"name":"note","args":{"text":"news"}}}
{"id":"c2","hook":"tool_pre_invoke","payload":{"name":"note","args":{"text":"a secret"}}}
"#;
const EXPECTED: &str = r#"{"id":"c2","decision":"deny","by":"deny-list","violation":{"code":"DENY_WORD","reason":"denied word","description":"'secret' at /args/text","details":{"word":"secret","at":"/args/text"}}}
"#;
const LABELLED: &str = r#"{"id":"l1","hook":"tool_pre_invoke","payload":{"name":"note","args":{"text":"the password","n":1.10}}}
"#;
const LABELLED_EXPECTED: &str = r#"{"id":"l1","decision":"modify","payload":{"name":"note","args":{"n":1.10,"text":"the [redacted]"}}}
"#;

fn chain() -> String {
    let redactor = entry(
        "redactor",
        "redactor-rust",
        "tool_pre_invoke",
        "    config: {words: [password]}\n",
    );
    format!("{}{redactor}", deny_list())
}

/// The same policy twice; components both, so that no environment is needed here.
fn pair(second: &str) -> String {
    let words = |words: &str| format!("    config: {{words: [{words}]}}\n");
    let first = entry("one", "deny-list-rust", "tool_pre_invoke", &words("sudo"));
    format!(
        "plugins:\n{first}{}",
        entry("two", "deny-list-rust", "tool_pre_invoke", &words(second))
    )
}

fn demo(expected: &str, labelled_expected: &str, second: &str, format: &str) -> (Folder, Ended) {
    let folder = Folder::with_config(&chain());
    let files = [
        ("calls.jsonl", CALLS),
        ("expected.jsonl", expected),
        ("labelled.jsonl", LABELLED),
        ("labelled-expected.jsonl", labelled_expected),
        ("pair.yaml", &pair(second)),
    ];
    for (name, text) in files {
        folder.write(name, text);
    }
    let arguments = [
        "demo",
        "--format",
        format,
        "--config",
        "hookgate.yaml",
        "--calls",
        "calls.jsonl",
        "--expected",
        "expected.jsonl",
        "--labelled",
        "labelled.jsonl",
        "--labelled-expected",
        "labelled-expected.jsonl",
        "--side-by-side",
        "pair.yaml",
        "--records",
        "records.jsonl",
    ];
    let ended = folder.run(&arguments);
    (folder, ended)
}

#[test]
fn equal_outcomes_are_counted_and_everything_is_shown() {
    let (folder, ended) = demo(EXPECTED, LABELLED_EXPECTED, "sudo", "text");
    assert_eq!(
        (ended.code, ended.stderr.as_str()),
        (Some(0), ""),
        "{}",
        ended.stdout
    );
    let parts = [
        "real calls\nplugin     host  calls",
        "\nlabelled calls\nplugin     host  calls",
        "\nchecked 3 of 3 outcomes equal the recorded ones\n",
        "\nwasm  deny-list-rust.wasm  deny     DENY_WORD  'sudo' at /args/command\n",
        "\nthey agree\n",
        "\none denial in full\n{\n  \"decision\": \"deny\",\n",
        "\nrecords: records.jsonl\nnext: ",
        "hookgate call --config hookgate.yaml tool_pre_invoke '{",
    ];
    let mut rest = ended.stdout.as_str();
    for part in parts {
        let at = rest
            .find(part)
            .unwrap_or_else(|| panic!("not there, or not in this order: {part}\n{}", ended.stdout));
        rest = &rest[at..];
    }
    assert_eq!(json_lines(&folder.read("records.jsonl")).len(), 3);
}

#[test]
fn a_changed_decision_is_named_and_1() {
    let (_, ended) = demo("", LABELLED_EXPECTED, "sudo", "text");
    assert_eq!(ended.code, Some(1));
    let expected = "\nchecked 2 of 3 outcomes equal the recorded ones\n  c2: expected allow, found deny: DENY_WORD by deny-list\n";
    assert!(ended.stdout.contains(expected), "{}", ended.stdout);
}

#[test]
fn a_changed_number_text_is_named_and_1() {
    let (_, ended) = demo(
        EXPECTED,
        &LABELLED_EXPECTED.replace("1.10", "1.1"),
        "sudo",
        "json",
    );
    assert_eq!(ended.code, Some(1));
    let report = ended.json();
    assert_eq!(
        (report["checked"].as_u64(), report["equal"].as_u64()),
        (Some(3), Some(2))
    );
    let mismatch = &report["parts"][1]["mismatches"][0];
    assert_eq!(mismatch["id"], "l1");
    assert!(
        mismatch["difference"]
            .as_str()
            .unwrap()
            .starts_with("expected payload {"),
        "{mismatch}"
    );
}

#[test]
fn a_recorded_outcome_whose_call_never_came_is_named_and_1() {
    let (_, ended) = demo(
        &format!("{EXPECTED}{}\n", r#"{"id":"c9","decision":"allow"}"#),
        LABELLED_EXPECTED,
        "sudo",
        "text",
    );
    assert_eq!(ended.code, Some(1));
    assert!(
        ended
            .stdout
            .contains("\n  c9: recorded, but there was no such call\n"),
        "{}",
        ended.stdout
    );
}

#[test]
fn two_kinds_of_plugin_that_differ_are_1() {
    let (_, ended) = demo(EXPECTED, LABELLED_EXPECTED, "reboot", "text");
    assert_eq!(ended.code, Some(1));
    assert!(
        ended.stdout.contains("\nthey do not agree\n"),
        "{}",
        ended.stdout
    );
}

#[test]
fn the_recorded_data_of_the_repository_is_complete() {
    let count = |name: &str| {
        let path = guests::root().join("tests/data").join(name);
        std::fs::read_to_string(path).unwrap().lines().count()
    };
    let counts = [
        "bfcl-tool-calls.jsonl",
        "bfcl-expected.jsonl",
        "labelled-calls.jsonl",
        "labelled-expected.jsonl",
    ];
    assert_eq!(counts.map(count), [3_403, 119, 58, 58]);
}
