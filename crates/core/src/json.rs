//! [`Json`]: a small JSON value kept as its text.

use std::fmt;
use std::sync::Arc;

use serde::de::Error as _;
use serde::ser::Error as _;
use serde::{Deserialize, Deserializer, Serialize, Serializer};
use serde_json::value::RawValue;

use crate::scan::{self, NotIJson};
use crate::{secret, value};

/// How deep a value may nest: the bound of a payload at the door, used for every JSON value alike.
pub const MAX_DEPTH: usize = 100;

/// One JSON value as checked I-JSON text: cheap to clone, numbers as they were written.
///
/// Equality is that of the text. [`Json::same_value`] compares what the texts mean.
#[derive(Clone, PartialEq, Eq, Hash)]
pub struct Json(Arc<str>);

impl Json {
    /// Takes a text that must be I-JSON, nested at most [`MAX_DEPTH`] deep.
    pub fn parse(text: impl Into<Arc<str>>) -> Result<Self, NotIJson> {
        let text = text.into();
        scan::check(&text, MAX_DEPTH)?;
        Ok(Self(text))
    }

    /// INVARIANT: the text is I-JSON, nested no deeper than [`MAX_DEPTH`]: a part of a checked text, or made of such parts.
    pub(crate) fn trusted(text: Arc<str>) -> Self {
        Self(text)
    }

    /// The text of a value that is already a tree.
    #[must_use]
    pub fn from_value(value: &serde_json::Value) -> Self {
        Self(value.to_string().into())
    }

    /// A JSON string.
    #[must_use]
    pub fn string(value: &str) -> Self {
        let mut text = String::with_capacity(value.len() + 2);
        scan::push_string(&mut text, value);
        Self(text.into())
    }

    /// `null`.
    #[must_use]
    pub fn null() -> Self {
        Self("null".into())
    }

    /// `{}`.
    #[must_use]
    pub fn object() -> Self {
        Self("{}".into())
    }

    /// The text.
    #[must_use]
    pub fn as_str(&self) -> &str {
        &self.0
    }

    /// The text, shared.
    #[must_use]
    pub fn to_shared(&self) -> Arc<str> {
        Arc::clone(&self.0)
    }

    /// The value as a tree; numbers keep their digits, an exponent is written anew (`1E5` as `1e+5`).
    #[must_use]
    pub fn to_value(&self) -> serde_json::Value {
        serde_json::from_str(&self.0).unwrap_or(serde_json::Value::Null)
    }

    /// Whether the value is an object.
    #[must_use]
    pub fn is_object(&self) -> bool {
        self.0.trim_start().starts_with('{')
    }

    /// Whether the value is `null`.
    #[must_use]
    pub fn is_null(&self) -> bool {
        self.0.trim() == "null"
    }

    /// Whether the two texts mean the same value: key order and white space aside, numbers by text.
    #[must_use]
    pub fn same_value(&self, other: &Self) -> bool {
        value::same(&self.0, &other.0)
    }
}

/// The text without what holds tokens.
impl fmt::Debug for Json {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&secret::shown(&self.0))
    }
}

impl fmt::Display for Json {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.0)
    }
}

impl Serialize for Json {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        serialize_raw(&self.0, serializer)
    }
}

pub(crate) fn serialize_raw<S: Serializer>(text: &str, serializer: S) -> Result<S::Ok, S::Error> {
    serde_json::from_str::<&RawValue>(text)
        .map_err(S::Error::custom)?
        .serialize(serializer)
}

impl<'de> Deserialize<'de> for Json {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        let raw = Box::<RawValue>::deserialize(deserializer)?;
        Self::parse(raw.get()).map_err(D::Error::custom)
    }
}

impl From<&serde_json::Value> for Json {
    fn from(value: &serde_json::Value) -> Self {
        Self::from_value(value)
    }
}

impl From<serde_json::Value> for Json {
    fn from(value: serde_json::Value) -> Self {
        Self::from_value(&value)
    }
}
