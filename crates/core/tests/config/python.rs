//! How the worker of a Python plugin is made and kept.

use hookgate_core::config::{Config, PythonOptions, Sandbox, WorkerKind};

use crate::cases::{check_notes, check_problems, fixtures, parse, python, wasm, whole};

/// The options of a Python entry with these lines.
fn read(more: &str) -> PythonOptions {
    let config = parse(&python("", more, &[]).text);
    let config = config.unwrap_or_else(|report| panic!("{more}\n{report}"));
    config.plugins[0].python.clone()
}

#[test]
fn one_confined_worker_of_ours_is_the_default() {
    for lines in [
        "",
        "  python: {}",
        "  python: {settings: {}}",
        "  allow_build: false\n  worker: hookgate\n  workers: 1\n  idempotent: false\n  sandbox: strict",
    ] {
        let options = read(lines);
        assert_eq!(options, PythonOptions::default(), "{lines}");
        assert_eq!(options.environment, None);
        assert_eq!(options.worker, WorkerKind::Hookgate);
        assert_eq!(options.workers, 1);
        assert_eq!(options.sandbox, Sandbox::Strict);
        assert!(!options.allow_build && !options.idempotent);
        assert_eq!(options.settings.as_str(), "{}");
    }
}

#[test]
fn what_is_written_counts() {
    let options = read(
        "  python:\n    environment: virtualenv\n    settings: {log_level: debug, ratio: 1.50, list: [1, {a: null}], big: 123456789012345678901234567890}\n  workers: 64\n  idempotent: true\n  sandbox: best_effort",
    );
    assert_eq!(options.environment, Some(fixtures().join("virtualenv")));
    assert_eq!((options.workers, options.idempotent), (64, true));
    assert_eq!(options.sandbox, Sandbox::BestEffort);
    assert_eq!(
        options.settings.as_str(),
        r#"{"log_level":"debug","ratio":1.50,"list":[1,{"a":null}],"big":123456789012345678901234567890}"#,
        "numbers keep their text"
    );
    let framework = read("  worker: framework\n  requirements: [cpex==0.1.4]\n  allow_build: true");
    assert_eq!(framework.worker, WorkerKind::Framework);
    assert!(framework.allow_build);
    // What is in the environment is checked against the requirements.
    let both = read("  requirements: [a==1]\n  python: {environment: virtualenv}");
    assert!(both.environment.is_some());
    // The framework's worker runs in an environment that is there, too.
    let there = read("  worker: framework\n  python: {environment: virtualenv}");
    assert_eq!(there.environment, Some(fixtures().join("virtualenv")));
}

#[test]
fn an_environment_has_its_interpreter_where_its_system_puts_it() {
    let folder = tempfile::tempdir().unwrap();
    for (name, made, good) in [
        ("unix", "bin/python", true),
        ("windows", "Scripts/python.exe", true),
        ("none", "bin/pip", false),
    ] {
        let file = folder.path().join(name).join(made);
        std::fs::create_dir_all(file.parent().unwrap()).unwrap();
        std::fs::write(&file, "").unwrap();
        let text = python("", &format!("  python: {{environment: {name}}}"), &[]).text;
        let read = Config::parse(&text, "f.yaml", folder.path());
        assert_eq!(read.is_ok(), good, "{name}");
    }
}

/// Each key with a value that is right for a class.
const KEYS: [(&str, &str); 6] = [
    ("python", "{environment: nowhere}"),
    ("allow_build", "false"),
    ("worker", "hookgate"),
    ("workers", "1"),
    ("idempotent", "false"),
    ("sandbox", "strict"),
];

#[test]
fn a_component_has_none_of_it() {
    for (key, value) in KEYS {
        let report = parse(&wasm("", &format!("  {key}: {value}"), &[]).text).unwrap_err();
        let told: Vec<_> = report
            .problems
            .iter()
            .map(|one| (one.line, one.column, one.message.clone(), one.hint.clone()))
            .collect();
        let hint = "remove it, or write the dotted class as `kind:`: package.module.Class";
        assert_eq!(
            told,
            [(
                6,
                3,
                format!("{key}: only a Python plugin has it, and this is wasm"),
                Some(hint.to_owned())
            )],
        );
    }
}

#[test]
fn at_the_top_of_a_file_they_are_sent_into_an_entry() {
    for (key, value) in KEYS {
        let report = parse(&format!("plugins: []\n{key}: {value}\n")).unwrap_err();
        let problem = &report.problems[0];
        assert_eq!(problem.message, format!("unknown key: {key}"));
        let hint = "write it in an entry of `plugins:`";
        assert_eq!(problem.hint.as_deref(), Some(hint), "{key}");
    }
}

#[test]
fn the_mapping() {
    check_problems(&[
        python(
            "not a mapping",
            "  python: virtualenv",
            &[(5, 11, "python: expected a mapping, found a string", "")],
        ),
        python(
            "nearly a key of it",
            "  python: {enviroment: virtualenv, setings: {}}",
            &[
                (
                    5,
                    12,
                    "unknown key: python.enviroment",
                    "did you mean `environment`? possible keys: environment, settings",
                ),
                (
                    5,
                    36,
                    "unknown key: python.setings",
                    "did you mean `settings`? possible keys: environment, settings",
                ),
            ],
        ),
        python(
            "keys that stand beside it",
            "  python: {requirements: [a], worker: framework, venv: x}",
            &[
                (
                    5,
                    12,
                    "unknown key: python.requirements",
                    "write it in the entry, beside `python:`",
                ),
                (
                    5,
                    31,
                    "unknown key: python.worker",
                    "write it in the entry, beside `python:`",
                ),
                (
                    5,
                    50,
                    "unknown key: python.venv",
                    "write `python: {environment: PATH}`",
                ),
            ],
        ),
        python(
            "keys that stand in it",
            "  environment: virtualenv\n  settings: {a: 1}\n  venv: virtualenv",
            &[
                (
                    5,
                    3,
                    "unknown key: environment",
                    "write `python: {environment: PATH}` for a virtualenv, `permissions: {env: [NAME]}` for variables",
                ),
                (
                    6,
                    3,
                    "unknown key: settings",
                    "write `python: {settings: {NAME: VALUE}}` for those of the gateway, `config:` for the plugin's own",
                ),
                (
                    7,
                    3,
                    "unknown key: venv",
                    "write `python: {environment: PATH}`",
                ),
            ],
        ),
        python(
            "environments that are none",
            "  python: {environment: no}",
            &[(
                5,
                25,
                "python.environment: no such file or folder: no",
                "looked at {base}/no",
            )],
        ),
        python(
            "a file",
            "  python: {environment: gate.wasm}",
            &[(
                5,
                25,
                "python.environment: is a file, not a folder: gate.wasm",
                "looked at {base}/gate.wasm",
            )],
        ),
        python(
            "a folder that is no environment",
            "  python: {environment: data}",
            &[(
                5,
                25,
                "python.environment: not a virtualenv: data",
                "there is no bin/python and no Scripts in it; make it one: python3 -m venv {base}/data",
            )],
        ),
        python(
            "settings that are none",
            "  python: {settings: [a]}",
            &[(
                5,
                22,
                "python.settings: expected a mapping, found a list",
                "",
            )],
        ),
        python(
            "names and values of settings",
            "  python:\n    settings:\n      5: a\n      '': b\n      c: .nan\n      [d]: 1\n      e: '{{ env.E }}'\n      f: 1\n      f: 2",
            &[
                (
                    7,
                    7,
                    "a key of python.settings: expected a string, found an integer",
                    "write it in quotes: \"5\"",
                ),
                (
                    8,
                    7,
                    "a key of python.settings: is empty",
                    "write at least one character",
                ),
                (
                    9,
                    10,
                    "python.settings: not a JSON number: .nan",
                    "write it in quotes: \".nan\"",
                ),
                (
                    10,
                    7,
                    "a key of python.settings: expected a string, found a list",
                    "",
                ),
                (
                    11,
                    10,
                    "not supported yet: {{ env }} in python.settings: {{ env.E }}",
                    "write the value itself, or let the plugin read a variable granted by permissions.env",
                ),
                (
                    13,
                    7,
                    "key written twice: f, first on line 12",
                    "keep one of them",
                ),
            ],
        ),
    ]);
}

#[test]
fn the_keys_beside_it() {
    check_problems(&[
        python(
            "another worker, another sandbox",
            "  worker: frameworks\n  sandbox: best-effort",
            &[
                (
                    5,
                    11,
                    "unknown worker: frameworks",
                    "did you mean `framework`? possible values: hookgate, framework",
                ),
                (
                    6,
                    12,
                    "unknown sandbox: best-effort",
                    "did you mean `best_effort`? possible values: strict, best_effort",
                ),
            ],
        ),
        python(
            "no sandbox at all",
            "  sandbox: false",
            &[(
                5,
                12,
                "sandbox: expected strict or best_effort, found a boolean",
                "it cannot be switched off; `sandbox: best_effort` is as much of it as the kernel gives",
            )],
        ),
        python(
            "how many for which, and which for how many",
            "  worker: 4\n  workers: framework",
            &[
                (
                    5,
                    11,
                    "worker: expected which program runs the class, found a number",
                    "write `workers: 4` for a number of them; possible values of worker: hookgate, framework",
                ),
                (
                    6,
                    12,
                    "workers: expected an integer, found a string",
                    "write `worker: framework`",
                ),
            ],
        ),
        python(
            "too few workers",
            "  workers: 0",
            &[(
                5,
                12,
                "workers: out of range: 0",
                "write an integer from 1 to 64",
            )],
        ),
        python(
            "too many workers",
            "  workers: 65",
            &[(
                5,
                12,
                "workers: out of range: 65",
                "write an integer from 1 to 64",
            )],
        ),
        python(
            "booleans that are none",
            "  allow_build: yes\n  idempotent: 1\n  permissions: {processes: perhaps}",
            &[
                (
                    5,
                    16,
                    "allow_build: expected true or false, found a string",
                    "write true",
                ),
                (
                    6,
                    15,
                    "idempotent: expected true or false, found an integer",
                    "",
                ),
                (
                    7,
                    28,
                    "permissions.processes: expected true or false, found a string",
                    "",
                ),
            ],
        ),
    ]);
}

#[test]
fn misspelt_keys_are_told_the_right_one() {
    for (written, right) in [
        ("wroker", "did you mean `worker`?"),
        ("wokers", "did you mean `workers`?"),
        ("num_workers", "write `workers: 2`"),
        ("worker_count", "write `workers: 2`"),
        ("idempotnt", "did you mean `idempotent`?"),
        ("allow_builds", "did you mean `allow_build`?"),
        ("sandboxed", "did you mean `sandbox`?"),
        ("pyton", "did you mean `python`?"),
        ("processes", "write `permissions: {processes: true}`"),
    ] {
        let report = parse(&python("", &format!("  {written}: 1"), &[]).text).unwrap_err();
        let [problem] = &report.problems[..] else {
            panic!("{report}")
        };
        assert_eq!(problem.message, format!("unknown key: {written}"));
        let hint = problem.hint.as_deref().unwrap();
        assert!(hint.starts_with(right), "{written}: {hint}");
    }
}

#[test]
fn what_does_not_go_together() {
    check_problems(&[
        python(
            "builds for an environment that is there",
            "  allow_build: true\n  python: {environment: virtualenv}",
            &[(
                5,
                3,
                "allow_build: nothing is installed into python.environment, which is used as it is",
                "remove one of them",
            )],
        ),
        python(
            "several workers of the framework",
            "  worker: framework\n  workers: 2",
            &[(
                6,
                3,
                "workers: under `worker: framework` a class has one process, as at home",
                "remove it, or write `worker: hookgate`",
            )],
        ),
        python(
            "a second try by the framework's",
            "  idempotent: true\n  worker: framework",
            &[(
                5,
                3,
                "idempotent: under `worker: framework` each call is asked once, as at home",
                "remove it, or write `worker: hookgate`",
            )],
        ),
        python(
            "settings of the framework's",
            "  worker: framework\n  python: {settings: {log_level: debug}}",
            &[(
                6,
                3,
                "python.settings: the worker of `worker: framework` has no place for them",
                "remove them, or write `worker: hookgate`",
            )],
        ),
    ]);
}

#[test]
fn of_an_unknown_kind_they_are_read_all_the_same() {
    check_problems(&[whole(
        "so that one report has every problem",
        "plugins:\n- {name: p, kind: a..B, hooks: [x], workers: 0, python: {environment: no}, permissions: {files: [{host: gate.wasm}], processes: true}}\n",
        &[
            (
                2,
                19,
                "kind: not a Python class: a..B",
                "possible values: wasm, or a dotted Python class: package.module.Class",
            ),
            (
                2,
                46,
                "workers: out of range: 0",
                "write an integer from 1 to 64",
            ),
            (
                2,
                71,
                "python.environment: no such file or folder: no",
                "looked at {base}/no",
            ),
        ],
    )]);
}

#[test]
fn a_disabled_class_may_miss_its_environment() {
    check_notes(&[python(
        "a place that is not there yet, and one that is not made yet",
        "  mode: disabled\n  python: {environment: no}",
        &[(
            6,
            25,
            "python.environment: no such file or folder: no",
            "looked at {base}/no",
        )],
    )]);
    check_notes(&[python(
        "one that is not made yet",
        "  mode: disabled\n  python: {environment: data}",
        &[(
            6,
            25,
            "python.environment: not a virtualenv: data",
            "there is no bin/python and no Scripts in it; make it one: python3 -m venv {base}/data",
        )],
    )]);
}
