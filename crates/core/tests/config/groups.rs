//! `groups:`: what members take over, what they keep, and every mistake.

use hookgate_core::config::{Config, Mode, OnError, PluginSpec, defaults};

use crate::cases::{check_notes, check_problems, parse, whole};

/// Lines 1 to 4 of a text: three plugins on `tool_pre_invoke`.
const PLUGINS: &str = "plugins:
- {name: a, kind: x.A, hooks: [tool_pre_invoke]}
- {name: b, kind: x.B, hooks: [tool_pre_invoke], mode: audit, priority: 7, on_error: disable}
- {name: c, kind: x.C, hooks: [tool_pre_invoke]}
";

fn with(groups: &str) -> Config {
    let text = format!("{PLUGINS}groups:\n{groups}\n");
    parse(&text).unwrap_or_else(|report| panic!("{report}"))
}

fn rules(spec: &PluginSpec) -> (&str, Option<&str>, Mode, i32, OnError) {
    (
        &spec.name,
        spec.group.as_deref(),
        spec.mode,
        spec.priority,
        spec.on_error,
    )
}

#[test]
fn members_take_over_what_they_do_not_write() {
    let config =
        with("- {name: g, plugins: [b, a], mode: transform, priority: 20, on_error: ignore}");
    let found: Vec<_> = config.plugins.iter().map(rules).collect();
    assert_eq!(
        found,
        [
            ("a", Some("g"), Mode::Transform, 20, OnError::Ignore),
            ("b", Some("g"), Mode::Audit, 7, OnError::Disable),
            (
                "c",
                None,
                defaults::MODE,
                defaults::PRIORITY,
                defaults::ON_ERROR
            ),
        ]
    );
    assert_eq!(config.report.notes, []);
}

#[test]
fn the_order_is_that_of_the_plugins() {
    let config = with("- {name: g, plugins: [c, b, a], priority: 20}");
    let names: Vec<_> = config.plugins.iter().map(|spec| &spec.name).collect();
    assert_eq!(names, ["a", "b", "c"]);
}

#[test]
fn groups_may_come_first_and_share_one_thing() {
    let text = format!("groups:\n- {{name: g, plugins: [c], priority: -1}}\n{PLUGINS}");
    let config = parse(&text).unwrap();
    assert_eq!(
        rules(&config.plugins[2]),
        ("c", Some("g"), defaults::MODE, -1, defaults::ON_ERROR)
    );
}

#[test]
fn a_disabled_group_switches_off_who_says_nothing_else() {
    let text = "plugins:
- {name: a, kind: wasm, component: nowhere.wasm, hooks: [x]}
- {name: b, kind: x.B, hooks: [x], mode: audit}
groups: [{name: g, plugins: [a, b], mode: disabled}]
";
    let config = parse(text).unwrap();
    let modes: Vec<_> = config.plugins.iter().map(|spec| spec.mode).collect();
    assert_eq!(modes, [Mode::Disabled, Mode::Audit]);
    check_notes(&[whole(
        "a missing file of a plugin that is off, and one that stays on",
        text,
        &[
            (
                2,
                36,
                "component: no such file or folder: nowhere.wasm",
                "looked at {base}/nowhere.wasm",
            ),
            (
                3,
                42,
                "stays on although its group g is disabled: the entry says mode: audit",
                "remove `mode:` from the entry to switch it off with its group",
            ),
        ],
    )]);
}

#[test]
fn conditions_of_both_must_hold() {
    let text = "plugins:
- name: a
  kind: x.A
  hooks: [tool_pre_invoke]
  conditions: [{tools: [read, write]}, {user_patterns: [admin]}]
- {name: b, kind: x.B, hooks: [tool_pre_invoke]}
groups:
- {name: g, plugins: [a, b], conditions: [{tenant_ids: [acme]}, {tools: [write, send]}]}
";
    let config = parse(text).unwrap();
    let shown = |spec: &PluginSpec| {
        let of = |name: &str| {
            let words = |condition: &hookgate_core::Condition| match name {
                "tenant_ids" => condition.tenant_ids.iter().cloned().collect::<Vec<_>>(),
                "tools" => condition.tools.iter().cloned().collect(),
                _ => condition.user_patterns.clone(),
            };
            spec.conditions.iter().map(words).collect::<Vec<_>>()
        };
        (of("tenant_ids"), of("tools"), of("user_patterns"))
    };
    let (tenants, tools, users) = shown(&config.plugins[0]);
    assert_eq!(tenants, [vec!["acme"], vec!["acme"], vec![], vec![]]);
    assert_eq!(
        tools,
        [
            vec!["read", "write"],
            vec![],
            vec!["write"],
            vec!["send", "write"]
        ]
    );
    assert_eq!(users, [vec![], vec!["admin"], vec![], vec!["admin"]]);
    let (tenants, tools, _) = shown(&config.plugins[1]);
    assert_eq!(tenants, [vec!["acme"], vec![]]);
    assert_eq!(tools, [vec![], vec!["send", "write"]]);
    assert!(
        config
            .plugins
            .iter()
            .flat_map(|spec| &spec.conditions)
            .all(|condition| condition.also.is_empty())
    );
}

const OWN_TOOLS: &str = "plugins:
- {name: a, kind: x.A, hooks: [tool_pre_invoke], conditions: [{tools: [b]}]}
groups:
- {name: g, plugins: [a], conditions: [{tools: [a]}]}
";

#[test]
fn conditions_without_anything_in_common_are_noted() {
    const NEVER: &str =
        "never asked: tools of its conditions and of its group g have nothing in common";
    const HINT: &str = "both must hold: let them name the same, or remove one of them";
    check_notes(&[
        whole("tools", OWN_TOOLS, &[(2, 62, NEVER, HINT)]),
        whole(
            "not one of several",
            &OWN_TOOLS.replace("{tools: [b]}", "{tools: [b]}, {tools: [a, b]}"),
            &[],
        ),
        whole(
            "not at a hook that is about something else",
            &OWN_TOOLS.replace("tool_pre_invoke", "tool_pre_invoke, http_pre_request"),
            &[],
        ),
        whole(
            "tenants, whatever the hook",
            &OWN_TOOLS
                .replace("tool_pre_invoke", "tool_pre_invoke, http_pre_request")
                .replace("tools", "tenant_ids"),
            &[(
                2,
                80,
                "never asked: tenant_ids of its conditions and of its group g have nothing in common",
                HINT,
            )],
        ),
        whole(
            "a disabled plugin is not asked anyway",
            &OWN_TOOLS.replace(
                "conditions: [{tools: [b]}]",
                "mode: disabled, conditions: [{tools: [b]}]",
            ),
            &[],
        ),
    ]);
}

#[test]
fn what_groups_may_not_name() {
    check_problems(&[
        whole(
            "no such plugin",
            &format!(
                "{}groups:\n- {{name: g, plugins: [a, pii-filtr], priority: 1}}\n",
                PLUGINS.replace("name: c", "name: pii-filter")
            ),
            &[(
                6,
                26,
                "groups.plugins: no such plugin: pii-filtr",
                "did you mean `pii-filter`? possible values: a, b, pii-filter",
            )],
        ),
        whole(
            "nothing like it",
            &format!("{PLUGINS}groups:\n- {{name: g, plugins: [pii-filter], priority: 1}}\n"),
            &[(
                6,
                23,
                "groups.plugins: no such plugin: pii-filter",
                "possible values: a, b, c",
            )],
        ),
        whole(
            "in two groups",
            &format!(
                "{PLUGINS}groups:\n- {{name: g, plugins: [a, b], priority: 1}}\n- {{name: h, plugins: [b], priority: 1}}\n"
            ),
            &[(
                7,
                23,
                "groups.plugins: b is in two groups, g since line 6 and h",
                "remove it from one of them, and write what it needs besides in its entry",
            )],
        ),
        whole(
            "twice in one group",
            &format!("{PLUGINS}groups:\n- {{name: g, plugins: [a, a], priority: 1}}\n"),
            &[(6, 26, "groups.plugins: listed twice: a", "keep one of them")],
        ),
        whole(
            "one name twice, also on one line",
            &format!(
                "{PLUGINS}groups: [{{name: g, plugins: [a], priority: 1}}, {{name: g, plugins: [b], priority: 1}}]\n"
            ),
            &[(
                5,
                55,
                "duplicate group name: g, on line 5 and first on line 5",
                "give each group a name of its own, or write its plugins into one",
            )],
        ),
        whole(
            "a plugin that has problems itself is still there",
            "plugins: [{name: a, kind: x.A}]\ngroups: [{name: g, plugins: [a], priority: 1}]\n",
            &[(
                1,
                11,
                "missing key: hooks",
                "write when it is asked, for example hooks: [tool_pre_invoke]",
            )],
        ),
        whole(
            "no plugins to choose from",
            "plugins: []\ngroups: [{name: g, plugins: [a], priority: 1}]\n",
            &[(
                2,
                30,
                "groups.plugins: no such plugin: a",
                "there are no plugins",
            )],
        ),
        whole(
            "the missing list is told once",
            "groups: [{name: g, plugins: [a], priority: 1}]\n",
            &[(
                1,
                1,
                "missing key: plugins",
                "write `plugins: []` for a configuration without plugins",
            )],
        ),
    ]);
}

#[test]
fn how_groups_may_not_be_written() {
    check_problems(&[
        whole(
            "a mapping",
            &format!("{PLUGINS}groups: {{g: [a]}}\n"),
            &[(
                5,
                9,
                "groups: expected a list of groups, found a mapping",
                "",
            )],
        ),
        whole(
            "without a name, without plugins",
            &format!("{PLUGINS}groups:\n- plugins: [a]\n  priority: 1\n- name: g\n  priority: 1\n"),
            &[
                (
                    6,
                    3,
                    "missing key: groups.name",
                    "write a name of its own for each group",
                ),
                (
                    8,
                    3,
                    "missing key: groups.plugins in group g",
                    "write the names of its plugins, for example plugins: [pii-filter, redactor]",
                ),
            ],
        ),
        whole(
            "values",
            &format!(
                "{PLUGINS}groups:\n- name: g\n  plugins: [a]\n  mode: transfrom\n  priority: high\n  on_error: deny\n  conditions: [{{tool: [x]}}]\n"
            ),
            &[
                (
                    8,
                    9,
                    "unknown groups.mode: transfrom",
                    "did you mean `transform`? possible values: sequential, transform, audit, concurrent, fire_and_forget, disabled",
                ),
                (
                    9,
                    13,
                    "groups.priority: expected an integer, found a string",
                    "",
                ),
                (
                    10,
                    13,
                    "unknown groups.on_error: deny",
                    "possible values: fail, ignore, disable",
                ),
                (
                    11,
                    17,
                    "unknown key: conditions.tool",
                    "did you mean `tools`? possible keys: server_ids, tenant_ids, tools, prompts, resources, agents, user_patterns, content_types",
                ),
            ],
        ),
        whole(
            "keys",
            &format!(
                "{PLUGINS}groups:\n- name: g\n  plugin: [a]\n  plugins: [a]\n  hooks: [x]\n  priority: 1\n"
            ),
            &[
                (
                    7,
                    3,
                    "unknown key: groups.plugin",
                    "did you mean `plugins`? possible keys: name, plugins, conditions, mode, priority, on_error",
                ),
                (
                    9,
                    3,
                    "unknown key: groups.hooks",
                    "write it in an entry of `plugins:`",
                ),
            ],
        ),
        whole(
            "an entry that names its group",
            "plugins:\n- {name: a, kind: x.A, hooks: [x], group: g}\n",
            &[(
                2,
                36,
                "unknown key: group",
                "write `groups: [{name: NAME, plugins: [PLUGIN], priority: 20}]` at the top of the file",
            )],
        ),
    ]);
}

#[test]
fn groups_that_do_nothing_are_noted() {
    check_notes(&[
        whole(
            "empty",
            &format!("{PLUGINS}groups: [{{name: g, plugins: [], priority: 1}}]\n"),
            &[(
                5,
                29,
                "there are no plugins in group g",
                "write the names of its plugins, or remove the group",
            )],
        ),
        whole(
            "sharing nothing",
            &format!("{PLUGINS}groups:\n- {{name: g, plugins: [a], conditions: []}}\n"),
            &[(
                6,
                3,
                "nothing is shared in group g",
                "write one of: mode, priority, on_error, conditions",
            )],
        ),
        whole("no groups", &format!("{PLUGINS}groups: []\n"), &[]),
    ]);
}

#[test]
fn on_error_fail_in_the_background() {
    const INSTEAD: &str = "write `on_error: ignore` or `on_error: disable`, or `mode: audit`, which waits for the plugin";
    let entry = |more: &str| format!("plugins:\n- {{name: a, kind: x.A, hooks: [x]{more}}}\n");
    let group = |more: &str| format!("groups: [{{name: g, plugins: [a]{more}}}]\n");
    const IMPOSSIBLE: &str = "on_error: fail is not possible in mode fire_and_forget: the call is answered before the plugin";
    check_problems(&[
        whole(
            "in one entry",
            &entry(", mode: fire_and_forget, on_error: fail"),
            &[(2, 69, IMPOSSIBLE, INSTEAD)],
        ),
        whole(
            "the mode from the group",
            &(entry(", on_error: fail") + &group(", mode: fire_and_forget")),
            &[(2, 46, IMPOSSIBLE, INSTEAD)],
        ),
        whole(
            "on_error from the group",
            &(entry(", mode: fire_and_forget") + &group(", on_error: fail")),
            &[(
                2,
                42,
                "mode: fire_and_forget is not possible with on_error: fail of the group g",
                "write `on_error: ignore` or `on_error: disable` in the entry",
            )],
        ),
        whole(
            "both from the group",
            &(entry("") + &group(", mode: fire_and_forget, on_error: fail")),
            &[(
                3,
                67,
                "groups.on_error: fail is not possible in mode fire_and_forget: the call is answered before the plugin",
                INSTEAD,
            )],
        ),
    ]);
    for (own, shared) in [
        (", mode: fire_and_forget", ""),
        (
            ", mode: fire_and_forget, on_error: ignore",
            ", on_error: fail",
        ),
        (
            ", mode: audit",
            ", mode: fire_and_forget, on_error: disable",
        ),
        ("", ", mode: fire_and_forget"),
    ] {
        let text = entry(own) + &group(shared);
        parse(&text).unwrap_or_else(|report| panic!("{text}: {report}"));
    }
}

#[test]
fn the_legacy_shape_only_notes_it() {
    let legacy = "plugin_dirs: [plugins]
plugins: [{name: a, kind: x.A, hooks: [x], mode: fire_and_forget, on_error: fail}]
";
    let config = parse(legacy).unwrap_or_else(|report| panic!("{report}"));
    let told: Vec<_> = config
        .report
        .notes
        .iter()
        .map(|note| (note.line, &*note.message))
        .collect();
    let expected = "on_error: fail is not possible in mode fire_and_forget: the call is answered before the plugin";
    assert!(told.contains(&(2, expected)), "{told:?}");
}

#[test]
fn crossed_alternatives_are_bounded() {
    let many = |what: &str, count: usize| {
        let of: Vec<_> = (0..count)
            .map(|at| format!("{{{what}: [t{at}]}}"))
            .collect();
        of.join(", ")
    };
    let text = |own: usize| {
        format!(
            "plugins:\n- {{name: a, kind: x.A, hooks: [tool_pre_invoke], conditions: [{}]}}\ngroups: [{{name: g, plugins: [a], conditions: [{}]}}]\n",
            many("tools", own),
            many("tenant_ids", 16)
        )
    };
    assert_eq!(defaults::CONDITION_ALTERNATIVES_MAX, 256);
    assert_eq!(parse(&text(16)).unwrap().plugins[0].conditions.len(), 256);
    check_problems(&[whole(
        "one too many",
        &text(17),
        &[(
            2,
            62,
            "conditions: 16 of the group g with 17 of the entry are 272 alternatives",
            "at most 256 are possible: alternatives that differ in one list can be one",
        )],
    )]);
}
