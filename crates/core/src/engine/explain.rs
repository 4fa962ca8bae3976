//! Explaining a call to the plugins that serve.

use super::{Engine, InvokeError};
use crate::entry::Entry;
use crate::explain::{self, Explanation, Facts};
use crate::payload::Payload;
use crate::request::Request;

impl Engine {
    /// Who would be asked about a call, and why the others would not. Asks nobody.
    ///
    /// What plugins would answer is not known, so this is who is asked if nobody denies: a denial keeps
    /// those behind it from being asked, all but the ones in the background.
    ///
    /// # Errors
    ///
    /// Those of [`Engine::invoke`], for the same calls.
    pub fn explain(
        &self,
        hook: &str,
        payload: impl Into<Payload>,
        request: &Request,
    ) -> Result<Explanation, InvokeError> {
        let generation = self.inner.generation.load();
        if generation.is_closed() {
            return Err(InvokeError::ShutDown);
        }
        let loaded = generation.entries.iter().map(|entry| facts(entry));
        let plugins = loaded.chain(generation.unloaded.iter().cloned()).collect();
        explain::explain(
            plugins,
            hook,
            &payload.into(),
            request,
            self.inner.max_payload_bytes,
        )
    }
}

fn facts(entry: &Entry) -> Facts {
    Facts {
        name: entry.name.to_string(),
        kind: entry.kind.to_owned(),
        group: entry.group.clone(),
        hooks: entry.hooks.clone(),
        mode: entry.mode,
        priority: entry.priority,
        on_error: entry.on_error,
        timeout: entry.timeout,
        conditions: entry.conditions.clone(),
        granted: entry.granted,
        switched_off: entry.is_disabled(),
        left_out: None,
    }
}
