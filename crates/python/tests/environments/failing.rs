//! Builds that fail: nothing is left, and the message says which requirement, in the installer's words.

use std::path::PathBuf;

use hookgate_python::{Installer, PythonHost};

use super::rig::{Rig, WHEEL, imports_cpex};

/// A machine without uv has one installer to test.
fn installers() -> Vec<Installer> {
    vec![Installer::Auto, Installer::Pip]
}

#[tokio::test]
async fn requirements_that_cannot_be_met_fail_in_the_installers_words_and_leave_nothing() {
    let mut rig = Rig::new();
    rig.write(
        "requirements.txt",
        "--no-index\nhookgate-no-such-package==9\n./cpex-0.1.4-py3-none-any.whl\ncpex\n",
    );
    let spec = rig.spec_with_file("p", "requirements.txt");
    for installer in installers() {
        rig.options.installer = installer;
        let error = rig.refused(&spec).await;
        let start = "the environment of p cannot be built: hookgate-no-such-package==9: ";
        assert!(error.message.starts_with(start), "{}", error.message);
        assert!(
            error
                .message
                .ends_with("pip install failed: exit status: 1"),
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
async fn a_file_that_is_not_what_its_hash_says_is_refused() {
    let mut rig = Rig::new();
    let digest = sha256(&std::fs::read(rig.path().join(WHEEL)).expect("a wheel"));
    rig.write(
        "right.txt",
        &format!("--no-index\n{WHEEL} --hash=sha256:{digest}\n"),
    );
    rig.write(
        "wrong.txt",
        &format!("--no-index\n{WHEEL} --hash=sha256:{}\n", "0".repeat(64)),
    );
    for installer in installers() {
        rig.options.installer = installer;
        // The wheel's own name does not count as the framework's: its file must be named.
        let mut spec = rig.spec_with_file("p", "wrong.txt");
        let error = rig.refused(&spec).await;
        assert!(
            error.message.contains("it has no hash"),
            "{}",
            error.message
        );
        for (name, fits) in [("right", true), ("wrong", false)] {
            let file = rig.path().join(format!("{name}.txt"));
            let text = std::fs::read_to_string(&file).expect("a file");
            let wheel = rig.path().join(WHEEL);
            let named = format!(
                "cpex @ file://{}",
                wheel.canonicalize().expect("a path").display()
            );
            let named = text.replace(WHEEL, &named);
            rig.write("named.txt", &named);
            spec = rig.spec_with_file("p", "named.txt");
            if fits {
                assert!(imports_cpex(&rig.prepared(&spec).await.environment));
                continue;
            }
            let error = rig.refused(&spec).await;
            let detail = error.detail.expect("the installer's words").to_lowercase();
            assert!(detail.contains("hash"), "{detail}");
            assert!(
                error.message.contains("cpex @ file://"),
                "{}",
                error.message
            );
        }
        assert_eq!(rig.stored().len(), 1);
        let gone = rig.stored().remove(0);
        super::rig::allow_writing(&gone);
        std::fs::remove_dir_all(gone).expect("removable");
    }
}

#[tokio::test]
async fn what_builds_is_refused_before_anything_runs() {
    let mut rig = Rig::new();
    let ran = rig.path().join("ran");
    rig.write(
        "package/setup.py",
        &format!("open({:?}, 'w')\n", ran.display()),
    );
    rig.options.installer = Installer::Uv("/nowhere/uv".into());
    rig.write("options.txt", "--no-binary :all:\ncpex\n");
    for spec in [
        rig.spec_of("p", &["./package"]),
        rig.spec_with_file("p", "options.txt"),
    ] {
        let error = rig.refused(&spec).await;
        assert!(
            error.message.starts_with("installing it may run code, "),
            "{}",
            error.message
        );
        let hint = "name a wheel, or write `allow_build: true` if it may";
        assert_eq!(error.hint.as_deref(), Some(hint));
    }
    assert!(!ran.exists() && !rig.options.store.exists());
    // Allowed, it is the installer's turn.
    let mut spec = rig.spec_of("p", &["./package"]);
    spec.python.allow_build = true;
    let error = rig.refused(&spec).await;
    assert!(
        error.message.contains("the installer cannot be started"),
        "{}",
        error.message
    );
}

/// Once by a limit of the system's on the size of files, once by a tool that says what a full disk says.
#[tokio::test]
async fn an_installer_that_runs_out_of_disk_half_way_leaves_nothing() {
    let mut rig = Rig::new();
    let venv = "case \"$1\" in venv) for last; do :; done; exec python3 -m venv --without-pip \"$last\";; esac\n\
        while [ \"$1\" != --python ]; do shift; done\nenv=${2%/bin/python}\n\
        echo x > \"$env/half\"\n";
    let full = "echo 'error: failed to write: No space left on device (os error 28)' >&2\nexit 2\n";
    let limited = "ulimit -f 8\nhead -c 1000000 /dev/zero > \"$env/big\" || { echo 'error: File too large' >&2; exit 2; }\n";
    for (name, end) in [("full", full), ("limited", limited)] {
        rig.options.installer = Installer::Uv(rig.script(name, &format!("{venv}{end}")));
        let error = rig.refused(&rig.spec("p")).await;
        assert!(
            error
                .message
                .starts_with("the environment of p cannot be built: "),
            "{}",
            error.message
        );
        assert!(
            error
                .message
                .ends_with("uv pip install failed: exit status: 2"),
            "{}",
            error.message
        );
        let hint = "make room on the store's disk, or set HOOKGATE_ENV_DIR to a folder with more";
        assert_eq!(error.hint.as_deref(), Some(hint), "{:?}", error.detail);
        assert_eq!(rig.stored(), Vec::<PathBuf>::new(), "{name}");
        assert_eq!(
            rig.judge(&rig.spec("p")).await.as_str(),
            "Missing",
            "{name}"
        );
    }
    rig.options.installer = Installer::Auto;
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
        let error = PythonHost::new(rig.options.clone())
            .prepare(&rig.spec("p"))
            .await
            .expect_err("no Python");
        assert!(error.message.ends_with(said), "{}", error.message);
    }
}

fn sha256(content: &[u8]) -> String {
    use std::io::Write as _;
    use std::process::{Command, Stdio};
    let script = "import hashlib, sys; print(hashlib.sha256(sys.stdin.buffer.read()).hexdigest())";
    let child = Command::new("python3")
        .args(["-I", "-c", script])
        .stdin(Stdio::piped())
        .stdout(Stdio::piped())
        .spawn();
    let mut child = child.expect("python3 runs");
    child
        .stdin
        .take()
        .expect("a pipe")
        .write_all(content)
        .expect("it reads");
    let output = child.wait_with_output().expect("it ends");
    String::from_utf8(output.stdout)
        .expect("text")
        .trim()
        .to_owned()
}
