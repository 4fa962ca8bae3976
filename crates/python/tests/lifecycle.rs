//! How workers start and end, and that none is left behind.

#[path = "support/stub.rs"]
mod stub;

use std::time::Duration;

use hookgate_core::FaultKind;
use hookgate_core::config::{PythonOptions, WorkerKind};
use serde_json::json;
use stub::{Lifeline, Rig, Setup, marks};

#[tokio::test(flavor = "multi_thread")]
async fn shutdown_lets_the_plugin_end_itself() {
    let mut setup = Setup::new(json!({}));
    setup.config = json!({"ended": setup.file("ended")});
    let lifeline = Lifeline::new(&mut setup);
    let rig = setup.build().await;
    rig.engine.shutdown().await;
    assert_eq!(
        std::fs::read_to_string(rig.folder.path().join("ended")).expect("a word"),
        "shut down"
    );
    lifeline.ended().await;
}

/// An entry that asks for what is not there is not run as if it had not asked.
#[tokio::test(flavor = "multi_thread")]
async fn what_is_not_built_is_refused() {
    type Ask = fn(&mut PythonOptions);
    let asked: [(&str, Ask); 3] = [
        ("worker: framework", |python| {
            python.worker = WorkerKind::Framework;
        }),
        ("workers: 2", |python| python.workers = 2),
        ("idempotent: true", |python| python.idempotent = true),
    ];
    for (asked, ask) in asked {
        let mut setup = Setup::new(json!({}));
        ask(&mut setup.spec.python);
        let Err(report) = setup.try_build().await else {
            panic!("{asked}: it loaded");
        };
        let told = report.to_string();
        assert!(
            told.contains(&format!("not supported yet: {asked}")),
            "{told}"
        );
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn a_plugin_that_does_not_shut_down_is_ended() {
    let mut setup = Setup::new(json!({"stubborn": true}));
    setup.options.supervision.shutdown_grace = Duration::from_millis(100);
    let lifeline = Lifeline::new(&mut setup);
    let rig = setup.build().await;
    rig.engine.shutdown().await;
    lifeline.ended().await;
}

#[tokio::test(flavor = "multi_thread")]
async fn dropping_the_engine_ends_the_worker_and_its_children() {
    let mut setup = Setup::new(json!({}));
    let lifeline = Lifeline::new(&mut setup);
    let rig = setup.build().await;
    let outcome = rig.ask(json!({"do": "child"})).await;
    assert!(marks(&outcome)["child"].is_i64());
    assert!(lifeline.is_open());
    drop(rig);
    lifeline.ended().await;
}

#[test]
fn the_end_of_the_runtime_ends_the_worker_and_its_children() {
    let mut setup = Setup::new(json!({}));
    let lifeline = Lifeline::new(&mut setup);
    let runtime = tokio::runtime::Builder::new_multi_thread()
        .enable_all()
        .build()
        .expect("a runtime");
    let rig = runtime.block_on(async {
        let rig = setup.build().await;
        rig.ask(json!({"do": "child"})).await;
        rig
    });
    assert!(lifeline.is_open());
    drop(runtime);
    lifeline.wait();
    drop(rig);
}

#[tokio::test(flavor = "multi_thread")]
async fn the_death_of_a_worker_ends_its_children() {
    let mut setup = Setup::new(json!({}));
    let lifeline = Lifeline::new(&mut setup);
    let rig = setup.build().await;
    rig.ask(json!({"do": "child"})).await;
    assert_eq!(
        rig.fault(json!({"do": "exit", "code": 2})).await.kind,
        FaultKind::WorkerDied
    );
    lifeline.ended().await;
}

#[tokio::test(flavor = "multi_thread")]
async fn a_class_that_cannot_be_loaded_is_a_load_error_in_the_workers_words() {
    let fails = json!({
        "stage": "import",
        "message": "cannot import module 'stub': ModuleNotFoundError: No module named 'yaml'",
        "traceback": "Traceback:\n  import yaml\n"
    });
    let report = Setup::new(json!({"fails": fails}))
        .try_build()
        .await
        .err()
        .expect("a load error");
    let error = &report.problems[0].error;
    let message = "the class cannot be loaded: stub.Plugin: import: \
        cannot import module 'stub': ModuleNotFoundError: No module named 'yaml'";
    assert_eq!(error.message, message);
    assert_eq!(error.detail.as_deref(), Some("Traceback:\n  import yaml"));
    let hint =
        "add the package that brings `yaml` to `requirements`, or its folder to `import_paths`";
    assert_eq!(error.hint.as_deref(), Some(hint));
}

#[tokio::test(flavor = "multi_thread")]
async fn a_worker_that_dies_before_it_is_ready_is_a_load_error_with_its_log() {
    let mut setup = Setup::new(json!({}));
    setup.config = json!({"starts": setup.file("starts"), "dies_from": 1});
    let report = setup.try_build().await.err().expect("a load error");
    let error = &report.problems[0].error;
    let message = "the class cannot be loaded: stub.Plugin: \
        the worker died: exit code 3 before the plugin was ready";
    assert_eq!(error.message, message);
    assert_eq!(error.detail.as_deref(), Some("no luck at start 1"));
}

#[tokio::test(flavor = "multi_thread")]
async fn a_start_that_hangs_is_a_load_error_and_leaves_no_process() {
    let mut setup = Setup::new(json!({}));
    setup.config = json!({"starts": setup.file("starts"), "hangs_from": 1});
    setup.options.supervision.start_timeout = Duration::from_secs(1);
    let lifeline = Lifeline::new(&mut setup);
    let report = setup.try_build().await.err().expect("a load error");
    let message = "the class cannot be loaded: stub.Plugin: the plugin was not ready within 1s";
    assert_eq!(report.problems[0].error.message, message);
    lifeline.ended().await;
}

#[tokio::test(flavor = "multi_thread")]
async fn the_worker_sees_no_variable_that_was_not_granted() {
    let mut setup = Setup::new(json!({}));
    setup.spec.permissions.env = vec!["CARGO_PKG_NAME".into(), "HOOKGATE_SURELY_NOT_SET".into()];
    let rig = setup.build().await;
    let seen = marks(&rig.ask(json!({"do": "echo"})).await);
    let mut names: Vec<&str> = seen["environ"]
        .as_object()
        .expect("an object")
        .keys()
        .map(String::as_str)
        .collect();
    names.sort_unstable();
    assert_eq!(
        names,
        ["CARGO_PKG_NAME", "HOME", "LANG", "LC_ALL", "TMPDIR"]
    );
    assert_eq!(seen["environ"]["CARGO_PKG_NAME"], "hookgate-python");
    assert_eq!(
        seen["cwd"],
        json!(rig.folder.path().canonicalize().expect("a path"))
    );
}

#[tokio::test(flavor = "multi_thread")]
async fn memory_past_the_limit_is_out_of_memory() {
    let mut setup = Setup::new(json!({}));
    setup.spec.limits.memory_bytes = 128 * 1024 * 1024;
    let rig = setup.build().await;
    let fault = rig
        .fault(json!({"do": "allocate", "bytes": 256 * 1024 * 1024}))
        .await;
    assert_eq!(fault.kind, FaultKind::OutOfMemory);
    rig.ask(json!({"do": "allocate", "bytes": 1024})).await;
    let rig = Rig::new().await;
    marks(
        &rig.ask(json!({"do": "allocate", "bytes": 256 * 1024 * 1024}))
            .await,
    );
}
