//! The values a good text gives.

use hookgate_core::Capability;
use std::time::Duration;

use hookgate_core::config::{
    Access, Config, FileGrant, Limits, Mode, OnError, PluginKind, defaults,
};

use crate::cases::{fixtures, parse};

#[test]
fn the_example_gives_these_values() {
    let base = fixtures();
    let config = Config::load(&base.join("example.yaml")).unwrap();
    assert_eq!(config.file, Some(base.join("example.yaml")));
    assert_eq!(config.base_dir, base);
    assert_eq!(config.max_payload_bytes, 10_000_000);
    assert_eq!(config.max_state_bytes, 1_048_576);
    assert_eq!(config.report.notes, []);
    let [deny_list, pii_filter] = &config.plugins[..] else {
        panic!("{config:#?}")
    };

    assert_eq!(deny_list.name, "deny-list");
    assert_eq!(
        deny_list.kind,
        PluginKind::Wasm {
            component: base.join("gate.wasm")
        }
    );
    assert_eq!(deny_list.kind.name(), "wasm");
    assert_eq!(deny_list.hooks, ["tool_pre_invoke", "prompt_pre_fetch"]);
    assert_eq!(deny_list.mode, Mode::Sequential);
    assert_eq!(deny_list.priority, 10);
    assert_eq!(deny_list.on_error, OnError::Fail);
    assert_eq!(
        deny_list.limits,
        Limits {
            timeout: Duration::from_millis(50),
            memory_bytes: 67_108_864,
            concurrency: 64
        }
    );
    assert_eq!(
        deny_list.permissions.files,
        [FileGrant {
            host: base.join("./data"),
            guest: "/data".into(),
            access: Access::Read
        }]
    );
    assert_eq!(deny_list.permissions.env, ["API_BASE"]);
    assert!(deny_list.permissions.data.contains(Capability::ReadHeaders));
    assert_eq!(deny_list.config.as_str(), r#"{"words":["secret"]}"#);
    assert_eq!(deny_list.line, 4);
    assert_eq!(deny_list.base_dir, base);

    assert_eq!(pii_filter.name, "pii-filter");
    assert_eq!(
        pii_filter.kind,
        PluginKind::Python {
            class: "cpex_pii_filter.pii_filter.PIIFilterPlugin".into(),
            requirements: vec!["cpex-pii-filter==0.3.9".into()],
            requirements_file: None,
            import_paths: vec![base.clone()],
            workdir: Some(base.clone()),
        }
    );
    assert_eq!(pii_filter.kind.name(), "python");
    assert_eq!(pii_filter.hooks, ["tool_pre_invoke", "tool_post_invoke"]);
    assert_eq!(pii_filter.mode, Mode::Sequential);
    assert_eq!(pii_filter.priority, 30);
    assert_eq!(pii_filter.on_error, OnError::Fail);
    assert_eq!(
        pii_filter.limits,
        Limits {
            timeout: Duration::from_secs(30),
            memory_bytes: 536_870_912,
            concurrency: 32
        }
    );
    assert_eq!(pii_filter.permissions, Default::default());
    assert_eq!(pii_filter.config.as_str(), "{}");
    assert_eq!(pii_filter.line, 17);
}

#[test]
fn every_key_gives_its_value() {
    let base = fixtures();
    let config = parse(
        "max_payload_bytes: 5000\n\
         max_state_bytes: 64KiB\n\
         plugins:\n\
         - name: everything\n  kind: my_pkg.mod.Class\n  requirements: [a==1, 'b>=2']\n  \
         requirements_file: requirements.txt\n  import_paths: [plugins, .]\n  workdir: data\n  \
         hooks: [custom.hook-1]\n  mode: sequential\n  priority: -7\n  on_error: disable\n  \
         limits: {timeout: 1m 30s, memory: 1GiB, concurrency: 65536}\n  \
         permissions: {env: [API_BASE]}\n  \
         description: what it does\n  author: somebody\n  version: 1.10\n  tags: [pii, demo]\n",
    )
    .unwrap();
    assert_eq!(
        (config.max_payload_bytes, config.max_state_bytes),
        (5000, 65_536)
    );
    assert_eq!(config.file, None);
    let spec = &config.plugins[0];
    assert_eq!(
        spec.kind,
        PluginKind::Python {
            class: "my_pkg.mod.Class".into(),
            requirements: vec!["a==1".into(), "b>=2".into()],
            requirements_file: Some(base.join("requirements.txt")),
            import_paths: vec![base.join("plugins"), base.join(".")],
            workdir: Some(base.join("data")),
        }
    );
    assert_eq!(spec.hooks, ["custom.hook-1"]);
    assert_eq!((spec.priority, spec.on_error), (-7, OnError::Disable));
    assert_eq!(
        spec.limits,
        Limits {
            timeout: Duration::from_secs(90),
            memory_bytes: 1 << 30,
            concurrency: 65_536
        }
    );
    assert_eq!(spec.permissions.env, ["API_BASE"]);
    assert!(spec.permissions.data.is_empty());
    assert_eq!(spec.about.description.as_deref(), Some("what it does"));
    assert_eq!(spec.about.author.as_deref(), Some("somebody"));
    assert_eq!(spec.about.version.as_deref(), Some("1.10"));
    assert_eq!(spec.about.tags, ["pii", "demo"]);
}

#[test]
fn a_component_is_pinned_by_a_digest_in_either_case() {
    let digits = "0123456789abcdef".repeat(4);
    let pinned = |digest: &str| {
        let text = format!(
            "plugins:\n- {{name: p, kind: wasm, component: gate.wasm, digest: '{digest}', hooks: [x]}}\n"
        );
        parse(&text).unwrap().plugins[0].digest.clone()
    };
    let expected = Some(format!("sha256:{digits}"));
    assert_eq!(pinned(&format!("sha256:{digits}")), expected);
    assert_eq!(
        pinned(&format!("sha256:{}", digits.to_uppercase())),
        expected
    );
    let without = parse("plugins:\n- {name: p, kind: wasm, component: gate.wasm, hooks: [x]}\n");
    assert_eq!(without.unwrap().plugins[0].digest, None);
}

#[test]
fn a_plugins_config_keeps_its_numbers_and_its_order() {
    let own = |yaml: &str| {
        let text = format!("plugins:\n- name: p\n  kind: a.B\n  hooks: [x]\n  config: {yaml}\n");
        let config = parse(&text).unwrap_or_else(|report| panic!("{yaml}: {report}"));
        config.plugins[0].config.as_str().to_owned()
    };
    for (name, yaml, json) in [
        ("order", "{b: 1, a: 2, c: 3}", r#"{"b":1,"a":2,"c":3}"#),
        ("decimals", "{a: 1.10, b: 0.30}", r#"{"a":1.10,"b":0.30}"#),
        (
            "large integers",
            "[18446744073709551617, -340282366920938463463374607431768211456]",
            "[18446744073709551617,-340282366920938463463374607431768211456]",
        ),
        (
            "YAML's own numbers",
            "[0x1F, 0o17, +5, .5, 5., 007]",
            "[31,15,5,0.5,5.0,7]",
        ),
        ("past doubles", "[1e999, 1e-999]", "[1e+999,1e-999]"),
        (
            "YAML 1.1 words",
            "[yes, No, on, 1_000, 0b11, 12:30:45]",
            r#"["yes","No","on","1_000","0b11","12:30:45"]"#,
        ),
        (
            "words",
            "[true, FALSE, null, ~, 2001-01-01]",
            r#"[true,false,null,null,"2001-01-01"]"#,
        ),
        (
            "quotes",
            r#"['1.10', "true", !!str 5, !!int "7"]"#,
            r#"["1.10","true","5",7]"#,
        ),
        (
            "keys that are no strings",
            "{1.10: a, true: b, ~: c}",
            r#"{"1.10":"a","true":"b","null":"c"}"#,
        ),
        (
            "text",
            r#"{"ü\n\"": "\u00e9\0"}"#,
            "{\"ü\\n\\\"\":\"é\\u0000\"}",
        ),
        (
            "unknown words",
            "{anything: {goes: [here]}}",
            r#"{"anything":{"goes":["here"]}}"#,
        ),
    ] {
        let (yaml, json) = if yaml.starts_with('[') {
            (format!("{{v: {yaml}}}"), format!(r#"{{"v":{json}}}"#))
        } else {
            (yaml.to_owned(), json.to_owned())
        };
        assert_eq!(own(&yaml), json, "{name}");
    }
}

#[test]
fn aliases_and_merge_keys_are_expanded() {
    let config = parse(
        "plugins:\n- name: p\n  kind: a.B\n  hooks: &hooks [x]\n  limits: &limits {timeout: 5ms, concurrency: 2}\n\
         - name: q\n  kind: a.B\n  hooks: *hooks\n  limits: {<<: *limits, concurrency: 3}\n",
    )
    .unwrap();
    let q = &config.plugins[1];
    assert_eq!(q.hooks, ["x"]);
    assert_eq!(
        (q.limits.timeout, q.limits.concurrency),
        (Duration::from_millis(5), 3)
    );
}

#[test]
fn the_table_of_defaults() {
    let rows: Vec<_> = defaults::defaults_table()
        .into_iter()
        .map(|row| [row.what.to_owned(), row.wasm, row.python, row.in_process])
        .collect();
    let expected = [
        ["timeout per call", "1s", "30s", "1s"],
        ["memory", "64 MiB", "512 MiB", "-"],
        ["calls in flight per plugin", "64", "32", "1024"],
        ["instances waiting ready", "4", "-", "-"],
        ["calls per instance under reuse", "1000", "-", "-"],
        ["worker", "-", "hookgate", "-"],
        ["workers", "-", "1", "-"],
        ["sandbox", "-", "strict", "-"],
        ["allow_build", "-", "false", "-"],
        ["idempotent", "-", "false", "-"],
        ["calls waiting for a slot", "1024", "1024", "1024"],
        ["payload", "10 MB", "10 MB", "10 MB"],
        ["result", "10 MB", "10 MB", "10 MB"],
        ["log per call", "64 KiB", "64 KiB", "-"],
        ["state per request", "1 MiB", "1 MiB", "1 MiB"],
        ["requests with state", "10000", "10000", "10000"],
        ["state kept since last use", "10m", "10m", "10m"],
        ["background calls waited for at shutdown", "5s", "5s", "5s"],
        ["mode", "sequential", "sequential", "sequential"],
        ["priority", "100", "100", "100"],
        ["on_error", "fail", "fail", "fail"],
    ];
    assert_eq!(rows, expected);
}

#[test]
fn names_of_modes_and_accesses() {
    assert_eq!(
        serde_json::to_string(&Mode::Disabled).unwrap(),
        r#""disabled""#
    );
    assert_eq!(
        serde_json::from_str::<Mode>(r#""sequential""#).unwrap(),
        Mode::Sequential
    );
    assert_eq!(Mode::Sequential.to_string(), "sequential");
    assert_eq!(
        serde_json::to_string(&OnError::Ignore).unwrap(),
        r#""ignore""#
    );
    assert_eq!(OnError::Disable.to_string(), "disable");
    assert_eq!(
        serde_json::to_string(&Access::ReadWrite).unwrap(),
        r#""read_write""#
    );
    assert_eq!(Access::Read.to_string(), "read");
}

#[test]
fn a_reference_to_the_environment_is_not_taken_for_text() {
    let refused = |text: &str| {
        let yaml = format!(
            "plugins:\n- name: p\n  kind: a.B\n  hooks: [x]\n  config: {{words: ['{text}']}}\n"
        );
        parse(&yaml)
            .err()
            .map(|report| report.problems[0].message.clone())
    };
    for text in ["{{ env.WORD }}", "a {{env[\"WORD\"]}}"] {
        let message = format!("not supported yet: {{{{ env }}}} in config: {text}");
        assert_eq!(refused(text), Some(message));
    }
    assert_eq!(refused("{{ name }} and {{environment.x}} {{ env }}"), None);
}
