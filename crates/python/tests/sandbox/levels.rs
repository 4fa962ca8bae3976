//! What a plugin's description says of its sandbox.

use std::path::PathBuf;

use hookgate_core::config::{PluginKind, Sandbox};
use serde_json::json;

use crate::{load, spec, try_load};

#[tokio::test(flavor = "multi_thread")]
async fn strict_is_the_default_and_best_effort_says_what_it_is() {
    let plugin = load(spec("files.Files")).await;
    let strict = plugin.info().sandbox;
    let parts = strict
        .strip_prefix("strict ")
        .expect("the default")
        .to_owned();
    assert!(
        parts.starts_with("(landlock abi ") && parts.ends_with("; seccomp)"),
        "{strict}"
    );
    plugin.still_answers().await;

    let mut spec = spec("files.Files");
    spec.python.sandbox = Sandbox::BestEffort;
    let plugin = load(spec).await;
    assert_eq!(plugin.info().sandbox, format!("best_effort {parts}"));
    // As much as there is, and here that is all of it.
    let tried = plugin.tries(json!({"do": "environment"})).await;
    assert_eq!(
        (&tried["parent"], &tried["processes"]),
        (&json!("EACCES"), &json!("EACCES"))
    );
    plugin.still_answers().await;
}

/// A configuration that lies in the home itself: the plugin's folder is not all of it.
#[tokio::test(flavor = "multi_thread")]
async fn the_home_is_not_shown_because_a_configuration_lies_in_it() {
    let mut spec = spec("files.Files");
    let plugins: PathBuf = spec.base_dir.join("plugins");
    spec.base_dir = std::env::home_dir().expect("tests run for somebody");
    let PluginKind::Python {
        import_paths,
        workdir,
        ..
    } = &mut spec.kind
    else {
        panic!("it is a class");
    };
    *import_paths = vec![plugins];
    *workdir = None;
    let home = spec.base_dir.clone();
    let plugin = load(spec.clone()).await;
    let tried = plugin
        .tries(json!({"do": "canary", "folder": home, "file": home.join("nothing-of-this-name")}))
        .await;
    assert_eq!(tried["list"], json!("EACCES"));
    let note = format!(
        "not readable: the configuration's folder {}, since the home is in it; ",
        home.display()
    );
    assert!(
        plugin.info().notes.iter().any(|one| one.starts_with(&note)),
        "{:?}",
        plugin.info().notes
    );
    plugin.still_answers().await;
}

#[tokio::test(flavor = "multi_thread")]
async fn a_grant_of_what_is_not_there_refuses_the_load() {
    let mut spec = spec("files.Files");
    crate::grant(
        &mut spec,
        "/nowhere/at-all".as_ref(),
        hookgate_core::config::Access::Read,
    );
    let report = try_load(spec).await.err().expect("a load error");
    let error = &report.problems[0].error;
    assert!(
        error
            .message
            .starts_with("permissions.files: cannot be opened: /nowhere/at-all: "),
        "{error}"
    );
    assert_eq!(
        error.hint.as_deref(),
        Some("grant a file or folder that is there when the plugin is loaded")
    );
}
