//! [`Explanation`]: who would be asked about a call, and why the others would not.
//!
//! Nobody is asked to find out, and nothing is loaded: what decides is what the operator said about each
//! plugin, so that [`Config::explain`] and [`crate::Engine::explain`] share one implementation over
//! [`Facts`]. The call passes the same check at the door as in [`crate::Engine::invoke`].

mod facts;

use serde::Serialize;

pub(crate) use facts::Facts;

use crate::capability::Capabilities;
use crate::condition::{Mismatch, Tested};
use crate::config::{Config, Mode, OnError, is_known_hook, known_hooks, nearest};
use crate::engine::InvokeError;
use crate::extensions::Extensions;
use crate::hooks::Shape;
use crate::payload::{self, Payload};
use crate::pipeline::subject_of;
use crate::request::Request;

/// What a call of a hook would come to: who is asked in which order, if nobody denies.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
#[non_exhaustive]
pub struct Explanation {
    /// The hook.
    pub hook: String,
    /// What the call is about, for hooks with a subject; none if nobody listens, since the payload is
    /// not looked at then.
    pub subject: Option<String>,
    /// Whether anybody listens to the hook. If not, the call is allowed unchecked.
    pub heard: bool,
    /// The hook that may have been meant, where nobody listens to this one and no such hook is known.
    pub nearest_hook: Option<String>,
    /// Every plugin in running order: by phase, then priority, then the order of the configuration.
    pub plugins: Vec<PluginExplanation>,
}

/// One plugin's part in an [`Explanation`].
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
#[non_exhaustive]
pub struct PluginExplanation {
    /// Its entry's name.
    pub name: String,
    /// Its host: `wasm`, `python` or `in-process`; of a disabled plugin it may be one that nothing here has.
    pub kind: String,
    /// The group that names it.
    pub group: Option<String>,
    /// Its mode, which is the phase it runs in.
    pub mode: Mode,
    /// Its place inside the phase; lower runs first.
    pub priority: i32,
    /// Whether it is asked.
    #[serde(flatten)]
    pub turn: Turn,
}

/// Whether a plugin is asked.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
#[serde(tag = "verdict", rename_all = "snake_case")]
pub enum Turn {
    /// It is.
    Runs(Part),
    /// It is not.
    Skipped {
        /// Why not: the first reason of several.
        reason: SkipReason,
    },
}

/// What a plugin that is asked may see and do.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
#[non_exhaustive]
pub struct Part {
    /// Its place among those that are asked, from 1. The calls of the `concurrent` phase begin in this
    /// order and run at once.
    pub position: usize,
    /// Whether its edits count.
    pub may_modify: bool,
    /// Whether its denials and approvals count.
    pub may_block: bool,
    /// What a fault of it does.
    pub on_error: OnError,
    /// Deadline of its call, in milliseconds.
    pub timeout_ms: u64,
    /// Whether it sees the payload's headers.
    pub sees_headers: bool,
    /// What the operator granted it of the call's data.
    pub data: Capabilities,
    /// The side-channel slots of this request of which it is lent something.
    pub extensions: Vec<&'static str>,
}

/// Why a plugin is not asked.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
#[serde(tag = "code", rename_all = "snake_case")]
pub enum SkipReason {
    /// `mode: disabled`; it is not even loaded.
    Disabled {
        /// Whether it would listen to the hook.
        listens: bool,
    },
    /// It did not load, and the configuration lets such plugins be left out. Only an engine knows.
    LeftOut {
        /// Why it did not load.
        problem: String,
    },
    /// It does not listen to the hook.
    NotListening {
        /// The hooks it listens to.
        hooks: Vec<String>,
        /// The one of them that may be this hook misspelt, or that this hook may be misspelt for.
        nearest: Option<String>,
    },
    /// `on_error: disable` switched it off after a fault.
    SwitchedOff,
    /// None of its conditions holds.
    Conditions {
        /// Of each alternative, in order, what does not hold.
        alternatives: Vec<Mismatch>,
    },
}

/// Explains a call to the plugins given in config order.
pub(crate) fn explain(
    mut plugins: Vec<Facts>,
    hook: &str,
    payload: &Payload,
    request: &Request,
    max_payload_bytes: u64,
) -> Result<Explanation, InvokeError> {
    // Stable: equal priorities keep the config's order.
    plugins.sort_by_key(|plugin| (plugin.mode, plugin.priority));
    let heard = plugins
        .iter()
        .any(|plugin| plugin.is_loaded() && plugin.listens(hook));
    let (document, extensions) = match heard {
        true => (
            Some(payload::check(hook, payload, max_payload_bytes)?.document),
            Extensions::of(request.extensions.as_ref(), hook)?,
        ),
        false => (None, Extensions::default()),
    };
    let nearest_hook = match heard || is_known_hook(hook) {
        true => None,
        false => {
            let mut hooks: Vec<&str> = known_hooks().collect();
            hooks.extend(
                plugins
                    .iter()
                    .flat_map(|plugin| &plugin.hooks)
                    .map(String::as_str),
            );
            nearest(hook, hooks).map(str::to_owned)
        }
    };
    let subject = document
        .as_ref()
        .and_then(|document| subject_of(document, Shape::of(hook).subject()?));
    let tested = document.as_ref().map(|payload| Tested {
        hook,
        payload,
        subject: subject.as_deref(),
        request,
    });
    let mut position = 0;
    let explained = |plugin: Facts| {
        let reason = plugin
            .never_asked(hook)
            .or_else(|| plugin.not_concerned(tested?));
        let turn = match reason {
            Some(reason) => Turn::Skipped { reason },
            None => {
                position += 1;
                Turn::Runs(plugin.part(position, &extensions, hook))
            }
        };
        plugin.explained(turn)
    };
    let plugins = plugins.into_iter().map(explained).collect();
    Ok(Explanation {
        hook: hook.to_owned(),
        subject: subject.as_deref().map(str::to_owned),
        heard,
        nearest_hook,
        plugins,
    })
}

impl Config {
    /// Who would be asked about a call if this configuration served, and why the others would not.
    /// Loads nothing, so that every plugin is taken to load.
    ///
    /// # Errors
    ///
    /// Those of [`crate::Engine::invoke`] that are about the call: [`InvokeError::InvalidPayload`] and
    /// [`InvokeError::InvalidRequest`].
    pub fn explain(
        &self,
        hook: &str,
        payload: impl Into<Payload>,
        request: &Request,
    ) -> Result<Explanation, InvokeError> {
        let plugins = self.plugins.iter().map(Facts::from).collect();
        explain(
            plugins,
            hook,
            &payload.into(),
            request,
            self.max_payload_bytes,
        )
    }
}
