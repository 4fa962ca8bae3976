//! A folder to run the command in.

use std::fs;
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};

use hookgate_vectors::guests;
use serde_json::Value;
use tempfile::TempDir;

/// What a run of the command came to.
#[derive(Debug)]
pub struct Ended {
    pub code: Option<i32>,
    pub stdout: String,
    pub stderr: String,
}

impl Ended {
    /// Stdout as one JSON value.
    pub fn json(&self) -> Value {
        serde_json::from_str(&self.stdout).unwrap_or_else(|error| panic!("{error}\n{self:?}"))
    }

    /// Stdout as JSON lines.
    pub fn lines(&self) -> Vec<Value> {
        json_lines(&self.stdout)
    }
}

pub fn json_lines(text: &str) -> Vec<Value> {
    text.lines()
        .map(|line| serde_json::from_str(line).unwrap_or_else(|error| panic!("{error}: {line}")))
        .collect()
}

/// A temporary folder in which the command runs, so that messages name files as the user would.
pub struct Folder(TempDir);

impl Folder {
    pub fn new() -> Self {
        Self(TempDir::new().unwrap())
    }

    /// One with a `hookgate.yaml`.
    pub fn with_config(text: &str) -> Self {
        let folder = Self::new();
        folder.write("hookgate.yaml", text);
        folder
    }

    pub fn path(&self) -> &Path {
        self.0.path()
    }

    pub fn write(&self, name: &str, text: impl AsRef<[u8]>) -> PathBuf {
        let path = self.path().join(name);
        fs::write(&path, text).unwrap();
        path
    }

    pub fn read(&self, name: &str) -> String {
        fs::read_to_string(self.path().join(name)).unwrap()
    }

    /// The command with arguments, in this folder, with pipes for everything.
    pub fn command(&self, arguments: &[&str]) -> Command {
        let mut command = Command::new(env!("CARGO_BIN_EXE_hookgate"));
        command
            .args(arguments)
            .current_dir(self.path())
            .env_remove("HOOKGATE_LOG")
            .env_remove("HOOKGATE_UV");
        command.env("HOOKGATE_ENV_DIR", guests::environments());
        command.env("HOOKGATE_CACHE_DIR", guests::code_cache());
        command
            .stdin(Stdio::piped())
            .stdout(Stdio::piped())
            .stderr(Stdio::piped());
        command
    }

    pub fn run(&self, arguments: &[&str]) -> Ended {
        self.run_with(arguments, "")
    }

    /// Runs the command with `input` on stdin.
    pub fn run_with(&self, arguments: &[&str], input: &str) -> Ended {
        // A file, not a pipe: a command that writes before it has read everything would block on a pipe.
        let stdin = self.write(".stdin", input);
        let mut command = self.command(arguments);
        command.stdin(fs::File::open(stdin).unwrap());
        let output = command.output().unwrap();
        Ended {
            code: output.status.code(),
            stdout: String::from_utf8(output.stdout).unwrap(),
            stderr: String::from_utf8(output.stderr).unwrap(),
        }
    }
}

/// An entry for a built component; `more` are further lines of it.
pub fn entry(name: &str, component: &str, hooks: &str, more: &str) -> String {
    let file = guests::component(component);
    let file = file.display();
    format!("  - name: {name}\n    kind: wasm\n    component: {file}\n    hooks: [{hooks}]\n{more}")
}

/// A deny list for `secret` on tool_pre_invoke.
pub fn deny_list() -> String {
    format!(
        "plugins:\n{}",
        entry(
            "deny-list",
            "deny-list-rust",
            "tool_pre_invoke",
            "    config: {words: [secret]}\n"
        )
    )
}

/// Counts the calls of a request on tool_pre_invoke, and never ends on prompt_pre_fetch.
pub fn counter() -> String {
    let script = "    limits: {timeout: 3s}
    config:
      hooks:
        tool_pre_invoke: [{op: count, key: calls}, {op: annotate_state, key: calls, from: calls}]
        prompt_pre_fetch: [{op: spin}]
";
    format!(
        "plugins:\n{}",
        entry(
            "counter",
            "script-rust",
            "tool_pre_invoke, prompt_pre_fetch",
            script
        )
    )
}
