//! The example `embed` answers as its text says, alone and with a configuration file.

#[path = "../examples/embed.rs"]
mod embed;

use std::fs;

use hookgate::Decision;
use hookgate::config::Config;
use hookgate_vectors::guests;

#[tokio::test]
async fn alone_it_denies_what_does_not_read() {
    let outcome = embed::ask(Config::default(), r#"{"name": "drop_table", "args": {}}"#)
        .await
        .unwrap();
    assert_eq!(outcome.decision, Decision::Deny);
    let violation = outcome.violation.unwrap();
    assert_eq!(
        (violation.plugin.as_deref(), violation.code.as_str()),
        (Some("read-only"), "READ_ONLY")
    );
    assert!(outcome.record.is_some());
}

#[tokio::test]
async fn alone_it_lets_reading_tools_pass() {
    let payload = r#"{"name": "get_user", "args": {"id": 1.10}}"#;
    let outcome = embed::ask(Config::default(), payload).await.unwrap();
    assert_eq!(outcome.decision, Decision::Allow);
    assert_eq!(outcome.payload.unwrap().as_str(), payload);
}

#[tokio::test]
async fn with_a_file_its_plugins_answer_too() {
    let folder = tempfile::tempdir().unwrap();
    let file = folder.path().join("hookgate.yaml");
    let component = guests::component("deny-list-rust");
    let text = format!(
        "plugins:\n  - name: deny-list\n    kind: wasm\n    component: {}\n    hooks: [tool_pre_invoke]\n    priority: 10\n    config: {{words: [secret]}}\n",
        component.display()
    );
    fs::write(&file, text).unwrap();

    let outcome = embed::ask(
        Config::load(&file).unwrap(),
        r#"{"name": "get_user", "args": {"q": "a secret"}}"#,
    )
    .await
    .unwrap();
    let violation = outcome.violation.unwrap();
    assert_eq!(
        (violation.plugin.as_deref(), violation.code.as_str()),
        (Some("deny-list"), "DENY_WORD")
    );

    let outcome = embed::ask(
        Config::load(&file).unwrap(),
        r#"{"name": "get_user", "args": {"q": "the news"}}"#,
    )
    .await
    .unwrap();
    assert_eq!(outcome.decision, Decision::Allow);
}
