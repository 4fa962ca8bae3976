//! What holds for side-channel slots whatever a request brings, an operator grants and a plugin writes.

mod support;

use std::cell::Cell;
use std::sync::{Arc, Mutex};

use hookgate_core::{Capabilities, Capability, InProcess, Json, Outcome, Request};
use proptest::collection::vec;
use proptest::prelude::*;
use proptest::sample::{select, subsequence};
use proptest::test_runner::{TestCaseError, TestRunner};
use serde_json::{Map, Value, json};
use support::{HOOK, PAYLOAD, engine, plugin};

/// Failing cases are printed, not kept in a file.
fn cases() -> ProptestConfig {
    ProptestConfig {
        cases: 400,
        failure_persistence: None,
        ..ProptestConfig::default()
    }
}

/// Where a member lies, and whoever may see it: what it holds says so, in the capability's own name.
/// `open` is everybody, `nobody` is nobody, and `at` a hook that must be the one asked about.
struct Place {
    at: &'static [&'static str],
    shown_to: &'static [&'static str],
    only_at: Option<&'static str>,
}

const fn place(at: &'static [&'static str], shown_to: &'static [&'static str]) -> Place {
    Place {
        at,
        shown_to,
        only_at: None,
    }
}

const SUBJECT: &[&str] = &[
    "read_subject",
    "read_roles",
    "read_teams",
    "read_claims",
    "read_permissions",
];
const HEADERS: &[&str] = &["read_headers", "write_headers"];

const PLACES: &[Place] = &[
    place(&["request", "environment"], &["open"]),
    place(&["candidate_constraint", "allow_regions"], &["open"]),
    place(&["mcp", "tool"], &["open"]),
    place(&["completion", "model"], &["open"]),
    place(&["provenance", "source"], &["open"]),
    place(&["llm", "model_id"], &["open"]),
    place(&["framework", "framework"], &["open"]),
    place(&["meta", "scope"], &["open"]),
    place(&["custom", "k"], &["open"]),
    place(&["custom", "authorization"], &["open"]),
    place(&["agent", "session_id"], &["read_agent"]),
    place(&["http", "path"], HEADERS),
    place(&["http", "headers", "X-A"], HEADERS),
    place(&["http", "request_headers", "X-B"], HEADERS),
    place(&["http", "response_headers", "X-C"], HEADERS),
    place(&["http", "headers", "Authorization"], &["nobody"]),
    place(&["http", "request_headers", "cookie"], &["nobody"]),
    place(&["http", "response_headers", "SET-COOKIE"], &["nobody"]),
    place(&["http", "headers", "x-api-KEY"], &["nobody"]),
    place(&["http", "headers", "Proxy-Authorization"], &["nobody"]),
    place(&["http", "raw"], &["nobody"]),
    place(&["security", "labels"], &["read_labels", "append_labels"]),
    place(&["security", "classification"], &["open"]),
    place(&["security", "auth_method"], &["open"]),
    place(&["security", "objects"], &["open"]),
    place(&["security", "data"], &["open"]),
    place(&["security", "client"], &["read_client"]),
    place(&["security", "caller_workload"], &["read_workload"]),
    place(&["security", "this_workload"], &["read_workload"]),
    place(&["security", "tomorrow"], &["nobody"]),
    place(&["security", "subject", "id"], SUBJECT),
    place(&["security", "subject", "type"], SUBJECT),
    place(&["security", "subject", "roles"], &["read_roles"]),
    place(&["security", "subject", "teams"], &["read_teams"]),
    place(&["security", "subject", "claims"], &["read_claims"]),
    place(
        &["security", "subject", "permissions"],
        &["read_permissions"],
    ),
    place(&["security", "subject", "tomorrow"], &["nobody"]),
    place(
        &["delegation", "actor_subject_id"],
        &["read_delegation", "append_delegation"],
    ),
    place(
        &["delegation", "chain"],
        &["read_delegation", "append_delegation"],
    ),
    Place {
        at: &["raw_credentials", "inbound_tokens"],
        shown_to: &["read_inbound_credentials"],
        only_at: Some("identity_resolve"),
    },
    Place {
        at: &["raw_credentials", "delegated_tokens"],
        shown_to: &["read_delegated_tokens"],
        only_at: Some("token_delegate"),
    },
    place(&["raw_credentials", "tomorrow"], &["nobody"]),
    place(&["tomorrow", "x"], &["nobody"]),
];

impl Place {
    fn marker(&self) -> String {
        format!("<{}>", self.at.join("."))
    }

    /// The marker in the shape the slot wants there.
    fn value(&self) -> Value {
        match self.at {
            [.., "labels"] => json!([self.marker()]),
            [.., "chain"] => json!([{"subject_id": self.marker()}]),
            ["custom", ..] => json!({"deep": [1.5, self.marker()]}),
            _ => json!(self.marker()),
        }
    }

    fn is_shown(&self, granted: &[Capability], hook: &str) -> bool {
        let one_of =
            |name: &&str| *name == "open" || granted.iter().any(|one| one.as_str() == *name);
        self.shown_to.iter().any(one_of) && self.only_at.is_none_or(|at| at == hook)
    }
}

/// Extensions made of some of the places.
fn extensions(places: &[usize]) -> Value {
    let mut all = Map::new();
    for place in places.iter().map(|index| &PLACES[*index]) {
        let (name, above) = place.at.split_last().expect("no place is empty");
        let mut at = &mut all;
        for step in above {
            let below = at.entry(*step).or_insert_with(|| json!({}));
            at = below.as_object_mut().expect("made as an object");
        }
        at.insert((*name).to_owned(), place.value());
    }
    Value::Object(all)
}

fn any_places() -> impl Strategy<Value = Vec<usize>> {
    subsequence((0..PLACES.len()).collect::<Vec<_>>(), 0..=PLACES.len())
}

fn any_grants() -> impl Strategy<Value = Vec<Capability>> {
    subsequence(Capability::ALL.to_vec(), 0..=Capability::ALL.len())
}

/// One write of a plugin: a place of a slot it was lent gets a value, or is removed.
#[derive(Debug, Clone)]
struct Write {
    slot: &'static str,
    path: Vec<&'static str>,
    value: Option<Value>,
    /// Handed back with everything else, as Python plugins do, and not by itself.
    merged: bool,
}

const SLOTS: [&str; 15] = [
    "request",
    "agent",
    "http",
    "security",
    "candidate_constraint",
    "delegation",
    "raw_credentials",
    "mcp",
    "completion",
    "provenance",
    "llm",
    "framework",
    "meta",
    "custom",
    "tomorrow",
];

fn any_write() -> impl Strategy<Value = Write> {
    let names = vec![
        "labels",
        "subject",
        "roles",
        "id",
        "headers",
        "request_headers",
        "response_headers",
        "X-A",
        "Cookie",
        "authorization",
        "chain",
        "depth",
        "origin_subject_id",
        "method",
        "k",
        "environment",
        "classification",
    ];
    let value = select(vec![
        json!(null),
        json!([]),
        json!({}),
        json!("x"),
        json!(["x"]),
        json!({"X-A": "2", "Authorization": "t"}),
        json!({"id": "root"}),
        json!(7),
    ]);
    let anything = (
        select(&SLOTS[..]),
        vec(select(names), 0..3),
        proptest::option::weighted(0.8, value),
    );
    // Of what is possible little would ever fit: these do, given the grant and what they go by.
    let fitting = select(vec![
        (
            "security",
            vec!["labels"],
            Some(json!(["<security.labels>", "x"])),
        ),
        ("security", vec!["labels"], Some(json!(["x"]))),
        ("http", vec!["headers", "X-New"], Some(json!("2"))),
        (
            "http",
            vec!["headers"],
            Some(json!({"Cookie": "c", "X-A": "3"})),
        ),
        ("http", vec!["request_headers", "X-B"], None),
        (
            "delegation",
            vec!["chain"],
            Some(json!([{"subject_id": "<delegation.chain>"}, {"subject_id": "x"}])),
        ),
        (
            "delegation",
            vec!["chain"],
            Some(json!([{"subject_id": "x"}])),
        ),
        ("custom", vec!["new"], Some(json!({"a": 1.5}))),
    ]);
    (prop_oneof![anything, fitting], any::<bool>()).prop_map(|((slot, path, value), merged)| {
        Write {
            slot,
            path,
            value,
            merged,
        }
    })
}

/// Makes the write on a slot's value; nothing happens where the path leads nowhere.
fn written(write: &Write, mut slot: Value) -> Value {
    let Some((name, above)) = write.path.split_last() else {
        return write.value.clone().unwrap_or(Value::Null);
    };
    let mut at = &mut slot;
    for step in above {
        match at.as_object_mut() {
            Some(members) => at = members.entry(*step).or_insert_with(|| json!({})),
            None => return slot,
        }
    }
    if let Some(members) = at.as_object_mut() {
        match &write.value {
            Some(value) => members.insert((*name).to_owned(), value.clone()),
            None => members.shift_remove(*name),
        };
    }
    slot
}

/// Asks one plugin with these grants about a request with these extensions.
fn ask(
    hook: &'static str,
    extensions: &Value,
    granted: &[Capability],
    writes: Vec<Write>,
) -> (Value, Outcome) {
    let seen = Arc::new(Mutex::new(Value::Null));
    let sees = Arc::clone(&seen);
    let writes = plugin(move |call| {
        *sees.lock().expect("no panic") = serde_json::to_value(&call.extensions).expect("JSON");
        let mut draft = call.draft();
        for write in &writes {
            let slot = draft.extension(write.slot).ok().flatten();
            let slot = written(
                write,
                slot.map_or_else(|| json!({}), |slot| slot.to_value()),
            );
            if write.merged {
                draft.merge_extensions(&Json::from_value(&json!({ write.slot: slot })));
            } else {
                // A refusal is one of the answers.
                let _ = draft.set_extension(write.slot, Json::from_value(&slot));
            }
        }
        Ok(draft.allow())
    });
    let entry = InProcess::new("p", writes)
        .data(granted.iter().copied())
        .hooks([hook]);
    let request = Request {
        extensions: Some(Json::from_value(extensions)),
        ..Request::default()
    };
    let runtime = tokio::runtime::Builder::new_current_thread()
        .enable_all()
        .build();
    let outcome = runtime.expect("a runtime").block_on(async {
        let engine = engine([entry]).await;
        engine
            .invoke(hook, PAYLOAD, &request)
            .await
            .expect("passes the door")
    });
    let seen = std::mem::take(&mut *seen.lock().expect("no panic"));
    (seen, outcome)
}

proptest! {
    #![proptest_config(cases())]

    /// A plugin sees exactly what its grants show, at the hook they show it at.
    #[test]
    fn no_member_is_seen_without_its_grant(
        places in any_places(),
        granted in any_grants(),
        hook in select(&[HOOK, "identity_resolve", "token_delegate"][..]),
    ) {
        let (seen, outcome) = ask(hook, &extensions(&places), &granted, Vec::new());
        prop_assert!(outcome.effects.extensions.is_empty());
        let text = seen.to_string();
        for place in places.iter().map(|index| &PLACES[*index]) {
            prop_assert_eq!(
                text.contains(&place.marker()),
                place.is_shown(&granted, hook),
                "{} with {:?} at {}: {}", place.marker(), granted, hook, text
            );
        }
        // And what it is not shown is not there at all, its names included.
        let security = seen.get("security").and_then(Value::as_object);
        prop_assert!(security.is_none_or(|members| !members.is_empty()), "an empty security slot tells something");
        prop_assert!(!text.contains("tomorrow"));
    }
}

/// Whatever is written: without write grants nothing but `custom` changes, and never does what is immutable.
#[test]
fn only_what_a_grant_allows_ever_changes() {
    let mut runner = TestRunner::new(cases());
    let changed: [Cell<u32>; 4] = Default::default();
    let case = (any_places(), any_grants(), vec(any_write(), 1..6));
    let result = runner.run(&case, |(places, granted, writes)| {
        let slots = check(&places, granted, writes)?;
        for (index, slot) in ["custom", "http", "security", "delegation"]
            .iter()
            .enumerate()
        {
            changed[index]
                .set(changed[index].get() + u32::from(slots.iter().any(|one| one == slot)));
        }
        Ok(())
    });
    result.unwrap_or_else(|error| panic!("{error}\n{runner}"));
    // A test of writes none of which is ever accepted would hold anything.
    assert!(changed.iter().all(|count| count.get() >= 5), "{changed:?}");
}

/// Checks one case; answers the slots that changed.
fn check(
    places: &[usize],
    granted: Vec<Capability>,
    writes: Vec<Write>,
) -> Result<Vec<String>, TestCaseError> {
    let sent = extensions(places);
    let (_, outcome) = ask(HOOK, &sent, &granted, writes);
    prop_assert!(outcome.faults.is_empty(), "{:?}", outcome.faults);
    let granted: Capabilities = granted.into_iter().collect();
    for (slot, now) in &outcome.effects.extensions {
        let writable = match slot.as_str() {
            "custom" => true,
            "http" => granted.contains(Capability::WriteHeaders),
            "security" => granted.contains(Capability::AppendLabels),
            "delegation" => granted.contains(Capability::AppendDelegation),
            _ => false,
        };
        prop_assert!(writable, "{slot} became {now} with {granted:?}");
    }
    if let Some(http) = outcome.effects.extensions.get("http") {
        let http = http.as_str().to_lowercase();
        for name in [
            "cookie",
            "set-cookie",
            "authorization",
            "proxy-authorization",
            "x-api-key",
        ] {
            prop_assert!(!http.contains(&format!("\"{name}\"")), "{http}");
        }
    }
    let after = |slot: &str| match outcome.effects.extensions.get(slot) {
        Some(now) => now.to_value(),
        None => sent.get(slot).cloned().unwrap_or(Value::Null),
    };
    // Labels and chains only grow, and the rest of their slots stays.
    let labels = |slot: &Value| slot["labels"].as_array().cloned().unwrap_or_default();
    let (before, now) = (
        sent.get("security").cloned().unwrap_or_default(),
        after("security"),
    );
    prop_assert!(
        labels(&before)
            .iter()
            .all(|label| labels(&now).contains(label)),
        "{before} became {now}"
    );
    let without = |slot: &Value, name: &str| {
        let mut rest = slot.as_object().cloned().unwrap_or_default();
        rest.remove(name);
        rest
    };
    prop_assert_eq!(without(&before, "labels"), without(&now, "labels"));
    let chain = |slot: &Value| slot["chain"].as_array().cloned().unwrap_or_default();
    let (before, now) = (
        sent.get("delegation").cloned().unwrap_or_default(),
        after("delegation"),
    );
    prop_assert!(
        chain(&now).starts_with(&chain(&before)),
        "{before} became {now}"
    );
    // The request line is no header.
    let (before, now) = (sent.get("http").cloned().unwrap_or_default(), after("http"));
    for member in ["method", "path", "raw"] {
        prop_assert_eq!(before.get(member), now.get(member));
    }
    Ok(outcome.effects.extensions.into_keys().collect())
}
