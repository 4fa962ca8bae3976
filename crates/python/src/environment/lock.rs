//! [`KeyLock`]: at most one builder of an environment. [`UseLock`]: nobody removes what is in use. Both
//! hold in this process and in all others.

use std::fs::{File, TryLockError};
use std::io;
use std::sync::Arc;

use cap_std::fs::{Dir, MetadataExt as _, OpenOptions};
use rustix::io::{FdFlags, fcntl_setfd};

/// Where the locks of users are.
const USES: &str = "use";

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
        let taken = tokio::task::spawn_blocking(move || {
            let file = locked(&store, &name, |file| file.lock().map(|()| true))?;
            let file = file.ok_or(io::ErrorKind::WouldBlock)?;
            fcntl_setfd(&file, FdFlags::empty())?;
            Ok(Self { store, name, file })
        });
        taken.await.map_err(io::Error::other)?
    }

    /// The lock, if nobody builds now.
    pub(super) fn try_take(store: &Dir, key: &str) -> io::Result<Option<Self>> {
        let store = Arc::new(store.try_clone()?);
        let name = format!("{key}.lock");
        let file = locked(&store, &name, |file| tried(file.try_lock()))?;
        Ok(file.map(|file| Self { store, name, file }))
    }
}

impl Drop for KeyLock {
    fn drop(&mut self) {
        // Unlinked while still held: whoever waits sees that the name has gone and takes a new one.
        let _ = self.store.remove_file(&self.name);
        let _ = self.file.unlock();
    }
}

/// Held for as long as an environment is used; any number of users may hold it.
#[derive(Debug)]
pub(crate) struct UseLock {
    file: File,
}

impl UseLock {
    /// Waits until nobody is removing the environment.
    pub(super) async fn share(store: &Dir, key: &str) -> io::Result<Self> {
        let (dir, key) = (uses(store)?, key.to_owned());
        let taken = tokio::task::spawn_blocking(move || {
            locked(&dir, &key, |file| file.lock_shared().map(|()| true))
        });
        let file = taken.await.map_err(io::Error::other)??;
        let file = file.ok_or(io::ErrorKind::WouldBlock)?;
        Ok(Self { file })
    }
}

impl Drop for UseLock {
    fn drop(&mut self) {
        // A process that is just being started holds it too, until its program runs.
        let _ = self.file.unlock();
    }
}

/// The right to remove an environment: nobody uses it, and nobody begins to.
pub(super) struct RemoveLock {
    dir: Dir,
    name: String,
    file: File,
}

impl RemoveLock {
    /// The lock, if nobody uses the environment now.
    pub(super) fn try_take(store: &Dir, key: &str) -> io::Result<Option<Self>> {
        let dir = uses(store)?;
        let file = locked(&dir, key, |file| tried(file.try_lock()))?;
        Ok(file.map(|file| Self {
            dir,
            name: key.to_owned(),
            file,
        }))
    }
}

impl Drop for RemoveLock {
    fn drop(&mut self) {
        // As for a builder's lock; whoever waits takes a new one.
        let _ = self.dir.remove_file(&self.name);
        let _ = self.file.unlock();
    }
}

fn uses(store: &Dir) -> io::Result<Dir> {
    super::record::folder(store, USES)
}

fn tried(locked: Result<(), TryLockError>) -> io::Result<bool> {
    match locked {
        Ok(()) => Ok(true),
        Err(TryLockError::WouldBlock) => Ok(false),
        Err(TryLockError::Error(error)) => Err(error),
    }
}

/// The file of this name with the lock that `lock` takes; none if it takes none.
fn locked(
    dir: &Dir,
    name: &str,
    lock: impl Fn(&File) -> io::Result<bool>,
) -> io::Result<Option<File>> {
    loop {
        let file = dir
            .open_with(name, OpenOptions::new().create(true).write(true))?
            .into_std();
        if !lock(&file)? {
            return Ok(None);
        }
        // The one who held it may have unlinked it meanwhile; then this lock guards nothing.
        let mine = cap_std::fs::File::from_std(file.try_clone()?).metadata()?;
        match dir.metadata(name) {
            Ok(there) if (there.dev(), there.ino()) == (mine.dev(), mine.ino()) => {
                return Ok(Some(file));
            }
            Ok(_) => {}
            Err(error) if error.kind() == io::ErrorKind::NotFound => {}
            Err(error) => return Err(error),
        }
    }
}

#[cfg(all(test, target_os = "linux"))]
mod tests {
    use std::process::Command;

    use cap_std::ambient_authority;

    use super::*;

    fn store() -> (tempfile::TempDir, Dir) {
        let folder = tempfile::tempdir().expect("a folder");
        let store = Dir::open_ambient_dir(folder.path(), ambient_authority()).expect("a store");
        (folder, store)
    }

    #[tokio::test]
    async fn a_child_holds_the_lock_until_it_is_let_go() {
        let (folder, store) = store();
        let lock = KeyLock::take(&store, "key").await.expect("a lock");
        let listed = Command::new("ls").args(["-l", "/proc/self/fd"]).output();
        let listed = String::from_utf8(listed.expect("ls runs").stdout).expect("text");
        assert!(listed.contains("key.lock"), "{listed}");
        // What another process would find.
        let other = File::open(folder.path().join("key.lock")).expect("the lock's file");
        assert!(other.try_lock().is_err());
        assert!(KeyLock::try_take(&store, "key").expect("a try").is_none());

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

    #[tokio::test]
    async fn users_share_and_nobody_removes_what_they_use() {
        let (_folder, store) = store();
        let one = UseLock::share(&store, "key").await.expect("a lock");
        let two = UseLock::share(&store, "key").await.expect("a lock");
        let free = || RemoveLock::try_take(&store, "key").expect("a try");
        assert!(free().is_none());
        drop(one);
        assert!(free().is_none());
        let listed = Command::new("ls").args(["-l", "/proc/self/fd"]).output();
        let listed = String::from_utf8(listed.expect("ls runs").stdout).expect("text");
        assert!(!listed.contains("use/key"), "{listed}");
        drop(two);
        let removing = free().expect("nobody uses it");
        assert!(free().is_none());
        drop(removing);
        UseLock::share(&store, "key").await.expect("a new lock");
    }
}
