//! What is written is read again as it was, by our reader and by a reader of YAML 1.1.

use proptest::prelude::*;
use serde_json::{Value, json};

use super::members;
use crate::Json;
use crate::config::{Config, ReadOptions, Shape};

/// The value as the `config:` of an entry, written.
fn written(value: &Value) -> String {
    let mut text = String::from("plugins:\n  - name: p\n    kind: a.B\n    hooks: [x]\n");
    members(&mut text, [("config", value)], 4);
    text
}

/// The `config:` that is read from a text.
fn read(text: &str) -> Json {
    let options = ReadOptions::new(Shape::Hookgate);
    let config = Config::parse_with(text, "f.yaml", ".".as_ref(), &options)
        .unwrap_or_else(|report| panic!("{report}\n{text}"));
    config.plugins[0].config.clone()
}

#[test]
fn strings_that_look_like_something_else() {
    for text in [
        "",
        " ",
        "no",
        "No",
        "yes",
        "on",
        "off",
        "y",
        "n",
        "true",
        "null",
        "~",
        "1",
        "1.0",
        "-0",
        "0x1F",
        "0o17",
        "1_000",
        "1e5",
        ".5",
        ".inf",
        ".nan",
        "12:30:45",
        "2001-01-01",
        "<<",
        "=",
        "-",
        "- a",
        "?",
        "? a",
        ":",
        "a: b",
        "a:",
        ": a",
        "#",
        "# a",
        "a # b",
        "a #b",
        "*a",
        "&a",
        "!a",
        "!!int 5",
        "|",
        ">",
        "%a",
        "@a",
        "`a",
        "[a]",
        "{a}",
        "a, b",
        "a]",
        "'a'",
        "\"a\"",
        "it's",
        "a\\b",
        "a\tb",
        "\ta",
        " a",
        "a ",
        "---",
        "...",
        "--- a",
        "a\nb",
        "a\nb\n",
        "a\n\nb",
        "\na",
        "a\n",
        "a\n\n",
        " a\nb",
        "a\n b",
        "a\n  b\n c",
        "a\nb ",
        "a\tb\nc",
        "a\r\nb",
        "a\rb",
        "\u{0}",
        "\u{1b}[0m",
        "\u{7f}",
        "\u{85}",
        "a\u{a0}b",
        "\u{feff}a",
        "\u{2028}",
        "é",
        "日本",
        "😀",
        "{% if %}",
        "{ x }",
        "a: {b}",
        "key: |\n  text",
        "#a\nb",
        "- a\n- b",
        "a: 1\nb: 2\n",
    ] {
        let value = json!({"text": text, "list": [text, text], "map": {text: text}, "deep": [[text], {"a": [text]}]});
        let text = written(&value);
        assert_eq!(read(&text).to_value(), value, "{text}");
    }
}

#[test]
fn numbers_keep_their_text() {
    for number in [
        "0",
        "-0",
        "1.10",
        "1e+5",
        "1E-7",
        "0.30",
        "18446744073709551617",
        "1e999",
        "-1.5e-10",
    ] {
        let json = Json::parse(format!(
            r#"{{"number":{number},"list":[{number},{number}]}}"#
        ))
        .unwrap();
        let text = written(&json.to_value());
        assert_eq!(read(&text).to_value(), json.to_value(), "{text}");
        let shown = json.to_value()["number"].to_string();
        assert!(text.contains(&format!("number: {shown}\n")), "{text}");
    }
}

#[test]
fn how_it_looks() {
    let value = json!({
        "words": ["credit card", "no", "1.0"],
        "text": "first: line\nsecond\n",
        "empty": {},
        "none": [],
        "nothing": null,
        "rules": [{"name": "a", "on": true, "steps": [[1, 2], []]}, "plain", "two\nlines"],
        "odd key": {"yes": 1, "<<": 2},
    });
    let expected = r#"plugins:
  - name: p
    kind: a.B
    hooks: [x]
    config:
      words: [credit card, "no", "1.0"]
      text: |
        first: line
        second
      empty: {}
      none: []
      nothing: null
      rules:
        - name: a
          "on": true
          steps:
            - [1, 2]
            - []
        - plain
        - |-
          two
          lines
      "odd key":
        "yes": 1
        "<<": 2
"#;
    assert_eq!(written(&value), expected);
}

#[test]
fn long_lists_and_long_keys_have_lines_of_their_own() {
    let words: Vec<String> = (0..30).map(|at| format!("word-{at}")).collect();
    let key = "k".repeat(3_000);
    let value = json!({"words": words, "map": {key: {"a": 1}}});
    let text = written(&value);
    assert!(
        text.contains("\n        - word-0\n        - word-1\n"),
        "{text}"
    );
    assert_eq!(read(&text).to_value(), value);
}

fn text() -> impl Strategy<Value = String> {
    prop_oneof![
        any::<String>(),
        "[ \t\n:#\\-?\\[\\]{},&*!|>'\"%@`~=<a1.\u{85}\u{2028}é]{0,8}",
        "[a-z :\n]{0,20}",
    ]
}

fn value() -> impl Strategy<Value = Value> {
    let number = "-?(0|[1-9][0-9]{0,20})(\\.[0-9]{1,4})?([eE][-+]?[0-9]{1,3})?";
    let leaf = prop_oneof![
        Just(Value::Null),
        any::<bool>().prop_map(Value::from),
        number.prop_map(|text| Json::parse(text).unwrap().to_value()),
        text().prop_map(Value::from),
    ];
    leaf.prop_recursive(4, 40, 5, |inner| {
        prop_oneof![
            prop::collection::vec(inner.clone(), 0..5).prop_map(Value::from),
            prop::collection::vec((text(), inner), 0..5)
                .prop_map(|pairs| pairs.into_iter().collect()),
        ]
    })
}

proptest! {
    #![proptest_config(ProptestConfig { failure_persistence: None, cases: 1024, ..ProptestConfig::default() })]

    #[test]
    fn any_value(value in value()) {
        let value = json!({"value": value});
        // A reference to the environment is refused by our shape, whoever wrote it.
        prop_assume!(!value.to_string().contains("{{"));
        let text = written(&value);
        let (found, expected) = (read(&text), Json::from_value(&value));
        prop_assert_eq!(found.as_str(), expected.as_str(), "{}", text);
    }
}
