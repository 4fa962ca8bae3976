//! `hookgate env`, with environments of a wheel that is made here.

use std::fs;
use std::process::Command;

use hookgate_vectors::guests;
use serde_json::{Value, json};

use super::support::{Ended, Folder};

/// What both entries need, and nothing that an index would have to be asked for.
const CONFIG: &str = "plugins:
  - {name: p, kind: a.B, hooks: [tool_pre_invoke], requirements: [./cpex-0.1.4-py3-none-any.whl, cpex]}
  - {name: q, kind: a.C, hooks: [tool_pre_invoke], requirements: [cpex, ./cpex-0.1.4-py3-none-any.whl]}
  - {name: off, kind: a.D, hooks: [tool_pre_invoke], requirements: [hookgate-no-such-package], mode: disabled}
";

/// A folder with a configuration, a wheel and a store of its own.
struct Project(Folder);

impl Project {
    fn new(config: &str) -> Self {
        let project = Self(Folder::with_config(config));
        project.make_wheel("");
        project
    }

    fn make_wheel(&self, body: &str) {
        let script = guests::root().join("crates/python/tests/support/make_wheel.py");
        let mut python = Command::new("python3");
        let made = python.arg(script).arg(self.0.path()).arg(body).status();
        assert!(made.unwrap().success());
    }

    fn run(&self, arguments: &[&str]) -> Ended {
        let mut command = self.0.command(arguments);
        command.env("HOOKGATE_ENV_DIR", self.0.path().join("store"));
        if let Some(uv) = std::env::var_os("HOOKGATE_UV") {
            command.env("HOOKGATE_UV", uv);
        }
        let output = command.stdin(std::process::Stdio::null()).output().unwrap();
        Ended {
            code: output.status.code(),
            stdout: String::from_utf8(output.stdout).unwrap(),
            stderr: String::from_utf8(output.stderr).unwrap(),
        }
    }

    fn json(&self, arguments: &[&str]) -> Value {
        let arguments = [arguments, &["--format", "json"]].concat();
        self.run(&arguments).json()
    }

    fn folder(&self) -> String {
        self.0.path().join("store").display().to_string()
    }
}

impl Drop for Project {
    /// Environments are read-only, and the folder is to go.
    fn drop(&mut self) {
        let mut chmod = Command::new("chmod");
        let _ = chmod.args(["-R", "u+w"]).arg(self.0.path()).status();
    }
}

#[test]
fn environments_are_built_listed_found_and_removed() {
    let project = Project::new(CONFIG);
    let folder = project.folder();
    let ended = project.run(&["env", "list"]);
    assert_eq!((ended.code, ended.stderr.as_str()), (Some(0), ""));
    assert_eq!(ended.stdout, format!("{folder}: no environments\n"));
    assert!(
        !project.0.path().join("store").exists(),
        "a look makes nothing"
    );
    let ended = project.run(&["env", "path", "p"]);
    assert_eq!((ended.code, ended.stdout.as_str()), (Some(1), ""));
    let missing =
        "error: no environment of p: Missing\n  hint: hookgate env build --config hookgate.yaml\n";
    assert_eq!(ended.stderr, missing);

    let ended = project.run(&["env", "build", "--offline"]);
    assert_eq!((ended.code, ended.stderr.as_str()), (Some(0), ""));
    let headings: Vec<&str> = ended
        .stdout
        .lines()
        .next()
        .unwrap()
        .split_whitespace()
        .collect();
    assert_eq!(
        headings,
        ["plugin", "environment", "before", "python", "path"]
    );
    let last = format!("\n\n{folder}: 1 built, 1 there\n");
    assert!(ended.stdout.ends_with(&last), "{}", ended.stdout);

    let report = project.json(&["env", "build"]);
    assert_eq!(
        (&report["ok"], &report["problems"]),
        (&json!(true), &json!([]))
    );
    let environments = report["environments"].as_array().unwrap();
    assert_eq!(environments.len(), 2);
    for (environment, name) in environments.iter().zip(["p", "q"]) {
        assert_eq!(environment["plugin"], name);
        assert_eq!(
            (&environment["verdict"], &environment["built"]),
            (&json!("Valid"), &json!(false))
        );
        assert_eq!(environment["path"], environments[0]["path"]);
    }
    let path = environments[0]["path"].as_str().unwrap();
    let ended = project.run(&["env", "path", "p"]);
    assert_eq!((ended.code, ended.stdout), (Some(0), format!("{path}\n")));

    let list = project.json(&["env", "list"]);
    let listed = list["environments"].as_array().unwrap();
    assert_eq!(listed.len(), 1);
    assert_eq!(
        (&listed[0]["path"], &listed[0]["verdict"]),
        (&json!(path), &json!("Valid"))
    );
    let users: Vec<&str> = listed[0]["used_by"]
        .as_array()
        .unwrap()
        .iter()
        .map(|used| used["plugin"].as_str().unwrap())
        .collect();
    assert_eq!(users, ["p", "q"]);
    let key = listed[0]["key"].as_str().unwrap();
    let text = project.run(&["env", "list"]).stdout;
    let row = text.lines().nth(1).unwrap();
    assert!(
        row.starts_with(&key[..12]) && row.contains("  Valid    p, q  "),
        "{text}"
    );

    // Another wheel under the same name is another requirement.
    project.make_wheel("changed = True");
    let report = project.json(&["env", "path", "p"]);
    assert_eq!(
        (&report["verdict"], &report["path"]),
        (&json!("RequirementsChanged"), &json!(null))
    );
    let report = project.json(&["env", "build"]);
    for environment in report["environments"].as_array().unwrap() {
        assert_eq!(environment["verdict"], "RequirementsChanged");
        assert_ne!(environment["path"], path);
    }
    let report = project.json(&["env", "gc", "--dry-run"]);
    assert_eq!(
        (&report["dry_run"], &report["kept"]),
        (&json!(true), &json!(1))
    );
    assert_eq!(report["removed"][0]["key"], key);
    assert!(fs::exists(path).unwrap());
    let ended = project.run(&["env", "gc", "--older-than", "30d"]);
    assert_eq!((ended.code, ended.stderr.as_str()), (Some(0), ""));
    let row = ended.stdout.lines().nth(1).unwrap();
    assert!(
        row.starts_with(&key[..12]) && row.ends_with("  no entry used it last"),
        "{}",
        ended.stdout
    );
    assert!(
        ended.stdout.contains(&format!("{folder}: 1 removed, ")),
        "{}",
        ended.stdout
    );
    assert!(
        ended.stdout.ends_with(" bytes freed, 1 kept\n"),
        "{}",
        ended.stdout
    );
    assert!(!fs::exists(path).unwrap());
}

#[test]
fn a_build_that_fails_names_the_requirement_and_the_others_are_built() {
    let wrong = "  - {name: wrong, kind: a.E, hooks: [tool_pre_invoke], \
        requirements: [./cpex-0.1.4-py3-none-any.whl, cpex, hookgate-no-such-package==9]}\n";
    let project = Project::new(&format!("{CONFIG}{wrong}"));
    let ended = project.run(&["env", "build", "--offline"]);
    assert_eq!(ended.code, Some(1));
    let last = format!("{}: 1 built, 1 there, 1 failed\n", project.folder());
    assert!(ended.stdout.ends_with(&last), "{}", ended.stdout);
    let start = "error: plugin wrong: the environment of wrong cannot be built: hookgate-no-such-package==9: ";
    assert!(ended.stderr.starts_with(start), "{}", ended.stderr);
    assert!(
        ended.stderr.contains("\n  --> hookgate.yaml:5\n"),
        "{}",
        ended.stderr
    );
    let report = project.json(&["env", "build", "--offline"]);
    assert_eq!(report["ok"], false);
    assert_eq!(report["problems"][0]["plugin"], "wrong");
    assert_eq!(report["environments"].as_array().unwrap().len(), 2);
}

#[test]
fn what_cannot_be_asked_is_said() {
    let project = Project::new(CONFIG);
    let ended = project.run(&["env", "path", "nobody"]);
    assert_eq!((ended.code, ended.stdout.as_str()), (Some(1), ""));
    assert_eq!(
        ended.stderr,
        "error: no plugin of this name: nobody\n  hint: Python plugins: p, q, off\n"
    );
    let cases: [&[&str]; 4] = [
        &["env"],
        &["env", "path"],
        &["env", "gc", "--older-than", "soon"],
        &["env", "frobnicate"],
    ];
    for arguments in cases {
        assert_eq!(project.run(arguments).code, Some(2), "{arguments:?}");
    }
    let nothing = Project::new("plugins: []\n");
    let ended = nothing.run(&["env", "build"]);
    assert_eq!(
        (ended.code, ended.stdout.as_str()),
        (
            Some(0),
            "hookgate.yaml: no Python plugins, nothing to build\n"
        )
    );
}

#[test]
fn without_a_place_for_environments_nothing_can_be_asked() {
    let project = Project::new(CONFIG);
    for arguments in [
        &["env", "list"][..],
        &["env", "build"],
        &["env", "gc"],
        &["env", "path", "p"],
    ] {
        let mut command = project.0.command(arguments);
        for variable in ["HOOKGATE_ENV_DIR", "XDG_CACHE_HOME", "HOME"] {
            command.env_remove(variable);
        }
        let output = command.stdin(std::process::Stdio::null()).output().unwrap();
        assert_eq!(output.status.code(), Some(1), "{arguments:?}");
        assert_eq!(
            String::from_utf8(output.stderr).unwrap(),
            "error: no folder for Python environments: HOME is not set\n  hint: set HOOKGATE_ENV_DIR to a folder of yours\n"
        );
    }
}
