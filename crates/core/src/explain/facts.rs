//! [`Facts`]: what the operator said about a plugin, as far as it decides who is asked.

use std::time::Duration;

use super::{Part, PluginExplanation, SkipReason, Turn};
use crate::capability::Capabilities;
use crate::condition::{Condition, Tested};
use crate::config::{Mode, OnError, PluginSpec, is_known_hook, nearest};
use crate::entry::sees_headers;
use crate::extensions::Extensions;

/// What decides whether a plugin is asked: its entry, wherever that comes from.
#[derive(Debug, Clone)]
pub(crate) struct Facts {
    pub(crate) name: String,
    pub(crate) kind: String,
    pub(crate) group: Option<String>,
    pub(crate) hooks: Vec<String>,
    pub(crate) mode: Mode,
    pub(crate) priority: i32,
    pub(crate) on_error: OnError,
    pub(crate) timeout: Duration,
    pub(crate) conditions: Vec<Condition>,
    pub(crate) granted: Capabilities,
    /// Whether a fault switched it off.
    pub(crate) switched_off: bool,
    /// Why it did not load, where it was left out for that.
    pub(crate) left_out: Option<String>,
}

impl From<&PluginSpec> for Facts {
    fn from(spec: &PluginSpec) -> Self {
        Self {
            name: spec.name.clone(),
            kind: spec.kind.name().to_owned(),
            group: spec.group.clone(),
            hooks: spec.hooks.clone(),
            mode: spec.mode,
            priority: spec.priority,
            on_error: spec.on_error,
            timeout: spec.limits.timeout,
            conditions: spec.conditions.clone(),
            granted: spec.permissions.data,
            switched_off: false,
            left_out: None,
        }
    }
}

impl Facts {
    /// Whether it names the hook.
    pub(super) fn listens(&self, hook: &str) -> bool {
        self.hooks.iter().any(|listened| listened == hook)
    }

    /// Whether an engine has it.
    pub(super) fn is_loaded(&self) -> bool {
        self.mode != Mode::Disabled && self.left_out.is_none()
    }

    /// Why it is not asked at a hook nobody listens to, or whatever is called.
    pub(super) fn never_asked(&self, hook: &str) -> Option<SkipReason> {
        if self.mode == Mode::Disabled {
            return Some(SkipReason::Disabled {
                listens: self.listens(hook),
            });
        }
        if let Some(problem) = &self.left_out {
            let problem = problem.clone();
            return Some(SkipReason::LeftOut { problem });
        }
        if !self.listens(hook) {
            // Two hooks that are both known are alike in their names only.
            let known = is_known_hook(hook);
            let hooks = self.hooks.iter().map(String::as_str);
            let candidates = hooks.filter(|listened| !known || !is_known_hook(listened));
            return Some(SkipReason::NotListening {
                hooks: self.hooks.clone(),
                nearest: nearest(hook, candidates).map(str::to_owned),
            });
        }
        self.switched_off.then_some(SkipReason::SwitchedOff)
    }

    /// Why its conditions keep it from this call.
    pub(super) fn not_concerned(&self, tested: Tested<'_>) -> Option<SkipReason> {
        if self.conditions.is_empty() {
            return None;
        }
        let alternatives = self
            .conditions
            .iter()
            .map(|condition| condition.mismatch(tested))
            .collect::<Option<Vec<_>>>()?;
        Some(SkipReason::Conditions { alternatives })
    }

    /// What it may see and do where it is asked.
    pub(super) fn part(&self, position: usize, extensions: &Extensions, hook: &str) -> Part {
        let lent = extensions.lent(self.granted, hook);
        Part {
            position,
            may_modify: self.mode.may_modify(),
            may_block: self.mode.may_block(),
            on_error: self.on_error,
            timeout_ms: u64::try_from(self.timeout.as_millis()).unwrap_or(u64::MAX),
            sees_headers: sees_headers(&self.kind, self.granted),
            data: self.granted,
            extensions: lent.iter().map(|(slot, _)| slot).collect(),
        }
    }

    /// What there is to tell about it.
    pub(super) fn explained(self, turn: Turn) -> PluginExplanation {
        PluginExplanation {
            name: self.name,
            kind: self.kind,
            group: self.group,
            mode: self.mode,
            priority: self.priority,
            turn,
        }
    }
}
