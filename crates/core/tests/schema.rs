//! The schema that editors use, held against every configuration in the repository, against wrong ones,
//! and against whatever else the reader accepts.

#[path = "schema/wrong.rs"]
mod wrong;

use std::fs;
use std::path::{Component, Path, PathBuf};
use std::sync::LazyLock;

use hookgate_core::config::{Config, ReadOptions, Shape, json_schema};
use jsonschema::Validator;
use proptest::prelude::*;
use serde_json::Value;
use tempfile::TempDir;
use wrong::WRONG;

static SCHEMA: LazyLock<Validator> =
    LazyLock::new(|| jsonschema::draft202012::new(&json_schema()).expect("a schema"));

fn repository() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("../..")
}

/// The text as an editor's validator sees it, YAML 1.2 like the reader.
fn value(text: &str) -> Result<Value, String> {
    let options = serde_saphyr::options! {
        strict_booleans: true,
        underscored_numbers_as_strings: true,
        with_snippet: false,
    };
    serde_saphyr::from_str_with_options(text, options).map_err(|error| error.to_string())
}

/// What the schema says against a text.
fn complaints(text: &str) -> Vec<String> {
    let value = match value(text) {
        Ok(value) => value,
        Err(error) => return vec![error],
    };
    let complaint =
        |error: jsonschema::ValidationError| format!("{}: {error}", error.instance_path());
    SCHEMA.iter_errors(&value).map(complaint).collect()
}

/// Makes every file and folder that a configuration names, so that its reader finds them.
fn folder_for(text: &str) -> (TempDir, PathBuf) {
    let root = TempDir::new().unwrap();
    // Examples name things beside their own folder.
    let base = root.path().join("a/b");
    fs::create_dir_all(&base).unwrap();
    let config = value(text).unwrap();
    let place = |path: &Value| {
        let path = path.as_str().unwrap();
        let ups = Path::new(path)
            .components()
            .filter(|part| *part == Component::ParentDir);
        assert!(Path::new(path).is_relative() && ups.count() <= 2, "{path}");
        base.join(path)
    };
    let file = |path: &Value| {
        let path = place(path);
        fs::create_dir_all(path.parent().unwrap()).unwrap();
        fs::write(path, "").unwrap();
    };
    let folder = |path: &Value| fs::create_dir_all(place(path)).unwrap();
    for entry in config["plugins"].as_array().into_iter().flatten() {
        [&entry["component"], &entry["requirements_file"]]
            .into_iter()
            .filter(|path| !path.is_null())
            .for_each(file);
        let folders = entry["import_paths"].as_array().into_iter().flatten();
        let granted = entry["permissions"]["files"]
            .as_array()
            .into_iter()
            .flatten();
        folders
            .chain([&entry["workdir"]])
            .chain(granted.map(|grant| &grant["host"]))
            .filter(|path| !path.is_null())
            .for_each(folder);
        let environment = &entry["python"]["environment"];
        if let Some(path) = environment.as_str() {
            file(&format!("{path}/bin/python").into());
        }
    }
    (root, base)
}

/// Every file below a folder with one of the endings, sorted.
fn files(folder: &Path, endings: &[&str], found: &mut Vec<PathBuf>) {
    let mut entries: Vec<_> = fs::read_dir(folder)
        .unwrap_or_else(|error| panic!("{}: {error}", folder.display()))
        .map(|entry| entry.unwrap().path())
        .collect();
    entries.sort();
    for path in entries {
        let name = path
            .file_name()
            .unwrap_or_default()
            .to_string_lossy()
            .into_owned();
        if path.is_dir() {
            if name != "target" && !name.starts_with('.') {
                files(&path, endings, found);
            }
        } else if endings.iter().any(|ending| name.ends_with(ending)) {
            found.push(path);
        }
    }
}

/// The `yaml` blocks of a Markdown text, each with its line.
fn blocks(text: &str) -> Vec<(usize, String)> {
    let mut found = Vec::new();
    let mut open: Option<(usize, String)> = None;
    for (index, line) in text.lines().enumerate() {
        match &mut open {
            Some(_) if line.trim_start().starts_with("```") => found.extend(open.take()),
            Some((_, block)) => {
                block.push_str(line);
                block.push('\n');
            }
            None if line.trim() == "```yaml" => open = Some((index + 2, String::new())),
            None => {}
        }
    }
    found
}

/// Every configuration a user of the repository may copy, each with its place.
fn configurations() -> Vec<(String, String)> {
    let repository = repository();
    let mut found = Vec::new();
    let mut yaml = vec![];
    files(&repository.join("examples"), &[".yaml", ".yml"], &mut yaml);
    yaml.push(repository.join("crates/core/tests/config/fixtures/example.yaml"));
    for path in yaml {
        found.push((
            path.display().to_string(),
            fs::read_to_string(path).unwrap(),
        ));
    }
    let mut pages = vec![
        repository.join("README.md"),
        repository.join("CHANGELOG.md"),
    ];
    for folder in ["docs", "guest-plugins", "examples", "crates", "wit"] {
        files(&repository.join(folder), &[".md"], &mut pages);
    }
    for page in pages {
        for (line, block) in blocks(&fs::read_to_string(&page).unwrap()) {
            found.push((format!("{}:{line}", page.display()), block));
        }
    }
    // What is no configuration, such as a manifest, has no `plugins:`.
    found.retain(|(_, text)| value(text).is_ok_and(|value| value.get("plugins").is_some()));
    found
}

#[test]
fn every_configuration_in_the_repository_loads_and_is_valid() {
    let all = configurations();
    for (file, count) in [("examples", 3), ("README.md", 1), ("fixtures", 1)] {
        let of_file = all.iter().filter(|(place, _)| place.contains(file));
        assert!(of_file.count() >= count, "{file}: {all:?}");
    }
    for (place, text) in all {
        let (_root, base) = folder_for(&text);
        let config =
            Config::parse(&text, &place, &base).unwrap_or_else(|report| panic!("{report}"));
        // The legacy shape is read, but is not what the schema describes.
        if config.shape == Shape::Hookgate {
            assert_eq!(complaints(&text), Vec::<String>::new(), "{place}\n{text}");
        }
    }
}

fn fixtures() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/config/fixtures")
}

#[test]
fn wrong_configurations_are_refused_by_both() {
    for (name, text, expressible) in WRONG {
        let read = Config::parse(text, "hookgate.yaml", &fixtures());
        assert!(read.is_err(), "{name}: the reader accepts it");
        let complaints = complaints(text);
        assert_eq!(
            !complaints.is_empty(),
            *expressible,
            "{name}: {complaints:?}"
        );
    }
}

#[test]
fn the_committed_schema_is_the_generated_one() {
    let path = repository().join("docs/config.schema.json");
    let generated = serde_json::to_string_pretty(&json_schema()).unwrap() + "\n";
    let committed = fs::read_to_string(&path).unwrap_or_default();
    assert!(
        committed == generated,
        "{} is out of date; hint: hookgate schema > docs/config.schema.json",
        path.display()
    );
}

/// What the reader accepts, the schema accepts.
fn held(text: &str) -> Result<bool, TestCaseError> {
    let options = ReadOptions::new(Shape::Hookgate);
    let read = Config::parse_with(text, "hookgate.yaml", &fixtures(), &options);
    // Keys of a plugin's own that are no strings are named by their text; JSON has no other keys.
    if read.is_ok() && value(text).is_ok() {
        prop_assert_eq!(complaints(text), Vec::<String>::new(), "{}", text);
    }
    Ok(read.is_ok())
}

/// One of everything, on fixtures that are there.
const EVERYTHING: &str = "max_payload_bytes: 5 MB
max_state_bytes: 4096
plugins:
- name: one
  kind: wasm
  component: gate.wasm
  digest: sha256:0123456789ABCDEF0123456789abcdef0123456789abcdef0123456789abcdef
  hooks: [tool_pre_invoke, my.own-hook]
  mode: transform
  priority: -7
  on_error: disable
  conditions: [{tools: [a, b], content_types: [text/html]}, {server_ids: , user_patterns: ['']}]
  limits: {timeout: 1m 30s, memory: 1.5GiB, concurrency: 12}
  permissions: {files: [{host: ./data, guest: /data, access: read_write}], env: [A, B], data: [read_headers]}
  config: {words: [secret], at: {deep: [1, 2.5, null, true]}}
  description: 'some: text'
  version: 1.10
- name: two
  kind: my_pkg.mod.Class
  hooks: [prompt_pre_fetch]
  requirements: [a==1, 'b>=2']
  requirements_file: requirements.txt
  import_paths: [plugins, .]
  workdir: data
  python: {environment: virtualenv, settings: {log_level: debug, limits: [1, 2.50]}}
  allow_build: false
  worker: hookgate
  workers: 3
  idempotent: true
  sandbox: best_effort
  permissions: {files: [{host: data}, {host: requirements.txt, access: read_write}], network: [{host: '*.example.com', port: 443}], processes: true, env: [C]}
  tags: [x, y]
  author: somebody
  version: '2'
- {name: three, kind: my_pkg.mod.Other, hooks: [prompt_pre_fetch], worker: framework, workers: 1, idempotent: false, allow_build: true, python: {settings: {}}}
groups:
- {name: g, plugins: [one, two], mode: audit, priority: 20, on_error: ignore, conditions: [{tenant_ids: [acme]}]}
";

/// What is put in somewhere.
const PIECES: &[&str] = &[
    "", "x", " ", "-", "0", "5", "1.5", "ms", "h", "MB", "KiB", "b", "null", "~", "true", "[]",
    "{}", "[a]", "''", "'a b'", ".", "..", "/", "=", "wasm", "audit", "disabled", "fail", "+5",
    "0x1F", "1e3", ", ", ": ", "\n", "\n  ", "é", "\u{7f}", "*", "?", "!", "&a ", "*a", "# ",
];

proptest! {
    #![proptest_config(ProptestConfig { failure_persistence: None, cases: 1024, ..ProptestConfig::default() })]

    #[test]
    fn a_changed_text(at in any::<prop::sample::Index>(), remove in 0usize..4, insert in prop::sample::select(PIECES)) {
        let mut chars: Vec<char> = EVERYTHING.chars().collect();
        let at = at.index(chars.len());
        let end = (at + remove).min(chars.len());
        chars.splice(at..end, insert.chars());
        held(&chars.into_iter().collect::<String>())?;
    }

    #[test]
    fn a_duration(parts in prop::collection::vec((0u32..200, "(\\.[0-9]{1,2})?", "[ ]?", prop::sample::select(UNITS), "[ ]{0,2}"), 1..4)) {
        let text: String = parts
            .iter()
            .map(|(number, fraction, gap, unit, end)| format!("{number}{fraction}{gap}{unit}{end}"))
            .collect();
        held(&format!("plugins: [{{name: p, kind: a.B, hooks: [x], limits: {{timeout: '{text}'}}}}]\n"))?;
    }

    #[test]
    fn a_size(number in "[+]?[0-9]{0,4}(\\.[0-9]{0,3})?", gap in "[ ]{0,2}", unit in "[bkmgtKMGTB]?[i]?[bB]?") {
        held(&format!("plugins: []\nmax_payload_bytes: '{number}{gap}{unit}'\n"))?;
        held(&format!("plugins: [{{name: p, kind: a.B, hooks: [x], limits: {{memory: '{number}{gap}{unit}'}}}}]\n"))?;
    }

    #[test]
    fn a_word(word in "[ -~éß\u{7f}]{0,8}") {
        let quoted = word.replace('\'', "''");
        for entry in [
            format!("name: '{quoted}', kind: a.B, hooks: [x]"),
            format!("name: p, kind: '{quoted}', hooks: [x]"),
            format!("name: p, kind: 'a.{quoted}', hooks: [x]"),
            format!("name: p, kind: a.B, hooks: ['{quoted}']"),
            format!("name: p, kind: a.B, hooks: [x], requirements: ['{quoted}']"),
            format!("name: p, kind: a.B, hooks: [x], permissions: {{env: ['{quoted}']}}"),
            format!("name: p, kind: a.B, hooks: [x], python: {{settings: {{'{quoted}': 1}}}}"),
            format!("name: p, kind: wasm, component: gate.wasm, hooks: [x], permissions: {{files: [{{host: ., guest: '/{quoted}'}}]}}"),
        ] {
            held(&format!("plugins: [{{{entry}}}]\n"))?;
        }
    }
}

/// Units of durations, long and short.
const UNITS: &[&str] = &[
    "ns", "nsec", "us", "usec", "µs", "ms", "msec", "millis", "s", "sec", "secs", "second",
    "seconds", "m", "min", "mins", "minute", "minutes", "h", "hr", "hrs", "hour", "hours", "d",
    "w", "M", "y", "",
];

#[test]
fn one_of_everything_is_accepted_by_both() {
    assert!(held(EVERYTHING).unwrap());
}
