//! What a host is given to load: one [`PluginSpec`] per `plugins:` entry.

use std::fmt;
use std::path::PathBuf;
use std::time::Duration;

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use super::defaults;
use super::host::HostPattern;
use crate::Json;
use crate::capability::Capabilities;
use crate::condition::Condition;

/// One plugin as the operator wants it, with every default filled in.
#[derive(Debug, Clone, PartialEq, Eq)]
#[non_exhaustive]
pub struct PluginSpec {
    /// The entry's name: not empty, no control characters, distinct in its configuration.
    pub name: String,
    /// What runs it, and where its code is.
    pub kind: PluginKind,
    /// The digest its component must have, `sha256:` and 64 lower-case hexadecimal digits; any will do,
    /// if there is none. Of a wasm plugin.
    pub digest: Option<String>,
    /// The hooks it is asked at: distinct names of letters, digits, `_`, `.` and `-`.
    pub hooks: Vec<String>,
    /// When it runs and what its verdict may do.
    pub mode: Mode,
    /// Its place among the plugins of its mode; lower runs first.
    pub priority: i32,
    /// What a fault of it does.
    pub on_error: OnError,
    /// The group that names it, whose settings are filled in here already.
    pub group: Option<String>,
    /// When it is asked: one of these must hold; always, if there are none.
    pub conditions: Vec<Condition>,
    /// What one call, or one worker, may take.
    pub limits: Limits,
    /// How its instances serve calls, of a wasm plugin.
    pub instances: Instances,
    /// How its worker is made and kept, of a Python plugin.
    pub python: PythonOptions,
    /// What the operator granted; nothing by default.
    pub permissions: Permissions,
    /// The plugin's own `config:`, an object that nobody but the plugin judges. Numbers keep the
    /// text they have in the file.
    pub config: Json,
    /// What the author says about it.
    pub about: About,
    /// More members of the legacy framework's own model of an entry, an object in its names: what only a
    /// plugin written for it reads. They win over the members that are made from the rest.
    pub framework: Json,
    /// The line of the entry in its file, from 1; 0 if it was made in code.
    pub line: usize,
    /// The folder its relative paths start from.
    pub base_dir: PathBuf,
}

impl PluginSpec {
    /// A spec made in code: no hooks, no grants, the defaults of its kind for the rest.
    pub fn new(name: impl Into<String>, kind: PluginKind) -> Self {
        Self {
            name: name.into(),
            limits: kind.default_limits(),
            kind,
            digest: None,
            hooks: Vec::new(),
            mode: defaults::MODE,
            priority: defaults::PRIORITY,
            on_error: defaults::ON_ERROR,
            group: None,
            conditions: Vec::new(),
            instances: Instances::default(),
            python: PythonOptions::default(),
            permissions: Permissions::default(),
            config: Json::object(),
            about: About::default(),
            framework: Json::object(),
            line: 0,
            base_dir: PathBuf::new(),
        }
    }
}

/// Which host runs a plugin, and what that host needs to find it.
#[derive(Debug, Clone, PartialEq, Eq)]
#[non_exhaustive]
pub enum PluginKind {
    /// A WebAssembly component.
    Wasm {
        /// The component's file.
        component: PathBuf,
    },
    /// A Python class written for the legacy framework.
    Python {
        /// Its dotted path: `package.module.Class`.
        class: String,
        /// Requirement specifiers to install, one distribution each.
        requirements: Vec<String>,
        /// A requirements file to install; may come beside `requirements`.
        requirements_file: Option<PathBuf>,
        /// Folders the class may be imported from besides its environment; the configuration's
        /// folder by default.
        import_paths: Vec<PathBuf>,
        /// The worker's current folder; the configuration's folder by default.
        workdir: Option<PathBuf>,
    },
    /// A kind that nothing here runs, such as `external`. Only a disabled entry of a legacy configuration
    /// has it.
    Other {
        /// The kind as written; empty if there is none.
        kind: String,
    },
}

impl PluginKind {
    /// The host's name, `wasm` or `python`; of another kind its own.
    #[must_use]
    pub fn name(&self) -> &str {
        match self {
            Self::Wasm { .. } => "wasm",
            Self::Python { .. } => "python",
            Self::Other { kind } => kind,
        }
    }

    /// The limits of a plugin of this kind that names none.
    #[must_use]
    pub fn default_limits(&self) -> Limits {
        match self {
            Self::Wasm { .. } | Self::Other { .. } => Limits::wasm(),
            Self::Python { .. } => Limits::python(),
        }
    }
}

/// When a plugin runs and what its verdict may do.
#[derive(
    Debug, Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord, Serialize, Deserialize, JsonSchema,
)]
#[serde(rename_all = "snake_case")]
#[non_exhaustive]
pub enum Mode {
    /// One after another, each seeing the last payload; may change, ask and deny.
    Sequential,
    /// One after another, each seeing the last payload; may change. What it denies or asks is only listed.
    Transform,
    /// One after another; only looks. Of what it answers the marks are kept.
    Audit,
    /// All at once, on the final payload; may ask and deny. A denial cancels the others.
    Concurrent,
    /// In the background, after the outcome and whatever it is; only looks.
    FireAndForget,
    /// Not loaded.
    Disabled,
}

impl Mode {
    /// Every mode, in the order in which they run.
    pub const ALL: [Self; 6] = [
        Self::Sequential,
        Self::Transform,
        Self::Audit,
        Self::Concurrent,
        Self::FireAndForget,
        Self::Disabled,
    ];

    /// The name configurations use, such as `fire_and_forget`.
    #[must_use]
    pub fn as_str(self) -> &'static str {
        match self {
            Self::Sequential => "sequential",
            Self::Transform => "transform",
            Self::Audit => "audit",
            Self::Concurrent => "concurrent",
            Self::FireAndForget => "fire_and_forget",
            Self::Disabled => "disabled",
        }
    }

    /// Whether a plugin in this mode may change the payload.
    #[must_use]
    pub fn may_modify(self) -> bool {
        matches!(self, Self::Sequential | Self::Transform)
    }

    /// Whether a plugin in this mode may ask or deny.
    #[must_use]
    pub fn may_block(self) -> bool {
        matches!(self, Self::Sequential | Self::Concurrent)
    }
}

impl fmt::Display for Mode {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.pad(self.as_str())
    }
}

/// What a plugin's fault does to the call. A fault never becomes a silent allow.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum OnError {
    /// It is a denial with code `plugin_fault`.
    Fail,
    /// It is recorded, and the next plugin is asked.
    Ignore,
    /// It is recorded, the next plugin is asked, and this one is skipped from now on.
    Disable,
}

impl fmt::Display for OnError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Self::Fail => "fail",
            Self::Ignore => "ignore",
            Self::Disable => "disable",
        })
    }
}

/// What a plugin may take.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Limits {
    /// Deadline of one call, everything included; above zero, at most an hour.
    pub timeout: Duration,
    /// Memory of one instance (wasm) or of the worker (Python), in bytes; at least 1 MiB.
    pub memory_bytes: u64,
    /// Calls in flight, 1 to 65,536; more wait.
    pub concurrency: u32,
}

/// How the instances of a wasm plugin serve its calls.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Instances {
    /// Whether one serves again.
    pub policy: InstancePolicy,
    /// How many are kept ready between calls, at most 256; at least 1 where they serve again.
    pub stock: u32,
    /// Calls after which one that serves again is dropped; at least 1.
    pub max_calls: u32,
}

/// Whether an instance serves more than one call.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum InstancePolicy {
    /// One call and no more: what it leaves in memory, nobody sees.
    SingleUse,
    /// One call after another, until one ends in a fault, or it has served or grown enough. For plugins
    /// whose start costs more than their calls, and whom the operator trusts to keep callers apart.
    Reuse,
}

/// How the worker of a Python plugin is made and kept.
#[derive(Debug, Clone, PartialEq, Eq)]
#[non_exhaustive]
pub struct PythonOptions {
    /// A virtualenv that is there already, used as it is and never written to; without one, what the
    /// requirements name is installed into one of the host's own.
    pub environment: Option<PathBuf>,
    /// Whether requirements may run code of theirs while they are installed, as source distributions do.
    pub allow_build: bool,
    /// Which program runs the class.
    pub worker: WorkerKind,
    /// Worker processes, 1 to 64. More than one only for a class that keeps nothing between calls.
    pub workers: u32,
    /// Whether a call that a dying worker left unanswered is asked once more.
    pub idempotent: bool,
    /// What a sandbox that the kernel cannot give does.
    pub sandbox: Sandbox,
    /// Settings of the gateway as classes written for it read them, over the defaults: an object.
    pub settings: Json,
}

/// Which program runs a Python class.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
#[non_exhaustive]
pub enum WorkerKind {
    /// Hookgate's own, which loses nothing of a call or an answer.
    Hookgate,
    /// The legacy framework's, out of the environment, with what its protocol can say.
    Framework,
}

impl fmt::Display for WorkerKind {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Self::Hookgate => "hookgate",
            Self::Framework => "framework",
        })
    }
}

/// What a sandbox that the kernel cannot give does.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
#[non_exhaustive]
pub enum Sandbox {
    /// The plugin is not loaded.
    Strict,
    /// The plugin runs with as much of it as the kernel gives.
    BestEffort,
}

impl fmt::Display for Sandbox {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Self::Strict => "strict",
            Self::BestEffort => "best_effort",
        })
    }
}

/// What the operator granted a plugin. The default is nothing.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
#[non_exhaustive]
pub struct Permissions {
    /// Files and folders.
    pub files: Vec<FileGrant>,
    /// Hosts and ports it may connect to; distinct.
    pub network: Vec<NetworkGrant>,
    /// Whether it may start processes. Only a Python plugin can.
    pub processes: bool,
    /// Size of the folder it gets for each call, in bytes; none without one.
    pub scratch_bytes: Option<u64>,
    /// Names of environment variables it sees; distinct, not empty, without `=`.
    pub env: Vec<String>,
    /// Secrets it may ask for; their names are distinct.
    pub secrets: Vec<SecretGrant>,
    /// Parts of a call it may read or change.
    pub data: Capabilities,
}

/// One granted place in the file system.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct FileGrant {
    /// The place on the host: a folder for a wasm plugin, a folder or a file for a Python plugin.
    pub host: PathBuf,
    /// The name the plugin sees: an absolute path, distinct among its grants. A Python plugin sees
    /// the host's own path, and here is its text.
    pub guest: String,
    /// What it may do there.
    pub access: Access,
}

/// Where a plugin sees its scratch folder.
pub const SCRATCH_GUEST_PATH: &str = "/scratch";

/// Hosts and a port of them.
#[derive(Debug, Clone, PartialEq, Eq, Hash)]
pub struct NetworkGrant {
    /// Which hosts.
    pub host: HostPattern,
    /// Which port; not 0.
    pub port: u16,
}

impl fmt::Display for NetworkGrant {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{} port {}", self.host, self.port)
    }
}

/// A secret a plugin may ask for.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct SecretGrant {
    /// The name it asks by: letters, digits, `_`, `.` and `-`.
    pub name: String,
    /// Where the value comes from. The value itself is in no configuration and no spec.
    pub source: SecretSource,
}

/// Where a secret's value comes from. It is read once, when the plugin is loaded.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum SecretSource {
    /// An environment variable of the gateway.
    Env(String),
    /// A file.
    File(PathBuf),
    /// What a program prints; the program and its arguments, run without a shell.
    Command(Vec<String>),
}

/// What a plugin may do with a granted place.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum Access {
    /// Read and list.
    Read,
    /// Also write, make and remove.
    ReadWrite,
}

impl fmt::Display for Access {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Self::Read => "read",
            Self::ReadWrite => "read_write",
        })
    }
}

/// What an entry says about its plugin. Only for people.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize)]
#[non_exhaustive]
pub struct About {
    /// What it does.
    pub description: Option<String>,
    /// Who wrote it.
    pub author: Option<String>,
    /// Its version, as written.
    pub version: Option<String>,
    /// Where it belongs, for the legacy framework.
    pub namespace: Option<String>,
    /// Words to find it by; distinct.
    pub tags: Vec<String>,
}
