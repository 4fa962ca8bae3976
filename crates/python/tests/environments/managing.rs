//! What is in a store, and what may go.

use std::time::Duration;

use hookgate_python::GcOptions;
use serde_json::Value;

use super::rig::{MARK, Rig, allow_writing, make_wheel};

const DAY: Duration = Duration::from_secs(24 * 60 * 60);

/// Makes every record of use older.
fn age(rig: &Rig, by: Duration) {
    let records = std::fs::read_dir(rig.options.store.join("entries")).expect("records");
    for record in records {
        let path = record.expect("a record").path();
        let text = std::fs::read_to_string(&path).expect("a record");
        let mut record: Value = serde_json::from_str(&text).expect("JSON");
        let used_at = record["used_at"].as_u64().expect("a time");
        record["used_at"] = (used_at - by.as_secs()).into();
        std::fs::write(path, record.to_string()).expect("a record");
    }
}

#[tokio::test]
async fn a_list_shows_who_uses_what() {
    let rig = Rig::new();
    let environment = rig.prepare().await;
    rig.prepared(&rig.spec("q")).await;
    let list = async || {
        let listed = rig.store().list(&rig.options.search_path).await;
        listed.expect("a list")
    };
    let listed = list().await;
    assert_eq!(listed.len(), 1);
    let found = &listed[0];
    assert_eq!(found.path, environment.path);
    assert_eq!(
        found.key,
        environment
            .path
            .file_name()
            .expect("a name")
            .to_string_lossy()
    );
    assert_eq!(found.python.as_ref(), Some(&environment.python));
    assert_eq!(found.requirements, [super::rig::WHEEL, "cpex"]);
    assert!(found.size_bytes > 100, "{}", found.size_bytes);
    let users: Vec<_> = found
        .used_by
        .iter()
        .map(|used| (used.plugin.as_str(), used.class.as_str()))
        .collect();
    assert_eq!(users, [("p", "a.B"), ("q", "a.B")]);
    assert_eq!((found.verdict, found.in_use), ("Valid", false));

    allow_writing(&environment.path);
    std::fs::remove_file(environment.path.join("bin/python")).expect("a link");
    assert_eq!(list().await[0].verdict, "Unreadable");
    std::fs::remove_file(environment.path.join(MARK)).expect("a mark");
    let listed = list().await;
    assert_eq!(
        (listed[0].verdict, &listed[0].python),
        ("Unreadable", &None)
    );
}

#[tokio::test]
async fn what_nobody_used_last_goes_and_the_rest_stays() {
    let rig = Rig::new();
    let old = rig.prepare().await;
    make_wheel(rig.path(), &["changed = True"]);
    let new = rig.prepare().await;
    let unfinished = rig.options.store.join("0".repeat(64));
    std::fs::create_dir(&unfinished).expect("a folder");
    let gc = |options: &GcOptions| rig.store().gc(options).expect("it runs");
    let dry = gc(&GcOptions {
        dry_run: true,
        ..GcOptions::default()
    });
    let reasons: Vec<_> = dry.removed.iter().map(|removed| removed.why).collect();
    assert_eq!(reasons.len(), 2);
    assert!(
        reasons.contains(&"its build did not end") && reasons.contains(&"no entry used it last")
    );
    assert_eq!(dry.kept, 1);
    assert!(dry.freed_bytes() > 100);
    assert_eq!(rig.stored().len(), 3, "nothing has gone yet");
    assert_eq!(gc(&GcOptions::default()), dry);
    assert_eq!(rig.stored(), std::slice::from_ref(&new.path));
    assert!(!old.path.exists());
    assert_eq!(rig.judge(&rig.spec("p")).await.as_str(), "Valid");
}

#[tokio::test]
async fn what_was_not_used_for_long_goes_if_that_is_asked_for() {
    let rig = Rig::new();
    rig.prepare().await;
    age(&rig, 20 * DAY);
    let gc = |days: Option<u32>| {
        let older_than = days.map(|days| days * DAY);
        rig.store()
            .gc(&GcOptions {
                older_than,
                dry_run: false,
            })
            .expect("it runs")
    };
    for days in [None, Some(30)] {
        assert_eq!(gc(days).kept, 1, "{days:?}");
    }
    // A load is a use.
    rig.prepare().await;
    assert_eq!(gc(Some(10)).kept, 1);
    age(&rig, 20 * DAY);
    let report = gc(Some(10));
    assert_eq!(
        (report.kept, report.removed[0].why),
        (0, "it was not used for longer")
    );
    assert_eq!(rig.stored(), Vec::<std::path::PathBuf>::new());
    let entries = std::fs::read_dir(rig.options.store.join("entries")).expect("records");
    assert_eq!(entries.count(), 0, "a record of nothing says nothing");
    assert_eq!(rig.judge(&rig.spec("p")).await.as_str(), "Missing");
}

#[tokio::test]
async fn what_is_being_built_stays() {
    let rig = Rig::new();
    let path = rig.prepare().await.path;
    allow_writing(&path);
    std::fs::remove_file(path.join(MARK)).expect("a mark");
    // As a builder in another process holds it.
    let lock = std::fs::File::create(path.with_extension("lock")).expect("a lock");
    lock.lock().expect("free");
    let report = rig.store().gc(&GcOptions::default()).expect("it runs");
    let key = path
        .file_name()
        .expect("a name")
        .to_string_lossy()
        .into_owned();
    assert_eq!(report.in_use, [key]);
    let listed = rig
        .store()
        .list(&rig.options.search_path)
        .await
        .expect("a list");
    assert_eq!((listed[0].verdict, listed[0].in_use), ("Missing", true));
    drop(lock);
    assert_eq!(
        rig.store()
            .gc(&GcOptions::default())
            .expect("it runs")
            .removed
            .len(),
        1
    );
    assert!(!path.exists());
}
