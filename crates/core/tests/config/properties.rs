//! No text makes the reader panic, and every problem is inside the text.

use hookgate_core::config::{Config, ConfigReport};
use proptest::prelude::*;

use crate::cases::{assert_span_is_at_its_place, fixtures, parse};

/// Pieces of configurations, so that random texts reach past the parser.
const PIECES: &[&str] = &[
    "plugins:",
    "plugins: ",
    "\n- ",
    "\n  ",
    "\n    ",
    "\n",
    "name: p",
    "kind: wasm",
    "kind: a.B",
    "component: gate.wasm",
    "digest: ",
    "sha256:",
    "hooks: ",
    "[tool_pre_invoke]",
    "[",
    "]",
    "{",
    "}",
    ",",
    ", ",
    ": ",
    "mode: disabled",
    "limits: ",
    "timeout: ",
    "memory: ",
    "50ms",
    "64MiB",
    "9e9",
    "1.10",
    "-",
    "0x1F",
    ".nan",
    "permissions: ",
    "files: ",
    "host: ",
    "guest: ",
    "data",
    "/data",
    "env: ",
    "config: ",
    "python: ",
    "environment: ",
    "settings: ",
    "worker: ",
    "workers: ",
    "sandbox: ",
    "processes: ",
    "true",
    "&a ",
    "*a",
    "<<: ",
    "!!int ",
    "\"",
    "'",
    "|",
    ">",
    "#",
    "é",
    "\u{feff}",
    "\0",
    "\t",
    "\r\n",
    "~",
    "? ",
    "---",
    "...",
    "%",
    "\u{202e}",
    "plugin_dirs: ",
    "'x': ",
    "priority: ",
    "99999999999999999999",
];

fn check(text: &str) {
    let report: ConfigReport = match parse(text) {
        Ok(config) => config.report,
        Err(report) => {
            assert!(!report.problems.is_empty());
            report
        }
    };
    let shown = report.to_string();
    assert_eq!(
        shown
            .lines()
            .filter(|line| line.starts_with("  --> "))
            .count(),
        report.problems.len() + report.notes.len()
    );
    for problem in report.problems.iter().chain(&report.notes) {
        assert!(problem.line >= 1 && problem.column >= 1);
        assert!(text.get(problem.span.clone()).is_some(), "{problem:?}");
    }
}

/// The example with one character changed: nearly a good text, so most of the reader runs.
fn example() -> String {
    std::fs::read_to_string(fixtures().join("example.yaml")).unwrap()
}

proptest! {
    #![proptest_config(ProptestConfig { failure_persistence: None, cases: 512, ..ProptestConfig::default() })]

    #[test]
    fn any_text(text in any::<String>()) {
        check(&text);
    }

    #[test]
    fn any_pieces(pieces in prop::collection::vec(prop::sample::select(PIECES), 0..40)) {
        check(&pieces.concat());
    }

    #[test]
    fn a_changed_example(at in any::<prop::sample::Index>(), remove in 0usize..3, insert in prop::sample::select(PIECES)) {
        let mut chars: Vec<char> = example().chars().collect();
        let at = at.index(chars.len());
        let end = (at + remove).min(chars.len());
        chars.splice(at..end, insert.chars());
        check(&chars.into_iter().collect::<String>());
    }

    #[test]
    fn an_unknown_key_is_found_where_it_is(key in "[a-z]{12,20}", pad in "[ é]{0,3}") {
        let text = format!("plugins:\n- {{name: '{pad}', kind: a.B, hooks: [x], {key}: 1}}\n");
        let report = Config::parse(&text, "f.yaml", &fixtures()).unwrap_err();
        let problem = report.problems.last().unwrap();
        prop_assert_eq!(&problem.message, &format!("unknown key: {key}"));
        prop_assert_eq!(&text[problem.span.clone()], &key);
        assert_span_is_at_its_place(&text, problem);
    }
}
