//! The configuration: one YAML file, read into [`PluginSpec`]s that a host can load.
//!
//! A text takes four steps. `yaml` turns it into a tree of nodes that know their place;
//! `keys` says which keys a mapping may hold; `entry` and the files beside it turn nodes into
//! specs; `report` carries what was wrong. Reading never stops at the first mistake: a
//! [`ConfigReport`] lists all of them, each with its line, column, plugin and a hint. Only YAML that
//! cannot be parsed at all ends the reading at once. A file of the legacy framework's shape takes the same
//! steps once its templates are filled in; `legacy` says what differs there.
//!
//! Invariants:
//! - a [`Config`] exists only if no problem was found; what remains are notes;
//! - nothing is ignored in silence: a key is read, refused as unknown, or refused as not supported
//!   yet;
//! - what templates took from the environment is in specs and in no message;
//! - every path in a spec is absolute if the base folder is, and existed when the file was read,
//!   unless the plugin is disabled.
//!
//! ```
//! use hookgate_core::config::Config;
//!
//! let text = "plugins:\n  - name: gate\n    kind: wasn\n    hooks: [tool_pre_invoke]\n";
//! let report = Config::parse(text, "hookgate.yaml", ".".as_ref()).unwrap_err();
//! assert_eq!(report.problems[0].message, "unknown kind: wasn");
//! assert_eq!((report.problems[0].line, report.problems[0].column), (3, 11));
//! ```

mod conditions;
pub mod defaults;
mod digest;
mod entry;
mod entry_at;
mod groups;
mod hidden;
mod hooks;
mod host;
mod import;
mod instances;
mod keys;
mod kind;
mod legacy;
mod limits;
mod manifest;
mod number;
mod options;
mod paths;
mod permissions;
mod plugin_config;
mod python;
mod read;
mod report;
mod rules;
mod schema;
mod spec;
mod yaml;

use std::fs::File;
use std::io::{self, Read};
use std::path::{Path, PathBuf};

pub(crate) use hooks::{is_known_hook, known_hooks};
pub use host::{AddressRange, HostError, HostPattern, host_name};
pub use import::Imported;
pub(crate) use keys::nearest;
pub use manifest::Manifest;
pub use options::{Environment, ReadOptions, Shape};
pub use report::{ConfigReport, Problem};
pub use schema::json_schema;
pub use spec::{
    About, Access, FileGrant, InstancePolicy, Instances, Limits, Mode, NetworkGrant, OnError,
    Permissions, PluginKind, PluginSpec, PythonOptions, SCRATCH_GUEST_PATH, Sandbox, SecretGrant,
    SecretSource, WorkerKind,
};

use keys::Keys;
use report::{Findings, Place};
use rules::Rules;
use yaml::{Node, Value};

/// Largest configuration file that is read, in bytes. A gateway with a thousand plugins stays far
/// below it; a path that names a log or a device by mistake does not.
pub const MAX_CONFIG_BYTES: u64 = 4 * 1024 * 1024;

/// A configuration without problems.
#[derive(Debug, Clone, PartialEq, Eq)]
#[non_exhaustive]
pub struct Config {
    /// The `plugins:` entries in the order of the file; names are distinct. Disabled ones included.
    pub plugins: Vec<PluginSpec>,
    /// The folder relative paths start from: that of the file, or the one a legacy file means.
    pub base_dir: PathBuf,
    /// The shape it was read in: ours or the legacy one.
    pub shape: Shape,
    /// Whether a plugin that does not load is left out instead of failing the whole
    /// (`fail_on_plugin_error: false` of a legacy configuration).
    pub skip_unloadable: bool,
    /// The file the text came from, as it was named.
    pub file: Option<PathBuf>,
    /// Largest payload that is accepted, in bytes (`max_payload_bytes`).
    pub max_payload_bytes: u64,
    /// Largest state kept for one request, in bytes (`max_state_bytes`).
    pub max_state_bytes: u64,
    /// What to tell the operator although the configuration is good: `problems` is empty, `notes`
    /// may not be.
    pub report: ConfigReport,
}

impl Default for Config {
    /// No plugins and the default limits, for engines set up in code.
    fn default() -> Self {
        Self {
            plugins: Vec::new(),
            base_dir: PathBuf::new(),
            shape: Shape::Hookgate,
            skip_unloadable: false,
            file: None,
            max_payload_bytes: defaults::MAX_PAYLOAD_BYTES,
            max_state_bytes: defaults::MAX_STATE_BYTES,
            report: ConfigReport::default(),
        }
    }
}

impl Config {
    /// Reads the file at `path`, in the shape it has. Paths inside it are relative to its folder.
    ///
    /// # Errors
    /// Every problem of the file at once; one problem if it cannot be read or is not YAML.
    pub fn load(path: &Path) -> Result<Self, ConfigReport> {
        Self::load_with(path, &ReadOptions::default())
    }

    /// The same, with everything that reading depends on besides the text.
    ///
    /// # Errors
    /// As [`Config::load`].
    pub fn load_with(path: &Path, options: &ReadOptions) -> Result<Self, ConfigReport> {
        let name = path.display().to_string();
        let text = read_text(path).map_err(|problem| problem.into_report(&name))?;
        let absolute = std::path::absolute(path).unwrap_or_else(|_| path.to_owned());
        let base_dir = absolute.parent().unwrap_or(Path::new("."));
        let mut config = Self::parse_with(&text, &name, base_dir, options)?;
        config.file = Some(path.to_owned());
        Ok(config)
    }

    /// Reads `text`. `file_name` is what reports call it; relative paths start at `base_dir`, which
    /// is made absolute.
    ///
    /// # Errors
    /// Every problem of the text at once; one problem if it is not YAML.
    pub fn parse(text: &str, file_name: &str, base_dir: &Path) -> Result<Self, ConfigReport> {
        Self::parse_with(text, file_name, base_dir, &ReadOptions::default())
    }

    /// The same, with everything that reading depends on besides the text.
    ///
    /// # Errors
    /// As [`Config::parse`].
    pub fn parse_with(
        text: &str,
        file_name: &str,
        base_dir: &Path,
        options: &ReadOptions,
    ) -> Result<Self, ConfigReport> {
        let base_dir = std::path::absolute(base_dir).unwrap_or_else(|_| base_dir.to_owned());
        let mut findings = Findings::new(file_name);
        let mut config = Self {
            base_dir,
            ..Self::default()
        };
        config.shape = match options.shape {
            Shape::Auto => legacy::detect(text, &options.environment),
            shape => shape,
        };
        let read = match config.shape {
            Shape::Legacy => {
                legacy::parse(text, &options.environment, &mut findings).map(|mut document| {
                    if options.rewriting {
                        document.settle(text);
                    }
                    read_root(&document.root, &mut config, options, &mut findings);
                    document.remark(&mut findings);
                })
            }
            _ => {
                yaml::parse(text).map(|root| read_root(&root, &mut config, options, &mut findings))
            }
        };
        if let Err(broken) = read {
            findings.enter(entry_at::name(text, broken.at.line).as_deref());
            findings.error(&broken.at, broken.message, broken.hint);
        }
        config.report = findings.into_report(text);
        if config.report.problems.is_empty() {
            Ok(config)
        } else {
            Err(config.report)
        }
    }
}

fn read_root(root: &Node, config: &mut Config, options: &ReadOptions, findings: &mut Findings) {
    if matches!(root.value, Value::Null) && root.at.span.is_empty() {
        let hint = "start with `plugins:` and one entry, or write `plugins: []`";
        return findings.error(&root.at, "the file is empty".into(), Some(hint.into()));
    }
    let is_legacy = config.shape == Shape::Legacy;
    let fields = match is_legacy {
        true => legacy::top(root, findings),
        false => Keys::TOP.read(root, findings),
    };
    let Some(fields) = fields else {
        return;
    };
    let around = is_legacy.then(|| {
        let around = legacy::surroundings(&fields, &config.base_dir, options, findings);
        config.base_dir.clone_from(&around.base_dir);
        config.skip_unloadable = around.skip_unloadable;
        around
    });
    let groups = fields
        .get("groups")
        .filter(|node| !(is_legacy && legacy::are_policy_groups(node, findings)))
        .map(|node| groups::read(node, fields.get("plugins"), findings))
        .unwrap_or_default();
    let rules = Rules {
        base_dir: &config.base_dir,
        groups: &groups,
        legacy: around.as_ref(),
        rewriting: options.rewriting,
    };
    match fields.get("plugins") {
        None if is_legacy => legacy::note_no_plugins(&root.at, findings),
        Some(plugins) if is_legacy && matches!(plugins.value, Value::Null) => {
            legacy::note_no_plugins(&plugins.at, findings);
        }
        Some(plugins) => config.plugins = entry::read_all(plugins, &rules, findings),
        None => findings.error(
            &root.at,
            "missing key: plugins".into(),
            Some("write `plugins: []` for a configuration without plugins".into()),
        ),
    }
    if let Some(bytes) = fields
        .get("max_payload_bytes")
        .and_then(|node| limits::size(node, "max_payload_bytes", findings))
    {
        config.max_payload_bytes = bytes;
    }
    if let Some(bytes) = fields
        .get("max_state_bytes")
        .and_then(|node| limits::size(node, "max_state_bytes", findings))
    {
        config.max_state_bytes = bytes;
    }
}

/// Why a file gave no text.
struct Unread {
    message: String,
    hint: Option<String>,
    place: Place,
}

impl Unread {
    fn new(message: String) -> Self {
        Self {
            message,
            hint: None,
            place: Place::START,
        }
    }

    fn into_report(self, file_name: &str) -> ConfigReport {
        let mut findings = Findings::new(file_name);
        findings.error(&self.place, self.message, self.hint);
        findings.into_report("")
    }
}

fn read_text(path: &Path) -> Result<String, Unread> {
    let refused = |e: &io::Error| {
        Unread::new(format!(
            "the configuration cannot be read: {}",
            paths::reason(e)
        ))
    };
    let file = File::open(path).map_err(|e| refused(&e))?;
    let mut bytes = Vec::new();
    file.take(MAX_CONFIG_BYTES + 1)
        .read_to_end(&mut bytes)
        .map_err(|e| refused(&e))?;
    if bytes.len() as u64 > MAX_CONFIG_BYTES {
        return Err(Unread::new(format!(
            "the configuration is larger than {}",
            limits::bytes_text(MAX_CONFIG_BYTES)
        )));
    }
    String::from_utf8(bytes).map_err(|e| {
        let good = String::from_utf8_lossy(&e.as_bytes()[..e.utf8_error().valid_up_to()]);
        let line_start = good.rfind('\n').map_or(0, |at| at + 1);
        Unread {
            message: "the configuration is not UTF-8".into(),
            hint: Some("save the file as UTF-8".into()),
            place: Place {
                line: good.matches('\n').count() + 1,
                column: good[line_start..].chars().count() + 1,
                // The report has no text to point into.
                span: 0..0,
            },
        }
    })
}
