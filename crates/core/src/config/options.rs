//! How a configuration is read: in which shape, and where variables come from.

use std::ffi::OsString;
use std::fmt;
use std::path::PathBuf;
use std::sync::Arc;

/// Which words a configuration may use.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Hash)]
pub enum Shape {
    /// Legacy if the file has `plugin_dirs` or `plugin_settings` at its top or a mode only the legacy
    /// framework has; else ours.
    #[default]
    Auto,
    /// Ours: nothing is filled in, nothing is only noted.
    Hookgate,
    /// The legacy framework's, with our words besides.
    Legacy,
}

/// What reading a configuration depends on besides its text.
#[derive(Debug, Clone, Default)]
#[non_exhaustive]
pub struct ReadOptions {
    /// The shape to read it in.
    pub shape: Shape,
    /// Where the templates of a legacy file find variables.
    pub environment: Environment,
    /// The folder a legacy file may mean by its relative paths besides its own and the one above; the
    /// process's by default.
    pub current_dir: Option<PathBuf>,
    /// Whether the result is written anew, in a file that fills nothing in.
    pub(super) rewriting: bool,
}

impl ReadOptions {
    /// The process's variables and current folder.
    #[must_use]
    pub fn new(shape: Shape) -> Self {
        Self {
            shape,
            ..Self::default()
        }
    }

    /// Variables from `environment` instead of the process.
    #[must_use]
    pub fn environment(mut self, environment: Environment) -> Self {
        self.environment = environment;
        self
    }

    /// Another current folder than the process's.
    #[must_use]
    pub fn current_dir(mut self, folder: impl Into<PathBuf>) -> Self {
        self.current_dir = Some(folder.into());
        self
    }
}

/// Variables by name: the process's own by default.
#[derive(Clone)]
pub struct Environment(Arc<Look>);

type Look = dyn Fn(&str) -> Option<OsString> + Send + Sync;

impl Environment {
    /// Variables that `look` finds.
    pub fn new(look: impl Fn(&str) -> Option<OsString> + Send + Sync + 'static) -> Self {
        Self(Arc::new(look))
    }

    /// The value of a variable, if it is set.
    #[must_use]
    pub fn get(&self, name: &str) -> Option<OsString> {
        (self.0)(name)
    }
}

impl Default for Environment {
    fn default() -> Self {
        Self::new(|name| std::env::var_os(name))
    }
}

impl<N: Into<String>, V: Into<OsString>> FromIterator<(N, V)> for Environment {
    /// Exactly these variables.
    fn from_iter<I: IntoIterator<Item = (N, V)>>(variables: I) -> Self {
        let variables: std::collections::HashMap<String, OsString> = variables
            .into_iter()
            .map(|(name, value)| (name.into(), value.into()))
            .collect();
        Self::new(move |name| variables.get(name).cloned())
    }
}

impl fmt::Debug for Environment {
    /// Neither names nor values.
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("Environment")
    }
}
