//! The frames as they come. Values stay text: nothing is made into a tree on the way.

use std::borrow::Cow;
use std::fmt;
use std::marker::PhantomData;

use serde::de::{MapAccess, Visitor};
use serde::{Deserialize, Deserializer};
use serde_json::value::RawValue;

#[derive(Deserialize)]
pub(super) struct AnswerFrame<'a> {
    pub(super) verdict: Saying,
    #[serde(borrow, default)]
    pub(super) violation: Option<ViolationFrame<'a>>,
    #[serde(borrow, default)]
    pub(super) edits: Vec<Edit<'a>>,
    #[serde(borrow, default)]
    pub(super) state: Changes<'a>,
    #[serde(borrow, default)]
    pub(super) shared: Changes<'a>,
    #[serde(borrow, default)]
    pub(super) request_metadata: Changes<'a>,
    #[serde(borrow, default)]
    pub(super) metadata: Pairs<&'a RawValue>,
    #[serde(default)]
    pub(super) headers: Pairs<String>,
    #[serde(default)]
    pub(super) retry_after_ms: Option<u64>,
    #[serde(borrow, default)]
    pub(super) result: Option<&'a RawValue>,
    /// Edits of the side-channel slots as they were lent.
    #[serde(borrow, default)]
    pub(super) extensions: Vec<Edit<'a>>,
}

#[derive(Deserialize)]
#[serde(rename_all = "lowercase")]
pub(super) enum Saying {
    Allow,
    Deny,
}

#[derive(Deserialize)]
pub(super) struct ViolationFrame<'a> {
    #[serde(default)]
    pub(super) code: String,
    #[serde(default)]
    pub(super) reason: String,
    #[serde(default)]
    pub(super) description: String,
    #[serde(borrow, default)]
    pub(super) details: Option<&'a RawValue>,
    #[serde(borrow, default)]
    pub(super) mcp_error_code: Option<&'a RawValue>,
    #[serde(borrow, default)]
    pub(super) http_status_code: Option<&'a RawValue>,
    #[serde(default)]
    pub(super) http_headers: Option<Pairs<String>>,
}

#[derive(Deserialize)]
pub(super) struct Edit<'a> {
    #[serde(borrow)]
    pub(super) op: Cow<'a, str>,
    #[serde(borrow)]
    pub(super) at: Cow<'a, str>,
    /// A `null` that is there is a value, unlike one that is not there.
    #[serde(borrow, default, deserialize_with = "present")]
    pub(super) value: Option<&'a RawValue>,
}

#[derive(Deserialize, Default)]
pub(super) struct Changes<'a> {
    #[serde(borrow, default)]
    pub(super) set: Pairs<&'a RawValue>,
    #[serde(default)]
    pub(super) remove: Vec<String>,
}

#[derive(Deserialize)]
pub(super) struct FaultFrame {
    pub(super) kind: String,
    pub(super) message: String,
    #[serde(default)]
    pub(super) traceback: Option<String>,
}

fn present<'de: 'a, 'a, D: Deserializer<'de>>(
    deserializer: D,
) -> Result<Option<&'a RawValue>, D::Error> {
    <&RawValue>::deserialize(deserializer).map(Some)
}

/// An object's members in the order they came.
pub(super) struct Pairs<T>(pub(super) Vec<(String, T)>);

impl<T> Default for Pairs<T> {
    fn default() -> Self {
        Self(Vec::new())
    }
}

impl<'de, T: Deserialize<'de>> Deserialize<'de> for Pairs<T> {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        deserializer.deserialize_map(PairsVisitor(PhantomData))
    }
}

struct PairsVisitor<T>(PhantomData<T>);

impl<'de, T: Deserialize<'de>> Visitor<'de> for PairsVisitor<T> {
    type Value = Pairs<T>;

    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("an object")
    }

    fn visit_map<A: MapAccess<'de>>(self, mut map: A) -> Result<Self::Value, A::Error> {
        let mut pairs = Vec::new();
        while let Some(pair) = map.next_entry()? {
            pairs.push(pair);
        }
        Ok(Pairs(pairs))
    }
}
