//! Why requirements cannot be read.

use std::io;
use std::path::PathBuf;

/// Why requirements cannot be read.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum RequirementsError {
    /// A file that is named is not readable.
    #[error("requirements cannot be read: {path}: {source}")]
    Read {
        /// The file or folder.
        path: PathBuf,
        /// Why.
        source: io::Error,
    },
    /// A file that is named is of another kind.
    #[error("not a requirements file: {path}: {why}")]
    NoRequirements {
        /// The file.
        path: PathBuf,
        /// What it is.
        why: &'static str,
    },
    /// An installer's option among the requirements of an entry.
    #[error("not a requirement: {0}")]
    Option(String),
    /// Installing it may run code, and that is not allowed.
    #[error("installing it may run code, only versions of a name and wheels are possible: {0}")]
    Builds(String),
    /// A requirement without a hash beside a file that gives hashes.
    #[error("it has no hash, and the requirements file gives hashes: {0}")]
    Unhashed(String),
}

impl RequirementsError {
    /// What to do about it.
    #[must_use]
    pub fn hint(&self) -> String {
        match self {
            Self::Read { .. } => {
                "check the path, which starts at the configuration's folder".into()
            }
            Self::NoRequirements { .. } => {
                "write one requirement a line, in UTF-8, as `uv pip compile` and `pip freeze` do"
                    .into()
            }
            Self::Option(_) => {
                "put options into a file and name it with `requirements_file: FILE`".into()
            }
            Self::Builds(_) => "name a wheel, or write `allow_build: true` if it may".into(),
            Self::Unhashed(line) => format!(
                "put `{line}` and what it needs into the file, with hashes: `uv pip compile --generate-hashes`"
            ),
        }
    }
}
