//! The files of an environment: made read-only when it is complete, and removed all the same.

use std::io;

use cap_std::fs::{Dir, MetadataExt as _, PermissionsExt as _};
use rustix::fd::OwnedFd;
use rustix::fs::{AtFlags, Mode, OFlags, chmodat, openat};

use super::mark;

const WRITE: u32 = 0o222;
/// What a folder must allow us before something in it can be removed.
const OURS: u32 = 0o700;

/// Takes the right to write from everything in the folder, not from the folder itself.
pub(super) fn make_read_only(dir: &Dir) -> io::Result<()> {
    each(dir, &mut |parent, name, mode, is_dir| {
        if is_dir {
            make_read_only(&parent.open_dir(name)?)?;
        }
        chmod(parent, name, mode & !WRITE)
    })
}

/// Takes the right to write from one folder or file.
pub(super) fn make_one_read_only(parent: &Dir, name: &str) -> io::Result<()> {
    let mode = parent.symlink_metadata(name)?.permissions().mode();
    chmod(parent, name, mode & !WRITE)
}

/// Removes an environment, complete or not. What says that it is complete goes first, so that what an
/// interruption leaves counts as nothing.
pub(super) fn remove(store: &Dir, key: &str) -> io::Result<()> {
    match store.symlink_metadata(key) {
        Err(error) if error.kind() == io::ErrorKind::NotFound => return Ok(()),
        Err(error) => return Err(error),
        Ok(found) if !found.is_dir() => return store.remove_file(key),
        Ok(_) => {}
    }
    chmod(store, key, OURS)?;
    let dir = store.open_dir(key)?;
    match dir.remove_file(mark::NAME) {
        Err(error) if error.kind() != io::ErrorKind::NotFound => return Err(error),
        _ => {}
    }
    make_removable(&dir)?;
    store.remove_dir_all(key)
}

fn make_removable(dir: &Dir) -> io::Result<()> {
    each(dir, &mut |parent, name, _, is_dir| {
        if !is_dir {
            return Ok(());
        }
        chmod(parent, name, OURS)?;
        make_removable(&parent.open_dir(name)?)
    })
}

/// What the files of a folder hold, in bytes.
pub(super) fn size(dir: &Dir) -> io::Result<u64> {
    let mut bytes = 0;
    for entry in dir.entries()? {
        let entry = entry?;
        let found = entry.metadata()?;
        if found.is_dir() {
            bytes += size(&entry.open_dir()?)?;
        } else {
            bytes += found.size();
        }
    }
    Ok(bytes)
}

/// What is told of one entry: its folder, name, mode, and whether it is a folder.
type Visit<'a> = &'a mut dyn FnMut(&Dir, &std::ffi::OsStr, u32, bool) -> io::Result<()>;

/// Every entry but links, whose targets are not ours to change.
fn each(dir: &Dir, visit: Visit<'_>) -> io::Result<()> {
    for entry in dir.entries()? {
        let entry = entry?;
        let found = entry.metadata()?;
        if !found.is_symlink() {
            let mode = found.permissions().mode();
            visit(dir, &entry.file_name(), mode, found.is_dir())?;
        }
    }
    Ok(())
}

fn chmod(parent: &Dir, name: impl AsRef<std::path::Path>, mode: u32) -> io::Result<()> {
    let mode = Mode::from_raw_mode(mode & 0o7777);
    chmodat(parent, name.as_ref(), mode, AtFlags::empty())?;
    Ok(())
}

/// Waits until everything written to the disk of this folder is there.
pub(super) fn sync(dir: &Dir) -> io::Result<()> {
    #[cfg(target_os = "linux")]
    rustix::fs::syncfs(readable(dir)?)?;
    #[cfg(not(target_os = "linux"))]
    {
        let _ = dir;
        rustix::fs::sync();
    }
    Ok(())
}

/// Waits until the names in this folder are on the disk.
pub(super) fn sync_names(dir: &Dir) -> io::Result<()> {
    rustix::fs::fsync(readable(dir)?)?;
    Ok(())
}

/// The same folder by a descriptor that can be asked for more than what is in it, as those of folders that
/// were opened through another cannot.
fn readable(dir: &Dir) -> io::Result<OwnedFd> {
    let flags = OFlags::RDONLY | OFlags::DIRECTORY | OFlags::CLOEXEC;
    Ok(openat(dir, ".", flags, Mode::empty())?)
}
