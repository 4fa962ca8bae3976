//! [`Condition`]: when a plugin is asked at all.
//!
//! The fields and their rules are the legacy framework's. A field that names subjects of one kind says
//! nothing about hooks of another: `tools` does not keep a plugin from a resource hook.

use std::collections::BTreeSet;

use serde::Serialize;

use crate::document::Document;
use crate::pointer::Pointer;
use crate::request::Request;

/// What must hold together for a plugin to be asked. An empty field holds always.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize)]
#[non_exhaustive]
pub struct Condition {
    /// Ids of servers, one of which the request must name.
    pub server_ids: BTreeSet<String>,
    /// Ids of tenants, one of which the request must name.
    pub tenant_ids: BTreeSet<String>,
    /// Names of tools, for hooks about a tool.
    pub tools: BTreeSet<String>,
    /// Ids of prompts, for hooks about a prompt.
    pub prompts: BTreeSet<String>,
    /// URIs of resources, for hooks about a resource.
    pub resources: BTreeSet<String>,
    /// Ids of agents, for hooks about an agent.
    pub agents: BTreeSet<String>,
    /// Texts, one of which the user's name must hold.
    pub user_patterns: Vec<String>,
    /// Content types without parameters, in lower case, one of which the request must have.
    pub content_types: Vec<String>,
}

/// Why a condition does not hold.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct Mismatch {
    /// The field that does not hold.
    pub field: &'static str,
    /// What the request or the payload has there; none where it has nothing.
    pub found: Option<String>,
}

/// What a call is tested by: the hook's subject as it arrived, and who calls.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Tested<'a> {
    /// The hook's name.
    pub(crate) hook: &'a str,
    /// The payload as it arrived.
    pub(crate) payload: &'a Document,
    /// What it is about, for hooks that have a subject.
    pub(crate) subject: Option<&'a str>,
    /// Who calls.
    pub(crate) request: &'a Request,
}

impl Condition {
    /// The first field that does not hold, if any.
    pub(crate) fn mismatch(&self, tested: Tested<'_>) -> Option<Mismatch> {
        let request = tested.request;
        let one_of = |field, ids: &BTreeSet<String>, found: &Option<String>| {
            let holds = ids.is_empty() || found.as_ref().is_some_and(|found| ids.contains(found));
            (!holds).then(|| Mismatch {
                field,
                found: found.clone(),
            })
        };
        one_of("server_ids", &self.server_ids, &request.server_id)
            .or_else(|| one_of("tenant_ids", &self.tenant_ids, &request.tenant_id))
            .or_else(|| self.content_type_mismatch(request))
            .or_else(|| self.user_mismatch(request))
            .or_else(|| self.subject_mismatch(tested))
    }

    fn content_type_mismatch(&self, request: &Request) -> Option<Mismatch> {
        let found = request.content_type.as_deref().map(content_type);
        let holds = self.content_types.is_empty()
            || found
                .as_ref()
                .is_some_and(|found| !found.is_empty() && self.content_types.contains(found));
        (!holds).then_some(Mismatch {
            field: "content_types",
            found,
        })
    }

    fn user_mismatch(&self, request: &Request) -> Option<Mismatch> {
        if self.user_patterns.is_empty() {
            return None;
        }
        let user = request.user.as_ref().map(User::of);
        let holds = user
            .as_ref()
            .is_some_and(|user| user.holds(&self.user_patterns));
        (!holds).then(|| Mismatch {
            field: "user_patterns",
            found: user.map(User::shown),
        })
    }

    fn subject_mismatch(&self, tested: Tested<'_>) -> Option<Mismatch> {
        let (field, names) = match tested.hook {
            "tool_pre_invoke" | "tool_post_invoke" | "token_delegate" | "identity_resolve" => {
                ("tools", &self.tools)
            }
            "prompt_pre_fetch" | "prompt_post_fetch" => ("prompts", &self.prompts),
            "resource_pre_fetch" | "resource_post_fetch" => ("resources", &self.resources),
            "agent_pre_invoke" | "agent_post_invoke" => ("agents", &self.agents),
            _ => return None,
        };
        if names.is_empty() {
            return None;
        }
        let member = |name: &str| {
            let mut at = Pointer::root();
            at.push(name);
            tested.payload.get_string(&at)
        };
        let (subject, secret) = match tested.hook {
            "token_delegate" => (member("target_name"), false),
            "identity_resolve" => (member("raw_token"), true),
            _ => (tested.subject.map(Into::into), false),
        };
        // An empty subject is none and is not compared, as at home. A token is no tool's name, and is not told.
        let subject = subject.filter(|subject| !subject.is_empty())?;
        let holds = !secret && names.contains(&*subject);
        (!holds).then(|| Mismatch {
            field,
            found: (!secret).then(|| subject.into_owned()),
        })
    }
}

/// Whether one of the alternatives holds, or there are none.
pub(crate) fn hold(conditions: &[Condition], tested: Tested<'_>) -> bool {
    conditions.is_empty()
        || conditions
            .iter()
            .any(|condition| condition.mismatch(tested).is_none())
}

/// A content type without its parameters, in lower case.
pub(crate) fn content_type(text: &str) -> String {
    let base = text.split(';').next().unwrap_or_default();
    base.trim().to_lowercase()
}

/// The user as patterns see it: a name, or an object whose keys are compared as a whole.
enum User {
    Name(String),
    Keys(Vec<String>),
    Other,
}

impl User {
    fn of(user: &crate::Json) -> Self {
        match serde_json::from_str(user.as_str()) {
            Ok(serde_json::Value::String(name)) => Self::Name(name),
            Ok(serde_json::Value::Object(members)) => {
                Self::Keys(members.into_iter().map(|(key, _)| key).collect())
            }
            _ => Self::Other,
        }
    }

    fn holds(&self, patterns: &[String]) -> bool {
        match self {
            Self::Name(name) => {
                !name.is_empty()
                    && patterns
                        .iter()
                        .any(|pattern| name.contains(pattern.as_str()))
            }
            Self::Keys(keys) => patterns.iter().any(|pattern| keys.contains(pattern)),
            Self::Other => false,
        }
    }

    fn shown(self) -> String {
        match self {
            Self::Name(name) => name,
            Self::Keys(keys) => format!("an object with {}", keys.join(", ")),
            Self::Other => "neither a name nor an object".into(),
        }
    }
}
