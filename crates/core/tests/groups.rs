//! Groups as a call meets them: whom they keep from being asked, and in which order the rest is.

mod support;

use std::sync::{Arc, Mutex};

use hookgate_core::config::Config;
use hookgate_core::{Engine, Request};
use support::{HOOK, Shelf, plugin};

/// An engine of the configuration, and who was asked.
async fn asked(text: &str) -> (Engine, Arc<Mutex<Vec<&'static str>>>) {
    let folder = std::path::Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/config/fixtures");
    let config =
        Config::parse(text, "hookgate.yaml", &folder).unwrap_or_else(|report| panic!("{report}"));
    let asked: Arc<Mutex<Vec<&'static str>>> = Arc::default();
    let shelf = Shelf::new();
    for name in ["first", "second", "third"] {
        let asked = Arc::clone(&asked);
        let noting = plugin(move |call| {
            asked.lock().unwrap().push(name);
            Ok(call.draft().allow())
        });
        shelf.put(name, &noting);
    }
    let builder = Engine::builder().host(shelf).config(config);
    (builder.build().await.unwrap(), asked)
}

/// Who is asked about a tool for a tenant.
async fn about(
    (engine, asked): &(Engine, Arc<Mutex<Vec<&'static str>>>),
    tool: &str,
    tenant: &str,
) -> Vec<&'static str> {
    let request = Request {
        tenant_id: Some(tenant.into()),
        ..Request::default()
    };
    let payload = format!(r#"{{"name":"{tool}"}}"#);
    engine
        .invoke(HOOK, payload.as_str(), &request)
        .await
        .unwrap();
    std::mem::take(&mut *asked.lock().unwrap())
}

const ENTRIES: &str = "plugins:
- {name: first, kind: wasm, component: gate.wasm, hooks: [tool_pre_invoke], conditions: [{tools: [b]}]}
- {name: second, kind: wasm, component: gate.wasm, hooks: [tool_pre_invoke]}
- {name: third, kind: wasm, component: gate.wasm, hooks: [tool_pre_invoke], priority: 1}
";

#[tokio::test]
async fn a_plugin_whose_conditions_share_nothing_with_its_groups_is_never_asked() {
    let groups = "groups: [{name: g, plugins: [first, second], conditions: [{tools: [a]}]}]\n";
    let engine = asked(&format!("{ENTRIES}{groups}")).await;
    assert_eq!(about(&engine, "a", "acme").await, ["third", "second"]);
    assert_eq!(about(&engine, "b", "acme").await, ["third"]);
    assert_eq!(about(&engine, "c", "acme").await, ["third"]);
}

#[tokio::test]
async fn a_group_narrows_and_never_widens() {
    let groups =
        "groups: [{name: g, plugins: [first, second], conditions: [{tenant_ids: [acme]}]}]\n";
    let engine = asked(&format!("{ENTRIES}{groups}")).await;
    assert_eq!(
        about(&engine, "b", "acme").await,
        ["third", "first", "second"]
    );
    assert_eq!(about(&engine, "a", "acme").await, ["third", "second"]);
    assert_eq!(about(&engine, "b", "other").await, ["third"]);
}

#[tokio::test]
async fn one_priority_keeps_the_order_of_the_entries() {
    let groups = "groups: [{name: g, plugins: [third, second, first], priority: 5}]\n";
    let text = format!("{ENTRIES}{groups}").replace(", priority: 1}", "}");
    let engine = asked(&text).await;
    assert_eq!(
        about(&engine, "b", "acme").await,
        ["first", "second", "third"]
    );
}

#[tokio::test]
async fn a_group_that_is_off_asks_nobody() {
    let groups = "groups: [{name: g, plugins: [first, second], mode: disabled}]\n";
    let engine = asked(&format!("{ENTRIES}{groups}")).await;
    assert_eq!(about(&engine, "b", "acme").await, ["third"]);
}
