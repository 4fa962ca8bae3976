//! Values from the environment end up in configurations and in no message.

use hookgate_core::config::ReadOptions;

use crate::support::{parse_with, with};

const SECRET: &str = "hunter2-s3cret";

/// Texts with the secret in each place that a message could repeat; none of them loads without a word.
const TEXTS: [&str; 25] = [
    "plugins: '{{ env.S }}'",
    "plugins:\n- '{{ env.S }}'",
    "plugins:\n- {name: p, kind: '{{ env.S }}', hooks: [x]}",
    "plugins:\n- {name: p, kind: 'a.{{ env.S }}', hooks: [x]}",
    "plugins:\n- {name: p, kind: a.b.C, hooks: ['{{ env.S }} x']}",
    "plugins:\n- {name: p, kind: a.b.C, hooks: '{{ env.S }}'}",
    "plugins:\n- {name: p, kind: a.b.C, hooks: [x], mode: '{{ env.S }}'}",
    "plugins:\n- {name: p, kind: a.b.C, hooks: [x], on_error: 'a{{ env.S }}b'}",
    "plugins:\n- {name: p, kind: a.b.C, hooks: [x], priority: '{{ env.S }}'}",
    "plugins:\n- {name: p, kind: a.b.C, hooks: [x], '{{ env.S }}': 1}",
    "plugins:\n- {name: p, kind: a.b.C, hooks: [x], capabilities: ['{{ env.S }}']}",
    "plugins:\n- {name: p, kind: a.b.C, hooks: [x], conditions: [{'{{ env.S }}': [a]}]}",
    "plugins:\n- {name: p, kind: a.b.C, hooks: [x], limits: {timeout: '{{ env.S }}'}}",
    "plugins:\n- {name: p, kind: a.b.C, hooks: [x], limits: {memory: '{{ env.S }}'}}",
    "plugins:\n- {name: p, kind: a.b.C, hooks: [x], permissions: {env: ['{{ env.S }}=']}}",
    "plugins:\n- {name: p, kind: a.b.C, hooks: [x], permissions: {data: ['{{ env.S }}']}}",
    "plugins:\n- {name: p, kind: a.b.C, hooks: [x], requirements: ['-{{ env.S }}']}",
    "plugins:\n- {name: p, kind: a.b.C, hooks: [x], requirements_file: '{{ env.S }}'}",
    "plugins:\n- {name: p, kind: wasm, hooks: [x], component: './{{ env.S }}/x'}",
    "plugins:\n- {name: p, kind: a.b.C, hooks: [x], tags: ['{{ env.S }}', '{{ env.S }}'], x: 1}",
    "plugins:\n- {name: p, kind: a.b.C, hooks: [x], config: {'{{ env.S }}': 1, '{{ env.S }}': 2}, x: 1}",
    "plugins:\n- {name: p, kind: isolated_venv, hooks: [x], config: {class_name: '{{ env.S }}'}}",
    "plugins:\n- {name: p, kind: isolated_venv, hooks: [x], config: {class_name: a.C, script_path: '{{ env.S }}', requirements_file: '{{ env.S }}'}, x: 1}",
    "plugins: []\nmax_payload_bytes: '{{ env.S }}'",
    "plugins: []\n'{{ env.S }}': 1",
];

fn told(text: &str, options: &ReadOptions) -> String {
    let text = format!(
        "plugin_dirs: ['{{{{ env.S }}}}']\nplugin_settings: {{plugin_timeout: '1'}}\n{text}\n"
    );
    match parse_with(&text, options) {
        Ok(config) => panic!("loaded: {text}\n{}", config.report),
        Err(report) => serde_json::to_string(&report).unwrap() + &report.to_string(),
    }
}

#[test]
fn a_value_from_the_environment_is_never_told() {
    for text in TEXTS {
        let told = told(text, &with(&[("S", SECRET)]));
        assert!(!told.contains("hunter2"), "{text}\n{told}");
        assert!(!told.contains("s3cret"), "{text}\n{told}");
        // The expression stands in its place.
        assert!(told.contains("env.S"), "{text}\n{told}");
    }
}

#[test]
fn one_that_breaks_the_yaml_is_not_told() {
    for secret in [
        SECRET,
        "*hunter2",
        "&hunter2 {",
        "!hunter2 x",
        "'hunter2",
        "@hunter2",
    ] {
        for text in [
            "plugins: []\nx: {{ env.S }}: y",
            "plugins: []\nx: {{ env.S }}",
        ] {
            let told = told(text, &with(&[("S", secret)]));
            assert!(!told.contains("hunter2"), "{text}\n{told}");
        }
    }
}

#[test]
fn neither_is_a_part_of_a_long_one() {
    let long = format!("{SECRET}{}", "0123456789".repeat(20));
    for text in TEXTS {
        let told = told(text, &with(&[("S", &long)]));
        assert!(!told.contains("hunter2"), "{text}\n{told}");
        assert!(!told.contains("0123456"), "{text}\n{told}");
    }
}

#[test]
fn nor_one_that_yaml_writes_otherwise() {
    // In double quotes YAML reads `\u0068unter2` as `hunter2`.
    let text = "plugins:\n- {name: p, kind: \"{{ env.S }}\", hooks: [x]}";
    let told = told(text, &with(&[("S", "\\u0068unter2-s3cret\\n and more")]));
    assert!(!told.contains("hunter2"), "{told}");
    assert!(!told.contains("s3cret"), "{told}");
}

#[test]
fn nor_one_that_a_filter_or_a_block_wrote() {
    for code in [
        "{{ env.S | upper | lower }}",
        "{% set s = env.S %}{{ s }}",
        "{% filter lower %}{{ env.S }}{% endfilter %}",
        "{% for s in [env.S] %}{{ s }}{% endfor %}",
        "{% macro m() %}{{ env.S }}{% endmacro %}{{ m() }}",
    ] {
        let text = format!("plugins:\n- {{name: p, kind: '{code}', hooks: [x]}}");
        let told = told(&text, &with(&[("S", SECRET)]));
        assert!(!told.contains("hunter2"), "{code}\n{told}");
    }
}

#[test]
fn the_options_show_no_variables() {
    let options = with(&[("S", SECRET)]);
    assert!(!format!("{options:?}").contains("hunter2"));
}
