//! `wasi:filesystem`: wasmtime-wasi's directory capabilities, with three things on the way: nothing is
//! changed before a call, the scratch folder stays within its size, and what is refused is counted.

use std::fs::File;
use std::sync::Arc;

use hookgate_core::RefusalCode;
use wasmtime::component::Resource;
use wasmtime_wasi::filesystem::{Descriptor, WasiFilesystemCtxView, WasiFilesystemView as _};
use wasmtime_wasi::p2::bindings::filesystem::preopens;
use wasmtime_wasi::p2::bindings::filesystem::types::{
    self, Advice, DescriptorFlags, DescriptorStat, DescriptorType, DirectoryEntry,
    DirectoryEntryStream, ErrorCode, Filesize, HostDescriptor, HostDirectoryEntryStream,
    MetadataHashValue, NewTimestamp, OpenFlags, PathFlags,
};
use wasmtime_wasi::p2::{DynInputStream, DynOutputStream, FsError, FsResult};

use super::reach::{FILE, SCRATCH};
use super::scratch::{Budget, MeteredStream, full, growth};
use crate::guest::Guest;
use hookgate_core::config::SCRATCH_GUEST_PATH;

type Fd = Resource<Descriptor>;

impl Guest {
    fn fs(&mut self) -> WasiFilesystemCtxView<'_> {
        self.filesystem()
    }

    /// Refuses a change outside of a call.
    fn may_change(&self) -> FsResult<()> {
        if self.session.reach().in_call() {
            return Ok(());
        }
        self.session.reach().refuse(FILE, RefusalCode::NotGranted);
        Err(ErrorCode::NotPermitted.into())
    }

    /// Counts what the operating system's capabilities refused.
    fn counted<T>(&self, result: FsResult<T>) -> FsResult<T> {
        if let Err(error) = &result
            && matches!(
                error.downcast_ref(),
                Some(ErrorCode::NotPermitted | ErrorCode::Access | ErrorCode::ReadOnly)
            )
        {
            self.session.reach().refuse(FILE, RefusalCode::NotGranted);
        }
        result
    }

    /// The budget a descriptor's folder or file is part of; none outside of the scratch folder.
    fn budget(&self, fd: &Fd) -> Option<Arc<Budget>> {
        self.session.scratch_budget(fd.rep())
    }

    fn spent(&self, spent: bool) -> FsResult<()> {
        if spent {
            return Ok(());
        }
        let reach = self.session.reach();
        reach.refuse(SCRATCH, RefusalCode::TooLarge);
        Err(full().into())
    }

    fn file(&self, fd: &Fd) -> FsResult<Option<Arc<File>>> {
        Ok(match self.table.get(fd)? {
            Descriptor::File(file) => Some(Arc::clone(&file.file)),
            Descriptor::Dir(_) => None,
        })
    }

    /// Takes what a write makes a scratch file grow by.
    fn spend_growth(&self, fd: &Fd, offset: Option<u64>, len: u64) -> FsResult<()> {
        if let (Some(budget), Some(file)) = (self.budget(fd), self.file(fd)?) {
            self.spent(budget.spend(growth(&file, offset, len)?))?;
        }
        Ok(())
    }

    /// Takes what a new entry of the folder costs.
    fn spend_entry(&self, fd: &Fd) -> FsResult<Option<Arc<Budget>>> {
        let budget = self.budget(fd);
        if let Some(budget) = &budget {
            self.spent(budget.spend_entry())?;
        }
        Ok(budget)
    }

    /// Ends an attempt to make an entry.
    fn made<T>(&self, budget: Option<&Budget>, result: FsResult<T>) -> FsResult<T> {
        if let (Err(_), Some(budget)) = (&result, budget) {
            budget.return_entry();
        }
        self.counted(result)
    }

    /// Folders of two grants, or of a grant and the scratch folder, are as two disks.
    fn same_disk(&self, one: &Fd, other: &Fd) -> FsResult<()> {
        if self.budget(one).is_some() == self.budget(other).is_some() {
            return Ok(());
        }
        Err(ErrorCode::CrossDevice.into())
    }

    /// A stream into a file, metered if the file is in the scratch folder.
    fn metered(
        &mut self,
        fd: &Fd,
        offset: Option<u64>,
        stream: Resource<DynOutputStream>,
    ) -> FsResult<Resource<DynOutputStream>> {
        if let (Some(budget), Some(file)) = (self.budget(fd), self.file(fd)?) {
            let reach = Arc::clone(self.session.reach());
            let inner = self.table.delete(stream)?;
            let metered: DynOutputStream = Box::new(MeteredStream {
                stream: inner,
                file,
                offset,
                budget,
                reach,
            });
            return Ok(self.table.push(metered)?);
        }
        Ok(stream)
    }
}

impl preopens::Host for Guest {
    fn get_directories(&mut self) -> wasmtime::Result<Vec<(Fd, String)>> {
        let folders = preopens::Host::get_directories(&mut self.fs())?;
        for (fd, path) in &folders {
            if path == SCRATCH_GUEST_PATH {
                self.session.scratch_root(fd.rep());
            }
        }
        Ok(folders)
    }
}

impl types::Host for Guest {
    fn convert_error_code(&mut self, error: FsError) -> wasmtime::Result<ErrorCode> {
        self.fs().convert_error_code(error)
    }

    fn filesystem_error_code(
        &mut self,
        error: Resource<wasmtime::Error>,
    ) -> wasmtime::Result<Option<ErrorCode>> {
        self.fs().filesystem_error_code(error)
    }
}

/// Each method asks first where it would change something, and hands on.
impl HostDescriptor for Guest {
    async fn advise(
        &mut self,
        fd: Fd,
        offset: Filesize,
        len: Filesize,
        advice: Advice,
    ) -> FsResult<()> {
        self.fs().advise(fd, offset, len, advice).await
    }

    async fn sync_data(&mut self, fd: Fd) -> FsResult<()> {
        self.fs().sync_data(fd).await
    }

    async fn get_flags(&mut self, fd: Fd) -> FsResult<DescriptorFlags> {
        self.fs().get_flags(fd).await
    }

    async fn get_type(&mut self, fd: Fd) -> FsResult<DescriptorType> {
        self.fs().get_type(fd).await
    }

    async fn set_size(&mut self, fd: Fd, size: Filesize) -> FsResult<()> {
        self.may_change()?;
        self.spend_growth(&fd, Some(size), 0)?;
        let result = self.fs().set_size(fd, size).await;
        self.counted(result)
    }

    async fn set_times(
        &mut self,
        fd: Fd,
        accessed: NewTimestamp,
        modified: NewTimestamp,
    ) -> FsResult<()> {
        self.may_change()?;
        let result = self.fs().set_times(fd, accessed, modified).await;
        self.counted(result)
    }

    async fn read(&mut self, fd: Fd, len: Filesize, offset: Filesize) -> FsResult<(Vec<u8>, bool)> {
        self.fs().read(fd, len, offset).await
    }

    async fn write(&mut self, fd: Fd, bytes: Vec<u8>, offset: Filesize) -> FsResult<Filesize> {
        self.may_change()?;
        self.spend_growth(&fd, Some(offset), bytes.len() as u64)?;
        let result = self.fs().write(fd, bytes, offset).await;
        self.counted(result)
    }

    async fn read_directory(&mut self, fd: Fd) -> FsResult<Resource<DirectoryEntryStream>> {
        self.fs().read_directory(fd).await
    }

    async fn sync(&mut self, fd: Fd) -> FsResult<()> {
        self.fs().sync(fd).await
    }

    async fn create_directory_at(&mut self, fd: Fd, path: String) -> FsResult<()> {
        self.may_change()?;
        let budget = self.spend_entry(&fd)?;
        let result = self.fs().create_directory_at(fd, path).await;
        self.made(budget.as_deref(), result)
    }

    async fn stat(&mut self, fd: Fd) -> FsResult<DescriptorStat> {
        self.fs().stat(fd).await
    }

    async fn stat_at(
        &mut self,
        fd: Fd,
        flags: PathFlags,
        path: String,
    ) -> FsResult<DescriptorStat> {
        let result = self.fs().stat_at(fd, flags, path).await;
        self.counted(result)
    }

    async fn set_times_at(
        &mut self,
        fd: Fd,
        flags: PathFlags,
        path: String,
        accessed: NewTimestamp,
        modified: NewTimestamp,
    ) -> FsResult<()> {
        self.may_change()?;
        let mut fs = self.fs();
        let result = fs.set_times_at(fd, flags, path, accessed, modified).await;
        self.counted(result)
    }

    async fn link_at(
        &mut self,
        fd: Fd,
        flags: PathFlags,
        path: String,
        new_fd: Fd,
        new_path: String,
    ) -> FsResult<()> {
        self.may_change()?;
        self.same_disk(&fd, &new_fd)?;
        let budget = self.spend_entry(&new_fd)?;
        let result = self.fs().link_at(fd, flags, path, new_fd, new_path).await;
        self.made(budget.as_deref(), result)
    }

    async fn open_at(
        &mut self,
        fd: Fd,
        path_flags: PathFlags,
        path: String,
        open_flags: OpenFlags,
        flags: DescriptorFlags,
    ) -> FsResult<Fd> {
        let makes = open_flags.contains(OpenFlags::CREATE);
        if makes
            || open_flags.contains(OpenFlags::TRUNCATE)
            || flags.contains(DescriptorFlags::WRITE)
        {
            self.may_change()?;
        }
        let in_scratch = self.budget(&fd).is_some();
        let mut budget = None;
        if makes && in_scratch {
            let folder = Resource::new_borrow(fd.rep());
            let found = self.fs().stat_at(folder, path_flags, path.clone()).await;
            if found.is_err() {
                budget = self.spend_entry(&fd)?;
            }
        }
        let mut fs = self.fs();
        let result = fs.open_at(fd, path_flags, path, open_flags, flags).await;
        let opened = self.made(budget.as_deref(), result)?;
        if in_scratch {
            self.session.scratch_opened(opened.rep());
        }
        Ok(opened)
    }

    fn drop(&mut self, fd: Fd) -> wasmtime::Result<()> {
        self.session.scratch_closed(fd.rep());
        HostDescriptor::drop(&mut self.fs(), fd)
    }

    async fn readlink_at(&mut self, fd: Fd, path: String) -> FsResult<String> {
        let result = self.fs().readlink_at(fd, path).await;
        self.counted(result)
    }

    async fn remove_directory_at(&mut self, fd: Fd, path: String) -> FsResult<()> {
        self.may_change()?;
        let result = self.fs().remove_directory_at(fd, path).await;
        self.counted(result)
    }

    async fn rename_at(
        &mut self,
        fd: Fd,
        path: String,
        new_fd: Fd,
        new_path: String,
    ) -> FsResult<()> {
        self.may_change()?;
        self.same_disk(&fd, &new_fd)?;
        let result = self.fs().rename_at(fd, path, new_fd, new_path).await;
        self.counted(result)
    }

    async fn symlink_at(&mut self, fd: Fd, target: String, path: String) -> FsResult<()> {
        self.may_change()?;
        let budget = self.spend_entry(&fd)?;
        let result = self.fs().symlink_at(fd, target, path).await;
        self.made(budget.as_deref(), result)
    }

    async fn unlink_file_at(&mut self, fd: Fd, path: String) -> FsResult<()> {
        self.may_change()?;
        let result = self.fs().unlink_file_at(fd, path).await;
        self.counted(result)
    }

    fn read_via_stream(&mut self, fd: Fd, offset: Filesize) -> FsResult<Resource<DynInputStream>> {
        self.fs().read_via_stream(fd, offset)
    }

    fn write_via_stream(
        &mut self,
        fd: Fd,
        offset: Filesize,
    ) -> FsResult<Resource<DynOutputStream>> {
        self.may_change()?;
        let file = Resource::new_borrow(fd.rep());
        let result = self.fs().write_via_stream(file, offset);
        let stream = self.counted(result)?;
        self.metered(&fd, Some(offset), stream)
    }

    fn append_via_stream(&mut self, fd: Fd) -> FsResult<Resource<DynOutputStream>> {
        self.may_change()?;
        let file = Resource::new_borrow(fd.rep());
        let result = self.fs().append_via_stream(file);
        let stream = self.counted(result)?;
        self.metered(&fd, None, stream)
    }

    async fn is_same_object(&mut self, one: Fd, other: Fd) -> wasmtime::Result<bool> {
        self.fs().is_same_object(one, other).await
    }

    async fn metadata_hash(&mut self, fd: Fd) -> FsResult<MetadataHashValue> {
        self.fs().metadata_hash(fd).await
    }

    async fn metadata_hash_at(
        &mut self,
        fd: Fd,
        flags: PathFlags,
        path: String,
    ) -> FsResult<MetadataHashValue> {
        let result = self.fs().metadata_hash_at(fd, flags, path).await;
        self.counted(result)
    }
}

impl HostDirectoryEntryStream for Guest {
    async fn read_directory_entry(
        &mut self,
        stream: Resource<DirectoryEntryStream>,
    ) -> FsResult<Option<DirectoryEntry>> {
        self.fs().read_directory_entry(stream).await
    }

    fn drop(&mut self, stream: Resource<DirectoryEntryStream>) -> wasmtime::Result<()> {
        HostDirectoryEntryStream::drop(&mut self.fs(), stream)
    }
}
