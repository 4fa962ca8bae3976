//! What a checked text means, as a tree that can be compared.
//!
//! Not `serde_json::Value`: that one rewrites exponents, and reads an object whose key is one of
//! its private tokens as a number or as other text, so a payload could make two values look alike.

use std::borrow::Cow;
use std::collections::HashMap;

use crate::scan::{self, Children};

#[derive(PartialEq)]
enum Value<'a> {
    /// A number, `true`, `false` or `null`, as written.
    Scalar(&'a str),
    String(Cow<'a, str>),
    Array(Vec<Value<'a>>),
    Object(HashMap<Cow<'a, str>, Value<'a>>),
}

/// Whether two checked texts mean the same value: key order, white space and escapes aside, numbers by text.
pub(crate) fn same(one: &str, other: &str) -> bool {
    one == other || root(one) == root(other)
}

fn root(text: &str) -> Value<'_> {
    read(text, scan::skip_space(text.as_bytes(), 0)).0
}

/// The value that starts at `start`, and the offset behind it.
fn read(text: &str, start: usize) -> (Value<'_>, usize) {
    let mut children = Children::new(text, start);
    match text.as_bytes().get(start) {
        Some(b'{') => {
            let mut members = HashMap::new();
            while let Some((key, at)) = children.step() {
                let name = key.map_or(Cow::Borrowed(""), |key| scan::string_value(&text[key]));
                let (value, end) = read(text, at);
                members.insert(name, value);
                children.resume(end);
            }
            (Value::Object(members), children.end())
        }
        Some(b'[') => {
            let mut elements = Vec::new();
            while let Some((_, at)) = children.step() {
                let (value, end) = read(text, at);
                elements.push(value);
                children.resume(end);
            }
            (Value::Array(elements), children.end())
        }
        first => {
            let end = scan::skip_value(text.as_bytes(), start);
            let value = &text[start..end];
            if first == Some(&b'"') {
                (Value::String(scan::string_value(value)), end)
            } else {
                (Value::Scalar(value), end)
            }
        }
    }
}
