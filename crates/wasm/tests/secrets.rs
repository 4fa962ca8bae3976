//! Secrets: handed out by name, and in nothing that anybody writes down.

mod lines;
mod outside;

use hookgate_core::FaultKind;
use hookgate_core::config::{SecretGrant, SecretSource};
use outside::{Setup, net_client, refused};
use serde_json::{Value, json};

const VALUE: &str = "s3cr3t \"quoted\" value";

fn secret(setup: Setup, name: &str, source: SecretSource) -> Setup {
    let name = name.to_owned();
    setup.with(|spec| spec.permissions.secrets.push(SecretGrant { name, source }))
}

fn command(words: &[&str]) -> SecretSource {
    SecretSource::Command(words.iter().map(|word| (*word).to_owned()).collect())
}

fn printed(value: &str) -> SecretSource {
    command(&["printf", "%s\n", value])
}

fn get(name: &str) -> Value {
    json!({ "do": "secret", "name": name })
}

#[tokio::test]
async fn from_each_source() {
    let file = tempfile::NamedTempFile::new().expect("a file");
    std::fs::write(file.path(), "from the file\r\n").expect("it can be written");
    let setup = secret(
        net_client(),
        "var",
        SecretSource::Env("CARGO_PKG_NAME".into()),
    );
    let setup = secret(setup, "file", SecretSource::File(file.path().to_owned()));
    let setup = secret(setup, "lines", command(&["printf", "a\\n\\nb\\n\\n"]));
    let plugin = secret(setup, "shell", printed("$HOME `id` | cat"))
        .plugin()
        .await;
    for (name, value) in [
        ("var", env!("CARGO_PKG_NAME")),
        ("file", "from the file"),
        // One line break at the end does not count.
        ("lines", "a\n\nb\n"),
        // No shell reads it.
        ("shell", "$HOME `id` | cat"),
    ] {
        assert_eq!(
            plugin.ask(get(name)).await,
            json!({ "value": value }),
            "{name}"
        );
    }
    assert_eq!(plugin.records.refused(), json!([]));
    assert_eq!(
        plugin.ask(get("VAR")).await,
        json!({ "error": "not-granted" })
    );
    assert_eq!(
        plugin.records.refused(),
        refused("secret", "not-granted", 1)
    );
    plugin.answers().await;
}

#[tokio::test]
async fn init_may_ask() {
    let plugin = secret(net_client(), "token", printed(VALUE))
        .init(get("token"))
        .plugin()
        .await;
    assert_eq!(plugin.init().await, json!({ "value": VALUE }));
    // A refusal in init belongs to the call it was made for.
    let plugin = net_client().init(get("token")).plugin().await;
    assert_eq!(plugin.init().await, json!({ "error": "not-granted" }));
    assert_eq!(
        plugin.records.refused(),
        refused("secret", "not-granted", 1)
    );
}

#[tokio::test]
async fn sources_that_give_nothing() {
    let empty = tempfile::NamedTempFile::new().expect("a file");
    let missing = empty.path().with_extension("missing");
    let file = |path: &std::path::Path| SecretSource::File(path.to_owned());
    let big = tempfile::NamedTempFile::new().expect("a file");
    std::fs::write(big.path(), vec![b'x'; (64 << 10) + 2]).expect("it can be written");
    let raw = tempfile::NamedTempFile::new().expect("a file");
    std::fs::write(raw.path(), [0xff, 0xfe]).expect("it can be written");
    for (source, says, hint) in [
        (
            SecretSource::Env("HOOKGATE_NOT_SET".into()),
            "secret token: variable HOOKGATE_NOT_SET is not set",
            "set HOOKGATE_NOT_SET in the environment of the gateway",
        ),
        (file(empty.path()), "is empty", "put the value there"),
        (
            file(&missing),
            "cannot read file",
            "names a file the gateway may read",
        ),
        (
            file(big.path()),
            "gives more than 65536 bytes",
            "not a document",
        ),
        (file(raw.path()), "is not UTF-8", "store it as text"),
        (
            command(&["false"]),
            "secret token: command false ended with",
            "run the command by hand",
        ),
        (
            command(&["sh", "-c", "echo s3cr3t; exit 3"]),
            "command sh ended with",
            "run the command by hand",
        ),
        (
            command(&["hookgate-no-such-program", "s3cr3t"]),
            "command hookgate-no-such-program cannot be run",
            "without a shell",
        ),
        (
            command(&["true"]),
            "command true is empty",
            "put the value there",
        ),
        (
            command(&["yes", "s3cr3t"]),
            "command yes gives more than 65536 bytes",
            "not a document",
        ),
    ] {
        let report = secret(net_client(), "token", source).load().await.err();
        let text = report.expect("it is refused").to_string();
        assert!(text.contains(says), "{says}: {text}");
        assert!(text.contains(hint), "{hint}: {text}");
        assert!(!text.contains("s3cr3t"), "{text}");
    }
}

#[tokio::test]
async fn in_no_log_record_or_fault() {
    let lines = lines::capture();
    let plugin = secret(net_client(), "token", printed(VALUE))
        .with(|spec| spec.name = "secretive".into())
        .plugin()
        .await;
    let told = plugin
        .ask(json!({ "do": "tell-secret", "name": "token" }))
        .await;
    assert_eq!(told, json!({ "told": true }));
    let outcome = plugin
        .invoke(json!({ "do": "fail-secret", "name": "token" }))
        .await;
    let fault = &outcome.faults[0];
    assert_eq!(
        (fault.kind, fault.message.as_str()),
        (FaultKind::PluginError, "cannot use [secret token]")
    );
    let said = lines.of("secretive");
    for line in [
        "log entry: [secret token]",
        "printed: [secret token]",
        "complained: [secret token]",
    ] {
        let found = said.iter().filter(|event| event["message"] == line).count();
        assert_eq!(found, 1, "{line}: {said:?}");
    }
    let entry = said
        .iter()
        .find(|event| event["message"] == "log entry: [secret token]");
    assert_eq!(
        entry.map(|event| &event["fields"]),
        Some(&json!(r#"{"token":"[secret token]"}"#))
    );
    for text in [
        lines.text(),
        plugin.records.text(),
        format!("{:?}", plugin.engine.plugins()),
    ] {
        assert!(!text.contains("s3cr3t"), "{text}");
    }
    plugin.answers().await;
}

#[tokio::test]
async fn a_refused_configuration_does_not_tell() {
    let setup = secret(net_client(), "token", printed(VALUE));
    let order = json!({ "do": "fail-secret", "name": "token" });
    let report = setup.init(order).load().await.err().expect("it is refused");
    let text = report.to_string();
    assert!(
        text.contains("the plugin refuses its configuration: cannot use [secret token]"),
        "{text}"
    );
    assert!(!text.contains("s3cr3t"), "{text}");
}
