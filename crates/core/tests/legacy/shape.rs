//! Which texts count as legacy, and what the other shape says about them.

use hookgate_core::config::{Config, ReadOptions, Shape};

use crate::support::{options, parse_with, told, with};

const PLUGIN: &str = "plugins:\n- {name: p, kind: a.b.C, hooks: [x]";

#[test]
fn what_a_file_has_decides() {
    let legacy = [
        ("plugin_dirs", "plugin_dirs: [plugins]\nplugins: []\n".to_owned()),
        ("plugin_settings", "plugins: []\nplugin_settings: {}\n".to_owned()),
        ("enforce", format!("{PLUGIN}, mode: enforce}}\n")),
        ("permissive", format!("{PLUGIN}, mode: 'permissive'}}\n")),
        ("enforce_ignore_error", format!("{PLUGIN}, mode: enforce_ignore_error}}\n")),
        ("the second entry", format!("{PLUGIN}}}\n- {{name: q, kind: a.b.C, hooks: [x], mode: enforce}}\n")),
        ("a mode from a variable", format!("{PLUGIN}, mode: \"{{{{ env.MODE | default('enforce') }}}}\"}}\n")),
        (
            "no YAML before it is filled in",
            "{% if true %}\nplugin_dirs: []\n{% endif %}\nplugins: []\n".to_owned(),
        ),
        (
            "a mode in a text that is no YAML before it is filled in",
            "plugins:\n{% if true %}\n- name: p\n  kind: a.b.C\n  hooks: [x]\n  mode: \"enforce\" # as ever\n{% endif %}\n".to_owned(),
        ),
    ];
    for (name, text) in legacy {
        let config =
            parse_with(&text, &options()).unwrap_or_else(|report| panic!("{name}: {report}"));
        assert_eq!(config.shape, Shape::Legacy, "{name}");
    }
    let ours = [
        ("nothing of it", format!("{PLUGIN}, mode: sequential}}\n")),
        (
            "only in a plugin's config",
            format!("{PLUGIN}, config: {{mode: enforce, plugin_dirs: [a]}}}}\n"),
        ),
        (
            "a text with braces",
            format!("{PLUGIN}, config: {{a: '{{{{event}}}}'}}}}\n"),
        ),
    ];
    for (name, text) in ours {
        let config =
            parse_with(&text, &options()).unwrap_or_else(|report| panic!("{name}: {report}"));
        assert_eq!(config.shape, Shape::Hookgate, "{name}");
    }
}

fn in_shape(shape: Shape) -> ReadOptions {
    let mut options = options();
    options.shape = shape;
    options
}

#[test]
fn the_shape_can_be_said() {
    let text = format!("{PLUGIN}, capabilities: [read_headers]}}\n");
    let read = |shape| parse_with(&text, &in_shape(shape));
    let config = read(Shape::Legacy).unwrap();
    assert_eq!(config.shape, Shape::Legacy);
    assert_eq!(config.plugins[0].permissions.data.iter().count(), 1);
    for shape in [Shape::Auto, Shape::Hookgate] {
        let report = read(shape).unwrap_err();
        assert_eq!(
            told(&report.problems),
            [
                "2:38 only the legacy shape has it: capabilities | write `permissions: {data: [read_headers]}`, \
              or let the file be read as legacy: --shape legacy"
            ],
        );
    }
}

#[test]
fn our_shape_names_what_to_write_for_a_legacy_mode() {
    let cases = [
        ("enforce", "write `mode: sequential`, which is the same"),
        (
            "enforce_ignore_error",
            "write `mode: sequential` and `on_error: ignore`, which is the same",
        ),
        ("permissive", "write `mode: transform`, which is the same"),
    ];
    for (mode, hint) in cases {
        let text = format!("plugin_dirs: []\n{PLUGIN}, mode: {mode}}}\n");
        let report = parse_with(&text, &in_shape(Shape::Hookgate)).unwrap_err();
        assert_eq!(
            told(&report.problems),
            [
                "1:1 only the legacy shape has it: plugin_dirs | write `import_paths: [DIR]` in the entries that \
                 need it, or let the file be read as legacy: --shape legacy"
                    .to_owned(),
                format!("3:44 only the legacy shape has it: mode {mode} | {hint}"),
            ],
        );
    }
}

#[test]
fn our_shape_fills_nothing_in() {
    let text = format!("{PLUGIN}, config: {{a: '{{{{ env.A }}}}'}}}}\n");
    let report = parse_with(&text, &with(&[("A", "value")])).unwrap_err();
    let message = "not supported yet: {{ env }} in config: {{ env.A }}";
    assert_eq!(report.problems[0].message, message);
}

#[test]
fn the_process_is_asked_where_nothing_else_is_said() {
    // PATH is set for every test; its value is not compared.
    let text = "plugin_dirs: []\nplugins:\n- name: p\n  kind: a.b.C\n  hooks: [x]\n  config: {a: '{{ env.PATH | length > 0 }}'}\n";
    let config = Config::parse(text, "config.yaml", ".".as_ref()).unwrap();
    assert_eq!(config.plugins[0].config.as_str(), r#"{"a":"True"}"#);
}
