//! [`Capability`]: a data grant, one part of a call that an operator lets a plugin see or change.
//!
//! The names are the legacy framework's, twelve of them, and four of its successor's.

use std::fmt;

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

/// One data grant.
#[derive(
    Debug, Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord, Serialize, Deserialize, JsonSchema,
)]
#[serde(rename_all = "snake_case")]
#[repr(u8)]
pub enum Capability {
    /// Add hops to the `delegation` slot; includes reading it.
    AppendDelegation,
    /// Add labels to the `security` slot; includes reading them.
    AppendLabels,
    /// The `agent` slot.
    ReadAgent,
    /// The claims of the `security` slot's subject.
    ReadClaims,
    /// The client of the `security` slot.
    ReadClient,
    /// Delegated tokens, at `token_delegate` alone.
    ReadDelegatedTokens,
    /// The `delegation` slot.
    ReadDelegation,
    /// The headers of a payload and of the `http` slot.
    ReadHeaders,
    /// The caller's own tokens, at `identity_resolve` alone.
    ReadInboundCredentials,
    /// The labels of the `security` slot.
    ReadLabels,
    /// The permissions of the `security` slot's subject.
    ReadPermissions,
    /// The roles of the `security` slot's subject.
    ReadRoles,
    /// Id and type of the `security` slot's subject.
    ReadSubject,
    /// The teams of the `security` slot's subject.
    ReadTeams,
    /// The workloads of the `security` slot.
    ReadWorkload,
    /// Change the `http` slot; includes reading headers.
    WriteHeaders,
}

impl Capability {
    /// Every capability, by name.
    pub const ALL: [Self; 16] = [
        Self::AppendDelegation,
        Self::AppendLabels,
        Self::ReadAgent,
        Self::ReadClaims,
        Self::ReadClient,
        Self::ReadDelegatedTokens,
        Self::ReadDelegation,
        Self::ReadHeaders,
        Self::ReadInboundCredentials,
        Self::ReadLabels,
        Self::ReadPermissions,
        Self::ReadRoles,
        Self::ReadSubject,
        Self::ReadTeams,
        Self::ReadWorkload,
        Self::WriteHeaders,
    ];

    /// The name configurations use, such as `read_headers`.
    #[must_use]
    pub fn as_str(self) -> &'static str {
        match self {
            Self::AppendDelegation => "append_delegation",
            Self::AppendLabels => "append_labels",
            Self::ReadAgent => "read_agent",
            Self::ReadClaims => "read_claims",
            Self::ReadClient => "read_client",
            Self::ReadDelegatedTokens => "read_delegated_tokens",
            Self::ReadDelegation => "read_delegation",
            Self::ReadHeaders => "read_headers",
            Self::ReadInboundCredentials => "read_inbound_credentials",
            Self::ReadLabels => "read_labels",
            Self::ReadPermissions => "read_permissions",
            Self::ReadRoles => "read_roles",
            Self::ReadSubject => "read_subject",
            Self::ReadTeams => "read_teams",
            Self::ReadWorkload => "read_workload",
            Self::WriteHeaders => "write_headers",
        }
    }

    /// The capability of that name.
    #[must_use]
    pub fn named(name: &str) -> Option<Self> {
        Self::ALL
            .into_iter()
            .find(|capability| capability.as_str() == name)
    }
}

impl fmt::Display for Capability {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.pad(self.as_str())
    }
}

/// A set of capabilities. The default is none.
#[derive(Clone, Copy, Default, PartialEq, Eq, Hash)]
pub struct Capabilities(u16);

impl Capabilities {
    /// No capability.
    pub const NONE: Self = Self(0);

    /// Adds one.
    pub fn insert(&mut self, capability: Capability) {
        self.0 |= 1 << capability as u8;
    }

    /// Whether exactly this one was granted; what others include does not count.
    #[must_use]
    pub fn contains(self, capability: Capability) -> bool {
        self.0 & (1 << capability as u8) != 0
    }

    /// Whether this one was granted, itself or as part of another: appending and writing include reading.
    #[must_use]
    pub fn allows(self, capability: Capability) -> bool {
        let includes = match capability {
            Capability::ReadHeaders => Capability::WriteHeaders,
            Capability::ReadLabels => Capability::AppendLabels,
            Capability::ReadDelegation => Capability::AppendDelegation,
            other => other,
        };
        self.contains(capability) || self.contains(includes)
    }

    /// Whether none was granted.
    #[must_use]
    pub fn is_empty(self) -> bool {
        self.0 == 0
    }

    /// Those granted, by name.
    pub fn iter(self) -> impl Iterator<Item = Capability> {
        Capability::ALL
            .into_iter()
            .filter(move |capability| self.contains(*capability))
    }
}

impl FromIterator<Capability> for Capabilities {
    fn from_iter<I: IntoIterator<Item = Capability>>(capabilities: I) -> Self {
        let mut all = Self::NONE;
        capabilities
            .into_iter()
            .for_each(|capability| all.insert(capability));
        all
    }
}

impl fmt::Debug for Capabilities {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_set()
            .entries(self.iter().map(Capability::as_str))
            .finish()
    }
}

impl Serialize for Capabilities {
    /// A list of names.
    fn serialize<S: serde::Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        serializer.collect_seq(self.iter())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_go_both_ways_and_are_sorted() {
        for capability in Capability::ALL {
            assert_eq!(Capability::named(capability.as_str()), Some(capability));
            let json = serde_json::to_value(capability).unwrap();
            assert_eq!(json, capability.as_str());
        }
        assert!(Capability::ALL.is_sorted_by_key(|capability| capability.as_str()));
        assert_eq!(Capability::named("read_everything"), None);
    }

    #[test]
    fn writing_includes_reading_and_nothing_else() {
        let granted: Capabilities = [Capability::AppendLabels].into_iter().collect();
        let allowed: Vec<_> = Capability::ALL
            .into_iter()
            .filter(|capability| granted.allows(*capability))
            .collect();
        assert_eq!(allowed, [Capability::AppendLabels, Capability::ReadLabels]);
        assert_eq!(format!("{granted:?}"), r#"{"append_labels"}"#);
    }
}
