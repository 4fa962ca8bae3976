//! Requirements files: lines, and the files that `-r` and `-c` name. Read as installers read them, and
//! where the two differ, so that nothing is hidden from us that one of them would do.

use std::collections::HashSet;
use std::path::{Path, PathBuf};

use sha2::{Digest as _, Sha256};

use super::{RequirementsError, local, normalise};

/// Options that only say where packages come from and which are preferred. Any other may, or may as an
/// abbreviation, let an installer run code; their values are not judged.
const HARMLESS: [&str; 14] = [
    "-i",
    "--index-url",
    "--extra-index-url",
    "--no-index",
    "-f",
    "--find-links",
    "-r",
    "--requirement",
    "-c",
    "--constraint",
    "--require-hashes",
    "--pre",
    "--prefer-binary",
    "--trusted-host",
];

/// A requirements file with every file it names.
pub(super) struct Files {
    /// Requirements of the file and of those it includes, normalised, without their options.
    pub(super) requirements: Vec<String>,
    /// Whether there is nothing in it but requirements.
    pub(super) plain: bool,
    /// Whether one of them has a hash, so that all must.
    pub(super) hashed: bool,
    allow_build: bool,
    hash: Sha256,
    seen: HashSet<PathBuf>,
}

pub(super) fn read(path: &Path, allow_build: bool) -> Result<Files, RequirementsError> {
    let mut files = Files {
        requirements: Vec::new(),
        plain: true,
        hashed: false,
        allow_build,
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
        if let Some(why) = other_kind(path, &text) {
            let path = path.to_owned();
            return Err(RequirementsError::NoRequirements { path, why });
        }
        self.hash.update((text.len() as u64).to_be_bytes());
        self.hash.update(text.as_bytes());
        let folder = path.parent().unwrap_or(Path::new("/"));
        for line in logical_lines(&text) {
            let line = line.replace('\t', " ");
            let line = line.trim();
            // Options stand alone, or behind a requirement as `--hash` does.
            let split = line.find(" -").filter(|_| !line.starts_with('-'));
            let (bare, options) = match split {
                Some(at) => (line[..at].trim_end(), Some(&line[at + 1..])),
                None => (line, None),
            };
            if !self.allow_build && builds(line, bare, options, folder) {
                return Err(RequirementsError::Builds(line.to_owned()));
            }
            let hashes = options.is_some_and(|options| options.contains("--hash"));
            self.hashed |= hashes || line == "--require-hashes";
            if let Some((included, installs_too)) = included(line) {
                self.plain = false;
                if !included.contains("://") {
                    self.add(&folder.join(included), installs && installs_too)?;
                }
                continue;
            }
            // A relative path in a file is the file's affair.
            self.plain &= !line.starts_with('-') && options.is_none() && !local::is_local(bare);
            let editable = ["-e ", "--editable "]
                .iter()
                .any(|option| line.starts_with(option));
            if installs && !line.is_empty() && (editable || !line.starts_with('-')) {
                local::hash_into(&mut self.hash, bare, folder)?;
                self.requirements.push(normalise(bare));
            }
        }
        Ok(())
    }
}

/// Whether installers may run code because of the line, or read what we have not seen.
fn builds(line: &str, bare: &str, options: Option<&str>, folder: &Path) -> bool {
    if let Some((included, _)) = included(line) {
        return included.contains("://");
    }
    if line.starts_with('-') {
        return !only(line, &HARMLESS);
    }
    let others = options.is_some_and(|options| !only(options, &["--hash"]));
    others || (!bare.is_empty() && local::builds(&normalise(bare), folder))
}

/// Whether no option is in the text but those. Quoted, one would not be recognised.
fn only(text: &str, options: &[&str]) -> bool {
    let known = |word: &str| {
        let option = word.split('=').next().unwrap_or_default();
        // A short one may have its value right behind it.
        let short = word.get(..2).filter(|_| !word.starts_with("--"));
        options.contains(&option) || short.is_some_and(|short| options.contains(&short))
    };
    let mut words = text.split(' ').filter(|word| word.starts_with('-'));
    !text.contains(['\'', '"', '\\']) && words.all(known)
}

/// Why a text is not to be read as requirements, if it is not.
fn other_kind(path: &Path, text: &str) -> Option<&'static str> {
    if path.extension().is_some_and(|ending| ending == "toml") {
        return Some("a TOML file");
    }
    // pip would read the file in the encoding that a comment of the first two lines names.
    let named = physical_lines(text).iter().take(2).find_map(|line| {
        let (_, rest) = line.trim_start().strip_prefix('#')?.split_once("coding")?;
        let name = rest.strip_prefix([':', '='])?.trim_start();
        let end = name.find(|c: char| !(c.is_alphanumeric() || "-_.".contains(c)));
        Some(name[..end.unwrap_or(name.len())].to_lowercase())
    });
    let utf8 =
        |name: &String| ["utf-8", "utf8", "utf_8", "ascii", "us-ascii"].contains(&name.as_str());
    named
        .filter(|name| !utf8(name))
        .map(|_| "it names an encoding other than UTF-8")
}

/// What Python's `splitlines` takes for lines, which is what pip reads.
fn physical_lines(text: &str) -> Vec<String> {
    let text = text.strip_prefix('\u{feff}').unwrap_or(text);
    let ends = |c: char| {
        matches!(
            c,
            '\n' | '\r' | '\u{b}' | '\u{c}' | '\u{1c}'
                ..='\u{1e}' | '\u{85}' | '\u{2028}' | '\u{2029}'
        )
    };
    let text = text.replace("\r\n", "\n");
    text.split(ends).map(str::to_owned).collect()
}

/// Lines joined where a backslash ends them, without comments. A comment ends its line, whatever it ends
/// with: so does the start of one for pip, and any for uv.
fn logical_lines(text: &str) -> Vec<String> {
    let mut lines = Vec::new();
    let mut open = String::new();
    for line in physical_lines(text) {
        let code = without_comment(&line);
        match code.strip_suffix('\\') {
            Some(begun) if code.len() == line.len() => open.push_str(begun),
            _ => {
                open.push_str(code);
                lines.push(std::mem::take(&mut open));
            }
        }
    }
    lines.push(open);
    lines
}

/// The line up to its comment, white space kept.
fn without_comment(line: &str) -> &str {
    let at = line.char_indices().find(|&(at, character)| {
        character == '#' && (at == 0 || line[..at].ends_with(char::is_whitespace))
    });
    at.map_or(line, |(at, _)| &line[..at])
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
