//! A whole file in the shape of a gateway's own: it loads as it is, with notes and no problem.
//!
//! `data/gateway` has what such files have: some forty entries of which nearly all are disabled, folders that
//! are not there, settings that mean nothing here, conditions with empty lists, templates, YAML 1.1.

use std::path::Path;

use hookgate_core::config::{Config, Mode, PluginKind, Shape};

use crate::support::{notes, with};

fn load(variables: &[(&str, &str)]) -> Config {
    let file =
        Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/legacy/data/gateway/plugins/config.yaml");
    Config::load_with(&file, &with(variables)).unwrap_or_else(|report| panic!("{report}"))
}

#[test]
fn a_gateways_own_file_loads_as_it_is() {
    let config = load(&[]);
    assert_eq!(config.shape, Shape::Legacy);
    assert_eq!(config.plugins.len(), 44);
    assert!(
        config.base_dir.ends_with("tests/legacy/data/gateway"),
        "{:?}",
        config.base_dir
    );
    assert!(config.skip_unloadable);
    let on: Vec<_> = config
        .plugins
        .iter()
        .filter(|spec| spec.mode != Mode::Disabled)
        .collect();
    assert_eq!(on.len(), 1);
    let spec = on[0];
    assert_eq!(
        (spec.name.as_str(), spec.mode, spec.priority),
        ("MaskPeople", Mode::Sequential, 50)
    );
    assert_eq!(spec.limits.timeout.as_secs(), 120);
    assert_eq!(
        spec.config.as_str(),
        r#"{"detect_email":true,"detect_phone":false,"mask":"partial","salt":"","allowed":["test@example.com"]}"#
    );
    // Empty lists hold for everything.
    assert!(
        spec.conditions
            .iter()
            .all(|condition| condition.prompts.is_empty() && condition.tenant_ids.is_empty())
    );
    let remote = config.plugins.last().unwrap();
    assert_eq!(
        remote.kind,
        PluginKind::Other {
            kind: "external".into()
        }
    );
}

#[test]
fn its_notes_say_what_is_not_as_at_home() {
    let notes = notes(&load(&[]));
    let expected = [
        "plugin_dirs: no such folder: plugins/native",
        "plugin_dirs: no such folder: plugins/custom",
        "plugin_dirs: no such folder: /etc/example-gateway/plugins",
        "means nothing here: plugin_settings.parallel_execution_within_band",
        "plugin_settings.fail_on_plugin_error: false: a plugin that does not load is left out",
        "means nothing here: plugin_settings.enable_plugin_api",
        "means nothing here: plugin_settings.plugin_health_check_interval",
        "means nothing here: plugin_settings.include_user_info",
        "not set, so nothing is filled in: {{ env.MASK_SALT }}",
        "means nothing here: mcp",
    ];
    assert_eq!(notes.len(), expected.len(), "{notes:#?}");
    for (note, expected) in notes.iter().zip(expected) {
        assert!(note.contains(expected), "{note}, not {expected}");
    }
}

#[test]
fn its_variables_are_filled_in() {
    let config = load(&[
        ("MASK_STRATEGY", "hash"),
        ("MASK_SALT", "a&b"),
        ("REDIS_URL", "redis://other"),
    ]);
    let config_of = |name: &str| {
        let spec = config
            .plugins
            .iter()
            .find(|spec| spec.name == name)
            .unwrap();
        serde_json::from_str::<serde_json::Value>(spec.config.as_str()).unwrap()
    };
    assert_eq!(config_of("MaskPeople")["mask"], "hash");
    // The framework escapes for HTML whatever is filled in.
    assert_eq!(config_of("MaskPeople")["salt"], "a&amp;b");
    assert_eq!(config_of("LimitCalls")["redis_url"], "redis://other");
    assert_eq!(
        config_of("SumUp")["prompt_template"],
        "Sum this up in {lines} lines:\n{{ text }}\n"
    );
    assert_eq!(config_of("GuardResources")["max_content_size"], 1_048_576);
}
