//! Tokens on their way to the classes of two hooks: out of the slot `raw_credentials`, into the payload.
//!
//! The framework has no slot for tokens. Its payloads of `identity_resolve` and `token_delegate` have a member
//! for one, a secret that its own dumps show as asterisks, and that is where a class reads it. A plugin with the
//! grant is sent the payload with the token in that member and nowhere else: headers that repeat it are
//! masked, and the slot is never sent. A plugin that was granted tokens and would be asked without one is
//! not asked: it could take that for a request that needs no authentication. The folded payload is for the
//! worker alone; edits refer to the payload as the pipeline has it.

use hookgate_core::{Capabilities, Capability, Document, Fault, FaultKind, HookCall, Json};
use serde_json::{Map, Value};

use crate::tokens::{HIDDEN, MIN_BYTES};

const IDENTITY: &str = "identity_resolve";
const DELEGATE: &str = "token_delegate";

/// The slot of tokens, which is never sent.
pub(crate) const SLOT: &str = "raw_credentials";

/// Members of payloads that are the caller's own token.
const OF_PAYLOAD: [&str; 2] = ["raw_token", "bearer_token"];
/// Who an inbound token may speak for, the best first: a resolver wants the subject's own. Others follow.
const ROLES: [&str; 4] = ["user", "client", "caller_workload", "workload"];
/// For whom a delegated token acts, the best first: who is to act for the user must not act for the gateway.
const MODES: [&[&str]; 2] = [
    &["on_behalf_of_user", "user"],
    &["as_this_workload", "as_gateway"],
];
/// Kinds of tokens that travel as a bearer's.
const BEARERS: [&str; 4] = ["jwt", "opaque", "spiffe_jwt", "ucan"];
const BEARER: &str = "bearer";

/// What a worker is sent instead of a call, and the tokens in it.
pub(crate) struct Lent {
    pub(crate) call: HookCall,
    pub(crate) tokens: Vec<String>,
}

/// The call with the token its plugin is granted; none where it is sent as it is.
pub(crate) fn lend(call: &HookCall, granted: Capabilities) -> Result<Option<Lent>, Fault> {
    if ![IDENTITY, DELEGATE].contains(&&*call.hook) {
        return Ok(None);
    }
    let slot = call.extensions.get(SLOT).map(Json::to_value);
    // INVARIANT: the payload of these hooks is an object, or it would not have passed the door.
    let payload: Members = serde_json::from_str(call.payload.text()).unwrap_or_default();
    let folded = match &*call.hook {
        IDENTITY => identity(payload, slot.as_ref(), granted)?,
        _ => delegation(payload, slot.as_ref(), granted)?,
    };
    let tokens = OF_PAYLOAD
        .into_iter()
        .filter_map(|name| token(&folded, name));
    let tokens = tokens.map(str::to_owned).collect();
    let mut call = call.clone();
    call.payload = Document::new(Json::from_value(&Value::Object(folded)));
    Ok(Some(Lent { call, tokens }))
}

/// The token a plugin minted, in its result.
pub(crate) fn minted(hook: &str, result: &str) -> Option<String> {
    if hook != DELEGATE {
        return None;
    }
    let result: Value = serde_json::from_str(result).ok()?;
    result["delegated_token"].as_str().map(str::to_owned)
}

/// Why there is no token for a plugin that was granted one.
enum Missing {
    NoToken,
    Blank,
    OtherAudience(String),
}

impl Missing {
    fn fault(&self, hook: &str, capability: Capability) -> Fault {
        let (slot, member) = if hook == IDENTITY {
            ("inbound_tokens", OF_PAYLOAD[0])
        } else {
            ("delegated_tokens", OF_PAYLOAD[1])
        };
        let problem = match self {
            Self::NoToken => "the request brings none".to_owned(),
            Self::Blank => "the one the request brings is blank".to_owned(),
            Self::OtherAudience(wanted) => {
                format!("the request brings none for the audience {wanted:?}, only others")
            }
        };
        Fault::new(
            FaultKind::Unsupported,
            format!(
                "the plugin is granted `{}` and is not asked without a token at hook '{hook}': {problem}; \
                 `{SLOT}.{slot}` of the extensions and `{member}` of the payload can bring one\n\
                 hint: send the token with the request, or take `{}` out of `permissions: {{data: [...]}}`",
                capability.as_str(),
                capability.as_str(),
            ),
        )
    }
}

type Members = Map<String, Value>;

fn identity(
    mut payload: Members,
    slot: Option<&Value>,
    granted: Capabilities,
) -> Result<Members, Fault> {
    let capability = Capability::ReadInboundCredentials;
    let member = OF_PAYLOAD[0];
    if !granted.allows(capability) {
        // The class cannot be made without the member; where the caller sent one it is masked already.
        payload.entry(member).or_insert_with(|| HIDDEN.into());
        return Ok(payload);
    }
    let found = slot.map(|slot| inbound(&slot["inbound_tokens"]));
    let Some(entry) = found.flatten() else {
        let own =
            own_token(&payload, member).map_err(|missing| missing.fault(IDENTITY, capability))?;
        hide_in_headers(&mut payload, &own, None);
        return Ok(payload);
    };
    let lent = lent_token(entry).map_err(|missing| missing.fault(IDENTITY, capability))?;
    let header = entry["source_header"]
        .as_str()
        .filter(|name| !name.is_empty());
    hide_in_headers(&mut payload, lent, header);
    let given = payload.get("source").unwrap_or(&Value::Null);
    // Another source than the default was set on purpose.
    if given.is_null() || ["", BEARER].iter().any(|default| given == default) {
        payload.insert("source".into(), source(&entry["kind"]).into());
    }
    payload.insert(member.into(), lent.into());
    Ok(payload)
}

fn delegation(
    mut payload: Members,
    slot: Option<&Value>,
    granted: Capabilities,
) -> Result<Members, Fault> {
    let capability = Capability::ReadDelegatedTokens;
    let member = OF_PAYLOAD[1];
    if !granted.allows(capability) {
        return Ok(payload);
    }
    let fails = |missing: Missing| missing.fault(DELEGATE, capability);
    let all = slot.map(|slot| entries(&slot["delegated_tokens"]));
    let all = all.unwrap_or_default();
    if all.is_empty() {
        own_token(&payload, member).map_err(fails)?;
        return Ok(payload);
    }
    let wanted = payload.get("target_audience").and_then(Value::as_str);
    let fitting = all.into_iter().filter(|entry| match wanted {
        Some(wanted) => entry["audience"] == wanted,
        None => true,
    });
    // The first of the best: the order the request has them in.
    let best = fitting.min_by_key(|entry| mode_rank(entry));
    let other = || Missing::OtherAudience(wanted.unwrap_or_default().to_owned());
    let lent = lent_token(best.ok_or_else(other).map_err(fails)?).map_err(fails)?;
    let lent = Value::from(lent);
    payload.insert(member.into(), lent);
    Ok(payload)
}

/// The inbound token of the best role.
fn inbound(tokens: &Value) -> Option<&Value> {
    if let Value::Object(of_role) = tokens
        && !is_entry(tokens)
    {
        let preferred = ROLES.iter().find_map(|role| of_role.get(*role));
        return preferred.or_else(|| of_role.values().next());
    }
    entries(tokens).into_iter().min_by_key(|entry| {
        let rank = |role: &str| ROLES.iter().position(|known| *known == role);
        entry["role"].as_str().and_then(rank).unwrap_or(ROLES.len())
    })
}

fn entries(tokens: &Value) -> Vec<&Value> {
    match tokens {
        Value::Array(items) => items.iter().collect(),
        Value::Object(_) if is_entry(tokens) => vec![tokens],
        Value::Object(members) => members.values().collect(),
        Value::String(_) => vec![tokens],
        _ => Vec::new(),
    }
}

fn is_entry(value: &Value) -> bool {
    value.get("token").is_some_and(Value::is_string)
}

fn mode_rank(entry: &Value) -> usize {
    let mode = entry["mode"].as_str().unwrap_or_default();
    let rank = MODES.iter().position(|names| names.contains(&mode));
    rank.unwrap_or(MODES.len())
}

/// The token of an entry, which may be nothing but a token.
fn lent_token(entry: &Value) -> Result<&str, Missing> {
    let token = entry.as_str().or_else(|| entry["token"].as_str());
    match token {
        Some(token) if token.trim().is_empty() || token == HIDDEN => Err(Missing::Blank),
        Some(token) => Ok(token),
        None => Err(Missing::Blank),
    }
}

/// The payload's own, where the slot brings none.
fn own_token(payload: &Members, member: &str) -> Result<String, Missing> {
    match payload.get(member).and_then(Value::as_str) {
        None | Some(HIDDEN) => Err(Missing::NoToken),
        Some(token) if token.trim().is_empty() => Err(Missing::Blank),
        Some(token) => Ok(token.to_owned()),
    }
}

fn token<'p>(payload: &'p Members, member: &str) -> Option<&'p str> {
    payload
        .get(member)
        .and_then(Value::as_str)
        .filter(|token| *token != HIDDEN)
}

fn source(kind: &Value) -> &'static str {
    let kind = kind.as_str().unwrap_or_default().to_ascii_lowercase();
    if BEARERS.contains(&&*kind) {
        BEARER
    } else {
        "custom"
    }
}

/// Masks the header that carried the token, and the token in every other. Where there are no headers the
/// carrying one is named, for classes that look there for how the caller authenticates.
fn hide_in_headers(payload: &mut Members, token: &str, carrier: Option<&str>) {
    let hidden = |text: &str| match token.len() >= MIN_BYTES {
        true => text.replace(token, HIDDEN),
        false => text.to_owned(),
    };
    let headers = match payload.get_mut("headers") {
        Some(Value::Object(headers)) if !headers.is_empty() => headers,
        None | Some(Value::Null | Value::Object(_)) => {
            if let Some(carrier) = carrier {
                let only = Map::from_iter([(hidden(carrier), HIDDEN.into())]);
                payload.insert("headers".into(), only.into());
            }
            return;
        }
        // No headers at all: the class says what is wrong with them.
        Some(_) => return,
    };
    let masked = std::mem::take(headers).into_iter().map(|(name, value)| {
        let carries = carrier.is_some_and(|carrier| carrier.eq_ignore_ascii_case(&name));
        let value = if carries {
            HIDDEN.into()
        } else {
            replaced(value, &hidden)
        };
        (hidden(&name), value)
    });
    *headers = masked.collect();
}

fn replaced(value: Value, hidden: &impl Fn(&str) -> String) -> Value {
    match value {
        Value::String(text) => hidden(&text).into(),
        Value::Array(items) => items
            .into_iter()
            .map(|item| replaced(item, hidden))
            .collect(),
        Value::Object(members) => members
            .into_iter()
            .map(|(name, value)| (hidden(&name), replaced(value, hidden)))
            .collect::<Map<_, _>>()
            .into(),
        other => other,
    }
}

#[cfg(test)]
mod tests;
