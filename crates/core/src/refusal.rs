//! [`Refusal`]: an access or an edit the engine did not grant.

use std::fmt;

use serde::Serialize;

/// Why an access or an edit is refused. No fault: the plugin gets it as an error and decides.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Refusal {
    /// What kind of refusal.
    pub code: RefusalCode,
    /// The longer story, for the plugin's author.
    pub message: String,
}

/// The kinds of refusal. The set is open.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord)]
#[non_exhaustive]
pub enum RefusalCode {
    /// The operator gave no grant for it.
    NotGranted,
    /// It does not fit what is there.
    Invalid,
    /// It touches an earlier edit of the same call.
    Conflict,
    /// It is past a limit.
    TooLarge,
}

impl RefusalCode {
    /// The code plugins and records see.
    #[must_use]
    pub fn as_str(self) -> &'static str {
        match self {
            Self::NotGranted => "not-granted",
            Self::Invalid => "invalid",
            Self::Conflict => "conflict",
            Self::TooLarge => "too-large",
        }
    }
}

impl Refusal {
    /// The operator gave no grant.
    #[must_use]
    pub fn not_granted(message: impl Into<String>) -> Self {
        Self {
            code: RefusalCode::NotGranted,
            message: message.into(),
        }
    }

    /// It does not fit.
    #[must_use]
    pub fn invalid(message: impl Into<String>) -> Self {
        Self {
            code: RefusalCode::Invalid,
            message: message.into(),
        }
    }

    /// It touches another edit.
    #[must_use]
    pub fn conflict(message: impl Into<String>) -> Self {
        Self {
            code: RefusalCode::Conflict,
            message: message.into(),
        }
    }

    /// It is past a limit.
    #[must_use]
    pub fn too_large(message: impl Into<String>) -> Self {
        Self {
            code: RefusalCode::TooLarge,
            message: message.into(),
        }
    }
}

impl fmt::Display for Refusal {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}: {}", self.code.as_str(), self.message)
    }
}

impl std::error::Error for Refusal {}

impl Serialize for RefusalCode {
    fn serialize<S: serde::Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        serializer.serialize_str(self.as_str())
    }
}

/// How often something was refused in one call, as a record lists it.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize)]
pub struct Refused {
    /// What was asked: `edit`, `state`, `extension`, `secret`, `file`, `scratch`, `network`, ...
    pub what: &'static str,
    /// Why it was refused.
    pub code: RefusalCode,
    /// How often.
    pub count: u32,
}

/// The refusals of one call, counted.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Refusals(Vec<Refused>);

impl Refusals {
    /// Counts one.
    pub fn note(&mut self, what: &'static str, code: RefusalCode) {
        self.add(Refused {
            what,
            code,
            count: 1,
        });
    }

    /// Counts several of one kind.
    pub fn add(&mut self, more: Refused) {
        match self
            .0
            .iter_mut()
            .find(|refused| refused.what == more.what && refused.code == more.code)
        {
            Some(refused) => refused.count = refused.count.saturating_add(more.count),
            None => self.0.push(more),
        }
    }

    /// Whether an edit was refused: such a plugin cannot allow or ask any more.
    #[must_use]
    pub fn has_edit(&self) -> bool {
        self.0.iter().any(|refused| refused.what == "edit")
    }

    /// The list.
    #[must_use]
    pub fn list(&self) -> &[Refused] {
        &self.0
    }
}
