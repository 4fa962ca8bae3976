//! What a checked text means, as a tree that can be compared.
//!
//! Not `serde_json::Value`: that one rewrites exponents, and reads an object whose key is one of
//! its private tokens as a number or as other text, so a payload could make two values look alike.

use std::borrow::Cow;
use std::collections::HashMap;

use crate::document::value_at;
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
    one == other || (!differ_at_first(one, other) && root(one) == root(other))
}

/// Whether the first byte that differs makes the values differ: it belongs to a scalar, and that one means
/// something else. All that leads there is written alike in both, and no key is there twice. This is what an
/// edit looks like, and it costs no tree.
fn differ_at_first(one: &str, other: &str) -> bool {
    const STEP_BYTES: usize = 64;
    let (bytes, others) = (one.as_bytes(), other.as_bytes());
    let steps = bytes.chunks(STEP_BYTES).zip(others.chunks(STEP_BYTES));
    let alike = STEP_BYTES * steps.take_while(|(one, other)| one == other).count();
    let rest = bytes[alike.min(bytes.len())..].iter();
    let Some(first) = rest
        .zip(&others[alike.min(others.len())..])
        .position(|(one, other)| one != other)
    else {
        // One of them goes on where the other ends.
        return false;
    };
    let scalar = |text| {
        let start = value_at(text, alike + first)?;
        let container = matches!(text.as_bytes().get(start), Some(b'{' | b'['));
        (!container).then(|| read_scalar(text, start).0)
    };
    match (scalar(one), scalar(other)) {
        (Some(one), Some(other)) => one != other,
        _ => false,
    }
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
        _ => read_scalar(text, start),
    }
}

fn read_scalar(text: &str, start: usize) -> (Value<'_>, usize) {
    let end = scan::skip_value(text.as_bytes(), start);
    let value = &text[start..end];
    if value.starts_with('"') {
        (Value::String(scan::string_value(value)), end)
    } else {
        (Value::Scalar(value), end)
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;
    use proptest::sample::{Index, select};

    use super::{root, same};
    use crate::json::Json;

    #[test]
    fn a_difference_is_one_of_meaning() {
        let alike = [
            ("[1 ,2]", "[1,2]"),
            ("[]", "[ ]"),
            (r#"{"a": "b"}"#, r#"{"\u0061":"\u0062" }"#),
            (r#"{"a":1,"b":[2]}"#, r#"{"b":[2],"a":1}"#),
            ("\"a\" ", "\"a\"\n"),
        ];
        let different = [
            ("[1]", "[12]"),
            ("[1]", "[1,2]"),
            ("[]", "[1]"),
            ("[]", "[[]]"),
            ("[1]", "[[1]]"),
            ("{}", r#"{"a":1}"#),
            (r#"{"a":1}"#, r#"{"a":1,"b":1}"#),
            (r#"{"a":1}"#, r#"{"b":1}"#),
            (r#"{"a":"1"}"#, r#"{"a":1}"#),
            ("[1.0]", "[1.00]"),
        ];
        for (one, other) in alike {
            assert!(same(one, other) && same(other, one), "{one} {other}");
        }
        for (one, other) in different {
            assert!(!same(one, other) && !same(other, one), "{one} {other}");
        }
    }

    fn text() -> impl Strategy<Value = String> {
        let leaf = select(vec![
            "1",
            "12",
            "\"a\"",
            "\"\\u0061\"",
            "\"\"",
            "null",
            "[]",
            "{}",
        ]);
        let leaf = leaf.prop_map(str::to_owned);
        leaf.prop_recursive(4, 20, 4, |inner| {
            let items = prop::collection::vec(inner, 1..4);
            (items, any::<bool>()).prop_map(|(items, array)| match array {
                true => format!("[{}]", items.join(",")),
                false => {
                    let members = ["\"a\":", "\"b\" : ", "\"1\":"].iter().zip(items);
                    let members = members.map(|(key, item)| format!("{key}{item}"));
                    format!("{{{}}}", members.collect::<Vec<_>>().join(","))
                }
            })
        })
    }

    proptest! {
        #![proptest_config(ProptestConfig { cases: 10_000, failure_persistence: None, ..ProptestConfig::default() })]

        /// One text with a piece put in or taken out, as far as that is still JSON.
        #[test]
        fn the_first_difference_tells_no_more_than_the_trees(
            one in text(),
            at in any::<Index>(),
            gone in 0..3_usize,
            new in select(vec!["", " ", "1", "\"a\"", ",1", "[]", "\\u0061", "a", "null"]),
        ) {
            let start = at.index(one.len());
            let end = one.len().min(start + gone);
            let other = format!("{}{new}{}", &one[..start], &one[end..]);
            if Json::parse(other.as_str()).is_ok() {
                prop_assert_eq!(same(&one, &other), root(&one) == root(&other), "{} {}", one, other);
            }
        }
    }
}
