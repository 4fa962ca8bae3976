//! The schema and the reader say the same: keys, choices, defaults.

use serde_json::{Map, Value, json};

use super::super::defaults;
use super::super::entry::{MODES, ON_ERRORS};
use super::super::instances::POLICIES;
use super::super::keys::Keys;
use super::super::permissions::ACCESS;
use super::super::python::{SANDBOXES, WORKERS};
use super::super::spec::{Instances, Limits, Permissions, PythonOptions};
use super::json_schema;
use crate::capability::Capability;

/// The schema of one mapping: the top, or one of the definitions.
fn mapping<'s>(schema: &'s Value, name: &str) -> &'s Value {
    let mapping = match name {
        "" => schema,
        name => &schema["$defs"][name],
    };
    assert_eq!(mapping["type"], "object", "{name}");
    mapping
}

/// What `$ref` leads to.
fn resolve<'s>(schema: &'s Value, value: &'s Value) -> &'s Value {
    match value["$ref"].as_str() {
        Some(path) => schema.pointer(&path[1..]).unwrap(),
        None => value,
    }
}

#[test]
fn every_mapping_has_the_keys_of_its_reader() {
    let schema = json_schema();
    let mappings = [
        ("", Keys::TOP),
        ("Group", Keys::GROUP),
        ("Plugin", Keys::ENTRY),
        ("Condition", Keys::CONDITION),
        ("Python", Keys::PYTHON),
        ("Limits", Keys::LIMITS),
        ("Instances", Keys::INSTANCES),
        ("Permissions", Keys::PERMISSIONS),
        ("FileGrant", Keys::FILE_GRANT),
        ("NetworkGrant", Keys::NETWORK_GRANT),
        ("SecretGrant", Keys::SECRET_GRANT),
    ];
    for (name, keys) in &mappings {
        let mapping = mapping(&schema, name);
        let properties = mapping["properties"].as_object().unwrap();
        let mut written: Vec<&str> = properties.keys().map(String::as_str).collect();
        let mut read: Vec<&str> = keys.known().to_vec();
        written.sort_unstable();
        read.sort_unstable();
        assert_eq!(written, read, "{name}");
        assert_eq!(mapping["additionalProperties"], false, "{name}");
        for (key, value) in properties {
            let described = value["description"].as_str().unwrap_or_default();
            assert!(described.len() > 5, "{name}.{key} says nothing: {value}");
            assert!(!described.contains('\n'), "{name}.{key}: {described}");
        }
    }
    let closed = schema["$defs"]
        .as_object()
        .unwrap()
        .values()
        .filter(|definition| definition["type"] == "object");
    assert_eq!(closed.count() + 1, mappings.len());
}

#[test]
fn required_keys_are_those_the_reader_misses() {
    let schema = json_schema();
    for (name, required) in [
        ("", json!(["plugins"])),
        ("Group", json!(["name", "plugins"])),
        ("Plugin", json!(["name", "kind", "hooks"])),
        ("Condition", Value::Null),
        ("Python", Value::Null),
        ("Limits", Value::Null),
        ("Instances", Value::Null),
        ("Permissions", Value::Null),
        ("FileGrant", json!(["host"])),
        ("NetworkGrant", json!(["host", "port"])),
        ("SecretGrant", json!(["name"])),
    ] {
        assert_eq!(mapping(&schema, name)["required"], required, "{name}");
    }
}

/// The words of an enumeration.
fn words(definition: &Value) -> Vec<&str> {
    let choices = definition["oneOf"].as_array().unwrap();
    choices
        .iter()
        .map(|choice| choice["const"].as_str().unwrap())
        .collect()
}

#[test]
fn every_choice_is_one_of_the_reader() {
    let schema = json_schema();
    let read = [
        ("Mode", MODES.map(|(word, _)| word).to_vec()),
        ("OnError", ON_ERRORS.map(|(word, _)| word).to_vec()),
        ("Access", ACCESS.map(|(word, _)| word).to_vec()),
        ("InstancePolicy", POLICIES.map(|(word, _)| word).to_vec()),
        ("WorkerKind", WORKERS.map(|(word, _)| word).to_vec()),
        ("Sandbox", SANDBOXES.map(|(word, _)| word).to_vec()),
        (
            "Capability",
            Capability::ALL.map(Capability::as_str).to_vec(),
        ),
    ];
    for (name, expected) in &read {
        assert_eq!(words(&schema["$defs"][name]), *expected, "{name}");
    }
    let choices = schema["$defs"].as_object().unwrap().values();
    // One kind of mapping has a choice between keys, which is no enumeration.
    let enumerations = choices
        .filter(|definition| definition.get("oneOf").is_some() && definition["type"] != "object");
    assert_eq!(enumerations.count(), read.len());
}

/// Every `default` below a value, by its path of properties.
fn defaults_below(value: &Value, path: &str, found: &mut Map<String, Value>) {
    match value {
        Value::Object(members) => {
            if let Some(default) = members.get("default") {
                found.insert(path.to_owned(), default.clone());
            }
            for (name, member) in members {
                if name != "default" {
                    defaults_below(member, &format!("{path}/{name}"), found);
                }
            }
        }
        Value::Array(items) => {
            for (index, item) in items.iter().enumerate() {
                defaults_below(item, &format!("{path}/{index}"), found);
            }
        }
        _ => {}
    }
}

#[test]
fn every_default_is_that_of_the_reader() {
    let mut found = Map::new();
    defaults_below(&json_schema(), "", &mut found);
    let plugin = "/$defs/Plugin";
    let mut expected = Map::new();
    let mut default = |path: String, value: Value| expected.insert(path, value);
    default(
        "/properties/max_payload_bytes".into(),
        defaults::MAX_PAYLOAD_BYTES.into(),
    );
    default(
        "/properties/max_state_bytes".into(),
        defaults::MAX_STATE_BYTES.into(),
    );
    default(
        format!("{plugin}/properties/mode"),
        defaults::MODE.as_str().into(),
    );
    default(
        format!("{plugin}/properties/priority"),
        defaults::PRIORITY.into(),
    );
    default(
        format!("{plugin}/properties/on_error"),
        defaults::ON_ERROR.to_string().into(),
    );
    default("/$defs/FileGrant/properties/access".into(), "read".into());
    default(
        "/$defs/Permissions/properties/processes".into(),
        Permissions::default().processes.into(),
    );
    let python = PythonOptions::default();
    for (key, value) in [
        ("allow_build", python.allow_build.into()),
        ("worker", python.worker.to_string().into()),
        ("workers", python.workers.into()),
        ("idempotent", python.idempotent.into()),
        ("sandbox", python.sandbox.to_string().into()),
    ] {
        default(format!("{plugin}/properties/{key}"), value);
    }
    let instances = Instances::default();
    let path = "/$defs/Instances/properties";
    default(format!("{path}/policy"), "single_use".into());
    default(format!("{path}/stock"), instances.stock.into());
    default(format!("{path}/max_calls"), instances.max_calls.into());
    for (branch, limits, memory) in [
        ("then", Limits::wasm(), "64 MiB"),
        ("else", Limits::python(), "512 MiB"),
    ] {
        let path = format!("{plugin}/allOf/0/{branch}/properties/limits/properties");
        let timeout = humantime::format_duration(limits.timeout).to_string();
        default(format!("{path}/timeout"), timeout.into());
        default(format!("{path}/memory"), memory.into());
        default(format!("{path}/concurrency"), limits.concurrency.into());
    }
    assert_eq!(Value::Object(found), Value::Object(expected));
}

#[test]
fn only_lists_of_a_condition_may_be_null() {
    let schema = json_schema();
    for name in [
        "",
        "Group",
        "Plugin",
        "Condition",
        "Python",
        "Limits",
        "Permissions",
        "FileGrant",
        "NetworkGrant",
        "SecretGrant",
    ] {
        for (key, value) in mapping(&schema, name)["properties"].as_object().unwrap() {
            let nullable = value.to_string().contains("\"null\"");
            assert_eq!(nullable, name == "Condition", "{name}.{key}: {value}");
            assert!(!resolve(&schema, value).is_null(), "{name}.{key}");
        }
    }
}
