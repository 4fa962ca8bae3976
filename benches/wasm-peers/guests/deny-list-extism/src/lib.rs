//! The deny-list policy as the peer's plugins are written: the payload is parsed in the guest, and every
//! string of it is searched.

use std::sync::OnceLock;

use extism_pdk::{FnResult, config, plugin_fn};
use serde_json::Value;

/// Read once an instance: it is reused.
static WORDS: OnceLock<Vec<String>> = OnceLock::new();

/// `allow`, or `deny` and the word.
#[plugin_fn]
pub fn check(payload: Vec<u8>) -> FnResult<String> {
    let words = match WORDS.get() {
        Some(words) => words,
        None => {
            let text = config::get("words")?.unwrap_or_default();
            WORDS.get_or_init(|| text.lines().map(str::to_owned).collect())
        }
    };
    let payload: Value = serde_json::from_slice(&payload)?;
    Ok(match found(&payload, words) {
        Some(word) => format!("deny {word}"),
        None => "allow".to_owned(),
    })
}

fn found<'w>(value: &Value, words: &'w [String]) -> Option<&'w String> {
    match value {
        Value::String(text) => words.iter().find(|word| text.contains(word.as_str())),
        Value::Array(items) => items.iter().find_map(|item| found(item, words)),
        Value::Object(members) => members.values().find_map(|member| found(member, words)),
        Value::Null | Value::Bool(_) | Value::Number(_) => None,
    }
}
