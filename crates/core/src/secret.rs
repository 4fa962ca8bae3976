//! Tokens: what is shown in their place, and what becomes of an answer that holds one.
//!
//! The plugins of two hooks are lent tokens, in the slot `raw_credentials` and in the payload. An inbound
//! token goes in and never comes back: not in an edit, a mark, a slot, a result or a plugin's state. A plugin
//! without the grant is lent the payload with asterisks for the token ([`masked`]). What a plugin minted or was lent for a target may come back, as its result, and is shown to nobody but the
//! caller. Tokens are looked for as they are; one that a plugin encoded is not found.

mod mask;
mod search;
mod shown;

use serde_json::Value;

use crate::Json;
use crate::draft::{Answer, Parts};
use crate::fault::{Fault, FaultKind};
use crate::plugin::HookCall;
use crate::pointer::Pointer;
use crate::refusal::RefusalCode;
use crate::verdict::{Approval, Verdict, Violation};
pub(crate) use mask::{edits_hidden, hidden, masked};
pub(crate) use search::Search;
pub(crate) use shown::{HIDDEN, Headers, shown, without_tokens_of};

/// Shortest token that is looked for in other texts, in bytes: what the legacy framework looks for. Words and
/// header names are shorter by chance, and tokens of real issuers never.
const NEEDLE_MIN_BYTES: usize = 12;

/// Hooks whose plugins see tokens.
const HOOKS: [&str; 2] = ["identity_resolve", "token_delegate"];
/// Members of their payloads that are the caller's own token.
const OF_PAYLOAD: [&str; 2] = ["raw_token", "bearer_token"];
/// The member of a result that is the token for a target.
const MINTED: &str = "delegated_token";
/// The slot that tokens travel in, and its members.
const SLOT: &str = "raw_credentials";
const INBOUND: &str = "inbound_tokens";
const DELEGATED: &str = "delegated_tokens";

/// What a refused token is called in a record.
const WHAT: &str = "credential";

/// The tokens one plugin knows from one call.
pub(crate) struct Tokens {
    /// The caller's own, which never come back.
    inbound: Vec<String>,
    /// Those for a target.
    delegated: Vec<String>,
}

impl Tokens {
    /// Those of a call; none at a hook that is not about tokens.
    pub(crate) fn of(call: &HookCall) -> Option<Self> {
        if !HOOKS.contains(&&*call.hook) {
            return None;
        }
        let mut tokens = Self {
            inbound: Vec::new(),
            delegated: Vec::new(),
        };
        if let Some(slot) = call.extensions.get(SLOT).map(Json::to_value) {
            gather(&slot[INBOUND], &mut tokens.inbound);
            gather(&slot[DELEGATED], &mut tokens.delegated);
        }
        for name in OF_PAYLOAD {
            let mut at = Pointer::root();
            at.push(name);
            if let Some(token) = call.payload.get_string(&at) {
                take(&token, &mut tokens.inbound);
            }
        }
        Some(tokens)
    }

    /// What a plugin's answer or fault becomes. A verdict stays what it is, with tokens hidden in its words; an
    /// allow or an ask that brings an inbound token back is a fault, a denial loses what would.
    pub(crate) fn guard(&self, answered: Result<Answer, Fault>) -> Result<Answer, Fault> {
        let mut parts = match answered {
            Ok(answer) => answer.into_parts(),
            Err(fault) => return Err(self.without_tokens(fault)),
        };
        let known = self.known_after(&parts);
        let leaks = self.come_back_in(&parts) || edits_name(&parts, &known);
        if leaks && !matches!(parts.verdict, Verdict::Deny(_)) {
            return Err(Fault::new(
                FaultKind::Protocol,
                "its answer holds a token where none may be: an inbound token never comes back",
            ));
        }
        if leaks {
            parts.effects = None;
            parts.edits.forget();
            parts.refused.note(WHAT, RefusalCode::NotGranted);
        }
        match &mut parts.verdict {
            Verdict::Allow => {}
            Verdict::Ask(approval) => hide_in_approval(approval, &known),
            Verdict::Deny(violation) => hide_in_violation(violation, &known),
        }
        if let Some(violation) = &mut parts.suppressed {
            hide_in_violation(violation, &known);
        }
        Ok(Answer::of(parts))
    }

    fn without_tokens(&self, mut fault: Fault) -> Fault {
        let known: Vec<_> = self.all().collect();
        shown::hide(&mut fault.message, &known);
        shown::hide_in_json(&mut fault.details, &known);
        fault
    }

    fn all(&self) -> impl Iterator<Item = String> {
        self.inbound.iter().chain(&self.delegated).cloned()
    }

    /// With what the plugin minted in its result.
    fn known_after(&self, parts: &Parts) -> Vec<String> {
        let mut known: Vec<_> = self.all().collect();
        let effects = parts.effects.as_deref();
        if let Some(result) = effects.and_then(|effects| effects.result.as_ref())
            && let Some(minted) = result.to_value()[MINTED].as_str()
        {
            take(minted, &mut known);
        }
        known
    }

    /// Whether an inbound token is in what an answer leaves behind.
    fn come_back_in(&self, parts: &Parts) -> bool {
        let mut search = Search::new(&self.inbound);
        parts.edits.search(&mut search);
        if let Some(effects) = &parts.effects {
            effects.search(&mut search);
        }
        search.found()
    }
}

/// Whether a record, which lists edits by their places, would show a token.
fn edits_name(parts: &Parts, known: &[String]) -> bool {
    let mut search = Search::new(known);
    let places = parts.edits.list().iter().flat_map(|note| note.at.tokens());
    places.for_each(|name| search.text(name));
    search.found()
}

fn hide_in_approval(approval: &mut Approval, known: &[String]) {
    shown::hide(&mut approval.reason, known);
    shown::hide_in_json(&mut approval.details, known);
}

fn hide_in_violation(violation: &mut Violation, known: &[String]) {
    let Violation {
        plugin: _,
        code,
        reason,
        description,
        details,
        mcp_error_code: _,
        http_status_code: _,
        http_headers,
    } = violation;
    for text in [code, reason, description] {
        shown::hide(text, known);
    }
    shown::hide_in_json(details, known);
    for (name, value) in http_headers {
        shown::hide(name, known);
        shown::hide(value, known);
    }
}

/// Takes the tokens in a description of some: what a member `token` says, or strings alone.
fn gather(value: &Value, tokens: &mut Vec<String>) {
    match value {
        Value::String(token) => take(token, tokens),
        Value::Array(items) => items.iter().for_each(|item| gather(item, tokens)),
        Value::Object(members) => match members.get("token") {
            Some(token @ Value::String(_)) => gather(token, tokens),
            _ => members.values().for_each(|value| gather(value, tokens)),
        },
        _ => {}
    }
}

fn take(token: &str, tokens: &mut Vec<String>) {
    if token.len() >= NEEDLE_MIN_BYTES && !tokens.iter().any(|one| one == token) {
        tokens.push(token.to_owned());
    }
}
