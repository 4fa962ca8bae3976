//! Python plugins: the same answers, and the environment as `check` shows it.

use std::io::{BufRead as _, BufReader, Write as _};
use std::process::Command;

use hookgate_vectors::guests;
use serde_json::json;

use super::support::{Folder, deny_list};

const SECRET: &str = r#"{"name": "note", "args": {"text": "a secret", "n": 1.10}}"#;

fn legacy() -> String {
    let folder = guests::root().join("guest-plugins/deny-list-legacy");
    let folder = folder.display();
    format!(
        "plugins:\n  - name: deny-list\n    kind: deny_list.DenyListPlugin\n    import_paths: [{folder}]\n    hooks: [tool_pre_invoke]\n    config: {{words: [secret]}}\n"
    )
}

#[test]
fn a_class_answers_like_the_component_and_its_environment_is_shown() {
    let arguments = ["call", "--format", "json", "tool_pre_invoke", SECRET];
    let class = Folder::with_config(&legacy());
    let mut answers = [
        class.run(&arguments),
        Folder::with_config(&deny_list()).run(&arguments),
    ]
    .map(|ended| {
        assert_eq!(ended.code, Some(0), "{}", ended.stderr);
        ended.json()
    });
    for answer in &mut answers {
        answer.as_object_mut().unwrap().remove("record");
    }
    assert_eq!(answers[0], answers[1]);
    assert_eq!(answers[0]["violation"]["code"], "DENY_WORD");

    // The call before has built the environment if it was not there.
    let report = class.run(&["check", "--format", "json"]).json();
    let loaded = &report["plugins"][0]["loaded"];
    assert_eq!(loaded["environment"]["verdict"], json!("Valid"));
    let sandbox = loaded["sandbox"].as_str().unwrap();
    assert!(sandbox.starts_with("strict (landlock abi "), "{sandbox}");
    assert_eq!(loaded["environment"]["framework"], "cpex 0.1.4");
    let path = loaded["environment"]["path"].as_str().unwrap();
    assert!(
        std::path::Path::new(path).join("bin/python").exists(),
        "{path}"
    );
    let text = class.run(&["check"]).stdout;
    assert!(
        text.contains(&format!(
            "  environment: Valid\n    path: {path}\n    python: "
        )),
        "{text}"
    );
}

#[test]
fn an_environment_that_cannot_be_built_is_a_load_problem() {
    let folder = Folder::with_config(&legacy());
    let mut command = folder.command(&["check"]);
    command
        .env("HOOKGATE_ENV_DIR", folder.path().join("environments"))
        .env("HOOKGATE_UV", "/nowhere/uv");
    let output = command.output().unwrap();
    assert_eq!(output.status.code(), Some(1));
    let stderr = String::from_utf8(output.stderr).unwrap();
    assert!(
        stderr
            .starts_with("error: plugin deny-list: the environment of deny-list cannot be built: "),
        "{stderr}"
    );
    assert!(
        stderr.contains("\n  hint: set HOOKGATE_UV to the uv to use, or unset it to use pip\n"),
        "{stderr}"
    );
    assert!(
        !stderr.contains(['\u{1b}', '\r']),
        "progress without a terminal: {stderr:?}"
    );
}

#[test]
fn a_signal_in_the_middle_of_a_call_leaves_nothing_behind() {
    let folder = Folder::with_config(
        "plugins:\n  - {name: sleeper, kind: sleeper.Sleeper, hooks: [tool_pre_invoke]}\n",
    );
    folder.write(
        "sleeper.py",
        "import asyncio\nfrom cpex.framework import Plugin\n\n\nclass Sleeper(Plugin):\n    \
         async def tool_pre_invoke(self, payload, context):\n        print('call is under way')\n        \
         await asyncio.sleep(600)\n",
    );
    let scratch = folder.path().join("scratch");
    std::fs::create_dir(&scratch).unwrap();
    let mut command = folder.command(&["-v", "run"]);
    let mut child = command.env("TMPDIR", &scratch).spawn().unwrap();
    let mut stdin = child.stdin.take().unwrap();
    writeln!(
        stdin,
        r#"{{"hook": "tool_pre_invoke", "payload": {{"name": "n"}}}}"#
    )
    .unwrap();
    let mut stderr = BufReader::new(child.stderr.take().unwrap()).lines();
    let said = stderr.find(|line| line.as_ref().unwrap().contains("call is under way"));
    assert!(said.is_some(), "the plugin was not asked");
    assert_eq!(std::fs::read_dir(&scratch).unwrap().count(), 1);

    let killed = Command::new("kill")
        .args(["-TERM", &child.id().to_string()])
        .status();
    assert!(killed.unwrap().success());
    let last = stderr.map(Result::unwrap).last();
    assert_eq!(child.wait().unwrap().code(), Some(130));
    assert_eq!(
        last.as_deref(),
        Some("interrupted: the plugins have been ended")
    );
    assert_eq!(std::fs::read_dir(&scratch).unwrap().count(), 0);
    drop(stdin);
}
