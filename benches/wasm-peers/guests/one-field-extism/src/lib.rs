//! Refuses a call whose field has a certain value, as the peer's plugins are written.

use std::sync::OnceLock;

use extism_pdk::{FnResult, config, plugin_fn};
use serde_json::Value;

/// The field's pointer and the refused value; read once an instance: it is reused.
static RULE: OnceLock<(String, String)> = OnceLock::new();

/// `allow` or `deny`.
#[plugin_fn]
pub fn check(payload: Vec<u8>) -> FnResult<String> {
    let (at, refused) = match RULE.get() {
        Some(rule) => rule,
        None => {
            let at = config::get("at")?.unwrap_or_default();
            let refused = config::get("refused")?.unwrap_or_default();
            RULE.get_or_init(|| (at, refused))
        }
    };
    let payload: Value = serde_json::from_slice(&payload)?;
    let field = payload.pointer(at).and_then(Value::as_str);
    Ok(if field == Some(refused) {
        "deny"
    } else {
        "allow"
    }
    .to_owned())
}
