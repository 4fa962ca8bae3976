//! [`Mark`]: the file that says an environment is complete.

use std::io::{self, Write as _};

use cap_std::fs::Dir;
use serde::{Deserialize, Serialize};

use crate::interpreter::Interpreter;
use crate::requirements::Requirements;

/// Raised whenever environments are made in another way, so that old ones are not reused.
pub(super) const FORMAT: u32 = 1;

const NAME: &str = "hookgate-environment.json";

/// What an environment was built for.
#[derive(Debug, Serialize, Deserialize)]
pub(super) struct Mark {
    format: u32,
    key: String,
    pub(super) requirements_digest: String,
    /// For a person who looks; the digest decides.
    requirements: Vec<String>,
    pub(super) python: String,
    pub(super) platform: String,
}

impl Mark {
    pub(super) fn new(key: &str, requirements: &Requirements, interpreter: &Interpreter) -> Self {
        Self {
            format: FORMAT,
            key: key.to_owned(),
            requirements_digest: requirements.digest().to_owned(),
            requirements: requirements.arguments(),
            python: interpreter.version.clone(),
            platform: interpreter.platform.clone(),
        }
    }

    /// The mark of an environment, if it has one of its own and of this format.
    pub(super) fn read(store: &Dir, key: &str) -> Option<Self> {
        let text = store.open_dir(key).ok()?.read_to_string(NAME).ok()?;
        let mark: Self = serde_json::from_str(&text).ok()?;
        (mark.format == FORMAT && mark.key == key).then_some(mark)
    }

    /// Writes the mark whole or not at all.
    pub(super) fn write(&self, store: &Dir, key: &str) -> io::Result<()> {
        let dir = store.open_dir(key)?;
        let unfinished = format!("{NAME}.unfinished");
        let mut file = dir.create(&unfinished)?;
        file.write_all(&serde_json::to_vec_pretty(self)?)?;
        file.sync_all()?;
        dir.rename(&unfinished, &dir, NAME)
    }
}
