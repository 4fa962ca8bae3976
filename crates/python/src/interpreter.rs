//! [`Interpreter`]: a Python that can run, and what it says about itself.

use std::ffi::OsStr;
use std::io;
use std::path::{Path, PathBuf};
use std::process::Stdio;
use std::time::Duration;

use serde::Deserialize;
use tokio::process::Command;

use crate::limits::PROBE_TIMEOUT_SECONDS;

/// The oldest Python the framework runs on.
const OLDEST: (u32, u32) = (3, 11);

/// Asks for the real executable too: the one on PATH may be a version switcher's script.
const PROBE: &str = "import json, sys, sysconfig
print(json.dumps({'executable': getattr(sys, '_base_executable', None) or sys.executable,
 'version': sys.version.split()[0], 'implementation': sys.implementation.cache_tag or sys.implementation.name,
 'platform': sysconfig.get_platform(), 'pair': list(sys.version_info[:2])}))";

/// A Python interpreter that has run.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Interpreter {
    /// The executable itself, never a virtualenv's or a version switcher's.
    pub executable: PathBuf,
    /// The full version, such as `3.11.7`.
    pub version: String,
    /// Implementation and platform, such as `cpython-311 linux-x86_64`: what compiled packages fit.
    pub platform: String,
}

/// Why there is no interpreter to work with.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum InterpreterError {
    /// Nothing of that name on PATH.
    #[error("no python3 on PATH")]
    NotFound,
    /// It could not be started.
    #[error("python cannot be started: {path}")]
    Start {
        /// What was started.
        path: PathBuf,
        /// Why it did not.
        source: io::Error,
    },
    /// It ran and did not answer as a Python does.
    #[error("python does not run: {path}")]
    Broken {
        /// What was started.
        path: PathBuf,
        /// What it said.
        said: String,
    },
    /// It is older than the framework allows.
    #[error("python is too old: {version} at {path}, at least {}.{} is possible", OLDEST.0, OLDEST.1)]
    TooOld {
        /// What was started.
        path: PathBuf,
        /// What it is.
        version: String,
    },
}

impl InterpreterError {
    /// The same error once more; the system's own cannot be copied whole.
    pub(crate) fn again(&self) -> Self {
        match self {
            Self::NotFound => Self::NotFound,
            Self::Start { path, source } => Self::Start {
                path: path.clone(),
                source: io::Error::new(source.kind(), source.to_string()),
            },
            Self::Broken { path, said } => Self::Broken {
                path: path.clone(),
                said: said.clone(),
            },
            Self::TooOld { path, version } => Self::TooOld {
                path: path.clone(),
                version: version.clone(),
            },
        }
    }
}

#[derive(Deserialize)]
struct Said {
    executable: PathBuf,
    version: String,
    implementation: String,
    platform: String,
    pair: (u32, u32),
}

impl Interpreter {
    /// The interpreter asked for, or the first `python3` of `search_path`.
    pub(crate) async fn find(
        asked: Option<&Path>,
        search_path: &OsStr,
    ) -> Result<Self, InterpreterError> {
        let path = match asked {
            Some(path) => path.to_owned(),
            None => on_path("python3", search_path).ok_or(InterpreterError::NotFound)?,
        };
        Self::probe(&path, search_path).await
    }

    /// Runs it once, without site code and without a look at the environment.
    pub(crate) async fn probe(path: &Path, search_path: &OsStr) -> Result<Self, InterpreterError> {
        let output = run(path, PROBE, &[], search_path).await?;
        let broken = |said: String| InterpreterError::Broken {
            path: path.to_owned(),
            said,
        };
        let said: Said = serde_json::from_slice(&output)
            .map_err(|_| broken(String::from_utf8_lossy(&output).trim_end().to_owned()))?;
        if said.pair < OLDEST {
            return Err(InterpreterError::TooOld {
                path: path.to_owned(),
                version: said.version,
            });
        }
        Ok(Self {
            executable: said.executable,
            version: said.version,
            platform: format!("{} {}", said.implementation, said.platform),
        })
    }
}

/// What the interpreter at `path` prints when it runs `script`, without site code and without a look at the
/// environment: nothing that is installed runs.
pub(crate) async fn run(
    path: &Path,
    script: &str,
    arguments: &[&OsStr],
    search_path: &OsStr,
) -> Result<Vec<u8>, InterpreterError> {
    let mut command = Command::new(path);
    command
        .args(["-I", "-S", "-B", "-c", script])
        .args(arguments);
    command.env("PATH", search_path);
    command.stdin(Stdio::null()).kill_on_drop(true);
    let broken = |said: String| InterpreterError::Broken {
        path: path.to_owned(),
        said,
    };
    let limit = Duration::from_secs(PROBE_TIMEOUT_SECONDS);
    let output = match tokio::time::timeout(limit, command.output()).await {
        Ok(output) => output.map_err(|source| InterpreterError::Start {
            path: path.to_owned(),
            source,
        })?,
        Err(_) => {
            return Err(broken(format!(
                "no answer within {PROBE_TIMEOUT_SECONDS} s"
            )));
        }
    };
    if !output.status.success() {
        let said = String::from_utf8_lossy(&output.stderr);
        return Err(broken(said.trim_end().to_owned()));
    }
    Ok(output.stdout)
}

/// The first executable file of that name.
pub(crate) fn on_path(name: &str, search_path: &OsStr) -> Option<PathBuf> {
    use std::os::unix::fs::PermissionsExt as _;
    let runs = |path: &PathBuf| {
        std::fs::metadata(path)
            .is_ok_and(|found| found.is_file() && found.permissions().mode() & 0o111 != 0)
    };
    std::env::split_paths(search_path)
        .filter(|folder| folder.is_absolute())
        .map(|folder| folder.join(name))
        .find(runs)
}
