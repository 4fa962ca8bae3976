//! Loading a file, and the report as a whole.

use std::path::Path;

use hookgate_core::config::Config;

use crate::cases::fixtures;

/// The report of a fixture, named without this machine's folders.
fn report_of(file: &str) -> String {
    let path = fixtures().join(file);
    let report = Config::load(&path).unwrap_err();
    report
        .to_string()
        .replace(&fixtures().display().to_string(), "BASE")
}

#[test]
fn ten_mistakes_are_one_report() {
    let expected = "\
error: unknown kind: wasn
  --> BASE/ten-mistakes.yaml:3:11 (plugin deny-list)
  hint: did you mean `wasm`? possible values: wasm, or a dotted Python class: package.module.Class
error: unknown key: priorty
  --> BASE/ten-mistakes.yaml:5:5 (plugin deny-list)
  hint: did you mean `priority`? possible keys: name, kind, component, digest, requirements, requirements_file, import_paths, workdir, python, allow_build, worker, workers, idempotent, sandbox, hooks, conditions, mode, priority, on_error, limits, instances, permissions, config, description, author, version, tags
error: unknown mode: adit
  --> BASE/ten-mistakes.yaml:6:11 (plugin deny-list)
  hint: did you mean `audit`? possible values: sequential, transform, audit, concurrent, fire_and_forget, disabled
error: limits.timeout: a unit is missing: 50
  --> BASE/ten-mistakes.yaml:7:23 (plugin deny-list)
  hint: write 50ms or 50s; units: ns, us, ms, s, m, h
error: duplicate plugin name: deny-list, on line 8 and first on line 2
  --> BASE/ten-mistakes.yaml:8:11 (plugin deny-list)
  hint: give each plugin a name of its own
error: component: no such file or folder: missing.wasm
  --> BASE/ten-mistakes.yaml:10:16 (plugin deny-list)
  hint: looked at BASE/missing.wasm
error: hooks: the list is empty
  --> BASE/ten-mistakes.yaml:11:12 (plugin deny-list)
  hint: write at least one, for example hooks: [tool_pre_invoke]
error: permissions.network.port: out of range: 0
  --> BASE/ten-mistakes.yaml:13:47 (plugin deny-list)
  hint: write an integer from 1 to 65535
error: permissions.env: not a variable's name: A=B
  --> BASE/ten-mistakes.yaml:14:13 (plugin deny-list)
  hint: write the name alone; its value comes from the environment of the gateway
error: max_payload_bytes: not a size: lots
  --> BASE/ten-mistakes.yaml:15:20
  hint: write a number and a unit, for example 10MB; units: B, KB, MB, GB, KiB, MiB, GiB";
    let report = report_of("ten-mistakes.yaml");
    assert_eq!(report, expected);
    assert_eq!(report.matches("error: ").count(), 10);
}

#[test]
fn files_that_cannot_be_read() {
    assert_eq!(
        report_of("nowhere.yaml"),
        "error: the configuration cannot be read: no such file or folder\n  --> BASE/nowhere.yaml:1:1"
    );
    assert_eq!(
        report_of("data"),
        "error: the configuration cannot be read: is a folder, not a file\n  --> BASE/data:1:1"
    );
    assert_eq!(
        report_of("latin1.yaml"),
        "error: the configuration is not UTF-8\n  --> BASE/latin1.yaml:2:14\n  hint: save the file as UTF-8"
    );
}

#[test]
fn a_report_holds_its_text_and_becomes_json() {
    let text = "plugins: []\nnonsense: 1\n";
    let report = Config::parse(text, "f.yaml", Path::new(".")).unwrap_err();
    assert_eq!(&*report.source, text);
    let problem = &report.problems[0];
    assert_eq!(&report.source[problem.span.clone()], "nonsense");
    assert_eq!(
        serde_json::to_value(&report.problems).unwrap(),
        serde_json::json!([{
            "message": "unknown key: nonsense",
            "hint": "possible keys: plugins, groups, max_payload_bytes, max_state_bytes",
            "file": "f.yaml", "line": 2, "column": 1, "plugin": null,
            "span": {"start": 12, "end": 20},
        }])
    );
    assert!(
        serde_json::to_value(&report)
            .unwrap()
            .get("source")
            .is_none()
    );
    assert!(
        report
            .to_string()
            .contains("note: plugins: the list is empty")
    );
}

#[test]
fn base_dir_is_made_absolute() {
    let config = Config::parse("plugins: []", "f.yaml", Path::new("some/folder")).unwrap();
    assert!(config.base_dir.is_absolute());
    assert!(config.base_dir.ends_with("some/folder"));
}
