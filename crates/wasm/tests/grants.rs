//! Nothing without a grant, exactly what was granted with one.

mod hostile;

use hookgate_core::config::{Access, FileGrant};
use hookgate_core::{Capability, Decision, RecordSink, Risk};
use hostile::{ask, engine, mark};
use serde_json::{Value, json};

#[tokio::test]
async fn no_names_and_no_arguments() {
    let engine = engine(|_| {}).await;
    let outcome = ask(&engine, "env", json!({})).await;
    assert_eq!(mark(&outcome, "env"), json!([]));
    assert_eq!(mark(&outcome, "args"), json!([]));
}

#[tokio::test]
async fn exactly_the_granted_name() {
    // Cargo sets it for every test.
    let engine = engine(|spec| spec.permissions.env = vec!["CARGO_PKG_NAME".into()]).await;
    assert_eq!(
        mark(&ask(&engine, "env", json!({})).await, "env"),
        json!(["CARGO_PKG_NAME"])
    );
}

#[tokio::test]
async fn no_files_and_no_sockets() {
    let listener = std::net::TcpListener::bind("127.0.0.1:0").expect("a port on loopback");
    let addr = listener
        .local_addr()
        .expect("it has an address")
        .to_string();
    let engine = engine(|_| {}).await;
    for (what, more) in [
        ("read-file", json!({ "path": "/etc/hostname" })),
        ("write-file", json!({ "path": "/tmp/hookgate-hostile" })),
        ("connect", json!({ "addr": addr })),
    ] {
        let outcome = ask(&engine, what, more).await;
        assert_eq!(outcome.decision, Decision::Allow, "{what}");
        assert!(mark(&outcome, "error").is_string(), "{what}: {outcome:?}");
    }
    listener
        .set_nonblocking(true)
        .expect("it can be asked without waiting");
    assert!(listener.accept().is_err(), "nobody connected");
    assert!(!std::path::Path::new("/tmp/hookgate-hostile").exists());
}

async fn with_folder(access: Access) -> (hookgate_core::Engine, std::path::PathBuf) {
    let name = format!("grants-{access:?}-{}", std::process::id());
    let folder = std::path::Path::new(env!("CARGO_TARGET_TMPDIR")).join(name);
    std::fs::create_dir_all(&folder).expect("a folder for the test");
    std::fs::write(folder.join("note"), "granted").expect("a file for the test");
    let host = folder.clone();
    let grant = FileGrant {
        host,
        guest: "/data".into(),
        access,
    };
    (
        engine(|spec| spec.permissions.files = vec![grant]).await,
        folder,
    )
}

#[tokio::test]
async fn a_folder_to_read() {
    let (engine, folder) = with_folder(Access::Read).await;
    let read = ask(&engine, "read-file", json!({ "path": "/data/note" })).await;
    assert_eq!(mark(&read, "content"), json!("granted"));
    let out = ask(
        &engine,
        "read-file",
        json!({ "path": "/data/../../Cargo.toml" }),
    )
    .await;
    assert!(mark(&out, "error").is_string());
    let written = ask(&engine, "write-file", json!({ "path": "/data/new" })).await;
    assert!(mark(&written, "error").is_string());
    assert!(!folder.join("new").exists());
    std::fs::remove_dir_all(folder).expect("the folder goes");
}

#[tokio::test]
async fn a_folder_to_write() {
    let (engine, folder) = with_folder(Access::ReadWrite).await;
    let written = ask(&engine, "write-file", json!({ "path": "/data/new" })).await;
    assert_eq!(mark(&written, "written"), json!(true));
    assert_eq!(
        std::fs::read_to_string(folder.join("new")).expect("it was written"),
        "hostile"
    );
    std::fs::remove_dir_all(folder).expect("the folder goes");
}

#[tokio::test]
async fn headers_need_a_data_grant() {
    let without = engine(|_| {}).await;
    assert_eq!(
        mark(&ask(&without, "see-headers", json!({})).await, "headers"),
        Value::Null
    );
    let refused = ask(&without, "edit-headers", json!({})).await;
    let violation = refused
        .violation
        .expect("a refused edit of headers is denied by the guest");
    assert_eq!(
        violation.details.to_value(),
        json!({ "code": "not-granted" })
    );
    let with = engine(|spec| spec.permissions.data.insert(Capability::ReadHeaders)).await;
    assert_eq!(
        mark(&ask(&with, "see-headers", json!({})).await, "headers"),
        json!({ "x": "from the caller" })
    );
    let edited = ask(&with, "edit-headers", json!({})).await;
    let payload: Value =
        serde_json::from_str(edited.payload.expect("allowed").as_str()).expect("JSON");
    assert_eq!(payload["headers"]["x"], json!("hostile"));
}

#[tokio::test]
async fn extensions_and_secrets_without_a_grant_are_refused() {
    struct Kept(std::sync::Mutex<Vec<Value>>);
    impl RecordSink for Kept {
        fn write(&self, record: hookgate_core::Record) {
            self.0
                .lock()
                .expect("unpoisoned")
                .push(serde_json::to_value(record).expect("a record is JSON"));
        }
    }
    let kept = std::sync::Arc::new(Kept(std::sync::Mutex::default()));
    let mut config = hookgate_core::config::Config::default();
    config.plugins.push(hostile::spec("hostile"));
    let host = std::sync::Arc::new(hookgate_wasm::WasmHost::new().expect("wasmtime starts"));
    let sink = std::sync::Arc::clone(&kept);
    let engine = hookgate_core::Engine::builder()
        .config(config)
        .host(host)
        .records(sink)
        .build()
        .await
        .expect("it loads");
    let outcome = ask(&engine, "extension", json!({})).await;
    assert_eq!(
        outcome.decision,
        Decision::Allow,
        "a refused access is no fault"
    );
    let marks = serde_json::to_value(&outcome.effects.metadata).expect("marks are JSON");
    assert_eq!(
        marks,
        json!({
            "extension": "not-granted", "set_extension": "not-granted", "not_json": "invalid", "no_slot": "invalid",
            "secret": "not-granted"
        })
    );
    let records = kept.0.lock().expect("unpoisoned");
    assert_eq!(
        records[0]["plugins"][0]["refused"],
        json!([
            { "what": "extension", "code": "not-granted", "count": 2 },
            { "what": "extension", "code": "invalid", "count": 2 },
            { "what": "secret", "code": "not-granted", "count": 1 }
        ])
    );
}

#[tokio::test]
async fn a_granted_extension_is_read_and_written() {
    let engine = engine(|spec| spec.permissions.data.insert(Capability::WriteHeaders)).await;
    let outcome = ask(&engine, "extension", json!({})).await;
    assert_eq!(mark(&outcome, "extension"), json!("granted"));
    assert_eq!(mark(&outcome, "set_extension"), json!("granted"));
    assert_eq!(
        outcome.effects.extensions["http"].to_value(),
        json!({ "headers": { "X-Hostile": "1" } })
    );
}

#[tokio::test]
async fn a_refused_edit_may_still_deny() {
    let engine = engine(|_| {}).await;
    let outcome = ask(&engine, "edit-bad-deny", json!({})).await;
    assert!(outcome.faults.is_empty(), "{:?}", outcome.faults);
    assert_eq!(
        outcome.violation.map(|violation| violation.code),
        Some("EDIT_BAD".into())
    );
}

#[tokio::test]
async fn ask_reaches_the_caller_with_its_edits() {
    let engine = engine(|_| {}).await;
    let outcome = ask(&engine, "ask-edit", json!({})).await;
    assert_eq!(outcome.decision, Decision::Ask);
    assert!(outcome.modified);
    let approval = &outcome.approvals[0];
    assert_eq!(
        (
            approval.plugin.as_str(),
            approval.reason.as_str(),
            approval.risk
        ),
        ("guest", "needs a person", Risk::High)
    );
    assert_eq!(approval.details.to_value(), json!({ "n": 1 }));
    assert_eq!(approval.payload_sha256.len(), 64);
}

#[tokio::test]
async fn time_left_is_inside_the_timeout() {
    let engine = engine(|_| {}).await;
    let left = mark(&ask(&engine, "remaining", json!({})).await, "remaining_ms")
        .as_u64()
        .expect("a number");
    assert!((1..=30_000).contains(&left), "{left}");
}
