//! A gateway's repository as it is: classes under `plugins/`, `plugins/config.yaml` in the framework's shape,
//! and all of it runs.

use std::path::{Path, PathBuf};
use std::sync::Arc;

use hookgate::config::{Config, Environment, ReadOptions, Shape};
use hookgate::{Decision, Engine, FaultKind, Outcome, PythonHost, PythonHostOptions, Request};
use hookgate_vectors::guests::{environments, root};
use serde_json::{Value, json};
use tempfile::TempDir;

/// Tells what it was given.
const PROBE: &str = r#"
import os

from cpex.framework import Plugin, PluginResult


class ProbePlugin(Plugin):
    async def tool_pre_invoke(self, payload, context):
        given = self.config.model_dump(mode="json", exclude_none=True)
        return PluginResult(metadata={self.name: {"given": given, "folder": os.getcwd(), "q": payload.args["q"]}})
"#;

/// Fails.
const RAISES: &str = r#"
from cpex.framework import Plugin


class RaisesPlugin(Plugin):
    async def tool_pre_invoke(self, payload, context):
        raise ValueError("it raised")
"#;

/// Ten entries that run, one that does not load and one that would run elsewhere.
const CONFIG: &str = r#"
plugin_dirs:
  - "plugins" # ours
  - "plugins/external"
  - "plugins/script"
  - "plugins/nowhere"

plugin_settings:
  parallel_execution_within_band: true
  plugin_timeout: 20
  fail_on_plugin_error: false
  plugin_health_check_interval: 60

plugins:
  - name: "DenyWords"
    kind: "plugins.deny_list.deny_list.DenyListPlugin"
    hooks: ["tool_pre_invoke", "prompt_pre_fetch"]
    mode: "enforce" # enforce | enforce_ignore_error | permissive | disabled
    priority: 10
    conditions:
      - prompts: [] # all of them
        server_ids: []
        tenant_ids: []
    config:
      words: ["{{ env.DENIED | default('sudo') }}"]

  - name: "Mask"
    kind: "plugins.redactor.redactor.RedactorPlugin"
    hooks: ["tool_pre_invoke"]
    mode: "permissive"
    priority: 20
    config: {words: ["password"]}

  - name: "MaskMore"
    kind: "more_redactor.redactor.RedactorPlugin"
    hooks: ["tool_pre_invoke"]
    mode: "enforce"
    priority: 30
    config: {words: ["token"]}

  - name: "Isolated"
    kind: "isolated_venv"
    hooks: ["tool_pre_invoke"]
    mode: "enforce"
    priority: 40
    config:
      class_name: "isolated_words.deny_list.DenyListPlugin"
      requirements_file: "requirements.txt"
      words: ["secret"]

  - name: "OnlyOther"
    kind: "plugins.script.script_policy.ScriptPlugin"
    hooks: ["tool_pre_invoke"]
    mode: "enforce"
    priority: 50
    conditions: [{tools: ["other"]}]
    config:
      hooks:
        tool_pre_invoke: [{op: deny, code: OTHER, reason: other, description: other}]

  - name: "Probe"
    kind: "plugins.probe.probe.ProbePlugin"
    description: "Tells what it was given"
    author: "Example Team"
    version: "1.10.0"
    namespace: "example"
    hooks: ["tool_pre_invoke"]
    tags: ["probe"]
    mode: "enforce_ignore_error"
    priority: "60"
    max_content_size: 1000
    capabilities: ["read_headers"]
    conditions: [{tools: ["search"], server_ids: []}]
    applied_to: {tools: [{tool_name: "search", fields: ["q"]}]}
    config: {flag: yes, quiet: no, mode: 0o10, list: [1_000]}

  - name: "Watch"
    kind: "plugins.probe.probe.ProbePlugin"
    hooks: ["tool_pre_invoke"]
    mode: "audit"

  - name: "Gate"
    kind: "plugins.deny_list.deny_list.DenyListPlugin"
    hooks: ["tool_pre_invoke"]
    mode: "concurrent"
    config: {words: ["stop"]}

  - name: "Raises"
    kind: "plugins.raises.RaisesPlugin"
    hooks: ["tool_pre_invoke"]
    mode: "enforce_ignore_error"
    priority: 70

  - name: "SwitchedOff"
    kind: "plugins.raises.RaisesPlugin"
    hooks: ["tool_pre_invoke"]
    mode: "enforce"
    on_error: "disable"
    priority: 80

  - name: "Gone"
    kind: "plugins.gone.gone.GonePlugin"
    hooks: ["tool_pre_invoke"]
    mode: "enforce"

  - name: "Elsewhere"
    kind: "external"
    mode: "disabled"
    mcp: {proto: STREAMABLEHTTP, url: "https://plugins.example.com/mcp"}
"#;

/// A project's root, laid out as a gateway's.
fn project() -> TempDir {
    let folder = tempfile::tempdir().expect("a temporary folder");
    let at = |name: &str| {
        let path = folder.path().join("plugins").join(name);
        std::fs::create_dir_all(path.parent().expect("a folder")).expect("a folder");
        path
    };
    let guest = |from: &str, to: &str| {
        let from: PathBuf = root().join(from);
        std::fs::copy(&from, at(to)).unwrap_or_else(|error| panic!("{from:?}: {error}"));
    };
    guest(
        "guest-plugins/deny-list-legacy/deny_list.py",
        "deny_list/deny_list.py",
    );
    guest(
        "guest-plugins/deny-list-legacy/deny_list.py",
        "isolated_words/deny_list.py",
    );
    guest(
        "guest-plugins/redactor-legacy/redactor.py",
        "redactor/redactor.py",
    );
    guest(
        "guest-plugins/redactor-legacy/redactor.py",
        "external/more_redactor/redactor.py",
    );
    // The policy and the modules beside it.
    let script = root().join("tests/guests/script-legacy");
    for entry in std::fs::read_dir(script).expect("a folder") {
        let name = entry
            .expect("a file")
            .file_name()
            .into_string()
            .expect("a name");
        if name.ends_with(".py") {
            guest(
                &format!("tests/guests/script-legacy/{name}"),
                &format!("script/{name}"),
            );
        }
    }
    for (name, text) in [
        ("probe/probe.py", PROBE),
        ("raises.py", RAISES),
        (
            "isolated_words/requirements.txt",
            "# the framework is there anyway\n",
        ),
        ("config.yaml", CONFIG),
    ] {
        std::fs::write(at(name), text).expect(name);
    }
    folder
}

async fn engine(project: &Path) -> (Config, Engine) {
    let environment: Environment = [("DENIED", "forbidden")].into_iter().collect();
    let options = ReadOptions::new(Shape::Auto).environment(environment);
    let config = Config::load_with(&project.join("plugins/config.yaml"), &options)
        .unwrap_or_else(|report| panic!("{report}"));
    let built = Engine::builder()
        .config(config.clone())
        .host(Arc::new(PythonHost::new(PythonHostOptions::new(
            environments(),
        ))))
        .build()
        .await;
    (config, built.unwrap_or_else(|report| panic!("{report}")))
}

async fn ask(engine: &Engine, tool: &str, q: &str) -> Outcome {
    let payload = json!({"name": tool, "args": {"q": q}});
    engine
        .invoke("tool_pre_invoke", &payload, &Request::default())
        .await
        .expect("a payload")
}

fn denied_by(outcome: &Outcome) -> Option<&str> {
    outcome.violation.as_ref()?.plugin.as_deref()
}

#[tokio::test(flavor = "multi_thread")]
async fn a_gateways_plugins_run_as_they_are() {
    let project = project();
    let (config, engine) = engine(project.path()).await;
    assert_eq!(config.shape, Shape::Legacy);
    let loaded: Vec<_> = engine
        .plugins()
        .into_iter()
        .map(|plugin| plugin.name)
        .collect();
    let ten = [
        "DenyWords",
        "Mask",
        "MaskMore",
        "Isolated",
        "OnlyOther",
        "Probe",
        "Watch",
        "Gate",
        "Raises",
        "SwitchedOff",
    ];
    assert_eq!(loaded, ten, "{:#?}", engine.skipped());
    let skipped: Vec<_> = engine
        .skipped()
        .into_iter()
        .map(|problem| problem.plugin)
        .collect();
    assert_eq!(skipped, ["Gone"]);

    let outcome = ask(&engine, "search", "a password and a token").await;
    assert_eq!(outcome.decision, Decision::Allow, "{:?}", outcome.violation);
    let payload: Value =
        serde_json::from_str(outcome.payload.as_ref().expect("a payload").as_str()).expect("JSON");
    assert_eq!(payload["args"]["q"], "a [redacted] and a [redacted]");
    let faults: Vec<_> = outcome
        .faults
        .iter()
        .map(|fault| (fault.plugin.as_str(), fault.kind))
        .collect();
    assert_eq!(
        faults,
        [
            ("Raises", FaultKind::PluginError),
            ("SwitchedOff", FaultKind::PluginError)
        ]
    );
    let metadata = serde_json::to_value(&outcome.effects.metadata).expect("JSON");
    assert_eq!(metadata["Watch"]["q"], "a [redacted] and a [redacted]");
    assert_sees_what_it_would_at_home(&metadata["Probe"], project.path());

    for (tool, q, by) in [
        ("search", "forbidden", "DenyWords"),
        ("search", "a secret", "Isolated"),
        ("search", "please stop", "Gate"),
        ("other", "anything", "OnlyOther"),
    ] {
        let outcome = ask(&engine, tool, q).await;
        assert_eq!(
            (outcome.decision, denied_by(&outcome)),
            (Decision::Deny, Some(by)),
            "{tool} {q}"
        );
    }
    // It was switched off by its first fault.
    let outcome = ask(&engine, "search", "again").await;
    let faults: Vec<_> = outcome
        .faults
        .iter()
        .map(|fault| fault.plugin.as_str())
        .collect();
    assert_eq!(faults, ["Raises"]);
    engine.shutdown().await;
}

/// The model of its entry that the framework itself makes of the same lines.
fn assert_sees_what_it_would_at_home(seen: &Value, project: &Path) {
    let project = std::fs::canonicalize(project).expect("a folder");
    assert_eq!(seen["folder"], json!(project));
    assert_eq!(
        seen["given"],
        json!({
            "name": "Probe",
            "description": "Tells what it was given",
            "author": "Example Team",
            "kind": "plugins.probe.probe.ProbePlugin",
            "namespace": "example",
            "version": "1.10.0",
            "hooks": ["tool_pre_invoke"],
            "tags": ["probe"],
            "mode": "sequential",
            "on_error": "ignore",
            "priority": 60,
            "max_content_size": 1000,
            "conditions": [{"tools": ["search"]}],
            "applied_to": {"tools": [{"tool_name": "search", "fields": ["q"], "result": false}]},
            "capabilities": ["read_headers"],
            "config": {"flag": true, "quiet": false, "mode": "0o10", "list": [1000]},
        })
    );
}
