//! Environments that somebody else made: used as they are, never written to.

use std::collections::BTreeMap;
use std::os::unix::fs::MetadataExt as _;
use std::path::{Path, PathBuf};

use hookgate_core::Host as _;
use hookgate_core::config::{PluginKind, PluginSpec};
use hookgate_python::EnvironmentOrigin;
use serde_json::{Value, json};

use super::rig::{Rig, WHEEL, make_venv, make_wheel, packages, python_version};

/// SHA-256 of nothing, which stands for no file.
const EMPTY: &str = "e3b0c44298fc1c149afbf4c8996fb92427ae41e4649b934ca495991b7852b855";

/// Every file and folder, with what changes when one is written to.
fn snapshot(path: &Path) -> BTreeMap<PathBuf, (u32, i64, i64, u64)> {
    let (mut found, mut waiting) = (BTreeMap::new(), vec![path.to_owned()]);
    while let Some(path) = waiting.pop() {
        let about = std::fs::symlink_metadata(&path).expect("it is there");
        if about.is_dir() {
            let entries = std::fs::read_dir(&path).expect("a folder");
            waiting.extend(entries.map(|entry| entry.expect("an entry").path()));
        }
        found.insert(
            path,
            (about.mode(), about.mtime(), about.mtime_nsec(), about.len()),
        );
    }
    found
}

fn named(rig: &Rig, requirements: &[&str]) -> PluginSpec {
    let mut spec = rig.spec_of("p", requirements);
    spec.python.environment = Some("mine".into());
    spec
}

#[tokio::test]
async fn a_named_environment_is_used_as_it_is() {
    let rig = Rig::new();
    make_wheel(rig.path(), &["", "extra", "1.5"]);
    let wheels = [WHEEL, "extra-1.5-py3-none-any.whl"].map(|name| rig.path().join(name));
    let path = rig.path().join("mine");
    make_venv(&path, &wheels);
    let before = snapshot(&path);
    for requirements in [
        &[][..],
        &[
            "extra>=1,<2",
            "Cpex==0.1.4",
            "no-such; python_version < '3'",
        ][..],
    ] {
        let prepared = rig.prepared(&named(&rig, requirements)).await;
        assert_eq!(prepared.verdict.as_str(), "Valid");
        assert_eq!(prepared.environment.path, path);
        assert_eq!(prepared.environment.python, python_version(&path));
        assert_eq!(prepared.environment.origin, EnvironmentOrigin::Named);
    }
    let error = rig
        .refused(&named(&rig, &["extra==2", "absent", "cpex"]))
        .await;
    assert_eq!(
        error.message,
        format!(
            "the environment cannot be used: {}: it does not hold what is required: \
             absent (not installed), extra==2 (1.5 is installed)",
            path.display()
        )
    );
    // Its cpex has no framework in it: only a worker can tell.
    let error = rig
        .host()
        .load(named(&rig, &[]))
        .await
        .err()
        .expect("no framework");
    assert!(error.message.contains(": framework: "), "{}", error.message);
    let hint = format!(
        "install cpex==0.1.4 in {}, or name another environment",
        path.display()
    );
    assert_eq!(error.hint, Some(hint));
    assert_eq!(snapshot(&path), before);
    assert!(!rig.options.store.exists(), "no store is needed");
    assert_eq!(rig.events(), Vec::<String>::new());
}

#[tokio::test]
async fn a_named_environment_that_is_none_is_refused() {
    let rig = Rig::new();
    let mut spec = named(&rig, &[]);
    spec.python.allow_build = true;
    let error = rig.refused(&spec).await;
    assert_eq!(
        error.message,
        "allow_build: nothing is installed into an environment that is named"
    );
    spec.python.allow_build = false;
    let path = rig.path().join("mine");
    let error = rig.refused(&spec).await;
    let start = format!("the environment cannot be used: {}: ", path.display());
    assert_eq!(error.message, format!("{start}no such folder"));
    std::fs::create_dir(&path).expect("a folder");
    let error = rig.refused(&spec).await;
    assert_eq!(error.message, format!("{start}it has no bin/python"));
    assert_eq!(
        error.hint.as_deref(),
        Some("name a virtualenv: `python: {environment: DIR}`")
    );
    rig.script("mine/bin/python", "exit 1\n");
    let error = rig.refused(&spec).await;
    assert!(
        error
            .message
            .starts_with(&format!("{start}python does not run: ")),
        "{}",
        error.message
    );
}

/// A plugin that the framework's own host has run, as `<plugins>/pkg` with its environment.
struct Legacy {
    rig: Rig,
    path: PathBuf,
    metadata: Value,
}

impl Legacy {
    fn new() -> Self {
        let rig = Rig::new();
        let path = rig.path().join("plugins/pkg/.venv");
        make_venv(&path, &[rig.path().join(WHEEL)]);
        let metadata = json!({
            "venv_path": path.display().to_string(),
            "requirements_file": null,
            "requirements_hash": EMPTY,
            "manifest_version": null,
            "manifest_hash": EMPTY,
            "python_version": python_version(&path),
        });
        Self {
            rig,
            path,
            metadata,
        }
    }

    fn spec(&self) -> PluginSpec {
        let mut spec = self.rig.spec(".");
        spec.kind = PluginKind::Python {
            class: "pkg.module.Class".into(),
            requirements: Vec::new(),
            requirements_file: None,
            import_paths: vec!["empty".into(), "plugins".into()],
            workdir: None,
        };
        spec
    }

    fn write(&self, name: &str, metadata: &Value) {
        let name = format!("plugins/pkg/.cpex/venv_cache/{name}");
        self.rig.write(&name, &metadata.to_string());
    }

    /// Whether it is used; where it is not, why not.
    async fn judged(&self, spec: &PluginSpec) -> Result<(), String> {
        match self.rig.host().prepare(spec).await {
            Ok(prepared) if prepared.environment.origin == EnvironmentOrigin::Legacy => {
                assert_eq!(prepared.environment.path, self.path);
                let note = format!(
                    "the framework's own environment is used as it is: {}",
                    self.path.display()
                );
                assert_eq!(prepared.notes, [note]);
                Ok(())
            }
            Ok(prepared) => {
                let start = "the framework's own environment is not used, ";
                let note = prepared.notes.first().expect("a note");
                let end = format!(": {}", self.path.display());
                let why = note
                    .strip_prefix(start)
                    .and_then(|note| note.strip_suffix(&end));
                Err(why.unwrap_or_else(|| panic!("{note}")).to_owned())
            }
            Err(error) => panic!("{}", error.message),
        }
    }
}

#[tokio::test]
async fn a_legacy_environment_is_used_where_what_it_was_made_for_still_holds() {
    let mut legacy = Legacy::new();
    // Where it is not used, ours is built, of the wheel.
    legacy.rig.write(
        "plugins/pkg/requirements.txt",
        "--no-index\n../../cpex-0.1.4-py3-none-any.whl\ncpex\n",
    );
    let before = snapshot(&legacy.path);
    let spec = legacy.spec();
    assert_eq!(
        legacy.judged(&spec).await,
        Err("nothing says what it was made for".into())
    );
    legacy.write(".venv_metadata.json", &legacy.metadata);
    assert_eq!(legacy.judged(&spec).await, Ok(()));

    // What the class has for itself counts first.
    let mut other = legacy.metadata.clone();
    other["requirements_hash"] = "00".into();
    legacy.write("pkg-module-Class_metadata.json", &other);
    let changed = "the requirements file has changed since it was made";
    assert_eq!(legacy.judged(&spec).await, Err(changed.into()));

    let cases = [
        (
            "manifest_version",
            json!("1.0"),
            "it was made for another `version` of the plugin",
        ),
        (
            "manifest_hash",
            json!("00"),
            "the plugin's manifest has changed since it was made",
        ),
    ];
    for (key, value, why) in cases {
        let mut metadata = legacy.metadata.clone();
        metadata[key] = value;
        legacy.write("pkg-module-Class_metadata.json", &metadata);
        assert_eq!(legacy.judged(&spec).await, Err(why.into()), "{key}");
        // A key that is not there says nothing.
        metadata.as_object_mut().expect("an object").remove(key);
        legacy.write("pkg-module-Class_metadata.json", &metadata);
        assert_eq!(legacy.judged(&spec).await, Ok(()), "{key}");
    }
    // The framework's host never compared this one, and so used what cannot run.
    legacy.metadata["python_version"] = "3.11.99".into();
    legacy.write("pkg-module-Class_metadata.json", &legacy.metadata);
    let version = python_version(&legacy.path);
    let why = format!("it was made for Python 3.11.99, and its interpreter is {version}");
    assert_eq!(legacy.judged(&spec).await, Err(why));
    // One of its hosts does not know it; the virtualenv does.
    legacy.metadata["python_version"] = Value::Null;
    legacy.write("pkg-module-Class_metadata.json", &legacy.metadata);
    assert_eq!(legacy.judged(&spec).await, Ok(()));
    assert_eq!(snapshot(&legacy.path), before);

    legacy.rig.write(
        "plugins/pkg/.cpex/venv_cache/pkg-module-Class_metadata.json",
        "{",
    );
    let why = legacy.judged(&spec).await.expect_err("half a file");
    assert!(
        why.starts_with("what it was made for cannot be read: "),
        "{why}"
    );
}

#[tokio::test]
async fn a_legacy_environment_must_hold_what_the_entry_lists_and_the_framework() {
    let legacy = Legacy::new();
    legacy.write(".venv_metadata.json", &legacy.metadata);
    let mut spec = legacy.spec();
    let list = |spec: &mut PluginSpec, lines: &[&str]| {
        if let PluginKind::Python { requirements, .. } = &mut spec.kind {
            *requirements = lines.iter().map(|line| (*line).to_owned()).collect();
        }
    };
    list(&mut spec, &["cpex==0.1.4"]);
    assert_eq!(legacy.judged(&spec).await, Ok(()));
    list(&mut spec, &[WHEEL, "cpex"]);
    let why = legacy
        .judged(&spec)
        .await
        .expect_err("a file cannot be compared");
    assert!(
        why.starts_with("it does not hold what is required: "),
        "{why}"
    );
    let info = packages(&legacy.path).join("cpex-0.1.4.dist-info");
    std::fs::remove_dir_all(info).expect("removable");
    let why = legacy.judged(&spec).await.expect_err("no framework");
    assert_eq!(why, "the framework is not installed in it");
}

/// A plugin's folder may hold anything, also what calls itself an interpreter.
#[tokio::test]
async fn nothing_of_a_plugins_folder_runs_before_it_is_confined() {
    let legacy = Legacy::new();
    legacy.write(".venv_metadata.json", &legacy.metadata);
    let (ran, spec) = (legacy.rig.path().join("ran"), legacy.spec());
    // A standard library of its own.
    let settings = legacy.path.join("pyvenv.cfg");
    let kept = std::fs::read_to_string(&settings).expect("settings");
    let version = packages(&legacy.path);
    let version = version
        .parent()
        .and_then(Path::file_name)
        .expect("a name")
        .to_string_lossy()
        .into_owned();
    // With what there is before `open` is.
    let touch = format!(
        "import posix; posix.close(posix.open({:?}, posix.O_CREAT | posix.O_WRONLY))\n",
        ran.display().to_string()
    );
    for module in ["os", "encodings/__init__", "site", "json/__init__"] {
        legacy.rig.write(
            &format!("plugins/pkg/home/lib/{version}/{module}.py"),
            &touch,
        );
    }
    let home = legacy.rig.path().join("plugins/pkg/home/bin");
    std::fs::create_dir_all(&home).expect("a folder");
    std::fs::write(&settings, format!("home = {}\n{kept}", home.display())).expect("settings");
    std::fs::write(
        packages(&legacy.path).join("evil.pth"),
        format!("import os; {touch}"),
    )
    .expect("a file");
    assert_eq!(legacy.judged(&spec).await, Ok(()));
    assert!(!ran.exists());
    // Nor where a worker is started: what it runs of it, it runs confined, and cannot write there.
    let loaded = legacy.rig.host().load(spec.clone()).await;
    assert!(loaded.is_err(), "it has no standard library");
    assert!(!ran.exists());
    // An interpreter of its own.
    let interpreter = legacy.path.join("bin/python");
    std::fs::remove_file(&interpreter).expect("a link");
    legacy.rig.script(
        "plugins/pkg/.venv/bin/python",
        &format!("touch '{}'\n", ran.display()),
    );
    let mut spec = spec;
    if let PluginKind::Python { requirements, .. } = &mut spec.kind {
        *requirements = vec![WHEEL.into(), "cpex".into()];
    }
    let why = legacy.judged(&spec).await.expect_err("it is not run");
    assert_eq!(
        why,
        "its interpreter lies in the plugin's folder, and must be a link to one elsewhere"
    );
    assert!(!ran.exists());
}
