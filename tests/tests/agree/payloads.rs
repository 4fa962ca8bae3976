//! Random payloads of the seven hooks, rich in the words the policies look for.
//!
//! Only what both kinds of host can be asked: members of the framework's types in their order, strings
//! where the framework wants strings, numbers of any size.

use proptest::prelude::*;
use proptest::strategy::BoxedStrategy;

/// A payload as JSON text, and the hook it is for.
pub type Case = (&'static str, String);

/// The words of all policies under test, whole, cut short, joined and in other case.
const WORDS: &[&str] = &[
    "sudo",
    "kill",
    "secret",
    "secrets",
    "Secret",
    "SUDO",
    "sud",
    "ssn",
    "credit card",
    "credit",
    "password",
    "admin",
    "token",
    "tokens",
    "pass",
    "naïve",
    "Ünïcode",
    "ünïcode",
    "日本",
    "日本語",
    "👩‍👩‍👧",
    "ab",
    "aba",
    "abab",
    "K",
];

fn text() -> impl Strategy<Value = String> {
    let word = prop_oneof![
        3 => proptest::sample::select(WORDS).prop_map(str::to_owned),
        4 => "[a-z ]{0,12}",
        2 => "\\PC{0,8}",
        1 => proptest::sample::select(&["\"", "\\", "\n", "\t", "\u{0}", "\u{7f}", "/", "~", "\u{2028}", "\u{fffe}"][..])
            .prop_map(str::to_owned),
    ];
    proptest::collection::vec(word, 0..5).prop_map(|words| words.concat())
}

/// A JSON string, escaped now as little and now as much as the grammar allows.
fn string() -> impl Strategy<Value = String> {
    (text(), any::<bool>()).prop_map(|(text, escape)| quote(&text, escape))
}

fn quote(text: &str, escape: bool) -> String {
    if !escape {
        return serde_json::to_string(text).expect("a string is JSON");
    }
    let units = text.encode_utf16().map(|unit| match u8::try_from(unit) {
        Ok(byte) if byte.is_ascii_alphanumeric() && byte % 3 != 0 => char::from(byte).to_string(),
        _ => format!("\\u{unit:04x}"),
    });
    format!("\"{}\"", units.collect::<String>())
}

fn number() -> impl Strategy<Value = String> {
    prop_oneof![
        any::<i64>().prop_map(|number| number.to_string()),
        "-?[1-9][0-9]{19,40}",
        "-?(0|[1-9][0-9]{0,5})\\.[0-9]{1,25}",
        "[1-9](\\.[0-9])?[eE][+-]?[0-9]{1,3}",
        Just("-0".to_owned()),
        Just("-0.0".to_owned()),
        Just("1.10".to_owned()),
    ]
}

fn value(depth: u32) -> BoxedStrategy<String> {
    let leaf = prop_oneof![
        5 => string(),
        2 => number(),
        1 => proptest::sample::select(&["true", "false", "null"][..]).prop_map(str::to_owned),
    ];
    if depth == 0 {
        return leaf.boxed();
    }
    prop_oneof![
        4 => leaf,
        2 => proptest::collection::vec(value(depth - 1), 0..4).prop_map(|items| format!("[{}]", items.join(", "))),
        3 => object(value(depth - 1).boxed(), 0..4),
    ]
    .boxed()
}

/// An object with distinct keys.
fn object(
    values: BoxedStrategy<String>,
    members: std::ops::Range<usize>,
) -> impl Strategy<Value = String> {
    proptest::collection::btree_map(text(), (values, any::<bool>()), members).prop_map(|members| {
        let members = members
            .into_iter()
            .map(|(key, (value, escape))| format!("{} :{value}", quote(&key, escape)));
        format!("{{ {} }}", members.collect::<Vec<_>>().join(" ,\n"))
    })
}

fn optional(
    name: &'static str,
    value: impl Strategy<Value = String>,
) -> impl Strategy<Value = String> {
    prop_oneof![
        6 => value.prop_map(move |value| format!(",\"{name}\":{value}")),
        1 => Just(format!(",\"{name}\":null")),
        1 => Just(String::new()),
    ]
}

/// A payload of any of the hooks.
pub fn case() -> impl Strategy<Value = Case> {
    let tool_pre = (string(), optional("args", object(value(3), 0..5)))
        .prop_map(|(name, args)| ("tool_pre_invoke", format!("{{\"name\":{name}{args}}}")));
    let tool_post = (string(), value(3)).prop_map(|(name, result)| {
        (
            "tool_post_invoke",
            format!("{{\"name\":{name},\"result\":{result}}}"),
        )
    });
    let prompt_pre = (string(), optional("args", object(string().boxed(), 0..5)))
        .prop_map(|(id, args)| ("prompt_pre_fetch", format!("{{\"prompt_id\":{id}{args}}}")));
    let message = (
        proptest::sample::select(&["user", "assistant"][..]),
        string(),
    )
        .prop_map(|(role, text)| {
            format!("{{\"role\":\"{role}\",\"content\":{{\"type\":\"text\",\"text\":{text}}}}}")
        });
    let prompt_post = (
        string(),
        proptest::collection::vec(message, 0..4),
        optional("description", string()),
    )
        .prop_map(|(id, messages, description)| {
            let messages = messages.join(",");
            (
                "prompt_post_fetch",
                format!(
                    "{{\"prompt_id\":{id},\"result\":{{\"messages\":[{messages}]{description}}}}}"
                ),
            )
        });
    let resource_pre = (string(), optional("metadata", object(value(2), 0..4)))
        .prop_map(|(uri, metadata)| ("resource_pre_fetch", format!("{{\"uri\":{uri}{metadata}}}")));
    let resource_post = (string(), string(), string()).prop_map(|(uri, id, text)| {
        let content = format!("{{\"type\":\"resource\",\"id\":{id},\"uri\":{uri},\"mime_type\":\"text/plain\",\"text\":{text}}}");
        ("resource_post_fetch", format!("{{\"uri\":{uri},\"content\":{content}}}"))
    });
    let custom = object(value(3), 0..5).prop_map(|payload| ("ledger_append", payload));
    prop_oneof![4 => tool_pre, 3 => tool_post, 2 => prompt_pre, 2 => prompt_post, 2 => resource_pre, 2 => resource_post, 2 => custom]
}
