//! The command line itself.

use super::support::{Folder, deny_list};

#[test]
fn version_is_one_line_on_stdout() {
    let ended = Folder::new().run(&["--version"]);
    assert_eq!(
        (ended.code, ended.stdout.as_str(), ended.stderr.as_str()),
        (Some(0), "hookgate 0.1.0\n", "")
    );
}

#[test]
fn wrong_usage_is_2_and_says_so_on_stderr() {
    let folder = Folder::new();
    let cases: [&[&str]; 7] = [
        &[],
        &["frobnicate"],
        &["call"],
        &["explain"],
        &["run", "--jobs", "0"],
        &["check", "a.yaml", "--config", "b.yaml"],
        &[
            "call",
            "tool_pre_invoke",
            "{}",
            "--request",
            r#"{"ids": "r"}"#,
        ],
    ];
    for arguments in cases {
        let ended = folder.run(arguments);
        assert_eq!(
            (ended.code, ended.stdout.as_str()),
            (Some(2), ""),
            "{arguments:?}"
        );
        assert!(
            ended.stderr.contains("Usage: hookgate")
                || ended.stderr.contains("error: invalid value"),
            "{ended:?}"
        );
    }
}

#[test]
fn help_names_every_command_and_the_exit_codes() {
    let ended = Folder::new().run(&["--help"]);
    assert_eq!(ended.code, Some(0));
    for word in [
        "check",
        "compile",
        "call",
        "explain",
        "run",
        "demo",
        "env",
        "import",
        "schema",
        "Exit codes: 0 done (a denial is an answer)",
        "HOOKGATE_LOG",
    ] {
        assert!(ended.stdout.contains(word), "{word}\n{}", ended.stdout);
    }
}

#[test]
fn the_defaults_are_a_table_and_need_no_configuration() {
    let ended = Folder::new().run(&["check", "--defaults"]);
    assert_eq!((ended.code, ended.stderr.as_str()), (Some(0), ""));
    let lines: Vec<&str> = ended.stdout.lines().collect();
    assert_eq!(
        lines[0],
        "default                                  wasm        python      in-process"
    );
    assert_eq!(
        lines[1],
        "timeout per call                         1s          30s         1s"
    );
    assert_eq!(
        lines[2],
        "memory                                   64 MiB      512 MiB     -"
    );

    let json = Folder::new()
        .run(&["check", "--defaults", "--format", "json"])
        .json();
    assert_eq!(json[1]["what"], "memory");
    assert_eq!(json[1]["python"], "512 MiB");
}

#[test]
fn logs_go_to_stderr_and_are_asked_for() {
    let folder = Folder::with_config(&deny_list().replace("tool_pre_invoke", "tool_pre_invok"));
    let quiet = folder.run(&["call", "other_hook", "{}"]);
    assert_eq!((quiet.code, quiet.stderr.as_str()), (Some(0), ""));
    let verbose = folder.run(&["call", "other_hook", "{}", "-v"]);
    assert!(
        verbose
            .stderr
            .contains("not a known hook, treated as custom: tool_pre_invok"),
        "{verbose:?}"
    );
    assert!(
        !verbose.stderr.contains('\u{1b}'),
        "colour without a terminal: {verbose:?}"
    );
    assert_eq!(verbose.stdout, quiet.stdout);
}

#[test]
fn a_log_filter_that_is_none_is_named() {
    let folder = Folder::with_config(&deny_list());
    let output = folder
        .command(&["call", "x", "{}"])
        .env("HOOKGATE_LOG", "a=b=c")
        .output()
        .unwrap();
    assert_eq!(output.status.code(), Some(0));
    let stderr = String::from_utf8(output.stderr).unwrap();
    assert!(
        stderr.starts_with("warning: HOOKGATE_LOG is not a filter: "),
        "{stderr}"
    );
}
