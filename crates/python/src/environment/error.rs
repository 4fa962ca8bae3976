//! Why an environment could not be made, or used.

use std::io;
use std::path::PathBuf;

use crate::interpreter::InterpreterError;

/// Why an environment could not be made, or used.
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
    /// Others could put code into the store.
    #[error("others may write to the environment store: {path}: mode {mode:04o}")]
    OpenStore {
        /// The store.
        path: PathBuf,
        /// Its permissions.
        mode: u32,
    },
    /// Another user could put code into the store.
    #[error("the environment store belongs to another user: {path}: uid {owner}")]
    ForeignStore {
        /// The store.
        path: PathBuf,
        /// Whose it is.
        owner: u32,
    },
    /// Others could put another folder in the store's place.
    #[error("others may replace the environment store: they may write to {path}: mode {mode:04o}")]
    OpenParent {
        /// The folder above the store.
        path: PathBuf,
        /// Its permissions.
        mode: u32,
    },
    /// Another user could put another folder in the store's place.
    #[error("another user may replace the environment store: {path} belongs to uid {owner}")]
    ForeignParent {
        /// The folder above the store.
        path: PathBuf,
        /// Whose it is.
        owner: u32,
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

/// What tools say when there is no room left, whatever wrote the line.
const NO_ROOM: [&str; 3] = [
    "no space left on device",
    "disk quota exceeded",
    "file too large",
];

impl EnvironmentError {
    /// What the tool said, for the details of a report.
    #[must_use]
    pub fn said(&self) -> Option<&str> {
        let said = match self {
            Self::Install { said, .. } | Self::TimedOut { said, .. } => said,
            Self::Interpreter(InterpreterError::Broken { said, .. }) => said,
            _ => return None,
        };
        (!said.is_empty()).then_some(said)
    }

    /// What to do about it.
    #[must_use]
    pub fn hint(&self) -> String {
        let private = "set HOOKGATE_ENV_DIR to a private folder";
        match self {
            _ if self.no_room() => {
                "make room on the store's disk, or set HOOKGATE_ENV_DIR to a folder with more"
                    .into()
            }
            Self::Store { .. } => {
                "set HOOKGATE_ENV_DIR to a folder that this user can write to".into()
            }
            Self::OpenStore { path, .. } | Self::OpenParent { path, .. } => {
                format!("run `chmod go-w {}`, or {private}", path.display())
            }
            Self::ForeignStore { .. } | Self::ForeignParent { .. } => {
                format!("{private} of the user that runs hookgate")
            }
            Self::Interpreter(InterpreterError::NotFound) => {
                "install Python 3.11 or later so that `python3` is on PATH".into()
            }
            Self::Interpreter(_) => {
                "put a working Python 3.11 or later first on PATH as `python3`".into()
            }
            Self::Start { .. } => "set HOOKGATE_UV to the uv to use, or unset it to use pip".into(),
            Self::Install { said, .. } if wants_to_build(said) => {
                "name a version that has a wheel for this Python, or write `allow_build: true` \
                 if its build may run code"
                    .into()
            }
            Self::Install { .. } => {
                "check `requirements` and the installer's index settings".into()
            }
            Self::TimedOut { .. } => "check that the package index can be reached".into(),
        }
    }

    fn no_room(&self) -> bool {
        let full = |source: &io::Error| {
            matches!(
                source.kind(),
                io::ErrorKind::StorageFull
                    | io::ErrorKind::QuotaExceeded
                    | io::ErrorKind::FileTooLarge
            )
        };
        match self {
            Self::Store { source, .. } | Self::Start { source, .. } => full(source),
            _ => self.said().is_some_and(|said| {
                let said = said.to_lowercase();
                NO_ROOM.iter().any(|words| said.contains(words))
            }),
        }
    }
}

/// Whether a package has no wheel that fits, in the words of either installer.
fn wants_to_build(said: &str) -> bool {
    said.contains("no usable wheels") || said.contains("Building source distributions is disabled")
}
