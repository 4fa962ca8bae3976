//! [`Contents`]: what is installed in an environment.

use std::collections::BTreeMap;
use std::ffi::OsStr;
use std::path::Path;

use serde::Deserialize;

use super::Environment;
use super::mark::Mark;
use crate::interpreter::{self, InterpreterError};

const SCRIPT: &str = include_str!("inspect.py");

/// What is installed in an environment.
#[derive(Debug, Deserialize)]
pub(crate) struct Contents {
    /// Canonical names and versions.
    pub(crate) packages: BTreeMap<String, String>,
    /// Entry points of plugins: their names, and what each leads to, as `module:Class`.
    pub(crate) plugins: BTreeMap<String, Vec<String>>,
    /// Files that are not there any more, the first of them.
    gone: Vec<String>,
    /// The variables of markers.
    pub(crate) markers: BTreeMap<String, String>,
}

impl Contents {
    /// Looks at the names of what is installed; nothing of it runs.
    pub(crate) async fn of(
        environment: &Environment,
        search_path: &OsStr,
    ) -> Result<Self, InterpreterError> {
        Self::seen_by(&environment.executable(), environment, search_path).await
    }

    /// The same, by another interpreter of the same version.
    pub(super) async fn seen_by(
        interpreter: &Path,
        environment: &Environment,
        search_path: &OsStr,
    ) -> Result<Self, InterpreterError> {
        Self::inspect(interpreter, environment, "names", search_path).await
    }

    /// What is missing of an environment that was complete, the first of it; empty if nothing is.
    pub(super) async fn missing(
        environment: &Environment,
        mark: &Mark,
        search_path: &OsStr,
    ) -> Result<Vec<String>, InterpreterError> {
        let found =
            Self::inspect(&environment.executable(), environment, "files", search_path).await?;
        let packages = mark.packages.iter();
        let lost = packages.filter(|(name, version)| found.packages.get(*name) != Some(version));
        let mut missing: Vec<String> = lost
            .map(|(name, version)| format!("{name}=={version}"))
            .collect();
        missing.extend(found.gone);
        Ok(missing)
    }

    async fn inspect(
        path: &Path,
        environment: &Environment,
        what: &str,
        search_path: &OsStr,
    ) -> Result<Self, InterpreterError> {
        let arguments = [environment.path.as_os_str(), OsStr::new(what)];
        let said = interpreter::run(path, SCRIPT, &arguments, search_path).await?;
        serde_json::from_slice(&said).map_err(|_| InterpreterError::Broken {
            path: path.to_owned(),
            said: String::from_utf8_lossy(&said).trim_end().to_owned(),
        })
    }
}
