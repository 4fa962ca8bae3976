//! Why a worker is not there: it did not start, or it died.

use std::fmt;
use std::io;
use std::path::PathBuf;
use std::sync::Arc;
use std::time::Duration;

use hookgate_core::{Fault, FaultKind, Json, LoadError};

use super::Failed;
use super::memory::OVER_MEMORY;
use crate::limits::DETAIL_BYTES;

/// How a worker ended.
#[derive(Debug, Clone)]
pub(crate) struct Death {
    /// `exit code 7`, `signal 9`.
    pub(crate) status: String,
    /// Why the host ended it; none if it ended of itself.
    pub(crate) killed_for: Option<String>,
    /// Its last log lines.
    pub(crate) log: String,
}

impl fmt::Display for Death {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match &self.killed_for {
            Some(cause) => write!(f, "the worker was ended: {cause}"),
            None => write!(f, "the worker died: {}", self.status),
        }
    }
}

impl Death {
    /// The fault of a call that was under way.
    pub(crate) fn fault(&self) -> Fault {
        let details = serde_json::json!({ "exit": self.status, "log": tail(&self.log) });
        let kind = match &self.killed_for {
            Some(cause) if cause.starts_with(OVER_MEMORY) => FaultKind::OutOfMemory,
            _ => FaultKind::WorkerDied,
        };
        Fault::new(kind, self.to_string()).with_details(Json::from_value(&details))
    }
}

/// Why a worker did not start.
#[derive(Debug, thiserror::Error)]
pub(crate) enum StartError {
    /// The process could not be started.
    #[error("the worker cannot be started: {executable}: {source}")]
    Spawn {
        executable: PathBuf,
        source: io::Error,
    },
    /// It ran, and the plugin could not be loaded.
    #[error("{}: {}", .0.stage, first_line(&.0.message))]
    Failed(Failed),
    /// It died before it was ready.
    #[error("{0} before the plugin was ready")]
    Died(Arc<Death>),
    /// It was not ready in time.
    #[error("the plugin was not ready within {}", humantime::format_duration(*.limit))]
    TimedOut { limit: Duration, log: String },
}

impl StartError {
    /// The fault of a call that needed the worker.
    pub(crate) fn fault(&self) -> Fault {
        let kind = if matches!(self, Self::Failed(_)) {
            FaultKind::Load
        } else {
            FaultKind::WorkerDied
        };
        let fault = Fault::new(kind, format!("the worker did not come back: {self}"));
        match self.detail() {
            Some(detail) => fault.with_details(Json::from_value(
                &serde_json::json!({ "log": tail(detail) }),
            )),
            None => fault,
        }
    }

    /// Whether the framework itself could not be imported.
    pub(crate) fn is_of_framework(&self) -> bool {
        matches!(self, Self::Failed(failed) if failed.stage == "framework")
    }

    /// The same for whoever loads the plugin.
    pub(crate) fn load_error(&self, class: &str) -> LoadError {
        let mut error = LoadError::new(format!("the class cannot be loaded: {class}: {self}"));
        if let Some(detail) = self.detail() {
            error = error.detail(tail(detail));
        }
        match self.hint() {
            Some(hint) => error.hint(hint),
            None => error,
        }
    }

    fn detail(&self) -> Option<&str> {
        let text = match self {
            Self::Spawn { .. } => return None,
            Self::Failed(failed) => failed.traceback.trim_end(),
            Self::Died(death) => &death.log,
            Self::TimedOut { log, .. } => log,
        };
        (!text.is_empty()).then_some(text)
    }

    fn hint(&self) -> Option<String> {
        let failed = match self {
            Self::Failed(failed) => failed,
            Self::TimedOut { .. } => {
                return Some("move slow work out of the import and initialize()".into());
            }
            _ => return None,
        };
        if let Some((_, hint)) = failed.message.split_once("\nhint: ") {
            return Some(hint.trim().to_owned());
        }
        if failed.stage == "framework" {
            return Some("let `requirements` name cpex==0.1.4, or no framework at all".into());
        }
        if let Some(module) = missing_module(&failed.message) {
            return Some(format!(
                "add the package that brings `{module}` to `requirements`, or its folder to `import_paths`"
            ));
        }
        match failed.stage.as_str() {
            "class" => {
                Some("name a class that the module has: `kind: package.module.Class`".into())
            }
            "config" => Some("see the message for the key of the entry that does not fit".into()),
            "initialize" => Some("see the traceback; what the class reads is its `config:`".into()),
            _ => None,
        }
    }
}

/// What Python says in `No module named 'x'`.
fn missing_module(message: &str) -> Option<&str> {
    message
        .split_once("No module named '")?
        .1
        .split('\'')
        .next()
}

fn first_line(text: &str) -> &str {
    text.lines().next().unwrap_or_default()
}

/// The end of a long text, cut at a line where there is one.
pub(crate) fn tail(text: &str) -> &str {
    if text.len() <= DETAIL_BYTES {
        return text;
    }
    let mut from = text.len() - DETAIL_BYTES;
    while !text.is_char_boundary(from) {
        from += 1;
    }
    let end = &text[from..];
    end.split_once('\n').map_or(end, |(_, lines)| lines)
}
