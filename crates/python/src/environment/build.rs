//! Builds: under the lock of the environment's key, complete or not at all.

use std::ffi::OsStr;
use std::time::Instant;

use cap_std::fs::Dir;

use super::contents::Contents;
use super::error::EnvironmentError;
use super::installer::{InstallOptions, Installer};
use super::lock::KeyLock;
use super::mark::Mark;
use super::store::{EnvironmentStore, Found, Held, key};
use super::{Environment, EnvironmentEvent, EnvironmentOrigin, Progress, tree};
use crate::interpreter::Interpreter;
use crate::requirements::Requirements;

/// What a build needs besides the requirements.
pub(crate) struct Build<'a> {
    pub(crate) plugin: &'a str,
    pub(crate) requirements: &'a Requirements,
    pub(crate) installer: &'a Installer,
    pub(crate) search_path: &'a OsStr,
    pub(crate) offline: bool,
    pub(crate) progress: Option<&'a Progress>,
}

impl Build<'_> {
    fn tell(&self, event: EnvironmentEvent) {
        if let Some(progress) = self.progress {
            progress(event);
        }
    }
}

impl EnvironmentStore {
    /// Builds the environment, unless somebody else has by the time the lock is ours; gives whether it has
    /// built it.
    pub(crate) async fn build(
        &self,
        build: &Build<'_>,
        interpreter: &Interpreter,
    ) -> Result<(Held, bool), EnvironmentError> {
        let key = key(build.requirements, interpreter);
        // Held by the builder and by users, so that what is built is not removed before it is used.
        let used = self.use_lock(&key).await;
        let lock = KeyLock::take(&self.dir, &key)
            .await
            .map_err(|source| self.failed(source))?;
        if let Found::Valid(environment, mark) = self.look(&key, build.search_path).await {
            build.tell(EnvironmentEvent::Reused {
                plugin: build.plugin.to_owned(),
            });
            let held = Held {
                environment,
                platform: mark.platform,
                lock: used,
            };
            return Ok((held, false));
        }
        let environment = self.build_anew(build, &key, interpreter).await?;
        drop(lock);
        let held = Held {
            environment,
            platform: interpreter.platform.clone(),
            lock: used,
        };
        Ok((held, true))
    }

    /// Builds an environment anew that has lost files since it was complete; none if it has lost none, or
    /// somebody else has built it anew by now.
    pub(crate) async fn repair(
        &self,
        build: &Build<'_>,
        interpreter: &Interpreter,
    ) -> Result<Option<Environment>, EnvironmentError> {
        let key = key(build.requirements, interpreter);
        let lock = KeyLock::take(&self.dir, &key)
            .await
            .map_err(|source| self.failed(source))?;
        if let Found::Valid(environment, mark) = self.look(&key, build.search_path).await {
            let missing = Contents::missing(&environment, &mark, build.search_path).await;
            // A script that cannot say what is missing is itself a sign of it: the standard library is
            // the base's.
            let missing = missing.unwrap_or_else(|error| vec![error.to_string()]);
            if missing.is_empty() {
                return Ok(None);
            }
            tracing::warn!(
                plugin = build.plugin, path = %environment.path.display(), gone = missing.join(", "),
                "the environment has lost files and is built anew"
            );
        }
        let environment = self.build_anew(build, &key, interpreter).await?;
        drop(lock);
        Ok(Some(environment))
    }

    /// With the lock held.
    async fn build_anew(
        &self,
        build: &Build<'_>,
        key: &str,
        interpreter: &Interpreter,
    ) -> Result<Environment, EnvironmentError> {
        let started = Instant::now();
        build.tell(EnvironmentEvent::Building {
            plugin: build.plugin.to_owned(),
            requirements: build.requirements.arguments(),
        });
        self.remove(key)?;
        let built = self.build_locked(build, key, interpreter).await;
        match &built {
            Ok(_) => build.tell(EnvironmentEvent::Built {
                plugin: build.plugin.to_owned(),
                seconds: started.elapsed().as_secs_f64(),
            }),
            Err(_) => self.remove(key)?,
        }
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
        let options = InstallOptions {
            search_path: build.search_path,
            offline: build.offline,
        };
        tool.install(&path, interpreter, build.requirements, &options)
            .await?;
        let environment = Environment {
            path,
            python: interpreter.version.clone(),
            origin: EnvironmentOrigin::Store,
        };
        let found = Interpreter::probe(&environment.executable(), build.search_path).await?;
        let contents = Contents::of(&environment, build.search_path).await?;
        let mark = Mark::new(key, build.requirements, &found, contents.packages);
        let (store, name) = (
            self.dir.try_clone().map_err(|error| self.failed(error))?,
            key.to_owned(),
        );
        // Thousands of files, and a wait for the disk.
        let finished = tokio::task::spawn_blocking(move || finish(&store, &name, &mark));
        finished
            .await
            .map_err(std::io::Error::other)
            .flatten()
            .map_err(|source| self.failed(source))?;
        Ok(environment)
    }
}

/// Everything is on the disk and read-only before the mark says so; the folder itself last, since the mark
/// is written into it.
fn finish(store: &Dir, key: &str, mark: &Mark) -> std::io::Result<()> {
    let dir = store.open_dir(key)?;
    tree::make_read_only(&dir)?;
    tree::sync(&dir)?;
    mark.write(store, key)?;
    tree::make_one_read_only(store, key)
}
