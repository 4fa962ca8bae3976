//! The two traits hosts implement, and what passes through them.

use std::sync::Arc;
use std::time::Instant;

use futures::future::BoxFuture;
use serde::Serialize;

use crate::capability::Capabilities;
use crate::config::PluginSpec;
use crate::document::Document;
use crate::draft::{Answer, Draft};
use crate::edit::EditRules;
use crate::extensions::Extensions;
use crate::fault::Fault;
use crate::request::RequestView;

/// Something that loads plugins of one kind.
pub trait Host: Send + Sync {
    /// The kind, as [`crate::config::PluginKind::name`] spells it: `wasm`, `python`.
    fn kind(&self) -> &'static str;

    /// Loads the plugin of one `plugins:` entry, far enough that a call can be answered.
    fn load(&self, spec: PluginSpec) -> BoxFuture<'_, Result<Arc<dyn Plugin>, LoadError>>;
}

/// Something that answers hooks: one per `plugins:` entry.
pub trait Plugin: Send + Sync {
    /// What it is and how it fares.
    fn describe(&self) -> PluginInfo;

    /// Asks it about one hook. Dropping the future cancels the call.
    ///
    /// It may ask an engine in turn, its own or another, up to [`crate::MAX_REENTRY_DEPTH`] calls inside
    /// each other; beyond that a plugin is not asked, and its fault is `resource_limit`. Only what runs in
    /// this function and in its future counts: what it hands to `tokio::spawn` or a thread begins anew,
    /// bounded by the slots of each plugin and by deadlines alone.
    fn call(&self, call: HookCall) -> BoxFuture<'_, Result<Answer, Fault>>;

    /// Ends it. No call is under way or will come.
    fn shutdown(&self) -> BoxFuture<'_, ()> {
        Box::pin(async {})
    }

    /// Whether `call` itself ends at the deadline with a typed timeout. The engine then waits a
    /// moment longer before it drops the future, so that the host's own word on the phase arrives.
    fn keeps_deadline(&self) -> bool {
        false
    }
}

/// What a plugin is and how it fares.
#[derive(Debug, Clone, Default, Serialize)]
pub struct PluginInfo {
    /// `wasm`, `python` or `in-process`.
    pub kind: &'static str,
    /// The hooks it can answer, where that is known. A status shows those it is asked at instead.
    #[serde(skip_serializing)]
    pub hooks: Vec<String>,
    /// `sha256:...` of the component; none where there is no single file.
    pub digest: Option<String>,
    /// What really confines it, as `hookgate check` prints it.
    pub sandbox: String,
    /// The interfaces it imports, of a component.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub imports: Vec<String>,
    /// What it was granted and cannot use, since it imports nothing that would use it.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub unused: Vec<String>,
    /// Whether it can answer now, in a word: `ready`, `restarting`, `failed`.
    pub state: &'static str,
    /// Answers that came after their deadline and were dropped.
    pub late_answers: u64,
    /// Its environment, for a Python plugin.
    pub environment: Option<EnvironmentInfo>,
    /// Instances that wait ready for calls, of a wasm plugin. It changes with every call.
    #[serde(skip_serializing)]
    pub ready_instances: Option<u32>,
    /// What an operator may want to know of how it runs, a sentence each.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub notes: Vec<String>,
}

impl PluginInfo {
    /// A plugin of this process that answers `hooks`.
    #[must_use]
    pub fn in_process<H: Into<String>>(hooks: impl IntoIterator<Item = H>) -> Self {
        Self {
            kind: "in-process",
            hooks: hooks.into_iter().map(Into::into).collect(),
            ..Self::default()
        }
    }
}

/// The environment of a Python plugin.
#[derive(Debug, Clone, Serialize)]
pub struct EnvironmentInfo {
    /// What was found of the one the entry used last, before the plugin was loaded: `Valid`, `Missing`,
    /// `RequirementsChanged`, `PythonChanged`, `ManifestChanged` or `Unreadable`.
    pub verdict: &'static str,
    /// Where it lies.
    pub path: String,
    /// The interpreter's version.
    pub python: String,
    /// The framework found in it, such as `cpex 0.1.4`.
    pub framework: String,
}

/// One question to one plugin. Cheap to clone.
#[derive(Debug, Clone)]
pub struct HookCall {
    /// The hook's name as configured.
    pub hook: Arc<str>,
    /// What the hook is about, as it arrived; none for hooks without a subject.
    pub subject: Option<Arc<str>>,
    /// The payload, filtered by the plugin's grants.
    pub payload: Document,
    /// The request it belongs to.
    pub request: RequestView,
    /// The side-channel slots of the request, filtered by the plugin's grants.
    pub extensions: Extensions,
    /// When the engine gives up on this call.
    pub deadline: Instant,
    pub(crate) rules: CallRules,
}

/// What a call's answer is checked against.
#[derive(Debug, Clone, Copy)]
pub(crate) struct CallRules {
    pub(crate) edits: EditRules,
    pub(crate) max_state_bytes: u64,
    pub(crate) max_effect_bytes: u64,
    pub(crate) granted: Capabilities,
}

impl HookCall {
    /// An answer in the making: edits and effects are checked as they are added.
    #[must_use]
    pub fn draft(&self) -> Draft {
        Draft::new(self)
    }
}

/// Why a plugin could not be loaded. Display is one line; the hint says what to do.
#[derive(Debug, Clone, thiserror::Error)]
#[error("{message}")]
pub struct LoadError {
    /// What was asked and what was found, in one line.
    pub message: String,
    /// What to do.
    pub hint: Option<String>,
    /// More for whoever digs, such as the last lines of an installer.
    pub detail: Option<String>,
}

impl LoadError {
    /// A load error without hint or detail.
    #[must_use]
    pub fn new(message: impl Into<String>) -> Self {
        Self {
            message: message.into(),
            hint: None,
            detail: None,
        }
    }

    /// The same with a hint.
    #[must_use]
    pub fn hint(mut self, hint: impl Into<String>) -> Self {
        self.hint = Some(hint.into());
        self
    }

    /// The same with details.
    #[must_use]
    pub fn detail(mut self, detail: impl Into<String>) -> Self {
        self.detail = Some(detail.into());
        self
    }
}
