//! What an entry of the legacy shape says, besides what the vectors hold.

use hookgate_core::config::{Mode, OnError, PluginKind, PythonOptions, Sandbox};

use crate::support::{entry, load, notes, refused, told};

#[test]
fn keys_that_mean_nothing_here_are_notes() {
    let text = "plugin_dirs: []\nserver_settings: {host: 127.0.0.1}\ngrpc_server_settings: {}\n\
                unix_socket_server_settings: {}\nglobal: {policies: {}}\nroutes: []\ngroups: {all: {plugins: [p]}}\n\
                plugins:\n- name: p\n  kind: a.b.C\n  hooks: [tool_pre_invoke]\n  mcp: {proto: STDIO}\n  grpc: {}\n  \
                unix_socket: {}\n  max_content_size: 10\n  applied_to: {tools: [{tool_name: t}]}\n";
    let config = load(text);
    let server = "plugins do not run as a server of their own here";
    let client = "the plugin runs here, nothing is connected to";
    let routes = "entries are chosen by their own conditions";
    assert_eq!(
        notes(&config),
        [
            format!("2:1 means nothing here: server_settings | {server}"),
            format!("3:1 means nothing here: grpc_server_settings | {server}"),
            format!("4:1 means nothing here: unix_socket_server_settings | {server}"),
            format!("5:1 means nothing here: global | {routes}"),
            format!("6:1 means nothing here: routes | {routes}"),
            format!("7:9 means nothing here: groups | {routes}"),
            format!("12:3 means nothing here: mcp | {client}"),
            format!("13:3 means nothing here: grpc | {client}"),
            format!("14:3 means nothing here: unix_socket | {client}"),
            "15:21 means nothing here: max_content_size | it bounds the framework's own worker; max_payload_bytes \
             at the top of the file bounds ours"
                .to_owned(),
            "16:15 means nothing here: applied_to | the framework reads it nowhere either; the plugin gets it, \
             `conditions:` say when it is asked"
                .to_owned(),
        ]
    );
    let framework: serde_json::Value =
        serde_json::from_str(config.plugins[0].framework.as_str()).unwrap();
    let expected = serde_json::json!({"config": null, "max_content_size": 10, "applied_to": {"tools": [{"tool_name": "t"}]}});
    assert_eq!(framework, expected);
}

#[test]
fn our_words_for_a_worker_are_read_and_the_defaults_are_ours() {
    assert_eq!(load(&entry("")).plugins[0].python, PythonOptions::default());
    let config = load(&entry(
        "  workers: 2\n  idempotent: yes\n  allow_build: on\n  sandbox: best_effort\n  \
         python: {settings: {flag: off, name: '{{ 1 + 1 }}'}}\n  permissions: {processes: yes}",
    ));
    let spec = &config.plugins[0];
    assert_eq!(
        (spec.python.workers, spec.python.sandbox),
        (2, Sandbox::BestEffort)
    );
    assert!(spec.python.idempotent && spec.python.allow_build && spec.permissions.processes);
    assert_eq!(
        spec.python.settings.as_str(),
        r#"{"flag":false,"name":"2"}"#
    );
    assert_eq!(notes(&config), Vec::<String>::new());
    let told = told(&refused(&entry(
        "  worker: framework\n  workers: 2\n  sandbox: off",
    )));
    assert_eq!(
        told,
        [
            "7:3 workers: under `worker: framework` a class has one process, as at home | remove it, or write `worker: hookgate`",
            "8:12 sandbox: expected strict or best_effort, found a boolean | it cannot be switched off; \
             `sandbox: best_effort` is as much of it as the kernel gives",
        ]
    );
}

#[test]
fn unknown_keys_are_errors_with_the_nearest_one() {
    let cases = [
        (
            "  prority: 1",
            "6:3 unknown key: prority | did you mean `priority`? ",
        ),
        (
            "  capabilites: []",
            "6:3 unknown key: capabilites | did you mean `capabilities`? ",
        ),
        (
            "  namespac: x",
            "6:3 unknown key: namespac | did you mean `namespace`? ",
        ),
        (
            "  applied_to: {tool: []}",
            "6:16 unknown key: applied_to.tool | did you mean `tools`? ",
        ),
        (
            "plugin_dir: []",
            "6:1 unknown key: plugin_dir | did you mean `plugin_dirs`? ",
        ),
        (
            "plugin_settings: {plugin_timout: 1}",
            "6:19 unknown key: plugin_settings.plugin_timout | did you mean `plugin_timeout`? ",
        ),
    ];
    for (lines, expected) in cases {
        let told = told(&refused(&entry(lines)));
        assert_eq!(told.len(), 1, "{lines}: {told:?}");
        assert!(told[0].starts_with(expected), "{lines}: {}", told[0]);
    }
}

#[test]
fn every_problem_is_told_at_once() {
    let text = entry(
        "  mode: enforced\n  priority: high\n  capabilities: [read_header]\n  prority: 1\n  config: []",
    );
    let told = told(&refused(&text));
    let places: Vec<_> = told
        .iter()
        .map(|told| told.split(' ').next().unwrap())
        .collect();
    assert_eq!(places, ["6:9", "7:13", "8:18", "9:3", "10:11"], "{told:#?}");
    assert!(
        told[0].starts_with("6:9 unknown mode: enforced | did you mean `enforce`? "),
        "{}",
        told[0]
    );
    assert!(
        told[2].contains("did you mean `read_headers`?"),
        "{}",
        told[2]
    );
}

#[test]
fn our_own_words_may_stand_beside_the_frameworks() {
    let config = load(&entry(
        "  mode: enforce\n  limits: {timeout: 5s, concurrency: 2}\n  permissions: {env: [HOME], data: [read_headers]}\n  \
         requirements: [demo==1.0]\ngroups: [{name: g, plugins: [p], priority: 3}]\nmax_payload_bytes: 1MB",
    ));
    let spec = &config.plugins[0];
    assert_eq!((spec.mode, spec.priority), (Mode::Sequential, 3));
    assert_eq!(spec.limits.timeout.as_secs(), 5);
    assert_eq!(spec.permissions.env, ["HOME"]);
    assert_eq!(config.max_payload_bytes, 1_000_000);
    let PluginKind::Python { requirements, .. } = &spec.kind else {
        panic!("{:?}", spec.kind);
    };
    assert_eq!(requirements, &["demo==1.0"]);
}

#[test]
fn capabilities_are_data_grants_and_written_once() {
    let told = told(&refused(&entry(
        "  capabilities: [read_headers]\n  permissions: {data: [read_labels]}",
    )));
    assert_eq!(
        told,
        [
            "6:3 capabilities: permissions.data is written too, and they are the same | keep one of them"
        ]
    );
}

#[test]
fn default_settings_of_a_manifest_go_under_those_of_the_entry() {
    let cases = [
        ("  default_config: {b: 2}", r#"{"b":2}"#),
        ("  default_configs: {b: 2}\n  config: {}", r#"{"b":2}"#),
        (
            "  default_config: {a: 9, b: 2}\n  config: {a: 1, c: 3}",
            r#"{"a":1,"c":3,"b":2}"#,
        ),
        // Not key by key: what the entry writes is whole.
        (
            "  default_config: {a: {x: 1}}\n  config: {a: {y: 2}}",
            r#"{"a":{"y":2}}"#,
        ),
        (
            "  default_config: {a: 1}\n  config: {a: null}",
            r#"{"a":null}"#,
        ),
        ("  default_config:\n  config: {a: 1}", r#"{"a":1}"#),
    ];
    for (lines, expected) in cases {
        assert_eq!(
            load(&entry(lines)).plugins[0].config.as_str(),
            expected,
            "{lines}"
        );
    }
    let both = told(&refused(&entry(
        "  default_config: {a: 1}\n  default_configs: {a: 1}",
    )));
    assert_eq!(
        both,
        [
            "7:3 default_configs: default_config is written too, and they are the same | keep one of them"
        ]
    );
}

#[test]
fn slips_that_the_framework_lets_pass_are_notes() {
    let config = load(&entry(
        "  priority: 1\n  priority: 2\n  tags: [a, a]\n  config: {a: 1, b: 2, a: 3}",
    ));
    let spec = &config.plugins[0];
    // The last one counts, as at home.
    assert_eq!(
        (spec.priority, spec.config.as_str()),
        (2, r#"{"a":3,"b":2}"#)
    );
    assert_eq!(
        notes(&config),
        [
            "7:3 key written twice: priority, first on line 6 | keep one of them",
            "8:13 tags: listed twice: a | keep one of them",
            "9:24 key written twice: a, first on line 9 | keep one of them",
        ]
    );
}

#[test]
fn hooks_that_are_misspelt_are_kept_and_noted() {
    let text = "plugin_dirs: []\nplugins:\n- name: p\n  kind: a.b.C\n  hooks: [prompt_pre_hook, tool_pre_hook, HTTP_PRE_REQUEST, my_own]\n";
    let config = load(text);
    let hooks = [
        "prompt_pre_hook",
        "tool_pre_hook",
        "HTTP_PRE_REQUEST",
        "my_own",
    ];
    assert_eq!(config.plugins[0].hooks, hooks);
    let told = notes(&config);
    for (note, near) in told
        .iter()
        .zip(["prompt_pre_fetch", "tool_pre_invoke", "http_pre_request"])
    {
        assert!(
            note.contains("not a known hook, treated as custom"),
            "{note}"
        );
        assert!(note.ends_with(&format!("did you mean `{near}`?")), "{note}");
    }
    assert_eq!(told.len(), 3, "{told:?}");
}

#[test]
fn an_entry_without_hooks_loads_and_is_noted() {
    let hint = "write when it is asked, for example hooks: [tool_pre_invoke]";
    for (lines, place) in [("", "3:3"), ("  hooks: []\n", "5:10")] {
        let text = format!("plugin_dirs: []\nplugins:\n- name: p\n  kind: a.b.C\n{lines}");
        let config = load(&text);
        assert!(config.plugins[0].hooks.is_empty());
        assert_eq!(
            notes(&config),
            [format!("{place} never asked: it has no hooks | {hint}")]
        );
    }
}

#[test]
fn what_the_author_says_reaches_the_plugin() {
    let config = load(&entry(
        "  version: 1.10\n  description: d\n  author: a\n  namespace: n\n  tags: [t]",
    ));
    let about = &config.plugins[0].about;
    assert_eq!(about.version.as_deref(), Some("1.10"));
    assert_eq!(about.namespace.as_deref(), Some("n"));
    assert_eq!(about.tags, ["t"]);
    assert_eq!(config.plugins[0].framework.as_str(), r#"{"config":null}"#);
}

#[test]
fn an_alias_of_a_mode_brings_its_on_error_unless_one_is_written() {
    let cases = [
        ("enforce", "", OnError::Fail),
        ("enforce_ignore_error", "", OnError::Ignore),
        ("enforce_ignore_error", "  on_error: fail", OnError::Fail),
        (
            "enforce_ignore_error",
            "  on_error: disable",
            OnError::Disable,
        ),
    ];
    for (mode, lines, on_error) in cases {
        let config = load(&entry(&format!("  mode: {mode}\n{lines}")));
        assert_eq!(config.plugins[0].on_error, on_error, "{mode} {lines}");
    }
    // A group does not go over it: the entry's mode says both.
    let config = load(&entry(
        "  mode: enforce_ignore_error\ngroups: [{name: g, plugins: [p], on_error: fail}]",
    ));
    assert_eq!(config.plugins[0].on_error, OnError::Ignore);
}

#[test]
fn a_date_in_a_config_is_noted() {
    let config = load(&entry("  config: {since: 2024-01-01, until: '2024-01-01'}"));
    assert_eq!(
        config.plugins[0].config.as_str(),
        r#"{"since":"2024-01-01","until":"2024-01-01"}"#
    );
    assert_eq!(
        notes(&config),
        ["6:19 a date for the framework; the plugin gets its text | write it in quotes"]
    );
}

#[test]
fn kinds_that_nothing_loads_are_refused() {
    let cases = [
        (
            "external",
            "hookgate talks to no plugins that run elsewhere",
        ),
        ("builtin", "nothing loads it, nor does the legacy framework"),
        ("native", "nothing loads it, nor does the legacy framework"),
        ("PDP", "nothing loads it, nor does the legacy framework"),
    ];
    for (kind, why) in cases {
        let text = format!("plugin_dirs: []\nplugins:\n- {{name: p, kind: {kind}, hooks: [x]}}\n");
        let problems = refused(&text);
        assert_eq!(problems.len(), 1, "{kind}");
        assert_eq!(problems[0].message, format!("kind {kind}: {why}"));
        assert_eq!((problems[0].line, problems[0].column), (3, 19));
    }
}
