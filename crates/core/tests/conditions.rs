//! When a plugin with conditions is asked: as the legacy framework would, and by what arrived.

mod support;

use std::collections::BTreeMap;
use std::fs;
use std::path::Path;

use hookgate_core::config::Config;
use hookgate_core::{Condition, Json, Pointer, Request, Turn};
use serde::Deserialize;
use serde_json::Value;
use support::{HOOK, allowing, engine, named, plugin};

/// `tests/vectors/conditions.json`.
#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct File {
    request: Request,
    payloads: BTreeMap<String, Json>,
    cases: Vec<Case>,
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct Case {
    name: String,
    hook: String,
    payload: Option<Json>,
    request: Option<Request>,
    conditions: Value,
    asked: bool,
    /// What the framework answers where that is not the same.
    home: Option<Value>,
}

/// A condition as a case writes it.
#[derive(Deserialize, Default)]
#[serde(deny_unknown_fields, default)]
struct Written {
    server_ids: Option<Vec<String>>,
    tenant_ids: Option<Vec<String>>,
    tools: Option<Vec<String>>,
    prompts: Option<Vec<String>>,
    resources: Option<Vec<String>>,
    agents: Option<Vec<String>>,
    user_patterns: Option<Vec<String>>,
    content_types: Option<Vec<String>>,
}

impl From<Written> for Condition {
    fn from(written: Written) -> Self {
        let set = |names: Option<Vec<String>>| names.into_iter().flatten().collect();
        let mut condition = Self::default();
        condition.server_ids = set(written.server_ids);
        condition.tenant_ids = set(written.tenant_ids);
        condition.tools = set(written.tools);
        condition.prompts = set(written.prompts);
        condition.resources = set(written.resources);
        condition.agents = set(written.agents);
        condition.user_patterns = written.user_patterns.unwrap_or_default();
        condition.content_types = written.content_types.unwrap_or_default();
        condition
    }
}

/// One condition from its JSON.
fn condition(text: &str) -> Condition {
    let written: Written = serde_json::from_str(text).expect("the fields of a condition");
    written.into()
}

impl Case {
    fn conditions(&self) -> Vec<Condition> {
        let written: Vec<Written> =
            serde_json::from_value(self.conditions.clone()).expect("conditions");
        written.into_iter().map(Condition::from).collect()
    }

    /// An entry with the case's conditions, read from a configuration.
    fn config(&self) -> Config {
        let text = format!(
            "plugins:\n- name: p\n  kind: a.B\n  hooks: [{}]\n  conditions: {}\n",
            self.hook, self.conditions
        );
        Config::parse(&text, "hookgate.yaml", Path::new("."))
            .unwrap_or_else(|report| panic!("{}: {report}", self.name))
    }
}

impl File {
    fn load() -> Self {
        let path =
            Path::new(env!("CARGO_MANIFEST_DIR")).join("../../tests/vectors/conditions.json");
        let text = fs::read_to_string(path).expect("the vectors are there");
        let file: Self = serde_json::from_str(&text).expect("the vectors have their form");
        let asked = file.cases.iter().filter(|case| case.asked).count();
        assert!(asked >= 150 && file.cases.len() - asked >= 150, "{asked}");
        for case in &file.cases {
            let home = case.home.as_ref();
            assert!(home.is_none_or(|home| home == "raises"), "{}", case.name);
        }
        file
    }

    fn payload(&self, case: &Case) -> String {
        let usual = || &self.payloads[&case.hook];
        case.payload
            .as_ref()
            .unwrap_or_else(usual)
            .as_str()
            .to_owned()
    }

    fn request<'a>(&'a self, case: &'a Case) -> &'a Request {
        case.request.as_ref().unwrap_or(&self.request)
    }

    /// Whether an engine asks a plugin with these conditions about the case. Its explanation says the same.
    async fn asks(&self, case: &Case, conditions: Vec<Condition>) -> bool {
        let plugin = allowing();
        let listening = named("p", plugin.clone())
            .hooks([case.hook.as_str()])
            .conditions(conditions);
        let engine = engine([listening]).await;
        let (payload, request) = (self.payload(case), self.request(case));
        let explained = engine
            .explain(&case.hook, payload.as_str(), request)
            .unwrap_or_else(|error| panic!("{}: {error}", case.name));
        assert_eq!(
            plugin.calls(),
            0,
            "{}: an explanation asks nobody",
            case.name
        );
        let outcome = engine.invoke(&case.hook, payload.as_str(), request).await;
        outcome.unwrap_or_else(|error| panic!("{}: {error}", case.name));
        let asked = plugin.calls() == 1;
        let runs = matches!(explained.plugins[0].turn, Turn::Runs(_));
        assert_eq!(runs, asked, "{}: {explained:?}", case.name);
        asked
    }
}

#[tokio::test]
async fn a_plugin_is_asked_where_it_would_be_at_home() {
    let file = File::load();
    let mut wrong = Vec::new();
    for case in &file.cases {
        if file.asks(case, case.conditions()).await != case.asked {
            wrong.push(&case.name);
        }
    }
    assert!(wrong.is_empty(), "{wrong:#?}");
}

#[tokio::test]
async fn a_configuration_means_the_same_conditions() {
    let file = File::load();
    let mut wrong = Vec::new();
    for case in &file.cases {
        let config = case.config();
        let asked = file.asks(case, config.plugins[0].conditions.clone()).await;
        let explained = config
            .explain(&case.hook, file.payload(case), file.request(case))
            .unwrap_or_else(|error| panic!("{}: {error}", case.name));
        let runs = matches!(explained.plugins[0].turn, Turn::Runs(_));
        if (asked, runs) != (case.asked, case.asked) {
            wrong.push(&case.name);
        }
    }
    assert!(wrong.is_empty(), "{wrong:#?}");
}

/// Whether a user is one that the patterns name.
async fn asks_about_user(user: Option<Json>, patterns: &str) -> bool {
    let plugin = allowing();
    let patterns = condition(&format!(r#"{{"user_patterns": {patterns}}}"#));
    let engine = engine([named("p", plugin.clone()).conditions([patterns])]).await;
    let request = Request {
        user,
        ..Request::default()
    };
    let outcome = engine.invoke(HOOK, support::PAYLOAD, &request).await;
    outcome.expect("passes the door");
    plugin.calls() == 1
}

#[tokio::test]
async fn a_user_is_read_as_the_json_it_is() {
    let cases = [
        (" \"alice\" ", r#"["alice"]"#, true),
        (r#""alice""#, r#"["\""]"#, false),
        (r#""\u0061lice""#, r#"["alice"]"#, true),
        (r#""a\\b""#, r#"["a\\b"]"#, true),
        (" { \"a\" : 1 } ", r#"["a"]"#, true),
        (r#"{"\u0061": 1}"#, r#"["a"]"#, true),
        (r#"{"b": {"a": 1}, "c": ["a"]}"#, r#"["a"]"#, false),
        // More than a double holds is a number all the same.
        (r#"{"n": 1e400}"#, r#"["n"]"#, true),
        (r#"{"n": 1e400}"#, r#"["m"]"#, false),
        (" null ", r#"["null"]"#, false),
        ("null", r#"[""]"#, false),
        // What cannot be compared keeps no plugin from being asked.
        ("[]", r#"["a"]"#, true),
        ("7", r#"["a"]"#, true),
        ("false", r#"["a"]"#, true),
    ];
    for (user, patterns, asked) in cases {
        let user_json = Json::parse(user).expect("JSON");
        let found = asks_about_user(Some(user_json), patterns).await;
        assert_eq!(found, asked, "{user} {patterns}");
    }
    assert!(!asks_about_user(None, r#"[""]"#).await);
}

/// Sets `/name`, which is what the hook is about.
fn renaming(to: &'static str) -> std::sync::Arc<support::Scripted> {
    plugin(move |call| {
        let at: Pointer = "/name".parse().expect("a pointer");
        let mut draft = call.draft();
        draft.set(&at, Json::string(to)).expect("a member");
        Ok(draft.allow())
    })
}

#[tokio::test]
async fn conditions_test_what_arrived_whatever_plugins_change() {
    let (of_old, of_new) = (allowing(), allowing());
    let on = |name: &str| [condition(&format!(r#"{{"tools": ["{name}"]}}"#))];
    let engine = engine([
        named("rename", renaming("new")).priority(1),
        named("old", of_old.clone()).conditions(on("old")),
        named("new", of_new.clone()).conditions(on("new")),
    ])
    .await;
    let request = Request::default();
    let outcome = engine.invoke(HOOK, r#"{"name":"old"}"#, &request).await;
    let outcome = outcome.expect("passes the door");
    assert_eq!(support::text(&outcome), r#"{"name":"new"}"#);
    assert_eq!((of_old.calls(), of_new.calls()), (1, 0));
}

#[tokio::test]
async fn a_token_is_never_shown() {
    let only_search = condition(r#"{"tools": ["search"], "user_patterns": ["x"]}"#);
    let listening = named("p", allowing())
        .hooks(["identity_resolve"])
        .conditions([only_search]);
    let engine = engine([listening]).await;
    let request = Request {
        user: Some(Json::string("x")),
        ..Request::default()
    };
    let explained = engine
        .explain("identity_resolve", r#"{"raw_token":"s3cr3t"}"#, &request)
        .expect("passes the door");
    let text = serde_json::to_string(&explained).expect("JSON");
    assert!(
        text.contains(r#""found":"a token, which is never compared""#),
        "{text}"
    );
    assert!(!text.contains("s3cr3t"), "{text}");
    assert_eq!(explained.subject, None);
}
