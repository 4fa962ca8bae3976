//! Tables of named cases: a text, and every problem it must be told.

use std::path::{Path, PathBuf};

use hookgate_core::config::{Config, ConfigReport, Problem};

/// Line, column, message, hint (empty for none). `{base}` stands for the fixtures' folder.
pub type Expected = (usize, usize, &'static str, &'static str);

pub struct Case {
    pub name: &'static str,
    pub text: String,
    pub expected: &'static [Expected],
}

/// A case with its whole text.
pub fn whole(name: &'static str, text: &str, expected: &'static [Expected]) -> Case {
    Case {
        name,
        text: text.to_owned(),
        expected,
    }
}

/// A case of one good wasm entry named `p` (lines 1 to 5) with more lines behind it.
pub fn wasm(name: &'static str, more: &str, expected: &'static [Expected]) -> Case {
    let text = format!(
        "plugins:\n- name: p\n  kind: wasm\n  component: gate.wasm\n  hooks: [tool_pre_invoke]\n{more}\n"
    );
    Case {
        name,
        text,
        expected,
    }
}

/// A case of one good Python entry named `p` (lines 1 to 4) with more lines behind it.
pub fn python(name: &'static str, more: &str, expected: &'static [Expected]) -> Case {
    let text = format!("plugins:\n- name: p\n  kind: a.b.C\n  hooks: [tool_pre_invoke]\n{more}\n");
    Case {
        name,
        text,
        expected,
    }
}

pub fn fixtures() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/config/fixtures")
}

pub fn parse(text: &str) -> Result<Config, ConfigReport> {
    Config::parse(text, "hookgate.yaml", &fixtures())
}

/// Each text must be refused with exactly the expected problems.
pub fn check_problems(cases: &[Case]) {
    for case in cases {
        let report = match parse(&case.text) {
            Err(report) => report,
            Ok(config) => panic!("{}: loaded: {config:#?}", case.name),
        };
        compare(case, &report.problems);
    }
}

/// Each text must load with exactly the expected notes.
pub fn check_notes(cases: &[Case]) {
    for case in cases {
        let config = parse(&case.text).unwrap_or_else(|report| panic!("{}: {report}", case.name));
        compare(case, &config.report.notes);
    }
}

fn compare(case: &Case, problems: &[Problem]) {
    let found: Vec<_> = problems.iter().map(as_text).collect();
    let base = fixtures().display().to_string();
    let expected: Vec<_> = case
        .expected
        .iter()
        .map(|(line, column, message, hint)| {
            format!(
                "{line}:{column} {}\n    hint: {}",
                message.replace("{base}", &base),
                hint.replace("{base}", &base)
            )
        })
        .collect();
    assert_eq!(found, expected, "{}:\n{}", case.name, found.join("\n"));
    for problem in problems {
        assert_eq!(problem.file, "hookgate.yaml", "{}", case.name);
        assert_span_is_at_its_place(&case.text, problem);
    }
}

fn as_text(problem: &Problem) -> String {
    let hint = problem.hint.as_deref().unwrap_or("");
    format!(
        "{}:{} {}\n    hint: {hint}",
        problem.line, problem.column, problem.message
    )
}

/// The bytes of a problem begin where its line and column say.
pub fn assert_span_is_at_its_place(text: &str, problem: &Problem) {
    let before = text
        .get(..problem.span.start)
        .expect("the span begins between characters");
    text.get(problem.span.clone())
        .expect("the span is inside the text");
    let line_start = before.rfind('\n').map_or(0, |at| at + 1);
    let line = before.matches('\n').count() + 1;
    let column = before[line_start..].chars().count() + 1;
    assert_eq!(
        (line, column),
        (problem.line, problem.column),
        "{problem:?}"
    );
}
