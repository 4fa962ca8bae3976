//! [`Requirements`]: what an environment has to hold, normalised so that equal sets are equal.

mod blame;
mod error;
mod installed;
mod local;
mod markers;
mod options;
mod versions;

use std::collections::BTreeSet;
use std::path::{Path, PathBuf};

use sha2::{Digest as _, Sha256};

pub use error::RequirementsError;
pub(crate) use installed::unmet;

/// Added where no requirement names a framework. Earlier versions of it cannot serve: either their
/// own dependencies do not resolve, or they hand plugins something other than the payload types.
pub const FRAMEWORK_REQUIREMENT: &str = "cpex==0.1.4";

/// Distributions that bring the framework's package.
const FRAMEWORKS: [&str; 2] = ["cpex", "mcp-contextforge-gateway"];

/// A normalised set of requirements. Two sets with one digest install the same.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Requirements {
    /// Sorted and without duplicates.
    lines: Vec<String>,
    /// A requirements file that says more than requirements; the installer reads it itself.
    file: Option<PathBuf>,
    /// What the entry and its files ask for, each without options; not the framework that is added.
    given: Vec<String>,
    /// Where relative paths of `lines` start.
    base_dir: PathBuf,
    /// Whether every package must have one of the hashes that the file gives.
    hashed: bool,
    allow_build: bool,
    digest: String,
}

impl Requirements {
    /// The requirements of an entry: its own list and those of its file, with the framework. Unless builds
    /// are allowed, nothing whose installation may run code is accepted.
    ///
    /// # Errors
    ///
    /// If the file, or a local package, cannot be read, a listed requirement is an option, or one of them
    /// builds or lacks a hash and must not.
    pub fn read(
        listed: &[String],
        file: Option<&Path>,
        base_dir: &Path,
        allow_build: bool,
    ) -> Result<Self, RequirementsError> {
        let mut lines = BTreeSet::new();
        for requirement in listed {
            let line = normalise(requirement);
            if line.starts_with('-') {
                return Err(RequirementsError::Option(line));
            }
            if !allow_build && !line.is_empty() && local::builds(&line, base_dir) {
                return Err(RequirementsError::Builds(line));
            }
            lines.insert(line);
        }
        lines.remove("");
        let mut hash = Sha256::new();
        let mut given = lines.clone();
        let mut kept_file = None;
        let mut hashed = false;
        if let Some(path) = file {
            let files = options::read(path, allow_build)?;
            given.extend(files.requirements.iter().cloned());
            hashed = files.hashed;
            if files.plain {
                lines.extend(files.requirements);
            } else {
                kept_file = Some(path.to_owned());
                files.hash_into(&mut hash);
            }
        }
        let mut names = given.iter().filter_map(|line| name(line));
        if !names.any(|name| name_of_framework(&name)) {
            lines.insert(FRAMEWORK_REQUIREMENT.to_owned());
        }
        if hashed && let Some(line) = lines.first() {
            return Err(RequirementsError::Unhashed(line.clone()));
        }
        let lines: Vec<String> = lines.into_iter().collect();
        for line in &lines {
            hash.update(line.as_bytes());
            hash.update(b"\n");
            local::hash_into(&mut hash, line, base_dir)?;
        }
        if allow_build {
            // Not a line: none begins so.
            hash.update(b"\0allow_build\n");
        }
        let digest = hex(&hash.finalize());
        Ok(Self {
            lines,
            file: kept_file,
            given: given.into_iter().collect(),
            base_dir: base_dir.to_owned(),
            hashed,
            allow_build,
            digest,
        })
    }

    /// The requirement lines, sorted; those of a file that the installer reads itself are not among them.
    #[must_use]
    pub fn lines(&self) -> &[String] {
        &self.lines
    }

    /// SHA-256 over lines, files, local packages and whether builds are allowed, in hexadecimal.
    #[must_use]
    pub fn digest(&self) -> &str {
        &self.digest
    }

    /// Whether installing may run code.
    #[must_use]
    pub fn allow_build(&self) -> bool {
        self.allow_build
    }

    /// Whether every package must have one of the hashes that the file gives.
    #[must_use]
    pub fn hashed(&self) -> bool {
        self.hashed
    }

    /// What the entry and its files ask for, without options and without the framework that is added.
    #[must_use]
    pub fn given(&self) -> &[String] {
        &self.given
    }

    /// Where an installer runs: relative paths of a file start at the file.
    pub(crate) fn folder(&self) -> &Path {
        self.file
            .as_deref()
            .and_then(Path::parent)
            .unwrap_or(&self.base_dir)
    }

    /// What an installer is given.
    pub(crate) fn arguments(&self) -> Vec<String> {
        let Some(file) = &self.file else {
            return self.lines.clone();
        };
        // It runs in the file's folder, and these paths start elsewhere.
        let lines = self
            .lines
            .iter()
            .map(|line| match local::is_relative(line) {
                true => self.base_dir.join(line).to_string_lossy().into_owned(),
                false => line.clone(),
            });
        let file = file.to_string_lossy().into_owned();
        lines.chain(["-r".to_owned(), file]).collect()
    }

    /// The requirements that a tool's complaint is about, as far as it names any.
    pub(crate) fn blamed(&self, said: &str) -> Vec<&str> {
        let complaint = blame::complaint(said);
        let all = self.given.iter().chain(&self.lines);
        let mut blamed: Vec<&str> = all
            .filter(|line| blame::names(&complaint, line, name(line).as_deref()))
            .map(String::as_str)
            .collect();
        blamed.sort_unstable();
        blamed.dedup();
        blamed
    }
}

impl std::fmt::Display for Requirements {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str(&self.lines.join(", "))?;
        let separator = if self.lines.is_empty() { "" } else { ", " };
        match &self.file {
            Some(file) => write!(f, "{separator}-r {}", file.display()),
            None => Ok(()),
        }
    }
}

/// Whether the distribution brings the framework; its name is canonical.
pub(crate) fn name_of_framework(name: &str) -> bool {
    FRAMEWORKS.contains(&name)
}

pub(crate) fn hex(bytes: &[u8]) -> String {
    bytes.iter().map(|byte| format!("{byte:02x}")).collect()
}

/// A line without its comment, its name spelled as PEP 503 spells it, white space only where it
/// means something.
fn normalise(line: &str) -> String {
    let line = without_comment(line);
    let Some((raw, rest)) = split_name(line) else {
        return line.to_owned();
    };
    let (version, marker) = match rest.split_once(';') {
        Some((version, marker)) => (version, Some(marker)),
        None => (rest, None),
    };
    let mut text = canonical(raw);
    if version.trim_start().starts_with('@') {
        // A URL ends at white space, and the marker's semicolon stands behind one.
        let whole = rest.split_whitespace().collect::<Vec<_>>().join(" ");
        return format!("{text} {whole}");
    }
    text.extend(
        version
            .chars()
            .filter(|character| !character.is_whitespace()),
    );
    if let Some(marker) = marker {
        text.push_str("; ");
        text.push_str(&marker.split_whitespace().collect::<Vec<_>>().join(" "));
    }
    text
}

/// Installers take `#` for a comment at the start of a line or behind white space only.
fn without_comment(line: &str) -> &str {
    let at = line.char_indices().find(|&(at, character)| {
        character == '#' && (at == 0 || line[..at].ends_with(char::is_whitespace))
    });
    at.map_or(line, |(at, _)| &line[..at]).trim()
}

/// The distribution's name as written and what follows; none for paths, URLs and options.
fn split_name(line: &str) -> Option<(&str, &str)> {
    let end = line
        .find(|c: char| !(c.is_ascii_alphanumeric() || matches!(c, '-' | '_' | '.')))
        .unwrap_or(line.len());
    let (name, rest) = line.split_at(end);
    let starts = name.starts_with(|c: char| c.is_ascii_alphanumeric());
    let follows = rest.trim_start().chars().next();
    let specifier = follows.is_none_or(|next| "[=<>!~;@(,".contains(next));
    let archive = [".whl", ".zip", ".gz"]
        .iter()
        .any(|ending| name.ends_with(ending));
    (starts && specifier && !archive).then_some((name, rest))
}

/// The distribution a normalised line names, a URL's `#egg=` included.
fn name(line: &str) -> Option<String> {
    let line = line
        .strip_prefix("-e ")
        .or_else(|| line.strip_prefix("--editable "))
        .unwrap_or(line)
        .trim();
    if let Some((_, egg)) = line.split_once("#egg=") {
        return split_name(egg).map(|(name, _)| canonical(name));
    }
    split_name(line).map(|(name, _)| canonical(name))
}

fn canonical(name: &str) -> String {
    let mut text = String::with_capacity(name.len());
    for character in name.chars() {
        match character {
            '-' | '_' | '.' if text.ends_with('-') => {}
            '-' | '_' | '.' => text.push('-'),
            other => text.push(other.to_ascii_lowercase()),
        }
    }
    text
}

#[cfg(test)]
mod tests;
