//! Verdicts: what became of the environment that an entry used last.

use std::path::{Path, PathBuf};
use std::process::Command;

use hookgate_core::config::{PluginKind, PluginSpec};
use hookgate_python::EnvironmentVerdict;

use super::rig::{MARK, Rig, allow_writing, make_wheel};

fn with_class(mut spec: PluginSpec, name: &str) -> PluginSpec {
    if let PluginKind::Python { class, .. } = &mut spec.kind {
        *class = name.into();
    }
    spec
}

/// Puts a Python there that says it is another one.
fn pretender(rig: &Rig, path: &Path) -> PathBuf {
    let said = Command::new("python3")
        .args(["-I", "-c", "import sys; print(sys.executable)"])
        .output();
    let real = String::from_utf8(said.expect("python3 runs").stdout).expect("a path");
    let said = format!(
        r#"{{"executable": "{}", "version": "3.11.99", "implementation": "cpython-311", "platform": "x", "pair": [3, 11]}}"#,
        real.trim()
    );
    rig.script(&path.display().to_string(), &format!("echo '{said}'\n"))
}

#[tokio::test]
async fn each_change_has_its_word_until_the_entry_is_loaded_again() {
    let rig = Rig::new();
    let spec = with_class(rig.spec("p"), "pkg.module.Class");
    let manifest = |text: &str| rig.write("pkg/plugin-manifest.yaml", text);
    manifest("version: 1");
    let prepared = rig.prepared(&spec).await;
    assert_eq!(prepared.verdict, EnvironmentVerdict::Missing);
    let first = prepared.environment;
    assert_eq!(
        rig.judge(&spec).await,
        EnvironmentVerdict::Valid(first.clone())
    );

    manifest("version: 2");
    assert_eq!(rig.judge(&spec).await, EnvironmentVerdict::ManifestChanged);
    let prepared = rig.prepared(&spec).await;
    assert_eq!(prepared.verdict, EnvironmentVerdict::ManifestChanged);
    assert_eq!(
        prepared.environment, first,
        "the same requirements need no other one"
    );
    assert_eq!(
        rig.judge(&spec).await,
        EnvironmentVerdict::Valid(first.clone())
    );

    make_wheel(rig.path(), &["changed = True"]);
    assert_eq!(
        rig.judge(&spec).await,
        EnvironmentVerdict::RequirementsChanged
    );
    let prepared = rig.prepared(&spec).await;
    assert_eq!(prepared.verdict, EnvironmentVerdict::RequirementsChanged);
    assert_ne!(prepared.environment, first);
    let second = prepared.environment;
    assert_eq!(
        rig.judge(&spec).await,
        EnvironmentVerdict::Valid(second.clone())
    );

    let mut building = spec.clone();
    building.python.allow_build = true;
    assert_eq!(
        rig.judge(&building).await,
        EnvironmentVerdict::RequirementsChanged
    );

    allow_writing(&second.path);
    std::fs::remove_dir_all(&second.path).expect("removable");
    assert_eq!(rig.judge(&spec).await, EnvironmentVerdict::Missing);
    assert_eq!(
        rig.prepared(&spec).await.verdict,
        EnvironmentVerdict::Missing
    );

    allow_writing(&second.path);
    std::fs::write(second.path.join(MARK), "{").expect("a mark");
    let verdict = rig.judge(&spec).await;
    assert!(
        matches!(&verdict, EnvironmentVerdict::Unreadable { path, .. } if *path == second.path),
        "{verdict}"
    );
    assert_eq!(rig.prepared(&spec).await.verdict, verdict);
    assert_eq!(rig.judge(&spec).await, EnvironmentVerdict::Valid(second));
}

#[tokio::test]
async fn another_python_is_seen_on_either_side() {
    let mut rig = Rig::new();
    let spec = rig.spec("p");
    let environment = rig.prepared(&spec).await.environment;
    let changed = EnvironmentVerdict::PythonChanged {
        was: environment.python.clone(),
        now: "3.11.99".into(),
    };
    // The host's has been replaced.
    rig.options.python = Some(pretender(&rig, &rig.path().join("python")));
    assert_eq!(rig.judge(&spec).await, changed);
    // The environment's own leads to another one by now.
    rig.options.python = None;
    assert_eq!(rig.judge(&spec).await.as_str(), "Valid");
    allow_writing(&environment.path);
    let inside = environment.path.join("bin/python");
    std::fs::remove_file(&inside).expect("a link");
    pretender(&rig, &inside);
    assert_eq!(rig.judge(&spec).await, changed);
    // Built anew, it is right again.
    let prepared = rig.prepared(&spec).await;
    assert_eq!(
        (prepared.verdict, &prepared.environment),
        (changed, &environment)
    );
    assert_eq!(rig.judge(&spec).await.as_str(), "Valid");
}

#[tokio::test]
async fn a_lost_or_damaged_record_costs_no_more_than_a_look() {
    let rig = Rig::new();
    let spec = rig.spec("p");
    let environment = rig.prepare().await;
    let entries = rig.options.store.join("entries");
    let records = || {
        std::fs::read_dir(&entries)
            .expect("records")
            .map(|entry| entry.expect("one").path())
    };
    for path in records() {
        std::fs::write(path, "{\"format\": 1").expect("a record");
    }
    assert_eq!(
        rig.judge(&spec).await,
        EnvironmentVerdict::Valid(environment.clone())
    );
    for path in records() {
        std::fs::remove_file(path).expect("a record");
    }
    assert_eq!(
        rig.judge(&spec).await,
        EnvironmentVerdict::Valid(environment.clone())
    );
    assert_eq!(rig.prepare().await, environment);
    assert_eq!(records().count(), 1);
    assert!(records().all(|path| path.extension().is_some_and(|ending| ending == "json")));
}

#[tokio::test]
async fn entries_are_told_apart_by_name_folder_and_class() {
    let rig = Rig::new();
    rig.prepare().await;
    make_wheel(rig.path(), &["changed = True"]);
    assert_eq!(
        rig.judge(&rig.spec("p")).await.as_str(),
        "RequirementsChanged"
    );
    let mut elsewhere = rig.spec("p");
    elsewhere.base_dir = rig.path().join("other");
    std::fs::create_dir(&elsewhere.base_dir).expect("a folder");
    make_wheel(&elsewhere.base_dir, &["changed = True"]);
    for other in [rig.spec("q"), with_class(rig.spec("p"), "a.C"), elsewhere] {
        // None of these has used any yet.
        assert_eq!(
            rig.judge(&other).await,
            EnvironmentVerdict::Missing,
            "{other:?}"
        );
    }
}
