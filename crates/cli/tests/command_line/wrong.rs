//! Configurations with a realistic mistake: what `hookgate check` prints about each, whole, as a snapshot
//! beside the file. Whatever the words are, a report names the file, the line, the plugin, the key and the
//! nearest right thing.

use std::fs;
use std::path::{Path, PathBuf};

use serde_json::Value;

use super::support::Folder;

/// One mistake and what its report must name.
struct Mistake {
    line: u64,
    /// The entry, where the mistake is in one that has a name.
    plugin: Option<&'static str>,
    /// The key by its path, or the word in its place.
    key: &'static str,
    /// What to write instead, as the message or its hint says it.
    nearest: &'static str,
}

const fn mistake(
    line: u64,
    plugin: Option<&'static str>,
    key: &'static str,
    nearest: &'static str,
) -> Mistake {
    Mistake {
        line,
        plugin,
        key,
        nearest,
    }
}

/// Each file, and the mistakes in it.
const WRONG: &[(&str, &[Mistake])] = &[
    (
        "mode",
        &[
            mistake(6, Some("pii-filter"), "mode", "`sequential`"),
            mistake(11, Some("call-log"), "mode", "`fire_and_forget`"),
            mistake(12, Some("call-log"), "on_error", "`ignore`"),
        ],
    ),
    (
        "conditions",
        &[
            mistake(7, Some("deny-list"), "conditions.tool", "`tools`"),
            mistake(8, Some("deny-list"), "conditions.tenant_id", "`tenant_ids`"),
            mistake(
                13,
                Some("redactor"),
                "conditions",
                "conditions: [{tools: [search]}]",
            ),
            mistake(
                18,
                Some("pii-filter"),
                "conditions.user_patterns",
                "[admin]",
            ),
        ],
    ),
    (
        "groups",
        &[
            mistake(
                4,
                Some("deny-list"),
                "group",
                "`groups: [{name: NAME, plugins: [PLUGIN]",
            ),
            mistake(7, None, "groups.plugins", "`pii-filter`"),
            mistake(10, None, "groups.plugins", "remove it from one of them"),
            mistake(11, None, "groups.mode", "`concurrent`"),
            mistake(
                12,
                None,
                "groups.plugins",
                "plugins: [pii-filter, redactor]",
            ),
            mistake(12, None, "group name", "a name of its own"),
            mistake(13, None, "groups.plugin", "`plugins`"),
        ],
    ),
    (
        "capabilities",
        &[
            mistake(
                7,
                Some("header-guard"),
                "permissions.data",
                "`read_headers`",
            ),
            mistake(
                7,
                Some("header-guard"),
                "permissions.data",
                "`append_labels`",
            ),
            mistake(
                12,
                Some("token-guard"),
                "capabilities",
                "`permissions: {data: [",
            ),
        ],
    ),
    (
        "limits",
        &[
            mistake(1, None, "max_payload_byte", "`max_payload_bytes`"),
            mistake(7, Some("deny-list"), "limits.timeout", "50ms or 50s"),
            mistake(
                7,
                Some("deny-list"),
                "limits.memory",
                "units: B, KB, MB, GB, KiB, MiB, GiB",
            ),
            mistake(7, Some("deny-list"), "limits.concurency", "`concurrency`"),
            mistake(12, Some("redactor"), "timeout", "`limits: {timeout: 50ms}`"),
        ],
    ),
    (
        "kind",
        &[
            mistake(3, Some("deny-list"), "kind", "`wasm`"),
            mistake(7, Some("no-sudo"), "kind", "package.module.Class"),
            mistake(10, Some("far-away"), "kind", "`kind: wasm`"),
        ],
    ),
    (
        "duplicate-names",
        &[
            mistake(7, Some("deny-list"), "plugin name", "a name of its own"),
            mistake(12, Some("deny-list"), "priority", "keep one of them"),
        ],
    ),
    (
        "background",
        &[mistake(
            7,
            Some("call-log"),
            "on_error",
            "`on_error: ignore`",
        )],
    ),
    (
        "files",
        &[
            mistake(4, Some("deny-list"), "component", "gates.wasm"),
            mistake(7, Some("deny-list"), "permissions.files.guest", "/data"),
            mistake(
                7,
                Some("deny-list"),
                "permissions.files.access",
                "`read_write`",
            ),
            mistake(12, Some("no-sudo"), "permissions.file", "`files`"),
        ],
    ),
    (
        "python",
        &[
            mistake(4, Some("pii-filter"), "python.enviroment", "`environment`"),
            mistake(5, Some("pii-filter"), "worker", "`workers: 16`"),
            mistake(6, Some("pii-filter"), "sandbox", "`best_effort`"),
            mistake(11, Some("redactor"), "workers", "`worker: hookgate`"),
            mistake(
                14,
                Some("redactor"),
                "permissions.files.guest",
                "remove guest",
            ),
            mistake(
                15,
                Some("redactor"),
                "permissions.scratch",
                "private temporary folder",
            ),
            mistake(19, Some("deny-list"), "allow_build", "package.module.Class"),
            mistake(21, Some("deny-list"), "permissions.processes", "remove it"),
        ],
    ),
    (
        "hooks",
        &[
            mistake(2, Some("deny-list"), "hooks", "hooks: [tool_pre_invoke]"),
            mistake(5, Some("deny-list"), "hook", "`hooks`"),
            mistake(9, Some("redactor"), "hooks", "hooks: [tool_pre_invoke]"),
            mistake(13, Some("pii-filter"), "hooks", "[tool_pre_invoke]"),
        ],
    ),
    (
        "indentation",
        &[mistake(4, Some("deny-list"), "YAML", "begin in one column")],
    ),
    (
        "legacy-keys",
        &[
            mistake(3, None, "plugin_settings.plugin_timout", "`plugin_timeout`"),
            mistake(8, Some("PIIFilter"), "mode", "`enforce`"),
            mistake(9, Some("PIIFilter"), "priorty", "`priority`"),
            mistake(11, Some("OPA"), "kind", "`kind: wasm`"),
        ],
    ),
    (
        "template-filter",
        &[mistake(8, Some("limiter"), "defualt", "`default`")],
    ),
    (
        "template-syntax",
        &[mistake(8, Some("limiter"), "template", "expected `]`")],
    ),
    (
        "template-in-ours",
        &[
            mistake(6, Some("limiter"), "priority", "write the value itself"),
            mistake(8, Some("limiter"), "config", "permissions.env"),
        ],
    ),
];

fn files() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/command_line/wrong")
}

/// A folder with the file, and a component for it to name.
fn folder(name: &str) -> (Folder, String) {
    let folder = Folder::new();
    let file = format!("{name}.yaml");
    folder.write(&file, fs::read(files().join(&file)).unwrap());
    folder.write("gate.wasm", "");
    (folder, file)
}

#[test]
fn every_report_is_as_it_was_read_and_approved() {
    for (name, _) in WRONG {
        let (folder, file) = folder(name);
        let ended = folder.run(&["check", &file]);
        assert_eq!((ended.code, ended.stdout.as_str()), (Some(1), ""), "{name}");
        let path = fs::canonicalize(folder.path()).unwrap();
        let report = ended.stderr.replace(&path.display().to_string(), "FOLDER");
        let mut settings = insta::Settings::clone_current();
        settings.set_snapshot_path("wrong");
        settings.set_prepend_module_to_snapshot(false);
        settings.set_omit_expression(true);
        settings.bind(|| insta::assert_snapshot!(*name, report));
    }
}

#[test]
fn every_report_names_file_line_plugin_key_and_the_nearest_right_thing() {
    for (name, mistakes) in WRONG {
        let (folder, file) = folder(name);
        let report = folder.run(&["check", &file, "--format", "json"]).json();
        let problems = report["problems"].as_array().unwrap();
        let told: Vec<_> = problems.iter().map(Value::to_string).collect();
        assert_eq!(
            problems.len(),
            mistakes.len(),
            "{name}:\n{}",
            told.join("\n")
        );
        let text = folder.run(&["check", &file]).stderr;
        for (problem, mistake) in problems.iter().zip(*mistakes) {
            assert_names(problem, &file, mistake);
            assert_shows(&text, problem, &file);
        }
    }
}

/// A problem names everything that a person needs to mend it.
fn assert_names(problem: &Value, file: &str, mistake: &Mistake) {
    let text = |key: &str| problem[key].as_str().unwrap_or_default();
    assert_eq!(text("file"), file, "{problem}");
    assert_eq!(problem["line"], mistake.line, "{problem}");
    assert_eq!(problem["plugin"].as_str(), mistake.plugin, "{problem}");
    let said = format!("{}: ", text("message"));
    let word = |c: char| c.is_alphanumeric() || matches!(c, '_' | '.');
    let names_key = said.match_indices(mistake.key).any(|(at, key)| {
        !said[..at].ends_with(word)
            && !said[at + key.len()..].starts_with(|c: char| word(c) && c != '.')
    });
    assert!(names_key, "{}: {problem}", mistake.key);
    let told = format!("{said}{}", text("hint"));
    let names_nearest = !mistake.nearest.is_empty() && told.contains(mistake.nearest);
    assert!(names_nearest, "{}: {problem}", mistake.nearest);
}

/// What people read has the same in it: message, place, plugin, hint.
fn assert_shows(text: &str, problem: &Value, file: &str) {
    let place = format!("{file}:{}:{}", problem["line"], problem["column"]);
    for (label, value) in [
        ("error: ", problem["message"].as_str()),
        ("", Some(place.as_str())),
        ("  plugin: ", problem["plugin"].as_str()),
        ("  hint: ", problem["hint"].as_str()),
    ] {
        let line = value.map(|value| format!("{label}{value}"));
        assert!(
            line.is_none_or(|line| text.contains(&line)),
            "{label}{value:?}\n{text}"
        );
    }
}

#[test]
fn every_file_here_is_in_the_table_and_has_its_snapshot() {
    let mut found: Vec<_> = fs::read_dir(files())
        .unwrap()
        .map(|entry| entry.unwrap().file_name().into_string().unwrap())
        .collect();
    found.sort();
    let mut expected: Vec<_> = WRONG
        .iter()
        .flat_map(|(name, _)| [format!("{name}.yaml"), format!("{name}.snap")])
        .collect();
    expected.sort();
    assert_eq!(found, expected);
    assert!(WRONG.len() >= 10);
}
