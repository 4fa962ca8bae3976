//! How the worker of a Python plugin is made and kept: `python:` and the keys beside it.

use std::path::PathBuf;

use super::defaults::{
    PYTHON_ALLOW_BUILD, PYTHON_IDEMPOTENT, PYTHON_SANDBOX, PYTHON_WORKER, PYTHON_WORKERS,
    PYTHON_WORKERS_MAX,
};
use super::keys::{Fields, Keys};
use super::paths::{Check, Paths, Target};
use super::plugin_config;
use super::read::{boolean, choice, integer, word};
use super::report::{Findings, shown};
use super::spec::{PythonOptions, Sandbox, WorkerKind};
use super::yaml::{Node, Value};
use crate::Json;

pub(super) const WORKERS: [(&str, WorkerKind); 2] = [
    ("hookgate", WorkerKind::Hookgate),
    ("framework", WorkerKind::Framework),
];
pub(super) const SANDBOXES: [(&str, Sandbox); 2] = [
    ("strict", Sandbox::Strict),
    ("best_effort", Sandbox::BestEffort),
];

const ENVIRONMENT: &str = "python.environment";
const SETTINGS: &str = "python.settings";
/// Where an environment has its interpreter: on Unix, and elsewhere.
const INTERPRETERS: [&str; 2] = ["bin/python", "Scripts"];

/// Reads the keys of an entry. `is_wasm` is unknown while the entry's kind is; of a wasm plugin, each is
/// reported with the rest that only a Python plugin has.
pub(super) fn read(
    entry: &Fields,
    is_wasm: Option<bool>,
    paths: Paths,
    findings: &mut Findings,
) -> PythonOptions {
    let mut options = PythonOptions::default();
    if is_wasm == Some(true) {
        return options;
    }
    if let Some(fields) = entry
        .get("python")
        .and_then(|node| Keys::PYTHON.read(node, findings))
    {
        options.environment = fields
            .get("environment")
            .and_then(|node| environment(node, paths, findings));
        if let Some(node) = fields.get("settings") {
            options.settings = settings(node, findings);
        }
    }
    let mut flag = |name: &str, default| {
        let value = entry
            .get(name)
            .and_then(|node| boolean(node, name, findings));
        value.unwrap_or(default)
    };
    options.allow_build = flag("allow_build", PYTHON_ALLOW_BUILD);
    options.idempotent = flag("idempotent", PYTHON_IDEMPOTENT);
    if let Some(kind) = entry.get("worker").and_then(|node| worker(node, findings)) {
        options.worker = kind;
    }
    if let Some(count) = entry
        .get("workers")
        .and_then(|node| workers(node, findings))
    {
        options.workers = count;
    }
    if let Some(sandbox) = entry
        .get("sandbox")
        .and_then(|node| sandbox(node, findings))
    {
        options.sandbox = sandbox;
    }
    refuse_what_cannot_be(entry, &options, findings);
    options
}

/// A folder that is there, with an interpreter in it.
fn environment(node: &Node, paths: Paths, findings: &mut Findings) -> Option<PathBuf> {
    let path = paths.read(node, ENVIRONMENT, Target::Folder, findings)?;
    let has_interpreter = || INTERPRETERS.iter().any(|one| path.join(one).exists());
    if paths.check != Check::None && path.is_dir() && !has_interpreter() {
        let written = node.as_str().unwrap_or_default();
        let message = format!("{ENVIRONMENT}: not a virtualenv: {}", shown(written));
        let hint = format!(
            "there is no {} in it; make it one: python3 -m venv {}",
            INTERPRETERS.join(" and no "),
            shown(&path.display().to_string())
        );
        paths.report(node, message, hint, findings);
    }
    Some(path)
}

/// Values by the names of their settings, which are read as attributes of an object.
fn settings(node: &Node, findings: &mut Findings) -> Json {
    if let Value::Mapping(pairs) = &node.value {
        let what = format!("a key of {SETTINGS}");
        // Keys that are no scalars are reported with the values.
        let scalars = pairs
            .iter()
            .filter(|(key, _)| !matches!(key.value, Value::List(_) | Value::Mapping(_)));
        for (key, _) in scalars {
            word(key, &what, findings);
        }
    }
    plugin_config::read_as(node, SETTINGS, findings)
}

fn worker(node: &Node, findings: &mut Findings) -> Option<WorkerKind> {
    if let Value::Number(number) = &node.value {
        let message = "worker: expected which program runs the class, found a number".into();
        let hint = format!(
            "write `workers: {}` for a number of them; possible values of worker: hookgate, framework",
            shown(&number.text)
        );
        findings.error(&node.at, message, Some(hint));
        return None;
    }
    choice(node, "worker", &WORKERS, &[], findings)
}

fn workers(node: &Node, findings: &mut Findings) -> Option<u32> {
    let kind = node
        .as_str()
        .filter(|text| WORKERS.iter().any(|(word, _)| word == text));
    if let Some(kind) = kind {
        let message = "workers: expected an integer, found a string".into();
        findings.error(&node.at, message, Some(format!("write `worker: {kind}`")));
        return None;
    }
    let value = integer(node, "workers", 1, PYTHON_WORKERS_MAX.into(), findings)?;
    u32::try_from(value).ok()
}

fn sandbox(node: &Node, findings: &mut Findings) -> Option<Sandbox> {
    if matches!(node.value, Value::Bool(_)) {
        let message = "sandbox: expected strict or best_effort, found a boolean".into();
        let hint = "it cannot be switched off; `sandbox: best_effort` is as much of it as the kernel gives";
        findings.error(&node.at, message, Some(hint.into()));
        return None;
    }
    choice(node, "sandbox", &SANDBOXES, &[], findings)
}

/// Reports options that each are right and do not go together.
fn refuse_what_cannot_be(entry: &Fields, options: &PythonOptions, findings: &mut Findings) {
    let mut refuse = |key: &str, why: &str, hint: &str| {
        if let Some((key, _)) = entry.pair(key) {
            findings.error(&key.at, why.into(), Some(hint.into()));
        }
    };
    if options.allow_build && options.environment.is_some() {
        refuse(
            "allow_build",
            "allow_build: nothing is installed into python.environment, which is used as it is",
            "remove one of them",
        );
    }
    if options.worker != WorkerKind::Framework {
        return;
    }
    if options.workers > 1 {
        refuse(
            "workers",
            "workers: under `worker: framework` a class has one process, as at home",
            "remove it, or write `worker: hookgate`",
        );
    }
    if options.idempotent {
        refuse(
            "idempotent",
            "idempotent: under `worker: framework` each call is asked once, as at home",
            "remove it, or write `worker: hookgate`",
        );
    }
    if options.settings != Json::object() {
        refuse(
            "python",
            "python.settings: the worker of `worker: framework` has no place for them",
            "remove them, or write `worker: hookgate`",
        );
    }
}

impl Default for PythonOptions {
    /// One worker of ours in an environment of its own, confined.
    fn default() -> Self {
        Self {
            environment: None,
            allow_build: PYTHON_ALLOW_BUILD,
            worker: PYTHON_WORKER,
            workers: PYTHON_WORKERS,
            idempotent: PYTHON_IDEMPOTENT,
            sandbox: PYTHON_SANDBOX,
            settings: Json::object(),
        }
    }
}
