//! The framework's own answers about some three hundred configurations, `tests/vectors/configs.json`.
//!
//! Each case is a text and the variables it is read with. What the framework loads must load here with the
//! same values, what it refuses must be refused; where we differ on purpose, the case says how and why.

use hookgate_core::Json;
use hookgate_core::config::{
    Config, Environment, Mode, PluginKind, PluginSpec, ReadOptions, Shape,
};
use serde_json::{Map, Value, json};

/// What the framework's model holds where a file says nothing.
const FRAMEWORK_MAX_CONTENT_SIZE: u64 = 10_000_000;

fn cases() -> Vec<Value> {
    let file = concat!(
        env!("CARGO_MANIFEST_DIR"),
        "/../../tests/vectors/configs.json"
    );
    let text = std::fs::read_to_string(file).expect(file);
    let whole: Value = serde_json::from_str(&text).unwrap();
    whole["cases"].as_array().unwrap().clone()
}

fn read(case: &Value) -> Result<Config, String> {
    let variables = case["env"].as_object().unwrap();
    let variables = variables
        .iter()
        .map(|(name, value)| (name.clone(), value.as_str().unwrap()));
    let options = ReadOptions::new(Shape::Auto)
        .environment(variables.collect::<Environment>())
        .current_dir("/nowhere");
    let text = case["text"].as_str().unwrap();
    let config = Config::parse_with(text, "config.yaml", "/nowhere/plugins".as_ref(), &options);
    config.map_err(|report| report.to_string())
}

/// A spec in the members of the framework's model.
fn members(spec: &PluginSpec) -> Map<String, Value> {
    let kind = match &spec.kind {
        PluginKind::Python { class, .. } => class,
        other => other.name(),
    };
    let conditions: Vec<Value> = spec
        .conditions
        .iter()
        .map(|condition| {
            let mut condition = serde_json::to_value(condition).unwrap();
            let fields = condition.as_object_mut().unwrap();
            fields.retain(|_, items| items.as_array().is_none_or(|items| !items.is_empty()));
            condition
        })
        .collect();
    let config: Value = serde_json::from_str(spec.config.as_str()).unwrap();
    let Value::Object(mut members) = json!({
        "name": spec.name, "kind": kind, "hooks": spec.hooks, "tags": spec.about.tags,
        "mode": spec.mode, "on_error": spec.on_error, "priority": spec.priority,
        "max_content_size": FRAMEWORK_MAX_CONTENT_SIZE, "conditions": conditions,
        "capabilities": spec.permissions.data.iter().map(|data| data.as_str()).collect::<std::collections::BTreeSet<_>>(),
        "config": config, "description": spec.about.description, "author": spec.about.author,
        "version": spec.about.version, "namespace": spec.about.namespace,
    }) else {
        unreachable!()
    };
    let framework: Map<String, Value> = serde_json::from_str(spec.framework.as_str()).unwrap();
    members.extend(framework);
    members.retain(|_, value| !value.is_null());
    if spec.mode == Mode::Disabled && spec.config == Json::object() {
        // Nobody is given it.
        members.remove("config");
    }
    members
}

/// The same value: numbers by what they are, not by how they are written.
fn same(one: &Value, other: &Value) -> bool {
    match (one, other) {
        (Value::Number(one), Value::Number(other)) => {
            let whole = |number: &serde_json::Number| number.to_string().parse::<i128>().ok();
            let float = |number: &serde_json::Number| number.to_string().parse::<f64>().ok();
            match (whole(one), whole(other)) {
                (Some(one), Some(other)) => one == other,
                _ => float(one) == float(other),
            }
        }
        (Value::Array(one), Value::Array(other)) => {
            one.len() == other.len() && one.iter().zip(other).all(|(one, other)| same(one, other))
        }
        (Value::Object(one), Value::Object(other)) => {
            one.len() == other.len()
                && one
                    .iter()
                    .all(|(key, value)| other.get(key).is_some_and(|other| same(value, other)))
        }
        _ => one == other,
    }
}

/// The framework's members of a plugin, in the form of ours.
fn theirs(plugin: &Value) -> Map<String, Value> {
    let mut members = plugin.as_object().unwrap().clone();
    // Its models write out what is not set, and we do not read connections.
    for key in ["mcp", "grpc", "unix_socket"] {
        members.remove(key);
    }
    if let Some(applied) = members.get_mut("applied_to") {
        without_defaults(applied);
    }
    members
}

fn without_defaults(value: &mut Value) {
    match value {
        Value::Object(members) => {
            members.retain(|_, value| !value.is_null() && *value != false);
            members.values_mut().for_each(without_defaults);
        }
        Value::Array(items) => items.iter_mut().for_each(without_defaults),
        _ => {}
    }
}

/// What is wrong with our reading of a case, if anything.
fn judge(case: &Value) -> Option<String> {
    let ours = read(case);
    let differs = &case["ours"];
    let refused = match differs.as_str() {
        Some("refuses") => true,
        Some("loads") => false,
        _ => case["answer"]["error"].is_string() && !differs.is_object(),
    };
    let config = match (ours, refused) {
        (Err(_), true) => return None,
        (Ok(_), true) => return Some("loaded".into()),
        (Err(report), false) => return Some(format!("refused: {report}")),
        (Ok(config), false) => config,
    };
    if differs == "loads" {
        return None;
    }
    let expected = case["answer"]["plugins"].as_array().cloned();
    let mut expected: Vec<_> = match &expected {
        Some(plugins) => plugins.iter().map(theirs).collect(),
        // The framework refuses it: only what the case says is compared.
        None => vec![members(&config.plugins[0])],
    };
    if let Some(members) = differs.as_object() {
        expected[0].extend(members.clone());
    }
    if config.plugins.len() != expected.len() {
        return Some(format!(
            "{} plugins, not {}",
            config.plugins.len(),
            expected.len()
        ));
    }
    for (spec, expected) in config.plugins.iter().zip(expected) {
        let found = members(spec);
        let keys = found.keys().chain(expected.keys());
        for key in keys {
            let (found, expected) = (found.get(key), expected.get(key));
            if !found
                .zip(expected)
                .is_some_and(|(found, expected)| same(found, expected))
            {
                return Some(format!("{key}: {found:?}, not {expected:?}"));
            }
        }
    }
    None
}

#[test]
fn what_the_framework_reads_is_read_the_same() {
    let cases = cases();
    assert!(cases.len() >= 280, "only {} cases", cases.len());
    let wrong: Vec<_> = cases
        .iter()
        .filter_map(|case| Some(format!("{}: {}", case["name"].as_str()?, judge(case)?)))
        .collect();
    assert!(
        wrong.is_empty(),
        "{} of {}:\n{}",
        wrong.len(),
        cases.len(),
        wrong.join("\n")
    );
}

#[test]
fn a_difference_is_one_and_has_a_reason() {
    for case in cases() {
        let (name, ours) = (&case["name"], &case["ours"]);
        if ours.is_null() {
            continue;
        }
        assert!(
            case["differs"].as_str().is_some_and(|why| why.len() > 10),
            "{name}: why?"
        );
        let refused = case["answer"]["error"].is_string();
        match ours.as_str() {
            Some("refuses") => assert!(!refused, "{name}: the framework refuses it too"),
            Some("loads") => assert!(refused, "{name}: the framework loads it too"),
            Some(other) => panic!("{name}: {other}"),
            None => {
                let theirs = &case["answer"]["plugins"][0];
                for (key, value) in ours.as_object().unwrap() {
                    assert_ne!(
                        Some(value),
                        theirs.get(key),
                        "{name}: {key} is no difference"
                    );
                }
            }
        }
    }
}
