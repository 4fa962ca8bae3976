//! The store's folder: ours alone, and nobody else can put another one in its place.

use std::fs::{DirBuilder, File, Metadata};
use std::os::unix::fs::{DirBuilderExt as _, MetadataExt as _};
use std::path::{Path, PathBuf};

use cap_std::fs::Dir;
use rustix::fs::{Mode, OFlags};
use rustix::process::geteuid;

use super::error::EnvironmentError;

/// What is made is for this user alone.
const FOLDER_MODE: u32 = 0o700;
/// The bits that let group or others write.
const OTHERS_WRITE: u32 = 0o022;
/// Of a folder others may write to: they may not touch what is not theirs.
const STICKY: u32 = 0o1000;
/// May replace anything anyway.
const ROOT: u32 = 0;

/// Opens the folder, and makes it if nothing is there. Gives the path without links.
pub(super) fn open(path: &Path) -> Result<(PathBuf, Dir), EnvironmentError> {
    let store = |source| EnvironmentError::Store {
        path: path.to_owned(),
        source,
    };
    DirBuilder::new()
        .recursive(true)
        .mode(FOLDER_MODE)
        .create(path)
        .map_err(store)?;
    // Environments are run by their path, so that what leads there counts too. A link is followed here
    // once; what it led to is what is looked at and used.
    let path = std::fs::canonicalize(path).map_err(store)?;
    let us = geteuid().as_raw();
    for parent in path.ancestors().skip(1) {
        judge_parent(
            parent,
            &std::fs::symlink_metadata(parent).map_err(store)?,
            us,
        )?;
    }
    let flags = OFlags::RDONLY | OFlags::DIRECTORY | OFlags::NOFOLLOW | OFlags::CLOEXEC;
    let folder =
        rustix::fs::open(&path, flags, Mode::empty()).map_err(|error| store(error.into()))?;
    let folder = File::from(folder);
    judge(&path, &folder.metadata().map_err(store)?, us)?;
    Ok((path, Dir::from_std_file(folder)))
}

fn judge(path: &Path, folder: &Metadata, us: u32) -> Result<(), EnvironmentError> {
    let path = path.to_owned();
    if folder.uid() != us {
        let owner = folder.uid();
        return Err(EnvironmentError::ForeignStore { path, owner });
    }
    if folder.mode() & OTHERS_WRITE != 0 {
        let mode = folder.mode() & 0o7777;
        return Err(EnvironmentError::OpenStore { path, mode });
    }
    Ok(())
}

fn judge_parent(path: &Path, folder: &Metadata, us: u32) -> Result<(), EnvironmentError> {
    let path = path.to_owned();
    if ![us, ROOT].contains(&folder.uid()) {
        let owner = folder.uid();
        return Err(EnvironmentError::ForeignParent { path, owner });
    }
    if folder.mode() & OTHERS_WRITE != 0 && folder.mode() & STICKY == 0 {
        let mode = folder.mode() & 0o7777;
        return Err(EnvironmentError::OpenParent { path, mode });
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use std::os::unix::fs::PermissionsExt as _;

    use super::*;

    fn metadata(mode: u32) -> (tempfile::TempDir, Metadata) {
        let folder = tempfile::tempdir().expect("a folder");
        let permissions = std::fs::Permissions::from_mode(mode);
        std::fs::set_permissions(folder.path(), permissions).expect("its mode");
        let found = std::fs::metadata(folder.path()).expect("its metadata");
        (folder, found)
    }

    /// Whoever runs the tests: for another user, other than root, these are somebody else's.
    #[test]
    fn what_belongs_to_another_user_is_refused() {
        let (folder, found) = metadata(0o700);
        let (path, us) = (folder.path(), geteuid().as_raw());
        assert!(judge(path, &found, us).is_ok() && judge_parent(path, &found, us).is_ok());
        let refused = judge(path, &found, us + 1);
        assert!(
            matches!(refused, Err(EnvironmentError::ForeignStore { owner, .. }) if owner == us)
        );
        // What belongs to root leads to the store of any user.
        let refused = judge_parent(path, &found, us + 1);
        let foreign =
            matches!(refused, Err(EnvironmentError::ForeignParent { owner, .. }) if owner == us);
        assert_eq!(foreign, us != ROOT);
    }

    #[test]
    fn what_others_may_write_to_is_refused_unless_they_cannot_replace_what_is_ours() {
        let us = geteuid().as_raw();
        // Mode, whether a store, whether above one.
        let cases = [
            (0o700, true, true),
            (0o755, true, true),
            (0o770, false, false),
            (0o702, false, false),
            (0o1777, false, true),
        ];
        for (mode, as_store, above) in cases {
            let (folder, found) = metadata(mode);
            let refused = judge(folder.path(), &found, us);
            assert_eq!(refused.is_ok(), as_store, "{mode:o}");
            let refused = judge_parent(folder.path(), &found, us);
            assert_eq!(refused.is_ok(), above, "{mode:o}");
        }
    }
}
