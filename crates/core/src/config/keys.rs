//! Which keys a mapping may hold, which are known but not read yet, and what a wrong one may have
//! meant.

use std::collections::HashMap;

use super::read::expected;
use super::report::{Findings, shown};
use super::yaml::{Node, Value};
use crate::condition::Condition;

/// How alike two words must be (1 is equal) for one to be offered for the other: a slip or two, not
/// a different word.
const ALIKE: f64 = 0.6;

/// The keys of one kind of mapping.
pub(super) struct Keys {
    /// What the mapping is, for messages: a dotted path, empty for the top of the file.
    place: &'static str,
    known: &'static [&'static str],
    /// Keys that have a meaning but no reader in this version, with what to do instead.
    later: &'static [(&'static str, &'static str)],
    /// Keys that are known elsewhere, with what to write.
    elsewhere: &'static [(&'static str, &'static str)],
}

const REMOVE: &str = "remove the key";

/// Keys that other versions read at the top of a file or in an entry.
const LATER: &[(&str, &str)] = &[
    ("redact", REMOVE),
    (
        "secrets",
        "write `permissions: {secrets: [{name: NAME, env: VARIABLE}]}` in the entry",
    ),
];

/// Keys that the legacy framework reads at the top of a file or in an entry, with what ours is.
const LEGACY: &[(&str, &str)] = &[
    ("applied_to", "write `conditions:`"),
    (
        "capabilities",
        "write `permissions: {data: [read_headers]}`",
    ),
    ("default_config", "write the values under `config:`"),
    ("default_configs", "write the values under `config:`"),
    ("global", REMOVE),
    ("grpc", REMOVE),
    ("grpc_server_settings", REMOVE),
    (
        "max_content_size",
        "write `max_payload_bytes: N` at the top of the file",
    ),
    ("mcp", REMOVE),
    ("namespace", REMOVE),
    (
        "plugin_dirs",
        "write `import_paths: [DIR]` in the entries that need it",
    ),
    (
        "plugin_settings",
        "write `limits: {timeout: 30s}` and `on_error:` in each entry",
    ),
    ("routes", "write `conditions:` in the entries"),
    ("server_settings", REMOVE),
    ("unix_socket", REMOVE),
    ("unix_socket_server_settings", REMOVE),
];

const GROUPS: &str =
    "write `groups: [{name: NAME, plugins: [PLUGIN], priority: 20}]` at the top of the file";
const IN_ENTRY: &str = "write it in an entry of `plugins:`";
const ENVIRONMENT: &str = "write `python: {environment: PATH}` for a virtualenv, `permissions: {env: [NAME]}` for variables";
const VENV: &str = "write `python: {environment: PATH}`";
const WORKERS: &str = "write `workers: 2`";
const BESIDE_PYTHON: &str = "write it in the entry, beside `python:`";

impl Keys {
    pub const TOP: Self = Self {
        place: "",
        known: &["plugins", "groups", "max_payload_bytes", "max_state_bytes"],
        later: LATER,
        elsewhere: &[
            ("group", GROUPS),
            ("name", IN_ENTRY),
            ("kind", IN_ENTRY),
            ("hooks", IN_ENTRY),
            ("component", IN_ENTRY),
            ("digest", IN_ENTRY),
            ("conditions", IN_ENTRY),
            ("mode", IN_ENTRY),
            ("priority", IN_ENTRY),
            ("on_error", IN_ENTRY),
            ("config", IN_ENTRY),
            ("limits", IN_ENTRY),
            ("instances", IN_ENTRY),
            ("permissions", IN_ENTRY),
            ("requirements", IN_ENTRY),
            ("python", IN_ENTRY),
            ("allow_build", IN_ENTRY),
            ("worker", IN_ENTRY),
            ("workers", IN_ENTRY),
            ("idempotent", IN_ENTRY),
            ("sandbox", IN_ENTRY),
            (
                "environment",
                "write `python: {environment: PATH}` in an entry of `plugins:` for a virtualenv, `permissions: {env: [NAME]}` there for variables",
            ),
        ],
    };

    pub const ENTRY: Self = Self {
        place: "entry",
        known: &[
            "name",
            "kind",
            "component",
            "digest",
            "requirements",
            "requirements_file",
            "import_paths",
            "workdir",
            "python",
            "allow_build",
            "worker",
            "workers",
            "idempotent",
            "sandbox",
            "hooks",
            "conditions",
            "mode",
            "priority",
            "on_error",
            "limits",
            "instances",
            "permissions",
            "config",
            "description",
            "author",
            "version",
            "tags",
        ],
        later: LATER,
        elsewhere: &[
            ("group", GROUPS),
            ("groups", GROUPS),
            ("timeout", "write `limits: {timeout: 50ms}`"),
            ("memory", "write `limits: {memory: 64MiB}`"),
            ("concurrency", "write `limits: {concurrency: 64}`"),
            ("files", "write `permissions: {files: [...]}`"),
            ("env", "write `permissions: {env: [NAME]}`"),
            (
                "network",
                "write `permissions: {network: [{host: api.example.com, port: 443}]}`",
            ),
            ("scratch", "write `permissions: {scratch: 16MiB}`"),
            ("data", "write `permissions: {data: [read_headers]}`"),
            ("processes", "write `permissions: {processes: true}`"),
            ("environment", ENVIRONMENT),
            ("venv", VENV),
            ("virtualenv", VENV),
            (
                "settings",
                "write `python: {settings: {NAME: VALUE}}` for those of the gateway, `config:` for the plugin's own",
            ),
            ("worker_count", WORKERS),
            ("num_workers", WORKERS),
            ("worker_processes", WORKERS),
            ("class", "write the dotted class as `kind:`"),
            ("class_name", "write the dotted class as `kind:`"),
            ("max_payload_bytes", "write it at the top of the file"),
            ("max_state_bytes", "write it at the top of the file"),
        ],
    };

    pub const GROUP: Self = Self {
        place: "groups",
        known: &[
            "name",
            "plugins",
            "conditions",
            "mode",
            "priority",
            "on_error",
        ],
        later: &[],
        elsewhere: &[
            ("hooks", IN_ENTRY),
            ("limits", IN_ENTRY),
            ("permissions", IN_ENTRY),
            ("python", IN_ENTRY),
            ("worker", IN_ENTRY),
            ("workers", IN_ENTRY),
            ("sandbox", IN_ENTRY),
            ("config", IN_ENTRY),
        ],
    };

    pub const CONDITION: Self = Self {
        place: "conditions",
        known: &Condition::FIELDS,
        later: &[],
        elsewhere: &[],
    };

    pub const PLUGIN_SETTINGS: Self = Self {
        place: "plugin_settings",
        known: &[
            "plugin_timeout",
            "fail_on_plugin_error",
            "routing_enabled",
            "short_circuit_on_deny",
        ],
        later: &[],
        elsewhere: &[],
    };

    pub const MANIFEST: Self = Self {
        place: "manifest",
        known: &[
            "name",
            "kind",
            "description",
            "author",
            "version",
            "tags",
            "available_hooks",
            "hooks",
            "default_config",
            "default_configs",
            "config",
            "priority",
            "requirements",
            "package_info",
        ],
        later: &[],
        elsewhere: &[],
    };

    pub const APPLIED_TO: Self = Self {
        place: "applied_to",
        known: &["tools", "prompts", "resources"],
        later: &[],
        elsewhere: &[],
    };

    pub const TOOL_TEMPLATE: Self = Self {
        place: "applied_to.tools",
        known: &["tool_name", "fields", "result", "context", "extensions"],
        later: &[],
        elsewhere: &[],
    };

    pub const PROMPT_TEMPLATE: Self = Self {
        place: "applied_to.prompts",
        known: &["prompt_name", "fields", "result", "context", "extensions"],
        later: &[],
        elsewhere: &[],
    };

    pub const RESOURCE_TEMPLATE: Self = Self {
        place: "applied_to.resources",
        known: &["resource_uri", "fields", "result", "context", "extensions"],
        later: &[],
        elsewhere: &[],
    };

    pub const INSTANCES: Self = Self {
        place: "instances",
        known: &["policy", "stock", "max_calls"],
        later: &[],
        elsewhere: &[
            ("concurrency", "write `limits: {concurrency: 64}`"),
            ("reuse", "write `instances: {policy: reuse}`"),
        ],
    };

    pub const PYTHON: Self = Self {
        place: "python",
        known: &["environment", "settings"],
        later: &[],
        elsewhere: &[
            ("venv", VENV),
            ("virtualenv", VENV),
            ("env", ENVIRONMENT),
            ("config", BESIDE_PYTHON),
            ("requirements", BESIDE_PYTHON),
            ("requirements_file", BESIDE_PYTHON),
            ("import_paths", BESIDE_PYTHON),
            ("workdir", BESIDE_PYTHON),
            ("allow_build", BESIDE_PYTHON),
            ("worker", BESIDE_PYTHON),
            ("workers", BESIDE_PYTHON),
            ("idempotent", BESIDE_PYTHON),
            ("sandbox", BESIDE_PYTHON),
        ],
    };

    pub const LIMITS: Self = Self {
        place: "limits",
        known: &["timeout", "memory", "concurrency"],
        later: &[],
        elsewhere: &[],
    };

    pub const PERMISSIONS: Self = Self {
        place: "permissions",
        known: &[
            "files",
            "network",
            "processes",
            "scratch",
            "env",
            "secrets",
            "data",
        ],
        later: &[],
        elsewhere: &[
            ("environment", "write `permissions: {env: [NAME]}`"),
            ("exec", "write `permissions: {processes: true}`"),
            ("subprocess", "write `permissions: {processes: true}`"),
            ("folders", "write `permissions: {files: [{host: PATH}]}`"),
        ],
    };

    pub const NETWORK_GRANT: Self = Self {
        place: "permissions.network",
        known: &["host", "port"],
        later: &[],
        elsewhere: &[
            ("hosts", "write one {host: NAME, port: 443} for each host"),
            ("ports", "write one {host: NAME, port: 443} for each port"),
        ],
    };

    pub const SECRET_GRANT: Self = Self {
        place: "permissions.secrets",
        known: &["name", "env", "file", "command"],
        later: &[],
        elsewhere: &[(
            "value",
            "a secret is not written in the configuration: write `env:`, `file:` or `command:`",
        )],
    };

    pub const FILE_GRANT: Self = Self {
        place: "permissions.files",
        known: &["host", "guest", "access"],
        later: &[],
        elsewhere: &[],
    };

    /// The keys that are read.
    #[cfg(test)]
    pub fn known(&self) -> &'static [&'static str] {
        self.known
    }

    /// Opens a mapping: reports what is no mapping, keys that are no strings, repeated, unknown or
    /// not supported yet, and gives the rest.
    pub fn read<'n>(&self, node: &'n Node, findings: &mut Findings) -> Option<Fields<'n>> {
        self.read_with(&More::NONE, node, findings)
    }

    /// The same with `more` keys besides.
    pub fn read_with<'n>(
        &self,
        more: &More,
        node: &'n Node,
        findings: &mut Findings,
    ) -> Option<Fields<'n>> {
        let Value::Mapping(pairs) = &node.value else {
            let what = if self.place.is_empty() {
                "the configuration"
            } else {
                self.place
            };
            expected(findings, node, what, "a mapping");
            return None;
        };
        let mut fields = Fields { known: Vec::new() };
        let mut seen: HashMap<&str, usize> = HashMap::new();
        for (key, value) in pairs {
            let Some(name) = key.as_str() else {
                let what = if self.place.is_empty() {
                    "a key"
                } else {
                    &format!("a key of {}", self.place)
                };
                expected(findings, key, what, "a string");
                continue;
            };
            if let Some(line) = seen.get(name) {
                let message = format!("key written twice: {}, first on line {line}", shown(name));
                findings.slip(&key.at, message, Some("keep one of them".into()));
                // A slip is no problem in the legacy shape, where the last one counts.
                if let Some(known) = fields.known.iter_mut().find(|(known, ..)| *known == name) {
                    *known = (name, key, value);
                }
            } else if let Some((_, why)) = more.noted.iter().find(|(noted, _)| *noted == name) {
                let message = format!("means nothing here: {}", self.path(name));
                findings.note(&key.at, message, Some((*why).into()));
            } else if self.known.contains(&name) || more.known.contains(&name) {
                fields.known.push((name, key, value));
            } else {
                self.refuse(more, key, name, findings);
            }
            seen.entry(name).or_insert(key.at.line);
        }
        Some(fields)
    }

    /// A key by its place.
    fn path(&self, name: &str) -> String {
        match self.place {
            "" | "entry" => name.to_owned(),
            place => format!("{place}.{name}"),
        }
    }

    fn refuse(&self, more: &More, key: &Node, name: &str, findings: &mut Findings) {
        let find = |table: &[(&str, &'static str)]| {
            table
                .iter()
                .find(|(word, _)| *word == name)
                .map(|(_, hint)| (*hint).to_owned())
        };
        if let Some(hint) = find(self.later) {
            let message = format!("not supported yet: {}", self.path(name));
            return findings.error(&key.at, message, Some(hint));
        }
        let is_ours = matches!(self.place, "" | "entry") && !findings.is_legacy();
        if let Some(hint) = find(LEGACY).filter(|_| is_ours) {
            let message = format!("only the legacy shape has it: {}", self.path(name));
            let hint = format!("{hint}, or let the file be read as legacy: --shape legacy");
            return findings.error(&key.at, message, Some(hint));
        }
        let known = || self.known.iter().chain(more.known).copied();
        let hint = find(self.elsewhere).unwrap_or_else(|| choices_hint(name, known(), "keys"));
        findings.error(
            &key.at,
            format!("unknown key: {}", self.path(&shown(name))),
            Some(hint),
        );
    }
}

/// What the legacy shape adds to the keys of a mapping.
pub(super) struct More {
    /// Keys that are read.
    pub known: &'static [&'static str],
    /// Keys that mean nothing here, with why.
    pub noted: &'static [(&'static str, &'static str)],
}

impl More {
    pub const NONE: Self = Self {
        known: &[],
        noted: &[],
    };
}

/// The known keys of one mapping, each with its first value; with the last one in the legacy shape.
pub(super) struct Fields<'n> {
    known: Vec<(&'n str, &'n Node, &'n Node)>,
}

impl<'n> Fields<'n> {
    /// The value of a key.
    pub fn get(&self, name: &str) -> Option<&'n Node> {
        self.pair(name).map(|(_, value)| value)
    }

    /// The key itself and its value.
    pub fn pair(&self, name: &str) -> Option<(&'n Node, &'n Node)> {
        self.known
            .iter()
            .find(|(known, ..)| *known == name)
            .map(|(_, key, value)| (*key, *value))
    }
}

/// The choice most like `word`, if any is like it.
pub(crate) fn nearest<'c>(
    word: &str,
    choices: impl IntoIterator<Item = &'c str>,
) -> Option<&'c str> {
    // The distance takes quadratic time, and no choice is near so long a word.
    const LONGEST_CHARS: usize = 100;
    if word.len() > LONGEST_CHARS {
        return None;
    }
    let word = word.to_lowercase();
    choices
        .into_iter()
        .map(|choice| {
            (
                strsim::normalized_damerau_levenshtein(&word, choice),
                choice,
            )
        })
        .filter(|(alike, _)| *alike >= ALIKE)
        .max_by(|(one, _), (other, _)| one.total_cmp(other))
        .map(|(_, choice)| choice)
}

/// What to write instead of a word that is none of the choices; `what` is "keys" or "values".
pub(super) fn choices_hint<'c>(
    word: &str,
    choices: impl Iterator<Item = &'c str> + Clone,
    what: &str,
) -> String {
    let all = choices.clone().collect::<Vec<_>>().join(", ");
    match nearest(word, choices) {
        Some(near) => format!("did you mean `{near}`? possible {what}: {all}"),
        None => format!("possible {what}: {all}"),
    }
}
