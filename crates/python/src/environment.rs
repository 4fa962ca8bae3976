//! Environments: one virtualenv per set of requirements and interpreter, shared by every plugin that
//! asks for the same.
//!
//! An environment is built where it stays, since its scripts and `pyvenv.cfg` hold absolute paths that
//! a rename would break. What makes that safe is the mark: a file written last, under the lock of the
//! environment's key. A folder without a mark that fits is something a crash left, and is replaced.
//! Beside the environments the store keeps, for each entry, a record of the one it used last, which is
//! what verdicts compare with, and a lock that says an environment is in use.
//!
//! An environment that somebody else made, named by the configuration or left by the framework's own
//! command, is used as it is and never written to.

mod build;
mod contents;
mod error;
mod existing;
mod folder;
mod installer;
mod legacy;
mod lock;
mod manage;
mod mark;
mod record;
mod store;
mod tree;

use std::path::PathBuf;
use std::sync::Arc;

pub(crate) use build::Build;
pub(crate) use contents::Contents;
pub use error::EnvironmentError;
pub(crate) use existing::named;
pub use installer::Installer;
pub(crate) use legacy::{Legacy, find as find_legacy, stem as legacy_stem};
pub(crate) use lock::UseLock;
pub use manage::{EnvironmentUse, GcOptions, GcReport, RemovedEnvironment, StoredEnvironment};
pub use store::EnvironmentStore;
pub(crate) use store::Judged;

/// What happens to environments while plugins load, for whoever shows it.
#[derive(Debug, Clone, PartialEq)]
#[non_exhaustive]
pub enum EnvironmentEvent {
    /// A build begins.
    Building {
        /// The plugin it is for.
        plugin: String,
        /// What is installed.
        requirements: Vec<String>,
    },
    /// A build is done.
    Built {
        /// The plugin it was for.
        plugin: String,
        /// How long it took.
        seconds: f64,
    },
    /// A valid environment was there.
    Reused {
        /// The plugin it is for.
        plugin: String,
    },
}

/// Who is told of events; called from the task that loads a plugin.
pub type Progress = Arc<dyn Fn(EnvironmentEvent) + Send + Sync>;

/// What was found of the environment that an entry used last; where that is not known, of the one it
/// would use now.
#[derive(Debug, Clone, PartialEq, Eq)]
#[non_exhaustive]
pub enum EnvironmentVerdict {
    /// It is complete, its interpreter runs, and it is what the entry asks for.
    Valid(Environment),
    /// There is none.
    Missing,
    /// The entry asks for something else by now.
    RequirementsChanged,
    /// It is for another Python.
    PythonChanged {
        /// The version it was made for.
        was: String,
        /// The version there is now.
        now: String,
    },
    /// The manifest in the plugin's folder says something else by now. What is installed does not follow
    /// from it, so that the same environment may serve on.
    ManifestChanged,
    /// It is there and cannot be used.
    Unreadable {
        /// Its folder.
        path: PathBuf,
        /// What is wrong with it.
        why: String,
    },
}

impl EnvironmentVerdict {
    /// Its name, such as `RequirementsChanged`.
    #[must_use]
    pub fn as_str(&self) -> &'static str {
        match self {
            Self::Valid(_) => "Valid",
            Self::Missing => "Missing",
            Self::RequirementsChanged => "RequirementsChanged",
            Self::PythonChanged { .. } => "PythonChanged",
            Self::ManifestChanged => "ManifestChanged",
            Self::Unreadable { .. } => "Unreadable",
        }
    }
}

impl std::fmt::Display for EnvironmentVerdict {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str(self.as_str())?;
        match self {
            Self::PythonChanged { was, now } => write!(f, " (made for {was}, there is {now})"),
            Self::Unreadable { path, why } => write!(f, " ({}: {why})", path.display()),
            _ => Ok(()),
        }
    }
}

/// Who made an environment.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
#[non_exhaustive]
pub enum EnvironmentOrigin {
    /// The host, in its store.
    Store,
    /// Somebody else; the configuration names it.
    Named,
    /// The legacy framework, beside the plugin.
    Legacy,
}

/// A virtualenv that holds what was asked for.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Environment {
    /// Its folder.
    pub path: PathBuf,
    /// The version of its interpreter.
    pub python: String,
    /// Who made it.
    pub origin: EnvironmentOrigin,
}

impl Environment {
    /// Its interpreter.
    #[must_use]
    pub fn executable(&self) -> PathBuf {
        self.path.join("bin/python")
    }

    /// Whether it has been removed, as far as one look shows.
    pub(crate) fn is_gone(&self) -> bool {
        let mark = self.path.join(mark::NAME);
        let is_ours = self.origin == EnvironmentOrigin::Store;
        !self.executable().exists() || (is_ours && !mark.exists())
    }
}

/// `$HOOKGATE_ENV_DIR`, or `hookgate/environments` in the user's cache folder; none without a home.
#[must_use]
pub fn default_store() -> Option<PathBuf> {
    let variable = |name: &str| {
        std::env::var_os(name)
            .filter(|value| !value.is_empty())
            .map(PathBuf::from)
    };
    variable("HOOKGATE_ENV_DIR").or_else(|| {
        let cache = variable("XDG_CACHE_HOME").filter(|path| path.is_absolute());
        let cache = cache.or_else(|| variable("HOME").map(|home| home.join(".cache")));
        cache.map(|cache| cache.join("hookgate/environments"))
    })
}
