//! No legacy text makes the reader panic, no problem is outside the text, and no value is told.

use hookgate_core::config::{ConfigReport, ReadOptions, Shape};
use proptest::prelude::*;

use crate::support::{parse_with, with};

/// Values that nothing else in a message looks like.
const VARIABLES: [(&str, &str); 3] = [
    ("WORD", "qzxjv"),
    ("LINES", "qzxjv: [wvk\n  - qzxjv\n&qzxjv é"),
    ("MARKUP", "<qzxjv 'wvk\">"),
];

/// Pieces of legacy configurations and of templates.
const PIECES: &[&str] = &[
    "plugin_dirs: [a]\n",
    "plugin_settings: ",
    "plugins:",
    "\n- ",
    "\n  ",
    "\n",
    "name: p",
    "name: '{{ env.WORD }}'",
    "kind: a.B",
    "kind: isolated_venv",
    "kind: {{ env.WORD }}",
    "hooks: [tool_pre_invoke]",
    "hooks: [{{ env.LINES }}]",
    "mode: enforce",
    "mode: disabled",
    "mode: \"{{ env.MARKUP }}\"",
    "config: {class_name: a.B, timeout_secs: {{ env.WORD }}}",
    "capabilities: ['{{ env.WORD }}']",
    "applied_to: {tools: [{{ env.WORD }}]}",
    "default_config: ",
    "namespace: yes",
    "{{ env.WORD }}",
    "{{ env.LINES }}",
    "{{- env.MARKUP -}}",
    "{{ env.NOPE }}",
    "{{ nope.x }}",
    "{{ env.WORD | ",
    "{% if env.WORD %}",
    "{% else %}",
    "{%- endif -%}",
    "{% for a in 'ab' %}",
    "{% endfor %}",
    "{% raw %}",
    "{% endraw %}",
    "{% set a %}",
    "{% endset %}",
    "{{ a }}",
    "{# ",
    " #}",
    "{{",
    "}}",
    "'",
    "\"",
    ": ",
    ", ",
    "{",
    "}",
    "[",
    "]",
    "*a",
    "&a ",
    "!b ",
    "010",
    "2024-01-01",
    "é",
    "\u{2028}",
    "\r\n",
    "\0",
];

fn check(text: &str, options: &ReadOptions) {
    let report: ConfigReport = match parse_with(text, options) {
        Ok(config) => config.report,
        Err(report) => {
            assert!(!report.problems.is_empty());
            report
        }
    };
    for problem in report.problems.iter().chain(&report.notes) {
        let before = text.get(..problem.span.start).expect("a place in the text");
        assert!(text.get(problem.span.clone()).is_some(), "{problem:?}");
        assert!(
            problem.line <= before.matches('\n').count() + 1,
            "{problem:?}"
        );
        let told = format!("{} {:?}", problem.message, problem.hint);
        assert!(!told.contains("qzxj"), "{told}\n{text}");
    }
}

/// A good file: changed in one place, most of the reader runs.
const GOOD: &str = "plugin_dirs: ['{{ env.WORD }}']\nplugins:\n{% if env.WORD %}\n- name: p\n  kind: a.b.C\n  hooks: [x]\n  \
                    mode: enforce\n  config: {a: \"{{ env.MARKUP }}\", b: '{{ env.NOPE | default(\"é\") }}'}\n{% endif %}\n";

proptest! {
    #![proptest_config(ProptestConfig { failure_persistence: None, cases: 512, ..ProptestConfig::default() })]

    #[test]
    fn any_pieces(pieces in prop::collection::vec(prop::sample::select(PIECES), 0..30)) {
        let mut options = with(&VARIABLES);
        options.shape = Shape::Legacy;
        check(&pieces.concat(), &options);
    }

    #[test]
    fn a_changed_file(at in any::<prop::sample::Index>(), remove in 0usize..3, insert in prop::sample::select(PIECES)) {
        let mut chars: Vec<char> = GOOD.chars().collect();
        let at = at.index(chars.len());
        let end = (at + remove).min(chars.len());
        chars.splice(at..end, insert.chars());
        check(&chars.into_iter().collect::<String>(), &with(&VARIABLES));
    }

    /// Whatever is written before a key, it is found where it is.
    #[test]
    fn an_unknown_key_is_found_where_it_is(
        before in prop::collection::vec(prop::sample::select(&[
            "{{ env.WORD }}", "{# a\nb #}", "{% if env.WORD %}x{% endif %}", "{% raw %}{{ x }}{% endraw %}", "é", " ", "\\n", "{% if not env.WORD %}x\n{% endif %}",
        ][..]), 0..8),
        key in "[a-z]{12,20}",
    ) {
        let text = format!("plugin_dirs: []\nplugins:\n- name: p\n  kind: a.B\n  hooks: [x]\n  description: \"{}\"\n  {key}: 1\n", before.concat());
        let report = parse_with(&text, &with(&VARIABLES)).unwrap_err();
        let problem = report.problems.last().unwrap();
        prop_assert_eq!(&problem.message, &format!("unknown key: {key}"));
        prop_assert_eq!(&text[problem.span.clone()], &key);
        prop_assert_eq!((problem.line, problem.column), (text.lines().count(), 3));
    }
}
