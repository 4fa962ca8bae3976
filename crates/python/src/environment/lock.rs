//! [`KeyLock`]: at most one builder of an environment, in this process and in all others.

use std::fs::File;
use std::io;
use std::sync::Arc;

use cap_std::fs::{Dir, MetadataExt as _, OpenOptions};

/// An advisory lock on `<key>.lock`, let go and unlinked on drop.
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
