//! `hookgate compile`, and what every other command finds of it.

use std::fs;
use std::os::unix::fs::PermissionsExt as _;
use std::path::PathBuf;
use std::process::{Command, Output, Stdio};

use hookgate_vectors::guests;
use serde_json::{Value, json};

use super::support::{Folder, deny_list, entry};

/// A folder with a code cache of its own in `code`, and small components in it.
struct Project(Folder);

impl Project {
    fn new() -> Self {
        let folder = Folder::new();
        for name in ["deny-list-rust", "tools-only"] {
            fs::copy(
                guests::component(name),
                folder.path().join(format!("{name}.wasm")),
            )
            .unwrap();
        }
        Self(folder)
    }

    fn with_config(text: &str) -> Self {
        let project = Self::new();
        project.0.write("hookgate.yaml", text);
        project
    }

    fn code(&self) -> PathBuf {
        self.0.path().join("code")
    }

    fn command(&self, arguments: &[&str]) -> Command {
        let mut command = self.0.command(arguments);
        command
            .env("HOOKGATE_CACHE_DIR", "code")
            .stdin(Stdio::null());
        command
    }

    fn run(&self, arguments: &[&str]) -> Ran {
        Ran::of(self.command(arguments).output().unwrap())
    }

    /// Files of code in the cache; it has no others.
    fn kept(&self) -> usize {
        let files = fs::read_dir(self.code()).unwrap();
        let names = files.map(|file| file.unwrap().file_name().into_string().unwrap());
        let names: Vec<String> = names.collect();
        assert!(
            names.iter().all(|name| name.ends_with(".cwasm")),
            "{names:?}"
        );
        names.len()
    }
}

#[derive(Debug)]
struct Ran {
    code: Option<i32>,
    stdout: String,
    stderr: String,
}

impl Ran {
    fn of(output: Output) -> Self {
        Self {
            code: output.status.code(),
            stdout: String::from_utf8(output.stdout).unwrap(),
            stderr: String::from_utf8(output.stderr).unwrap(),
        }
    }

    fn json(&self) -> Value {
        serde_json::from_str(&self.stdout).unwrap_or_else(|error| panic!("{error}\n{self:?}"))
    }
}

/// An entry for a component of the project.
fn plugin(name: &str, component: &str, more: &str) -> String {
    format!(
        "- {{name: {name}, kind: wasm, component: {component}.wasm, hooks: [tool_pre_invoke]{more}}}\n"
    )
}

fn digest_of(project: &Project, component: &str) -> String {
    let report = project
        .run(&["compile", component, "--format", "json"])
        .json();
    report["components"][0]["digest"]
        .as_str()
        .unwrap()
        .to_owned()
}

#[test]
fn the_second_time_everything_is_in_the_cache() {
    let project = Project::new();
    for (from, words) in [
        ("compiled", "2 compiled, 0 from the cache"),
        ("from the cache", "0 compiled, 2 from the cache"),
    ] {
        let ran = project.run(&["compile", "deny-list-rust.wasm", "tools-only.wasm"]);
        assert_eq!((ran.code, ran.stderr.as_str()), (Some(0), ""));
        let lines: Vec<&str> = ran.stdout.lines().collect();
        let headings: Vec<&str> = lines[0].split_whitespace().collect();
        assert_eq!(headings, ["component", "code", "bytes", "time", "digest"]);
        for (line, name) in lines[1..3]
            .iter()
            .zip(["deny-list-rust.wasm", "tools-only.wasm"])
        {
            assert!(
                line.starts_with(name) && line.contains(&format!("  {from}  ")),
                "{line}"
            );
            let (_, digest) = line.rsplit_once("  sha256:").expect("a digest");
            assert_eq!(digest.len(), 64, "{line}");
        }
        assert_eq!(lines[3..], ["", &format!("code: {words}")]);
    }
    assert_eq!(project.kept(), 2);
}

#[test]
fn json_has_all_of_it() {
    let project = Project::with_config(&format!(
        "plugins:\n{}{}{}",
        plugin("one", "deny-list-rust", ""),
        plugin("two", "tools-only", ""),
        plugin("three", "deny-list-rust", ""),
    ));
    let [first, second] = [0, 1].map(|_| {
        let ran = project.run(&["compile", "--format", "json"]);
        assert_eq!((ran.code, ran.stderr.as_str()), (Some(0), ""));
        ran.json()
    });
    assert_eq!(
        (&first["ok"], &first["folder"]),
        (&json!(true), &json!("code"))
    );
    assert_eq!(first["problems"], json!([]));
    let rows = |report: &Value| report["components"].as_array().unwrap().clone();
    let (first, second) = (rows(&first), rows(&second));
    assert_eq!((first.len(), second.len()), (2, 2));
    assert_eq!(first[0]["plugins"], json!(["one", "three"]));
    assert_eq!(first[1]["plugins"], json!(["two"]));
    for (made, found) in first.iter().zip(&second) {
        assert_eq!(
            (&made["from"], &made["kept"]),
            (&json!("compiled"), &json!(true))
        );
        assert_eq!(
            (&found["from"], &found["kept"]),
            (&json!("cache"), &json!(true))
        );
        assert_eq!(
            (&made["digest"], &made["code_bytes"]),
            (&found["digest"], &found["code_bytes"])
        );
        assert!(made["code_bytes"].as_u64().unwrap() > 0);
        assert!(made["duration_us"].is_u64());
    }
    // By a digest that anybody can take.
    let file = project.0.path().join("deny-list-rust.wasm");
    assert_eq!(first[0]["digest"], json!(guests::digest(&file)));
}

#[test]
fn what_does_not_load_is_told_after_the_rest_is_compiled() {
    let project = Project::new();
    project.0.write("text.wasm", "hello");
    let arguments = ["compile", "nowhere.wasm", "text.wasm", "tools-only.wasm"];
    let ran = project.run(&arguments);
    assert_eq!(ran.code, Some(1));
    assert!(
        ran.stdout.contains("\ntools-only.wasm  compiled  "),
        "{}",
        ran.stdout
    );
    assert!(
        ran.stdout
            .ends_with("\ncode: 1 compiled, 0 from the cache, 2 failed\n"),
        "{}",
        ran.stdout
    );
    let errors: Vec<&str> = ran
        .stderr
        .lines()
        .filter(|line| line.starts_with("error: "))
        .collect();
    assert_eq!(errors.len(), 2, "{}", ran.stderr);
    assert!(errors[0].starts_with("error: nowhere.wasm: cannot read component nowhere.wasm: "));
    assert_eq!(
        errors[1],
        "error: text.wasm: text.wasm is not a WebAssembly component"
    );
    assert_eq!(project.kept(), 1);

    let ran = project.run(&[&arguments[..], &["--format", "json"]].concat());
    assert_eq!((ran.code, ran.stderr.as_str()), (Some(1), ""));
    let report = ran.json();
    assert_eq!(report["ok"], json!(false));
    assert_eq!(report["components"].as_array().unwrap().len(), 1);
    let problems = report["problems"].as_array().unwrap();
    assert_eq!(problems.len(), 2);
    assert_eq!(problems[1]["stage"], "load");
    assert_eq!(
        problems[1]["message"],
        "text.wasm is not a WebAssembly component"
    );
}

#[test]
fn a_pin_is_held_when_compiling_and_when_loading() {
    let project = Project::new();
    let digest = digest_of(&project, "tools-only.wasm");
    let wrong = format!("sha256:{}", "0".repeat(64));
    let config = format!(
        "plugins:\n{}{}",
        plugin(
            "right",
            "tools-only",
            &format!(
                ", digest: '{}'",
                digest.to_uppercase().replace("SHA", "sha")
            )
        ),
        plugin("wrong", "tools-only", &format!(", digest: '{wrong}'")),
    );
    project.0.write("hookgate.yaml", &config);
    for command in ["compile", "check"] {
        let ran = project.run(&[command]);
        assert_eq!(ran.code, Some(1), "{command}");
        for told in [
            format!("is not the pinned one: it is {digest}, `digest:` says {wrong}\n"),
            format!(
                "hint: put the pinned file back; or, if this one is to run, write `digest: {digest}`"
            ),
            "  --> hookgate.yaml:3".to_owned(),
        ] {
            assert!(
                ran.stderr.contains(&told),
                "{command}: {told}\n{}",
                ran.stderr
            );
        }
        assert_eq!(ran.stderr.matches("error: ").count(), 1, "{}", ran.stderr);
    }
    project
        .0
        .write("hookgate.yaml", config.replace(&wrong, &digest));
    assert_eq!(project.run(&["compile"]).code, Some(0));
    let ran = project.run(&["check"]);
    assert_eq!((ran.code, ran.stderr.as_str()), (Some(0), ""));
    let line = format!("  digest: {digest} (pinned)\n");
    assert_eq!(ran.stdout.matches(&line).count(), 2, "{}", ran.stdout);
}

#[test]
fn check_shows_a_pin_and_import_keeps_it() {
    let project = Project::new();
    let digest = digest_of(&project, "tools-only.wasm");
    let pinned = |mode: &str| {
        plugin(
            "p",
            "tools-only",
            &format!(", digest: '{digest}', mode: {mode}"),
        )
    };
    project
        .0
        .write("hookgate.yaml", format!("plugins:\n{}", pinned("audit")));
    let report = project.run(&["check", "--format", "json"]).json();
    let shown = &report["plugins"][0];
    assert_eq!(
        (&shown["digest"], &shown["loaded"]["digest"]),
        (&json!(digest), &json!(digest))
    );
    project
        .0
        .write("hookgate.yaml", format!("plugins:\n{}", pinned("disabled")));
    let ran = project.run(&["check"]);
    let lines = format!("  digest: {digest} (pinned)\n  disabled: not loaded\n");
    assert!(ran.stdout.contains(&lines), "{}", ran.stdout);
    project.0.write(
        "hookgate.yaml",
        "plugins:\n".to_owned() + &plugin("p", "tools-only", ""),
    );
    let ran = project.run(&["check"]);
    assert!(
        ran.stdout.contains(&format!("  digest: {digest}\n")),
        "{}",
        ran.stdout
    );
    assert_eq!(
        project.run(&["check", "--format", "json"]).json()["plugins"][0]["digest"],
        json!(null)
    );

    project.0.write(
        "legacy.yaml",
        format!("plugin_dirs: []\nplugins:\n{}", pinned("enforce")),
    );
    let ran = project.run(&["import", "legacy.yaml"]);
    assert_eq!(ran.code, Some(0), "{}", ran.stderr);
    assert!(
        ran.stdout.contains(&format!("\n    digest: {digest}\n")),
        "{}",
        ran.stdout
    );
    project.0.write("imported.yaml", &ran.stdout);
    let report = project
        .run(&["check", "imported.yaml", "--format", "json"])
        .json();
    assert_eq!(report["plugins"][0]["digest"], json!(digest));
}

#[test]
fn entries_that_are_not_loaded_are_not_compiled() {
    let off = plugin("off", "tools-only", ", mode: disabled");
    let project = Project::with_config(&format!(
        "plugins:\n{off}- {{name: py, kind: a.B, hooks: [x]}}\n"
    ));
    let ran = project.run(&["compile"]);
    assert_eq!(
        (ran.code, ran.stdout.as_str(), ran.stderr.as_str()),
        (
            Some(0),
            "hookgate.yaml: no wasm plugins, nothing to compile\n",
            ""
        )
    );
    assert!(!project.code().exists());
}

#[test]
fn configurations_and_files_are_not_mixed() {
    let project = Project::with_config("plugins: []\n");
    let cases: [&[&str]; 2] = [
        &["compile", "tools-only.wasm", "--config", "hookgate.yaml"],
        &["compile", "tools-only.wasm", "--shape", "legacy"],
    ];
    for arguments in cases {
        assert_eq!(project.run(arguments).code, Some(2), "{arguments:?}");
    }
    let ran = project.run(&["compile", "--config", "nowhere.yaml"]);
    assert_eq!(ran.code, Some(1));
    assert!(
        ran.stderr
            .starts_with("error: the configuration cannot be read: "),
        "{ran:?}"
    );
}

#[test]
fn without_a_place_for_code_compiling_ahead_is_an_error_and_loading_is_not() {
    let project = Project::with_config(&deny_list());
    let nowhere = |arguments: &[&str]| {
        let mut command = project.command(arguments);
        for variable in ["HOOKGATE_CACHE_DIR", "XDG_CACHE_HOME", "HOME"] {
            command.env_remove(variable);
        }
        Ran::of(command.output().unwrap())
    };
    let ran = nowhere(&["compile"]);
    assert_eq!((ran.code, ran.stdout.as_str()), (Some(1), ""));
    assert_eq!(
        ran.stderr,
        "error: no folder for compiled code: HOME is not set\n  hint: set HOOKGATE_CACHE_DIR to a folder of yours\n"
    );
    let ran = nowhere(&["check"]);
    assert_eq!((ran.code, ran.stderr.as_str()), (Some(0), ""));
}

#[test]
fn the_cache_is_in_the_users_cache_folder_by_default() {
    let project = Project::new();
    let home = project.0.path().join("home");
    for (variable, folder) in [
        ("HOME", ".cache/hookgate/components"),
        ("XDG_CACHE_HOME", "hookgate/components"),
    ] {
        let mut command = project.command(&["compile", "tools-only.wasm", "--format", "json"]);
        command
            .env_remove("HOOKGATE_CACHE_DIR")
            .env_remove("XDG_CACHE_HOME")
            .env(variable, &home);
        let ran = Ran::of(command.output().unwrap());
        let folder = home.join(folder);
        assert_eq!(ran.json()["folder"], json!(folder.display().to_string()));
        assert_eq!(fs::read_dir(folder).unwrap().count(), 1);
    }
}

#[test]
fn a_cache_that_cannot_be_used_is_one_warning_and_plugins_load() {
    let entries = ["one", "two"]
        .map(|name| plugin(name, "tools-only", ""))
        .concat();
    let other = plugin("other", "deny-list-rust", ", config: {words: [x]}");
    let project = Project::with_config(&format!("plugins:\n{entries}{other}"));
    fs::create_dir(project.code()).unwrap();
    fs::set_permissions(project.code(), fs::Permissions::from_mode(0o777)).unwrap();
    let ran = project.run(&["check"]);
    assert_eq!(ran.code, Some(0), "{}", ran.stderr);
    assert!(
        ran.stdout.ends_with("hookgate.yaml: 3 plugins loaded\n"),
        "{}",
        ran.stdout
    );
    let told = "others may write to the code cache: code: mode 0777; components are compiled at every start; \
                hint: run `chmod go-w code`, or set HOOKGATE_CACHE_DIR to a private folder\n";
    assert_eq!(ran.stderr.matches(told).count(), 1, "{}", ran.stderr);
    assert_eq!(
        ran.stderr.matches("code cache").count(),
        1,
        "{}",
        ran.stderr
    );
    assert_eq!(project.kept(), 0);

    let ran = project.run(&["compile"]);
    assert_eq!(ran.code, Some(1));
    assert!(
        ran.stdout
            .ends_with("\ncode: 2 compiled, 0 from the cache\n"),
        "{}",
        ran.stdout
    );
    let problem = "tools-only.wasm: compiled, but others may write to the code cache: code: mode 0777\n  \
                   --> hookgate.yaml:2 (one, two)\n  hint: run `chmod go-w code`";
    assert!(ran.stderr.contains(problem), "{}", ran.stderr);
    let report = project.run(&["compile", "--format", "json"]).json();
    assert_eq!(
        (&report["ok"], &report["components"][0]["kept"]),
        (&json!(false), &json!(false))
    );
}

/// Two components, one warning: what keeps one from being written keeps all.
#[cfg(target_os = "linux")]
#[test]
fn a_cache_that_cannot_be_written_is_one_warning_too() {
    let other = plugin("other", "deny-list-rust", ", config: {words: [x]}");
    let one = plugin("one", "tools-only", "");
    let project = Project::with_config(&format!("plugins:\n{one}{other}"));
    // Ours, for us alone, and not even root writes there: the folder of the process that will be hookgate.
    let mut shell = Command::new("sh");
    shell
        .args(["-c", "HOOKGATE_CACHE_DIR=/proc/$$ exec \"$0\" check"])
        .arg(env!("CARGO_BIN_EXE_hookgate"))
        .current_dir(project.0.path())
        .stdin(Stdio::null());
    let ran = Ran::of(shell.output().unwrap());
    assert_eq!(ran.code, Some(0), "{}", ran.stderr);
    let told = "compiled code cannot be kept in the code cache: /proc/";
    assert_eq!(ran.stderr.matches(told).count(), 1, "{}", ran.stderr);
}

#[test]
fn damaged_code_is_compiled_again_with_a_warning() {
    let project = Project::new();
    assert_eq!(project.run(&["compile", "tools-only.wasm"]).code, Some(0));
    let file = fs::read_dir(project.code())
        .unwrap()
        .next()
        .unwrap()
        .unwrap()
        .path();
    let mut bytes = fs::read(&file).unwrap();
    bytes[5_000] ^= 1;
    fs::write(&file, bytes).unwrap();
    let ran = project.run(&["compile", "tools-only.wasm"]);
    assert_eq!(ran.code, Some(0));
    assert!(ran.stdout.contains("  compiled  "), "{}", ran.stdout);
    let told = "a file in the code cache cannot be used, so its component is compiled again: \
                its checksum is not that of its bytes";
    assert!(ran.stderr.contains(told), "{}", ran.stderr);
    let ran = project.run(&["compile", "tools-only.wasm"]);
    assert_eq!((ran.code, ran.stderr.as_str()), (Some(0), ""));
    assert!(ran.stdout.contains("  from the cache  "), "{}", ran.stdout);
}

/// As many processes as a start of several gateways at once.
#[test]
fn processes_fill_one_cache_together() {
    let project = Project::new();
    let arguments = [
        "compile",
        "--format",
        "json",
        "deny-list-rust.wasm",
        "tools-only.wasm",
    ];
    let running: Vec<_> = (0..6)
        .map(|_| project.command(&arguments).spawn().unwrap())
        .collect();
    for child in running {
        let ran = Ran::of(child.wait_with_output().unwrap());
        assert_eq!((ran.code, ran.stderr.as_str()), (Some(0), ""));
        assert_eq!(ran.json()["ok"], json!(true));
    }
    assert_eq!(project.kept(), 2);
    let report = project.run(&arguments).json();
    for row in report["components"].as_array().unwrap() {
        assert_eq!(row["from"], "cache");
    }
}

#[test]
fn what_was_compiled_ahead_is_what_check_loads() {
    let entry = entry(
        "deny-list",
        "deny-list-rust",
        "tool_pre_invoke",
        "    config: {words: [x]}\n",
    );
    let project = Project::with_config(&format!("plugins:\n{entry}"));
    assert_eq!(project.run(&["compile"]).code, Some(0));
    let file = fs::read_dir(project.code())
        .unwrap()
        .next()
        .unwrap()
        .unwrap()
        .path();
    let written = fs::metadata(&file).unwrap();
    let ran = project.run(&["check"]);
    assert_eq!((ran.code, ran.stderr.as_str()), (Some(0), ""));
    assert_eq!(project.kept(), 1);
    let found = fs::metadata(&file).unwrap();
    // The same file, used later: it was taken, not written anew.
    use std::os::unix::fs::MetadataExt as _;
    assert_eq!(written.ino(), found.ino());
    assert!(found.modified().unwrap() > written.modified().unwrap());
}
