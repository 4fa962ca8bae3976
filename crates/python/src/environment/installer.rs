//! Installers: uv where there is one, else the interpreter's own venv and pip.

use std::collections::VecDeque;
use std::ffi::OsStr;
use std::path::{Path, PathBuf};
use std::process::Stdio;
use std::sync::{Arc, Mutex, PoisonError};
use std::time::Duration;

use tokio::io::{AsyncBufReadExt as _, AsyncRead, BufReader};
use tokio::process::Command;

use super::error::EnvironmentError;
use crate::interpreter::{Interpreter, on_path};
use crate::limits::{INSTALL_TIMEOUT_SECONDS, LOG_TAIL_LINES};
use crate::requirements::Requirements;
use crate::worker::ProcessGroup;

/// What builds environments.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub enum Installer {
    /// `$HOOKGATE_UV` if it is set, else `uv` on PATH, else pip.
    #[default]
    Auto,
    /// This uv.
    Uv(PathBuf),
    /// `python3 -m venv` and the pip inside.
    Pip,
}

/// An installer that was found.
pub(super) enum Tool {
    Uv(PathBuf),
    Pip,
}

impl Installer {
    pub(super) fn resolve(&self, search_path: &OsStr) -> Tool {
        match self {
            Self::Uv(path) => Tool::Uv(path.clone()),
            Self::Pip => Tool::Pip,
            Self::Auto => {
                let named = std::env::var_os("HOOKGATE_UV")
                    .filter(|value| !value.is_empty())
                    .map(PathBuf::from);
                named
                    .or_else(|| on_path("uv", search_path))
                    .map_or(Tool::Pip, Tool::Uv)
            }
        }
    }
}

impl Tool {
    /// Makes a virtualenv at `path` and installs into it. Installers see the operator's environment,
    /// where the settings of indexes and proxies are.
    pub(super) async fn install(
        &self,
        path: &Path,
        interpreter: &Interpreter,
        requirements: &Requirements,
        options: &InstallOptions<'_>,
    ) -> Result<(), EnvironmentError> {
        let python = path.join("bin/python");
        let (make, mut install) = match self {
            Self::Uv(uv) => {
                let settings = UvSettings::find();
                let mut make = Command::new(uv);
                make.args(["venv", "--no-project", "--no-python-downloads"]);
                let mut install = Command::new(uv);
                // Copies, not links into uv's cache: a plugin that writes to its packages harms itself only.
                install.args([
                    "pip",
                    "install",
                    "--compile-bytecode",
                    "--link-mode",
                    "copy",
                ]);
                for command in [&mut make, &mut install] {
                    settings.apply(command);
                    if options.offline {
                        command.arg("--offline");
                    }
                    command.arg("--python");
                }
                make.arg(&interpreter.executable).arg(path);
                install.arg(&python);
                (make, install)
            }
            Self::Pip => {
                // Isolated: a folder with a `pip.py` or `venv.py` in it is not asked.
                let mut make = Command::new(&interpreter.executable);
                make.args(["-I", "-m", "venv"]).arg(path);
                let mut install = Command::new(&python);
                install.args(["-I", "-m", "pip", "install", "--compile"]);
                install.args(["--disable-pip-version-check", "--no-input"]);
                for elsewhere in PIP_ELSEWHERE {
                    install.env_remove(elsewhere);
                }
                if options.offline {
                    install.arg("--no-index");
                }
                (make, install)
            }
        };
        if !requirements.allow_build() {
            install.args(["--only-binary", ":all:"]);
        }
        if requirements.hashed() {
            install.arg("--require-hashes");
        }
        install.args(requirements.arguments());
        let name = match self {
            Self::Uv(_) => ("uv venv", "uv pip install"),
            Self::Pip => ("python3 -m venv", "pip install"),
        };
        run(name.0, make, requirements.folder(), options.search_path).await?;
        run(name.1, install, requirements.folder(), options.search_path).await
    }
}

/// How installers run.
pub(super) struct InstallOptions<'a> {
    pub(super) search_path: &'a OsStr,
    /// Whether nothing is fetched.
    pub(super) offline: bool,
}

/// Settings of pip that would put packages somewhere else.
const PIP_ELSEWHERE: [&str; 5] = [
    "PIP_TARGET",
    "PIP_PREFIX",
    "PIP_ROOT",
    "PIP_USER",
    "PIP_DRY_RUN",
];

/// Which settings uv reads: those of the user or the machine. It would also look in the folder it runs in
/// and those above it, where a plugin's files are, and those could allow builds.
enum UvSettings {
    File(PathBuf),
    None,
    /// The operator has named a file, or wants none.
    Named,
}

impl UvSettings {
    fn find() -> Self {
        let variable = |name: &str| std::env::var_os(name).filter(|value| !value.is_empty());
        if variable("UV_CONFIG_FILE").is_some() || variable("UV_NO_CONFIG").is_some() {
            return Self::Named;
        }
        let user = variable("XDG_CONFIG_HOME")
            .map(PathBuf::from)
            .or_else(|| variable("HOME").map(|home| Path::new(&home).join(".config")));
        let user = user.map(|folder| folder.join("uv/uv.toml"));
        let machine = Some(PathBuf::from("/etc/uv/uv.toml"));
        let found = [user, machine]
            .into_iter()
            .flatten()
            .find(|file| file.is_file());
        found.map_or(Self::None, Self::File)
    }

    fn apply(&self, command: &mut Command) {
        match self {
            Self::File(file) => command.arg("--config-file").arg(file),
            Self::None => command.arg("--no-config"),
            Self::Named => command,
        };
    }
}

async fn run(
    tool: &str,
    mut command: Command,
    folder: &Path,
    search_path: &OsStr,
) -> Result<(), EnvironmentError> {
    command
        .env("PATH", search_path)
        .stdin(Stdio::null())
        .stdout(Stdio::piped())
        .stderr(Stdio::piped());
    command.process_group(0).kill_on_drop(true);
    if !folder.as_os_str().is_empty() {
        command.current_dir(folder);
    }
    let started = command.spawn().map_err(|source| EnvironmentError::Start {
        tool: tool.to_owned(),
        source,
    });
    let mut child = started?;
    // Ends the tool and what it started, also when this future is dropped in the middle.
    let group = ProcessGroup::of(&child);
    let tail = Arc::new(Tail::default());
    let output = futures::future::join(
        tail.read(child.stdout.take()),
        tail.read(child.stderr.take()),
    );
    let ended = async {
        let (status, _) = futures::future::join(child.wait(), output).await;
        status
    };
    let limit = Duration::from_secs(INSTALL_TIMEOUT_SECONDS);
    match tokio::time::timeout(limit, ended).await {
        Ok(Ok(status)) => {
            group.reaped();
            let said = tail.text();
            if status.success() {
                return Ok(());
            }
            Err(EnvironmentError::Install {
                tool: tool.to_owned(),
                status: status.to_string(),
                said,
            })
        }
        Ok(Err(source)) => Err(EnvironmentError::Start {
            tool: tool.to_owned(),
            source,
        }),
        Err(_) => {
            group.kill();
            Err(EnvironmentError::TimedOut {
                tool: tool.to_owned(),
                seconds: INSTALL_TIMEOUT_SECONDS,
                said: tail.text(),
            })
        }
    }
}

/// The last lines of a tool, both its outputs in the order they came.
#[derive(Default)]
struct Tail(Mutex<VecDeque<String>>);

impl Tail {
    async fn read(&self, output: Option<impl AsyncRead + Unpin>) {
        let Some(output) = output else { return };
        let mut lines = BufReader::new(output);
        let mut line = Vec::new();
        while matches!(lines.read_until(b'\n', &mut line).await, Ok(read) if read > 0) {
            let text = String::from_utf8_lossy(&line).trim_end().to_owned();
            tracing::debug!(target: "hookgate::installer", "{text}");
            let mut kept = self.0.lock().unwrap_or_else(PoisonError::into_inner);
            if kept.len() == LOG_TAIL_LINES {
                kept.pop_front();
            }
            kept.push_back(text);
            line.clear();
        }
    }

    fn text(&self) -> String {
        let kept = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        kept.iter().cloned().collect::<Vec<_>>().join("\n")
    }
}
