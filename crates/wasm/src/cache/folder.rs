//! [`Folder`]: a folder that is ours alone, and what is found and written in it.

use std::fs::{DirBuilder, File, Metadata};
use std::io::{self, Write as _};
use std::os::unix::fs::{DirBuilderExt as _, MetadataExt as _};
use std::path::{Path, PathBuf};
use std::sync::atomic::{AtomicU64, Ordering};
use std::time::{SystemTime, UNIX_EPOCH};

use cap_std::fs::{Dir, MetadataExt as _, OpenOptions, OpenOptionsExt as _};
use rustix::fs::{Mode, OFlags};
use rustix::io::Errno;
use rustix::process::geteuid;

use super::problem::CacheProblem;

/// The bits that let group or others write.
const OTHERS_WRITE: u32 = 0o022;
/// What is made is for this user alone.
const FOLDER_MODE: u32 = 0o700;
const FILE_MODE: u32 = 0o600;
/// The ending of files that are being written.
const UNFINISHED: &str = ".new";

/// A folder of our user that nobody else may write to.
///
/// INVARIANT: held by its descriptor, which is the one that was looked at: whoever may rename a folder
/// above it can lead us to another folder of ours, but to nobody else's.
pub(super) struct Folder {
    dir: Dir,
    path: PathBuf,
    /// Our user.
    owner: u32,
}

/// What has a name in the folder.
pub(super) enum Found {
    Nothing,
    /// A file that only we can have written.
    Sound(Sound),
    /// Ours, but not to be trusted: why.
    Unsound(String),
    /// Somebody else's: whose.
    Foreign(u32),
}

/// A regular file of our user that nobody else may write to, in a folder of the same kind.
///
/// INVARIANT: only [`Folder::find`] makes one, after looking at this descriptor.
pub(super) struct Sound {
    file: File,
    bytes: u64,
}

impl Sound {
    /// The file and its size.
    pub(super) fn into_parts(self) -> (File, u64) {
        (self.file, self.bytes)
    }
}

impl Folder {
    /// Opens the folder; makes it if nothing is there.
    pub(super) fn open(path: &Path) -> Result<Self, CacheProblem> {
        Self::open_as(path, geteuid().as_raw())
    }

    fn open_as(path: &Path, owner: u32) -> Result<Self, CacheProblem> {
        // A slash at the end would follow a link.
        let path: PathBuf = path.components().collect();
        let opened = match open(&path) {
            Err(Errno::NOENT) => {
                let made = DirBuilder::new()
                    .recursive(true)
                    .mode(FOLDER_MODE)
                    .create(&path);
                if let Err(source) = made {
                    return Err(CacheProblem::Make { path, source });
                }
                open(&path)
            }
            opened => opened,
        };
        let file = match opened {
            Ok(file) => file,
            Err(error) => {
                let there = std::fs::symlink_metadata(&path);
                return Err(match there.map(|there| there.file_type()) {
                    Ok(kind) if kind.is_symlink() => CacheProblem::NoFolder {
                        path,
                        what: "a link",
                    },
                    Ok(kind) if !kind.is_dir() => CacheProblem::NoFolder {
                        path,
                        what: "a file",
                    },
                    _ => CacheProblem::Open {
                        path,
                        source: error.into(),
                    },
                });
            }
        };
        let metadata = match file.metadata() {
            Ok(metadata) => metadata,
            Err(source) => return Err(CacheProblem::Open { path, source }),
        };
        if metadata.uid() != owner {
            let owner = metadata.uid();
            return Err(CacheProblem::ForeignFolder { path, owner });
        }
        if metadata.mode() & OTHERS_WRITE != 0 {
            let mode = metadata.mode() & 0o7777;
            return Err(CacheProblem::SharedFolder { path, mode });
        }
        let dir = Dir::from_std_file(file);
        Ok(Self { dir, path, owner })
    }

    pub(super) fn dir(&self) -> &Dir {
        &self.dir
    }

    pub(super) fn owner(&self) -> u32 {
        self.owner
    }

    /// The path of a file in it, for messages.
    pub(super) fn path_of(&self, name: &str) -> PathBuf {
        self.path.join(name)
    }

    /// Opens what has this name, without following a link or waiting for a pipe, and looks at what it
    /// opened.
    pub(super) fn find(&self, name: &str) -> Found {
        let flags = OFlags::RDONLY | OFlags::NOFOLLOW | OFlags::NONBLOCK | OFlags::CLOEXEC;
        match rustix::fs::openat(&self.dir, name, flags, Mode::empty()) {
            Ok(descriptor) => self.judge(File::from(descriptor)),
            Err(Errno::NOENT) => Found::Nothing,
            Err(error) => match self.dir.symlink_metadata(name) {
                Ok(there) if there.uid() != self.owner => Found::Foreign(there.uid()),
                Ok(there) if there.is_symlink() => Found::Unsound("it is a link".into()),
                Err(gone) if gone.kind() == io::ErrorKind::NotFound => Found::Nothing,
                _ => Found::Unsound(io::Error::from(error).to_string()),
            },
        }
    }

    fn judge(&self, file: File) -> Found {
        match file.metadata() {
            Err(error) => Found::Unsound(error.to_string()),
            Ok(metadata) => match fault_of(&metadata, self.owner) {
                Some(fault) => fault,
                None => Found::Sound(Sound {
                    file,
                    bytes: metadata.len(),
                }),
            },
        }
    }

    /// Puts a file under this name, whole or not at all. Whoever has the old one open keeps it.
    pub(super) fn replace(&self, name: &str, parts: &[&[u8]]) -> Result<(), CacheProblem> {
        self.put(name, parts).map_err(|source| match source.kind() {
            io::ErrorKind::IsADirectory => CacheProblem::InTheWay {
                path: self.path_of(name),
            },
            _ => CacheProblem::Write {
                path: self.path.clone(),
                source,
            },
        })
    }

    fn put(&self, name: &str, parts: &[&[u8]]) -> io::Result<()> {
        let unfinished = unfinished_name(name);
        let mut options = OpenOptions::new();
        options.write(true).create_new(true).mode(FILE_MODE);
        let mut file = self.dir.open_with(&unfinished, &options)?.into_std();
        let written = parts.iter().try_for_each(|part| file.write_all(part));
        // The kernel's own time may be that of its last tick, before that of a use just now. Where it
        // cannot be set, only the order in which files go is less exact.
        let _ = file.set_modified(SystemTime::now());
        // Without it a power cut could leave the name and not the bytes.
        let written = written.and_then(|()| file.sync_all());
        let put = written.and_then(|()| self.dir.rename(&unfinished, &self.dir, name));
        if put.is_err() {
            // What cannot be removed either is removed when it is old.
            let _ = self.dir.remove_file(&unfinished);
        }
        put
    }
}

fn open(path: &Path) -> Result<File, Errno> {
    let flags = OFlags::RDONLY | OFlags::DIRECTORY | OFlags::NOFOLLOW | OFlags::CLOEXEC;
    rustix::fs::open(path, flags, Mode::empty()).map(File::from)
}

/// What is wrong with an opened file.
fn fault_of(metadata: &Metadata, owner: u32) -> Option<Found> {
    if metadata.uid() != owner {
        return Some(Found::Foreign(metadata.uid()));
    }
    if !metadata.is_file() {
        return Some(Found::Unsound("it is not a file".into()));
    }
    if metadata.mode() & OTHERS_WRITE != 0 {
        let mode = metadata.mode() & 0o7777;
        return Some(Found::Unsound(format!(
            "others may write to it: mode {mode:04o}"
        )));
    }
    None
}

/// A name that no other writer has, of this process or another.
fn unfinished_name(name: &str) -> String {
    static WRITTEN: AtomicU64 = AtomicU64::new(0);
    let count = WRITTEN.fetch_add(1, Ordering::Relaxed);
    // Processes of two containers may have one number, hence the time.
    let time = SystemTime::now()
        .duration_since(UNIX_EPOCH)
        .unwrap_or_default();
    let (process, time) = (std::process::id(), time.as_nanos());
    format!("{name}.{process}-{count}-{time}{UNFINISHED}")
}

/// The file that an unfinished one is to become.
pub(super) fn finished_name(unfinished: &str) -> Option<&str> {
    let (name, _) = unfinished.strip_suffix(UNFINISHED)?.rsplit_once('.')?;
    Some(name)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn our_folder() -> (tempfile::TempDir, Folder) {
        let root = tempfile::tempdir().expect("a folder");
        let folder = Folder::open(root.path());
        let folder = folder.unwrap_or_else(|problem| panic!("{problem}"));
        (root, folder)
    }

    /// Whoever runs the tests: for another user these are somebody else's.
    #[test]
    fn what_belongs_to_another_user_is_foreign() {
        let (root, folder) = our_folder();
        let us = geteuid().as_raw();
        std::fs::write(root.path().join("file"), "x").expect("a file");
        std::os::unix::fs::symlink("file", root.path().join("link")).expect("a link");
        let metadata = std::fs::metadata(root.path().join("file")).expect("its owner");
        assert!(fault_of(&metadata, us).is_none());
        assert!(matches!(fault_of(&metadata, us + 1), Some(Found::Foreign(owner)) if owner == us));
        let refused = Folder::open_as(root.path(), us + 1).err();
        assert!(
            matches!(&refused, Some(CacheProblem::ForeignFolder { owner, .. }) if *owner == us),
            "{refused:?}"
        );
        let stranger = Folder {
            owner: us + 1,
            ..folder
        };
        for name in ["file", "link"] {
            assert!(
                matches!(stranger.find(name), Found::Foreign(owner) if owner == us),
                "{name}"
            );
        }
    }

    #[test]
    fn only_a_plain_file_of_ours_is_sound() {
        let (root, folder) = our_folder();
        let at = |name: &str| root.path().join(name);
        folder.replace("file", &[b"a", b"bc"]).expect("written");
        std::os::unix::fs::symlink("file", at("link")).expect("a link");
        std::os::unix::fs::symlink("nowhere", at("dangling")).expect("a link");
        std::fs::create_dir(at("folder")).expect("a folder");
        let _socket = std::os::unix::net::UnixListener::bind(at("socket")).expect("a socket");
        let pipe = rustix::fs::mknodat(
            folder.dir(),
            "pipe",
            rustix::fs::FileType::Fifo,
            Mode::from_raw_mode(0o600),
            0,
        );
        pipe.expect("a pipe");
        assert!(matches!(folder.find("file"), Found::Sound(sound) if sound.bytes == 3));
        assert!(matches!(folder.find("nothing"), Found::Nothing));
        for name in ["link", "dangling", "folder", "socket", "pipe"] {
            assert!(matches!(folder.find(name), Found::Unsound(_)), "{name}");
        }
    }

    #[test]
    fn nothing_is_left_of_a_file_that_could_not_be_put() {
        let (root, folder) = our_folder();
        std::fs::create_dir_all(root.path().join("taken/by")).expect("a folder");
        let problem = folder
            .replace("taken", &[b"x"])
            .expect_err("a folder is there");
        assert!(
            matches!(problem, CacheProblem::InTheWay { .. }),
            "{problem}"
        );
        let names = std::fs::read_dir(root.path()).expect("its files");
        let names: Vec<_> = names.map(|entry| entry.expect("one").file_name()).collect();
        assert_eq!(names, ["taken"]);
    }

    #[test]
    fn an_unfinished_file_has_a_name_of_its_own_that_says_what_it_is_for() {
        let (one, two) = (unfinished_name("a-b.cwasm"), unfinished_name("a-b.cwasm"));
        assert_ne!(one, two);
        for name in [one, two] {
            assert_eq!(finished_name(&name), Some("a-b.cwasm"), "{name}");
        }
        for other in ["a-b.cwasm", ".new", "x.new"] {
            assert_eq!(finished_name(other), None, "{other}");
        }
    }
}
