//! Local packages: a requirement that is a path means what lies there now.

use std::io;
use std::path::{Path, PathBuf};

use sha2::{Digest as _, Sha256};

use super::RequirementsError;

/// Folders that builds and version control leave in a package's folder.
const NO_SOURCE: [&str; 5] = [".git", "__pycache__", "build", "dist", ".venv"];

/// Hashes the content of the file or folder that the line names; nothing for any other line.
pub(super) fn hash_into(
    hash: &mut Sha256,
    line: &str,
    base_dir: &Path,
) -> Result<(), RequirementsError> {
    let Some(path) = path_of(line) else {
        return Ok(());
    };
    let path = base_dir.join(path);
    add(hash, &path).map_err(|source| RequirementsError::Read { path, source })
}

/// Whether the line names a file or folder.
pub(super) fn is_local(line: &str) -> bool {
    path_of(line).is_some()
}

fn path_of(line: &str) -> Option<PathBuf> {
    let line = line
        .strip_prefix("-e ")
        .or_else(|| line.strip_prefix("--editable "))
        .unwrap_or(line)
        .trim();
    let place = line.split_once(" @ ").map_or(line, |(_, url)| url);
    let place = place.split_once("; ").map_or(place, |(place, _)| place);
    let url = place
        .strip_prefix("file://")
        .or_else(|| place.strip_prefix("file:"));
    let bare = url
        .unwrap_or(place)
        .split('#')
        .next()
        .unwrap_or_default()
        .trim();
    let without_extras = if bare.ends_with(']') {
        bare.split('[').next().unwrap_or(bare)
    } else {
        bare
    };
    let archive = without_extras.ends_with(".whl") || without_extras.ends_with(".tar.gz");
    let path = url.is_some()
        || without_extras.starts_with(['.', '/'])
        || (archive && !place.contains("://"));
    path.then(|| PathBuf::from(without_extras))
}

fn add(hash: &mut Sha256, path: &Path) -> io::Result<()> {
    if !std::fs::metadata(path)?.is_dir() {
        hash.update(Sha256::digest(std::fs::read(path)?));
        return Ok(());
    }
    let mut entries = std::fs::read_dir(path)?.collect::<io::Result<Vec<_>>>()?;
    entries.sort_by_key(std::fs::DirEntry::file_name);
    for entry in entries {
        let name = entry.file_name();
        let generated = name.to_string_lossy().ends_with(".egg-info");
        if generated || NO_SOURCE.iter().any(|skipped| name == *skipped) {
            continue;
        }
        hash.update(name.as_encoded_bytes());
        hash.update(b"\0");
        // A link is hashed by where it points, so that a loop of links ends.
        if entry.file_type()?.is_symlink() {
            hash.update(
                std::fs::read_link(entry.path())?
                    .as_os_str()
                    .as_encoded_bytes(),
            );
        } else {
            add(hash, &entry.path())?;
        }
    }
    Ok(())
}
