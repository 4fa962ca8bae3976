//! Ways out of a granted folder, and changes in one that was granted to be read.

use std::path::{Path, PathBuf};

use hookgate_core::RefusalCode;
use hookgate_core::config::{Access, FileGrant};
use serde_json::{Value, json};

use crate::table::{Bench, Ends, PATIENT, judge, suspect};
use hookgate_vectors::guests;

/// A folder with a secret beside the folder that is granted; both go when this is dropped.
pub struct Folder(PathBuf);

const SECRET: &str = "not for plugins";

impl Folder {
    pub fn new(name: &str) -> Self {
        let root = Path::new(env!("CARGO_TARGET_TMPDIR"))
            .join(format!("escape-{name}-{}", std::process::id()));
        let folder = Self(root);
        let inside = folder.inside();
        std::fs::create_dir_all(inside.join("sub")).expect("a folder for the test");
        std::fs::write(inside.join("note"), "granted").expect("a file for the test");
        std::fs::write(folder.secret(), SECRET).expect("a file for the test");
        folder
    }

    /// What is granted.
    pub fn inside(&self) -> PathBuf {
        self.0.join("inside")
    }

    fn secret(&self) -> PathBuf {
        self.0.join("secret")
    }

    /// The names in the granted folder, and its parent, in order.
    fn names(&self) -> Vec<String> {
        let name = |entry: std::io::Result<std::fs::DirEntry>| {
            entry
                .expect("an entry")
                .file_name()
                .to_string_lossy()
                .into_owned()
        };
        let read = |folder: PathBuf| std::fs::read_dir(folder).expect("a folder").map(name);
        let mut names: Vec<_> = read(self.inside()).chain(read(self.0.clone())).collect();
        names.sort();
        names
    }
}

impl Drop for Folder {
    fn drop(&mut self) {
        drop(std::fs::remove_dir_all(&self.0));
    }
}

/// What is tried, with which arguments, and how often the host says no on the way.
type Attempt = (&'static str, Value);

async fn attempts(name: &str, access: Access, attempts: impl IntoIterator<Item = Attempt>) {
    let folder = Folder::new(name);
    std::os::unix::fs::symlink(folder.secret(), folder.inside().join("absolute")).expect("a link");
    std::os::unix::fs::symlink("../secret", folder.inside().join("relative")).expect("a link");
    std::os::unix::fs::symlink("..", folder.inside().join("up")).expect("a link");
    let before = folder.names();
    let mut spec = suspect(guests::component("hostile"), PATIENT);
    spec.permissions.files = vec![FileGrant {
        host: folder.inside(),
        guest: "/data".into(),
        access,
    }];
    let bench = Bench::new(spec).await;
    for (word, more) in attempts {
        let what = format!("{word} {more}");
        let outcome = bench.word(word, &more).await;
        judge(
            &what,
            Ends::Refused("file", RefusalCode::NotGranted, 1),
            &outcome,
            &bench.kept,
        );
        let marks = serde_json::to_value(&outcome.effects.metadata).expect("marks are JSON");
        let keys: Vec<_> = marks
            .as_object()
            .into_iter()
            .flatten()
            .map(|(key, _)| key)
            .collect();
        assert_eq!(keys, ["error"], "{what}: {marks}");
        assert!(!marks.to_string().contains(SECRET), "{what}: {marks}");
        assert_eq!(folder.names(), before, "{what}");
        let secret = std::fs::read_to_string(folder.secret()).expect("it is still there");
        assert_eq!(secret, SECRET, "{what}");
        let note = std::fs::read_to_string(folder.inside().join("note")).expect("still there");
        assert_eq!(note, "granted", "{what}");
        bench.neighbour_answers(&what).await;
        let read = bench
            .word("read-file", &json!({ "path": "/data/note" }))
            .await;
        assert_eq!(
            read.effects.metadata["content"].to_value(),
            json!("granted"),
            "after {what}"
        );
    }
    bench.engine.shutdown().await;
}

#[tokio::test(flavor = "multi_thread")]
async fn out_of_a_folder_granted_for_writing() {
    let path = |path: &str| json!({ "path": path });
    let two = |path: &str, to: &str| json!({ "path": path, "to": to });
    attempts(
        "out",
        Access::ReadWrite,
        [
            ("read-file", path("/data/../secret")),
            ("read-file", path("/data/sub/../../secret")),
            ("write-file", path("/data/../secret")),
            ("write-file", path("/data/../new")),
            ("remove", path("/data/../secret")),
            ("make-folder", path("/data/../new")),
            ("list", path("/data/..")),
            ("open-raw", path("../secret")),
            ("open-raw", path("/etc/hostname")),
            ("open-raw", path("sub/../../secret")),
            ("read-file", path("/data/absolute")),
            ("read-file", path("/data/relative")),
            ("read-file", path("/data/up/secret")),
            ("write-file", path("/data/absolute")),
            ("write-file", path("/data/relative")),
            ("hard-link", two("/data/../secret", "/data/mine")),
            ("hard-link", two("/data/note", "/data/../mine")),
            ("rename", two("/data/../secret", "/data/mine")),
            ("rename", two("/data/note", "/data/../mine")),
            ("symlink", two("/etc/hostname", "/data/mine")),
            ("symlink", two("note", "/data/../mine")),
        ],
    )
    .await;
}

#[tokio::test(flavor = "multi_thread")]
async fn changes_in_a_folder_granted_for_reading() {
    let path = |path: &str| json!({ "path": path });
    let two = |path: &str, to: &str| json!({ "path": path, "to": to });
    attempts(
        "read-only",
        Access::Read,
        [
            ("write-file", path("/data/note")),
            ("write-file", path("/data/new")),
            ("remove", path("/data/note")),
            ("make-folder", path("/data/new")),
            ("rename", two("/data/note", "/data/new")),
            ("hard-link", two("/data/note", "/data/new")),
            ("symlink", two("note", "/data/new")),
        ],
    )
    .await;
}

/// Without a grant there is no folder to start from: the guest's own libc finds none, and the host is not asked.
#[tokio::test(flavor = "multi_thread")]
async fn without_a_grant() {
    let bench = Bench::new(suspect(guests::component("hostile"), PATIENT)).await;
    for path in ["/etc/hostname", "/data/note", "../secret", "."] {
        for word in ["read-file", "write-file", "list", "open-raw"] {
            let what = format!("{word} {path}");
            let outcome = bench.word(word, &json!({ "path": path })).await;
            assert!(outcome.faults.is_empty(), "{what}: {:?}", outcome.faults);
            assert!(
                outcome.effects.metadata.contains_key("error"),
                "{what}: {outcome:?}"
            );
            assert_eq!(bench.kept.refused(), [], "{what}");
        }
    }
    bench.neighbour_answers("no grant").await;
}
