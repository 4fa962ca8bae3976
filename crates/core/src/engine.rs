//! [`Engine`]: the thing callers hold.

mod builder;

use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::Instant;

use arc_swap::ArcSwap;
use serde::Serialize;
use tokio::task::JoinHandle;

pub use builder::{EngineBuilder, InProcess, LoadProblem, LoadReport};

use crate::config::{Config, Mode, OnError};
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
    retiring: Mutex<Vec<JoinHandle<()>>>,
}

impl Engine {
    /// Starts building an engine.
    #[must_use]
    pub fn builder() -> EngineBuilder {
        EngineBuilder::default()
    }

    /// Asks the plugins of a hook.
    ///
    /// # Errors
    ///
    /// [`InvokeError::InvalidPayload`] if somebody listens to the hook and the payload does not pass
    /// the check at the door, [`InvokeError::ShutDown`] after [`Engine::shutdown`]. A front door
    /// answers both with a denial.
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
        let Some((name, entries)) = guard.0.listeners(hook) else {
            return Ok(Outcome::unheard(payload));
        };
        let started = Instant::now();
        let document = payload::check(hook, &payload, self.inner.max_payload_bytes)?;
        let id = ulid::Ulid::new().to_string();
        let mut caller = request.clone();
        let caller_id = caller.id.get_or_insert_with(|| id.clone()).clone();
        let question = Question {
            hook: Arc::clone(name),
            payload: document,
            caller: Arc::new(caller),
            store: &self.inner.store,
            max_payload_bytes: self.inner.max_payload_bytes,
            max_state_bytes: self.inner.max_state_bytes,
        };
        let unnamed = request.id.is_none().then(|| Unnamed {
            store: &self.inner.store,
            request: &caller_id,
        });
        let mut concluded = pipeline::run(entries, question).await;
        drop(unnamed);
        concluded.outcome.record = Some(id);
        if let Some(sink) = &self.inner.sink {
            sink.write(record(
                name,
                &payload,
                request,
                caller_id,
                guard.0.number,
                started,
                &concluded,
            ));
        }
        Ok(concluded.outcome)
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

    /// Lets a plugin answer again that `on_error: disable` switched off; false if there is none of that name.
    pub fn enable(&self, plugin: &str) -> bool {
        let generation = self.inner.generation.load();
        let entry = generation
            .entries
            .iter()
            .find(|entry| *entry.name == *plugin);
        entry.inspect(|entry| entry.set_disabled(false)).is_some()
    }

    /// Loads the plugins of `config` beside the ones that serve, and swaps them in if all load.
    /// The old ones end when their last call has. Limits of the engine itself stay as built.
    ///
    /// # Errors
    ///
    /// [`LoadReport`] with every plugin that did not load; the old generation then serves on. An
    /// empty one after [`Engine::shutdown`]: an engine that was shut down stays so.
    pub async fn reload(&self, config: Config) -> Result<(), LoadReport> {
        let shut_down = || LoadReport {
            problems: Vec::new(),
        };
        let source = self.inner.source.lock().await;
        let old = self.inner.generation.load_full();
        if old.is_closed() {
            return Err(shut_down());
        }
        let new = Arc::new(source.load(config, old.number + 1).await?);
        let served = &self.inner.generation;
        let swapped = Arc::ptr_eq(&served.compare_and_swap(&old, Arc::clone(&new)), &old);
        if !swapped {
            // Only a shutdown swaps without the lock on the source. It does not know the new plugins.
            new.retire(false).await;
            return Err(shut_down());
        }
        let mut retiring = self.retiring();
        retiring.retain(|task| !task.is_finished());
        retiring.push(tokio::spawn(async move { old.retire(false).await }));
        Ok(())
    }

    fn retiring(&self) -> MutexGuard<'_, Vec<JoinHandle<()>>> {
        let retiring = self.inner.retiring.lock();
        retiring.unwrap_or_else(PoisonError::into_inner)
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

    /// Waits for the calls under way and ends every plugin. Calls that come later are errors.
    pub async fn shutdown(&self) {
        let number = self.inner.generation.load().number + 1;
        let old = self
            .inner
            .generation
            .swap(Arc::new(Generation::closed(number)));
        let retiring = std::mem::take(&mut *self.retiring());
        futures::future::join_all(retiring).await;
        old.retire(true).await;
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
    /// The engine was shut down.
    #[error("the engine was shut down")]
    ShutDown,
}

impl InvokeError {
    /// The code callers see: `invalid_payload`, `shut_down`.
    #[must_use]
    pub fn code(&self) -> &'static str {
        match self {
            Self::InvalidPayload(_) => InvalidPayload::CODE,
            Self::ShutDown => "shut_down",
        }
    }
}

fn record(
    hook: &Arc<str>,
    payload: &Payload,
    request: &Request,
    request_id: String,
    generation: u64,
    started: Instant,
    concluded: &Concluded,
) -> Record {
    let outcome = &concluded.outcome;
    Record {
        id: outcome.record.clone().unwrap_or_default(),
        time: now(),
        hook: Arc::clone(hook),
        subject: concluded.subject.clone(),
        request: RequestRecord {
            id: request_id,
            user: request.user.clone(),
            tenant_id: request.tenant_id.clone(),
            server_id: request.server_id.clone(),
        },
        generation,
        decision: outcome.decision,
        modified: outcome.modified,
        payload_sha256: sha256(payload.as_str()),
        payload_bytes: payload.as_str().len() as u64,
        final_sha256: outcome
            .payload
            .as_ref()
            .map(|payload| sha256(payload.as_str())),
        duration_us: u64::try_from(started.elapsed().as_micros()).unwrap_or(u64::MAX),
        plugins: concluded.plugins.clone(),
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
