//! `hookgate import`: what goes where.

use serde_json::json;

use super::support::Folder;

const LEGACY: &str = "plugin_dirs: [plugins]
plugins:
- name: no-sudo
  kind: no_sudo.NoSudo
  namespace: security
  hooks: [tool_pre_invoke]
  mode: enforce_ignore_error
  config: {words: ['no'], token: '{{ env.TOKEN }}'}
- {name: far, kind: external, hooks: [tool_pre_invoke], mode: disabled}
";

const IMPORTED: &str =
    "# Written by `hookgate import` from plugins/config.yaml, without its comments.
# Paths start at this file's folder.
plugins:
  - name: no-sudo
    kind: no_sudo.NoSudo
    import_paths: ['.', plugins]
    hooks: [tool_pre_invoke]
    on_error: ignore
    config:
      words: [\"no\"]
";

fn project() -> Folder {
    let folder = Folder::new();
    std::fs::create_dir(folder.path().join("plugins")).unwrap();
    folder.write("plugins/no_sudo.py", "");
    folder.write("plugins/config.yaml", LEGACY);
    folder
}

#[test]
fn the_configuration_goes_to_stdout_and_the_rest_to_stderr() {
    let ended = project().run(&["import", "plugins/config.yaml"]);
    assert_eq!(
        (ended.code, ended.stdout.as_str()),
        (Some(0), IMPORTED),
        "{}",
        ended.stderr
    );
    for told in [
        "note: left out: namespace security\n",
        "note: left out, since only the environment has a value for it: {{ env.TOKEN }}\n",
        "note: left out: nothing here runs kind external\n",
        "note: at home it could read every environment variable, file and host; variables it sees here: none\n",
        "  hint: grant what it needs in its entry: permissions: {env: [NAME], files: [{host: PATH}], network: [{host: NAME, port: 443}]}\n",
        "  plugin: far\n",
        "plugins/config.yaml:8:",
    ] {
        assert!(ended.stderr.contains(told), "{told}\n{}", ended.stderr);
    }
    let last = ended.stderr.lines().last().unwrap();
    assert!(
        last.starts_with("plugins/config.yaml: 1 plugin for a file in this folder, "),
        "{last}"
    );
}

#[test]
fn a_file_is_not_overwritten_unless_that_is_asked_for() {
    let folder = project();
    let import = ["import", "plugins/config.yaml", "--output", "hookgate.yaml"];
    let ended = folder.run(&import);
    assert_eq!((ended.code, ended.stdout.as_str()), (Some(0), ""));
    assert!(
        ended.stderr.contains("1 plugin in hookgate.yaml, "),
        "{}",
        ended.stderr
    );
    assert_eq!(folder.read("hookgate.yaml"), IMPORTED);

    folder.write("hookgate.yaml", "mine");
    let ended = folder.run(&import);
    assert_eq!(ended.code, Some(1));
    let expected = "error: there is a file already: hookgate.yaml\n  hint: name another one, or overwrite it with --force\n";
    assert_eq!(ended.stderr, expected);
    assert_eq!(folder.read("hookgate.yaml"), "mine");

    let ended = folder.run(&[&import[..], &["--force"]].concat());
    assert_eq!(ended.code, Some(0), "{}", ended.stderr);
    assert_eq!(folder.read("hookgate.yaml"), IMPORTED);
}

#[test]
fn paths_start_at_the_folder_of_the_output() {
    let folder = project();
    let ended = folder.run(&[
        "import",
        "plugins/config.yaml",
        "--output",
        "plugins/new.yaml",
    ]);
    assert_eq!(ended.code, Some(0), "{}", ended.stderr);
    let text = folder.read("plugins/new.yaml");
    assert!(
        text.contains("    import_paths: [\"..\", '.']\n    workdir: \"..\"\n"),
        "{text}"
    );
}

#[test]
fn what_is_ours_already_is_not_imported() {
    let folder = project();
    folder.write("hookgate.yaml", IMPORTED);
    let ended = folder.run(&["import", "hookgate.yaml"]);
    assert_eq!((ended.code, ended.stdout.as_str()), (Some(1), ""));
    let told = "error: the configuration is in hookgate's own shape already\n";
    assert!(ended.stderr.starts_with(told), "{}", ended.stderr);
    assert!(
        ended
            .stderr
            .contains("  hint: use it as it is: hookgate check hookgate.yaml"),
        "{}",
        ended.stderr
    );
}

#[test]
fn problems_of_the_legacy_file_write_nothing() {
    let folder = project();
    folder.write(
        "plugins/config.yaml",
        LEGACY.replace("enforce_ignore_error", "enforced"),
    );
    let ended = folder.run(&["import", "plugins/config.yaml", "--output", "hookgate.yaml"]);
    assert_eq!((ended.code, ended.stdout.as_str()), (Some(1), ""));
    assert!(
        ended.stderr.contains("error: unknown mode: enforced\n"),
        "{}",
        ended.stderr
    );
    assert!(!folder.path().join("hookgate.yaml").exists());
}

#[test]
fn programs_get_all_of_it_as_json() {
    let folder = project();
    let ended = folder.run(&["import", "plugins/config.yaml", "--format", "json"]);
    assert_eq!((ended.code, ended.stderr.as_str()), (Some(0), ""));
    let report = ended.json();
    assert_eq!(report["config"], IMPORTED);
    assert_eq!(
        (&report["plugins"], &report["output"]),
        (&json!(1), &json!(null))
    );
    let notes = report["notes"].as_array().unwrap();
    assert!(
        notes
            .iter()
            .any(|note| note["plugin"] == "far" && note["line"] == 9),
        "{notes:#?}"
    );
}

#[test]
fn a_manifest_is_imported_too() {
    let folder = project();
    let manifest = "name: no-sudo\nkind: no_sudo.NoSudo\navailable_hooks: [tool_pre_invoke]\ndefault_config: {words: ['no']}\n";
    folder.write("plugins/plugin-manifest.yaml", manifest);
    let ended = folder.run(&[
        "import",
        "plugins/plugin-manifest.yaml",
        "--output",
        "hookgate.yaml",
    ]);
    assert_eq!(ended.code, Some(0), "{}", ended.stderr);
    let text = folder.read("hookgate.yaml");
    assert!(
        text.contains("  - name: no-sudo\n    kind: no_sudo.NoSudo\n"),
        "{text}"
    );
    assert!(
        text.ends_with("    config:\n      words: [\"no\"]\n"),
        "{text}"
    );
}
