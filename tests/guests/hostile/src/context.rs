//! Words that try the context and the payload the host lends:
//!
//! - `see-headers`: marks `headers`, the value at `/headers`, null where there is none
//! - `edit-headers`: sets `/headers/x`; if refused, denies with code `REFUSED` and details `{"code": ...}`
//! - `extension`: marks `extension` (reading `http`), `set_extension` (writing a header), `not_json` (writing what is no JSON to
//!   `custom`), `no_slot` and `secret`: the refusal's code, or `granted`
//! - `remaining`: marks `remaining_ms`
//! - `caller`: marks `user`, `tenant_id`, `server_id` and `content_type`; where refused, the mark is `{"refused": code}`
//! - `edit-bad`: edits below a missing parent, then allows all the same
//! - `edit-bad-deny`: the same, then denies with code `EDIT_BAD`
//! - `bad-pointer`: asks for what is no pointer

use serde_json::{Value, json};

use crate::bindings::hookgate::plugin::call::{Context, Document};
use crate::bindings::hookgate::plugin::secrets;
use crate::bindings::hookgate::plugin::types::{Failure, Refusal, Verdict};
use crate::{Answer, annotate, answers};

pub fn answer(word: &str, payload: &Document, ctx: &Context) -> Answer {
    Some(match word {
        "see-headers" => see_headers(payload, ctx),
        "edit-headers" => edit_headers(ctx),
        "extension" => extension(ctx),
        "remaining" => annotate(ctx, "remaining_ms", &json!(ctx.remaining_ms())),
        "caller" => caller(ctx),
        "edit-bad" => {
            edit_bad(ctx);
            Ok(Verdict::Allow)
        }
        "edit-bad-deny" => {
            edit_bad(ctx);
            Ok(answers::deny("EDIT_BAD", "{}".to_owned()))
        }
        "bad-pointer" => annotate(ctx, "value", &json!(payload.get("no slash"))),
        _ => return None,
    })
}

fn see_headers(payload: &Document, ctx: &Context) -> Result<Verdict, Failure> {
    let headers = payload.get("/headers").unwrap_or_else(|| "null".to_owned());
    ctx.annotate("headers", &headers).map_err(crate::refused)?;
    Ok(Verdict::Allow)
}

fn edit_headers(ctx: &Context) -> Result<Verdict, Failure> {
    match ctx.edit_set("/headers/x", r#""hostile""#) {
        Ok(()) => Ok(Verdict::Allow),
        Err(refusal) => Ok(answers::deny(
            "REFUSED",
            json!({ "code": refusal.code }).to_string(),
        )),
    }
}

fn extension(ctx: &Context) -> Result<Verdict, Failure> {
    annotate(ctx, "extension", &code(ctx.extension("http")))?;
    let header = r#"{"headers": {"X-Hostile": "1"}}"#;
    annotate(
        ctx,
        "set_extension",
        &code(ctx.set_extension("http", header)),
    )?;
    annotate(ctx, "not_json", &code(ctx.set_extension("custom", "{")))?;
    annotate(ctx, "no_slot", &code(ctx.extension("nothing")))?;
    annotate(ctx, "secret", &code(secrets::get("hostile")))
}

fn code<T>(outcome: Result<T, Refusal>) -> Value {
    match outcome {
        Ok(_) => json!("granted"),
        Err(refusal) => json!(refusal.code),
    }
}

fn caller(ctx: &Context) -> Result<Verdict, Failure> {
    for field in ["user", "tenant_id", "server_id", "content_type"] {
        let value = match ctx.caller(field) {
            Ok(value) => value.unwrap_or_else(|| "null".to_owned()),
            Err(refusal) => json!({ "refused": refusal.code }).to_string(),
        };
        ctx.annotate(field, &value).map_err(crate::refused)?;
    }
    Ok(Verdict::Allow)
}

/// The refusal is dropped on purpose: the host must remember it.
fn edit_bad(ctx: &Context) {
    drop(ctx.edit_set("/args/missing/parent", "1"));
}
