//! [`EnvironmentStore`]: finds environments and judges them.

use std::ffi::OsStr;
use std::path::{Path, PathBuf};

use cap_std::fs::Dir;
use sha2::{Digest as _, Sha256};

use super::error::EnvironmentError;
use super::lock::UseLock;
use super::mark::{self, Mark};
use super::record::Record;
use super::{Environment, EnvironmentOrigin, EnvironmentVerdict, folder, tree};
use crate::entry::Entry;
use crate::interpreter::Interpreter;
use crate::requirements::{Requirements, hex};

/// The folder that environments live in.
#[derive(Debug)]
pub struct EnvironmentStore {
    pub(super) root: PathBuf,
    pub(super) dir: Dir,
}

/// What an entry finds.
pub(crate) struct Judged {
    /// Of the environment it used last.
    pub(crate) verdict: EnvironmentVerdict,
    /// The one that serves it now, which nobody removes while it is held.
    pub(crate) usable: Option<Held>,
}

/// An environment of the store that is in use.
pub(crate) struct Held {
    pub(crate) environment: Environment,
    pub(super) platform: String,
    /// None where the store cannot be written to, and so nothing in it be removed.
    pub(crate) lock: Option<UseLock>,
}

/// What is found at a key.
pub(super) enum Found {
    Valid(Environment, Mark),
    Nothing,
    PythonChanged { was: String, now: String },
    Unreadable(String),
}

impl EnvironmentStore {
    /// Opens the store, making it for this user alone if it is not there.
    ///
    /// # Errors
    ///
    /// If it cannot be made or opened, or another user may write to it or put another one in its place.
    pub fn open(root: &Path) -> Result<Self, EnvironmentError> {
        let (root, dir) = folder::open(root)?;
        Ok(Self { root, dir })
    }

    /// The store if there is one.
    ///
    /// # Errors
    ///
    /// As for [`Self::open`].
    pub fn open_existing(root: &Path) -> Result<Option<Self>, EnvironmentError> {
        if root.exists() {
            Self::open(root).map(Some)
        } else {
            Ok(None)
        }
    }

    /// Its folder, without links in its path.
    #[must_use]
    pub fn path(&self) -> &Path {
        &self.root
    }

    /// What the entry finds of what it used last, and what serves it now. Without an interpreter to key
    /// by, any valid environment that was built for its requirements will do: one is only needed to build.
    pub(crate) async fn judge(
        &self,
        entry: &Entry,
        requirements: &Requirements,
        interpreter: Option<&Interpreter>,
        search_path: &OsStr,
    ) -> Judged {
        let (usable, trouble) = self.usable(requirements, interpreter, search_path).await;
        let verdict = match Record::read(&self.dir, entry) {
            Some(last) => {
                self.compare(
                    &last,
                    entry,
                    requirements,
                    interpreter,
                    &usable,
                    search_path,
                )
                .await
            }
            None => match &usable {
                Some(held) => EnvironmentVerdict::Valid(held.environment.clone()),
                None => trouble.unwrap_or(EnvironmentVerdict::Missing),
            },
        };
        Judged { verdict, usable }
    }

    async fn compare(
        &self,
        last: &Record,
        entry: &Entry,
        requirements: &Requirements,
        interpreter: Option<&Interpreter>,
        usable: &Option<Held>,
        search_path: &OsStr,
    ) -> EnvironmentVerdict {
        let path = self.root.join(&last.key);
        // The same one was looked at a moment ago.
        let same = usable.as_ref().filter(|held| held.environment.path == path);
        let environment = match same {
            Some(held) => held.environment.clone(),
            None => match self.look(&last.key, search_path).await {
                Found::Valid(environment, _) => environment,
                Found::Nothing => return EnvironmentVerdict::Missing,
                Found::PythonChanged { was, now } => {
                    return EnvironmentVerdict::PythonChanged { was, now };
                }
                Found::Unreadable(why) => return EnvironmentVerdict::Unreadable { path, why },
            },
        };
        if last.requirements_digest != requirements.digest() {
            return EnvironmentVerdict::RequirementsChanged;
        }
        if let Some(interpreter) = interpreter
            && !last.is_of(interpreter)
        {
            return EnvironmentVerdict::PythonChanged {
                was: last.python.clone(),
                now: interpreter.version.clone(),
            };
        }
        if last.manifest_digest != entry.manifest_digest {
            return EnvironmentVerdict::ManifestChanged;
        }
        EnvironmentVerdict::Valid(environment)
    }

    /// The environment for these requirements, in use from now on; or what is wrong with one of them.
    async fn usable(
        &self,
        requirements: &Requirements,
        interpreter: Option<&Interpreter>,
        search_path: &OsStr,
    ) -> (Option<Held>, Option<EnvironmentVerdict>) {
        let keys = match interpreter {
            Some(interpreter) => vec![key(requirements, interpreter)],
            None => self.keys(),
        };
        let mut trouble = None;
        for key in keys {
            if self.dir.symlink_metadata(&key).is_err() {
                continue;
            }
            // First the lock, then the look: nobody removes it in between.
            let lock = self.use_lock(&key).await;
            let path = self.root.join(&key);
            match self.look(&key, search_path).await {
                Found::Valid(environment, mark)
                    if mark.requirements_digest == requirements.digest() =>
                {
                    let platform = mark.platform;
                    let held = Held {
                        environment,
                        platform,
                        lock,
                    };
                    return (Some(held), trouble);
                }
                Found::Valid(..) | Found::Nothing => {}
                Found::PythonChanged { was, now } => {
                    tracing::warn!(path = %path.display(), was, now, "the environment's interpreter has changed");
                    trouble = Some(EnvironmentVerdict::PythonChanged { was, now });
                }
                Found::Unreadable(why) => {
                    // Of all there are, only the one that was asked for is of interest.
                    if interpreter.is_some() {
                        tracing::warn!(path = %path.display(), "the environment cannot be used: {why}");
                        trouble = Some(EnvironmentVerdict::Unreadable { path, why });
                    }
                }
            }
        }
        (None, trouble)
    }

    pub(super) async fn use_lock(&self, key: &str) -> Option<UseLock> {
        match UseLock::share(&self.dir, key).await {
            Ok(lock) => Some(lock),
            Err(error) => {
                tracing::debug!(
                    "no lock on an environment in use: {}: {error}",
                    self.root.display()
                );
                None
            }
        }
    }

    /// What is at a key: a mark that fits and an interpreter that runs and is the one of the mark.
    pub(super) async fn look(&self, key: &str, search_path: &OsStr) -> Found {
        let path = self.root.join(key);
        if self.dir.symlink_metadata(key).is_err() {
            return Found::Nothing;
        }
        let Some(mark) = Mark::read(&self.dir, key) else {
            return Found::Unreadable(format!("{} is missing or damaged", mark::NAME));
        };
        let environment = Environment {
            path,
            python: mark.python.clone(),
            origin: EnvironmentOrigin::Store,
        };
        match Interpreter::probe(&environment.executable(), search_path).await {
            Ok(found) if found.version == mark.python && found.platform == mark.platform => {
                Found::Valid(environment, mark)
            }
            Ok(found) => Found::PythonChanged {
                was: mark.python,
                now: found.version,
            },
            Err(error) => Found::Unreadable(error.to_string()),
        }
    }

    /// Keeps what the entry uses now. A record that cannot be kept costs a verdict, no more.
    pub(crate) fn remember(&self, entry: &Entry, requirements: &Requirements, held: &Held) {
        let key = held
            .environment
            .path
            .file_name()
            .unwrap_or_default()
            .to_string_lossy();
        let python = &held.environment.python;
        let record = Record::new(entry, &key, requirements, python, &held.platform);
        if let Err(error) = record.write(&self.dir, entry) {
            tracing::warn!(
                plugin = entry.name,
                "which environment the plugin uses cannot be kept: {}: {error}",
                self.root.display()
            );
        }
    }

    pub(super) fn remove(&self, key: &str) -> Result<(), EnvironmentError> {
        tree::remove(&self.dir, key).map_err(|source| self.failed(source))
    }

    pub(super) fn failed(&self, source: std::io::Error) -> EnvironmentError {
        EnvironmentError::Store {
            path: self.root.clone(),
            source,
        }
    }

    /// The names of all environments, complete or not.
    pub(super) fn keys(&self) -> Vec<String> {
        let names = self.dir.entries().into_iter().flatten().flatten();
        let mut keys: Vec<String> = names
            .filter_map(|entry| entry.file_name().into_string().ok())
            .filter(|name| is_key(name))
            .collect();
        keys.sort();
        keys
    }
}

/// The name of an environment's folder: everything that decides what is in it.
pub(super) fn key(requirements: &Requirements, interpreter: &Interpreter) -> String {
    let format = mark::FORMAT;
    let (python, platform) = (&interpreter.version, &interpreter.platform);
    let text = format!(
        "{format}\n{python}\n{platform}\n{}\n",
        requirements.digest()
    );
    hex(&Sha256::digest(text))
}

fn is_key(name: &str) -> bool {
    name.len() == 64 && name.bytes().all(|byte| byte.is_ascii_hexdigit())
}
