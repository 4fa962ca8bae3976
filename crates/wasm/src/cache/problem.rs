//! [`CacheProblem`]: why compiled code is not kept.

use std::io;
use std::path::PathBuf;

use hookgate_core::LoadError;

/// Why compiled code is neither taken from the cache nor kept in it. The component is compiled instead.
#[derive(Debug, thiserror::Error)]
pub(crate) enum CacheProblem {
    #[error("the code cache cannot be made: {}: {source}", path.display())]
    Make { path: PathBuf, source: io::Error },
    #[error("the code cache cannot be opened: {}: {source}", path.display())]
    Open { path: PathBuf, source: io::Error },
    #[error("the code cache is {what}, not a folder: {}", path.display())]
    NoFolder { path: PathBuf, what: &'static str },
    #[error("the code cache belongs to another user: {}: uid {owner}", path.display())]
    ForeignFolder { path: PathBuf, owner: u32 },
    #[error("others may write to the code cache: {}: mode {mode:04o}", path.display())]
    SharedFolder { path: PathBuf, mode: u32 },
    #[error("what stands in the code cache belongs to another user and is left alone: {}: uid {owner}", path.display())]
    ForeignFile { path: PathBuf, owner: u32 },
    #[error("a folder stands where compiled code belongs: {}", path.display())]
    InTheWay { path: PathBuf },
    // Of the folder, not the file: what keeps one from being written keeps all, and is told once.
    #[error("compiled code cannot be kept in the code cache: {}: {source}", path.display())]
    Write { path: PathBuf, source: io::Error },
    #[error("compiled code is larger than the code cache may be: {bytes} of {max_bytes} bytes")]
    TooLarge { bytes: u64, max_bytes: u64 },
}

impl CacheProblem {
    /// What to do about it.
    fn hint(&self) -> String {
        match self {
            Self::Make { .. } | Self::Open { .. } => {
                "set HOOKGATE_CACHE_DIR to a folder that this user can write to".into()
            }
            Self::NoFolder { .. } => {
                "name the folder itself in HOOKGATE_CACHE_DIR, or remove what stands there".into()
            }
            Self::ForeignFolder { .. } => {
                "set HOOKGATE_CACHE_DIR to a folder of the user that runs hookgate".into()
            }
            Self::SharedFolder { path, .. } => format!(
                "run `chmod go-w {}`, or set HOOKGATE_CACHE_DIR to a private folder",
                path.display()
            ),
            Self::ForeignFile { path, .. } | Self::InTheWay { path } => {
                format!("run `rm -r {}`", path.display())
            }
            Self::Write { .. } => {
                "set HOOKGATE_CACHE_DIR to a folder that this user can write to, with room in it"
                    .into()
            }
            Self::TooLarge { .. } => {
                "build the component without debug information, and optimised for size".into()
            }
        }
    }

    pub(crate) fn to_error(&self) -> LoadError {
        LoadError::new(self.to_string()).hint(self.hint())
    }
}
