//! [`Mark`]: the file that says an environment is complete.

use std::collections::BTreeMap;
use std::io::{self, Write as _};

use cap_std::fs::{Dir, OpenOptions, OpenOptionsExt as _};
use serde::{Deserialize, Serialize};

use super::tree;
use crate::interpreter::Interpreter;
use crate::requirements::Requirements;

/// Raised whenever environments are made in another way, so that old ones are not reused.
pub(super) const FORMAT: u32 = 2;

pub(super) const NAME: &str = "hookgate-environment.json";
/// Nobody writes to a mark once it is there.
const FILE_MODE: u32 = 0o400;

/// What an environment was built for, and what it held when it was complete.
#[derive(Debug, Serialize, Deserialize)]
pub(super) struct Mark {
    format: u32,
    key: String,
    pub(super) requirements_digest: String,
    /// For a person who looks; the digest decides.
    pub(super) requirements: Vec<String>,
    pub(super) python: String,
    pub(super) platform: String,
    /// Distributions and their versions.
    pub(super) packages: BTreeMap<String, String>,
}

impl Mark {
    pub(super) fn new(
        key: &str,
        requirements: &Requirements,
        interpreter: &Interpreter,
        packages: BTreeMap<String, String>,
    ) -> Self {
        Self {
            format: FORMAT,
            key: key.to_owned(),
            requirements_digest: requirements.digest().to_owned(),
            requirements: requirements.arguments(),
            python: interpreter.version.clone(),
            platform: interpreter.platform.clone(),
            packages,
        }
    }

    /// The mark of an environment, if it has one of its own and of this format.
    pub(super) fn read(store: &Dir, key: &str) -> Option<Self> {
        let text = store.open_dir(key).ok()?.read_to_string(NAME).ok()?;
        let mark: Self = serde_json::from_str(&text).ok()?;
        (mark.format == FORMAT && mark.key == key).then_some(mark)
    }

    /// Writes the mark whole or not at all. Once this has returned, no power cut takes it back.
    pub(super) fn write(&self, store: &Dir, key: &str) -> io::Result<()> {
        let dir = store.open_dir(key)?;
        let unfinished = format!("{NAME}.unfinished");
        let mut options = OpenOptions::new();
        options
            .write(true)
            .create(true)
            .truncate(true)
            .mode(FILE_MODE);
        let mut file = dir.open_with(&unfinished, &options)?;
        file.write_all(&serde_json::to_vec_pretty(self)?)?;
        file.sync_all()?;
        dir.rename(&unfinished, &dir, NAME)?;
        tree::sync_names(&dir)?;
        tree::sync_names(store)
    }
}
