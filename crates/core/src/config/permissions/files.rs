//! `permissions.files`: folders of this machine, and files of it for a Python class.

use std::path::{Path, PathBuf};

use crate::config::keys::{Fields, Keys};
use crate::config::paths::{Paths, Target};
use crate::config::read::{choice, list, string};
use crate::config::report::{Findings, shown};
use crate::config::spec::{Access, FileGrant, SCRATCH_GUEST_PATH};
use crate::config::yaml::Node;

pub(in crate::config) const ACCESS: [(&str, Access); 2] =
    [("read", Access::Read), ("read_write", Access::ReadWrite)];

/// Reads the list. `is_wasm` is unknown while the entry's kind is: what either kind may write is right then.
/// `scratch`: the plugin has a scratch folder, whose path is taken then.
pub(super) fn read(
    node: &Node,
    is_wasm: Option<bool>,
    scratch: bool,
    paths: Paths,
    findings: &mut Findings,
) -> Vec<FileGrant> {
    let mut grants = Vec::new();
    for item in list(node, "permissions.files", "grants", findings).unwrap_or_default() {
        let Some(fields) = Keys::FILE_GRANT.read(item, findings) else {
            continue;
        };
        if let Some(grant) = file_grant(item, &fields, is_wasm, paths, findings)
            && has_a_place(&grant, item, &fields, scratch, &grants, findings)
        {
            grants.push(grant);
        }
    }
    grants
}

fn file_grant(
    node: &Node,
    fields: &Fields,
    is_wasm: Option<bool>,
    paths: Paths,
    findings: &mut Findings,
) -> Option<FileGrant> {
    let mut missing = |key: &str, hint: &str| {
        let message = format!("missing key: permissions.files.{key}");
        findings.error(&node.at, message, Some(hint.into()));
    };
    if fields.get("host").is_none() {
        missing(
            "host",
            match is_wasm {
                Some(false) => "write {host: ./data, access: read}",
                _ => "write {host: ./data, guest: /data, access: read}",
            },
        );
    }
    if fields.get("guest").is_none() && is_wasm == Some(true) {
        let hint = "write the path the plugin sees, for example guest: /data";
        missing("guest", hint);
    }
    let target = match is_wasm {
        // The sandbox of a component knows folders only.
        Some(true) => Target::Folder,
        _ => Target::Either,
    };
    let host = fields
        .get("host")
        .and_then(|host| paths.read(host, "permissions.files.host", target, findings));
    let access = match fields.get("access") {
        Some(access) => choice(access, "permissions.files.access", &ACCESS, &[], findings),
        None => Some(Access::Read),
    };
    let guest = match fields.get("guest") {
        Some(guest) => Some(guest_path(guest, findings)?),
        None => None,
    };
    let host = host?;
    let guest = match (is_wasm, guest) {
        (Some(false), guest) => own_path(fields, &host, guest, findings)?,
        (_, guest) => guest?,
    };
    Some(FileGrant {
        host,
        guest,
        access: access?,
    })
}

/// The path by which a Python class opens a place: the place's own, since a process sees no other.
fn own_path(
    fields: &Fields,
    host: &Path,
    guest: Option<String>,
    findings: &mut Findings,
) -> Option<String> {
    let plain: PathBuf = host.components().collect();
    if let (Some(guest), Some(node)) = (guest, fields.get("guest"))
        && Path::new(&guest) != plain
    {
        let message = format!(
            "permissions.files.guest: a Python plugin sees the place by its own path: {}",
            shown(&guest)
        );
        let hint = format!(
            "remove guest: the plugin opens {}",
            shown(&plain.display().to_string())
        );
        findings.error(&node.at, message, Some(hint));
        return None;
    }
    Some(plain.display().to_string())
}

/// Whether no other grant has its place in the plugin's eyes.
fn has_a_place(
    grant: &FileGrant,
    node: &Node,
    fields: &Fields,
    scratch: bool,
    earlier: &[FileGrant],
    findings: &mut Findings,
) -> bool {
    let guest = &grant.guest;
    let written = |key| fields.get(key).map(|value| &value.used);
    if earlier.iter().any(|earlier| earlier.guest == *guest) {
        let message = format!("permissions.files: granted twice: {}", shown(guest));
        let at = written("guest").or(written("host")).unwrap_or(&node.used);
        findings.error(at, message, Some("keep one of them".into()));
        return false;
    }
    let below_scratch = guest
        .strip_prefix(SCRATCH_GUEST_PATH)
        .is_some_and(|rest| rest.is_empty() || rest.starts_with('/'));
    if scratch && below_scratch {
        let message = format!(
            "permissions.files.guest: taken by permissions.scratch: {}",
            shown(guest)
        );
        let at = written("guest").unwrap_or(&node.used);
        findings.error(at, message, Some("write another path".into()));
        return false;
    }
    true
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
