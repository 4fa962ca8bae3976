//! [`Requirements`]: what an environment has to hold, normalised so that equal sets are equal.

mod local;
mod options;

use std::collections::BTreeSet;
use std::io;
use std::path::{Path, PathBuf};

use sha2::{Digest as _, Sha256};

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
    /// Where relative paths of `lines` start.
    base_dir: PathBuf,
    digest: String,
}

/// Why requirements cannot be read.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum RequirementsError {
    /// A file that is named is not readable.
    #[error("requirements cannot be read: {path}")]
    Read {
        /// The file or folder.
        path: PathBuf,
        /// Why.
        source: io::Error,
    },
    /// An installer's option among the requirements of an entry.
    #[error("not a requirement: {0}")]
    Option(String),
}

impl Requirements {
    /// The requirements of an entry: its own list and those of its file, with the framework.
    ///
    /// # Errors
    ///
    /// If the file, or a local package, cannot be read, or a listed requirement is an option.
    pub fn read(
        listed: &[String],
        file: Option<&Path>,
        base_dir: &Path,
    ) -> Result<Self, RequirementsError> {
        let mut lines = BTreeSet::new();
        for requirement in listed {
            let line = normalise(requirement);
            if line.starts_with('-') {
                return Err(RequirementsError::Option(line));
            }
            lines.insert(line);
        }
        let mut hash = Sha256::new();
        let mut names: BTreeSet<String> = lines.iter().filter_map(|line| name(line)).collect();
        let mut kept_file = None;
        if let Some(path) = file {
            let files = options::read(path)?;
            names.extend(files.requirements.iter().filter_map(|line| name(line)));
            if files.plain {
                lines.extend(files.requirements);
            } else {
                kept_file = Some(path.to_owned());
                files.hash_into(&mut hash);
            }
        }
        lines.remove("");
        if !names.iter().any(|name| FRAMEWORKS.contains(&name.as_str())) {
            lines.insert(FRAMEWORK_REQUIREMENT.to_owned());
        }
        let lines: Vec<String> = lines.into_iter().collect();
        for line in &lines {
            hash.update(line.as_bytes());
            hash.update(b"\n");
            local::hash_into(&mut hash, line, base_dir)?;
        }
        let digest = hex(&hash.finalize());
        Ok(Self {
            lines,
            file: kept_file,
            base_dir: base_dir.to_owned(),
            digest,
        })
    }

    /// The requirement lines, sorted; those of a file that the installer reads itself are not among them.
    #[must_use]
    pub fn lines(&self) -> &[String] {
        &self.lines
    }

    /// SHA-256 over lines, files and local packages, in hexadecimal.
    #[must_use]
    pub fn digest(&self) -> &str {
        &self.digest
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
        let mut arguments = self.lines.clone();
        if let Some(file) = &self.file {
            arguments.extend(["-r".to_owned(), file.to_string_lossy().into_owned()]);
        }
        arguments
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
mod tests {
    use super::*;

    fn read(listed: &[&str]) -> Requirements {
        let listed: Vec<String> = listed.iter().map(|line| (*line).to_owned()).collect();
        Requirements::read(&listed, None, Path::new("/")).expect("readable requirements")
    }

    #[test]
    fn the_framework_is_pinned_where_nobody_names_one() {
        assert_eq!(read(&[]).lines(), ["cpex==0.1.4"]);
        assert_eq!(
            read(&["cpex-pii-filter==0.3.9"]).lines(),
            ["cpex-pii-filter==0.3.9", "cpex==0.1.4"]
        );
        assert_eq!(read(&["CPEX >= 0.1.4"]).lines(), ["cpex>=0.1.4"]);
        assert_eq!(
            read(&["mcp_contextforge.gateway==1.0.7"]).lines(),
            ["mcp-contextforge-gateway==1.0.7"]
        );
        assert_eq!(
            read(&["git+https://example.org/x.git#egg=cpex"]).lines(),
            ["git+https://example.org/x.git#egg=cpex"]
        );
        assert_eq!(
            read(&["cpex @ https://example.org/cpex.tgz"]).lines(),
            ["cpex @ https://example.org/cpex.tgz"]
        );
    }

    #[test]
    fn sets_that_say_the_same_are_the_same() {
        let one = read(&[
            "Foo_Bar [x] >=1, <2 ; python_version  < '4'  # why",
            "",
            "zip",
            "cpex",
        ]);
        let other = read(&[
            "cpex",
            "zip",
            "foo-bar[x]>=1,<2;python_version < '4'",
            "zip",
        ]);
        assert_eq!(
            one.lines(),
            ["cpex", "foo-bar[x]>=1,<2; python_version < '4'", "zip"]
        );
        assert_eq!(one, other);
        assert_ne!(one.digest(), read(&["cpex", "zip"]).digest());
    }

    #[test]
    fn an_option_is_no_requirement() {
        let error = Requirements::read(&["--pre".into()], None, Path::new("/")).unwrap_err();
        assert_eq!(error.to_string(), "not a requirement: --pre");
    }

    #[test]
    fn a_plain_file_counts_as_its_lines() {
        let folder = tempfile::tempdir().expect("a folder");
        let file = folder.path().join("requirements.txt");
        std::fs::write(
            &file,
            "# what we need\nZip\n\ncpex ==0.1.4 \\\n  # pinned\n",
        )
        .expect("a file");
        let from_file = Requirements::read(&[], Some(&file), folder.path()).expect("readable");
        assert_eq!(
            from_file,
            Requirements::read(&["cpex==0.1.4".into(), "zip".into()], None, folder.path()).unwrap()
        );
    }

    #[test]
    fn a_file_with_options_is_handed_on_and_hashed_with_what_it_names() {
        let folder = tempfile::tempdir().expect("a folder");
        let file = folder.path().join("requirements.txt");
        std::fs::write(&file, "-r more/other.txt\nzip --hash=sha256:00\n").expect("a file");
        std::fs::create_dir(folder.path().join("more")).expect("a folder");
        std::fs::write(folder.path().join("more/other.txt"), "cpex\n").expect("a file");
        let one = Requirements::read(&[], Some(&file), folder.path()).expect("readable");
        assert_eq!(
            one.arguments(),
            ["-r".to_owned(), file.display().to_string()]
        );
        std::fs::write(folder.path().join("more/other.txt"), "cpex==0.1.4\n").expect("a file");
        let other = Requirements::read(&[], Some(&file), folder.path()).expect("readable");
        assert_ne!(one.digest(), other.digest());
        std::fs::remove_file(folder.path().join("more/other.txt")).expect("removable");
        assert!(matches!(
            Requirements::read(&[], Some(&file), folder.path()),
            Err(RequirementsError::Read { .. })
        ));
    }

    #[test]
    fn a_local_package_is_hashed_by_content() {
        let folder = tempfile::tempdir().expect("a folder");
        let read = || Requirements::read(&["./cpex".into()], None, folder.path());
        assert!(matches!(read(), Err(RequirementsError::Read { .. })));
        std::fs::create_dir(folder.path().join("cpex")).expect("a folder");
        std::fs::write(folder.path().join("cpex/a.py"), "a = 1").expect("a file");
        let one = read().expect("readable");
        std::fs::write(folder.path().join("cpex/a.py"), "a = 2").expect("a file");
        assert_ne!(one.digest(), read().expect("readable").digest());
    }
}
