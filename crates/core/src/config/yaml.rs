//! YAML text as a tree of nodes that know their place.
//!
//! The library parses, expands aliases and merge keys within its budget, and locates syntax errors.
//! Repeated keys are handed through, so that the reader can report all of them with the rest.

use std::borrow::Cow;
use std::fmt;

use serde::de::{Deserialize, Deserializer, MapAccess, SeqAccess, Visitor};
use serde_saphyr::options::{DuplicateKeyPolicy, NonFiniteFloatPolicy};
use serde_saphyr::{Error, Location, MessageFormatter, Spanned, UserMessageFormatter};

use super::number::Number;
use super::report::{Place, shown};

/// A value and where it is.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct Node {
    pub value: Value,
    /// Where it is written; for an alias, in the anchored value.
    pub at: Place,
    /// Where it is used: the alias, if it is one.
    pub used: Place,
}

/// What a node holds.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) enum Value {
    Null,
    Bool(bool),
    Number(Number),
    String(String),
    List(Vec<Node>),
    /// In the order of the text; keys may repeat and need not be strings.
    Mapping(Vec<(Node, Node)>),
}

/// Why a text is no YAML document.
#[derive(Debug)]
pub(super) struct Broken {
    pub message: String,
    pub hint: Option<String>,
    pub at: Place,
}

/// Parses one document.
pub(super) fn parse(text: &str) -> Result<Node, Broken> {
    let options = serde_saphyr::options! {
        // YAML 1.2: `yes` is a string, and so is `1_000`.
        strict_booleans: true,
        underscored_numbers_as_strings: true,
        // A tag nobody reads would be a key parsed and then ignored.
        reject_unsupported_tags: true,
        duplicate_keys: DuplicateKeyPolicy::PassThrough,
        non_finite_float_policy: NonFiniteFloatPolicy::PassThrough,
        with_snippet: false,
    };
    serde_saphyr::from_str_with_options::<Raw>(text, options)
        .map(|raw| Node::new(raw, text))
        .map_err(|error| Broken::new(&error, text))
}

impl Node {
    fn new(raw: Raw, text: &str) -> Self {
        let mut at = place(raw.0.defined, text);
        let mut used = place(raw.0.referenced, text);
        let value = match raw.0.value {
            RawValue::Null => Value::Null,
            RawValue::Bool(value) => Value::Bool(value),
            RawValue::Number(value) => number(&text[at.span.clone()], value),
            RawValue::String(value) => Value::String(value),
            RawValue::List(items) => Value::List(
                items
                    .into_iter()
                    .map(|item| Self::new(item, text))
                    .collect(),
            ),
            RawValue::Mapping(entries) => {
                let entries: Vec<_> = entries
                    .into_iter()
                    .map(|(key, value)| (Self::new(key, text), Self::new(value, text)))
                    .collect();
                // A block mapping begins where its first key does, with an empty span.
                if let Some((first, _)) = entries.first().filter(|_| at.span.is_empty()) {
                    for own in [&mut at, &mut used] {
                        if own.span.start == first.at.span.start {
                            own.span = first.at.span.clone();
                        }
                    }
                }
                Value::Mapping(entries)
            }
        };
        Self { value, at, used }
    }

    /// Moves the node and all below it.
    pub fn relocate(&mut self, place: &impl Fn(&Place) -> Place) {
        self.at = place(&self.at);
        self.used = place(&self.used);
        match &mut self.value {
            Value::List(items) => items.iter_mut().for_each(|item| item.relocate(place)),
            Value::Mapping(pairs) => {
                for (key, value) in pairs {
                    key.relocate(place);
                    value.relocate(place);
                }
            }
            _ => {}
        }
    }

    /// The text, if it is a string.
    pub fn as_str(&self) -> Option<&str> {
        match &self.value {
            Value::String(text) => Some(text),
            _ => None,
        }
    }
}

/// A number by its text where the scalar is a plain one; `!!int "12"` has only its value.
fn number(text: &str, value: String) -> Value {
    let text = text.trim();
    match Number::resolve(text).or_else(|| {
        text.starts_with(['"', '\''])
            .then(|| Number::resolve(&value))
            .flatten()
    }) {
        Some(number) => Value::Number(number),
        // The library knows more spellings than YAML 1.2 does.
        None => Value::String(text.to_owned()),
    }
}

impl Broken {
    fn new(error: &Error, text: &str) -> Self {
        let at = error
            .location()
            .map_or(Place::START, |location| place(location, text));
        let mut cause = error.without_snippet();
        while let Error::AliasError { error, .. } = cause {
            cause = error;
        }
        let (message, hint) = match cause {
            Error::MultipleDocuments { .. } => (
                "more than one YAML document".into(),
                Some("keep one document in the file"),
            ),
            Error::Budget { .. }
            | Error::AliasReplayLimitExceeded { .. }
            | Error::AliasReplayStackDepthExceeded { .. } => (
                "the file is too large or too deeply nested once its aliases are expanded".into(),
                Some("use fewer aliases and fewer levels"),
            ),
            Error::UnknownAnchor { .. } => (
                "an alias without an anchor".into(),
                Some("write the anchor before it, or put the value in quotes"),
            ),
            other => {
                let message = lower_case(UserMessageFormatter.format_message(other));
                // Only for people: the library has no kind for it.
                let in_columns = message.contains("parsing a block ");
                let hint = "keys of one mapping, and dashes of one list, begin in one column";
                (message, in_columns.then_some(hint))
            }
        };
        Self {
            message: format!("not valid YAML: {message}"),
            hint: hint.map(str::to_owned),
            at,
        }
    }
}

fn lower_case(message: Cow<'_, str>) -> String {
    let mut chars = message.trim_end_matches('.').chars();
    let first = chars.next().map(|c| c.to_ascii_lowercase());
    shown(&first.into_iter().chain(chars).collect::<String>())
}

/// The library gives bytes for nodes and characters for syntax errors.
fn place(location: Location, text: &str) -> Place {
    if location.line() == 0 {
        return Place::START;
    }
    let span = location.span();
    let in_text = |at: usize| (at..=text.len()).find(|at| text.is_char_boundary(*at));
    let (start, end) = match (span.byte_offset(), span.byte_len()) {
        (Some(start), Some(len)) => (start as usize, (start + len) as usize),
        _ => {
            let byte = |chars: u64| {
                text.char_indices()
                    .nth(chars as usize)
                    .map_or(text.len(), |(at, _)| at)
            };
            (byte(span.offset()), byte(span.offset() + span.len()))
        }
    };
    let start = in_text(start).unwrap_or(text.len());
    let end = in_text(end).unwrap_or(text.len()).max(start);
    Place {
        line: location.line() as usize,
        column: location.column() as usize,
        span: start..end,
    }
}

/// A node as the library hands it over, before numbers get their text back.
struct Raw(Spanned<RawValue>);

enum RawValue {
    Null,
    Bool(bool),
    Number(String),
    String(String),
    List(Vec<Raw>),
    Mapping(Vec<(Raw, Raw)>),
}

impl<'de> Deserialize<'de> for Raw {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        Spanned::deserialize(deserializer).map(Self)
    }
}

impl<'de> Deserialize<'de> for RawValue {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        deserializer.deserialize_any(AnyValue)
    }
}

struct AnyValue;

impl<'de> Visitor<'de> for AnyValue {
    type Value = RawValue;

    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("a YAML value")
    }

    fn visit_unit<E>(self) -> Result<RawValue, E> {
        Ok(RawValue::Null)
    }

    fn visit_none<E>(self) -> Result<RawValue, E> {
        Ok(RawValue::Null)
    }

    fn visit_bool<E>(self, value: bool) -> Result<RawValue, E> {
        Ok(RawValue::Bool(value))
    }

    fn visit_i64<E>(self, value: i64) -> Result<RawValue, E> {
        Ok(RawValue::Number(value.to_string()))
    }

    fn visit_u64<E>(self, value: u64) -> Result<RawValue, E> {
        Ok(RawValue::Number(value.to_string()))
    }

    fn visit_f64<E>(self, value: f64) -> Result<RawValue, E> {
        Ok(RawValue::Number(if value.is_finite() {
            value.to_string()
        } else {
            ".nan".into()
        }))
    }

    fn visit_str<E>(self, value: &str) -> Result<RawValue, E> {
        Ok(RawValue::String(value.to_owned()))
    }

    fn visit_seq<A: SeqAccess<'de>>(self, mut access: A) -> Result<RawValue, A::Error> {
        let mut items = Vec::new();
        while let Some(item) = access.next_element()? {
            items.push(item);
        }
        Ok(RawValue::List(items))
    }

    fn visit_map<A: MapAccess<'de>>(self, mut access: A) -> Result<RawValue, A::Error> {
        let mut entries = Vec::new();
        while let Some(entry) = access.next_entry()? {
            entries.push(entry);
        }
        Ok(RawValue::Mapping(entries))
    }
}
