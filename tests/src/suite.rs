//! Reading vector files.

use std::collections::BTreeMap;
use std::fs;
use std::path::Path;

use hookgate_core::config::{Mode, OnError};
use hookgate_core::{Condition, Json, Request};
use serde::Deserialize;
use serde::de::DeserializeOwned;

use crate::guests::root;
use crate::kind::Kind;

/// What `make.py` has written.
#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
struct Index {
    files: Vec<String>,
    steps: BTreeMap<Kind, usize>,
}

/// All vector files together.
#[derive(Debug, Default)]
pub struct Suite {
    /// Engines by name.
    pub setups: BTreeMap<String, SetupEntry>,
    /// In file order.
    pub vectors: Vec<Vector>,
    /// Steps each kind has to run, as `make.py` counted them.
    pub steps: BTreeMap<Kind, usize>,
}

/// One file.
#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
struct File {
    setups: BTreeMap<String, SetupEntry>,
    vectors: Vec<Vector>,
}

/// One engine.
#[derive(Debug, Clone, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct SetupEntry {
    /// Its plugins, in config order.
    pub plugins: Vec<PluginEntry>,
}

/// One plugin of an engine.
#[derive(Debug, Clone, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct PluginEntry {
    /// Entry name.
    pub name: String,
    /// `deny-list`, `redactor` or `script`.
    pub policy: String,
    /// Hooks it listens to.
    pub hooks: Vec<String>,
    /// Its own config.
    pub config: Json,
    /// Mode, where it is not the default.
    pub mode: Option<Mode>,
    /// What a fault does, where it is not the default.
    pub on_error: Option<OnError>,
    /// Priority, where it is not the default.
    pub priority: Option<i32>,
    /// Timeout, where it is not the default.
    pub timeout_ms: Option<u64>,
    /// Data grants.
    #[serde(default)]
    pub data: Vec<String>,
    /// When it is asked; always, if there are none.
    #[serde(default)]
    pub conditions: Vec<ConditionEntry>,
}

/// One condition of a plugin. Of the fields conditions have the vectors use this one.
#[derive(Debug, Clone, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct ConditionEntry {
    /// Names of tools.
    pub tools: Vec<String>,
}

impl ConditionEntry {
    /// As the engine takes it.
    #[must_use]
    pub fn condition(&self) -> Condition {
        let mut condition = Condition::default();
        condition.tools = self.tools.iter().cloned().collect();
        condition
    }
}

/// One vector.
#[derive(Debug, Clone, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Vector {
    /// Its name.
    pub name: String,
    /// The engine it runs on.
    pub setup: String,
    /// The kinds of plugin that can do what it takes; all, if it says nothing.
    pub kinds: Option<Vec<Kind>>,
    /// What is asked, in order.
    pub steps: Vec<Step>,
}

/// One question.
#[derive(Debug, Clone, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Step {
    /// The hook.
    pub hook: String,
    /// JSON text.
    pub payload: String,
    /// Who asks.
    #[serde(default)]
    pub request: Request,
    /// What must come of it.
    pub expected: Expected,
}

impl Vector {
    /// Whether a kind of plugin can do what it takes.
    #[must_use]
    pub fn is_for(&self, kind: Kind) -> bool {
        self.kinds
            .as_ref()
            .is_none_or(|kinds| kinds.contains(&kind))
    }
}

/// What must come of a step.
#[derive(Debug, Clone, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum Expected {
    /// A canonical outcome.
    Outcome(serde_json::Value),
    /// An error with this code.
    Error(String),
}

impl Suite {
    /// Reads every file of vectors in `tests/vectors`.
    ///
    /// # Panics
    ///
    /// If one cannot be read or a name is given twice.
    #[must_use]
    pub fn load() -> Self {
        let folder = root().join("tests/vectors");
        let index: Index = read(&folder.join("index.json"));
        let mut suite = Self {
            steps: index.steps,
            ..Self::default()
        };
        for name in index.files {
            let file: File = read(&folder.join(name));
            for (name, setup) in file.setups {
                assert!(
                    suite.setups.insert(name.clone(), setup).is_none(),
                    "setup {name} is there twice"
                );
            }
            suite.vectors.extend(file.vectors);
        }
        let mut names: Vec<_> = suite.vectors.iter().map(|vector| &vector.name).collect();
        names.sort_unstable();
        assert!(
            names.windows(2).all(|pair| pair[0] != pair[1]),
            "a vector's name is there twice"
        );
        suite
    }
}

fn read<T: DeserializeOwned>(path: &Path) -> T {
    let text =
        fs::read_to_string(path).unwrap_or_else(|error| panic!("{}: {error}", path.display()));
    serde_json::from_str(&fill(&text)).unwrap_or_else(|error| panic!("{}: {error}", path.display()))
}

/// Replaces each `@@FILL:<text>:<count>@@`. What is repeated needs no escaping in JSON.
fn fill(text: &str) -> String {
    let mut filled = String::with_capacity(text.len());
    let mut rest = text;
    while let Some((before, after)) = rest.split_once("@@FILL:") {
        filled.push_str(before);
        let (fill, after) = after.split_once("@@").expect("a FILL ends with @@");
        let (piece, count) = fill.rsplit_once(':').expect("a FILL has a count");
        filled.push_str(&piece.repeat(count.parse().expect("a FILL's count is a number")));
        rest = after;
    }
    filled.push_str(rest);
    filled
}
