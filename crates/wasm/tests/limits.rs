//! What a guest may make the host hold or copy, each with its own fault.

mod outside;

use hookgate_core::FaultKind;
use hookgate_core::config::{Access, FileGrant};
use hookgate_wasm::{MAX_HANDLES, MAX_HOSTCALL_BYTES};
use outside::net_client;
use serde_json::json;

#[tokio::test]
async fn copying() {
    let plugin = net_client().plugin().await;
    let most = MAX_HOSTCALL_BYTES >> 20;
    let outcome = plugin
        .invoke(json!({ "do": "copy", "mib": (most + 1).to_string() }))
        .await;
    let fault = &outcome.faults[0];
    assert_eq!(
        (fault.kind, fault.message.as_str()),
        (
            FaultKind::ResourceLimit,
            "one call to the host copied too much"
        )
    );
    plugin.answers().await;
}

#[tokio::test]
async fn open_files() {
    let folder = tempfile::tempdir().expect("a folder");
    std::fs::write(folder.path().join("note"), "").expect("a file");
    let host = folder.path().to_owned();
    let plugin = net_client()
        .with(|spec| {
            spec.permissions.files = vec![FileGrant {
                host,
                guest: "/data".into(),
                access: Access::Read,
            }];
        })
        .plugin()
        .await;
    let hold =
        |count: usize| json!({ "do": "hold", "path": "/data/note", "count": count.to_string() });
    let some = MAX_HANDLES / 2;
    assert_eq!(plugin.ask(hold(some)).await, json!({ "held": some }));
    let outcome = plugin.invoke(hold(MAX_HANDLES + 1)).await;
    let fault = &outcome.faults[0];
    assert_eq!(
        (fault.kind, fault.message.as_str()),
        (FaultKind::ResourceLimit, "it holds too many handles")
    );
    plugin.answers().await;
}
