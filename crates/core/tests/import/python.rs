//! How the worker of a class is made and kept, written anew.

use super::*;

#[test]
fn what_is_a_default_of_a_worker_is_not_written_and_the_rest_is() {
    let of_python = CASES
        .iter()
        .find(|(name, ..)| name.starts_with("how the worker"));
    let imported = Project::new(of_python.expect("the case").1).imported();
    let (_, entries) = imported.text.split_once("plugins:\n").expect("entries");
    let expected = "  - name: a
    kind: my_pkg.A
    requirements: [a==1]
    import_paths: ['.', plugins]
    python:
      environment: venvs/one
      settings:
        log_level: debug
        ratio: 1.10
        \"odd name\":
          - 1
          - b: null
        words: [\"no\", \"1.0\"]
    workers: 7
    idempotent: true
    sandbox: best_effort
    hooks: [x]
    permissions:
      files:
        - host: my_pkg
          access: read_write
        - host: gate.wasm
      network:
        - host: a.example
          port: 443
      processes: true

  - name: b
    kind: my_pkg.B
    import_paths: ['.', plugins]
    allow_build: true
    worker: framework
    hooks: [x]

  - name: c
    kind: my_pkg.B
    import_paths: ['.', plugins]
    hooks: [x]
";
    assert_eq!(entries, expected);
}

#[test]
fn settings_that_only_the_environment_knows_are_left_out() {
    let text = r#"plugin_dirs: [plugins]
plugins:
- name: a
  kind: my_pkg.A
  hooks: [x]
  python:
    environment: "{{ env.VENV | default('venvs/one') }}"
    settings:
      token: "{{ env.TOKEN }}"
      level: "{{ env.LEVEL | default('info') }}"
"#;
    let project = Project::new(text);
    let imported = project.imported();
    let file = project.write("hookgate.yaml", &imported.text);
    let python = &Config::load(&file).unwrap().plugins[0].python;
    assert_eq!(python.settings.as_str(), r#"{"level":"info"}"#);
    let environment = python.environment.as_deref().map(real);
    assert_eq!(environment, Some(project.root().join("venvs/one")));
    let out = "9:a: left out, since only the environment has a value for it: {{ env.TOKEN }}";
    assert!(
        notes(&imported).contains(&out.to_owned()),
        "{:#?}",
        notes(&imported)
    );
}
