//! [`Object`]: a JSON object taken apart one level deep. Values keep their text, numbers above all.

use indexmap::IndexMap;

use crate::Json;
use crate::scan::{self, Children};

/// Members by name, in the order they were written.
#[derive(Debug, Clone, Default, PartialEq)]
pub(crate) struct Object(pub(super) IndexMap<String, Json>);

impl Object {
    /// The members; none if the value is no object.
    pub(crate) fn read(value: &Json) -> Option<Self> {
        let (text, start) = opened(value, b'{')?;
        let members = Children::new(text, start);
        Some(Self(
            members
                .map(|child| {
                    let name = child.name(text).into_owned();
                    (name, Json::trusted(text[child.value].into()))
                })
                .collect(),
        ))
    }

    /// The members of a value that may be missing or null, which is none.
    pub(crate) fn read_or_empty(value: Option<&Json>) -> Option<Self> {
        match value {
            Some(value) if !value.is_null() => Self::read(value),
            _ => Some(Self::default()),
        }
    }

    /// The members in order.
    pub(crate) fn iter(&self) -> impl Iterator<Item = (&str, &Json)> {
        self.0.iter().map(|(name, value)| (name.as_str(), value))
    }

    /// A member; null is none.
    pub(crate) fn get(&self, name: &str) -> Option<&Json> {
        self.0.get(name).filter(|value| !value.is_null())
    }

    pub(crate) fn set(&mut self, name: &str, value: Json) {
        self.0.insert(name.to_owned(), value);
    }

    /// Names of members that are something in one of the two.
    pub(super) fn names_of_both<'a>(&'a self, other: &'a Self) -> impl Iterator<Item = &'a str> {
        let more = other.0.keys().filter(|name| !self.0.contains_key(*name));
        self.0.keys().chain(more).map(String::as_str)
    }

    /// The text: members in order, without white space between them.
    pub(crate) fn write(&self) -> Json {
        let mut text = String::from("{");
        for (index, (name, value)) in self.0.iter().enumerate() {
            if index > 0 {
                text.push(',');
            }
            scan::push_string(&mut text, name);
            text.push(':');
            text.push_str(value.as_str());
        }
        text.push('}');
        Json::trusted(text.into())
    }
}

/// The elements of an array; none if the value is none.
pub(super) fn elements(value: &Json) -> Option<Vec<Json>> {
    let (text, start) = opened(value, b'[')?;
    let children = Children::new(text, start);
    Some(
        children
            .map(|child| Json::trusted(text[child.value].into()))
            .collect(),
    )
}

/// The elements of a value that may be missing or null, which is none.
pub(super) fn elements_or_none(value: Option<&Json>) -> Option<Vec<Json>> {
    match value {
        Some(value) if !value.is_null() => elements(value),
        _ => Some(Vec::new()),
    }
}

/// The text of an array.
pub(super) fn array(elements: &[Json]) -> Json {
    let texts: Vec<&str> = elements.iter().map(Json::as_str).collect();
    Json::trusted(format!("[{}]", texts.join(",")).into())
}

/// The value of a string; none if the value is no string.
pub(super) fn string(value: &Json) -> Option<String> {
    let text = value.as_str().trim();
    text.starts_with('"')
        .then(|| scan::string_value(text).into_owned())
}

/// Whether the value holds nothing: null, or a container without members.
pub(super) fn is_nothing(value: &Json) -> bool {
    let text = value.as_str().trim();
    value.is_null()
        || text
            .strip_prefix('{')
            .is_some_and(|rest| rest.trim_start() == "}")
        || text
            .strip_prefix('[')
            .is_some_and(|rest| rest.trim_start() == "]")
}

/// What a value is, for messages.
pub(super) fn kind(value: &Json) -> &'static str {
    match value.as_str().trim_start().as_bytes().first() {
        Some(b'{') => "an object",
        Some(b'[') => "an array",
        Some(b'"') => "a string",
        Some(b't' | b'f') => "a boolean",
        Some(b'n') => "null",
        _ => "a number",
    }
}

fn opened(value: &Json, open: u8) -> Option<(&str, usize)> {
    let text = value.as_str();
    let start = scan::skip_space(text.as_bytes(), 0);
    (text.as_bytes().get(start) == Some(&open)).then_some((text, start))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn json(text: &str) -> Json {
        Json::parse(text).expect("I-JSON")
    }

    #[test]
    fn values_keep_their_text() {
        let object = Object::read(&json(r#" { "a" : 1.10 , "\u0062":[ 1e5 ], "c":null } "#));
        let object = object.expect("an object");
        assert_eq!(
            object.write().as_str(),
            r#"{"a":1.10,"b":[ 1e5 ],"c":null}"#
        );
        assert_eq!(object.get("c"), None);
        assert_eq!(Object::read(&json("[]")), None);
        assert_eq!(
            Object::read_or_empty(Some(&json("null"))),
            Some(Object::default())
        );
    }

    #[test]
    fn arrays_and_strings() {
        let found = elements(&json(r#" [ 1.0, "a\n" ,{}] "#)).expect("an array");
        assert_eq!(array(&found).as_str(), r#"[1.0,"a\n",{}]"#);
        assert_eq!(string(&found[1]).as_deref(), Some("a\n"));
        assert_eq!(string(&found[0]), None);
        assert_eq!(elements(&json("{}")), None);
    }

    #[test]
    fn nothing_is_null_or_empty() {
        for text in ["null", "{}", "[ ]", " { }"] {
            assert!(is_nothing(&json(text)), "{text}");
        }
        for text in ["0", "false", r#""""#, "[0]", r#"{"a":null}"#] {
            assert!(!is_nothing(&json(text)), "{text}");
        }
    }
}
