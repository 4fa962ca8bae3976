//! What an entry grants its plugin.

mod files;
mod network;
mod secrets;

use super::keys::{Fields, Keys, choices_hint};
use super::limits;
use super::paths::Paths;
use super::read::{boolean, words};
use super::report::{Findings, shown};
use super::spec::Permissions;
use super::yaml::Node;
use crate::capability::{Capabilities, Capability};

#[cfg(test)]
pub(super) use files::ACCESS;

/// Grants that only a component can use, with what a Python class has instead.
const WASM_ONLY: [(&str, &str); 2] = [
    (
        "scratch",
        "remove it: a worker has a private temporary folder anyway, the one `tempfile` uses",
    ),
    (
        "secrets",
        "write `permissions: {env: [NAME]}`: a Python class reads its environment",
    ),
];

/// Reads `permissions:`. `is_wasm` is unknown while the entry's kind is.
pub(super) fn read(
    node: Option<&Node>,
    is_wasm: Option<bool>,
    paths: Paths,
    findings: &mut Findings,
) -> Permissions {
    let mut permissions = Permissions::default();
    let Some(fields) = node.and_then(|node| Keys::PERMISSIONS.read(node, findings)) else {
        return permissions;
    };
    if is_wasm == Some(false) {
        refuse_wasm_only(&fields, findings);
    } else {
        read_wasm_only(&fields, &mut permissions, paths, findings);
    }
    if let Some((key, node)) = fields.pair("processes") {
        permissions.processes = processes(key, node, is_wasm, findings);
    }
    if let Some(node) = fields.get("files") {
        let scratch = is_wasm != Some(false) && fields.get("scratch").is_some();
        permissions.files = files::read(node, is_wasm, scratch, paths, findings);
    }
    if let Some(node) = fields.get("network") {
        permissions.network = network::read(node, findings);
    }
    if let Some(node) = fields.get("env") {
        permissions.env = words(node, "permissions.env", "names", findings, env_name);
    }
    if let Some(node) = fields.get("data") {
        permissions.data = data(node, "permissions.data", findings);
    }
    permissions
}

fn refuse_wasm_only(fields: &Fields, findings: &mut Findings) {
    for (key, hint) in WASM_ONLY {
        if let Some((written, _)) = fields.pair(key) {
            let message =
                format!("permissions.{key}: only a wasm plugin has it, and this is a Python class");
            findings.error(&written.at, message, Some(hint.into()));
        }
    }
}

fn read_wasm_only(
    fields: &Fields,
    permissions: &mut Permissions,
    paths: Paths,
    findings: &mut Findings,
) {
    if let Some(node) = fields.get("scratch") {
        permissions.scratch_bytes = limits::scratch(node, findings);
    }
    if let Some(node) = fields.get("secrets") {
        permissions.secrets = secrets::read(node, paths, findings);
    }
}

fn processes(key: &Node, node: &Node, is_wasm: Option<bool>, findings: &mut Findings) -> bool {
    if is_wasm == Some(true) {
        let message = "permissions.processes: only a Python plugin has it, and this is wasm".into();
        let hint = "remove it: a component starts no processes";
        findings.error(&key.at, message, Some(hint.into()));
        return false;
    }
    boolean(node, "permissions.processes", findings).unwrap_or(false)
}

fn env_name(node: &Node, name: &str, findings: &mut Findings) -> bool {
    let good = !name.contains('=');
    if !good {
        let message = format!("permissions.env: not a variable's name: {}", shown(name));
        let hint = "write the name alone; its value comes from the environment of the gateway";
        findings.error(&node.at, message, Some(hint.into()));
    }
    good
}

/// Reads a list of data capabilities; `what` is its key.
pub(super) fn data(node: &Node, what: &str, findings: &mut Findings) -> Capabilities {
    let names = words(
        node,
        what,
        "capabilities",
        findings,
        |item, name, findings| {
            let known = Capability::named(name).is_some();
            if !known {
                let message = format!("unknown {what}: {}", shown(name));
                let all = Capability::ALL.iter().map(|capability| capability.as_str());
                findings.error(&item.at, message, Some(choices_hint(name, all, "values")));
            }
            known
        },
    );
    names
        .iter()
        .filter_map(|name| Capability::named(name))
        .collect()
}
