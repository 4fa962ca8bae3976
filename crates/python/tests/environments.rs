//! Environments: built once, shared, replaced when broken, and never half there. Everything is
//! installed from a wheel the test makes, so no index is asked.

use std::ffi::OsString;
use std::os::unix::fs::PermissionsExt;
use std::path::{Path, PathBuf};
use std::process::Command;
use std::sync::{Arc, Mutex};

use futures::FutureExt as _;
use hookgate_core::Host as _;
use hookgate_core::config::{PluginKind, PluginSpec};
use hookgate_python::{
    Environment, EnvironmentEvent, EnvironmentVerdict, Installer, PythonHost, PythonHostOptions,
};
use tempfile::TempDir;

const MARK: &str = "hookgate-environment.json";

struct Rig {
    folder: TempDir,
    options: PythonHostOptions,
    events: Arc<Mutex<Vec<String>>>,
}

impl Rig {
    fn new() -> Self {
        let folder = tempfile::tempdir().expect("a folder");
        make_wheel(folder.path(), "");
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

    fn host(&self) -> PythonHost {
        PythonHost::new(self.options.clone())
    }

    /// A host on a machine where neither Python nor an installer is to be found.
    fn bare_host(&self) -> PythonHost {
        let mut options = self.options.clone();
        options.search_path = OsString::new();
        options.installer = Installer::Uv("/nowhere/uv".into());
        PythonHost::new(options)
    }

    fn spec(&self, name: &str) -> PluginSpec {
        self.spec_of(name, &["./cpex-0.1.4-py3-none-any.whl", "cpex"])
    }

    fn spec_of(&self, name: &str, requirements: &[&str]) -> PluginSpec {
        let kind = PluginKind::Python {
            class: "a.B".into(),
            requirements: requirements.iter().map(|line| (*line).to_owned()).collect(),
            requirements_file: None,
            import_paths: Vec::new(),
            workdir: None,
        };
        let mut spec = PluginSpec::new(name, kind);
        spec.base_dir = self.folder.path().to_owned();
        spec
    }

    async fn prepare(&self) -> Environment {
        self.host()
            .prepare(&self.spec("p"))
            .await
            .expect("an environment")
    }

    fn events(&self) -> Vec<String> {
        std::mem::take(&mut self.events.lock().expect("the events"))
    }

    fn stored(&self) -> Vec<PathBuf> {
        let entries = std::fs::read_dir(self.folder.path().join("store")).expect("the store");
        entries
            .map(|entry| entry.expect("an entry").path())
            .collect()
    }
}

fn make_wheel(folder: &Path, body: &str) {
    let script = concat!(env!("CARGO_MANIFEST_DIR"), "/tests/support/make_wheel.py");
    let status = Command::new("python3")
        .arg(script)
        .arg(folder)
        .arg(body)
        .status();
    assert!(status.expect("python3 runs").success());
}

fn imports_cpex(environment: &Environment) -> bool {
    Command::new(environment.executable())
        .args(["-I", "-c", "import cpex"])
        .status()
        .expect("it runs")
        .success()
}

#[tokio::test]
async fn an_environment_is_built_once_and_found_again() {
    let rig = Rig::new();
    assert_eq!(
        rig.host().judge(&rig.spec("p")).await.expect("a verdict"),
        EnvironmentVerdict::Missing
    );
    let environment = rig.prepare().await;
    assert!(imports_cpex(&environment));
    assert_eq!(rig.events(), ["building p 2", "built p true"]);
    assert_eq!(rig.stored(), std::slice::from_ref(&environment.path));
    let mode = std::fs::metadata(rig.folder.path().join("store"))
        .expect("the store")
        .permissions()
        .mode();
    assert_eq!(mode & 0o777, 0o700);

    let written = std::fs::metadata(environment.path.join(MARK))
        .expect("a mark")
        .modified()
        .expect("a time");
    assert_eq!(rig.prepare().await, environment);
    assert_eq!(rig.events(), ["reused p"]);
    let now = std::fs::metadata(environment.path.join(MARK))
        .expect("a mark")
        .modified()
        .expect("a time");
    assert_eq!(now, written);
}

#[tokio::test]
async fn a_valid_environment_needs_neither_installer_nor_base_interpreter() {
    let rig = Rig::new();
    let environment = rig.prepare().await;
    let found = rig
        .bare_host()
        .prepare(&rig.spec("q"))
        .await
        .expect("the same");
    assert_eq!(found, environment);
    let missing = rig
        .bare_host()
        .prepare(&rig.spec_of("q", &["other"]))
        .await
        .expect_err("no interpreter");
    let message = "the environment of q cannot be built: cpex==0.1.4, other: no python3 on PATH";
    assert_eq!(missing.message, message);
    assert_eq!(
        missing.hint.as_deref(),
        Some("install Python 3.11 or later so that `python3` is on PATH")
    );
}

#[tokio::test(flavor = "multi_thread")]
async fn plugins_with_one_set_of_requirements_share_one_build() {
    let rig = Rig::new();
    let (one, other) = (rig.host(), rig.host());
    let (p, q) = (
        rig.spec("p"),
        rig.spec_of("q", &["CPEX", "./cpex-0.1.4-py3-none-any.whl  # the same"]),
    );
    let (p, q) = futures::join!(one.prepare(&p), other.prepare(&q));
    assert_eq!(p.expect("an environment"), q.expect("an environment"));
    assert_eq!(rig.stored().len(), 1);
    let events = rig.events();
    let count = |word: &str| {
        events
            .iter()
            .filter(|event| event.starts_with(word))
            .count()
    };
    assert_eq!(
        (count("building"), count("built"), count("reused")),
        (1, 1, 1),
        "{events:?}"
    );
}

#[tokio::test]
async fn a_package_that_changed_is_another_requirement() {
    let rig = Rig::new();
    let environment = rig.prepare().await;
    make_wheel(rig.folder.path(), "changed = True");
    assert_ne!(rig.prepare().await.path, environment.path);
}

#[tokio::test]
async fn requirements_that_cannot_be_met_fail_in_the_installers_words_and_leave_nothing() {
    let rig = Rig::new();
    let file = rig.folder.path().join("requirements.txt");
    std::fs::write(&file, "--no-index\nhookgate-no-such-package==9\ncpex\n").expect("a file");
    let mut spec = rig.spec_of("p", &[]);
    if let PluginKind::Python {
        requirements_file, ..
    } = &mut spec.kind
    {
        *requirements_file = Some("requirements.txt".into());
    }
    for installer in [Installer::Auto, Installer::Pip] {
        let mut options = rig.options.clone();
        options.installer = installer;
        let error = PythonHost::new(options)
            .prepare(&spec)
            .await
            .expect_err("nothing to install");
        let start = format!(
            "the environment of p cannot be built: -r {}: ",
            file.display()
        );
        assert!(error.message.starts_with(&start), "{}", error.message);
        assert!(
            error.message.contains("pip install failed: exit status: 1"),
            "{}",
            error.message
        );
        let detail = error.detail.expect("the installer's words");
        assert!(detail.contains("hookgate-no-such-package"), "{detail}");
        assert_eq!(
            error.hint.as_deref(),
            Some("check `requirements` and the installer's index settings")
        );
        assert_eq!(rig.stored(), Vec::<PathBuf>::new());
    }
}

#[tokio::test]
async fn what_a_crash_left_is_replaced() {
    let rig = Rig::new();
    let path = rig.prepare().await.path;
    type Break = fn(&Path);
    let breaks: [(&str, Break); 4] = [
        ("no mark", |path| {
            std::fs::remove_file(path.join(MARK)).expect("a mark")
        }),
        ("half a mark", |path| {
            std::fs::write(path.join(MARK), "{\"format\":1,").expect("a mark")
        }),
        ("another's mark", |path| {
            let mark = std::fs::read_to_string(path.join(MARK)).expect("a mark");
            let mut mark: serde_json::Value = serde_json::from_str(&mark).expect("JSON");
            mark["key"] = "0".repeat(64).into();
            std::fs::write(path.join(MARK), mark.to_string()).expect("a mark");
        }),
        ("no interpreter", |path| {
            std::fs::remove_file(path.join("bin/python")).expect("an interpreter")
        }),
    ];
    for (name, break_it) in breaks {
        std::fs::write(path.join("left"), "").expect("a file");
        break_it(&path);
        assert_eq!(
            rig.host().judge(&rig.spec("p")).await.expect("a verdict"),
            EnvironmentVerdict::Missing,
            "{name}"
        );
        let environment = rig.prepare().await;
        assert_eq!(environment.path, path, "{name}");
        assert!(
            !path.join("left").exists() && imports_cpex(&environment),
            "{name}"
        );
    }
}

#[tokio::test]
async fn pip_builds_where_there_is_no_uv() {
    let mut rig = Rig::new();
    rig.options.installer = Installer::Pip;
    let environment = rig.prepare().await;
    assert!(imports_cpex(&environment));
    let cached = environment
        .path
        .join("lib")
        .join(format!("python{}", version(&environment.python)));
    assert!(cached.join("site-packages/cpex/__pycache__").is_dir());
}

fn version(full: &str) -> String {
    full.split('.').take(2).collect::<Vec<_>>().join(".")
}

#[tokio::test(flavor = "multi_thread")]
async fn a_build_that_is_dropped_ends_its_installer_and_lets_the_next_one_in() {
    let mut rig = Rig::new();
    let pipe = rig.folder.path().join("pipe");
    assert!(
        Command::new("mkfifo")
            .arg(&pipe)
            .status()
            .expect("mkfifo runs")
            .success()
    );
    let hanging = rig.folder.path().join("uv");
    // Makes the folder as uv would, then says that it has, and waits until it is ended.
    let script = "#!/bin/sh\nfor last; do :; done\nmkdir -p \"$last/bin\"\nexec 3>\"$(dirname \"$0\")/pipe\"\necho begun >&3\nsleep 1000\n";
    std::fs::write(&hanging, script).expect("a script");
    std::fs::set_permissions(&hanging, PermissionsExt::from_mode(0o700)).expect("executable");
    let reader = tokio::task::spawn_blocking(move || {
        use std::io::{BufRead as _, BufReader, Read as _};
        let mut pipe = BufReader::new(std::fs::File::open(pipe).expect("the pipe"));
        let mut line = String::new();
        pipe.read_line(&mut line).expect("a word");
        (line, move || {
            pipe.read_to_end(&mut Vec::new()).expect("an end")
        })
    });
    let working = std::mem::replace(&mut rig.options.installer, Installer::Uv(hanging));
    let (host, spec) = (rig.host(), rig.spec("p"));
    let mut build = Box::pin(host.prepare(&spec));
    let (line, end) = tokio::select! {
        _ = &mut build => panic!("the installer hangs"),
        begun = reader => begun.expect("a reader"),
    };
    assert_eq!(line, "begun\n");
    assert!((&mut build).now_or_never().is_none());
    drop(build);
    tokio::task::spawn_blocking(end)
        .await
        .expect("every process ends");
    rig.options.installer = working;
    assert!(imports_cpex(&rig.prepare().await));
}

#[tokio::test]
async fn an_interpreter_that_is_none_is_refused() {
    let mut rig = Rig::new();
    for (path, said) in [
        ("/bin/false", "python does not run: /bin/false"),
        ("/nowhere", "python cannot be started: /nowhere"),
    ] {
        rig.options.python = Some(path.into());
        let error = rig
            .host()
            .prepare(&rig.spec("p"))
            .await
            .expect_err("no Python");
        assert!(error.message.ends_with(said), "{}", error.message);
    }
}

#[tokio::test]
async fn a_store_that_everybody_may_write_to_is_refused() {
    let rig = Rig::new();
    std::fs::create_dir(&rig.options.store).expect("a folder");
    std::fs::set_permissions(&rig.options.store, PermissionsExt::from_mode(0o777)).expect("open");
    let error = rig
        .host()
        .prepare(&rig.spec("p"))
        .await
        .expect_err("an open store");
    assert_eq!(
        error.message,
        format!(
            "everybody may write to the environment store: {}",
            rig.options.store.display()
        )
    );
}

#[tokio::test]
async fn packages_that_went_from_an_environment_are_told_from_missing_requirements() {
    let rig = Rig::new();
    // The wheel's cpex has no framework in it: what is left after a clean-up in the wrong folder.
    let mut hints = Vec::new();
    for _ in 0..2 {
        let error = rig.host().load(rig.spec("p")).await.err();
        hints.push(error.expect("no framework").hint.expect("a hint"));
    }
    let named = "let `requirements` name cpex==0.1.4, or no framework at all";
    let path = rig.stored().remove(0);
    let removed = format!(
        "{named}; if they do, remove {}, and it is built anew",
        path.display()
    );
    assert_eq!(hints, [named.to_owned(), removed]);
}
