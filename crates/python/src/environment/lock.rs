//! [`KeyLock`]: at most one builder of an environment, in this process and in all others.

use std::fs::File;
use std::io;
use std::sync::Arc;

use cap_std::fs::{Dir, MetadataExt as _, OpenOptions};
use rustix::io::{FdFlags, fcntl_setfd};

/// An advisory lock on `<key>.lock`, let go and unlinked on drop.
///
/// Processes started meanwhile inherit it. An installer whose host was killed goes on writing, and
/// holds the lock for as long as it does. On drop the lock is let go for all of them.
pub(super) struct KeyLock {
    store: Arc<Dir>,
    name: String,
    file: File,
}

impl KeyLock {
    /// Waits until the lock is ours.
    pub(super) async fn take(store: &Dir, key: &str) -> io::Result<Self> {
        let store = Arc::new(store.try_clone()?);
        let name = format!("{key}.lock");
        // Waiting for another process blocks a thread; it may take as long as a build.
        tokio::task::spawn_blocking(move || Self::take_blocking(store, name))
            .await
            .map_err(io::Error::other)?
    }

    fn take_blocking(store: Arc<Dir>, name: String) -> io::Result<Self> {
        loop {
            let file = store
                .open_with(&name, OpenOptions::new().create(true).write(true))?
                .into_std();
            file.lock()?;
            // The one who held it may have unlinked it meanwhile; then this lock guards nothing.
            let mine = cap_std::fs::File::from_std(file.try_clone()?).metadata()?;
            match store.metadata(&name) {
                Ok(there) if (there.dev(), there.ino()) == (mine.dev(), mine.ino()) => {
                    fcntl_setfd(&file, FdFlags::empty())?;
                    return Ok(Self { store, name, file });
                }
                Ok(_) => {}
                Err(error) if error.kind() == io::ErrorKind::NotFound => {}
                Err(error) => return Err(error),
            }
        }
    }
}

impl Drop for KeyLock {
    fn drop(&mut self) {
        // Unlinked while still held: whoever waits sees that the name has gone and takes a new one.
        let _ = self.store.remove_file(&self.name);
        let _ = self.file.unlock();
    }
}

#[cfg(all(test, target_os = "linux"))]
mod tests {
    use std::process::Command;

    use cap_std::ambient_authority;

    use super::*;

    #[tokio::test]
    async fn a_child_holds_the_lock_until_it_is_let_go() {
        let folder = tempfile::tempdir().expect("a folder");
        let store = Dir::open_ambient_dir(folder.path(), ambient_authority()).expect("a store");
        let lock = KeyLock::take(&store, "key").await.expect("a lock");
        let listed = Command::new("ls").args(["-l", "/proc/self/fd"]).output();
        let listed = String::from_utf8(listed.expect("ls runs").stdout).expect("text");
        assert!(listed.contains("key.lock"), "{listed}");
        // What another process would find.
        let other = File::open(folder.path().join("key.lock")).expect("the lock's file");
        assert!(other.try_lock().is_err());

        let child = Command::new("cat")
            .stdin(std::process::Stdio::piped())
            .spawn();
        let mut child = child.expect("a child");
        drop(lock);
        other
            .try_lock()
            .expect("free, though the child still has it open");
        drop(child.stdin.take());
        child.wait().expect("its end");
    }
}
