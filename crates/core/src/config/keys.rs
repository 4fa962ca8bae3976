//! Which keys a mapping may hold, which are known but not read yet, and what a wrong one may have
//! meant.

use std::collections::HashMap;

use super::read::expected;
use super::report::{Findings, shown};
use super::yaml::{Node, Value};

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

/// Keys that other versions or the legacy framework read at the top of a file or in an entry.
const LATER: &[(&str, &str)] = &[
    ("allow_build", REMOVE),
    (
        "applied_to",
        "remove it; the plugin is asked at every call of its hooks",
    ),
    (
        "capabilities",
        "write `permissions: {data: [read_headers]}`",
    ),
    (
        "conditions",
        "remove it; the plugin is asked at every call of its hooks",
    ),
    ("default_config", "write the values under `config:`"),
    ("default_configs", "write the values under `config:`"),
    ("digest", REMOVE),
    ("environment", "write `permissions: {env: [NAME]}`"),
    ("global", REMOVE),
    ("group", REMOVE),
    ("groups", REMOVE),
    ("grpc", REMOVE),
    ("grpc_server_settings", REMOVE),
    ("instances", "write `limits: {concurrency: N}`"),
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
    (
        "python",
        "write `requirements:` or `requirements_file:` in the entry",
    ),
    ("redact", REMOVE),
    ("routes", REMOVE),
    ("sandbox", REMOVE),
    ("secrets", "write `permissions: {env: [NAME]}`"),
    ("server_settings", REMOVE),
    ("unix_socket", REMOVE),
    ("unix_socket_server_settings", REMOVE),
    ("worker", "write `limits:`"),
];

const IN_ENTRY: &str = "write it in an entry of `plugins:`";

impl Keys {
    pub const TOP: Self = Self {
        place: "",
        known: &["plugins", "max_payload_bytes", "max_state_bytes"],
        later: LATER,
        elsewhere: &[
            ("name", IN_ENTRY),
            ("kind", IN_ENTRY),
            ("hooks", IN_ENTRY),
            ("component", IN_ENTRY),
            ("mode", IN_ENTRY),
            ("priority", IN_ENTRY),
            ("on_error", IN_ENTRY),
            ("config", IN_ENTRY),
            ("limits", IN_ENTRY),
            ("permissions", IN_ENTRY),
        ],
    };

    pub const ENTRY: Self = Self {
        place: "entry",
        known: &[
            "name",
            "kind",
            "component",
            "requirements",
            "requirements_file",
            "import_paths",
            "workdir",
            "hooks",
            "mode",
            "priority",
            "on_error",
            "limits",
            "permissions",
            "config",
            "description",
            "author",
            "version",
            "tags",
        ],
        later: LATER,
        elsewhere: &[
            ("timeout", "write `limits: {timeout: 50ms}`"),
            ("memory", "write `limits: {memory: 64MiB}`"),
            ("concurrency", "write `limits: {concurrency: 64}`"),
            ("files", "write `permissions: {files: [...]}`"),
            ("env", "write `permissions: {env: [NAME]}`"),
            ("data", "write `permissions: {data: [read_headers]}`"),
            ("class", "write the dotted class as `kind:`"),
            ("class_name", "write the dotted class as `kind:`"),
            ("max_payload_bytes", "write it at the top of the file"),
            ("max_state_bytes", "write it at the top of the file"),
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
        known: &["files", "env", "data"],
        later: &[
            ("network", "remove it; a plugin has no network"),
            ("processes", "remove it; a plugin starts no processes"),
            ("secrets", "write `permissions: {env: [NAME]}`"),
        ],
        elsewhere: &[],
    };

    pub const FILE_GRANT: Self = Self {
        place: "permissions.files",
        known: &["host", "guest", "access"],
        later: &[],
        elsewhere: &[],
    };

    /// Opens a mapping: reports what is no mapping, keys that are no strings, repeated, unknown or
    /// not supported yet, and gives the rest.
    pub fn read<'n>(&self, node: &'n Node, findings: &mut Findings) -> Option<Fields<'n>> {
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
                findings.error(&key.at, message, Some("keep one of them".into()));
            } else if self.known.contains(&name) {
                fields.known.push((name, key, value));
            } else {
                self.refuse(key, name, findings);
            }
            seen.entry(name).or_insert(key.at.line);
        }
        Some(fields)
    }

    fn refuse(&self, key: &Node, name: &str, findings: &mut Findings) {
        let path = |name: &str| match self.place {
            "" | "entry" => name.to_owned(),
            place => format!("{place}.{name}"),
        };
        let find = |table: &[(&str, &'static str)]| {
            table
                .iter()
                .find(|(word, _)| *word == name)
                .map(|(_, hint)| (*hint).to_owned())
        };
        if let Some(hint) = find(self.later) {
            let message = format!("not supported yet: {}", path(name));
            return findings.error(&key.at, message, Some(hint));
        }
        let hint = find(self.elsewhere)
            .unwrap_or_else(|| choices_hint(name, self.known.iter().copied(), "keys"));
        findings.error(
            &key.at,
            format!("unknown key: {}", path(&shown(name))),
            Some(hint),
        );
    }
}

/// The known keys of one mapping, each with its first value.
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
pub(super) fn nearest<'c>(
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
