//! A folder with a store, wheels to install, and a host that tells what it does.

use std::ffi::OsString;
use std::os::unix::fs::PermissionsExt;
use std::path::{Path, PathBuf};
use std::process::Command;
use std::sync::{Arc, Mutex};

use hookgate_core::LoadError;
use hookgate_core::config::{PluginKind, PluginSpec};
use hookgate_python::{
    Environment, EnvironmentEvent, EnvironmentStore, EnvironmentVerdict, Installer, Prepared,
    PythonHost, PythonHostOptions,
};
use tempfile::TempDir;

pub const MARK: &str = "hookgate-environment.json";
pub const WHEEL: &str = "./cpex-0.1.4-py3-none-any.whl";

pub struct Rig {
    pub folder: TempDir,
    pub options: PythonHostOptions,
    events: Arc<Mutex<Vec<String>>>,
}

impl Rig {
    pub fn new() -> Self {
        let folder = tempfile::tempdir().expect("a folder");
        make_wheel(folder.path(), &[""]);
        let mut options = PythonHostOptions::new(folder.path().join("store"));
        let events: Arc<Mutex<Vec<String>>> = Arc::default();
        let told = Arc::clone(&events);
        options.progress = Some(Arc::new(move |event| {
            let word = match event {
                EnvironmentEvent::Building {
                    plugin,
                    requirements,
                } => format!("building {plugin} {}", requirements.len()),
                EnvironmentEvent::Built { plugin, seconds } => {
                    format!("built {plugin} {}", seconds > 0.0)
                }
                EnvironmentEvent::Reused { plugin } => format!("reused {plugin}"),
                other => format!("{other:?}"),
            };
            told.lock().expect("the events").push(word);
        }));
        Self {
            folder,
            options,
            events,
        }
    }

    pub fn path(&self) -> &Path {
        self.folder.path()
    }

    pub fn write(&self, name: &str, text: &str) -> PathBuf {
        let path = self.path().join(name);
        std::fs::create_dir_all(path.parent().expect("a folder")).expect("its folder");
        std::fs::write(&path, text).expect("a file");
        path
    }

    /// An executable script.
    pub fn script(&self, name: &str, text: &str) -> PathBuf {
        let path = self.write(name, &format!("#!/bin/sh\n{text}"));
        std::fs::set_permissions(&path, PermissionsExt::from_mode(0o700)).expect("executable");
        path
    }

    pub fn host(&self) -> PythonHost {
        PythonHost::new(self.options.clone())
    }

    /// A host on a machine where neither Python nor an installer is to be found.
    pub fn bare_host(&self) -> PythonHost {
        let mut options = self.options.clone();
        options.search_path = OsString::new();
        options.installer = Installer::Uv("/nowhere/uv".into());
        PythonHost::new(options)
    }

    pub fn spec(&self, name: &str) -> PluginSpec {
        self.spec_of(name, &[WHEEL, "cpex"])
    }

    pub fn spec_of(&self, name: &str, requirements: &[&str]) -> PluginSpec {
        let kind = PluginKind::Python {
            class: "a.B".into(),
            requirements: requirements.iter().map(|line| (*line).to_owned()).collect(),
            requirements_file: None,
            import_paths: Vec::new(),
            workdir: None,
        };
        let mut spec = PluginSpec::new(name, kind);
        spec.base_dir = self.path().to_owned();
        spec
    }

    /// An entry that names a requirements file of the folder.
    pub fn spec_with_file(&self, name: &str, file: &str) -> PluginSpec {
        let mut spec = self.spec_of(name, &[]);
        if let PluginKind::Python {
            requirements_file, ..
        } = &mut spec.kind
        {
            *requirements_file = Some(file.into());
        }
        spec
    }

    pub async fn judge(&self, spec: &PluginSpec) -> EnvironmentVerdict {
        self.host().judge(spec).await.expect("a verdict")
    }

    pub async fn prepared(&self, spec: &PluginSpec) -> Prepared {
        self.host().prepare(spec).await.expect("an environment")
    }

    pub async fn prepare(&self) -> Environment {
        self.prepared(&self.spec("p")).await.environment
    }

    pub async fn refused(&self, spec: &PluginSpec) -> LoadError {
        self.host().prepare(spec).await.expect_err("it is refused")
    }

    pub fn events(&self) -> Vec<String> {
        std::mem::take(&mut self.events.lock().expect("the events"))
    }

    /// The environments in the store, complete or not; beside them are only its own records and locks of use.
    pub fn stored(&self) -> Vec<PathBuf> {
        let entries = std::fs::read_dir(&self.options.store).expect("the store");
        let paths = entries.map(|entry| entry.expect("an entry").path());
        let own = ["entries", "use"].map(|name| self.options.store.join(name));
        paths.filter(|path| !own.contains(path)).collect()
    }

    pub fn store(&self) -> EnvironmentStore {
        EnvironmentStore::open(&self.options.store).expect("the store")
    }
}

impl Drop for Rig {
    /// What is complete is read-only, and the folder is to go.
    fn drop(&mut self) {
        allow_writing(self.folder.path());
    }
}

/// Undoes what keeps an environment from being changed.
pub fn allow_writing(path: &Path) {
    let status = Command::new("chmod").args(["-R", "u+w"]).arg(path).status();
    assert!(status.expect("chmod runs").success());
}

/// A wheel with a body; then its name, version and entry points, if they are to be other than cpex 0.1.4.
pub fn make_wheel(folder: &Path, about: &[&str]) {
    let script = concat!(env!("CARGO_MANIFEST_DIR"), "/tests/support/make_wheel.py");
    let status = Command::new("python3")
        .arg(script)
        .arg(folder)
        .args(about)
        .status();
    assert!(status.expect("python3 runs").success());
}

/// A virtualenv made without us, with wheels in it as an installer puts them there.
pub fn make_venv(path: &Path, wheels: &[PathBuf]) {
    let run = |command: &mut Command| assert!(command.status().expect("python3 runs").success());
    run(Command::new("python3")
        .args(["-m", "venv", "--without-pip"])
        .arg(path));
    for wheel in wheels {
        run(Command::new("python3")
            .args(["-m", "zipfile", "-e"])
            .arg(wheel)
            .arg(packages(path)));
    }
}

/// Where the packages of a virtualenv are.
pub fn packages(path: &Path) -> PathBuf {
    let versions = std::fs::read_dir(path.join("lib")).expect("a virtualenv");
    let version = versions.map(|entry| entry.expect("an entry").path()).next();
    version.expect("one Python").join("site-packages")
}

pub fn python_version(path: &Path) -> String {
    let said = Command::new(path.join("bin/python"))
        .args([
            "-I",
            "-c",
            "import platform; print(platform.python_version())",
        ])
        .output();
    let said = String::from_utf8(said.expect("it runs").stdout).expect("text");
    said.trim().to_owned()
}

pub fn imports_cpex(environment: &Environment) -> bool {
    Command::new(environment.executable())
        .args(["-I", "-c", "import cpex"])
        .status()
        .expect("it runs")
        .success()
}
