//! Builds: once for whoever asks for the same, by either installer, one at a time.

use std::path::{Path, PathBuf};
use std::process::Command;

use futures::FutureExt as _;
use hookgate_core::config::PluginSpec;
use hookgate_python::{EnvironmentVerdict, Installer};

use super::rig::{MARK, Rig, WHEEL, allow_writing, imports_cpex, make_wheel, packages};

#[tokio::test]
async fn an_environment_is_built_once_and_found_again() {
    let rig = Rig::new();
    assert_eq!(rig.judge(&rig.spec("p")).await, EnvironmentVerdict::Missing);
    assert!(!rig.options.store.exists(), "a look makes nothing");
    let environment = rig.prepare().await;
    assert!(imports_cpex(&environment));
    assert_eq!(rig.events(), ["building p 2", "built p true"]);
    assert_eq!(rig.stored(), std::slice::from_ref(&environment.path));

    let written = |path: &Path| {
        let mark = std::fs::metadata(path.join(MARK)).expect("a mark");
        mark.modified().expect("a time")
    };
    let before = written(&environment.path);
    assert_eq!(rig.prepare().await, environment);
    assert_eq!(rig.events(), ["reused p"]);
    assert_eq!(written(&environment.path), before);
}

#[tokio::test]
async fn a_valid_environment_needs_neither_installer_nor_base_interpreter() {
    let rig = Rig::new();
    let environment = rig.prepare().await;
    let found = rig.bare_host().prepare(&rig.spec("q")).await;
    assert_eq!(found.expect("the same").environment, environment);
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
        rig.spec_of("q", &["CPEX", &format!("{WHEEL}  # the same")]),
    );
    let (p, q) = futures::join!(one.prepare(&p), other.prepare(&q));
    assert_eq!(
        p.expect("an environment").environment,
        q.expect("an environment").environment
    );
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
    make_wheel(rig.path(), &["changed = True"]);
    assert_ne!(rig.prepare().await.path, environment.path);
}

#[tokio::test]
async fn whether_builds_are_allowed_is_part_of_what_is_asked_for() {
    let rig = Rig::new();
    let environment = rig.prepare().await;
    let mut spec = rig.spec("p");
    spec.python.allow_build = true;
    assert_ne!(rig.prepared(&spec).await.environment.path, environment.path);
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
            std::fs::write(path.join(MARK), "{\"format\":2,").expect("a mark")
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
        allow_writing(&path);
        std::fs::write(path.join("left"), "").expect("a file");
        break_it(&path);
        let verdict = rig.judge(&rig.spec("p")).await;
        assert_eq!(verdict.as_str(), "Unreadable", "{name}: {verdict}");
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
    assert!(
        packages(&environment.path)
            .join("cpex/__pycache__")
            .is_dir()
    );
}

#[tokio::test(flavor = "multi_thread")]
async fn a_build_that_is_dropped_ends_its_installer_and_lets_the_next_one_in() {
    let mut rig = Rig::new();
    let pipe = rig.path().join("pipe");
    assert!(
        Command::new("mkfifo")
            .arg(&pipe)
            .status()
            .expect("mkfifo runs")
            .success()
    );
    // Makes the folder as uv would, then says that it has, and waits until it is ended.
    let script = "for last; do :; done\nmkdir -p \"$last/bin\"\nexec 3>\"$(dirname \"$0\")/pipe\"\necho begun >&3\nsleep 1000\n";
    let hanging = rig.script("uv", script);
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

/// What an installer was started with, for each installer: one that writes down its arguments.
#[tokio::test]
async fn installers_are_told_what_is_allowed() {
    let mut rig = Rig::new();
    rig.write("hashed.txt", "cpex==0.1.4 --hash=sha256:00\n");
    let real = python_of_path();
    // A uv that makes a virtualenv and installs nothing.
    let said = rig.path().join("said");
    let script = format!(
        "echo \"$@\" >> '{}'\ncase \"$1\" in venv) for last; do :; done; '{}' -m venv --without-pip \"$last\";; esac\n",
        said.display(),
        real.display()
    );
    rig.options.installer = Installer::Uv(rig.script("uv", &script));
    let told = async |rig: &Rig, spec: &PluginSpec| {
        let _ = std::fs::remove_file(&said);
        rig.prepared(spec).await;
        let said = std::fs::read_to_string(&said).expect("what it was told");
        let lines: Vec<String> = said.lines().map(str::to_owned).collect();
        <[String; 2]>::try_from(lines).expect("two runs")
    };
    let [venv, install] = told(&rig, &rig.spec("p")).await;
    assert!(
        venv.starts_with("venv --no-project --no-python-downloads "),
        "{venv}"
    );
    for option in [
        "--only-binary :all:",
        "--link-mode copy",
        "--compile-bytecode",
    ] {
        assert!(install.contains(option), "{install}");
    }
    for option in ["--offline", "--require-hashes"] {
        assert!(!install.contains(option), "{install}");
    }
    let [_, install] = told(&rig, &rig.spec_with_file("p", "hashed.txt")).await;
    assert!(
        install.contains("--require-hashes") && install.contains("--only-binary :all:"),
        "{install}"
    );
    let mut spec = rig.spec("p");
    spec.python.allow_build = true;
    rig.options.offline = true;
    let [venv, install] = told(&rig, &spec).await;
    assert!(
        venv.contains("--offline") && install.contains("--offline"),
        "{venv} {install}"
    );
    assert!(!install.contains("--only-binary"), "{install}");
}

fn python_of_path() -> PathBuf {
    let said = Command::new("python3")
        .args(["-I", "-c", "import sys; print(sys.executable)"])
        .output();
    String::from_utf8(said.expect("python3 runs").stdout)
        .expect("a path")
        .trim()
        .into()
}
