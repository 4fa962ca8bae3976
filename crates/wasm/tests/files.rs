//! Granted folders: what is refused is counted, and nothing is changed before a call.

mod outside;

use std::path::Path;

use hookgate_core::config::{Access, FileGrant};
use outside::{Plugin, Setup, net_client, refused};
use serde_json::{Value, json};

fn grant(setup: Setup, folder: &Path, access: Access) -> Setup {
    let host = folder.to_owned();
    setup.with(|spec| {
        spec.permissions.files.push(FileGrant {
            host,
            guest: "/data".into(),
            access,
        });
    })
}

/// A folder with a file in it, and links that lead out of it.
fn folder() -> tempfile::TempDir {
    let root = tempfile::tempdir().expect("a folder");
    std::fs::create_dir(root.path().join("in")).expect("a folder in it");
    std::fs::write(root.path().join("secret"), "outside").expect("a file beside it");
    std::fs::write(root.path().join("in/note"), "inside").expect("a file in it");
    let links = [("../secret", "relative"), ("/etc/hostname", "absolute")];
    for (target, name) in links {
        std::os::unix::fs::symlink(target, root.path().join("in").join(name)).expect("a link");
    }
    root
}

async fn refuses(plugin: &Plugin, order: Value) {
    let result = plugin.ask(order.clone()).await;
    assert!(result["error"].is_string(), "{order}: {result}");
    let one = refused("file", "not-granted", 1);
    assert_eq!(plugin.records.refused(), one, "{order}: {result}");
    plugin.answers().await;
}

#[tokio::test]
async fn out_of_a_folder() {
    let root = folder();
    let folder = root.path().join("in");
    let plugin = grant(net_client(), &folder, Access::ReadWrite)
        .plugin()
        .await;
    let read = |path: &str| json!({ "do": "read", "path": path });
    assert_eq!(
        plugin.ask(read("/data/note")).await,
        json!({ "content": "inside" })
    );
    assert_eq!(plugin.records.refused(), json!([]));
    for path in ["/data/../secret", "/data/relative", "/data/absolute"] {
        refuses(&plugin, read(path)).await;
        refuses(&plugin, json!({ "do": "write", "path": path })).await;
    }
    let secret = std::fs::read_to_string(root.path().join("secret")).expect("it is there");
    assert_eq!(secret, "outside");
}

#[tokio::test]
async fn a_change_where_only_reading_is_granted() {
    let root = folder();
    let folder = root.path().join("in");
    let plugin = grant(net_client(), &folder, Access::Read).plugin().await;
    for order in [
        json!({ "do": "write", "path": "/data/new" }),
        json!({ "do": "write", "path": "/data/note" }),
        json!({ "do": "append", "path": "/data/note", "size": "1" }),
        json!({ "do": "mkdir", "path": "/data/sub" }),
        json!({ "do": "remove", "path": "/data/note" }),
        json!({ "do": "rename", "path": "/data/note", "target": "/data/other" }),
        json!({ "do": "link", "path": "/data/other", "target": "/data/note" }),
        json!({ "do": "symlink", "path": "/data/other", "target": "note" }),
    ] {
        refuses(&plugin, order).await;
    }
    let note = std::fs::read_to_string(folder.join("note")).expect("it is there");
    assert_eq!(note, "inside");
    assert_eq!(std::fs::read_dir(&folder).expect("it is there").count(), 3);
}

#[tokio::test]
async fn a_change_in_init() {
    for (order, name) in [
        (json!({ "do": "write", "path": "/data/new" }), "new"),
        (json!({ "do": "mkdir", "path": "/data/new" }), "new"),
        (
            json!({ "do": "symlink", "path": "/data/new", "target": "note" }),
            "new",
        ),
        (
            json!({ "do": "rename", "path": "/data/note", "target": "/data/new" }),
            "new",
        ),
        (
            json!({ "do": "link", "path": "/data/new", "target": "/data/note" }),
            "new",
        ),
    ] {
        let root = folder();
        let folder = root.path().join("in");
        let plugin = grant(net_client(), &folder, Access::ReadWrite)
            .init(order.clone())
            .plugin()
            .await;
        let told = plugin.init().await;
        assert!(told["error"].is_string(), "{order}: {told}");
        assert_eq!(
            plugin.records.refused(),
            refused("file", "not-granted", 1),
            "{order}"
        );
        assert!(
            std::fs::symlink_metadata(folder.join(name)).is_err(),
            "{order}"
        );
        let result = plugin.ask(order.clone()).await;
        assert_eq!(result, json!({ "done": true }), "{order}");
    }
    // What is there may be read.
    let root = folder();
    let order = json!({ "do": "read", "path": "/data/note" });
    let plugin = grant(net_client(), &root.path().join("in"), Access::Read)
        .init(order)
        .plugin()
        .await;
    assert_eq!(plugin.init().await, json!({ "content": "inside" }));
}

/// A plugin that decided without the folder it was granted has not decided.
#[tokio::test]
async fn a_folder_that_went_away() {
    let root = folder();
    let plugin = grant(net_client(), &root.path().join("in"), Access::Read)
        .plugin()
        .await;
    std::fs::remove_dir_all(root.path().join("in")).expect("it goes");
    let outcome = plugin
        .invoke(json!({ "do": "read", "path": "/data/note" }))
        .await;
    assert_eq!(outcome.faults[0].kind, hookgate_core::FaultKind::Load);
    assert_eq!(outcome.decision, hookgate_core::Decision::Deny);
    std::fs::create_dir(root.path().join("in")).expect("it comes back");
    plugin.answers().await;
}
