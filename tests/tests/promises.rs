//! The Python host's four promises, end to end, with uv and with uv hidden:
//! an allow round-trips and the body ran; a denial arrives whole; a hook the plugin never registered
//! is `unsupported` and the worker goes on; the second start finds its environment valid and needs no
//! installer.

use std::ffi::OsString;
use std::path::{Path, PathBuf};
use std::sync::Arc;

use hookgate::config::{Access, Config, FileGrant, OnError, PluginKind, PluginSpec};
use hookgate::{Decision, Engine, FaultKind, Installer, PythonHost, PythonHostOptions, Request};
use hookgate_vectors::guests::root;
use serde_json::json;

const CMF_HOOK: &str = "cmf.tool_pre_invoke";

fn hostile(workdir: &Path) -> PluginSpec {
    let kind = PluginKind::Python {
        class: "hostile.HostilePlugin".into(),
        requirements: Vec::new(),
        requirements_file: None,
        import_paths: vec![root().join("tests/guests/hostile-legacy")],
        workdir: Some(workdir.to_owned()),
    };
    let mut spec = PluginSpec::new("marker", kind);
    spec.hooks = vec!["tool_pre_invoke".into(), CMF_HOOK.into()];
    spec.on_error = OnError::Fail;
    // Its marker is the proof that the body ran.
    spec.permissions.files = vec![FileGrant {
        host: workdir.to_owned(),
        guest: workdir.display().to_string(),
        access: Access::ReadWrite,
    }];
    spec
}

fn deny_list() -> PluginSpec {
    let kind = PluginKind::Python {
        class: "deny_list.DenyListPlugin".into(),
        requirements: Vec::new(),
        requirements_file: None,
        import_paths: vec![root().join("guest-plugins/deny-list-legacy")],
        workdir: None,
    };
    let mut spec = PluginSpec::new("deny-list", kind);
    spec.hooks = vec!["tool_pre_invoke".into()];
    spec.config = (&json!({ "words": ["sudo"] })).into();
    spec
}

async fn engine(options: PythonHostOptions, workdir: &Path) -> Engine {
    let mut config = Config::default();
    config.plugins = vec![hostile(workdir), deny_list()];
    let built = Engine::builder()
        .config(config)
        .host(Arc::new(PythonHost::new(options)))
        .build()
        .await;
    built.unwrap_or_else(|report| panic!("{report}"))
}

fn verdicts(engine: &Engine) -> Vec<&'static str> {
    let plugins = engine.plugins();
    plugins
        .iter()
        .filter_map(|plugin| plugin.info.environment.as_ref())
        .map(|found| found.verdict)
        .collect()
}

async fn keep(options: PythonHostOptions) {
    let workdir = tempfile::tempdir().expect("a folder for the marker");
    let first = engine(options.clone(), workdir.path()).await;
    assert!(
        verdicts(&first).contains(&"Missing"),
        "{:?}",
        verdicts(&first)
    );
    walk(&first, workdir.path()).await;
    first.shutdown().await;

    // Nothing that could install anything can be found now.
    let bare = PythonHostOptions {
        search_path: OsString::new(),
        python: None,
        installer: Installer::Auto,
        ..options
    };
    std::fs::remove_file(workdir.path().join("marker")).expect("the first run left its marker");
    let second = engine(bare, workdir.path()).await;
    assert_eq!(verdicts(&second), ["Valid", "Valid"]);
    walk(&second, workdir.path()).await;
    second.shutdown().await;
}

async fn walk(engine: &Engine, workdir: &Path) {
    let request = Request::with_id("r1");
    let allowed = r#"{"name": "search", "args": {"do": "marker", "n": 1.10}}"#;
    let outcome = engine
        .invoke("tool_pre_invoke", allowed, &request)
        .await
        .expect("a good payload");
    assert_eq!(
        (outcome.decision, outcome.modified),
        (Decision::Allow, false),
        "{outcome:?}"
    );
    assert_eq!(
        outcome.payload.as_ref().map(|payload| payload.as_str()),
        Some(allowed)
    );
    assert_eq!(
        std::fs::read_to_string(workdir.join("marker")).expect("the body ran"),
        "ran:search"
    );

    let denied = json!({ "name": "sh", "args": { "cmd": "sudo reboot" } });
    let outcome = engine
        .invoke("tool_pre_invoke", &denied, &request)
        .await
        .expect("a good payload");
    let violation = outcome.violation.expect("a denial");
    assert_eq!(violation.plugin.as_deref(), Some("deny-list"));
    assert_eq!(
        (
            violation.code.as_str(),
            violation.reason.as_str(),
            violation.description.as_str()
        ),
        ("DENY_WORD", "denied word", "'sudo' at /args/cmd")
    );
    assert_eq!(
        violation.details.to_value(),
        json!({ "word": "sudo", "at": "/args/cmd" })
    );

    let message = json!({ "message": { "role": "user", "content": [] } });
    let outcome = engine
        .invoke(CMF_HOOK, &message, &request)
        .await
        .expect("a good payload");
    assert_eq!(outcome.decision, Decision::Deny);
    assert_eq!(
        outcome.faults[0].kind,
        FaultKind::Unsupported,
        "{:?}",
        outcome.faults
    );
    let after = engine
        .invoke("tool_pre_invoke", r#"{"name": "t", "args": {}}"#, &request)
        .await;
    assert_eq!(
        after.expect("a good payload").decision,
        Decision::Allow,
        "the worker goes on"
    );
}

/// A folder with nothing in it but `python3`, so that no uv can be found.
fn only_python(folder: &Path) -> OsString {
    let path = std::env::var_os("PATH").expect("a PATH");
    let python = std::env::split_paths(&path)
        .map(|dir| dir.join("python3"))
        .find(|file| file.is_file());
    let real = std::process::Command::new(python.expect("python3 on the PATH"))
        .args(["-I", "-S", "-c", "import sys; print(sys.executable)"])
        .output()
        .expect("python3 runs");
    let real = PathBuf::from(String::from_utf8_lossy(&real.stdout).trim());
    std::os::unix::fs::symlink(real, folder.join("python3")).expect("a link to python3");
    folder.into()
}

#[tokio::test(flavor = "multi_thread")]
async fn with_uv() {
    let store = tempfile::tempdir().expect("a folder for environments");
    let uv = std::env::var_os("HOOKGATE_UV")
        .map(PathBuf::from)
        .or_else(|| {
            let path = std::env::var_os("PATH").unwrap_or_default();
            std::env::split_paths(&path)
                .map(|dir| dir.join("uv"))
                .find(|file| file.is_file())
        });
    let uv = uv.or_else(|| Some(root().join("target/tools/uv/bin/uv")).filter(|uv| uv.is_file()));
    let uv = uv.expect("no uv: `make setup` installs the pinned one under target/tools");
    let options = PythonHostOptions {
        installer: Installer::Uv(uv),
        ..PythonHostOptions::new(store.path().join("store"))
    };
    keep(options).await;
}

#[tokio::test(flavor = "multi_thread")]
async fn with_uv_hidden() {
    let store = tempfile::tempdir().expect("a folder for environments");
    let tools = tempfile::tempdir().expect("a folder for python3");
    let options = PythonHostOptions {
        installer: Installer::Pip,
        search_path: only_python(tools.path()),
        ..PythonHostOptions::new(store.path().join("store"))
    };
    keep(options).await;
}
