//! Requirements files: lines, and the files that `-r` and `-c` name.

use std::collections::HashSet;
use std::path::{Path, PathBuf};

use sha2::{Digest as _, Sha256};

use super::{RequirementsError, local, normalise, without_comment};

/// A requirements file with every file it names.
pub(super) struct Files {
    /// Requirements of the file and of those it includes, normalised.
    pub(super) requirements: Vec<String>,
    /// Whether there is nothing in it but requirements.
    pub(super) plain: bool,
    hash: Sha256,
    seen: HashSet<PathBuf>,
}

pub(super) fn read(path: &Path) -> Result<Files, RequirementsError> {
    let mut files = Files {
        requirements: Vec::new(),
        plain: true,
        hash: Sha256::new(),
        seen: HashSet::new(),
    };
    files.add(path, true)?;
    Ok(files)
}

impl Files {
    pub(super) fn hash_into(self, hash: &mut Sha256) {
        hash.update(self.hash.finalize());
    }

    /// `installs` is false for constraints, which install nothing.
    fn add(&mut self, path: &Path, installs: bool) -> Result<(), RequirementsError> {
        let unreadable = |source| RequirementsError::Read {
            path: path.to_owned(),
            source,
        };
        if !self
            .seen
            .insert(std::fs::canonicalize(path).map_err(unreadable)?)
        {
            return Ok(());
        }
        let text = std::fs::read_to_string(path).map_err(unreadable)?;
        self.hash.update((text.len() as u64).to_be_bytes());
        self.hash.update(text.as_bytes());
        let folder = path.parent().unwrap_or(Path::new("/"));
        for line in logical_lines(&text) {
            let line = without_comment(&line);
            if let Some((included, installs_too)) = included(line) {
                self.plain = false;
                if !included.contains("://") {
                    self.add(&folder.join(included), installs && installs_too)?;
                }
                continue;
            }
            // Options stand alone, or behind a requirement as `--hash` does.
            // A relative path in a file is the file's affair.
            self.plain &= !line.starts_with('-') && !line.contains(" --") && !local::is_local(line);
            if installs && !line.is_empty() {
                local::hash_into(&mut self.hash, line, folder)?;
                self.requirements.push(normalise(line));
            }
        }
        Ok(())
    }
}

/// Lines joined where a backslash ends them. As for an installer, a comment does not swallow the join.
fn logical_lines(text: &str) -> Vec<String> {
    let mut lines = Vec::new();
    let mut open = String::new();
    for line in text.lines() {
        match line.strip_suffix('\\') {
            Some(begun) => open.push_str(begun),
            None => {
                open.push_str(line);
                lines.push(std::mem::take(&mut open));
            }
        }
    }
    lines.push(open);
    lines
}

/// The file that a `-r` or `-c` line names, and whether what it lists is installed.
fn included(line: &str) -> Option<(&str, bool)> {
    let forms = [
        ("--requirement", true),
        ("--constraint", false),
        ("-r", true),
        ("-c", false),
    ];
    forms.iter().find_map(|&(option, installs)| {
        let rest = line.strip_prefix(option)?;
        let name = rest.trim_start().trim_start_matches('=').trim();
        (!name.is_empty()).then_some((name, installs))
    })
}
