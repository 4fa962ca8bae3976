//! [`Payload`]: text on its way in, and the check at the door.

use std::fmt;
use std::sync::Arc;

use serde::{Serialize, Serializer};

use crate::document::Document;
use crate::hooks::Shape;
use crate::json::{Json, MAX_DEPTH, serialize_raw};
use crate::{scan, secret};

/// The JSON text a hook is about, as the caller gave it or as plugins left it. Cheap to clone.
#[derive(Clone, PartialEq, Eq)]
pub struct Payload(Arc<str>);

/// The text without what holds tokens.
impl fmt::Debug for Payload {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "Payload({})", secret::shown(&self.0))
    }
}

impl Payload {
    /// The text.
    #[must_use]
    pub fn as_str(&self) -> &str {
        &self.0
    }

    /// Whether both are one text, not merely equal ones.
    pub(crate) fn is(&self, other: &Self) -> bool {
        Arc::ptr_eq(&self.0, &other.0)
    }

    /// The text as a checked value; the error says where it is not I-JSON.
    pub fn to_json(&self) -> Result<Json, scan::NotIJson> {
        Json::parse(Arc::clone(&self.0))
    }
}

impl From<&str> for Payload {
    fn from(text: &str) -> Self {
        Self(text.into())
    }
}

impl From<String> for Payload {
    fn from(text: String) -> Self {
        Self(text.into())
    }
}

impl From<Arc<str>> for Payload {
    fn from(text: Arc<str>) -> Self {
        Self(text)
    }
}

impl From<&serde_json::Value> for Payload {
    fn from(value: &serde_json::Value) -> Self {
        Self(value.to_string().into())
    }
}

impl From<Document> for Payload {
    fn from(document: Document) -> Self {
        Self(Arc::clone(document.text()))
    }
}

impl fmt::Display for Payload {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.0)
    }
}

impl Serialize for Payload {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        serialize_raw(&self.0, serializer)
    }
}

/// A payload that did not pass the check at the door.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("the payload of {hook} {problem}")]
pub struct InvalidPayload {
    /// The hook it was for.
    pub hook: String,
    /// What is wrong, such as "is not I-JSON: duplicate key \"a\" at byte 12".
    pub problem: String,
}

impl InvalidPayload {
    /// The code callers see.
    pub const CODE: &'static str = "invalid_payload";

    /// A payload of `hook` that `problem` tells about, for front doors that see it before the engine does.
    #[must_use]
    pub fn new(hook: &str, problem: impl Into<String>) -> Self {
        Self {
            hook: hook.to_owned(),
            problem: problem.into(),
        }
    }
}

/// A payload that passed the door, with what was seen on the one way through its text.
pub(crate) struct Checked {
    pub(crate) document: Document,
    pub(crate) shape: Shape,
    /// What it is about, for hooks that have a subject.
    pub(crate) subject: Option<Arc<str>>,
    /// Whether it has a member `headers`.
    pub(crate) headers: bool,
}

/// The check at the door: size, I-JSON, nesting, the hook's shape.
pub(crate) fn check(
    hook: &str,
    payload: &Payload,
    max_bytes: u64,
) -> Result<Checked, InvalidPayload> {
    let bytes = payload.0.len() as u64;
    if bytes > max_bytes {
        return Err(InvalidPayload::new(
            hook,
            format!("has {bytes} bytes; at most {max_bytes}"),
        ));
    }
    let text: &str = &payload.0;
    let shape = Shape::of(hook);
    let (mut seen, mut problem, mut subject, mut headers) = (0, Ok(()), None, false);
    let subject_name = shape.subject();
    let skips = scan::check_members(text, MAX_DEPTH, &mut |name, value| {
        headers |= name == "headers";
        if Some(name) == subject_name && text.as_bytes()[value.start] == b'"' {
            subject = Some(value.clone());
        }
        if problem.is_ok() {
            problem = shape.check_member(name, &text[value], &mut seen);
        }
    })
    .map_err(|error| InvalidPayload::new(hook, format!("is not I-JSON: {error}")))?;
    let start = scan::skip_space(text.as_bytes(), 0);
    if text.as_bytes().get(start) != Some(&b'{') {
        problem = Err("the payload is not an object".into());
    }
    problem
        .and_then(|()| shape.check_complete(seen))
        .map_err(|problem| InvalidPayload::new(hook, format!("has the wrong shape: {problem}")))?;
    Ok(Checked {
        document: Document::checked(Arc::clone(&payload.0), skips),
        shape,
        subject: subject.map(|range| scan::string_value(&text[range]).into()),
        headers,
    })
}
