//! What is lent and accepted of side-channel slots, held to the legacy framework's own answers.
//!
//! `tests/vectors/extensions.py` has asked it. Where a merge comes out differently here, the case says why.

mod support;

use std::sync::{Arc, Mutex};

use hookgate_core::{Capability, Draft, Extensions, InProcess, Json, Request};
use serde::Deserialize;
use serde_json::{Map, Value};
use support::{HOOK, PAYLOAD, engine, plugin};

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct File {
    framework: String,
    filters: Vec<Case>,
    merges: Vec<Case>,
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct Case {
    name: String,
    extensions: Map<String, Value>,
    capabilities: Vec<Capability>,
    /// What the plugin hands back, of a merge.
    #[serde(default)]
    returned: Option<Map<String, Value>>,
    #[serde(default)]
    unlike_home: Option<UnlikeHome>,
    answer: Value,
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct UnlikeHome {
    why: String,
    merged: Map<String, Value>,
    refused: Vec<String>,
}

fn file() -> File {
    let path = concat!(
        env!("CARGO_MANIFEST_DIR"),
        "/../../tests/vectors/extensions.json"
    );
    let text = std::fs::read_to_string(path).unwrap_or_else(|error| panic!("{path}: {error}"));
    let file: File = serde_json::from_str(&text).expect("the file that extensions.py writes");
    assert_eq!(file.framework, "cpex 0.1.4");
    assert!(file.filters.len() >= 35 && file.merges.len() >= 50);
    file
}

/// A value as extensions.py writes the framework's: without null and empty members, sets sorted.
fn tidy(value: &Value, name: &str) -> Option<Value> {
    match value {
        Value::Null => None,
        Value::Object(members) => {
            let left: Map<_, _> = members
                .iter()
                .filter_map(|(name, value)| Some((name.clone(), tidy(value, name)?)))
                .collect();
            (!left.is_empty()).then_some(Value::Object(left))
        }
        Value::Array(elements) => {
            let mut left: Vec<_> = elements
                .iter()
                .map(|value| tidy(value, "").unwrap_or_default())
                .collect();
            if ["labels", "roles", "permissions", "teams", "tags"].contains(&name) {
                left.sort_by_key(|value| value.as_str().map(str::to_owned));
            }
            (!left.is_empty()).then_some(Value::Array(left))
        }
        other => Some(other.clone()),
    }
}

fn tidied(slots: impl IntoIterator<Item = (String, Value)>) -> Value {
    let slots = Value::Object(slots.into_iter().collect());
    tidy(&slots, "").unwrap_or_else(|| Value::Object(Map::new()))
}

/// Lets a plugin with the case's grants act; the slots as they are afterwards.
async fn run(
    case: &Case,
    act: impl Fn(&Extensions, &mut Draft) + Send + Sync + 'static,
) -> Map<String, Value> {
    let acts = plugin(move |call| {
        let mut draft = call.draft();
        act(&call.extensions, &mut draft);
        Ok(draft.allow())
    });
    let entry = InProcess::new("p", acts).data(case.capabilities.iter().copied());
    let request = Request {
        extensions: Some(Json::from_value(&Value::Object(case.extensions.clone()))),
        ..Request::default()
    };
    let engine = engine([entry]).await;
    let outcome = engine.invoke(HOOK, PAYLOAD, &request).await;
    let outcome = outcome.unwrap_or_else(|error| panic!("{}: {error}", case.name));
    assert!(
        outcome.faults.is_empty(),
        "{}: {:?}",
        case.name,
        outcome.faults
    );
    let mut slots = case.extensions.clone();
    let changed = outcome.effects.extensions.into_iter();
    slots.extend(changed.map(|(slot, value)| (slot, value.to_value())));
    slots
}

#[tokio::test]
async fn what_is_lent_is_what_the_framework_lends() {
    for case in file().filters {
        let seen = Arc::new(Mutex::new(Value::Null));
        let sees = Arc::clone(&seen);
        run(&case, move |lent, _| {
            *sees.lock().expect("no panic") = lent.to_json().to_value();
        })
        .await;
        let seen = seen.lock().expect("no panic").clone();
        let seen = seen.as_object().cloned().expect("an object of slots");
        assert_eq!(tidied(seen), case.answer, "{}", case.name);
    }
}

#[tokio::test]
async fn what_is_accepted_is_what_the_framework_accepts() {
    for case in file().merges {
        let refused = Arc::new(Mutex::new(0));
        let refuses = Arc::clone(&refused);
        let returned = case.returned.clone().map(|mut returned| {
            // A slot that is left out is None to the framework, which empties `custom`.
            returned.entry("custom").or_insert(Value::Null);
            Json::from_value(&Value::Object(returned))
        });
        let merged = run(&case, move |_, draft| {
            if let Some(returned) = &returned {
                draft.merge_extensions(returned);
            }
            *refuses.lock().expect("no panic") = draft.clone().allow().refused().list().len();
        })
        .await;
        let refused = *refused.lock().expect("no panic");
        match &case.unlike_home {
            None => assert_eq!(tidied(merged), case.answer, "{}", case.name),
            Some(here) => {
                let mut expected = case.extensions.clone();
                expected.extend(here.merged.clone());
                let (merged, expected) = (tidied(merged), tidied(expected));
                assert_eq!(merged, expected, "{}: {}", case.name, here.why);
                // A slot handed back with members that were not lent is refused for these as well.
                assert_eq!(
                    refused == 0,
                    here.refused.is_empty(),
                    "{}: {refused} refused",
                    case.name
                );
            }
        }
    }
}
