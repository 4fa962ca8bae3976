//! [`Record`]: which environment an entry used last. A lost record costs a look at what is there, no more.

use std::io::{self, Write as _};
use std::time::{SystemTime, UNIX_EPOCH};

use cap_std::fs::{Dir, DirBuilder, DirBuilderExt as _, OpenOptions, OpenOptionsExt as _};
use serde::{Deserialize, Serialize};
use sha2::{Digest as _, Sha256};

use crate::entry::Entry;
use crate::interpreter::Interpreter;
use crate::requirements::{Requirements, hex};

/// Where the records are.
const ENTRIES: &str = "entries";
const ENDING: &str = ".json";
const FORMAT: u32 = 1;
const FOLDER_MODE: u32 = 0o700;
const FILE_MODE: u32 = 0o600;

/// What an entry of some configuration used last.
#[derive(Debug, Clone, Serialize, Deserialize)]
pub(super) struct Record {
    format: u32,
    pub(super) plugin: String,
    pub(super) class: String,
    pub(super) base_dir: String,
    /// The environment.
    pub(super) key: String,
    pub(super) requirements_digest: String,
    pub(super) python: String,
    pub(super) platform: String,
    /// Of the plugin's manifest; none without one.
    pub(super) manifest_digest: Option<String>,
    /// Seconds since 1970.
    pub(super) used_at: u64,
}

impl Record {
    pub(super) fn new(
        entry: &Entry,
        key: &str,
        requirements: &Requirements,
        python: &str,
        platform: &str,
    ) -> Self {
        Self {
            format: FORMAT,
            plugin: entry.name.clone(),
            class: entry.class.clone(),
            base_dir: entry.base_dir.display().to_string(),
            key: key.to_owned(),
            requirements_digest: requirements.digest().to_owned(),
            python: python.to_owned(),
            platform: platform.to_owned(),
            manifest_digest: entry.manifest_digest.clone(),
            used_at: now(),
        }
    }

    /// The record of an entry, if there is one that can be read.
    pub(super) fn read(store: &Dir, entry: &Entry) -> Option<Self> {
        Self::read_file(&store.open_dir(ENTRIES).ok()?, &file_name(entry))
    }

    fn read_file(dir: &Dir, name: &str) -> Option<Self> {
        let text = dir.read_to_string(name).ok()?;
        let record: Self = serde_json::from_str(&text).ok()?;
        (record.format == FORMAT).then_some(record)
    }

    /// Every record that can be read, by the name of its file.
    pub(super) fn all(store: &Dir) -> Vec<(String, Self)> {
        let Ok(dir) = store.open_dir(ENTRIES) else {
            return Vec::new();
        };
        let entries = dir.entries().into_iter().flatten().flatten();
        let names = entries.filter_map(|entry| entry.file_name().into_string().ok());
        let mut records: Vec<_> = names
            .filter(|name| name.ends_with(ENDING))
            .filter_map(|name| Some((name.clone(), Self::read_file(&dir, &name)?)))
            .collect();
        records.sort_by(|(_, one), (_, other)| {
            (&one.plugin, &one.base_dir).cmp(&(&other.plugin, &other.base_dir))
        });
        records
    }

    /// Removes a record by the name of its file.
    pub(super) fn remove(store: &Dir, name: &str) -> io::Result<()> {
        store.open_dir(ENTRIES)?.remove_file(name)
    }

    /// Writes the record whole or not at all.
    pub(super) fn write(&self, store: &Dir, entry: &Entry) -> io::Result<()> {
        let dir = folder(store, ENTRIES)?;
        let name = file_name(entry);
        // Other processes may write the same one now.
        let unfinished = format!("{name}.{}-{}", std::process::id(), unique());
        let mut options = OpenOptions::new();
        options.write(true).create_new(true).mode(FILE_MODE);
        let mut file = dir.open_with(&unfinished, &options)?;
        let written = serde_json::to_vec_pretty(self)
            .map_err(io::Error::from)
            .and_then(|text| file.write_all(&text))
            .and_then(|()| file.sync_all())
            .and_then(|()| dir.rename(&unfinished, &dir, name));
        if written.is_err() {
            let _ = dir.remove_file(&unfinished);
        }
        written
    }

    /// Whether the entry used it on this base.
    pub(super) fn is_of(&self, interpreter: &Interpreter) -> bool {
        self.python == interpreter.version && self.platform == interpreter.platform
    }
}

/// A folder of the store, made if it is not there.
pub(super) fn folder(store: &Dir, name: &str) -> io::Result<Dir> {
    let mut builder = DirBuilder::new();
    builder.mode(FOLDER_MODE);
    match store.create_dir_with(name, &builder) {
        Err(error) if error.kind() != io::ErrorKind::AlreadyExists => return Err(error),
        _ => {}
    }
    store.open_dir(name)
}

/// Seconds since 1970.
pub(super) fn now() -> u64 {
    let since = SystemTime::now().duration_since(UNIX_EPOCH);
    since.map_or(0, |since| since.as_secs())
}

fn unique() -> u64 {
    static WRITTEN: std::sync::atomic::AtomicU64 = std::sync::atomic::AtomicU64::new(0);
    WRITTEN.fetch_add(1, std::sync::atomic::Ordering::Relaxed)
}

/// An entry is known by its name, the folder of its configuration and its class.
fn file_name(entry: &Entry) -> String {
    let mut hash = Sha256::new();
    let base_dir = entry.base_dir.as_os_str().as_encoded_bytes();
    for part in [entry.name.as_bytes(), base_dir, entry.class.as_bytes()] {
        hash.update((part.len() as u64).to_be_bytes());
        hash.update(part);
    }
    hex(&hash.finalize()) + ENDING
}
