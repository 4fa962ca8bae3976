//! From a worker's frame to an [`Answer`]: every edit and effect through the draft that checks it.

mod extensions;
mod wire;

use std::fmt::Display;

use hookgate_core::{Answer, Draft, Fault, FaultKind, HookCall, Json, Pointer, Violation};
use serde_json::value::RawValue;

use crate::credentials;
use crate::tokens::Tokens;
use crate::worker::{Body, tail};
use wire::{AnswerFrame, Changes, Edit, FaultFrame, Saying, ViolationFrame};

/// What the worker sent for one call; `tokens` must not be shown.
pub(crate) fn read(body: &Body, call: &HookCall, tokens: &Tokens) -> Result<Answer, Fault> {
    match body {
        Body::Answer(frame) => answer(&parse(frame)?, call, tokens),
        Body::Fault(frame) => Err(fault(&parse(frame)?, tokens)),
        Body::Cancelled => Err(plugin_error(
            "the hook ended as cancelled, and nobody had cancelled it",
        )),
        Body::TooLarge { .. } | Body::Died(_) => Err(protocol("a call without an answer")),
    }
}

fn parse<'a, T: serde::Deserialize<'a>>(frame: &'a [u8]) -> Result<T, Fault> {
    serde_json::from_slice(frame)
        .map_err(|error| protocol(format!("the worker's answer cannot be read: {error}")))
}

fn answer(frame: &AnswerFrame<'_>, call: &HookCall, tokens: &Tokens) -> Result<Answer, Fault> {
    if let Some(result) = frame.result
        && let Some(minted) = credentials::minted(&call.hook, result.get())
    {
        tokens.remember(&minted);
    }
    let mut draft = call.draft();
    let violation = frame.violation.as_ref().map(violation).transpose()?;
    extensions::merge(&frame.extensions, call, &mut draft, tokens);
    let changed = change(frame, &mut draft);
    match frame.verdict {
        // A denial stands, whatever became of what the plugin wanted besides.
        Saying::Deny => Ok(draft.deny(violation.unwrap_or_else(Violation::denied))),
        Saying::Allow => {
            changed?;
            let answer = draft.allow();
            Ok(match violation {
                Some(violation) => answer.with_suppressed(violation),
                None => answer,
            })
        }
    }
}

/// Everything an answer holds besides its verdict.
fn change(frame: &AnswerFrame<'_>, draft: &mut Draft) -> Result<(), Fault> {
    for edit in &frame.edits {
        apply(edit, draft)
            .map_err(|problem| plugin_error(format!("edit refused at {}: {problem}", edit.at)))?;
    }
    each(&frame.state, "state", |key, value| {
        draft.set_state(key, value)
    })?;
    each(&frame.shared, "shared state", |key, value| {
        draft.set_shared(key, value)
    })?;
    each(
        &frame.request_metadata,
        "metadata of the request",
        |key, value| draft.set_request_metadata(key, value),
    )?;
    for (key, value) in &frame.metadata.0 {
        let value = json(value).map_err(|problem| refused("metadata", key, problem))?;
        draft
            .annotate(key, value)
            .map_err(|problem| refused("metadata", key, problem))?;
    }
    for (name, value) in &frame.headers.0 {
        draft
            .set_header(name, value)
            .map_err(|problem| refused("header", name, problem))?;
    }
    if let Some(delay) = frame.retry_after_ms {
        draft.set_retry_ms(u32::try_from(delay).unwrap_or(u32::MAX));
    }
    if let Some(result) = frame.result {
        let result =
            json(result).map_err(|problem| plugin_error(format!("result refused: {problem}")))?;
        draft
            .set_result(result)
            .map_err(|problem| plugin_error(format!("result refused: {problem}")))?;
    }
    Ok(())
}

fn apply(edit: &Edit<'_>, draft: &mut Draft) -> Result<(), String> {
    let at = Pointer::parse(&edit.at).map_err(|error| error.to_string())?;
    let done = match (&*edit.op, edit.value) {
        ("set", Some(value)) => draft.set(&at, json(value)?),
        ("remove", _) => draft.remove(&at),
        (op, _) => return Err(format!("no edit of that kind: {op}")),
    };
    done.map_err(|refusal| refusal.to_string())
}

fn each(
    changes: &Changes<'_>,
    what: &str,
    mut set: impl FnMut(&str, Option<Json>) -> Result<(), hookgate_core::Refusal>,
) -> Result<(), Fault> {
    for key in &changes.remove {
        set(key, None).map_err(|problem| refused(what, key, problem))?;
    }
    for (key, value) in &changes.set.0 {
        let value = json(value).map_err(|problem| refused(what, key, problem))?;
        set(key, Some(value)).map_err(|problem| refused(what, key, problem))?;
    }
    Ok(())
}

fn json(value: &RawValue) -> Result<Json, String> {
    Json::parse(value.get()).map_err(|error| format!("not I-JSON: {error}"))
}

fn violation(frame: &ViolationFrame<'_>) -> Result<Violation, Fault> {
    let mut violation = Violation::new(&*frame.code, &*frame.reason);
    violation.description.clone_from(&frame.description);
    if let Some(details) = frame.details {
        let details = json(details)
            .map_err(|problem| plugin_error(format!("violation.details: {problem}")))?;
        if !details.is_object() {
            return Err(plugin_error(format!(
                "violation.details is not an object: {}",
                tail(details.as_str())
            )));
        }
        violation.details = details;
    }
    if let Some(code) = frame.mcp_error_code {
        let fits = code
            .get()
            .parse()
            .map_err(|_| plugin_error(format!("violation.mcp_error_code: {}", code.get())))?;
        violation.mcp_error_code = Some(fits);
    }
    if let Some(status) = frame.http_status_code {
        let fits = status
            .get()
            .parse()
            .ok()
            .filter(|status| (100..600).contains(status));
        let problem = || {
            plugin_error(format!(
                "violation.http_status_code is not 100 to 599: {}",
                status.get()
            ))
        };
        violation.http_status_code = Some(fits.ok_or_else(problem)?);
    }
    if let Some(headers) = &frame.http_headers {
        violation.http_headers.clone_from(&headers.0);
    }
    Ok(violation)
}

fn fault(frame: &FaultFrame, tokens: &Tokens) -> Fault {
    let kind = match frame.kind.as_str() {
        "unsupported" => FaultKind::Unsupported,
        "exit" => FaultKind::Exit,
        // What Python raises when the worker's memory limit refuses it more.
        "plugin_error" if frame.message.starts_with("MemoryError") => FaultKind::OutOfMemory,
        "plugin_error" => FaultKind::PluginError,
        _ => FaultKind::Protocol,
    };
    let fault = Fault::new(kind, tokens.hide(&frame.message));
    match &frame.traceback {
        Some(traceback) if !traceback.is_empty() => {
            // Hidden before it is cut: half a token is not found.
            let traceback = tokens.hide(traceback.trim_end());
            let details = serde_json::json!({ "traceback": tail(&traceback) });
            fault.with_details(Json::from_value(&details))
        }
        _ => fault,
    }
}

fn refused(what: &str, key: &str, problem: impl Display) -> Fault {
    plugin_error(format!("{what} refused: {key}: {problem}"))
}

fn plugin_error(message: impl Into<String>) -> Fault {
    Fault::new(FaultKind::PluginError, message)
}

fn protocol(message: impl Into<String>) -> Fault {
    Fault::new(FaultKind::Protocol, message)
}
