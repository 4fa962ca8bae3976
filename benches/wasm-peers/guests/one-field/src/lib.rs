//! Refuses a call whose field has a certain value. The field alone is copied into the component.

use std::sync::OnceLock;

mod bindings {
    wit_bindgen::generate!({
        path: "../../../../wit",
        world: "tool-policy",
    });
}

use bindings::exports::hookgate::plugin::{lifecycle, tools};
use bindings::hookgate::plugin::call::{Context, Document};
use bindings::hookgate::plugin::types::{Failure, Verdict, Violation};

/// The field's pointer and the refused value.
static RULE: OnceLock<(String, String)> = OnceLock::new();

struct OneField;

impl lifecycle::Guest for OneField {
    fn init(config: &Document) -> Result<(), Failure> {
        let word = |at: &str| {
            let missing = || Failure::Failed(format!("config: no string at {at}"));
            config.get_string(at).ok_or_else(missing)
        };
        let rule = (word("/at")?, word("/refused")?);
        RULE.set(rule)
            .map_err(|_| Failure::Failed("init was called twice".to_owned()))
    }
}

impl tools::Guest for OneField {
    fn pre_invoke(_: String, payload: &Document, _: &Context) -> Result<Verdict, Failure> {
        let (at, refused) = RULE
            .get()
            .ok_or_else(|| Failure::Failed("a hook was called before init".to_owned()))?;
        if payload.get_string(at).as_ref() != Some(refused) {
            return Ok(Verdict::Allow);
        }
        Ok(Verdict::Deny(Violation {
            code: "REFUSED".to_owned(),
            reason: "refused value".to_owned(),
            description: String::new(),
            details: "{}".to_owned(),
            mcp_error_code: None,
            http_status_code: None,
            http_headers: Vec::new(),
        }))
    }

    fn post_invoke(_: String, _: &Document, _: &Context) -> Result<Verdict, Failure> {
        Ok(Verdict::Allow)
    }
}

bindings::export!(OneField with_types_in bindings);
