//! Files: what is granted, and the home, the engine and everything else, which are not.

use std::fs;
use std::os::unix::fs::MetadataExt as _;

use hookgate_core::config::Access;
use serde_json::json;

use crate::{grant, load, spec};

#[tokio::test(flavor = "multi_thread")]
async fn a_canary_in_the_home_can_be_neither_opened_nor_listed() {
    let home = std::env::home_dir().expect("tests run for somebody");
    let folder = tempfile::Builder::new()
        .prefix(".hookgate-canary-")
        .tempdir_in(&home)
        .expect("the home takes a folder");
    let canary = folder.path().join("canary");
    fs::write(&canary, "sings").expect("a file");

    let plugin = load(spec("files.Files")).await;
    let tried = plugin
        .tries(json!({"do": "canary", "folder": folder.path(), "file": canary}))
        .await;
    assert_eq!(
        tried,
        json!({
            "open": "EACCES",
            "list": "EACCES",
            "list_home": "EACCES",
            "write": "EACCES",
            "truncate": "EACCES",
            "unlink": "EACCES",
            "rename": "EACCES",
            // What Landlock answers where a file would come into reach under another name.
            "hard_link": "EXDEV",
            "symbolic_link": "EACCES",
            "path_descriptor": "EACCES",
            "own_root": "EACCES",
            "own_folder": "EACCES",
            // Landlock has no rule for it; `check` says so.
            "stat": "ok",
        })
    );
    assert_eq!(fs::read_to_string(&canary).expect("it is there"), "sings");
    assert!(plugin.info().notes[0].starts_with("not enforced: stat; "));
    plugin.still_answers().await;
}

#[tokio::test(flavor = "multi_thread")]
async fn nothing_is_written_but_in_the_scratch_folder() {
    let other = tempfile::tempdir().expect("a folder");
    let plugin = load(spec("files.Files")).await;
    let tried = plugin
        .tries(json!({"do": "write", "others": [other.path(), "/tmp", "/var/tmp", "/"]}))
        .await;
    let mut others = json!({ "/tmp": "EACCES", "/var/tmp": "EACCES", "/": "EACCES" });
    others[other.path().to_str().expect("text")] = json!("EACCES");
    assert_eq!(
        tried,
        json!({
            "others": others,
            "current": "EACCES",
            "environment": "EACCES",
            "shared_memory": "EACCES",
            "folder": "EACCES",
            "fifo": "EACCES",
            "scratch": "ok",
            "read_back": "x",
            "temporary": true,
            "replaced": "ok",
        })
    );
    assert_eq!(fs::read_dir(other.path()).expect("a folder").count(), 0);
    plugin.still_answers().await;
}

#[tokio::test(flavor = "multi_thread")]
async fn file_grants_open_what_they_name_and_nothing_beside_it() {
    let root = tempfile::tempdir().expect("a folder");
    let place = |name: &str| root.path().join(name);
    for folder in ["read", "write", "single"] {
        fs::create_dir(place(folder)).expect("a folder");
        fs::write(place(folder).join("file"), folder).expect("a file");
    }
    fs::write(place("write/old"), "").expect("a file");
    fs::write(place("single/beside"), "").expect("a file");
    let mut spec = spec("files.Files");
    grant(&mut spec, &place("read"), Access::Read);
    grant(&mut spec, &place("write"), Access::ReadWrite);
    grant(&mut spec, &place("single/file"), Access::Read);

    let plugin = load(spec).await;
    let tried = plugin
        .tries(json!({
            "do": "granted", "read": place("read"), "write": place("write"),
            "one": place("single/file"), "beside": place("single/beside"),
        }))
        .await;
    assert_eq!(
        tried,
        json!({
            "list": ["file"],
            "read": "read",
            "write_where_read": "EACCES",
            "make_where_read": "EACCES",
            "append": "ok",
            "make": "ok",
            "remove": "ok",
            "one": "single",
            "beside": "EACCES",
        })
    );
    let text = |name: &str| fs::read_to_string(place(name)).expect("a file");
    assert_eq!(
        (text("write/file"), text("write/new")),
        ("write!".into(), "!".into())
    );
    assert_eq!(text("read/file"), "read");
    plugin.still_answers().await;
}

#[tokio::test(flavor = "multi_thread")]
async fn the_engines_environment_and_descriptors_are_out_of_reach() {
    // A descriptor of this process that an exec would not close.
    let secret = tempfile::tempfile().expect("a file");
    rustix::io::fcntl_setfd(&secret, rustix::io::FdFlags::empty()).expect("a flag");
    let inode = secret.metadata().expect("it is open").ino();
    assert!(
        std::env::var_os("CARGO_MANIFEST_DIR").is_some(),
        "something to see"
    );

    let plugin = load(spec("files.Files")).await;
    let tried = plugin.tries(json!({"do": "environment"})).await;
    assert_eq!(
        tried,
        json!({
            "own": ["HOME", "LANG", "LC_ALL", "TMPDIR"],
            "parent": "EACCES",
            "parent_line": "EACCES",
            "parent_memory": "EACCES",
            "parent_descriptors": "EACCES",
            "processes": "EACCES",
            "self": "EACCES",
        })
    );
    let tried = plugin
        .tries(json!({"do": "inherited", "inode": inode}))
        .await;
    assert_eq!(tried, json!(false));
    plugin.still_answers().await;
}
