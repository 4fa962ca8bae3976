//! Texts and folders to read configurations from.

use std::path::Path;

use hookgate_core::config::{Config, ConfigReport, Environment, Problem, ReadOptions, Shape};
use tempfile::TempDir;

/// Options without variables, in a current folder that is not there.
pub fn options() -> ReadOptions {
    with(&[])
}

/// Options with exactly these variables.
pub fn with(variables: &[(&str, &str)]) -> ReadOptions {
    let variables = variables.iter().copied();
    ReadOptions::new(Shape::Auto)
        .environment(variables.collect::<Environment>())
        .current_dir("/nowhere")
}

pub fn parse_with(text: &str, options: &ReadOptions) -> Result<Config, ConfigReport> {
    Config::parse_with(text, "config.yaml", "/nowhere/plugins".as_ref(), options)
}

/// The configuration of a legacy text without templates.
pub fn load(text: &str) -> Config {
    load_with(text, &options())
}

pub fn load_with(text: &str, options: &ReadOptions) -> Config {
    let config = parse_with(text, options).unwrap_or_else(|report| panic!("{text}\n{report}"));
    assert_eq!(config.shape, Shape::Legacy, "{text}");
    config
}

/// The problems of a text that must be refused.
pub fn refused(text: &str) -> Vec<Problem> {
    refused_with(text, &options())
}

pub fn refused_with(text: &str, options: &ReadOptions) -> Vec<Problem> {
    match parse_with(text, options) {
        Err(report) => report.problems,
        Ok(config) => panic!("loaded: {text}\n{config:#?}"),
    }
}

/// A legacy text with one Python entry `p` (lines 2 to 5) and more lines in it.
pub fn entry(lines: &str) -> String {
    format!(
        "plugin_dirs: []\nplugins:\n- name: p\n  kind: a.b.C\n  hooks: [tool_pre_invoke]\n{lines}\n"
    )
}

/// `line:column message | hint` of each.
pub fn told(problems: &[Problem]) -> Vec<String> {
    let one = |problem: &Problem| {
        let hint = problem.hint.as_ref().map(|hint| format!(" | {hint}"));
        format!(
            "{}:{} {}{}",
            problem.line,
            problem.column,
            problem.message,
            hint.unwrap_or_default()
        )
    };
    problems.iter().map(one).collect()
}

/// The notes besides the one that says where paths start.
pub fn notes(config: &Config) -> Vec<String> {
    let mut notes = told(&config.report.notes);
    notes.retain(|note| !note.contains("a legacy configuration"));
    notes
}

/// A folder with files in it; one whose name ends with a slash is a folder.
pub fn folder(files: &[(&str, &str)]) -> TempDir {
    let folder = tempfile::tempdir().unwrap();
    for (name, content) in files {
        let path = folder.path().join(name);
        if name.ends_with('/') {
            std::fs::create_dir_all(path).unwrap();
            continue;
        }
        std::fs::create_dir_all(path.parent().unwrap()).unwrap();
        std::fs::write(path, content).unwrap();
    }
    folder
}

/// The configuration in a file of a folder, read with a current folder that is not there.
pub fn load_file(folder: &Path, file: &str) -> Config {
    let config = Config::load_with(&folder.join(file), &options());
    config.unwrap_or_else(|report| panic!("{report}"))
}
