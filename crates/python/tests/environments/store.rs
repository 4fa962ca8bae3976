//! The store is ours alone, and what is complete in it does not change.

use std::os::unix::fs::{MetadataExt as _, PermissionsExt as _};
use std::path::Path;

use super::rig::{Rig, packages};

fn set_mode(path: &Path, mode: u32) {
    std::fs::set_permissions(path, std::fs::Permissions::from_mode(mode)).expect("its mode");
}

#[tokio::test]
async fn the_store_is_made_for_this_user_alone() {
    let mut rig = Rig::new();
    rig.options.store = rig.path().join("more/store");
    rig.prepare().await;
    for folder in ["more", "more/store", "more/store/entries", "more/store/use"] {
        let mode = std::fs::metadata(rig.path().join(folder))
            .expect("a folder")
            .mode();
        assert_eq!(mode & 0o777, 0o700, "{folder}");
    }
}

#[tokio::test]
async fn a_store_that_others_may_write_to_is_refused() {
    let rig = Rig::new();
    let store = &rig.options.store;
    std::fs::create_dir(store).expect("a folder");
    for mode in [0o777, 0o770, 0o702] {
        set_mode(store, mode);
        let error = rig.refused(&rig.spec("p")).await;
        let message = format!(
            "others may write to the environment store: {}: mode {mode:04o}",
            store.display()
        );
        assert_eq!(error.message, message);
        let hint = format!(
            "run `chmod go-w {}`, or set HOOKGATE_ENV_DIR to a private folder",
            store.display()
        );
        assert_eq!(error.hint, Some(hint));
        assert_eq!(std::fs::read_dir(store).expect("the store").count(), 0);
    }
}

#[tokio::test]
async fn a_store_that_others_may_replace_is_refused() {
    let mut rig = Rig::new();
    let above = rig.path().join("shared");
    std::fs::create_dir(&above).expect("a folder");
    rig.options.store = above.join("inner/store");
    set_mode(&above, 0o777);
    let error = rig.refused(&rig.spec("p")).await;
    let message = format!(
        "others may replace the environment store: they may write to {}: mode 0777",
        above.display()
    );
    assert_eq!(error.message, message);
    // A link does not hide what it leads through.
    let link = rig.path().join("link");
    std::os::unix::fs::symlink(&rig.options.store, &link).expect("a link");
    rig.options.store = link;
    assert_eq!(rig.refused(&rig.spec("p")).await.message, message);
    // As in the folder for temporary files: others may add to it, and not touch what is ours.
    set_mode(&above, 0o1777);
    rig.prepare().await;
}

#[tokio::test]
async fn what_is_complete_is_read_only_and_shares_no_file() {
    let rig = Rig::new();
    let path = rig.prepare().await.path;
    let (mut files, mut waiting) = (0, vec![path.clone()]);
    while let Some(path) = waiting.pop() {
        let found = std::fs::symlink_metadata(&path).expect("it is there");
        if found.is_symlink() {
            continue;
        }
        assert_eq!(
            found.mode() & 0o222,
            0,
            "{}: {:o}",
            path.display(),
            found.mode()
        );
        if found.is_dir() {
            let entries = std::fs::read_dir(&path).expect("a folder");
            waiting.extend(entries.map(|entry| entry.expect("an entry").path()));
        } else {
            assert_eq!(found.nlink(), 1, "{}", path.display());
            files += 1;
        }
    }
    assert!(files > 5, "{files} files");
    assert!(
        packages(&path).join("cpex/__pycache__").is_dir(),
        "it has bytecode"
    );
}
