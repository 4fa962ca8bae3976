//! The folder a legacy file's paths start from.
//!
//! At home that is the folder the gateway was started in, the root of its project, while the file lies
//! in `plugins/` below it. A file does not say where its root is, so it is where the folders and
//! packages that it names are.

use std::path::{Path, PathBuf};

/// Where a file's paths may start.
#[derive(Debug)]
pub(in crate::config) struct Candidates<'a> {
    /// The folder the file is in.
    pub file_dir: &'a Path,
    /// The process's folder.
    pub current_dir: Option<&'a Path>,
}

/// What a file names.
#[derive(Debug, Default)]
pub(in crate::config) struct Named<'n> {
    /// Its `plugin_dirs`.
    pub plugin_dirs: Vec<&'n str>,
    /// The first parts of its classes.
    pub packages: Vec<&'n str>,
}

/// The first of the file's folder, the one above and the current one in which one of the `plugin_dirs`
/// is; if none has any, the first in which a package of a class is; else the file's folder, or the one
/// above a folder `plugins`, where the gateway looks for its configuration.
pub(in crate::config) fn find(candidates: &Candidates<'_>, named: &Named<'_>) -> PathBuf {
    let folders: Vec<&Path> = [
        Some(candidates.file_dir),
        candidates.file_dir.parent(),
        candidates.current_dir,
    ]
    .into_iter()
    .flatten()
    .collect();
    let has_dir = |folder: &&&Path| {
        // An absolute folder is there from anywhere, and `.` is in every folder.
        let relative = named.plugin_dirs.iter().filter(|dir| {
            let mut parts = Path::new(dir).components();
            Path::new(dir).is_relative() && parts.any(|part| part != std::path::Component::CurDir)
        });
        relative.into_iter().any(|dir| folder.join(dir).is_dir())
    };
    let has_package = |folder: &&&Path| {
        let mut packages = named.packages.iter();
        packages.any(|package| has_package(folder, package))
    };
    let found = folders.iter().find(has_dir);
    let found = found.or_else(|| folders.iter().find(has_package));
    let above_plugins = || {
        let is_plugins = candidates
            .file_dir
            .file_name()
            .is_some_and(|name| name == "plugins");
        is_plugins.then(|| candidates.file_dir.parent()).flatten()
    };
    found
        .copied()
        .or_else(above_plugins)
        .unwrap_or(candidates.file_dir)
        .to_owned()
}

/// Whether Python could import the package, or a module of its name, from the folder.
pub(in crate::config) fn has_package(folder: &Path, package: &str) -> bool {
    folder.join(package).is_dir() || folder.join(format!("{package}.py")).is_file()
}
