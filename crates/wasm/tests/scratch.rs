//! The scratch folder: empty for each call, never larger than granted, gone afterwards.

mod outside;

use std::path::PathBuf;

use hookgate_core::config::{Access, FileGrant};
use hookgate_core::{FaultKind, RefusalCode};
use hookgate_wasm::SCRATCH_ENTRY_BYTES;
use outside::{Plugin, Setup, net_client, refused};
use serde_json::{Value, json};

const SIZE: u64 = 64 << 10;

fn scratch() -> Setup {
    net_client().with(|spec| spec.permissions.scratch_bytes = Some(SIZE))
}

fn write(path: &str, size: u64) -> Value {
    json!({ "do": "write", "path": path, "size": size.to_string() })
}

fn list(path: &str) -> Value {
    json!({ "do": "list", "path": path })
}

/// An order the folder has no room for.
async fn is_full(plugin: &Plugin, order: Value) {
    let result = plugin.ask(order.clone()).await;
    // A C library tells of every failed write as an I/O error.
    assert!(result["error"].is_string(), "{order}: {result}");
    let code = RefusalCode::TooLarge.as_str();
    assert_eq!(
        plugin.records.refused(),
        refused("scratch", code, 1),
        "{order}"
    );
    plugin.answers().await;
}

#[tokio::test]
async fn what_one_call_leaves_is_not_there_in_the_next() {
    let plugin = scratch().plugin().await;
    for _ in 0..2 {
        assert_eq!(plugin.ask(list("/scratch")).await, json!({ "names": [] }));
        assert_eq!(
            plugin.ask(write("/scratch/a", 100)).await,
            json!({ "done": true })
        );
    }
    assert_eq!(plugin.records.refused(), json!([]));
}

#[tokio::test]
async fn its_size() {
    let plugin = scratch().plugin().await;
    let room = SIZE - SCRATCH_ENTRY_BYTES;
    assert_eq!(
        plugin.ask(write("/scratch/a", room)).await,
        json!({ "done": true })
    );
    is_full(&plugin, write("/scratch/a", room + 1)).await;
    let order = json!({ "do": "append", "path": "/scratch/a", "size": (room + 1).to_string() });
    is_full(&plugin, order).await;
    // Room that is only claimed counts too.
    for (more, name) in [(0, "done"), (1, "error")] {
        let order =
            json!({ "do": "make-long", "path": "/scratch/a", "size": (room + more).to_string() });
        let result = plugin.ask(order).await;
        assert!(!result[name].is_null(), "{more}: {result}");
    }
    assert_eq!(plugin.records.refused(), refused("scratch", "too-large", 1));
    plugin.answers().await;
}

#[tokio::test]
async fn empty_files_take_room() {
    let plugin = scratch().plugin().await;
    let most = SIZE / SCRATCH_ENTRY_BYTES;
    let order = json!({ "do": "many", "path": "/scratch", "count": (most + 5).to_string() });
    let result = plugin.ask(order).await;
    assert_eq!(
        (&result["made"], &result["kind"]),
        (&json!(most), &json!("StorageFull"))
    );
    assert_eq!(plugin.records.refused(), refused("scratch", "too-large", 1));
    plugin.answers().await;
}

/// Its folder is under the system's folder for temporary files, where this looks for it.
fn folders() -> Vec<PathBuf> {
    let mut found = Vec::new();
    for root in std::fs::read_dir(std::env::temp_dir()).expect("it can be listed") {
        let root = root.expect("an entry").path();
        let name = root.file_name().unwrap_or_default().to_string_lossy();
        if name.starts_with("hookgate-scratch-") {
            let inside = std::fs::read_dir(&root).into_iter().flatten().flatten();
            found.extend(inside.map(|entry| entry.path()));
        }
    }
    found
}

/// A file of a size nothing else here has, so that other tests' folders are not mistaken for this one's.
fn holds(folder: &std::path::Path, bytes: u64) -> bool {
    std::fs::metadata(folder.join("mine")).is_ok_and(|found| found.len() == bytes)
}

#[tokio::test]
async fn it_is_gone_after_the_call_whatever_happens() {
    const MINE: u64 = 12_347;
    let plugin = scratch().plugin().await;
    assert_eq!(
        plugin.ask(write("/scratch/mine", MINE)).await,
        json!({ "done": true })
    );
    // A file that was never closed, and a fault.
    let order = json!({ "do": "keep", "path": "/scratch/mine", "size": MINE.to_string() });
    assert_eq!(plugin.ask(order).await, json!({ "done": true }));
    let outcome = plugin.invoke(json!({ "do": "no such word" })).await;
    assert_eq!(outcome.faults[0].kind, FaultKind::PluginError);
    let left: Vec<_> = folders()
        .into_iter()
        .filter(|folder| holds(folder, MINE))
        .collect();
    assert!(left.is_empty(), "{left:?}");
}

#[tokio::test]
async fn nothing_is_written_in_init() {
    let order = write("/scratch/a", 10);
    let plugin = scratch().init(order.clone()).plugin().await;
    let told = plugin.init().await;
    assert!(told["error"].is_string(), "{told}");
    assert_eq!(plugin.records.refused(), refused("file", "not-granted", 1));
    assert_eq!(plugin.ask(list("/scratch")).await, json!({ "names": [] }));
    assert_eq!(plugin.ask(order).await, json!({ "done": true }));
}

#[tokio::test]
async fn links_out_of_it_lead_nowhere() {
    let plugin = scratch().plugin().await;
    for target in ["/etc/hostname", "../../../etc/hostname"] {
        let order = json!({ "do": "symlink", "path": "/scratch/link", "target": target });
        plugin.ask(order).await;
        plugin.answers().await;
    }
    let order = json!({ "do": "read", "path": "/scratch/../../etc/hostname" });
    assert!(plugin.ask(order).await["error"].is_string());
    plugin.answers().await;
}

#[tokio::test]
async fn nothing_moves_between_it_and_a_granted_folder() {
    let folder = tempfile::tempdir().expect("a folder");
    std::fs::write(folder.path().join("big"), vec![b'x'; 100_000]).expect("a file");
    let host = folder.path().to_owned();
    let plugin = scratch()
        .with(|spec| {
            spec.permissions.files = vec![FileGrant {
                host,
                guest: "/data".into(),
                access: Access::ReadWrite,
            }];
        })
        .plugin()
        .await;
    for word in ["link", "rename"] {
        let (path, target) = match word {
            "link" => ("/scratch/big", "/data/big"),
            _ => ("/data/big", "/scratch/big"),
        };
        let order = json!({ "do": word, "path": path, "target": target });
        let result = plugin.ask(order).await;
        assert_eq!(result["kind"], json!("CrossesDevices"), "{word}: {result}");
        plugin.answers().await;
    }
    assert!(folder.path().join("big").exists());
}
