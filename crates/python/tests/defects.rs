//! Every defect of the reference that only a host shows, and what is right instead. The numbers are those of the
//! table in `worker/README.md`; what a worker shows by itself is in `worker/tests/test_defects.py`.

#[path = "support/stub.rs"]
mod stub;

use std::ffi::OsString;
use std::io::{BufRead as _, BufReader};
use std::os::unix::fs::PermissionsExt as _;
use std::path::{Path, PathBuf};
use std::process::Command;
use std::sync::Arc;
use std::time::Duration;

use futures::FutureExt as _;
use hookgate_core::config::{Config, Mode, PluginKind, PluginSpec, ReadOptions, Shape};
use hookgate_core::{Decision, Engine, FaultKind, Json, LoadReport, Outcome, Request};
use hookgate_python::{Installer, PythonHost, PythonHostOptions};
use serde_json::{Value, json};
use stub::{LONG, Lifeline, Rig, Setup, marks};

/// An engine of this configuration, whose workers are the setup's.
async fn engine(setup: &Setup, config: Config) -> Result<Engine, LoadReport> {
    let host = Arc::new(PythonHost::new(setup.options.clone()));
    Engine::builder().config(config).host(host).build().await
}

/// A legacy file in the setup's folder, with one variable.
fn legacy(setup: &Setup, text: &str) -> Config {
    let variables = [("HOOKGATE_WORD", "from outside")].into_iter().collect();
    let options = ReadOptions::new(Shape::Legacy).environment(variables);
    Config::parse_with(text, "config.yaml", setup.folder.path(), &options)
        .unwrap_or_else(|report| panic!("{report}"))
}

async fn ask(engine: &Engine, args: Value, request: &Request) -> Outcome {
    let payload = json!({"name": "tool", "args": args});
    engine
        .invoke("tool_pre_invoke", &payload, request)
        .await
        .expect("a payload")
}

fn was_asked(outcome: &Outcome) -> bool {
    marks(outcome).get("pid").is_some()
}

fn pipe(setup: &Setup, name: &str) -> String {
    let path = setup.file(name);
    let made = Command::new("mkfifo").arg(&path).status();
    assert!(made.expect("mkfifo runs").success());
    path
}

fn named(setup: &Setup, name: &str, config: &Value) -> PluginSpec {
    let mut spec = setup.spec.clone();
    spec.name = name.into();
    spec.config = config.into();
    spec
}

#[tokio::test(flavor = "multi_thread")]
async fn defect_05_a_hung_plugin_is_killed_and_the_next_call_is_answered() {
    let mut setup = Setup::new(json!({})).timeout(5_000);
    setup.options.supervision.cancel_grace = Duration::from_millis(100);
    let rig = setup.build().await;
    let first = rig.pid().await;
    let fault = rig.fault(json!({"do": "hang"})).await;
    assert_eq!(fault.kind, FaultKind::Timeout);
    assert_ne!(rig.pid().await, first);
}

#[tokio::test(flavor = "multi_thread")]
async fn defect_07_a_reload_ends_the_old_instance_in_order() {
    let mut setup = Setup::new(json!({}));
    setup.config = json!({"ended": setup.file("ended")});
    let lifeline = Lifeline::new(&mut setup);
    let mut config = Config::default();
    config.plugins = vec![named(&setup, "next", &json!({}))];
    let rig = setup.build().await;
    rig.pid().await;
    rig.engine.reload(config).await.expect("it loads");
    lifeline.ended().await;
    let ended = std::fs::read_to_string(rig.folder.path().join("ended"));
    assert_eq!(ended.expect("a word"), "shut down");
    rig.pid().await;
}

#[tokio::test(flavor = "multi_thread")]
async fn defect_11_empty_lists_of_a_condition_match_everything() {
    let setup = Setup::new(json!({}));
    let config = legacy(
        &setup,
        "plugin_dirs: []
plugins:
- name: p
  kind: stub.Plugin
  hooks: [tool_pre_invoke]
  mode: enforce
  conditions: [{server_ids: [], tenant_ids: []}]
  config: {}
",
    );
    let engine = engine(&setup, config).await.expect("it loads");
    let mut request = Request::with_id("r");
    assert!(was_asked(
        &ask(&engine, json!({"do": "allow"}), &request).await
    ));
    request.server_id = Some("s".into());
    assert!(was_asked(
        &ask(&engine, json!({"do": "allow"}), &request).await
    ));
}

#[tokio::test(flavor = "multi_thread")]
async fn defect_12_legacy_words_mean_what_they_mean_at_home() {
    let setup = Setup::new(json!({}));
    let config = legacy(
        &setup,
        "plugin_dirs: []
plugins:
- name: p
  kind: stub.Plugin
  hooks: [tool_pre_invoke]
  mode: enforce_ignore_error
  conditions: [{user_patterns: [min]}]
  config: {word: \"{{ env.HOOKGATE_WORD }}\"}
- {name: q, kind: stub.Plugin, hooks: [tool_pre_invoke], mode: permissive}
",
    );
    let modes: Vec<_> = config
        .plugins
        .iter()
        .map(|spec| (spec.mode, spec.on_error.to_string()))
        .collect();
    assert_eq!(
        modes,
        [
            (Mode::Sequential, "ignore".into()),
            (Mode::Transform, "fail".into())
        ]
    );
    let mut config = config;
    config.plugins.truncate(1);
    let engine = engine(&setup, config).await.expect("it loads");
    for (user, asked) in [("administrator", true), ("guest", false)] {
        let mut request = Request::with_id("r");
        request.user = Some(Json::string(user));
        let outcome = ask(&engine, json!({"do": "echo"}), &request).await;
        assert_eq!(was_asked(&outcome), asked, "{user}");
        if asked {
            assert_eq!(marks(&outcome)["start"], json!({"word": "from outside"}));
        }
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn defect_13_a_script_path_that_is_a_folder_is_where_the_code_is() {
    let setup = Setup::new(json!({}));
    let folder = setup.folder.path().join("plugins/pii");
    std::fs::create_dir_all(&folder).expect("a folder");
    let config = legacy(
        &setup,
        "plugin_dirs: [plugins]
plugins:
- name: p
  kind: isolated_venv
  hooks: [tool_pre_invoke]
  config: {class_name: stub.Plugin, script_path: plugins/pii}
",
    );
    let PluginKind::Python { import_paths, .. } = &config.plugins[0].kind else {
        panic!("{:?}", config.plugins[0].kind);
    };
    assert_eq!(import_paths.last(), Some(&folder));
    let engine = engine(&setup, config).await.expect("it loads");
    let outcome = ask(&engine, json!({"do": "allow"}), &Request::default()).await;
    assert!(was_asked(&outcome));
}

#[tokio::test(flavor = "multi_thread")]
async fn defect_14_an_answer_that_is_too_large_is_its_own_calls_fault_at_once() {
    let rig = Rig::new().await;
    let mut held = Box::pin(rig.ask(json!({"do": "hold", "n": 7})));
    assert!((&mut held).now_or_never().is_none());
    let fault = rig.fault(json!({"do": "big", "bytes": 11_000_000})).await;
    assert_eq!(fault.kind, FaultKind::ResponseTooLarge);
    rig.ask(json!({"do": "release"})).await;
    assert_eq!(marks(&held.await)["was"], 7);
}

#[tokio::test(flavor = "multi_thread")]
async fn defect_15_a_worker_inherits_nothing_of_the_environment() {
    let rig = Rig::new().await;
    let seen = marks(&rig.ask(json!({"do": "echo"})).await);
    let environ = seen["environ"].as_object().expect("an object");
    assert!(std::env::var_os("CARGO_PKG_NAME").is_some());
    for name in ["CARGO_PKG_NAME", "PATH", "LD_LIBRARY_PATH"] {
        assert!(!environ.contains_key(name), "{name}");
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn defect_16_a_call_that_is_given_up_leaves_nothing_behind() {
    let rig = Rig::new().await;
    let pid = rig.pid().await;
    for number in 0..8 {
        let mut call = Box::pin(rig.ask(json!({"do": "hold", "n": number})));
        assert!((&mut call).now_or_never().is_none());
        // Answered behind it: it has been received.
        assert_eq!(rig.pid().await, pid);
        drop(call);
        // Nothing is sent until the worker has let go of it.
        assert_eq!(rig.pid().await, pid);
    }
    let cancelled = marks(&rig.ask(json!({"do": "cancelled"})).await);
    assert_eq!(
        cancelled,
        json!({"cancelled": [0, 1, 2, 3, 4, 5, 6, 7], "pid": pid})
    );
    assert_eq!(rig.late_answers(), 0);
}

fn store() -> PathBuf {
    Path::new(env!("CARGO_TARGET_TMPDIR")).with_file_name("test-environments")
}

/// The class of `tests/plugins`, in an environment that is kept in the target folder.
fn checks() -> PluginSpec {
    let kind = PluginKind::Python {
        class: "checks.Checks".into(),
        requirements: Vec::new(),
        requirements_file: None,
        import_paths: vec!["plugins".into()],
        workdir: None,
    };
    let mut spec = PluginSpec::new("legacy", kind);
    spec.hooks = vec!["tool_pre_invoke".into()];
    spec.base_dir = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests");
    spec.config = (&json!({"word": "sudo"})).into();
    spec
}

/// What a host says of the environment, by name.
async fn judged(host: &PythonHost) -> String {
    format!("{:?}", host.judge(&checks()).await.expect("a verdict"))
}

#[tokio::test(flavor = "multi_thread")]
async fn defect_19_an_environment_of_another_python_is_not_valid() {
    let built = PythonHost::new(PythonHostOptions::new(store()));
    built.prepare(&checks()).await.expect("an environment");
    assert!(judged(&built).await.starts_with("Valid"));
    let folder = tempfile::tempdir().expect("a folder");
    let other = folder.path().join("python3");
    // Says what the real one says, but for the version.
    let script = "#!/bin/sh\npython3 \"$@\" | sed -E 's/3\\.[0-9]+\\.[0-9]+\"/3.99.0\"/'\n";
    std::fs::write(&other, script).expect("a script");
    std::fs::set_permissions(&other, std::fs::Permissions::from_mode(0o700)).expect("executable");
    let mut options = PythonHostOptions::new(store());
    options.python = Some(other);
    let verdict = judged(&PythonHost::new(options)).await;
    assert!(!verdict.starts_with("Valid"), "{verdict}");
}

#[tokio::test(flavor = "multi_thread")]
async fn defect_20_a_plugin_in_the_background_is_told_of_denials() {
    let setup = Setup::new(json!({}));
    let told = pipe(&setup, "told");
    let mut config = Config::default();
    let mut watching = named(&setup, "watching", &json!({"told": told}));
    watching.mode = Mode::FireAndForget;
    config.plugins = vec![named(&setup, "denying", &json!({})), watching];
    let (tell, hear) = std::sync::mpsc::channel();
    std::thread::spawn(move || {
        let mut line = String::new();
        let pipe = std::fs::File::open(told).expect("the pipe opens");
        BufReader::new(pipe).read_line(&mut line).expect("a line");
        let _ = tell.send(line);
    });
    let engine = engine(&setup, config).await.expect("it loads");
    let denial = json!({"do": "answer", "frame": {"verdict": "deny", "violation": null}});
    let outcome = ask(&engine, denial, &Request::default()).await;
    assert_eq!(
        (outcome.decision, outcome.faults.len()),
        (Decision::Deny, 0)
    );
    let heard = tokio::task::spawn_blocking(move || hear.recv_timeout(LONG)).await;
    assert_eq!(heard.expect("a thread").expect("it is told"), "watching\n");
}

#[tokio::test(flavor = "multi_thread")]
async fn defect_21_one_failed_restart_is_not_the_last() {
    let mut setup = Setup::new(json!({}));
    let starts = setup.file("starts");
    setup.config = json!({"starts": starts, "dies_from": 2});
    let rig = setup.build().await;
    rig.fault(json!({"do": "exit", "code": 1})).await;
    let failed = rig.fault(json!({"do": "allow"})).await;
    assert_eq!(failed.kind, FaultKind::WorkerDied);
    // From now on it starts again.
    std::fs::write(starts, "").expect("a file");
    rig.pid().await;
    assert_eq!(rig.state(), "ready");
}

#[tokio::test(flavor = "multi_thread")]
async fn defect_21_a_restart_never_installs() {
    let mut options = PythonHostOptions::new(store());
    let host = PythonHost::new(options.clone());
    host.prepare(&checks()).await.expect("an environment");
    options.search_path = OsString::new();
    options.installer = Installer::Uv("/nowhere/uv".into());
    options.supervision.respawn_backoff = Duration::from_millis(1);
    let mut config = Config::default();
    config.plugins = vec![checks()];
    let engine = Engine::builder()
        .config(config)
        .host(Arc::new(PythonHost::new(options)))
        .build()
        .await
        .unwrap_or_else(|report| panic!("{report}"));
    let died = ask(&engine, json!({"cmd": "die"}), &Request::default()).await;
    assert_eq!(died.faults[0].kind, FaultKind::WorkerDied);
    let next = ask(&engine, json!({"cmd": "ls"}), &Request::default()).await;
    assert_eq!(next.decision, Decision::Allow, "{:?}", next.faults);
}

#[tokio::test(flavor = "multi_thread")]
async fn defect_22_plugins_start_at_the_same_time() {
    let setup = Setup::new(json!({}));
    let meeting = pipe(&setup, "meeting");
    let mut config = Config::default();
    config.plugins = vec![
        named(&setup, "one", &json!({"meets": [&meeting, "r"]})),
        named(&setup, "other", &json!({"meets": [&meeting, "w"]})),
    ];
    // One after the other, the first would wait for the second until its start is given up.
    let engine = engine(&setup, config)
        .await
        .unwrap_or_else(|report| panic!("{report}"));
    assert_eq!(engine.plugins().len(), 2);
}
