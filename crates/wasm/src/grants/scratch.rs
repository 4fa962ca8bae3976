//! Scratch folders: one for an instance, empty for each call, never larger than granted, gone afterwards.

use std::fs::{self, File};
use std::io;
use std::path::Path;
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Arc, Mutex, PoisonError, Weak};

use bytes::Bytes;
use hookgate_core::RefusalCode;
use tempfile::TempDir;
use wasmtime_wasi::async_trait;
use wasmtime_wasi::p2::{DynOutputStream, OutputStream, Pollable, StreamError, StreamResult};

use super::reach::{Reach, SCRATCH};
use crate::limits::{MAX_INLINE_REMOVALS, SCRATCH_ENTRY_BYTES};

/// How folders of this host are called, so that what a killed process left is recognised.
const PREFIX: &str = "hookgate-scratch-";
/// The file in a root that its process keeps locked.
const LOCK: &str = "lock";

/// The folder scratch folders of one host are made in; private, removed when nobody uses it any more.
#[derive(Debug)]
pub(crate) struct ScratchRoot {
    folder: TempDir,
    /// Locked for as long as this process lives.
    _lock: File,
}

impl ScratchRoot {
    /// The root in `shared`, or a new one. Roots that killed processes left behind are removed then.
    pub(super) fn get(shared: &Mutex<Weak<Self>>) -> io::Result<Arc<Self>> {
        let mut shared = shared.lock().unwrap_or_else(PoisonError::into_inner);
        if let Some(root) = shared.upgrade() {
            return Ok(root);
        }
        let folder = tempfile::Builder::new().prefix(PREFIX).tempdir()?;
        // Locked before it has its name: another process that sweeps never finds it free.
        let unnamed = folder.path().join("lock.new");
        let lock = File::create(&unnamed)?;
        lock.lock()?;
        fs::rename(unnamed, folder.path().join(LOCK))?;
        let root = Arc::new(Self {
            folder,
            _lock: lock,
        });
        root.sweep();
        *shared = Arc::downgrade(&root);
        Ok(root)
    }

    /// Removes the roots of processes that are gone: those of the same user whose lock is free.
    fn sweep(&self) {
        let own = self.folder.path();
        let siblings = own.parent().and_then(|parent| fs::read_dir(parent).ok());
        for sibling in siblings.into_iter().flatten().flatten() {
            let path = sibling.path();
            let is_root = sibling.file_name().to_string_lossy().starts_with(PREFIX);
            if is_root && path != own && same_owner(own, &path) && is_left(&path) {
                // Somebody else may be as quick; what stays is tried again next time.
                let _ = fs::remove_dir_all(&path);
            }
        }
    }
}

/// A folder, no link to one, of the user this process runs as.
#[cfg(unix)]
fn same_owner(own: &Path, other: &Path) -> bool {
    use std::os::unix::fs::MetadataExt as _;
    let owner = |path| fs::symlink_metadata(path).ok().filter(fs::Metadata::is_dir);
    let (own, other) = (owner(own), owner(other));
    own.zip(other)
        .is_some_and(|(own, other)| own.uid() == other.uid())
}

#[cfg(not(unix))]
fn same_owner(_: &Path, other: &Path) -> bool {
    fs::symlink_metadata(other).is_ok_and(|found| found.is_dir())
}

/// Whether no process holds the root. One that has no lock yet is being made.
fn is_left(root: &Path) -> bool {
    File::open(root.join(LOCK)).is_ok_and(|lock| lock.try_lock().is_ok())
}

/// The scratch folder of one instance.
pub(crate) struct Scratch {
    /// None once it is on its way to be removed.
    folder: Option<TempDir>,
    budget: Arc<Budget>,
    _root: Arc<ScratchRoot>,
}

impl Scratch {
    pub(super) fn new(root: &Arc<ScratchRoot>, bytes: u64) -> io::Result<Self> {
        let folder = tempfile::Builder::new()
            .prefix("call-")
            .tempdir_in(root.folder.path())?;
        Ok(Self {
            folder: Some(folder),
            budget: Arc::new(Budget::new(bytes)),
            _root: Arc::clone(root),
        })
    }

    pub(super) fn path(&self) -> &Path {
        self.folder.as_ref().map_or(Path::new(""), TempDir::path)
    }

    pub(super) fn budget(&self) -> &Arc<Budget> {
        &self.budget
    }

    /// Empties the folder for the next call. `held`: the guest kept something open in it, so what that
    /// takes is still spent.
    pub(super) fn empty(&mut self, held: bool) -> io::Result<()> {
        if self.budget.is_untouched() {
            return Ok(());
        }
        for entry in fs::read_dir(self.path())? {
            let entry = entry?;
            if entry.file_type()?.is_dir() {
                fs::remove_dir_all(entry.path())?;
            } else {
                fs::remove_file(entry.path())?;
            }
        }
        // A stream that still writes holds the budget too.
        if !held && Arc::strong_count(&self.budget) == 1 {
            self.budget = Arc::new(Budget::new(self.budget.bytes));
        }
        Ok(())
    }
}

impl Drop for Scratch {
    fn drop(&mut self) {
        let Some(folder) = self.folder.take() else {
            return;
        };
        // A few entries go at once; many would keep the calls of this thread waiting. If the pool ends
        // before it gets there, the folder goes with the closure that holds it.
        let few = self.budget.entries() <= MAX_INLINE_REMOVALS;
        match tokio::runtime::Handle::try_current() {
            Ok(runtime) if !few => drop(runtime.spawn_blocking(move || drop(folder))),
            _ => drop(folder),
        }
    }
}

/// What a scratch folder may still grow by. What is removed from it is not given back: a removed file may
/// still be open, and the folder lives for one call.
#[derive(Debug)]
pub(crate) struct Budget {
    bytes: u64,
    left: AtomicU64,
    entries: AtomicU64,
}

impl Budget {
    fn new(bytes: u64) -> Self {
        Self {
            bytes,
            left: AtomicU64::new(bytes),
            entries: AtomicU64::new(0),
        }
    }

    /// Takes so many bytes, or none and says no.
    pub(super) fn spend(&self, bytes: u64) -> bool {
        let spend = |left: u64| left.checked_sub(bytes);
        let order = Ordering::AcqRel;
        self.left
            .fetch_update(order, Ordering::Acquire, spend)
            .is_ok()
    }

    /// Takes what a new file, folder or link costs.
    pub(super) fn spend_entry(&self) -> bool {
        let spent = self.spend(SCRATCH_ENTRY_BYTES);
        if spent {
            self.entries.fetch_add(1, Ordering::AcqRel);
        }
        spent
    }

    /// Gives back what an entry that was not made would have cost.
    pub(super) fn return_entry(&self) {
        self.left.fetch_add(SCRATCH_ENTRY_BYTES, Ordering::AcqRel);
        self.entries.fetch_sub(1, Ordering::AcqRel);
    }

    fn entries(&self) -> u64 {
        self.entries.load(Ordering::Acquire)
    }

    fn is_untouched(&self) -> bool {
        self.left.load(Ordering::Acquire) == self.bytes
    }
}

/// How far a write of `len` bytes at `offset` would make a file grow; none of an offset: at its end.
pub(super) fn growth(file: &File, offset: Option<u64>, len: u64) -> io::Result<u64> {
    Ok(match offset {
        Some(offset) => offset
            .saturating_add(len)
            .saturating_sub(file.metadata()?.len()),
        None => len,
    })
}

/// What a guest is told when its folder is full.
pub(super) fn full() -> io::Error {
    rustix::io::Errno::NOSPC.into()
}

/// A stream into a file of the scratch folder, which takes what it writes from the budget.
pub(super) struct MeteredStream {
    pub(super) stream: DynOutputStream,
    pub(super) file: Arc<File>,
    /// Where it writes next; none at the end.
    pub(super) offset: Option<u64>,
    pub(super) budget: Arc<Budget>,
    pub(super) reach: Arc<Reach>,
}

#[async_trait]
impl Pollable for MeteredStream {
    async fn ready(&mut self) {
        self.stream.ready().await;
    }
}

#[async_trait]
impl OutputStream for MeteredStream {
    fn write(&mut self, bytes: Bytes) -> StreamResult<()> {
        let len = bytes.len() as u64;
        let failed = |error: io::Error| StreamError::LastOperationFailed(error.into());
        let growth = growth(&self.file, self.offset, len).map_err(failed)?;
        if !self.budget.spend(growth) {
            self.reach.refuse(SCRATCH, RefusalCode::TooLarge);
            return Err(failed(full()));
        }
        self.stream.write(bytes)?;
        self.offset = self.offset.map(|offset| offset.saturating_add(len));
        Ok(())
    }

    fn flush(&mut self) -> StreamResult<()> {
        self.stream.flush()
    }

    fn check_write(&mut self) -> StreamResult<usize> {
        self.stream.check_write()
    }

    async fn cancel(&mut self) {
        self.stream.cancel().await;
    }
}

#[cfg(test)]
mod tests {
    use std::fs::{self, File};
    use std::sync::{Arc, Mutex, Weak};

    use super::{LOCK, PREFIX, Scratch, ScratchRoot};

    #[test]
    fn what_a_killed_process_left_is_removed_and_what_a_living_one_holds_is_not() {
        let root = || tempfile::Builder::new().prefix(PREFIX).tempdir().unwrap();
        let (left, held, unfinished) = (root(), root(), root());
        for root in [&left, &held] {
            fs::create_dir(root.path().join("call-1")).unwrap();
            File::create(root.path().join(LOCK)).unwrap();
        }
        let lock = File::open(held.path().join(LOCK)).unwrap();
        lock.lock().unwrap();
        let shared = Mutex::new(Weak::new());
        let own = ScratchRoot::get(&shared).unwrap();
        assert!(!left.path().exists());
        assert!(held.path().join("call-1").exists() && unfinished.path().exists());
        assert!(Arc::ptr_eq(&own, &ScratchRoot::get(&shared).unwrap()));
        let path = own.folder.path().to_owned();
        drop(own);
        assert!(!path.exists(), "the last user takes it along");
    }

    #[test]
    fn a_folder_goes_with_its_owner() {
        let shared = Mutex::new(Weak::new());
        let scratch = Scratch::new(&ScratchRoot::get(&shared).unwrap(), 4096).unwrap();
        let path = scratch.path().to_owned();
        fs::create_dir_all(path.join("a/b")).unwrap();
        drop(scratch);
        assert!(!path.exists());
    }
}
