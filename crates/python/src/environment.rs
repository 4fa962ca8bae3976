//! Environments: one virtualenv per set of requirements and interpreter, shared by every plugin that
//! asks for the same.
//!
//! An environment is built where it stays, since its scripts and `pyvenv.cfg` hold absolute paths that
//! a rename would break. What makes that safe is the mark: a file written last, under the lock of the
//! environment's key. A folder without a mark that fits is something a crash left, and is replaced.

mod error;
mod installer;
mod lock;
mod mark;

use std::ffi::OsString;
use std::os::unix::fs::{DirBuilderExt as _, PermissionsExt as _};
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::time::Instant;

use cap_std::ambient_authority;
use cap_std::fs::Dir;
use sha2::{Digest as _, Sha256};

pub use error::EnvironmentError;
pub use installer::Installer;

use crate::interpreter::Interpreter;
use crate::requirements::{Requirements, hex};
use lock::KeyLock;
use mark::Mark;

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

/// What was found where an environment should be.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum EnvironmentVerdict {
    /// A complete environment whose interpreter runs.
    Valid(Environment),
    /// None, or one that cannot be used; loading builds it.
    Missing,
}

/// A virtualenv that holds what was asked for.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Environment {
    /// Its folder.
    pub path: PathBuf,
    /// The version of its interpreter.
    pub python: String,
}

impl Environment {
    /// Its interpreter.
    #[must_use]
    pub fn executable(&self) -> PathBuf {
        self.path.join("bin/python")
    }
}

/// The folder that environments live in.
#[derive(Debug)]
pub struct EnvironmentStore {
    root: PathBuf,
    dir: Dir,
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

/// What a build needs besides the requirements.
pub(crate) struct Build<'a> {
    pub(crate) plugin: &'a str,
    pub(crate) requirements: &'a Requirements,
    pub(crate) installer: &'a Installer,
    pub(crate) search_path: &'a OsString,
    pub(crate) progress: Option<&'a Progress>,
}

impl EnvironmentStore {
    /// Opens the store, making it for this user alone if it is not there.
    ///
    /// # Errors
    ///
    /// If it cannot be made or opened, or everybody may write to it.
    pub fn open(root: &Path) -> Result<Self, EnvironmentError> {
        let store = |source| EnvironmentError::Store {
            path: root.to_owned(),
            source,
        };
        std::fs::DirBuilder::new()
            .recursive(true)
            .mode(0o700)
            .create(root)
            .map_err(store)?;
        let root = std::fs::canonicalize(root).map_err(store)?;
        if std::fs::metadata(&root)
            .map_err(store)?
            .permissions()
            .mode()
            & 0o002
            != 0
        {
            return Err(EnvironmentError::OpenStore { path: root });
        }
        let dir = Dir::open_ambient_dir(&root, ambient_authority()).map_err(store)?;
        Ok(Self { root, dir })
    }

    /// What is there for these requirements. Without an interpreter to key by, any valid environment
    /// that was built for them will do: one is only needed to build.
    pub(crate) async fn judge(
        &self,
        requirements: &Requirements,
        interpreter: Option<&Interpreter>,
        search_path: &OsString,
    ) -> EnvironmentVerdict {
        let keys = match interpreter {
            Some(interpreter) => vec![key(requirements, interpreter)],
            None => self.keys(),
        };
        for key in keys {
            let Some(mark) = Mark::read(&self.dir, &key) else {
                continue;
            };
            if mark.requirements_digest != requirements.digest() {
                continue;
            }
            let environment = Environment {
                path: self.root.join(&key),
                python: mark.python.clone(),
            };
            let runs = Interpreter::probe(&environment.executable(), search_path).await;
            match runs {
                Ok(found) if found.version == mark.python && found.platform == mark.platform => {
                    return EnvironmentVerdict::Valid(environment);
                }
                Ok(found) => tracing::warn!(
                    path = %environment.path.display(), built = %mark.python, found = %found.version,
                    "the environment's interpreter has changed"
                ),
                Err(error) => {
                    tracing::warn!(path = %environment.path.display(), "the environment cannot be used: {error}");
                }
            }
        }
        EnvironmentVerdict::Missing
    }

    /// Builds the environment, unless somebody else has by the time the lock is ours.
    pub(crate) async fn build(
        &self,
        build: Build<'_>,
        interpreter: &Interpreter,
    ) -> Result<Environment, EnvironmentError> {
        let key = key(build.requirements, interpreter);
        let lock = KeyLock::take(&self.dir, &key)
            .await
            .map_err(|source| self.failed(source))?;
        if let EnvironmentVerdict::Valid(found) = self
            .judge(build.requirements, Some(interpreter), build.search_path)
            .await
        {
            build.tell(EnvironmentEvent::Reused {
                plugin: build.plugin.to_owned(),
            });
            return Ok(found);
        }
        let started = Instant::now();
        let requirements = build.requirements.arguments();
        build.tell(EnvironmentEvent::Building {
            plugin: build.plugin.to_owned(),
            requirements,
        });
        self.remove(&key)?;
        let built = self.build_locked(&build, &key, interpreter).await;
        match &built {
            Ok(_) => {
                let seconds = started.elapsed().as_secs_f64();
                build.tell(EnvironmentEvent::Built {
                    plugin: build.plugin.to_owned(),
                    seconds,
                });
            }
            Err(_) => self.remove(&key)?,
        }
        drop(lock);
        built
    }

    async fn build_locked(
        &self,
        build: &Build<'_>,
        key: &str,
        interpreter: &Interpreter,
    ) -> Result<Environment, EnvironmentError> {
        let path = self.root.join(key);
        let tool = build.installer.resolve(build.search_path);
        tool.install(&path, interpreter, build.requirements, build.search_path)
            .await?;
        let environment = Environment {
            path,
            python: interpreter.version.clone(),
        };
        let found = Interpreter::probe(&environment.executable(), build.search_path).await?;
        let mark = Mark::new(key, build.requirements, &found);
        mark.write(&self.dir, key)
            .map_err(|source| self.failed(source))?;
        Ok(environment)
    }

    fn remove(&self, key: &str) -> Result<(), EnvironmentError> {
        match self.dir.remove_dir_all(key) {
            Err(error) if error.kind() != std::io::ErrorKind::NotFound => Err(self.failed(error)),
            _ => Ok(()),
        }
    }

    fn failed(&self, source: std::io::Error) -> EnvironmentError {
        EnvironmentError::Store {
            path: self.root.clone(),
            source,
        }
    }

    fn keys(&self) -> Vec<String> {
        let names = self.dir.entries().into_iter().flatten().flatten();
        let mut keys: Vec<String> = names
            .filter_map(|entry| entry.file_name().into_string().ok())
            .collect();
        keys.retain(|name| !name.contains('.'));
        keys.sort();
        keys
    }
}

impl Build<'_> {
    fn tell(&self, event: EnvironmentEvent) {
        if let Some(progress) = self.progress {
            progress(event);
        }
    }
}

/// The name of an environment's folder: everything that decides what is in it.
fn key(requirements: &Requirements, interpreter: &Interpreter) -> String {
    let format = mark::FORMAT;
    let (python, platform) = (&interpreter.version, &interpreter.platform);
    let text = format!(
        "{format}\n{python}\n{platform}\n{}\n",
        requirements.digest()
    );
    hex(&Sha256::digest(text))
}
