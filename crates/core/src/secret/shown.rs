//! Values as logs and debug output show them: with the members that hold tokens hidden.

use std::borrow::Cow;
use std::fmt;

use serde_json::{Map, Value};

use super::{DELEGATED, INBOUND, MINTED, OF_PAYLOAD, SLOT, take};
use crate::Json;
use crate::extensions::is_sensitive;

/// What stands in the place of a token, as in the legacy framework's own dumps.
pub(crate) const HIDDEN: &str = "**********";

/// A JSON text for people who read logs: members that hold tokens by their name, headers that hold
/// credentials, and whatever else repeats one of those are hidden. A text that is no JSON is not shown.
pub(crate) fn shown(text: &str) -> Cow<'_, str> {
    let Ok(mut value) = serde_json::from_str::<Value>(text) else {
        return format!("({} bytes that are not JSON)", text.len()).into();
    };
    let mut tokens = Vec::new();
    if !hide_members(&mut value, &mut tokens) {
        return text.into();
    }
    hide_in_value(&mut value, &tokens);
    value.to_string().into()
}

fn is_secret(name: &str) -> bool {
    [SLOT, INBOUND, DELEGATED, MINTED].contains(&name)
        || OF_PAYLOAD.contains(&name)
        || is_sensitive(name)
}

/// Hides members by their name, and gathers what was in them; answers whether there are any.
fn hide_members(value: &mut Value, tokens: &mut Vec<String>) -> bool {
    let mut hidden = false;
    match value {
        Value::Array(items) => {
            for item in items {
                hidden |= hide_members(item, tokens);
            }
        }
        Value::Object(members) => {
            for (name, value) in members {
                if is_secret(name) {
                    strings(value, tokens);
                    *value = HIDDEN.into();
                    hidden = true;
                } else {
                    hidden |= hide_members(value, tokens);
                }
            }
        }
        _ => {}
    }
    hidden
}

/// Debug output without what a value holds in members that are tokens by their name.
pub(crate) fn without_tokens_of(value: Option<&Json>, mut text: String) -> String {
    let mut tokens = Vec::new();
    if let Some(value) = value {
        hide_members(&mut value.to_value(), &mut tokens);
    }
    hide(&mut text, &tokens);
    text
}

/// The strings of a hidden value: of `Bearer TOKEN` the token.
fn strings(value: &Value, found: &mut Vec<String>) {
    match value {
        Value::String(text) => text.split_whitespace().for_each(|word| take(word, found)),
        Value::Array(items) => items.iter().for_each(|item| strings(item, found)),
        Value::Object(members) => members.values().for_each(|value| strings(value, found)),
        _ => {}
    }
}

/// Puts asterisks in the place of each token.
pub(super) fn hide(text: &mut String, tokens: &[String]) {
    for token in tokens {
        if text.contains(&**token) {
            *text = text.replace(&**token, HIDDEN);
        }
    }
}

/// The same in every string and name of a value, which keeps its text if there is none.
pub(super) fn hide_in_json(json: &mut Json, tokens: &[String]) {
    if tokens.is_empty() {
        return;
    }
    let before = json.to_value();
    let mut after = before.clone();
    hide_in_value(&mut after, tokens);
    if before != after {
        *json = Json::from_value(&after);
    }
}

fn hide_in_value(value: &mut Value, tokens: &[String]) {
    match value {
        Value::String(text) => hide(text, tokens),
        Value::Array(items) => items
            .iter_mut()
            .for_each(|item| hide_in_value(item, tokens)),
        Value::Object(members) => {
            let hidden = std::mem::take(members)
                .into_iter()
                .map(|(mut name, mut value)| {
                    hide(&mut name, tokens);
                    hide_in_value(&mut value, tokens);
                    (name, value)
                });
            *members = hidden.collect::<Map<_, _>>();
        }
        Value::Number(number) => {
            let mut text = number.to_string();
            hide(&mut text, tokens);
            if text != number.to_string() {
                *value = text.into();
            }
        }
        Value::Null | Value::Bool(_) => {}
    }
}

/// Headers for people who read logs.
pub(crate) struct Headers<'h>(pub(crate) &'h [(String, String)]);

impl fmt::Debug for Headers<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let shown = self.0.iter().map(|(name, value)| match is_sensitive(name) {
            true => (name, HIDDEN),
            false => (name, &**value),
        });
        f.debug_list().entries(shown).finish()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const TOKEN: &str = "eyJhbGciOi.J9.abcdef";

    #[test]
    fn what_holds_a_token_by_its_name_is_hidden_at_any_depth() {
        for (text, expected) in [
            (r#"{"raw_token": "short"}"#, r#"{"raw_token":"**********"}"#),
            (
                r#"{"raw_\u0074oken": "x", "n": 1.10}"#,
                r#"{"raw_token":"**********","n":1.10}"#,
            ),
            (
                r#"{"bearer_token": null}"#,
                r#"{"bearer_token":"**********"}"#,
            ),
            (
                r#"{"a": [{"raw_credentials": {"inbound_tokens": {"user": {"token": "t"}}}}]}"#,
                r#"{"a":[{"raw_credentials":"**********"}]}"#,
            ),
            (
                r#"{"headers": {"Authorization": "Bearer t", "X-A": "1"}}"#,
                r#"{"headers":{"Authorization":"**********","X-A":"1"}}"#,
            ),
            (
                r#"{"delegated_token": "eyJhbGciOi.J9.abcdef", "cache_key": "k-eyJhbGciOi.J9.abcdef", "forwarded_headers": {"X-Up": "Bearer eyJhbGciOi.J9.abcdef"}}"#,
                r#"{"delegated_token":"**********","cache_key":"k-**********","forwarded_headers":{"X-Up":"Bearer **********"}}"#,
            ),
        ] {
            assert_eq!(shown(text), expected);
        }
    }

    #[test]
    fn what_holds_none_keeps_its_text() {
        for text in [r#"{ "a" : 1.10 }"#, "[]", "\"raw_token\"", "1e5"] {
            assert_eq!(shown(text), text);
        }
    }

    #[test]
    fn what_is_no_json_is_not_shown() {
        let text = format!(r#"{{"raw_token": "{TOKEN}""#);
        assert_eq!(
            shown(&text),
            format!("({} bytes that are not JSON)", text.len())
        );
    }

    #[test]
    fn tokens_are_found_in_strings_names_and_numbers() {
        let tokens = [TOKEN.to_owned(), "123456789012".to_owned()];
        let mut json =
            Json::parse(r#"{"a \u0065yJhbGciOi.J9.abcdef": ["x", 123456789012], "b": 1.10}"#)
                .expect("I-JSON");
        hide_in_json(&mut json, &tokens);
        assert_eq!(
            json.as_str(),
            r#"{"a **********":["x","**********"],"b":1.10}"#
        );
        let untouched = Json::parse(r#"{ "b": 1.10 }"#).expect("I-JSON");
        let mut same = untouched.clone();
        hide_in_json(&mut same, &tokens);
        assert_eq!(same, untouched, "its text, too");
    }
}
