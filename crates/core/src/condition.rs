//! [`Condition`]: when a plugin is asked at all.
//!
//! The fields and their rules are the legacy framework's. A field that names subjects of one kind says
//! nothing about hooks of another: `tools` does not keep a plugin from a resource hook.

use std::borrow::Cow;
use std::collections::BTreeSet;

use serde::Serialize;

use crate::document::Document;
use crate::pointer::Pointer;
use crate::request::Request;

mod and;
mod user;

use user::User;

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
    /// Conditions that must hold as well, where one field cannot say it: see [`Condition::and`].
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub also: Vec<Condition>,
}

/// Why a condition does not hold.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
#[non_exhaustive]
pub struct Mismatch {
    /// The first field that does not hold.
    pub field: &'static str,
    /// What the field lists, one of which should be there.
    pub expected: Vec<String>,
    /// What the request or the payload has there, for people; none where it has nothing. Never a token.
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

/// What a payload is compared by.
enum Subject<'a> {
    Named(Cow<'a, str>),
    /// A token: it is no tool's name, and is not told.
    Secret,
}

impl Tested<'_> {
    /// What the hook is about. An empty subject is none and is not compared, as at home.
    fn subject(&self) -> Option<Subject<'_>> {
        let member = |name: &str| {
            let mut at = Pointer::root();
            at.push(name);
            self.payload
                .get_string(&at)
                .filter(|found| !found.is_empty())
        };
        match self.hook {
            "token_delegate" => member("target_name").map(Subject::Named),
            "identity_resolve" => member("raw_token").map(|_| Subject::Secret),
            _ => self
                .subject
                .filter(|subject| !subject.is_empty())
                .map(|subject| Subject::Named(subject.into())),
        }
    }

    /// What was compared with the field, for people.
    fn found(&self, field: &str) -> Option<String> {
        match field {
            "server_ids" => self.request.server_id.clone(),
            "tenant_ids" => self.request.tenant_id.clone(),
            "content_types" => self.request.content_type.as_deref().map(content_type),
            "user_patterns" => User::of(self.request.user.as_ref()).map(|user| user.shown()),
            _ => self.subject().map(|subject| match subject {
                Subject::Named(name) => name.into_owned(),
                Subject::Secret => "a token, which is never compared".into(),
            }),
        }
    }
}

/// The field that names what a hook is about, if any does.
pub(crate) fn subject_field(hook: &str) -> Option<&'static str> {
    Some(match hook {
        "tool_pre_invoke" | "tool_post_invoke" | "token_delegate" | "identity_resolve" => "tools",
        "prompt_pre_fetch" | "prompt_post_fetch" => "prompts",
        "resource_pre_fetch" | "resource_post_fetch" => "resources",
        "agent_pre_invoke" | "agent_post_invoke" => "agents",
        _ => return None,
    })
}

impl Condition {
    /// The fields, as configurations spell them.
    pub const FIELDS: [&'static str; 8] = [
        "server_ids",
        "tenant_ids",
        "tools",
        "prompts",
        "resources",
        "agents",
        "user_patterns",
        "content_types",
    ];

    /// What a field lists, in order; nothing for a field that does not exist.
    pub(crate) fn listed(&self, field: &str) -> Vec<&str> {
        let names = match field {
            "server_ids" => &self.server_ids,
            "tenant_ids" => &self.tenant_ids,
            "tools" => &self.tools,
            "prompts" => &self.prompts,
            "resources" => &self.resources,
            "agents" => &self.agents,
            "user_patterns" => return self.user_patterns.iter().map(String::as_str).collect(),
            "content_types" => return self.content_types.iter().map(String::as_str).collect(),
            _ => return Vec::new(),
        };
        names.iter().map(String::as_str).collect()
    }

    /// The names that are compared with a hook's subject, and their field; none where the hook has no subject.
    pub(crate) fn subjects_at(&self, hook: &str) -> Option<(&'static str, &BTreeSet<String>)> {
        let field = subject_field(hook)?;
        let names = match field {
            "tools" => &self.tools,
            "prompts" => &self.prompts,
            "resources" => &self.resources,
            _ => &self.agents,
        };
        Some((field, names))
    }

    /// The same with content types as they are compared: without parameters, in lower case.
    pub(crate) fn normalised(mut self) -> Self {
        for listed in &mut self.content_types {
            *listed = content_type(listed);
        }
        self.also = self.also.into_iter().map(Self::normalised).collect();
        self
    }

    /// Why it does not hold, if it does not.
    pub(crate) fn mismatch(&self, tested: Tested<'_>) -> Option<Mismatch> {
        let (part, field) = self.failing(tested)?;
        Some(Mismatch {
            field,
            expected: part.listed(field).into_iter().map(str::to_owned).collect(),
            found: tested.found(field),
        })
    }

    /// The first field that does not hold, and the condition it belongs to. Copies nothing: most calls
    /// pass by some plugin.
    fn failing(&self, tested: Tested<'_>) -> Option<(&Self, &'static str)> {
        let request = tested.request;
        let one_of = |ids: &BTreeSet<String>, found: &Option<String>| {
            ids.is_empty() || found.as_ref().is_some_and(|found| ids.contains(found))
        };
        let field = if !one_of(&self.server_ids, &request.server_id) {
            "server_ids"
        } else if !one_of(&self.tenant_ids, &request.tenant_id) {
            "tenant_ids"
        } else if !self.content_types_hold(request) {
            "content_types"
        } else if !self.user_patterns_hold(request) {
            "user_patterns"
        } else if let Some(field) = self.subject_not_listed(tested) {
            field
        } else {
            return self.also.iter().find_map(|also| also.failing(tested));
        };
        Some((self, field))
    }

    fn content_types_hold(&self, request: &Request) -> bool {
        self.content_types.is_empty()
            || request
                .content_type
                .as_deref()
                // Blank is none; parameters alone are a type without a name.
                .filter(|text| !text.trim().is_empty())
                .is_some_and(|text| self.content_types.contains(&content_type(text)))
    }

    fn user_patterns_hold(&self, request: &Request) -> bool {
        self.user_patterns.is_empty()
            || User::of(request.user.as_ref())
                .is_some_and(|user| user.has_one_of(&self.user_patterns))
    }

    fn subject_not_listed(&self, tested: Tested<'_>) -> Option<&'static str> {
        let (field, names) = self.subjects_at(tested.hook)?;
        if names.is_empty() {
            return None;
        }
        let listed = match tested.subject()? {
            Subject::Named(name) => names.contains(&*name),
            Subject::Secret => false,
        };
        (!listed).then_some(field)
    }
}

/// Whether one of the alternatives holds, or there are none.
pub(crate) fn hold(conditions: &[Condition], tested: Tested<'_>) -> bool {
    conditions.is_empty()
        || conditions
            .iter()
            .any(|condition| condition.failing(tested).is_none())
}

/// A content type without its parameters, in lower case.
pub(crate) fn content_type(text: &str) -> String {
    let base = text.split(';').next().unwrap_or_default();
    base.trim().to_lowercase()
}
