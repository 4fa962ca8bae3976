//! A call as the worker receives it. The payload's text is copied, never parsed.

use std::collections::BTreeMap;
use std::time::Instant;

use hookgate_core::{Fault, FaultKind, HookCall, Json, Request, RequestView, StateMap};
use serde::Serialize;
use serde_json::value::RawValue;

use crate::credentials;
use crate::worker::{begin_frame, finish_frame};

/// What a frame needs besides payload and state, generously.
const ENVELOPE_BYTES: usize = 512;

#[derive(Serialize)]
struct Identity<'a> {
    id: &'a str,
    call_id: &'a Option<String>,
    user: &'a Option<Json>,
    user_context: &'a Option<Json>,
    tenant_id: &'a Option<String>,
    server_id: &'a Option<String>,
    content_type: &'a Option<String>,
    metadata: BTreeMap<String, &'a RawValue>,
}

/// The whole frame of call number `id`, with the side-channel slots if the hook takes them.
pub(crate) fn encode(id: u64, call: &HookCall, extensions: bool) -> Result<Vec<u8>, Fault> {
    let failed = |error: serde_json::Error| {
        Fault::new(
            FaultKind::Protocol,
            format!("the request cannot be sent to a worker: {error}"),
        )
    };
    let payload = call.payload.text();
    let mut frame = begin_frame(payload.len() + ENVELOPE_BYTES);
    frame.extend_from_slice(format!(r#"{{"type":"call","id":{id},"hook":"#).as_bytes());
    serde_json::to_writer(&mut frame, &*call.hook).map_err(failed)?;
    frame.extend_from_slice(br#","payload":"#);
    frame.extend_from_slice(payload.as_bytes());
    frame.extend_from_slice(br#","request":"#);
    serde_json::to_writer(&mut frame, &identity(&call.request).map_err(failed)?).map_err(failed)?;
    if extensions && !call.extensions.is_empty() {
        frame.extend_from_slice(br#","extensions":"#);
        let slots = call.extensions.iter();
        write_members(
            &mut frame,
            slots.filter(|(slot, _)| *slot != credentials::SLOT),
        )
        .map_err(failed)?;
    }
    frame.extend_from_slice(br#","state":"#);
    write_map(&mut frame, call.request.private()).map_err(failed)?;
    frame.extend_from_slice(br#","shared":"#);
    write_map(&mut frame, call.request.shared()).map_err(failed)?;
    let left = call
        .deadline
        .saturating_duration_since(Instant::now())
        .as_millis();
    frame.extend_from_slice(format!(r#","deadline_ms":{left}}}"#).as_bytes());
    finish_frame(&mut frame);
    Ok(frame)
}

fn identity(view: &RequestView) -> Result<Identity<'_>, serde_json::Error> {
    let caller: &Request = view.caller();
    let mut metadata: BTreeMap<String, &RawValue> = match &caller.metadata {
        Some(given) if given.as_str() != "null" => serde_json::from_str(given.as_str())?,
        _ => BTreeMap::new(),
    };
    for (key, value) in view.metadata() {
        metadata.insert(key.clone(), serde_json::from_str(value.as_str())?);
    }
    Ok(Identity {
        id: view.id(),
        call_id: &caller.call_id,
        user: &caller.user,
        user_context: &caller.user_context,
        tenant_id: &caller.tenant_id,
        server_id: &caller.server_id,
        content_type: &caller.content_type,
        metadata,
    })
}

fn write_map(frame: &mut Vec<u8>, map: &StateMap) -> Result<(), serde_json::Error> {
    write_members(frame, map.iter().map(|(key, value)| (key.as_str(), value)))
}

fn write_members<'a, 'b>(
    frame: &mut Vec<u8>,
    members: impl Iterator<Item = (&'a str, &'b Json)>,
) -> Result<(), serde_json::Error> {
    frame.push(b'{');
    for (index, (key, value)) in members.enumerate() {
        if index > 0 {
            frame.push(b',');
        }
        serde_json::to_writer(&mut *frame, key)?;
        frame.push(b':');
        frame.extend_from_slice(value.as_str().as_bytes());
    }
    frame.push(b'}');
    Ok(())
}
