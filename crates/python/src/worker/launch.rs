//! [`Launch`]: everything a worker process is started with, made once per plugin.

use std::collections::BTreeSet;
use std::ffi::OsString;
use std::path::{Path, PathBuf};
use std::process::Stdio;
use std::sync::Arc;
use std::sync::atomic::AtomicU64;

use hookgate_core::config::PluginSpec;
use hookgate_core::config::defaults::{LOG_BYTES_PER_CALL, STATE_IDLE_SECONDS, STATE_REQUESTS};
use hookgate_core::{Capability, Condition};
use serde::Serialize;
use tempfile::TempDir;
use tokio::process::{Child, Command};

use super::{StartError, sources};
use crate::limits::Supervision;
use crate::sandbox::Confinement;
use crate::tokens::Tokens;

/// The protocol this library and its worker speak.
const PROTOCOL: u32 = 2;

/// How to start a plugin's worker, again and again.
pub(crate) struct Launch {
    pub(super) plugin: Arc<str>,
    /// The start frame's body.
    pub(super) start: String,
    pub(super) memory_bytes: u64,
    pub(super) supervision: Supervision,
    /// Counted over all workers of the plugin.
    pub(super) late: Arc<AtomicU64>,
    /// What its workers were lent and may not show.
    pub(super) tokens: Arc<Tokens>,
    executable: PathBuf,
    boot: Arc<str>,
    workdir: PathBuf,
    variables: Vec<(String, OsString)>,
    /// Home and temporary folder of the plugin, removed with it.
    scratch: TempDir,
    confinement: Confinement,
    /// The folders it reads: the class is imported from them, or it works there.
    folders: Vec<PathBuf>,
    /// A folder it would read by default, were there not too much in it.
    hidden: Option<PathBuf>,
}

impl Launch {
    /// For the class of `spec`; `boot` replaces the worker's own first code.
    pub(crate) fn new(
        spec: &PluginSpec,
        class: &ClassPlace<'_>,
        executable: PathBuf,
        boot: Option<Arc<str>>,
        supervision: Supervision,
        confinement: Confinement,
    ) -> std::io::Result<Self> {
        let scratch = tempfile::Builder::new().prefix("hookgate-").tempdir()?;
        let base = std::path::absolute(&spec.base_dir).unwrap_or_else(|_| spec.base_dir.clone());
        let workdir = class
            .workdir
            .map(|path| base.join(path))
            .or_else(|| base.is_absolute().then(|| base.clone()));
        let mut folders: Vec<PathBuf> = class
            .import_paths
            .iter()
            .map(|path| base.join(path))
            .collect();
        if folders.is_empty() {
            folders.extend(base.is_absolute().then(|| base.clone()));
        }
        let start = start_frame(
            spec,
            class.name,
            &folders,
            workdir.as_deref(),
            confinement.is_on(),
        );
        let mut hidden = None;
        folders.extend(workdir.clone());
        if (class.import_paths.is_empty() || class.workdir.is_none())
            && base.is_absolute()
            && !Confinement::shows_by_default(&base)
        {
            let named: Vec<_> = class
                .import_paths
                .iter()
                .map(PathBuf::as_path)
                .chain(class.workdir)
                .collect();
            folders.retain(|folder| named.iter().any(|path| base.join(path) == *folder));
            hidden = (!folders.contains(&base)).then_some(base);
        }
        Ok(Self {
            plugin: spec.name.as_str().into(),
            start,
            memory_bytes: spec.limits.memory_bytes,
            supervision,
            late: Arc::default(),
            tokens: Arc::default(),
            executable,
            boot: boot.unwrap_or_else(|| sources::BOOT.into()),
            workdir: workdir.unwrap_or_else(|| scratch.path().to_owned()),
            variables: variables(&spec.permissions.env),
            scratch,
            confinement,
            folders,
            hidden,
        })
    }

    pub(crate) fn supervision(&self) -> &Supervision {
        &self.supervision
    }

    pub(crate) fn late(&self) -> &Arc<AtomicU64> {
        &self.late
    }

    /// What confines the plugin, and a line for each thing that does not.
    pub(crate) fn sandbox(&self) -> (String, Vec<String>) {
        let mut notes = self.confinement.notes().to_vec();
        if let (Some(hidden), true) = (&self.hidden, self.confinement.is_on()) {
            notes.push(format!(
                "not readable: the configuration's folder {}, since the home is in it; name what is needed with `import_paths` or `workdir`",
                hidden.display()
            ));
        }
        (self.confinement.describe(), notes)
    }

    /// Whether a worker may have children.
    pub(super) fn lets_start_processes(&self) -> bool {
        self.confinement.lets_start_processes()
    }

    pub(crate) fn tokens(&self) -> &Arc<Tokens> {
        &self.tokens
    }

    /// Starts the process: no site code, no bytecode written, an environment of what was granted.
    pub(super) fn spawn(&self) -> Result<Child, StartError> {
        let mut command = Command::new(&self.executable);
        command
            .args(["-I", "-S", "-B", "-c", &self.boot])
            .current_dir(&self.workdir);
        command.env_clear();
        command.envs([("LANG", "C.UTF-8"), ("LC_ALL", "C.UTF-8")]);
        command
            .env("HOME", self.scratch.path())
            .env("TMPDIR", self.scratch.path());
        command.envs(self.variables.iter().map(|(name, value)| (name, value)));
        command
            .stdin(Stdio::piped())
            .stdout(Stdio::piped())
            .stderr(Stdio::piped());
        command.process_group(0).kill_on_drop(true);
        let confined = self
            .confinement
            .confine(&mut command, &self.folders, self.scratch.path());
        confined
            .and_then(|()| command.spawn())
            .map_err(|source| StartError::Spawn {
                executable: self.executable.clone(),
                source,
            })
    }
}

/// Where a class is found.
pub(crate) struct ClassPlace<'a> {
    pub(crate) name: &'a str,
    pub(crate) import_paths: &'a [PathBuf],
    pub(crate) workdir: Option<&'a Path>,
}

fn variables(granted: &[String]) -> Vec<(String, OsString)> {
    granted
        .iter()
        .filter_map(|name| Some((name.clone(), std::env::var_os(name)?)))
        .collect()
}

#[derive(Serialize)]
struct StartFrame<'a> {
    #[serde(rename = "type")]
    kind: &'static str,
    protocol: u32,
    class: &'a str,
    plugin_dirs: Vec<String>,
    workdir: Option<String>,
    plugin: serde_json::Value,
    settings: &'a hookgate_core::Json,
    limits: WorkerLimits,
    /// Whether a refused access may be of the sandbox, so that its fault names the grant.
    confined: bool,
}

/// The framework's own model of an entry.
#[derive(Serialize)]
struct PluginConfig<'a> {
    name: &'a str,
    kind: &'a str,
    description: &'a Option<String>,
    author: &'a Option<String>,
    version: &'a Option<String>,
    namespace: &'a Option<String>,
    hooks: &'a [String],
    tags: &'a [String],
    mode: String,
    on_error: String,
    priority: i32,
    conditions: Vec<PluginCondition<'a>>,
    capabilities: Vec<&'static str>,
    config: &'a hookgate_core::Json,
}

/// The framework's own model of a condition, for plugins that read theirs. The pipeline has judged them
/// before a call gets here.
#[derive(Serialize)]
struct PluginCondition<'a> {
    #[serde(skip_serializing_if = "BTreeSet::is_empty")]
    server_ids: &'a BTreeSet<String>,
    #[serde(skip_serializing_if = "BTreeSet::is_empty")]
    tenant_ids: &'a BTreeSet<String>,
    #[serde(skip_serializing_if = "BTreeSet::is_empty")]
    tools: &'a BTreeSet<String>,
    #[serde(skip_serializing_if = "BTreeSet::is_empty")]
    prompts: &'a BTreeSet<String>,
    #[serde(skip_serializing_if = "BTreeSet::is_empty")]
    resources: &'a BTreeSet<String>,
    #[serde(skip_serializing_if = "BTreeSet::is_empty")]
    agents: &'a BTreeSet<String>,
    #[serde(skip_serializing_if = "<[_]>::is_empty")]
    user_patterns: &'a [String],
    #[serde(skip_serializing_if = "<[_]>::is_empty")]
    content_types: &'a [String],
}

impl<'a> PluginCondition<'a> {
    fn of(condition: &'a Condition) -> Self {
        Self {
            server_ids: &condition.server_ids,
            tenant_ids: &condition.tenant_ids,
            tools: &condition.tools,
            prompts: &condition.prompts,
            resources: &condition.resources,
            agents: &condition.agents,
            user_patterns: &condition.user_patterns,
            content_types: &condition.content_types,
        }
    }
}

/// Grants of the framework's successor: an unknown name in its own model of an entry would raise.
const UNKNOWN_TO_FRAMEWORK: [Capability; 4] = [
    Capability::ReadClient,
    Capability::ReadDelegatedTokens,
    Capability::ReadInboundCredentials,
    Capability::ReadWorkload,
];

/// The plugin's grants as far as its framework knows them.
fn capabilities(spec: &PluginSpec) -> Vec<&'static str> {
    let granted = spec.permissions.data;
    let (unknown, known): (Vec<_>, Vec<_>) = granted
        .iter()
        .partition(|one| UNKNOWN_TO_FRAMEWORK.contains(one));
    // Tokens reach a class in its payloads.
    let tokens = [
        Capability::ReadDelegatedTokens,
        Capability::ReadInboundCredentials,
    ];
    let useless = unknown.iter().filter(|one| !tokens.contains(one));
    let useless: Vec<_> = useless.collect();
    if !useless.is_empty() {
        tracing::warn!(
            plugin = %spec.name,
            "a Python class sees nothing of what these data grants show, its framework has no place for it: {}",
            useless.iter().map(|one| one.as_str()).collect::<Vec<_>>().join(", ")
        );
    }
    known.into_iter().map(Capability::as_str).collect()
}

#[derive(Serialize)]
struct WorkerLimits {
    requests: usize,
    idle_s: u64,
    log_bytes: u64,
}

/// The framework's model of the entry, with the members that only the configuration knows.
fn plugin_config(spec: &PluginSpec, class: &str) -> serde_json::Value {
    let config = PluginConfig {
        name: &spec.name,
        kind: class,
        description: &spec.about.description,
        author: &spec.about.author,
        version: &spec.about.version,
        namespace: &spec.about.namespace,
        hooks: &spec.hooks,
        tags: &spec.about.tags,
        mode: spec.mode.to_string(),
        on_error: spec.on_error.to_string(),
        priority: spec.priority,
        conditions: spec.conditions.iter().map(PluginCondition::of).collect(),
        capabilities: capabilities(spec),
        config: &spec.config,
    };
    // INVARIANT: text, numbers and checked JSON always serialise, and `framework` is an object.
    let mut members = serde_json::to_value(config).unwrap_or_default();
    let more = serde_json::from_str(spec.framework.as_str()).unwrap_or_default();
    if let (serde_json::Value::Object(members), serde_json::Value::Object(more)) =
        (&mut members, more)
    {
        members.extend(more);
    }
    members
}

fn start_frame(
    spec: &PluginSpec,
    class: &str,
    folders: &[PathBuf],
    workdir: Option<&Path>,
    confined: bool,
) -> String {
    let text = |path: &Path| path.to_string_lossy().into_owned();
    let frame = StartFrame {
        kind: "start",
        protocol: PROTOCOL,
        class,
        plugin_dirs: folders.iter().map(|path| text(path)).collect(),
        workdir: workdir.map(text),
        plugin: plugin_config(spec, class),
        settings: &spec.python.settings,
        limits: WorkerLimits {
            requests: STATE_REQUESTS,
            idle_s: STATE_IDLE_SECONDS,
            log_bytes: LOG_BYTES_PER_CALL,
        },
        confined,
    };
    // INVARIANT: every member is text, a number or checked JSON, which always serialises.
    serde_json::to_string(&frame).unwrap_or_default()
}
