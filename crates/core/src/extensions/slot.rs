//! [`Slot`]: the slots there are, who sees each, and in what way a plugin may change it.
//!
//! This table is the policy; the files beside it carry it out. A slot or member that it does not name is
//! lent to nobody.

use crate::capability::{Capabilities, Capability};
use crate::refusal::Refusal;

/// One side-channel slot.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub(crate) enum Slot {
    /// Environment, tracing.
    Request,
    /// Session and lineage of the agent.
    Agent,
    /// Headers and the request line.
    Http,
    /// Labels, identities, policies of objects and data.
    Security,
    /// Which backends a router may choose.
    CandidateConstraint,
    /// Who acts for whom.
    Delegation,
    /// Tokens.
    RawCredentials,
    /// What is known of a tool, resource or prompt.
    Mcp,
    /// How a completion ended.
    Completion,
    /// Where a message comes from.
    Provenance,
    /// The model.
    Llm,
    /// The agent framework.
    Framework,
    /// What an operator says of the thing called.
    Meta,
    /// Anything, changed by anybody.
    Custom,
}

/// Who is lent a slot or a member.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Access {
    /// Everybody.
    Open,
    /// Whoever was granted this.
    Gated(Capability),
    /// Whoever was granted this, and only at this hook.
    GatedAt(Capability, &'static str),
    /// It depends on the member.
    Members,
    /// Nobody: the policy does not know it.
    Nobody,
}

/// In what way a slot changes.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Tier {
    /// Never.
    Immutable,
    /// Headers are set and removed with `write_headers`; the request line never changes.
    Headers,
    /// Labels are added with `append_labels`; nothing else changes.
    Labels,
    /// Hops are appended with `append_delegation`.
    Chain,
    /// Freely.
    Mutable,
}

/// The members of `http` that hold headers: the legacy framework's one and its successor's two.
pub(super) const HEADER_MAPS: [&str; 3] = ["headers", "request_headers", "response_headers"];

impl Slot {
    /// Every slot.
    pub(crate) const ALL: [Self; 14] = [
        Self::Request,
        Self::Agent,
        Self::Http,
        Self::Security,
        Self::CandidateConstraint,
        Self::Delegation,
        Self::RawCredentials,
        Self::Mcp,
        Self::Completion,
        Self::Provenance,
        Self::Llm,
        Self::Framework,
        Self::Meta,
        Self::Custom,
    ];

    /// The name requests and plugins use.
    pub(crate) fn name(self) -> &'static str {
        match self {
            Self::Request => "request",
            Self::Agent => "agent",
            Self::Http => "http",
            Self::Security => "security",
            Self::CandidateConstraint => "candidate_constraint",
            Self::Delegation => "delegation",
            Self::RawCredentials => "raw_credentials",
            Self::Mcp => "mcp",
            Self::Completion => "completion",
            Self::Provenance => "provenance",
            Self::Llm => "llm",
            Self::Framework => "framework",
            Self::Meta => "meta",
            Self::Custom => "custom",
        }
    }

    /// The slot of that name.
    pub(crate) fn named(name: &str) -> Option<Self> {
        Self::ALL.into_iter().find(|slot| slot.name() == name)
    }

    /// The slot of that name, or the refusal of a plugin that asked for another.
    pub(crate) fn wanted(name: &str) -> Result<Self, Refusal> {
        Self::named(name).ok_or_else(|| {
            Refusal::invalid(format!(
                "no extension slot {:?}, there are: {}",
                crate::scan::shown(name),
                Self::names()
            ))
        })
    }

    /// All names, for messages.
    pub(super) fn names() -> String {
        Self::ALL.map(Self::name).join(", ")
    }

    pub(super) fn access(self) -> Access {
        match self {
            Self::Agent => Access::Gated(Capability::ReadAgent),
            Self::Delegation => Access::Gated(Capability::ReadDelegation),
            Self::Http | Self::Security | Self::RawCredentials => Access::Members,
            Self::Request
            | Self::CandidateConstraint
            | Self::Mcp
            | Self::Completion
            | Self::Provenance
            | Self::Llm
            | Self::Framework
            | Self::Meta
            | Self::Custom => Access::Open,
        }
    }

    /// Who is lent a member of a slot whose access depends on it.
    pub(super) fn member(self, name: &str) -> Access {
        match (self, name) {
            (
                Self::Http,
                "headers" | "request_headers" | "response_headers" | "method" | "path" | "host"
                | "scheme",
            ) => Access::Gated(Capability::ReadHeaders),
            (Self::Security, "labels") => Access::Gated(Capability::ReadLabels),
            (Self::Security, "subject") => Access::Members,
            (Self::Security, "client") => Access::Gated(Capability::ReadClient),
            (Self::Security, "caller_workload" | "this_workload") => {
                Access::Gated(Capability::ReadWorkload)
            }
            (Self::Security, "objects" | "data" | "classification" | "auth_method") => Access::Open,
            (Self::RawCredentials, "inbound_tokens") => {
                Access::GatedAt(Capability::ReadInboundCredentials, "identity_resolve")
            }
            (Self::RawCredentials, "delegated_tokens") => {
                Access::GatedAt(Capability::ReadDelegatedTokens, "token_delegate")
            }
            _ => Access::Nobody,
        }
    }

    pub(super) fn tier(self) -> Tier {
        match self {
            Self::Http => Tier::Headers,
            Self::Security => Tier::Labels,
            Self::Delegation => Tier::Chain,
            Self::Custom => Tier::Mutable,
            _ => Tier::Immutable,
        }
    }

    /// Whether a plugin may ask for the slot at all; whether something is in it is another question.
    pub(crate) fn readable(self, granted: Capabilities, hook: &str) -> Result<(), Refusal> {
        let wanted = match self {
            Self::Agent => Capability::ReadAgent,
            Self::Http => Capability::ReadHeaders,
            Self::Delegation => Capability::ReadDelegation,
            Self::RawCredentials => return tokens_readable(granted, hook),
            _ => return Ok(()),
        };
        if granted.allows(wanted) {
            return Ok(());
        }
        Err(Refusal::not_granted(format!(
            "extension {}: the plugin has no data grant `{wanted}`\nhint: permissions: {{data: [{wanted}]}}",
            self.name()
        )))
    }
}

fn tokens_readable(granted: Capabilities, hook: &str) -> Result<(), Refusal> {
    let parts =
        ["inbound_tokens", "delegated_tokens"].map(|name| Slot::RawCredentials.member(name));
    if parts.iter().any(|part| part.lends(granted, hook)) {
        return Ok(());
    }
    Err(Refusal::not_granted(format!(
        "extension raw_credentials at {hook}: tokens are lent at identity_resolve with the data grant \
         `read_inbound_credentials`, and at token_delegate with `read_delegated_tokens`"
    )))
}

impl Access {
    /// Whether a plugin with these grants is lent it at this hook, as far as it depends on that.
    pub(super) fn lends(self, granted: Capabilities, hook: &str) -> bool {
        match self {
            Self::Open | Self::Members => true,
            Self::Gated(capability) => granted.allows(capability),
            Self::GatedAt(capability, at) => granted.allows(capability) && hook == at,
            Self::Nobody => false,
        }
    }
}

/// Who is lent a member of the `security` slot's subject: id and type go with any of its grants.
pub(super) fn subject_member(name: &str, granted: Capabilities) -> bool {
    match name {
        "id" | "type" | "subject_type" => SUBJECT.into_iter().any(|one| granted.allows(one)),
        "roles" => granted.allows(Capability::ReadRoles),
        "teams" => granted.allows(Capability::ReadTeams),
        "claims" => granted.allows(Capability::ReadClaims),
        "permissions" => granted.allows(Capability::ReadPermissions),
        _ => false,
    }
}

/// Members of the subject that the policy knows.
pub(super) const SUBJECT_MEMBERS: [&str; 7] = [
    "id",
    "type",
    "subject_type",
    "roles",
    "teams",
    "claims",
    "permissions",
];

const SUBJECT: [Capability; 5] = [
    Capability::ReadSubject,
    Capability::ReadRoles,
    Capability::ReadTeams,
    Capability::ReadClaims,
    Capability::ReadPermissions,
];

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_go_both_ways() {
        for slot in Slot::ALL {
            assert_eq!(Slot::named(slot.name()), Some(slot));
        }
        let refusal = Slot::wanted("htpp").expect_err("no such slot");
        assert!(refusal.message.contains("http, security"), "{refusal}");
    }

    #[test]
    fn what_the_policy_does_not_name_is_lent_to_nobody() {
        let all: Capabilities = Capability::ALL.into_iter().collect();
        for slot in [Slot::Http, Slot::Security, Slot::RawCredentials] {
            assert!(!slot.member("new").lends(all, "identity_resolve"));
        }
        assert!(!subject_member("new", all));
        assert!(SUBJECT_MEMBERS.iter().all(|name| subject_member(name, all)));
    }
}
