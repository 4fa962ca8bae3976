//! [`WasmHostOptions`]: how a host is made.

use std::path::PathBuf;

use crate::limits::MAX_CODE_CACHE_BYTES;

/// How a [`crate::WasmHost`] is made. The default compiles every component anew and keeps nothing.
#[derive(Debug, Clone, Default)]
#[non_exhaustive]
pub struct WasmHostOptions {
    /// Where compiled code is kept from one start to the next; nowhere, if there is none.
    pub code_cache: Option<CodeCacheOptions>,
}

impl WasmHostOptions {
    /// These options with a code cache.
    #[must_use]
    pub fn code_cache(mut self, options: impl Into<CodeCacheOptions>) -> Self {
        self.code_cache = Some(options.into());
        self
    }
}

/// A folder for the compiled code of components.
///
/// Code from it runs with all the power of this process, so it is only taken from a folder and from files
/// that belong to this user and that nobody else may write to. The folder is made (mode 0700) when it is
/// first needed. What else is in it is left alone, and so are files of other users.
#[derive(Debug, Clone)]
#[non_exhaustive]
pub struct CodeCacheOptions {
    /// The folder; see [`default_code_cache`].
    pub folder: PathBuf,
    /// Most bytes of code in it; past them the least recently used goes first.
    /// [`crate::MAX_CODE_CACHE_BYTES`] by default.
    pub max_bytes: u64,
}

impl CodeCacheOptions {
    /// Code in `folder`.
    #[must_use]
    pub fn new(folder: impl Into<PathBuf>) -> Self {
        Self {
            folder: folder.into(),
            max_bytes: MAX_CODE_CACHE_BYTES,
        }
    }

    /// These options with another bound.
    #[must_use]
    pub fn max_bytes(mut self, max_bytes: u64) -> Self {
        self.max_bytes = max_bytes;
        self
    }
}

impl From<PathBuf> for CodeCacheOptions {
    fn from(folder: PathBuf) -> Self {
        Self::new(folder)
    }
}

/// `$HOOKGATE_CACHE_DIR`, or `hookgate/components` in the user's cache folder; none without a home.
#[must_use]
pub fn default_code_cache() -> Option<PathBuf> {
    folder_by(|name| {
        std::env::var_os(name)
            .filter(|value| !value.is_empty())
            .map(PathBuf::from)
    })
}

fn folder_by(variable: impl Fn(&str) -> Option<PathBuf>) -> Option<PathBuf> {
    variable("HOOKGATE_CACHE_DIR").or_else(|| {
        // The standard says that a relative path there is to be ignored.
        let cache = variable("XDG_CACHE_HOME").filter(|path| path.is_absolute());
        let cache = cache.or_else(|| variable("HOME").map(|home| home.join(".cache")));
        cache.map(|cache| cache.join("hookgate/components"))
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_first_variable_that_says_something_names_the_folder() {
        type Variables<'a> = &'a [(&'a str, &'a str)];
        let cases: &[(Variables<'_>, Option<&str>)] = &[
            (&[], None),
            (
                &[("HOME", "/home/u")],
                Some("/home/u/.cache/hookgate/components"),
            ),
            (
                &[("HOME", "/home/u"), ("XDG_CACHE_HOME", "/var/c")],
                Some("/var/c/hookgate/components"),
            ),
            (
                &[("HOME", "/home/u"), ("XDG_CACHE_HOME", "c")],
                Some("/home/u/.cache/hookgate/components"),
            ),
            (
                &[
                    ("HOME", "/home/u"),
                    ("XDG_CACHE_HOME", "/c"),
                    ("HOOKGATE_CACHE_DIR", "here"),
                ],
                Some("here"),
            ),
        ];
        for (variables, expected) in cases {
            let found = folder_by(|name| {
                let found = variables.iter().find(|(variable, _)| *variable == name);
                found.map(|(_, value)| PathBuf::from(value))
            });
            assert_eq!(
                found.as_deref(),
                expected.map(std::path::Path::new),
                "{variables:?}"
            );
        }
    }
}
