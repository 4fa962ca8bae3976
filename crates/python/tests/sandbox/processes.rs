//! Processes, signals, and what the kernel offers besides.

use std::fs;
use std::net::TcpListener;

use hookgate_core::config::{HostPattern, NetworkGrant};
use hookgate_python::{FILE_BYTES, OPEN_FILES};
use serde_json::{Value, json};

use crate::{load, spec};

/// Every outcome is this one.
fn all_are(tried: &Value, became: &str, except: &[(&str, Value)]) {
    let tried = tried.as_object().expect("an object");
    for (name, value) in tried {
        let wanted = except.iter().find(|(other, _)| other == name);
        let wanted = wanted.map_or_else(|| json!(became), |(_, value)| value.clone());
        assert_eq!(*value, wanted, "{name}");
    }
    for (name, _) in except {
        assert!(tried.contains_key(*name), "{name}");
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn no_process_is_started_and_threads_are() {
    let plugin = load(spec("processes.Processes")).await;
    let tried = plugin.tries(json!({"do": "start"})).await;
    // `clone3` hides its flags: libraries take `clone` where it is not there. The program behind a path
    // is refused by the rules for files.
    all_are(
        &tried,
        "EPERM",
        &[
            ("clone3", json!("ENOSYS")),
            ("execveat", json!("EACCES")),
            ("system", json!(true)),
        ],
    );
    let tried = plugin.tries(json!({"do": "threads"})).await;
    assert_eq!(tried, json!({"pooled": 285, "by_loop": true}));
    plugin.still_answers().await;
}

#[tokio::test(flavor = "multi_thread")]
async fn signals_and_limits_reach_only_itself() {
    let plugin = load(spec("processes.Processes")).await;
    let tried = plugin.tries(json!({"do": "signals"})).await;
    let heard = json!(["usr1"]);
    all_are(
        &tried,
        "EPERM",
        &[
            ("own_raise", heard.clone()),
            ("own_kill", heard.clone()),
            ("own_group", heard),
            ("own_limits", json!(0)),
        ],
    );
    plugin.still_answers().await;
}

#[tokio::test(flavor = "multi_thread")]
async fn the_kernel_keeps_its_other_doors_shut() {
    let plugin = load(spec("processes.Processes")).await;
    let tried = plugin.tries(json!({"do": "kernel"})).await;
    all_are(&tried, "EPERM", &[("unnamed_file", json!("ENOSYS"))]);
    plugin.still_answers().await;
}

#[tokio::test(flavor = "multi_thread")]
async fn modes_and_owners_cannot_be_changed() {
    let plugin = load(spec("modes.Modes")).await;
    let tried = plugin.tries(json!({"do": "change"})).await;
    // Made with the usual mask; by its descriptor the times of a file it made are its own.
    let mode = tried["mode"].clone();
    all_are(
        &tried,
        "EPERM",
        &[("own_times", json!("ok")), ("mode", mode.clone())],
    );
    let mode = mode
        .as_str()
        .and_then(|mode| mode.strip_prefix("0o"))
        .expect("a mode");
    let mode = u32::from_str_radix(mode, 8).expect("octal");
    assert_eq!(mode & 0o7133, 0, "nothing was added: {mode:o}");
    plugin.still_answers().await;
}

#[tokio::test(flavor = "multi_thread")]
async fn it_has_no_capability_and_its_limits() {
    let plugin = load(spec("processes.Processes")).await;
    let mut tried = plugin.tries(json!({"do": "rights"})).await;
    // Only who has the right to can empty this set; whom it is not empty for cannot gain from it.
    let own = rustix::thread::capabilities(None).expect("the kernel says");
    if !own
        .effective
        .contains(rustix::thread::CapabilitySet::SETPCAP)
    {
        tried["bounding"] = json!([]);
    }
    let own = rustix::process::getrlimit(rustix::process::Resource::Nofile);
    let files = OPEN_FILES.min(own.maximum.unwrap_or(u64::MAX) - 1);
    assert_eq!(
        tried,
        json!({
            "capabilities": [0, 0, 0, 0, 0, 0],
            "bounding": [],
            "no_new_privs": 1,
            "limits": {
                "NOFILE": [files, files],
                "FSIZE": [FILE_BYTES, FILE_BYTES],
                "CORE": [0, 0],
            },
            "raise_limit": "not allowed to raise maximum limit",
            "large_file": "EFBIG",
        })
    );
    plugin.still_answers().await;
}

#[tokio::test(flavor = "multi_thread")]
async fn a_grant_of_processes_allows_them_under_the_same_rules() {
    let folder = tempfile::tempdir().expect("a folder");
    let canary = folder.path().join("canary");
    fs::write(&canary, "sings").expect("a file");
    let other = TcpListener::bind(("127.0.0.1", 0)).expect("a port");
    let port = other.local_addr().expect("an address").port();
    let mut spec = spec("processes.Processes");
    spec.permissions.processes = true;
    // With a network grant, so that it is the port that stops the child.
    spec.permissions.network = vec![NetworkGrant {
        host: HostPattern::parse("127.0.0.1").expect("an address"),
        port: 1,
    }];
    let plugin = load(spec).await;
    let tried = plugin
        .tries(json!({"do": "children", "canary": canary, "port": port}))
        .await;
    assert_eq!(
        tried,
        json!({
            "echo": [0, "hi\n"],
            "shell": [0, "one\n"],
            "canary": true,
            "connect": true,
            "namespace": true,
            // A session of its own, ended by SIGTERM.
            "own_child": -15,
        })
    );
    other.set_nonblocking(true).expect("a flag");
    assert!(other.accept().is_err(), "nobody was let through");
    let tried = plugin.tries(json!({"do": "engine_only"})).await;
    all_are(&tried, "EPERM", &[]);
    plugin.still_answers().await;
}

/// Much of the standard library reads files of the system without being asked, and raises where one is
/// there and cannot be opened.
#[tokio::test(flavor = "multi_thread")]
async fn what_libraries_need_of_the_system_is_there() {
    let plugin = load(spec("modes.Modes")).await;
    let tried = plugin.tries(json!({"do": "libraries"})).await;
    assert_eq!(
        tried,
        json!({
            "callback": [1, 2, 3],
            "database": "one",
            "type": "text/html",
            "tls": true,
            "zone": "Europe/Berlin",
            "hour": true,
            "digest": "e3b0c442",
            "locale": "C.UTF-8",
            "random": 4,
            "cores": true,
            "host": true,
        })
    );
    plugin.still_answers().await;
}
