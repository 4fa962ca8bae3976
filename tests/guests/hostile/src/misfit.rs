//! Arguments that are of the right type and still no good:
//!
//! - `edits`: makes each edit of the array `/args/edits` and marks `codes`, `ok` or the refusal's code for each; then allows if
//!   none was refused, else denies with code `EDITS`. An edit is `{"set": at, "value": text}`, `{"remove": at}` or
//!   `{"splice": at, "start": n, "end": n, "with": text}`
//! - `no-json`: gives the text in `/args/text` to what takes JSON, chosen by `/args/to`; marks `code`; then allows
//! - `no-pointer`: gives `/args/text` to what takes a pointer, chosen by `/args/to`

use serde_json::{Value, json};

use crate::bindings::hookgate::plugin::call::{Context, Document, Matcher, Syntax};
use crate::bindings::hookgate::plugin::log;
use crate::bindings::hookgate::plugin::types::{Failure, Refusal, Span, Verdict};
use crate::outside::argument;
use crate::{Answer, annotate, answers};

pub fn answer(word: &str, payload: &Document, ctx: &Context) -> Answer {
    let text = || argument(payload, "/args/text");
    let to = || argument(payload, "/args/to");
    Some(match word {
        "edits" => edits(payload, ctx),
        "no-json" => text().and_then(|text| no_json(&to()?, &text, ctx)),
        "no-pointer" => text().and_then(|text| no_pointer(&to()?, &text, payload, ctx)),
        _ => return None,
    })
}

fn edits(payload: &Document, ctx: &Context) -> Result<Verdict, Failure> {
    let edits = payload.get("/args/edits").unwrap_or_default();
    let edits: Vec<Value> = serde_json::from_str(&edits).map_err(failed)?;
    let codes: Vec<_> = edits
        .iter()
        .map(|edit| code(&make(edit, ctx)).to_owned())
        .collect();
    annotate(ctx, "codes", &json!(codes))?;
    Ok(match codes.iter().all(|code| code == "ok") {
        true => Verdict::Allow,
        false => answers::deny("EDITS", "{}".to_owned()),
    })
}

fn make(edit: &Value, ctx: &Context) -> Result<(), Refusal> {
    let text = |name: &str| edit[name].as_str().unwrap_or_default();
    let number = |name: &str| {
        edit[name]
            .as_u64()
            .and_then(|n| u32::try_from(n).ok())
            .unwrap_or_default()
    };
    if edit["set"].is_string() {
        return ctx.edit_set(text("set"), text("value"));
    }
    if edit["remove"].is_string() {
        return ctx.edit_remove(text("remove"));
    }
    let span = Span {
        at: text("splice").to_owned(),
        start: number("start"),
        end: number("end"),
    };
    ctx.edit_splice(&span, text("with"))
}

fn no_json(to: &str, text: &str, ctx: &Context) -> Result<Verdict, Failure> {
    let told = match to {
        "set-state" => ctx.set_state("k", text),
        "set-shared" => ctx.set_shared("k", text),
        "set-extension" => ctx.set_extension("custom", text),
        "edit-set" => ctx.edit_set("/args/x", text),
        "set-result" => ctx.set_result(text),
        "annotate" => ctx.annotate("k", text),
        "log" => {
            log::write(log::Level::Info, "fields that are no JSON", text);
            Ok(())
        }
        "deny" => return Ok(answers::deny("NO_JSON", text.to_owned())),
        "ask" => return Ok(answers::ask(text.to_owned())),
        other => return Err(Failure::Failed(format!("takes no JSON: {other}"))),
    };
    annotate(ctx, "code", &json!(code(&told)))?;
    Ok(match to {
        // What could not be edited cannot be allowed.
        "edit-set" => answers::deny("EDITS", "{}".to_owned()),
        _ => Verdict::Allow,
    })
}

fn no_pointer(to: &str, text: &str, payload: &Document, ctx: &Context) -> Result<Verdict, Failure> {
    let matcher = || Matcher::compile(&["a".to_owned()], Syntax::Literal).map_err(crate::refused);
    match to {
        "get" => drop(payload.get(text)),
        "get-string" => drop(payload.get_string(text)),
        "get-strings" => drop(payload.get_strings(text)),
        "keys" => drop(payload.keys(text)),
        "find" => drop(payload.find(&matcher()?, text, 1)),
        "edit-set" => drop(ctx.edit_set(text, "1")),
        "edit-remove" => drop(ctx.edit_remove(text)),
        "edit-splice" => drop(ctx.edit_splice(
            &Span {
                at: text.to_owned(),
                start: 0,
                end: 0,
            },
            "",
        )),
        "redact" => drop(ctx.redact(&matcher()?, text, "")),
        other => return Err(Failure::Failed(format!("takes no pointer: {other}"))),
    }
    Ok(Verdict::Allow)
}

fn code<T>(outcome: &Result<T, Refusal>) -> &str {
    match outcome {
        Ok(_) => "ok",
        Err(refusal) => &refusal.code,
    }
}

fn failed(error: serde_json::Error) -> Failure {
    Failure::Failed(format!("/args/edits: {error}"))
}
