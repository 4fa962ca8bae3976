//! Disabled entries are only parsed.

use hookgate_core::config::{Mode, PluginKind};

use crate::support::{load, notes, options, parse_with, told};

fn one(entry: &str) -> String {
    format!("plugin_dirs: []\nplugins:\n- {{name: p, mode: disabled, {entry}}}\n")
}

#[test]
fn nothing_in_them_keeps_a_file_from_loading() {
    let entries = [
        "kind: external, hooks: [x], mcp: {proto: STDIO}",
        "kind: external, hooks: [x]",
        "kind: whatever",
        "kind: 'no class at all'",
        "kind: isolated_venv, config: {requirements_file: nowhere.txt}",
        "kind: wasm, hooks: [x], component: nowhere.wasm",
        "kind: wasm, hooks: [x]",
        "kind: a.b.C, hooks: [x], requirements_file: nowhere.txt, import_paths: [nowhere], workdir: nowhere",
        "kind: a.b.C, hooks: [x], config: {a: .inf, b: 2024-01-01, b: 3}",
        "kind: a.b.C, hooks: [x], config: []",
        "kind: a.b.C, hooks: x, priority: high, on_error: never, conditions: x, capabilities: [nope]",
        "kind: a.b.C, hooks: [x], limits: {timeout: 1}, permissions: {data: [nope]}",
        "prority: 1",
        "",
    ];
    for entry in entries {
        let config = load(&one(entry));
        assert_eq!(config.plugins.len(), 1, "{entry}");
        assert_eq!(config.plugins[0].mode, Mode::Disabled, "{entry}");
    }
}

#[test]
fn what_is_odd_about_them_is_a_note() {
    let config = load(&one("kind: a.b.C, hooks: [x], prority: 1, priority: high"));
    let notes = notes(&config);
    assert_eq!(notes.len(), 2, "{notes:?}");
    assert!(
        notes[0].starts_with("3:54 unknown key: prority | did you mean `priority`?"),
        "{}",
        notes[0]
    );
    assert!(
        notes[1].starts_with("3:76 priority: expected an integer, found a string"),
        "{}",
        notes[1]
    );
}

#[test]
fn no_path_is_looked_at_and_no_kind_judged() {
    let config = load(&one("kind: external, hooks: [x]"));
    assert_eq!(
        config.plugins[0].kind,
        PluginKind::Other {
            kind: "external".into()
        }
    );
    assert_eq!(config.plugins[0].kind.name(), "external");
    let config = load(&one("kind: external"));
    assert_eq!(notes(&config), Vec::<String>::new());
    let config = load(&one(
        "kind: a.b.C, hooks: [x], requirements_file: nowhere.txt",
    ));
    assert_eq!(notes(&config), Vec::<String>::new());
}

#[test]
fn their_templates_say_nothing_about_variables() {
    let config = load(&one(
        "kind: a.b.C, hooks: [x], config: {a: '{{ event }}', b: 2024-01-01}",
    ));
    assert_eq!(notes(&config), Vec::<String>::new());
}

#[test]
fn a_spare_entry_may_bear_the_name_of_another() {
    let text = "plugin_dirs: []\nplugins:\n- {name: p, kind: a.b.Old, hooks: [x], mode: disabled}\n- {name: p, kind: a.b.New, hooks: [x]}\n\
                - {name: p, kind: a.b.Older, hooks: [x], mode: disabled}\n- {name: q, kind: a.b.C, hooks: [x], mode: disabled}\n\
                - {name: q, kind: a.b.D, hooks: [x], mode: disabled}\n";
    let config = load(text);
    let kept: Vec<_> = config
        .plugins
        .iter()
        .map(|spec| (spec.name.as_str(), spec.line))
        .collect();
    assert_eq!(kept, [("p", 4), ("q", 6)]);
    let left_out = |place, line| {
        format!("{place} left out: it is disabled and has the name of the entry on line {line}")
    };
    assert_eq!(
        notes(&config),
        [
            left_out("3:10", 4),
            left_out("5:10", 4),
            left_out("7:10", 6)
        ]
    );
}

#[test]
fn two_enabled_entries_of_one_name_are_a_problem() {
    let text = "plugin_dirs: []\nplugins:\n- {name: p, kind: a.b.C, hooks: [x]}\n- {name: p, kind: a.b.C, hooks: [x]}\n";
    let report = parse_with(text, &options()).unwrap_err();
    assert_eq!(
        told(&report.problems),
        [
            "4:10 duplicate plugin name: p, on line 4 and first on line 3 | give each plugin a name of its own"
        ]
    );
}
