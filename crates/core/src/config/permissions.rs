//! What an entry grants its plugin.

use super::keys::{Keys, choices_hint};
use super::paths::{Paths, Target};
use super::read::{choice, list, string, words};
use super::report::{Findings, shown};
use super::spec::{Access, FileGrant, Permissions};
use super::yaml::Node;
use crate::capability::{Capabilities, Capability};

pub(super) const ACCESS: [(&str, Access); 2] =
    [("read", Access::Read), ("read_write", Access::ReadWrite)];

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
    if let Some(node) = fields.get("files").filter(|_| is_wasm == Some(false)) {
        // Accepted now, it would say that there is a bound where there is none.
        let message = "not supported yet: permissions.files of a Python plugin".into();
        let hint = "leave it out: Python plugins are not confined, they read and write what hookgate itself may";
        findings.error(&node.used, message, Some(hint.into()));
    } else if let Some(node) = fields.get("files") {
        for item in list(node, "permissions.files", "grants", findings).unwrap_or_default() {
            if let Some(grant) = file_grant(item, paths, &permissions.files, findings) {
                permissions.files.push(grant);
            }
        }
    }
    if let Some(node) = fields.get("env") {
        permissions.env = words(node, "permissions.env", "names", findings, env_name);
    }
    if let Some(node) = fields.get("data") {
        permissions.data = data(node, "permissions.data", findings);
    }
    permissions
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

fn file_grant(
    node: &Node,
    paths: Paths,
    earlier: &[FileGrant],
    findings: &mut Findings,
) -> Option<FileGrant> {
    let fields = Keys::FILE_GRANT.read(node, findings)?;
    let host = match fields.get("host") {
        // The sandbox of a component knows folders only.
        Some(host) => paths.read(host, "permissions.files.host", Target::Folder, findings),
        None => {
            let hint = "write {host: ./data, guest: /data, access: read}";
            findings.error(
                &node.at,
                "missing key: permissions.files.host".into(),
                Some(hint.into()),
            );
            None
        }
    };
    let access = match fields.get("access") {
        Some(access) => choice(access, "permissions.files.access", &ACCESS, &[], findings),
        None => Some(Access::Read),
    };
    let guest = match fields.get("guest") {
        Some(guest) => guest_path(guest, findings),
        None => {
            let hint = "write the path the plugin sees, for example guest: /data";
            findings.error(
                &node.at,
                "missing key: permissions.files.guest".into(),
                Some(hint.into()),
            );
            None
        }
    };
    let (host, guest, access) = (host?, guest?, access?);
    if earlier.iter().any(|grant| grant.guest == guest) {
        let message = format!("permissions.files: granted twice: {}", shown(&guest));
        let at = fields
            .get("guest")
            .or(fields.get("host"))
            .map_or(&node.used, |guest| &guest.used);
        findings.error(at, message, Some("keep one of them".into()));
        return None;
    }
    Some(FileGrant {
        host,
        guest,
        access,
    })
}

/// Where a component sees a folder: absolute, without steps upwards, without a slash at its end.
fn guest_path(node: &Node, findings: &mut Findings) -> Option<String> {
    let text = string(node, "permissions.files.guest", findings)?;
    let steps = || text.split('/').skip(1);
    if !text.starts_with('/')
        || text.chars().any(char::is_control)
        || steps().any(|step| step == "." || step == "..")
    {
        let message = format!(
            "permissions.files.guest: not an absolute path: {}",
            shown(text)
        );
        let hint = "write a path from the root without . and .., for example /data";
        findings.error(&node.at, message, Some(hint.into()));
        return None;
    }
    let steps: Vec<_> = steps().filter(|step| !step.is_empty()).collect();
    Some(format!("/{}", steps.join("/")))
}
