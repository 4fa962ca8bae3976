//! Local packages: a requirement that is a path means what lies there now. And what may run code when it
//! is installed, which is everything but a version of a name and a wheel.

use std::io;
use std::path::{Path, PathBuf};

use sha2::{Digest as _, Sha256};

use super::{RequirementsError, split_name};

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

/// Whether the line is a path, and starts at the folder of whoever names it.
pub(super) fn is_relative(line: &str) -> bool {
    let named = line.starts_with('-') || line.contains(" @ ") || line.starts_with("file:");
    !named && path_of(line).is_some_and(|path| path.is_relative())
}

/// Whether installing what the line names may run code of it: a folder, an archive of sources, a
/// repository.
pub(super) fn builds(line: &str, base_dir: &Path) -> bool {
    if line.starts_with('-') {
        return true;
    }
    if split_name(line).is_some() && !line.contains(" @ ") {
        return false;
    }
    let (scheme, place) = place_of(line);
    let is_wheel = place.ends_with(".whl") && !scheme.contains('+');
    !is_wheel || path_of(line).is_some_and(|path| base_dir.join(path).is_dir())
}

/// The scheme of a line that names a place, with a `+` in it for a repository, and the place without
/// extras, query and fragment.
fn place_of(line: &str) -> (&str, &str) {
    let place = line.split_once(" @ ").map_or(line, |(_, url)| url);
    let place = place.split_once("; ").map_or(place, |(place, _)| place);
    let place = place.split([';', ' ']).next().unwrap_or_default();
    let end = place.find(['#', '?']).unwrap_or(place.len());
    let place = without_extras(place[..end].trim());
    let scheme = place.split_once(':').map_or("", |(scheme, _)| scheme);
    (scheme, place)
}

fn without_extras(place: &str) -> &str {
    if place.ends_with(']') {
        place.split('[').next().unwrap_or(place)
    } else {
        place
    }
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
    let bare = without_extras(bare);
    let archive = bare.ends_with(".whl") || bare.ends_with(".tar.gz");
    let path = url.is_some()
        || bare.starts_with(['.', '/'])
        || ((archive || bare.contains('/')) && !place.contains("://"));
    path.then(|| PathBuf::from(bare))
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
