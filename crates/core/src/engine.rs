//! [`Engine`]: the thing callers hold.

mod background;
mod builder;
mod explain;
mod lifecycle;
#[cfg(test)]
mod reads;

use std::sync::{Arc, Mutex};
use std::time::Instant;

use arc_swap::ArcSwap;
use serde::Serialize;

use background::Told;
pub use builder::{EngineBuilder, InProcess, LoadProblem, LoadReport};

use crate::config::{Mode, OnError};
use crate::entry::micros;
use crate::extensions::{Extensions, InvalidRequest};
use crate::generation::{Generation, InFlight};
use crate::outcome::Outcome;
use crate::payload::{self, InvalidPayload, Payload};
use crate::pipeline::{self, Concluded, Question};
use crate::plugin::PluginInfo;
use crate::record::{Record, RecordSink, RequestRecord, now, sha256};
use crate::request::Request;
use crate::store::RequestStore;

/// A hook engine: loaded plugins and the state of the requests that pass through them.
///
/// Cheap to clone; all clones are one engine. Its plugins are a generation that [`Engine::reload`]
/// replaces as a whole: a call runs to its end on the generation it began with.
#[derive(Clone)]
pub struct Engine {
    inner: Arc<Inner>,
}

struct Inner {
    generation: ArcSwap<Generation>,
    store: RequestStore,
    sink: Option<Arc<dyn RecordSink>>,
    max_payload_bytes: u64,
    max_state_bytes: u64,
    /// Hosts and in-process plugins, which every generation is loaded from. Also serialises reloads.
    source: tokio::sync::Mutex<builder::Source>,
    /// Replaced generations whose calls are not all over.
    retiring: Mutex<Vec<lifecycle::Retiring>>,
}

impl Engine {
    /// Starts building an engine.
    #[must_use]
    pub fn builder() -> EngineBuilder {
        EngineBuilder::default()
    }

    /// Asks the plugins of a hook.
    ///
    /// Plugins that are told of the outcome in the background are started when it is known, and not
    /// waited for. A caller that drops the future before has no outcome, and nobody is told of it.
    ///
    /// # Errors
    ///
    /// [`InvokeError::InvalidPayload`] if somebody listens to the hook and the payload does not pass
    /// the check at the door, [`InvokeError::InvalidRequest`] if the request's extensions do not,
    /// [`InvokeError::ShutDown`] after [`Engine::shutdown`]. A front door
    /// answers each with a denial.
    pub async fn invoke(
        &self,
        hook: &str,
        payload: impl Into<Payload>,
        request: &Request,
    ) -> Result<Outcome, InvokeError> {
        let payload = payload.into();
        let guard = self.enter();
        if guard.0.is_closed() {
            return Err(InvokeError::ShutDown);
        }
        let Some(listeners) = guard.0.listeners(hook) else {
            return Ok(Outcome::unheard(payload));
        };
        let started = Instant::now();
        let checked = payload::check(hook, &payload, self.inner.max_payload_bytes)?;
        let extensions = Extensions::of(request.extensions.as_ref(), hook)?;
        let id = ulid::Ulid::new().to_string();
        let mut caller = request.clone();
        // Plugins see who calls; of the slots each is lent its own part.
        caller.extensions = None;
        caller.id.get_or_insert_with(|| id.clone());
        let caller = Arc::new(caller);
        let caller_id = caller.id.as_deref().unwrap_or_default();
        let question = Question {
            hook: Arc::clone(&listeners.name),
            payload: checked.document,
            shape: checked.shape,
            subject: checked.subject,
            has_headers: checked.headers,
            caller: Arc::clone(&caller),
            extensions,
            store: &self.inner.store,
            max_payload_bytes: self.inner.max_payload_bytes,
            max_state_bytes: self.inner.max_state_bytes,
            recorded: self.inner.sink.is_some(),
        };
        let unnamed = request.id.is_none().then(|| Unnamed {
            store: &self.inner.store,
            request: caller_id,
        });
        let concluded = pipeline::run(listeners, question).await;
        drop(unnamed);
        let Concluded {
            mut outcome,
            subject,
            plugins,
            background,
        } = concluded;
        let mut told = None;
        if let Some(sink) = &self.inner.sink {
            let digest = sha256(payload.as_str());
            let mut record = Record {
                id: id.clone(),
                of: None,
                time: now(),
                hook: Arc::clone(&listeners.name),
                subject,
                request: RequestRecord {
                    id: caller_id.to_owned(),
                    user: request.user.clone(),
                    tenant_id: request.tenant_id.clone(),
                    server_id: request.server_id.clone(),
                },
                generation: guard.0.number,
                decision: outcome.decision,
                modified: outcome.modified,
                final_sha256: outcome
                    .payload
                    .as_ref()
                    .map(|last| match last.is(&payload) {
                        true => digest.clone(),
                        false => sha256(last.as_str()),
                    }),
                payload_sha256: digest,
                payload_bytes: payload.as_str().len() as u64,
                duration_us: micros(started.elapsed()),
                plugins: Vec::new(),
            };
            if !background.is_empty() {
                told = Some(Told::new(sink, record.clone()));
            }
            record.plugins = plugins;
            sink.write(record);
        }
        outcome.record = Some(id);
        for call in background {
            background::start(&guard, call, told.clone());
        }
        Ok(outcome)
    }

    /// Every plugin with what the operator said about it and how it fares.
    #[must_use]
    pub fn plugins(&self) -> Vec<PluginStatus> {
        let generation = self.inner.generation.load();
        let status = |entry: &Arc<crate::entry::Entry>| PluginStatus {
            name: entry.name.to_string(),
            hooks: entry.hooks.clone(),
            mode: entry.mode,
            priority: entry.priority,
            on_error: entry.on_error,
            timeout_ms: u64::try_from(entry.timeout.as_millis()).unwrap_or(u64::MAX),
            disabled: entry.is_disabled(),
            info: entry.info(),
        };
        generation.entries.iter().map(status).collect()
    }

    /// The plugins that did not load and were left out, because the configuration says
    /// `fail_on_plugin_error: false`.
    #[must_use]
    pub fn skipped(&self) -> Vec<LoadProblem> {
        self.inner.generation.load().skipped.clone()
    }

    /// Lets a plugin answer again that `on_error: disable` switched off; false if there is none of that name.
    pub fn enable(&self, plugin: &str) -> bool {
        let generation = self.inner.generation.load();
        let entry = generation
            .entries
            .iter()
            .find(|entry| *entry.name == *plugin);
        entry.inspect(|entry| entry.set_disabled(false)).is_some()
    }

    /// The number of the generation that serves.
    #[must_use]
    pub fn generation(&self) -> u64 {
        self.inner.generation.load().number
    }

    /// The state kept between the hooks of requests.
    #[must_use]
    pub fn requests(&self) -> &RequestStore {
        &self.inner.store
    }

    fn enter(&self) -> InFlight {
        loop {
            if let Some(guard) = self.inner.generation.load_full().enter() {
                return guard;
            }
        }
    }
}

/// A request that nobody can name again: its state goes when the call is over, or dropped half-way.
struct Unnamed<'a> {
    store: &'a RequestStore,
    request: &'a str,
}

impl Drop for Unnamed<'_> {
    fn drop(&mut self) {
        self.store.forget(self.request);
    }
}

/// Why a hook was not asked at all.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum InvokeError {
    /// The payload did not pass the check at the door.
    #[error(transparent)]
    InvalidPayload(#[from] InvalidPayload),
    /// The request's extensions have a shape that cannot be filtered safely.
    #[error(transparent)]
    InvalidRequest(#[from] InvalidRequest),
    /// The engine was shut down.
    #[error("the engine was shut down")]
    ShutDown,
}

impl InvokeError {
    /// The code callers see: `invalid_payload`, `invalid_request`, `shut_down`.
    #[must_use]
    pub fn code(&self) -> &'static str {
        match self {
            Self::InvalidPayload(_) => InvalidPayload::CODE,
            Self::InvalidRequest(_) => InvalidRequest::CODE,
            Self::ShutDown => "shut_down",
        }
    }
}

/// A plugin with what the operator said about it.
#[derive(Debug, Clone, Serialize)]
pub struct PluginStatus {
    /// Its entry's name.
    pub name: String,
    /// The hooks it listens to.
    pub hooks: Vec<String>,
    /// Its mode.
    pub mode: Mode,
    /// Its priority; lower runs first.
    pub priority: i32,
    /// What a fault does.
    pub on_error: OnError,
    /// Its timeout.
    pub timeout_ms: u64,
    /// Whether `on_error: disable` switched it off.
    pub disabled: bool,
    /// What its host says about it.
    #[serde(flatten)]
    pub info: PluginInfo,
}
