//! Random documents, written in more ways than one, and random patterns with a chance to be in them.

use std::collections::HashSet;

use proptest::collection::vec;
use proptest::prelude::*;
use proptest::sample::{Index, select};
use serde_json::Value;

use crate::oracle::token;

/// Few characters, so that patterns match; those that must be escaped, those of the grammar, those of more
/// than one byte, and one whose lower case is ASCII though it is not.
const CHARACTERS: [char; 22] = [
    'a', 'a', 'b', 'b', 'k', 'K', 's', 'S', '1', ' ', '"', '\\', '/', '\n', '\u{1}', 'é', '😀',
    '\u{212a}', ',', ':', '{', ']',
];

/// A character and how it is written: itself if it may be, short, or as code units in either case.
fn written() -> impl Strategy<Value = (char, String)> {
    (select(CHARACTERS.to_vec()), 0..8_u8).prop_map(|(character, how)| {
        let units = character.encode_utf16(&mut [0; 2]).to_vec();
        let text = match (how, character) {
            (0, _) => units.iter().map(|unit| format!("\\u{unit:04x}")).collect(),
            (1, _) => units.iter().map(|unit| format!("\\u{unit:04X}")).collect(),
            (_, '"') => "\\\"".into(),
            (_, '\\') => "\\\\".into(),
            (_, '\n') => "\\n".into(),
            (_, '\u{1}') => "\\u0001".into(),
            (2, '/') => "\\/".into(),
            (_, character) => character.to_string(),
        };
        (character, text)
    })
}

/// A string's value and how it is written.
fn string() -> impl Strategy<Value = (String, String)> {
    // Most strings have no escape: they are where shortcuts are taken.
    let plain = vec(
        select(vec!["a", "b", "k", "S", " ", "é", ",", "s", "ab"]),
        0..12,
    )
    .prop_map(|parts| (parts.concat(), format!("\"{}\"", parts.concat())));
    let any = vec(written(), 0..10).prop_map(|characters| {
        let (value, text): (String, Vec<String>) = characters.into_iter().unzip();
        (value, format!("\"{}\"", text.concat()))
    });
    prop_oneof![2 => plain, 1 => any]
}

fn space() -> impl Strategy<Value = &'static str> {
    select(vec!["", "", "", "", " ", "\n  ", "\t\r"])
}

pub fn document_text() -> impl Strategy<Value = String> {
    let leaf = prop_oneof![
        6 => string().prop_map(|(_, text)| text),
        1 => select(vec!["1", "-1.10", "true", "null", "1E5"]).prop_map(str::to_owned),
    ];
    let value = leaf.prop_recursive(4, 24, 5, |inner| {
        let items = vec((space(), inner.clone(), space()), 0..5).prop_map(|items| {
            let items = items
                .iter()
                .map(|(before, item, behind)| format!("{before}{item}{behind}"));
            format!("[{}]", items.collect::<Vec<_>>().join(","))
        });
        let members = vec((string(), space(), inner, space()), 0..5).prop_map(|members| {
            let mut seen = HashSet::new();
            let members = members
                .iter()
                .filter(|((key, _), ..)| seen.insert(key.clone()))
                .map(|((_, key), before, value, behind)| {
                    format!("{key}{before}:{behind}{value}{before}")
                });
            format!("{{{}}}", members.collect::<Vec<_>>().join(","))
        });
        prop_oneof![items, members]
    });
    (space(), value, space()).prop_map(|(before, value, behind)| format!("{before}{value}{behind}"))
}

/// A pointer into the document, or beside it.
pub fn pointers(text: &str, index: Index) -> String {
    let tree: Value = serde_json::from_str(text).expect("JSON");
    let mut all = vec![String::new(), String::new(), "/none".to_owned()];
    fn below(value: &Value, at: &str, all: &mut Vec<String>) {
        let mut child = |token: String, value: &Value| {
            let at = format!("{at}/{token}");
            all.push(at.clone());
            below(value, &at, all);
        };
        match value {
            Value::Array(items) => items
                .iter()
                .enumerate()
                .for_each(|(index, item)| child(index.to_string(), item)),
            Value::Object(members) => members
                .iter()
                .for_each(|(key, member)| child(token(key), member)),
            _ => {}
        }
    }
    below(&tree, "", &mut all);
    all[index.index(all.len())].clone()
}

pub fn words() -> impl Strategy<Value = Vec<String>> {
    let word = vec(select(CHARACTERS.to_vec()), 1..4).prop_map(String::from_iter);
    let few = vec(word.clone(), 0..5);
    // More than vector code compares at once.
    let many = vec(word, 66..70);
    prop_oneof![8 => few, 1 => many]
}

pub fn expressions() -> impl Strategy<Value = Vec<String>> {
    let parts = vec![
        "a",
        "b+",
        "k",
        "[^a]",
        r"\b",
        r"\B",
        "^",
        "$",
        r"\w",
        r"\s?",
        ".",
        "(?s:.)",
        "(?i:s)",
        "(?i:k)",
        "é",
        r#"["\\]"#,
        r"\n",
        r"[\x00-\x20]",
        "(?:ab|a)",
        "(?:a|ab)",
        r"\d",
        "b*?",
        "(?:k|)",
        r"[ab]{2,3}",
        ".*",
        r"(?-u:\b)",
        "(?m:^)",
        "😀",
        r"\p{L}",
    ];
    let expression = vec(select(parts), 1..4).prop_map(|parts| parts.concat());
    let usable = expression.prop_filter("it matches no empty string", |expression| {
        let parsed = regex_syntax::parse(expression);
        parsed.is_ok_and(|parsed| parsed.properties().minimum_len() != Some(0))
    });
    vec(usable, 0..4)
}
