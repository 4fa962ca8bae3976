//! Paths of an entry: relative to the configuration's folder, and there when the file is read.

use std::fs::{self, File};
use std::io;
use std::path::{Path, PathBuf};

use super::read::string;
use super::report::{Findings, shown};
use super::yaml::Node;

/// What a path must lead to.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Target {
    File,
    Folder,
    Either,
}

/// How the paths of one entry are read.
#[derive(Debug, Clone, Copy)]
pub(super) struct Paths<'a> {
    pub base_dir: &'a Path,
    /// What becomes of a path that leads nowhere.
    pub check: Check,
}

/// How paths are looked at.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Check {
    /// One that leads nowhere is a problem.
    Required,
    /// One that leads nowhere is a note: its plugin is disabled.
    Noted,
    /// Not at all.
    None,
}

impl Paths<'_> {
    /// Reads a path; one that leads nowhere is reported and still given.
    pub fn read(
        &self,
        node: &Node,
        what: &str,
        to: Target,
        findings: &mut Findings,
    ) -> Option<PathBuf> {
        let text = string(node, what, findings)?;
        if text.is_empty() || text.contains('\0') {
            let message = format!(
                "{what}: not a path: {}",
                if text.is_empty() {
                    "empty"
                } else {
                    "holds NUL"
                }
            );
            findings.error(
                &node.at,
                message,
                Some("write a path, for example ./data".into()),
            );
            return None;
        }
        let path = self.base_dir.join(text);
        if self.check != Check::None
            && let Err(why) = check(&path, to)
        {
            let message = format!("{what}: {why}: {}", shown(text));
            let hint = format!("looked at {}", shown(&path.display().to_string()));
            self.report(node, message, hint, findings);
        }
        Some(path)
    }

    /// Reports what is wrong with the place that a path leads to.
    pub fn report(&self, node: &Node, message: String, hint: String, findings: &mut Findings) {
        match self.check {
            Check::Required => findings.error(&node.at, message, Some(hint)),
            Check::Noted => findings.note(&node.at, message, Some(hint)),
            Check::None => {}
        }
    }
}

fn check(path: &Path, to: Target) -> Result<(), String> {
    let is_folder = fs::metadata(path).map_err(|e| reason(&e))?.is_dir();
    match to {
        Target::File if is_folder => return Err("is a folder, not a file".into()),
        Target::Folder if !is_folder => return Err("is a file, not a folder".into()),
        _ => {}
    }
    // Opening is the only honest test of whether it can be read. A pipe or a device is not opened:
    // that could wait for ever.
    let opened = if is_folder {
        fs::read_dir(path).map(drop)
    } else if fs::metadata(path).is_ok_and(|found| found.is_file()) {
        File::open(path).map(drop)
    } else if to == Target::File {
        return Err("not a regular file".into());
    } else {
        Ok(())
    };
    opened.map_err(|e| reason(&e))
}

/// An operating system's error in the words of a message.
pub(super) fn reason(error: &io::Error) -> String {
    match error.kind() {
        io::ErrorKind::NotFound => "no such file or folder".into(),
        io::ErrorKind::PermissionDenied => "permission denied".into(),
        io::ErrorKind::IsADirectory => "is a folder, not a file".into(),
        io::ErrorKind::NotADirectory => "leads through a file".into(),
        kind => kind.to_string(),
    }
}
