//! `plugin_settings:`.

use std::time::Duration;

use crate::support::{entry, load, load_with, notes, refused, told, with};

fn with_settings(settings: &str, lines: &str) -> String {
    entry(&format!("{lines}\nplugin_settings: {settings}"))
}

#[test]
fn a_timeout_counts_where_an_entry_says_nothing() {
    let cases = [
        ("{}", "", 30_000),
        ("", "", 30_000),
        ("{plugin_timeout: 120}", "", 120_000),
        ("{plugin_timeout: 0.5}", "", 500),
        ("{plugin_timeout: '45'}", "", 45_000),
        ("{plugin_timeout: 120}", "  limits: {timeout: 2s}", 2_000),
        ("{plugin_timeout: 120}", "  limits: {memory: 1GiB}", 120_000),
        ("{plugin_timeout: 5000}", "", 3_600_000),
    ];
    for (settings, lines, milliseconds) in cases {
        let config = load(&with_settings(settings, lines));
        let timeout = config.plugins[0].limits.timeout;
        assert_eq!(
            timeout,
            Duration::from_millis(milliseconds),
            "{settings} {lines}"
        );
    }
    let long = load(&with_settings("{plugin_timeout: 5000}", ""));
    assert_eq!(
        notes(&long),
        [
            "7:35 plugin_settings.plugin_timeout: longer than a call may take; 3600 seconds are used | \
          the number is in seconds"
        ]
    );
}

#[test]
fn it_is_that_of_python_plugins() {
    let folder = crate::support::folder(&[
        (
            "config.yaml",
            "plugin_settings: {plugin_timeout: 60}\nplugins:\n- {name: p, kind: wasm, component: a.wasm, hooks: [x]}\n",
        ),
        ("a.wasm", ""),
    ]);
    let config = crate::support::load_file(folder.path(), "config.yaml");
    assert_eq!(config.plugins[0].limits.timeout, Duration::from_secs(1));
}

#[test]
fn leaving_out_what_does_not_load_counts_where_it_is_written() {
    assert!(!load(&entry("")).skip_unloadable);
    assert!(!load(&with_settings("{fail_on_plugin_error: true}", "")).skip_unloadable);
    for no in ["false", "no", "'False'"] {
        let config = load(&with_settings(
            &format!("{{fail_on_plugin_error: {no}}}"),
            "",
        ));
        assert!(config.skip_unloadable, "{no}");
        assert_eq!(
            notes(&config),
            [
                "7:41 plugin_settings.fail_on_plugin_error: false: a plugin that does not load is left out | \
              a call it would have judged goes on without it; write true, and loading fails instead"
            ],
            "{no}"
        );
    }
    let text = with_settings(
        "{fail_on_plugin_error: \"{{ env.FAIL | default('false') }}\"}",
        "",
    );
    assert!(!load_with(&text, &with(&[("FAIL", "true")])).skip_unloadable);
    assert!(load_with(&text, &with(&[])).skip_unloadable);
}

#[test]
fn what_means_nothing_here_is_noted() {
    let config = load(&with_settings(
        "{parallel_execution_within_band: true, enable_plugin_api: true, plugin_health_check_interval: 60, \
         include_user_info: false, routing_enabled: false, route_cache_max_entries: 10, short_circuit_on_deny: false}",
        "",
    ));
    let told = notes(&config);
    let keys = [
        "parallel_execution_within_band",
        "enable_plugin_api",
        "plugin_health_check_interval",
        "include_user_info",
        "route_cache_max_entries",
        "short_circuit_on_deny",
    ];
    assert_eq!(told.len(), keys.len(), "{told:#?}");
    for (note, key) in told.iter().zip(keys) {
        assert!(note.contains(&format!("plugin_settings.{key}")), "{note}");
    }
}

#[test]
fn what_would_change_who_is_asked_is_refused() {
    let cases = [
        (
            "{routing_enabled: true}",
            "7:36 plugin_settings.routing_enabled: routes choose the plugins, and are not read here | \
             write `conditions:` in the entries, and routing_enabled: false",
        ),
        (
            "{plugin_timeout: soon}",
            "7:35 plugin_settings.plugin_timeout: expected a number of seconds, found a string",
        ),
        (
            "{plugin_timeout: 0}",
            "7:35 plugin_settings.plugin_timeout: out of range | write a number of seconds above 0 and at most 3600",
        ),
        (
            "{plugin_timeout: -1}",
            "7:35 plugin_settings.plugin_timeout: out of range | write a number of seconds above 0 and at most 3600",
        ),
        (
            "{fail_on_plugin_error: perhaps}",
            "7:41 plugin_settings.fail_on_plugin_error: expected true or false, found a string",
        ),
        (
            "[1]",
            "7:18 plugin_settings: expected a mapping, found a list",
        ),
    ];
    for (settings, expected) in cases {
        assert_eq!(
            told(&refused(&with_settings(settings, ""))),
            [expected],
            "{settings}"
        );
    }
}
