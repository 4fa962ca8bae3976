//! The published plugins, confined, answer as they answered under their own framework.

use hookgate_core::config::PluginKind;
use hookgate_core::{Decision, Request};
use serde_json::{Value, json};

use crate::{load, spec};

const VECTORS: &str = include_str!("../../../../tests/data/legacy-pypi.json");

#[tokio::test(flavor = "multi_thread")]
async fn published_plugins_decide_as_at_home() {
    let vectors: Value = serde_json::from_str(VECTORS).expect("JSON");
    let cases = vectors["cases"].as_array().expect("a list");
    assert!(cases.len() >= 7, "{}", cases.len());
    for case in cases {
        let text = |value: &Value| value.as_str().expect("text").to_owned();
        let steps = case["steps"].as_array().expect("a list");
        let mut spec = spec(&text(&case["class_path"]));
        if let PluginKind::Python {
            requirements_file, ..
        } = &mut spec.kind
        {
            // One environment for all of them.
            *requirements_file = Some("../../worker/tests/requirements.txt".into());
        }
        spec.config = (&case["config"]).into();
        spec.hooks = steps.iter().map(|step| text(&step["hook"])).collect();
        spec.hooks.sort();
        spec.hooks.dedup();
        let plugin = load(spec).await;
        assert!(plugin.info().sandbox.starts_with("strict ("));
        for (number, step) in steps.iter().enumerate() {
            let context = &step["context"];
            let mut request = Request::with_id(text(&context["request_id"]));
            if !context["user"].is_null() {
                request.user = Some((&context["user"]).into());
            }
            let outcome = plugin
                .0
                .invoke(&text(&step["hook"]), &step["payload"], &request)
                .await
                .expect("a payload");
            let at = format!("{} step {number}: {:?}", case["plugin"], outcome.faults);
            assert!(outcome.faults.is_empty(), "{at}");
            let expected = match &step["expected_typed"] {
                Value::Null => &step["expected"],
                typed => typed,
            };
            let allowed = outcome.decision == Decision::Allow;
            assert_eq!(json!(allowed), expected["continue_processing"], "{at}");
            let code = outcome.violation.map(|violation| violation.code);
            assert_eq!(json!(code), expected["violation"]["code"], "{at}");
            assert_eq!(
                outcome.modified,
                !expected["modified_payload"].is_null() && allowed,
                "{at}"
            );
        }
        plugin.0.shutdown().await;
    }
}
