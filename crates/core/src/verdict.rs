//! What a plugin decides: [`Verdict`], and what goes with it.

use std::fmt;

use serde::{Deserialize, Serialize};

use crate::Json;

/// A plugin's decision. `Deny` beats `Ask` beats `Allow`.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Verdict {
    /// The call may go on.
    Allow,
    /// A person must agree first.
    Ask(Approval),
    /// The call must not happen.
    Deny(Violation),
}

/// Why a call is refused.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Violation {
    /// The plugin that denied; none for a violation made by the engine or a front door.
    /// What a plugin writes here is replaced by its entry's name.
    pub plugin: Option<String>,
    /// Stable and machine-readable, such as `PII_DETECTED`.
    pub code: String,
    /// One short line.
    pub reason: String,
    /// The longer story, for a person.
    pub description: String,
    /// JSON object.
    pub details: Json,
    /// JSON-RPC error code the caller should answer with.
    pub mcp_error_code: Option<i32>,
    /// HTTP status the caller should answer with, 100 to 599.
    pub http_status_code: Option<u16>,
    /// HTTP headers the caller should answer with, in order.
    #[serde(with = "header_map")]
    pub http_headers: Vec<(String, String)>,
}

impl Violation {
    /// A violation with a code and a reason and nothing else.
    #[must_use]
    pub fn new(code: impl Into<String>, reason: impl Into<String>) -> Self {
        Self {
            plugin: None,
            code: code.into(),
            reason: reason.into(),
            description: String::new(),
            details: Json::object(),
            mcp_error_code: None,
            http_status_code: None,
            http_headers: Vec::new(),
        }
    }

    /// Whether callers can be handed this: details are an object, the status is one, headers are headers.
    pub(crate) fn check(&self) -> Result<(), String> {
        if !self.details.is_object() {
            return Err("the details of its violation are not a JSON object".into());
        }
        if let Some(status) = self
            .http_status_code
            .filter(|status| !(100..=599).contains(status))
        {
            return Err(format!(
                "HTTP status {status} of its violation is not between 100 and 599"
            ));
        }
        let headers = self.http_headers.len();
        if headers > MAX_HEADERS {
            return Err(format!(
                "its violation has {headers} HTTP headers; at most {MAX_HEADERS}"
            ));
        }
        match self
            .http_headers
            .iter()
            .find(|(name, value)| !is_header(name, value))
        {
            Some((name, value)) => Err(format!(
                "not an HTTP header in its violation: {name:?}: {value:?}"
            )),
            None => Ok(()),
        }
    }

    /// Bytes of everything in it.
    pub(crate) fn bytes(&self) -> u64 {
        let headers: usize = self
            .http_headers
            .iter()
            .map(|(name, value)| name.len() + value.len())
            .sum();
        let texts = [&self.code, &self.reason, &self.description].map(String::len);
        (texts.iter().sum::<usize>() + headers + self.details.as_str().len()) as u64
    }

    /// What stands for the violation of a denial that came without one.
    #[must_use]
    pub fn denied() -> Self {
        Self::new("denied", "denied")
    }
}

/// How much is at stake in an approval.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum Risk {
    /// Little.
    Low,
    /// Some.
    Medium,
    /// Much.
    High,
    /// Everything.
    Critical,
}

/// What a person is asked before the call may go on.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Approval {
    /// Why.
    pub reason: String,
    /// How much is at stake.
    pub risk: Risk,
    /// JSON object shown to whoever decides.
    pub details: Json,
}

impl Approval {
    /// Bytes of everything in it.
    pub(crate) fn bytes(&self) -> u64 {
        (self.reason.len() + self.details.as_str().len()) as u64
    }
}

/// The name of a verdict without what goes with it.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum Decision {
    /// The call may go on.
    Allow,
    /// A person must agree first.
    Ask,
    /// The call must not happen.
    Deny,
}

impl Decision {
    /// `allow`, `ask` or `deny`.
    #[must_use]
    pub fn as_str(self) -> &'static str {
        match self {
            Self::Allow => "allow",
            Self::Ask => "ask",
            Self::Deny => "deny",
        }
    }
}

impl fmt::Display for Decision {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.pad(self.as_str())
    }
}

impl Verdict {
    /// Which of the three it is.
    #[must_use]
    pub fn decision(&self) -> Decision {
        match self {
            Self::Allow => Decision::Allow,
            Self::Ask(_) => Decision::Ask,
            Self::Deny(_) => Decision::Deny,
        }
    }
}

/// Headers travel as a JSON object; a later one of the same name, case aside, replaces an earlier one.
pub(crate) mod header_map {
    use serde::de::Deserialize;
    use serde::ser::SerializeMap;
    use serde::{Deserializer, Serializer};

    pub(crate) fn serialize<S: Serializer>(
        headers: &[(String, String)],
        serializer: S,
    ) -> Result<S::Ok, S::Error> {
        let mut merged: Vec<(String, String)> = Vec::with_capacity(headers.len());
        for (name, value) in headers {
            super::set_header(&mut merged, name, value);
        }
        let mut map = serializer.serialize_map(Some(merged.len()))?;
        for (name, value) in &merged {
            map.serialize_entry(name, value)?;
        }
        map.end()
    }

    pub(crate) fn deserialize<'de, D: Deserializer<'de>>(
        deserializer: D,
    ) -> Result<Vec<(String, String)>, D::Error> {
        let map: Option<indexmap::IndexMap<String, String>> = Option::deserialize(deserializer)?;
        Ok(map.unwrap_or_default().into_iter().collect())
    }
}

/// Headers one answer or one violation may set. Servers take a hundred or so, and each is compared
/// with all before it.
pub(crate) const MAX_HEADERS: usize = 1_000;

/// RFC 9110: a name is a token, a value has no control characters but tab.
pub(crate) fn is_header(name: &str, value: &str) -> bool {
    let token = |byte: u8| byte.is_ascii_alphanumeric() || b"!#$%&'*+-.^_`|~".contains(&byte);
    let text = |byte: u8| byte == b'\t' || (byte >= 0x20 && byte != 0x7f);
    !name.is_empty() && name.bytes().all(token) && value.bytes().all(text)
}

/// Sets a header: names are compared without case, the last writer wins and keeps its spelling.
pub(crate) fn set_header(headers: &mut Vec<(String, String)>, name: &str, value: &str) {
    headers.retain(|(other, _)| !other.eq_ignore_ascii_case(name));
    headers.push((name.to_owned(), value.to_owned()));
}
