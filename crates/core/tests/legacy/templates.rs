//! Templates: places stay those of the file, and what goes wrong is told there.

use std::ffi::OsString;
use std::os::unix::ffi::OsStringExt as _;

use hookgate_core::config::{Environment, Problem};

use crate::support::{entry, load_with, notes, options, refused_with, told, with};

/// The bytes of a problem begin where its line and column say.
fn assert_span_is_at_its_place(text: &str, problem: &Problem) {
    let before = &text[..problem.span.start];
    let line_start = before.rfind('\n').map_or(0, |at| at + 1);
    let line = before.matches('\n').count() + 1;
    let column = before[line_start..].chars().count() + 1;
    assert_eq!(
        (line, column),
        (problem.line, problem.column),
        "{problem:?}"
    );
}

/// Every text has one unknown key `prority`, at the place the case says.
#[test]
fn a_problem_is_told_at_its_place_in_the_file() {
    let variables = [
        ("ONE", "1"),
        ("LINES", "a\\nb\nc\n\nd"),
        ("LIST", "x,y"),
        ("LONG", "a rather long value"),
    ];
    let cases = [
        ("nothing before it", "  prority: 1", (6, 3)),
        (
            "a value of several lines",
            "  config: {a: \"{{ env.LINES }}\"}\n  prority: 1",
            (7, 3),
        ),
        (
            "behind a value on its line",
            "  config: {a: '{{ env.LONG }}'}\n  limits: {tmeout: '{{ env.ONE }}'}",
            (7, 12),
        ),
        (
            "a condition that holds",
            "{% if env.ONE %}\n  prority: 1\n{% endif %}",
            (7, 3),
        ),
        (
            "a condition that does not hold",
            "{% if not env.ONE %}\n  x: 1\n  y: 1\n{% endif %}\n  prority: 1",
            (10, 3),
        ),
        (
            "white space taken away",
            "  config: {a: 1}\n  {#- one\n  two -#}\n\n  prority: 1",
            (0, 0),
        ),
        (
            "a loop",
            "{% for n in env.LIST.split(',') %}\n{% endfor %}\n  prority: 1",
            (8, 3),
        ),
        (
            "raw text",
            "  config: {a: '{% raw %}{{ x }}\n\n{% endraw %}'}\n  prority: 1",
            (9, 3),
        ),
        (
            "a comment of the template",
            "{# one\ntwo #}\n  prority: 1",
            (8, 3),
        ),
        (
            "characters of several bytes",
            "  description: 'é{{ env.ONE }}é'\n  prority: 1",
            (7, 3),
        ),
        (
            "a key that is filled in",
            "  {{ 'pro' ~ 'rity' }}: 1",
            (6, 3),
        ),
    ];
    for (name, lines, (line, column)) in cases {
        let text = entry(lines);
        if line == 0 {
            // The template glues the key to the line before: no YAML, at the key's own place.
            let problems = refused_with(&text, &with(&variables));
            assert_eq!(problems.len(), 1, "{name}");
            assert_eq!(problems[0].line, 10, "{name}: {}", problems[0].message);
            continue;
        }
        let problems = refused_with(&text, &with(&variables));
        assert_eq!(problems.len(), 1, "{name}: {problems:?}");
        assert_eq!(
            (problems[0].line, problems[0].column),
            (line, column),
            "{name}"
        );
        assert!(
            problems[0].message.starts_with("unknown key: "),
            "{name}: {}",
            problems[0].message
        );
        assert_eq!(problems[0].plugin.as_deref(), Some("p"), "{name}");
        assert_span_is_at_its_place(&text, &problems[0]);
    }
}

#[test]
fn an_entry_knows_its_line() {
    let text = "plugin_dirs: []\nplugins:\n{% for n in 'a,b'.split(',') %}\n- name: {{ n }}\n  kind: a.b.C\n  hooks: [x]\n{% endfor %}\n- {name: '{{ env.LINES }}', kind: a.b.C, hooks: [x]}\n";
    let config = load_with(text, &with(&[("LINES", "one\ntwo")]));
    let entries: Vec<_> = config
        .plugins
        .iter()
        .map(|spec| (spec.name.as_str(), spec.line))
        .collect();
    assert_eq!(entries, [("a", 4), ("b", 4), ("one two", 8)]);
}

#[test]
fn a_variable_that_is_not_set_is_noted() {
    let hint = "set the variable, or give another value: {{ env.NAME | default('...') }}";
    let cases: [(&str, &str, &[&str]); 9] = [
        (
            "alone",
            "  config: {a: '{{ env.NOPE }}'}",
            &["6:16 {{ env.NOPE }}"],
        ),
        (
            "in a text",
            "  config:\n    a: 'x{{ env[\"NOPE\"] }}y'",
            &["7:10 {{ env[\"NOPE\"] }}"],
        ),
        (
            "joined",
            "  config: {a: \"{{ 'x' ~ env.NOPE }}\"}",
            &["6:16 {{ 'x' ~ env.NOPE }}"],
        ),
        (
            "not of the environment",
            "  config: {a: '{{event}}'}",
            &["6:16 {{event}}"],
        ),
        (
            "twice",
            "  config: {a: '{{ env.A }}', b: '{{ env.B }}'}",
            &["6:16 {{ env.A }}", "6:34 {{ env.B }}"],
        ),
        (
            "with another value",
            "  config: {a: \"{{ env.NOPE | default('x') }}\"}",
            &[],
        ),
        (
            "only asked for",
            "  config: {a: '{% if env.NOPE %}x{% endif %}'}",
            &[],
        ),
        ("in a comment", "  # {{ env.NOPE }}", &[]),
        ("empty but set", "  config: {a: '{{ env.EMPTY }}'}", &[]),
    ];
    for (name, lines, expected) in cases {
        let config = load_with(&entry(lines), &with(&[("EMPTY", "")]));
        let expected: Vec<_> = expected
            .iter()
            .map(|told| {
                let (place, code) = told.split_once(' ').unwrap();
                format!("{place} not set, so nothing is filled in: {code} | {hint}")
            })
            .collect();
        assert_eq!(notes(&config), expected, "{name}");
        let plugins = config
            .report
            .notes
            .iter()
            .filter(|note| note.message.starts_with("not set"));
        assert!(
            plugins
                .into_iter()
                .all(|note| note.plugin.as_deref() == Some("p")),
            "{name}"
        );
    }
}

#[test]
fn a_template_that_cannot_be_filled_in_is_one_problem() {
    let raw = "text with braces that is no template goes between {% raw %} and {% endraw %}";
    let variables = [("WORD", "hunter2"), ("NUMBER", "42")];
    let cases = [
        (
            "  config: {a: '{{ env.WORD | lowr }}'}",
            "6:30 template: unknown filter: lowr | did you mean `lower`? possible filters: ",
        ),
        (
            "  config: {a: '{{ env.WORD'}",
            &format!("6:16 template: unexpected end of string | {raw}"),
        ),
        (
            "  config: {a: '{% endif %}'}",
            &format!("6:19 template: unknown statement endif | {raw}"),
        ),
        (
            "  config: {a: '{{ env.NOPE | int }}'}",
            &format!(
                "6:30 template: a variable is not set: {{{{ env.NOPE | int }}}} | give another value, {{{{ env.NAME | default('...') }}}}; {raw}"
            ),
        ),
        (
            "  config: {a: '{{ env.NUMBER + 1 }}'}",
            "6:19 template: invalid operation",
        ),
        (
            "  config: {a: '{{ env }}'}",
            "6:19 template: invalid operation: env is the whole environment; name one variable: env.NAME",
        ),
        (
            "  config: {a: \"{{ env.pop('WORD') }}\"}",
            "template: unknown method",
        ),
        (
            "{% for a in range(10000) %}{% for b in range(10000) %}{% endfor %}{% endfor %}",
            "template: it does not end",
        ),
        (
            "{% for a in range(9999) %}{{ 'x' * 1000 }}{% endfor %}",
            "template: it writes more than 4 MiB",
        ),
    ];
    for (lines, expected) in cases {
        let problems = refused_with(&entry(lines), &with(&variables));
        let told = told(&problems);
        assert_eq!(told.len(), 1, "{lines}");
        assert!(told[0].contains(expected), "{lines}: {}", told[0]);
        assert_eq!(problems[0].line, 6, "{lines}: {}", told[0]);
        assert!(!told[0].contains("hunter2"), "{lines}: {}", told[0]);
    }
}

#[test]
fn a_variable_that_is_no_text_is_a_problem() {
    let environment = Environment::new(|_| Some(OsString::from_vec(vec![b'a', 0xff])));
    let options = options().environment(environment);
    let problems = refused_with(&entry("  config: {a: '{{ env.BYTES }}'}"), &options);
    assert_eq!(
        told(&problems),
        ["6:16 template: the variable is not UTF-8: BYTES"]
    );
}

#[test]
fn what_is_no_yaml_afterwards_is_told_at_its_place() {
    let text =
        entry("  config: {a: \"{{ env.LINES }}\"}\n  description: {{ env.OPEN }}\n  author: x");
    let options = with(&[("LINES", "a\nb\nc"), ("OPEN", "[s3cret, ")]);
    let problems = refused_with(&text, &options);
    assert_eq!(problems.len(), 1);
    let problem = &problems[0];
    assert!(
        problem.message.starts_with("not valid YAML: "),
        "{}",
        problem.message
    );
    assert!((7..=8).contains(&problem.line), "{problem:?}");
    assert!(!problem.message.contains("s3cret"), "{}", problem.message);
}
