//! What the plugin saw, as marks for the caller.

use crate::bindings::hookgate::plugin::call::{Context, Document, Matcher, Syntax};
use crate::bindings::hookgate::plugin::types::Refusal;
use crate::bindings::hookgate::plugin::{log, secrets};

/// Asks for everything there is to ask for.
pub fn leave(
    greeting: &str,
    subject: &str,
    payload: &Document,
    ctx: &Context,
) -> Result<(), Refusal> {
    let mark = |key: &str, value: &str| ctx.annotate(key, value);
    log::write(log::Level::Info, "frozen was asked", r#"{"frozen":true}"#);

    mark("greeting", &quoted(greeting))?;
    mark("subject", &quoted(subject))?;
    mark("hook", &quoted(&ctx.hook()))?;
    mark("request", &quoted(&ctx.request_id()))?;
    mark("call", &option(ctx.call_id().map(|id| quoted(&id))))?;
    mark("user", &option(ctx.caller("user")?))?;
    mark("in_time", truth(ctx.remaining_ms() > 0))?;

    let text = payload.text();
    mark("sized", truth(payload.size() == text.len() as u64))?;
    mark("whole", &text)?;
    mark("get", &option(payload.get("/args/n")))?;
    mark(
        "string",
        &option(payload.get_string("/args/word").map(|word| quoted(&word))),
    )?;
    mark("strings", &list(&payload.get_strings("/args/list")))?;
    mark("keys", &list(&payload.keys("/args")))?;
    let words = ["SECRET".to_owned(), "word".to_owned()];
    let matcher = Matcher::compile(&words, Syntax::LiteralIgnoreCase)?;
    let found = payload.find(&matcher, "/args/word", 1);
    // The first one's place; in digits, since all of them are below ten.
    let hits: Vec<_> = found
        .hits
        .iter()
        .map(|hit| {
            [
                digit(hit.pattern),
                hit.span.at.clone(),
                digit(hit.span.start),
                digit(hit.span.end),
            ]
            .join(" ")
        })
        .collect();
    mark("hits", &list(&hits))?;
    mark("truncated", truth(found.truncated))?;

    // Private and shared state: what an earlier hook of the request left, then one more; what is removed is gone.
    let seen = ctx.state("seen").unwrap_or_default();
    let shared = ctx.shared("seen").unwrap_or_default();
    mark("state", &quoted(&[seen, shared].join(" ")))?;
    ctx.set_state("seen", "1")?;
    ctx.set_shared("seen", "2")?;
    ctx.set_state("gone", "1")?;
    ctx.remove_state("gone")?;
    ctx.set_shared("gone", "1")?;
    ctx.remove_shared("gone")?;
    mark(
        "gone",
        truth(ctx.state("gone").is_none() && ctx.shared("gone").is_none()),
    )?;

    mark("extension", &told(ctx.extension("http")))?;
    mark(
        "set_extension",
        &told(ctx.set_extension("http", r#"{"headers":{"X-Frozen":"1"}}"#)),
    )?;
    mark("secret", &told(secrets::get("frozen")))?;
    ctx.set_header("X-Frozen", "1")?;
    ctx.set_retry_ms(7)?;
    ctx.set_result(r#"{"frozen":true}"#)
}

fn told<T>(outcome: Result<T, Refusal>) -> String {
    quoted(match &outcome {
        Ok(_) => "granted",
        Err(refusal) => &refusal.code,
    })
}

fn truth(value: bool) -> &'static str {
    if value { "true" } else { "false" }
}

fn option(value: Option<String>) -> String {
    value.unwrap_or_else(|| "null".to_owned())
}

fn list(items: &[String]) -> String {
    let items: Vec<_> = items.iter().map(|item| quoted(item)).collect();
    ["[", &items.join(","), "]"].concat()
}

/// Tests give it nothing that would need escapes.
fn quoted(text: &str) -> String {
    ["\"", text, "\""].concat()
}

pub fn digit(number: u32) -> String {
    let digit = u8::try_from(number % 10).unwrap_or_default();
    char::from(b'0' + digit).to_string()
}
