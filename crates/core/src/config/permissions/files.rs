//! `permissions.files`: folders of this machine.

use crate::config::keys::Keys;
use crate::config::paths::{Paths, Target};
use crate::config::read::{choice, list, string};
use crate::config::report::{Findings, shown};
use crate::config::spec::{Access, FileGrant, SCRATCH_GUEST_PATH};
use crate::config::yaml::Node;

pub(in crate::config) const ACCESS: [(&str, Access); 2] =
    [("read", Access::Read), ("read_write", Access::ReadWrite)];

/// Reads the list. `scratch`: the plugin has a scratch folder, whose path is taken then.
pub(super) fn read(
    node: &Node,
    scratch: bool,
    paths: Paths,
    findings: &mut Findings,
) -> Vec<FileGrant> {
    let mut grants = Vec::new();
    for item in list(node, "permissions.files", "grants", findings).unwrap_or_default() {
        if let Some(grant) = file_grant(item, scratch, paths, &grants, findings) {
            grants.push(grant);
        }
    }
    grants
}

fn file_grant(
    node: &Node,
    scratch: bool,
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
    let below_scratch = guest
        .strip_prefix(SCRATCH_GUEST_PATH)
        .is_some_and(|rest| rest.is_empty() || rest.starts_with('/'));
    if scratch && below_scratch {
        let message = format!(
            "permissions.files.guest: taken by permissions.scratch: {}",
            shown(&guest)
        );
        let at = fields.get("guest").map_or(&node.used, |guest| &guest.used);
        findings.error(at, message, Some("write another path".into()));
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
