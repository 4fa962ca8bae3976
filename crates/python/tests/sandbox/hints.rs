//! What a fault says of an access that the sandbox refused.

use std::net::TcpListener;

use hookgate_core::FaultKind;
use hookgate_core::config::{HostPattern, NetworkGrant};
use serde_json::json;

use crate::{load, spec, try_load};

#[tokio::test(flavor = "multi_thread")]
async fn a_refused_access_names_the_grant_that_allows_it() {
    let folder = tempfile::tempdir().expect("a folder");
    let words = folder.path().join("words");
    std::fs::write(&words, "").expect("a file");
    let words = words.display().to_string();
    let plugin = load(spec("refused.Refused")).await;
    let read = format!("write `permissions: {{files: [{{host: {words}, access: read}}]}}`");
    let write = read.replace("access: read}", "access: read_write}");
    let made = write.replace(&words, &format!("{words}2"));
    let starts = "write `permissions: {processes: true}`";
    for (args, hint) in [
        (json!({"do": "read", "path": words}), Some(read.as_str())),
        (json!({"do": "wrapped", "path": words}), Some(&read)),
        (json!({"do": "write", "path": words}), Some(&write)),
        (
            json!({"do": "make", "path": format!("{words}2")}),
            Some(&made),
        ),
        (
            json!({"do": "connect", "port": 4711}),
            Some("write `permissions: {network: [{host: \"127.0.0.1\", port: 4711}]}`"),
        ),
        (
            json!({"do": "connect_itself", "port": 4711}),
            Some("write `permissions: {network: [{host: \"HOST\", port: PORT}]}`"),
        ),
        (json!({"do": "run"}), Some(starts)),
        (json!({"do": "fork"}), Some(starts)),
        (
            json!({"do": "change"}),
            Some(
                "no grant is for changing modes, owners, times or attributes; a new file has those of its making",
            ),
        ),
        (
            json!({"do": "signal"}),
            Some("no grant is for other processes; a plugin signals what it started itself"),
        ),
        (json!({"do": "unrelated"}), None),
    ] {
        let outcome = plugin.ask(args.clone()).await;
        let fault = &outcome.faults[0];
        assert_eq!(fault.kind, FaultKind::PluginError, "{args}");
        let said = fault.message.split_once("\nhint: ").map(|(_, hint)| hint);
        assert_eq!(said, hint, "{args}: {}", fault.message);
    }
    plugin.still_answers().await;
}

#[tokio::test(flavor = "multi_thread")]
async fn a_port_beside_the_granted_one_is_named() {
    let other = TcpListener::bind(("127.0.0.1", 0)).expect("a port");
    let port = other.local_addr().expect("an address").port();
    let mut spec = spec("refused.Refused");
    spec.permissions.network = vec![NetworkGrant {
        host: HostPattern::parse("127.0.0.1").expect("an address"),
        port: 1,
    }];
    let plugin = load(spec).await;
    let outcome = plugin.ask(json!({"do": "connect", "port": port})).await;
    let message = &outcome.faults[0].message;
    let hint = format!(
        "\nhint: write `permissions: {{network: [{{host: \"127.0.0.1\", port: {port}}}]}}`"
    );
    assert!(
        message.starts_with("PermissionError: ") && message.ends_with(&hint),
        "{message}"
    );
    plugin.still_answers().await;
}

#[tokio::test(flavor = "multi_thread")]
async fn a_plugin_that_does_not_start_for_it_says_so_too() {
    let folder = tempfile::tempdir().expect("a folder");
    let words = folder.path().join("words");
    std::fs::write(&words, "").expect("a file");
    let mut spec = spec("refused.Refused");
    spec.config = (&json!({ "open_first": words })).into();
    let report = try_load(spec).await.err().expect("a load error");
    let hint = format!(
        "write `permissions: {{files: [{{host: {}, access: read}}]}}`",
        words.display()
    );
    assert_eq!(
        report.problems[0].error.hint.as_deref(),
        Some(hint.as_str())
    );
}
