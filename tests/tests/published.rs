//! The published plugins give what their home framework recorded, and stay as their wheels had them.
//!
//! `tests/data/legacy-pypi.json` says, step by step, what the framework's own in-process manager
//! answered; its `notes` say how an answer maps to an outcome.

use std::path::Path;
use std::sync::Arc;

use base64::Engine as _;
use base64::engine::general_purpose::URL_SAFE_NO_PAD;
use hookgate::config::{Config, PluginKind, PluginSpec};
use hookgate::{Engine, Outcome, PythonHost, PythonHostOptions, Request};
use hookgate_vectors::guests::{environments, root};
use serde::Deserialize;
use serde_json::{Value, json};
use sha2::{Digest as _, Sha256};

#[derive(Deserialize)]
struct Recorded {
    cases: Vec<Case>,
}

#[derive(Deserialize)]
struct Case {
    plugin: String,
    class_path: String,
    requirements: Vec<String>,
    config: Value,
    steps: Vec<Step>,
}

#[derive(Deserialize)]
struct Step {
    hook: String,
    payload: Value,
    context: Context,
    expected: Value,
    expected_typed: Option<Value>,
    volatile: Vec<String>,
}

#[derive(Deserialize)]
struct Context {
    request_id: String,
    user: Option<String>,
    tenant_id: Option<String>,
    server_id: Option<String>,
}

fn spec(case: &Case) -> PluginSpec {
    let kind = PluginKind::Python {
        class: case.class_path.clone(),
        requirements: case.requirements.clone(),
        requirements_file: None,
        import_paths: Vec::new(),
        workdir: None,
    };
    let mut spec = PluginSpec::new(&case.plugin, kind);
    spec.config = (&case.config).into();
    for step in &case.steps {
        if !spec.hooks.contains(&step.hook) {
            spec.hooks.push(step.hook.clone());
        }
    }
    spec
}

/// The recorded answer as the parts of an outcome the notes give it.
fn expected(step: &Step, plugin: &str) -> Value {
    let answer = step.expected_typed.as_ref().unwrap_or(&step.expected);
    let allowed = answer["continue_processing"] == true;
    let modified = !answer["modified_payload"].is_null();
    let payload = match (allowed, modified) {
        (false, _) => Value::Null,
        (true, false) => step.payload.clone(),
        (true, true) => without_added_nulls(&answer["modified_payload"], &step.payload),
    };
    let mut violation = answer["violation"].clone();
    if let Some(members) = violation.as_object_mut() {
        members.insert("plugin".into(), plugin.into());
        if members["http_headers"].is_null() {
            members["http_headers"] = json!({});
        }
    }
    let headers = answer["http_headers"]
        .as_object()
        .cloned()
        .unwrap_or_default();
    json!({
        "decision": if allowed { "allow" } else { "deny" },
        "modified": allowed && modified,
        "payload": payload,
        "violation": violation,
        "metadata": answer["metadata"].as_object().cloned().unwrap_or_default(),
        "headers": if allowed { Value::Null } else { headers.into() },
        "retry_after_ms": answer["retry_delay_ms"].as_u64().filter(|delay| *delay > 0),
    })
}

/// Members that are null in the answer and absent from the payload do not count.
fn without_added_nulls(answer: &Value, payload: &Value) -> Value {
    match answer {
        Value::Object(members) => members
            .iter()
            .filter(|(key, value)| !value.is_null() || payload.get(key.as_str()).is_some())
            .map(|(key, value)| {
                (
                    key.clone(),
                    without_added_nulls(value, &payload[key.as_str()]),
                )
            })
            .collect::<serde_json::Map<_, _>>()
            .into(),
        Value::Array(items) => items
            .iter()
            .enumerate()
            .map(|(index, item)| without_added_nulls(item, &payload[index]))
            .collect(),
        other => other.clone(),
    }
}

fn found(outcome: &Outcome) -> Value {
    let outcome = serde_json::to_value(outcome).expect("an outcome is JSON");
    json!({
        "decision": outcome["decision"],
        "modified": outcome["modified"],
        "payload": outcome["payload"],
        "violation": outcome["violation"],
        "metadata": outcome["effects"]["metadata"],
        "headers": if outcome["decision"] == "allow" { Value::Null } else { outcome["effects"]["headers"].clone() },
        "retry_after_ms": outcome["effects"]["retry_after_ms"],
    })
}

/// A value that changes between two runs must exist and be of the same type.
fn blur(value: &mut Value, pointer: &str) {
    if let Some(volatile) = value.pointer_mut(pointer) {
        let kind = match volatile {
            Value::String(_) => "a string",
            Value::Number(_) => "a number",
            _ => "something else",
        };
        *volatile = kind.into();
    }
}

/// Every file the package's RECORD hashes is as the wheel had it; answers how many there are.
fn verify(environment: &Path, requirement: &str) -> usize {
    let package = requirement
        .split("==")
        .next()
        .unwrap_or_default()
        .replace('-', "_");
    let libraries = std::fs::read_dir(environment.join("lib")).expect("an environment has lib/");
    let site = libraries
        .flatten()
        .next()
        .expect("lib/ has python3.x/")
        .path()
        .join("site-packages");
    let mut info = std::fs::read_dir(&site).expect("site-packages").flatten();
    let info = info.find(|entry| {
        let name = entry.file_name().to_string_lossy().into_owned();
        name.starts_with(&format!("{package}-")) && name.ends_with(".dist-info")
    });
    let record = info
        .unwrap_or_else(|| panic!("no dist-info of {package}"))
        .path()
        .join("RECORD");
    let record = std::fs::read_to_string(record).expect("a RECORD");
    let mut checked = 0;
    for line in record.lines() {
        let mut fields = line.rsplitn(3, ',');
        let (_, hash, path) = (
            fields.next(),
            fields.next().unwrap_or(""),
            fields.next().unwrap_or(""),
        );
        let Some(hash) = hash.strip_prefix("sha256=") else {
            continue;
        };
        if path.starts_with("..") {
            continue;
        }
        let bytes =
            std::fs::read(site.join(path)).unwrap_or_else(|error| panic!("{path}: {error}"));
        assert_eq!(
            URL_SAFE_NO_PAD.encode(Sha256::digest(bytes)),
            hash,
            "{path} of {package} was changed"
        );
        checked += 1;
    }
    checked
}

#[tokio::test(flavor = "multi_thread")]
async fn thirty_recorded_steps() {
    let text = std::fs::read_to_string(root().join("tests/data/legacy-pypi.json"))
        .expect("the recorded steps");
    let recorded: Recorded =
        serde_json::from_str(&text).expect("the recorded steps are as described");
    let host = Arc::new(PythonHost::new(PythonHostOptions::new(environments())));
    let mut steps = 0;
    let mut differences = Vec::new();
    for case in &recorded.cases {
        let mut config = Config::default();
        config.plugins.push(spec(case));
        let engine = Engine::builder()
            .config(config)
            .host(host.clone())
            .build()
            .await;
        let engine = engine.unwrap_or_else(|report| panic!("{report}"));
        for (index, step) in case.steps.iter().enumerate() {
            let context = &step.context;
            let request = Request {
                id: Some(context.request_id.clone()),
                user: context.user.as_deref().map(hookgate::Json::string),
                tenant_id: context.tenant_id.clone(),
                server_id: context.server_id.clone(),
                ..Request::default()
            };
            let outcome = engine
                .invoke(&step.hook, &step.payload, &request)
                .await
                .expect("the payload is good");
            let (mut expected, mut found) = (expected(step, &case.plugin), found(&outcome));
            for pointer in &step.volatile {
                blur(&mut expected, pointer);
                blur(&mut found, pointer);
            }
            if let Some(what) = hookgate_vectors::canonical::first_difference(&expected, &found) {
                differences.push(format!(
                    "{} step {index}: {what}; faults {:?}",
                    case.plugin, outcome.faults
                ));
            }
            steps += 1;
        }
        let environment = engine.plugins()[0]
            .info
            .environment
            .clone()
            .expect("a Python plugin has an environment");
        engine.shutdown().await;
        for requirement in &case.requirements {
            assert!(
                verify(Path::new(&environment.path), requirement) > 0,
                "nothing of {requirement} was verified"
            );
        }
    }
    assert_eq!(differences, Vec::<String>::new());
    assert_eq!(steps, 30);
}
