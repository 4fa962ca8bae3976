//! [`Fault`]: a plugin did not answer. Never confused with a denial, never an allow.

use std::fmt;

use serde::{Deserialize, Serialize};

use crate::Json;

/// Why a plugin did not answer.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
#[non_exhaustive]
pub enum FaultKind {
    /// It took longer than its deadline; the phase says where.
    Timeout,
    /// A wasm trap with no kind of its own.
    Trap,
    /// It called exit.
    Exit,
    /// It wanted more memory than its limit.
    OutOfMemory,
    /// It ran out of stack.
    StackOverflow,
    /// Handles, copying, log volume, child processes, depth of re-entry.
    ResourceLimit,
    /// It said so, raised, or its result is not a result.
    PluginError,
    /// It does not handle this hook, or a declared credential is not there.
    Unsupported,
    /// Its worker died, or is past its restart budget.
    WorkerDied,
    /// Its queue was full.
    Overloaded,
    /// Its answer was larger than allowed.
    ResponseTooLarge,
    /// It broke the contract, such as allowing after one of its edits was refused.
    Protocol,
    /// It could not be loaded for the call.
    Load,
}

impl FaultKind {
    /// The name in outcomes and records.
    #[must_use]
    pub fn as_str(self) -> &'static str {
        match self {
            Self::Timeout => "timeout",
            Self::Trap => "trap",
            Self::Exit => "exit",
            Self::OutOfMemory => "out_of_memory",
            Self::StackOverflow => "stack_overflow",
            Self::ResourceLimit => "resource_limit",
            Self::PluginError => "plugin_error",
            Self::Unsupported => "unsupported",
            Self::WorkerDied => "worker_died",
            Self::Overloaded => "overloaded",
            Self::ResponseTooLarge => "response_too_large",
            Self::Protocol => "protocol",
            Self::Load => "load",
        }
    }
}

impl fmt::Display for FaultKind {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.pad(self.as_str())
    }
}

/// Where the time of a timeout went.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Phase {
    /// Waiting for a slot.
    Queue,
    /// Starting an instance or a worker.
    Start,
    /// In the plugin's `init`.
    Init,
    /// In the plugin's own code.
    Guest,
    /// In a call from the plugin to the host.
    HostCall,
}

/// A plugin did not answer.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("{kind}: {message}")]
pub struct Fault {
    /// Why.
    pub kind: FaultKind,
    /// Where the time went; only with [`FaultKind::Timeout`].
    pub phase: Option<Phase>,
    /// One line for a person.
    pub message: String,
    /// JSON object with more, such as the tail of a traceback.
    pub details: Json,
}

impl Fault {
    /// A fault without details.
    #[must_use]
    pub fn new(kind: FaultKind, message: impl Into<String>) -> Self {
        Self {
            kind,
            phase: None,
            message: message.into(),
            details: Json::object(),
        }
    }

    /// The deadline passed in `phase`.
    #[must_use]
    pub fn timeout(phase: Phase, message: impl Into<String>) -> Self {
        Self {
            kind: FaultKind::Timeout,
            phase: Some(phase),
            message: message.into(),
            details: Json::object(),
        }
    }

    /// The same fault with a JSON object of details.
    #[must_use]
    pub fn with_details(mut self, details: Json) -> Self {
        self.details = details;
        self
    }
}
