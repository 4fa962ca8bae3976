//! [`Records`]: decision records, counted and, where the user wants them, kept in a file.

use std::ffi::OsStr;
use std::io::{self, BufWriter, Write as _};
use std::path::{Path, PathBuf};
use std::sync::{Mutex, MutexGuard, PoisonError};

use cap_std::ambient_authority;
use cap_std::fs::{Dir, File, OpenOptions, OpenOptionsExt as _};
use hookgate::{PluginStatus, Record, RecordSink};
use serde::Serialize;

use crate::tally::{PluginSummary, Tally};
use crate::units::failed;

/// The sink of the command's engine.
pub struct Records {
    tally: Mutex<Tally>,
    file: Option<Mutex<RecordFile>>,
}

struct RecordFile {
    path: PathBuf,
    writer: BufWriter<File>,
    /// The first write that failed; a sink has nobody to tell until the end.
    error: Option<io::Error>,
}

impl Records {
    /// Counts records, and appends them to the file if there is one.
    pub fn open(file: Option<&Path>) -> anyhow::Result<Self> {
        Ok(Self {
            tally: Mutex::default(),
            file: file.map(RecordFile::open).transpose()?.map(Mutex::new),
        })
    }

    /// Begins counting anew, with these plugins.
    pub fn begin(&self, plugins: &[PluginStatus]) {
        let mut tally = Tally::default();
        tally.expect(plugins);
        *lock(&self.tally) = tally;
    }

    /// What was counted since the beginning.
    pub fn summary(&self) -> Vec<PluginSummary> {
        lock(&self.tally).summary()
    }

    /// Writes out what is still in memory. The engine is to be shut down first, or may write later.
    pub fn finish(&self) -> anyhow::Result<()> {
        let Some(file) = &self.file else {
            return Ok(());
        };
        let mut file = lock(file);
        let result = match file.error.take() {
            Some(error) => Err(error),
            None => file.writer.flush(),
        };
        result.map_err(|error| {
            failed(
                format_args!("records cannot be written to {}", file.path.display()),
                &error,
            )
        })
    }
}

impl RecordSink for Records {
    fn write(&self, record: Record) {
        let mut tally = lock(&self.tally);
        record.plugins.iter().for_each(|plugin| tally.add(plugin));
        drop(tally);
        let Some(file) = &self.file else { return };
        let mut file = lock(file);
        if file.error.is_none() {
            let written = json_line(&record).and_then(|line| file.writer.write_all(&line));
            file.error = written.err();
        }
    }
}

impl RecordFile {
    fn open(path: &Path) -> anyhow::Result<Self> {
        let open = || {
            let name = path.file_name().unwrap_or(OsStr::new(""));
            let folder = path
                .parent()
                .filter(|folder| !folder.as_os_str().is_empty());
            let dir = Dir::open_ambient_dir(folder.unwrap_or(Path::new(".")), ambient_authority())?;
            // Records say who asked for what: not for other users of the machine.
            dir.open_with(
                name,
                OpenOptions::new().append(true).create(true).mode(0o600),
            )
        };
        let file = open().map_err(|error| {
            failed(
                format_args!("records cannot be written to {}", path.display()),
                &error,
            )
        })?;
        Ok(Self {
            path: path.to_owned(),
            writer: BufWriter::new(file),
            error: None,
        })
    }
}

fn lock<T>(mutex: &Mutex<T>) -> MutexGuard<'_, T> {
    mutex.lock().unwrap_or_else(PoisonError::into_inner)
}

/// A value as one line of JSON. JSON that plugins wrote keeps its text, line breaks between its values
/// included; those are white space, inside a string they would be escaped.
pub fn json_line(value: &impl Serialize) -> io::Result<Vec<u8>> {
    let mut line = serde_json::to_vec(value)?;
    for byte in &mut line {
        if matches!(byte, b'\n' | b'\r') {
            *byte = b' ';
        }
    }
    line.push(b'\n');
    Ok(line)
}

#[cfg(test)]
mod tests {
    use super::*;
    use hookgate::Json;

    #[test]
    fn a_value_with_line_breaks_is_one_line() {
        let details = Json::parse("{\n  \"a\\n\": 1.10\r\n}").unwrap();
        let line = json_line(&details).unwrap();
        assert_eq!(String::from_utf8(line).unwrap(), "{   \"a\\n\": 1.10  }\n");
    }
}
