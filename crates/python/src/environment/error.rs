//! Why an environment could not be made.

use std::io;
use std::path::PathBuf;

use crate::interpreter::InterpreterError;

/// Why an environment could not be made.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum EnvironmentError {
    /// The store, or something in it, could not be read or written.
    #[error("the environment store cannot be used: {path}: {source}")]
    Store {
        /// The store.
        path: PathBuf,
        /// Why.
        source: io::Error,
    },
    /// Anybody could put code into the store.
    #[error("everybody may write to the environment store: {path}")]
    OpenStore {
        /// The store.
        path: PathBuf,
    },
    /// No interpreter to build with, or the one built does not run.
    #[error(transparent)]
    Interpreter(#[from] InterpreterError),
    /// An installer could not be started.
    #[error("the installer cannot be started: {tool}: {source}")]
    Start {
        /// What was started.
        tool: String,
        /// Why it did not.
        source: io::Error,
    },
    /// An installer failed.
    #[error("{tool} failed: {status}")]
    Install {
        /// What was run.
        tool: String,
        /// How it ended.
        status: String,
        /// Its last lines.
        said: String,
    },
    /// An installer did not end.
    #[error("{tool} did not end within {seconds} s")]
    TimedOut {
        /// What was run.
        tool: String,
        /// What it was given.
        seconds: u64,
        /// Its last lines.
        said: String,
    },
}

impl EnvironmentError {
    /// What the tool said, for the details of a report.
    pub(crate) fn said(&self) -> Option<&str> {
        let said = match self {
            Self::Install { said, .. } | Self::TimedOut { said, .. } => said,
            Self::Interpreter(InterpreterError::Broken { said, .. }) => said,
            _ => return None,
        };
        (!said.is_empty()).then_some(said)
    }

    /// What to do about it.
    pub(crate) fn hint(&self) -> &'static str {
        match self {
            Self::Store { .. } => "set HOOKGATE_ENV_DIR to a folder that this user can write to",
            Self::OpenStore { .. } => {
                "run chmod o-w on it, or set HOOKGATE_ENV_DIR to a private folder"
            }
            Self::Interpreter(InterpreterError::NotFound) => {
                "install Python 3.11 or later so that `python3` is on PATH"
            }
            Self::Interpreter(_) => "put a working Python 3.11 or later first on PATH as `python3`",
            Self::Start { .. } => "set HOOKGATE_UV to the uv to use, or unset it to use pip",
            Self::Install { .. } => "check `requirements` and the installer's index settings",
            Self::TimedOut { .. } => "check that the package index can be reached",
        }
    }
}
