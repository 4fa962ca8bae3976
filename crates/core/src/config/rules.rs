//! How the entries of one file are read.

use std::path::{Path, PathBuf};

use super::groups::Groups;
use super::legacy::{self, Surroundings};
use super::yaml::Node;

/// What entries are read by besides themselves.
#[derive(Clone, Copy)]
pub(super) struct Rules<'a> {
    /// Where relative paths start.
    pub base_dir: &'a Path,
    /// The groups they are in.
    pub groups: &'a Groups,
    /// What the rest of a legacy file says about them; none in our own shape.
    pub legacy: Option<&'a Surroundings>,
    /// Whether the entries are written anew, so that also a disabled one is read whole: it may be switched
    /// on again.
    pub rewriting: bool,
}

impl Rules<'_> {
    /// Where classes are imported from if an entry says nothing else.
    pub fn import_paths(&self) -> Vec<PathBuf> {
        match self.legacy {
            Some(around) => around.import_paths.clone(),
            None => vec![self.base_dir.to_owned()],
        }
    }

    /// Whether an entry is only parsed.
    pub fn leave_alone(&self, entry: &Node) -> bool {
        self.legacy.is_some() && legacy::is_left_alone(entry)
    }
}
