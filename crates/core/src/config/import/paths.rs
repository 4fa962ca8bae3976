//! Paths as the imported file writes them: from its own folder where that leads there.

use std::path::{Component, Path, PathBuf};

use super::entry::Why;

/// A path from a folder: below it as it is, beside it by steps upwards, else absolute.
pub(super) fn from(folder: &Path, path: &Path) -> Result<String, Why> {
    let below = plain(path);
    let relative = match below.strip_prefix(plain(folder)) {
        Ok(below) => below.to_owned(),
        // A step upwards leads to where a folder really is, links aside.
        Err(_) => beside(&real(folder), &real(path)).unwrap_or_else(|| path.to_owned()),
    };
    match relative.to_str() {
        Some("") => Ok(".".into()),
        Some(text) => Ok(text.to_owned()),
        None => Err(format!("a path is not UTF-8: {}", path.display())),
    }
}

/// Whether two paths lead to one place.
pub(super) fn same(one: &Path, other: &Path) -> bool {
    plain(one) == plain(other) || real(one) == real(other)
}

/// Without `.` in it.
fn plain(path: &Path) -> PathBuf {
    path.components().collect()
}

/// Without links and steps, as far as it exists.
fn real(path: &Path) -> PathBuf {
    let mut missing = Vec::new();
    for ancestor in path.ancestors() {
        if let Ok(real) = ancestor.canonicalize() {
            return missing
                .iter()
                .rev()
                .fold(real, |path, name| path.join(name));
        }
        match ancestor.components().next_back() {
            Some(Component::Normal(name)) => missing.push(name),
            _ => break,
        }
    }
    plain(path)
}

/// A path that shares a folder with another, by steps.
fn beside(folder: &Path, path: &Path) -> Option<PathBuf> {
    let common = folder
        .components()
        .zip(path.components())
        .take_while(|(one, other)| one == other)
        .count();
    // Only the root in common: steps would say less than the path itself.
    if common < 2 {
        return None;
    }
    let ups = folder
        .components()
        .skip(common)
        .map(|_| Component::ParentDir);
    Some(ups.chain(path.components().skip(common)).collect())
}

#[cfg(test)]
mod tests {
    use std::path::Path;

    use super::{from, same};

    #[test]
    fn below_beside_and_elsewhere() {
        let folder = tempfile::TempDir::new().unwrap();
        let base = folder.path().canonicalize().unwrap();
        std::fs::create_dir_all(base.join("app/plugins")).unwrap();
        std::fs::create_dir_all(base.join("other")).unwrap();
        for (target, path, expected) in [
            ("app", "app", "."),
            ("app", "app/./plugins/x.txt", "plugins/x.txt"),
            ("app/plugins", "app", ".."),
            ("app/plugins", "app/plugins/../x", "../x"),
            ("app", "other/missing/x", "../other/missing/x"),
        ] {
            let written = from(&base.join(target), &base.join(path)).unwrap();
            assert_eq!(written, expected, "{path} from {target}");
            assert!(
                same(&base.join(target).join(&written), &base.join(path)),
                "{path}"
            );
        }
        assert_eq!(from(&base, Path::new("/nowhere/x")).unwrap(), "/nowhere/x");
    }

    #[cfg(unix)]
    #[test]
    fn a_linked_folder_is_left_by_where_it_leads() {
        let folder = tempfile::TempDir::new().unwrap();
        let base = folder.path().canonicalize().unwrap();
        std::fs::create_dir_all(base.join("deep/real")).unwrap();
        std::os::unix::fs::symlink(base.join("deep/real"), base.join("link")).unwrap();
        std::fs::write(base.join("x"), "").unwrap();
        let written = from(&base.join("link"), &base.join("x")).unwrap();
        assert_eq!(written, "../../x");
        assert!(base.join("link").join(&written).exists());
    }
}
