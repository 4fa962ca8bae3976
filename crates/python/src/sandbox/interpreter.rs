//! [`InterpreterPlaces`]: where an interpreter really lies, as it says itself.
//!
//! The `python` of an environment is a link, the `python3` on PATH often a version switcher's script, and
//! the interpreter behind them may lie in the user's home. Its own folders are shown to the worker; the
//! home around them never is.

use std::ffi::OsStr;
use std::fs::File;
use std::io::{self, Read as _, Seek as _, SeekFrom};
use std::os::unix::ffi::OsStrExt as _;
use std::path::{Path, PathBuf};
use std::process::Stdio;
use std::time::Duration;

use serde::Deserialize;
use tokio::process::Command;

use super::files::holds_home;
use crate::limits::PROBE_TIMEOUT_SECONDS;

/// Without site code: nothing of the environment runs. What is granted is the base, not the environment.
const PROBE: &str = "import json, os, sys, sysconfig
base = {'base': sys.base_prefix, 'platbase': sys.base_exec_prefix,
 'installed_base': sys.base_prefix, 'installed_platbase': sys.base_exec_prefix}
paths = sysconfig.get_paths(vars=base)
asked = sysconfig.get_config_var
library = [os.path.join(asked('LIBDIR') or '', name) for name in (asked('LDLIBRARY'), asked('INSTSONAME')) if name]
print(json.dumps({'executable': os.path.realpath(getattr(sys, '_base_executable', None) or sys.executable),
 'prefixes': [sys.base_prefix, sys.base_exec_prefix], 'libraries': library,
 'modules': [paths[name] for name in ('stdlib', 'platstdlib', 'purelib', 'platlib')]}))";

/// Prefixes that hold much besides an interpreter: of them only what is the interpreter's own is granted.
const SHARED_PREFIXES: [&str; 3] = ["/usr", "/usr/local", "/opt"];
/// Stores in which each package lies in a folder of its own, libraries of the interpreter too. All of
/// such a store is public by design.
const PACKAGE_STORES: [&str; 2] = ["/nix/store", "/gnu/store"];
/// What a program may name as its loader, in bytes: a path.
const LOADER_BYTES: u64 = 4096;

/// The places an interpreter needs.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub(super) struct InterpreterPlaces {
    /// Folders and files it reads.
    pub(super) folders: Vec<PathBuf>,
    /// The program itself, and the loader the kernel starts with it.
    pub(super) programs: Vec<PathBuf>,
}

#[derive(Deserialize)]
struct Said {
    executable: PathBuf,
    prefixes: Vec<PathBuf>,
    libraries: Vec<PathBuf>,
    modules: Vec<PathBuf>,
}

impl InterpreterPlaces {
    /// Asks the interpreter at `executable`, with the variables it will run with. What a link leads to is run,
    /// not the link: beside that lies the `pyvenv.cfg` of the environment, which may come with the plugin and
    /// name a standard library of its own, and nothing is confined yet.
    pub(super) async fn ask(executable: &Path) -> io::Result<Self> {
        let mut command = Command::new(executable.canonicalize()?);
        command.args(["-I", "-S", "-B", "-c", PROBE]);
        command.env_clear().env("LC_ALL", "C.UTF-8");
        command.stdin(Stdio::null()).kill_on_drop(true);
        let limit = Duration::from_secs(PROBE_TIMEOUT_SECONDS);
        let output = tokio::time::timeout(limit, command.output())
            .await
            .map_err(|_| io::Error::from(io::ErrorKind::TimedOut))??;
        let said: Said = serde_json::from_slice(&output.stdout).map_err(|_| {
            let said = String::from_utf8_lossy(&output.stderr);
            io::Error::other(format!(
                "it does not say where it lies: {}",
                said.trim_end()
            ))
        })?;
        Ok(Self::of(executable, &said))
    }

    fn of(executable: &Path, said: &Said) -> Self {
        let mut places = Self::default();
        for prefix in &said.prefixes {
            let shared = SHARED_PREFIXES
                .iter()
                .any(|shared| prefix == Path::new(shared));
            if !shared && !holds_home(prefix) {
                places.folder(prefix);
            }
        }
        for path in said.modules.iter().chain(&said.libraries) {
            if path.is_absolute() && !holds_home(path) {
                places.folder(path);
            }
        }
        let real = |path: &Path| path.canonicalize().unwrap_or_else(|_| path.to_owned());
        if let Some(environment) = environment_of(executable) {
            if holds_home(environment) {
                for part in ["bin", "lib", "lib64", "pyvenv.cfg"] {
                    places.folder(&environment.join(part));
                }
            } else {
                places.folder(environment);
            }
        }
        for program in [real(executable), real(&said.executable)] {
            for store in PACKAGE_STORES.map(Path::new) {
                if program.starts_with(store) {
                    places.folder(store);
                }
            }
            places.program(loader(&program));
            places.program(Some(program));
        }
        places
    }

    fn folder(&mut self, path: &Path) {
        if !self.folders.iter().any(|known| path.starts_with(known)) {
            self.folders.push(path.to_owned());
        }
    }

    fn program(&mut self, path: Option<PathBuf>) {
        self.programs
            .extend(path.filter(|path| !self.programs.contains(path)));
    }
}

/// The folder of the virtualenv an interpreter belongs to.
fn environment_of(executable: &Path) -> Option<&Path> {
    let folder = executable.parent()?.parent()?;
    folder.join("pyvenv.cfg").is_file().then_some(folder)
}

/// The loader a program of 64 bits names in its `PT_INTERP` header; none if it is linked statically.
fn loader(program: &Path) -> Option<PathBuf> {
    const PT_INTERP: u32 = 3;
    let mut file = File::open(program).ok()?;
    let mut head = [0; 64];
    file.read_exact(&mut head).ok()?;
    let is_64_bit_little_endian = head.starts_with(b"\x7fELF\x02\x01");
    if !is_64_bit_little_endian {
        return None;
    }
    let table = u64::from_le_bytes(head[32..40].try_into().ok()?);
    let (size, count) = (u16_at(&head, 54)?, u16_at(&head, 56)?);
    for number in 0..u64::from(count) {
        let at = table.checked_add(number * u64::from(size))?;
        file.seek(SeekFrom::Start(at)).ok()?;
        let mut header = [0; 56];
        file.read_exact(&mut header).ok()?;
        if u32::from_le_bytes(header[..4].try_into().ok()?) == PT_INTERP {
            let offset = u64::from_le_bytes(header[8..16].try_into().ok()?);
            let bytes = u64::from_le_bytes(header[32..40].try_into().ok()?);
            file.seek(SeekFrom::Start(offset)).ok()?;
            let mut path = Vec::new();
            let length = bytes.min(LOADER_BYTES);
            (&file).take(length).read_to_end(&mut path).ok()?;
            let path = path.strip_suffix(b"\0").unwrap_or(&path);
            return Some(OsStr::from_bytes(path).into());
        }
    }
    None
}

fn u16_at(bytes: &[u8], at: usize) -> Option<u16> {
    Some(u16::from_le_bytes(bytes.get(at..at + 2)?.try_into().ok()?))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn said(prefix: &Path) -> Said {
        Said {
            executable: prefix.join("bin/python3"),
            prefixes: vec![prefix.to_owned(), prefix.to_owned()],
            libraries: vec![prefix.join("lib/libpython3.11.so.1.0")],
            modules: vec![prefix.join("lib/python3.11")],
        }
    }

    fn folders(prefix: &Path) -> Vec<PathBuf> {
        let executable = prefix.join("bin/python3");
        InterpreterPlaces::of(&executable, &said(prefix)).folders
    }

    #[test]
    fn a_prefix_of_its_own_is_granted_also_below_the_home() {
        let home = std::env::home_dir().expect("tests run for somebody");
        let prefix = home.join(".pyenv/versions/3.11.7");
        assert_eq!(folders(&prefix), [prefix]);
    }

    #[test]
    fn of_a_shared_prefix_and_of_the_home_only_modules_and_the_library_are() {
        let home = std::env::home_dir().expect("tests run for somebody");
        for prefix in [Path::new("/usr"), &home] {
            let own = ["lib/python3.11", "lib/libpython3.11.so.1.0"].map(|path| prefix.join(path));
            assert_eq!(folders(prefix), own);
        }
    }

    #[test]
    fn the_loader_is_the_one_the_program_names() {
        let own = std::env::current_exe().expect("a program runs this");
        let loader = loader(&own).expect("it is linked dynamically");
        assert!(loader.is_file(), "{}", loader.display());
        assert!(
            loader.to_string_lossy().contains("ld-"),
            "{}",
            loader.display()
        );
    }

    #[tokio::test]
    async fn an_interpreter_says_where_it_lies() {
        let python = std::process::Command::new("python3")
            .args([
                "-I",
                "-c",
                "import sys; print(sys.executable, sys.base_prefix, sep='\\n')",
            ])
            .output()
            .expect("python3 runs");
        let text = String::from_utf8(python.stdout).expect("text");
        let (executable, prefix) = text.trim().split_once('\n').expect("two lines");
        let places = InterpreterPlaces::ask(Path::new(executable))
            .await
            .expect("an answer");
        assert!(!places.folders.is_empty() && !places.folders.iter().any(|path| holds_home(path)));
        let real = Path::new(executable).canonicalize().expect("it is there");
        assert!(places.programs.contains(&real), "{places:?}");
        let standard = Path::new(prefix).join("lib");
        assert!(
            places
                .folders
                .iter()
                .any(|path| path.starts_with(&standard) || standard.starts_with(path))
        );
    }
}
