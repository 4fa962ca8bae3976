//! What is in a store, and what can go.

use std::collections::HashSet;
use std::ffi::OsStr;
use std::path::PathBuf;
use std::time::Duration;

use super::error::EnvironmentError;
use super::lock::{KeyLock, RemoveLock};
use super::mark::Mark;
use super::record::{Record, now};
use super::store::EnvironmentStore;
use super::tree;
use crate::interpreter::Interpreter;

/// An environment of a store, complete or not.
#[derive(Debug, Clone, PartialEq, Eq)]
#[non_exhaustive]
pub struct StoredEnvironment {
    /// The name of its folder, which follows from all that decides what is in it.
    pub key: String,
    /// Its folder.
    pub path: PathBuf,
    /// The version of the Python it was made for; none for one that is not complete.
    pub python: Option<String>,
    /// Implementation and platform it was made for.
    pub platform: Option<String>,
    /// What was installed, as the installer was told.
    pub requirements: Vec<String>,
    /// What its files hold, in bytes.
    pub size_bytes: u64,
    /// The entries that used it last.
    pub used_by: Vec<EnvironmentUse>,
    /// `Valid`, `PythonChanged` if its interpreter is another by now, `Unreadable` for one that cannot be
    /// used, such as what an interrupted build left, `Missing` for one that is being built.
    pub verdict: &'static str,
    /// Whether it is being built, or a plugin that is loaded uses it.
    pub in_use: bool,
}

/// An entry that uses an environment.
#[derive(Debug, Clone, PartialEq, Eq)]
#[non_exhaustive]
pub struct EnvironmentUse {
    /// Its name.
    pub plugin: String,
    /// Its class.
    pub class: String,
    /// The folder of its configuration.
    pub base_dir: String,
    /// When it was last loaded, in seconds since 1970.
    pub used_at: u64,
}

/// What may go.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct GcOptions {
    /// Also those that an entry used last, if that was longer ago than this.
    pub older_than: Option<Duration>,
    /// Removes nothing, and says what would go.
    pub dry_run: bool,
}

/// What went.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
#[non_exhaustive]
pub struct GcReport {
    /// What was removed, or would be.
    pub removed: Vec<RemovedEnvironment>,
    /// Those that may go and are being built or in use.
    pub in_use: Vec<String>,
    /// How many are still needed.
    pub kept: usize,
}

impl GcReport {
    /// What all that went held, in bytes.
    #[must_use]
    pub fn freed_bytes(&self) -> u64 {
        self.removed.iter().map(|removed| removed.size_bytes).sum()
    }
}

/// One that went, or would.
#[derive(Debug, Clone, PartialEq, Eq)]
#[non_exhaustive]
pub struct RemovedEnvironment {
    /// The name of its folder.
    pub key: String,
    /// What its files held, in bytes.
    pub size_bytes: u64,
    /// Why it is not needed.
    pub why: &'static str,
}

impl EnvironmentStore {
    /// Every environment, in the order of their keys.
    ///
    /// # Errors
    ///
    /// If the store cannot be read.
    pub async fn list(
        &self,
        search_path: &OsStr,
    ) -> Result<Vec<StoredEnvironment>, EnvironmentError> {
        let records = Record::all(&self.dir);
        let mut found = Vec::new();
        for key in self.keys() {
            let used_by = records.iter().filter(|(_, record)| record.key == key);
            let used_by = used_by.map(|(_, record)| EnvironmentUse {
                plugin: record.plugin.clone(),
                class: record.class.clone(),
                base_dir: record.base_dir.clone(),
                used_at: record.used_at,
            });
            let building = self.is_being_built(&key)?;
            let mark = Mark::read(&self.dir, &key).filter(|_| !building);
            let path = self.root.join(&key);
            let verdict = match &mark {
                _ if building => "Missing",
                None => "Unreadable",
                Some(mark) => {
                    let found = Interpreter::probe(&path.join("bin/python"), search_path).await;
                    match found {
                        Ok(found)
                            if (&found.version, &found.platform)
                                == (&mark.python, &mark.platform) =>
                        {
                            "Valid"
                        }
                        Ok(_) => "PythonChanged",
                        Err(_) => "Unreadable",
                    }
                }
            };
            let in_use = building || self.is_in_use(&key)?;
            let (python, platform, requirements) = match mark {
                Some(mark) => (Some(mark.python), Some(mark.platform), mark.requirements),
                None => (None, None, Vec::new()),
            };
            found.push(StoredEnvironment {
                // One that is being built changes while it is looked at.
                size_bytes: self.size(&key),
                used_by: used_by.collect(),
                key,
                path,
                python,
                platform,
                requirements,
                verdict,
                in_use,
            });
        }
        Ok(found)
    }

    /// Removes what no entry used last, what was not used for long if that is asked for, and what builds
    /// left unfinished. What is being built or in use stays.
    ///
    /// # Errors
    ///
    /// If the store cannot be read, or something in it cannot be removed.
    pub fn gc(&self, options: &GcOptions) -> Result<GcReport, EnvironmentError> {
        let mut report = GcReport::default();
        let records = Record::all(&self.dir);
        let oldest = options
            .older_than
            .map(|age| now().saturating_sub(age.as_secs()));
        let is_recent =
            |record: &&(String, Record)| oldest.is_none_or(|oldest| record.1.used_at >= oldest);
        let recent: HashSet<&str> = records
            .iter()
            .filter(is_recent)
            .map(|(_, record)| record.key.as_str())
            .collect();
        for key in self.keys() {
            let why = if Mark::read(&self.dir, &key).is_none() {
                "its build did not end"
            } else if recent.contains(key.as_str()) {
                report.kept += 1;
                continue;
            } else if records.iter().any(|(_, record)| record.key == key) {
                "it was not used for longer"
            } else {
                "no entry used it last"
            };
            match self.remove_unused(&key, options.dry_run)? {
                Some(size_bytes) => report.removed.push(RemovedEnvironment {
                    key,
                    size_bytes,
                    why,
                }),
                None => report.in_use.push(key),
            }
        }
        if !options.dry_run {
            self.forget(&records, &report);
        }
        Ok(report)
    }

    /// The size of what was removed; none if it is being built or in use.
    fn remove_unused(&self, key: &str, dry_run: bool) -> Result<Option<u64>, EnvironmentError> {
        let failed = |source| self.failed(source);
        let Some(_building) = KeyLock::try_take(&self.dir, key).map_err(failed)? else {
            return Ok(None);
        };
        let Some(_used) = RemoveLock::try_take(&self.dir, key).map_err(failed)? else {
            return Ok(None);
        };
        let size_bytes = self.size(key);
        if !dry_run {
            self.remove(key)?;
        }
        Ok(Some(size_bytes))
    }

    /// Records of what has gone say nothing any more.
    fn forget(&self, records: &[(String, Record)], report: &GcReport) {
        for (name, record) in records {
            let gone = report
                .removed
                .iter()
                .any(|removed| removed.key == record.key);
            // Loaded again meanwhile, the entry has written a new one of another environment.
            let same = || {
                Record::all(&self.dir)
                    .iter()
                    .any(|(other, now)| other == name && now.key == record.key)
            };
            if gone
                && same()
                && let Err(error) = Record::remove(&self.dir, name)
            {
                tracing::warn!(
                    plugin = record.plugin,
                    "a record of use cannot be removed: {error}"
                );
            }
        }
    }

    fn size(&self, key: &str) -> u64 {
        let dir = self.dir.open_dir(key);
        dir.and_then(|dir| tree::size(&dir)).unwrap_or_default()
    }

    fn is_being_built(&self, key: &str) -> Result<bool, EnvironmentError> {
        // Without a lock there is nobody to ask, and the question alone is not to leave one.
        if self.dir.symlink_metadata(format!("{key}.lock")).is_err() {
            return Ok(false);
        }
        let free = KeyLock::try_take(&self.dir, key).map_err(|source| self.failed(source))?;
        Ok(free.is_none())
    }

    fn is_in_use(&self, key: &str) -> Result<bool, EnvironmentError> {
        let free = RemoveLock::try_take(&self.dir, key).map_err(|source| self.failed(source))?;
        Ok(free.is_none())
    }
}
