//! The mappings of a configuration. Doc comments are what an editor shows.

use schemars::JsonSchema;
use serde_json::{Value, json};

use super::super::defaults;
use super::super::spec::{
    Access, InstancePolicy, Limits as LimitsSpec, Mode, OnError, Sandbox, WorkerKind,
};
use super::no_null;
use super::values::{
    ByteCount, CommandWord, ComponentDigest, Duration, EnvName, GuestPath, HookName, HostName,
    HostPath, Kind, Printable, Requirement, SecretName, Size, Version, WORD, Word,
};
use crate::capability::Capability;

/// A Hookgate configuration in its own shape. Files of the legacy shape (with `plugin_dirs`,
/// `plugin_settings` or a mode such as `enforce`) are read too, but are not described here: `hookgate
/// import` writes them anew.
#[derive(JsonSchema)]
#[schemars(title = "Hookgate configuration", deny_unknown_fields, transform = no_null)]
pub(super) struct Configuration {
    /// The plugins. Those of one mode run by ascending priority, then in this order.
    plugins: Vec<Entry>,
    /// What several plugins share, written once. A group only ever narrows when its plugins are asked.
    groups: Option<Vec<Group>>,
    /// Largest payload that is accepted, in bytes or with a unit.
    #[schemars(extend("default" = defaults::MAX_PAYLOAD_BYTES))]
    max_payload_bytes: Option<ByteCount>,
    /// Largest state kept for one request, in bytes or with a unit.
    #[schemars(extend("default" = defaults::MAX_STATE_BYTES))]
    max_state_bytes: Option<ByteCount>,
}

/// Plugins with something in common. What an entry writes itself wins over its group; of conditions both
/// must hold.
#[derive(JsonSchema)]
#[schemars(deny_unknown_fields, transform = no_null, extend("allOf" = [in_background()]))]
struct Group {
    /// A name of its own.
    name: Word,
    /// The names of its plugins. A plugin is in one group at most.
    #[schemars(extend("uniqueItems" = true))]
    plugins: Vec<Word>,
    /// When its plugins are asked, besides what each says itself: one of these must hold.
    conditions: Option<Vec<Condition>>,
    /// The mode of plugins that write none.
    mode: Option<Mode>,
    /// The priority of plugins that write none.
    #[schemars(range(min = i32::MIN, max = i32::MAX))]
    priority: Option<i32>,
    /// What a fault of plugins does that write nothing about it.
    on_error: Option<OnError>,
}

/// One plugin.
#[derive(JsonSchema)]
#[schemars(rename = "Plugin", deny_unknown_fields, transform = no_null)]
#[schemars(extend("allOf" = [of_kind(), in_background(), of_worker(), of_environment()]))]
struct Entry {
    /// A name of its own.
    name: Word,
    /// What runs it: `wasm`, or the dotted path of a Python class.
    kind: Kind,
    /// The component's file, for `kind: wasm`.
    component: Option<HostPath>,
    /// The SHA-256 its component must have, for `kind: wasm`: other bytes do not load.
    digest: Option<ComponentDigest>,
    /// Requirements to install for a Python class.
    #[schemars(extend("uniqueItems" = true))]
    requirements: Option<Vec<Requirement>>,
    /// A requirements file to install for a Python class.
    requirements_file: Option<HostPath>,
    /// Folders a Python class may be imported from besides its environment; this file's by default.
    import_paths: Option<Vec<HostPath>>,
    /// Current folder of a Python plugin's worker; this file's by default.
    workdir: Option<HostPath>,
    /// The environment and the settings of a Python class.
    python: Option<Python>,
    /// Whether the requirements of a Python class may run code of theirs while they are installed.
    #[schemars(extend("default" = defaults::PYTHON_ALLOW_BUILD))]
    allow_build: Option<bool>,
    /// Which program runs a Python class.
    #[schemars(extend("default" = defaults::PYTHON_WORKER))]
    worker: Option<WorkerKind>,
    /// Worker processes of a Python class. More than one only if it keeps nothing between calls.
    #[schemars(range(min = 1, max = defaults::PYTHON_WORKERS_MAX), extend("default" = defaults::PYTHON_WORKERS))]
    workers: Option<u32>,
    /// Whether a call that a dying worker left unanswered is asked once more.
    #[schemars(extend("default" = defaults::PYTHON_IDEMPOTENT))]
    idempotent: Option<bool>,
    /// What a sandbox that the kernel cannot give does to a Python class.
    #[schemars(extend("default" = defaults::PYTHON_SANDBOX))]
    sandbox: Option<Sandbox>,
    /// When it is asked.
    #[schemars(length(min = 1), extend("uniqueItems" = true))]
    hooks: Vec<HookName>,
    /// When it runs and what its verdict may do.
    #[schemars(extend("default" = defaults::MODE))]
    mode: Option<Mode>,
    /// Its place among the plugins of its mode; lower runs first.
    #[schemars(range(min = i32::MIN, max = i32::MAX), extend("default" = defaults::PRIORITY))]
    priority: Option<i32>,
    /// What a fault of it does.
    #[schemars(extend("default" = defaults::ON_ERROR))]
    on_error: Option<OnError>,
    /// When it is asked at its hooks: one of these must hold; always, if there are none.
    conditions: Option<Vec<Condition>>,
    /// What one call, or one worker, may take.
    limits: Option<Limits>,
    /// How its instances serve calls, for `kind: wasm`.
    instances: Option<Instances>,
    /// What it may reach; nothing by default.
    permissions: Option<Permissions>,
    /// The plugin's own configuration, which only the plugin judges.
    config: Option<serde_json::Map<String, Value>>,
    /// What it does, for people.
    description: Option<String>,
    /// Who wrote it, for people.
    author: Option<String>,
    /// Its version, for people.
    version: Option<Version>,
    /// Words to find it by.
    #[schemars(extend("uniqueItems" = true))]
    tags: Option<Vec<Word>>,
}

/// The keys that belong to one kind, and the limits of each.
fn of_kind() -> Value {
    let limits = |limits: LimitsSpec| {
        let timeout = humantime::format_duration(limits.timeout).to_string();
        let memory = super::super::limits::bytes_text(limits.memory_bytes);
        json!({"properties": {
            "timeout": {"default": timeout},
            "memory": {"default": memory},
            "concurrency": {"default": limits.concurrency},
        }})
    };
    json!({
        "if": {"properties": {"kind": {"const": "wasm"}}, "required": ["kind"]},
        "then": {
            "properties": {
                "limits": limits(LimitsSpec::wasm()),
                "requirements": false,
                "requirements_file": false,
                "import_paths": false,
                "workdir": false,
                "python": false,
                "allow_build": false,
                "worker": false,
                "workers": false,
                "idempotent": false,
                "sandbox": false,
                "permissions": {"properties": {
                    "processes": false,
                    "files": {"items": {"required": ["guest"]}},
                }},
            },
            "required": ["component"],
        },
        "else": {
            "properties": {
                "limits": limits(LimitsSpec::python()),
                "component": false,
                "instances": false,
                "digest": false,
                "permissions": {"properties": {
                    "scratch": false,
                    "secrets": false,
                }},
            },
        },
    })
}

/// What the framework's own worker has no place for.
fn of_worker() -> Value {
    json!({
        "if": {"properties": {"worker": {"const": WorkerKind::Framework}}, "required": ["worker"]},
        "then": {"properties": {
            "workers": {"maximum": 1},
            "idempotent": {"const": false},
            "python": {"properties": {"settings": {"maxProperties": 0}}},
        }},
    })
}

/// Nothing is installed into an environment that is there already.
fn of_environment() -> Value {
    json!({
        "if": {"properties": {"python": {"required": ["environment"]}}, "required": ["python"]},
        "then": {"properties": {"allow_build": {"const": false}}},
    })
}

/// A call that nobody waits for cannot be denied.
fn in_background() -> Value {
    json!({"not": {
        "properties": {"mode": {"const": Mode::FireAndForget}, "on_error": {"const": OnError::Fail}},
        "required": ["mode", "on_error"],
    }})
}

/// What must hold together. An empty or missing list holds always; a list of what a hook is not about
/// says nothing there.
#[derive(JsonSchema)]
#[schemars(deny_unknown_fields)]
struct Condition {
    /// Ids of servers, one of which the request must name.
    server_ids: Option<Vec<Printable>>,
    /// Ids of tenants, one of which the request must name.
    tenant_ids: Option<Vec<Printable>>,
    /// Names of tools, for hooks about a tool.
    tools: Option<Vec<Printable>>,
    /// Ids of prompts, for hooks about a prompt.
    prompts: Option<Vec<Printable>>,
    /// URIs of resources, for hooks about a resource.
    resources: Option<Vec<Printable>>,
    /// Ids of agents, for hooks about an agent.
    agents: Option<Vec<Printable>>,
    /// Texts, one of which the user's name must hold. They are no patterns: `*` stands for itself.
    user_patterns: Option<Vec<Printable>>,
    /// Content types, one of which the request must have. Parameters and case are ignored.
    content_types: Option<Vec<Printable>>,
}

/// The environment and the settings of a Python class.
#[derive(JsonSchema)]
#[schemars(deny_unknown_fields, transform = no_null)]
struct Python {
    /// A virtualenv that is there already, used as it is; without one, the requirements are installed into
    /// one of hookgate's own.
    environment: Option<HostPath>,
    /// Settings of the gateway as classes written for it read them, by name, over the defaults.
    #[schemars(extend("propertyNames" = json!({"pattern": WORD})))]
    settings: Option<serde_json::Map<String, Value>>,
}

/// What one call, or one worker, may take.
#[derive(JsonSchema)]
#[schemars(deny_unknown_fields, transform = no_null)]
struct Limits {
    /// Deadline of one call, everything included; at most an hour.
    timeout: Option<Duration>,
    /// Memory of one instance (wasm) or of the worker (Python).
    memory: Option<Size>,
    /// Calls in flight; more wait.
    #[schemars(range(min = 1, max = defaults::CONCURRENCY_MAX_CALLS))]
    concurrency: Option<u32>,
}

/// How the instances of a wasm plugin serve its calls.
#[derive(JsonSchema)]
#[schemars(deny_unknown_fields, transform = no_null, extend("allOf" = [of_policy()]))]
struct Instances {
    /// Whether one serves more than one call.
    #[schemars(extend("default" = InstancePolicy::SingleUse))]
    policy: Option<InstancePolicy>,
    /// How many are kept ready between calls.
    #[schemars(range(min = 0, max = defaults::INSTANCE_STOCK_MAX), extend("default" = defaults::INSTANCE_STOCK))]
    stock: Option<u32>,
    /// Calls after which one is dropped, for `policy: reuse`.
    #[schemars(range(min = 1, max = defaults::INSTANCE_MAX_CALLS_MAX), extend("default" = defaults::INSTANCE_MAX_CALLS))]
    max_calls: Option<u32>,
}

/// Nothing kept is nothing used again, and single use is one call.
fn of_policy() -> Value {
    json!({
        "if": {"properties": {"policy": {"const": InstancePolicy::Reuse}}, "required": ["policy"]},
        "then": {"properties": {"stock": {"minimum": 1}}},
        "else": {"properties": {"max_calls": false}},
    })
}

/// What the operator grants a plugin.
#[derive(JsonSchema)]
#[schemars(deny_unknown_fields, transform = no_null)]
struct Permissions {
    /// Folders it may use; a Python class also files.
    files: Option<Vec<FileGrant>>,
    /// Hosts and ports it may connect to, over TCP and HTTP. UDP and listening are never granted. A Python
    /// class is held to the ports alone.
    network: Option<Vec<NetworkGrant>>,
    /// Whether a Python class may start processes.
    #[schemars(extend("default" = false))]
    processes: Option<bool>,
    /// Size of an empty folder at `/scratch` for each call of a component, removed behind it.
    scratch: Option<Size>,
    /// Names of environment variables it sees.
    #[schemars(extend("uniqueItems" = true))]
    env: Option<Vec<EnvName>>,
    /// Secrets a component may ask for by name.
    secrets: Option<Vec<SecretGrant>>,
    /// Parts of a call it may read or change.
    #[schemars(extend("uniqueItems" = true))]
    data: Option<Vec<Capability>>,
}

/// One folder, or one file.
#[derive(JsonSchema)]
#[schemars(deny_unknown_fields, transform = no_null)]
struct FileGrant {
    /// The folder on this machine; for a Python class also a file.
    host: HostPath,
    /// The path a component sees. A Python class sees the place by its own path.
    guest: Option<GuestPath>,
    /// What it may do there.
    #[schemars(extend("default" = Access::Read))]
    access: Option<Access>,
}

/// A host, or several, and one port.
#[derive(JsonSchema)]
#[schemars(deny_unknown_fields, transform = no_null)]
struct NetworkGrant {
    /// Which hosts.
    host: HostName,
    /// The port it connects to.
    #[schemars(range(min = 1, max = u16::MAX))]
    port: u16,
}

/// A secret, from one source, read once when the plugin is loaded.
#[derive(JsonSchema)]
#[schemars(deny_unknown_fields, transform = no_null, extend("oneOf" = [
    json!({"required": ["env"]}), json!({"required": ["file"]}), json!({"required": ["command"]}),
]))]
struct SecretGrant {
    /// The name the plugin asks by.
    name: SecretName,
    /// The environment variable that holds it.
    env: Option<EnvName>,
    /// The file that holds it; a line break at its end does not count.
    file: Option<HostPath>,
    /// The program that prints it, with its arguments; run without a shell.
    #[schemars(length(min = 1))]
    command: Option<Vec<CommandWord>>,
}
