//! `permissions.network`: hosts and ports.

use crate::config::host::HostPattern;
use crate::config::keys::Keys;
use crate::config::read::{integer, list, string};
use crate::config::report::{Findings, shown};
use crate::config::spec::NetworkGrant;
use crate::config::yaml::Node;

const EXAMPLE: &str = "write {host: api.example.com, port: 443}";

/// Reads the list.
pub(super) fn read(node: &Node, findings: &mut Findings) -> Vec<NetworkGrant> {
    let mut grants = Vec::new();
    for item in list(node, "permissions.network", "grants", findings).unwrap_or_default() {
        if let Some(grant) = grant(item, &grants, findings) {
            grants.push(grant);
        }
    }
    grants
}

fn grant(node: &Node, earlier: &[NetworkGrant], findings: &mut Findings) -> Option<NetworkGrant> {
    let fields = Keys::NETWORK_GRANT.read(node, findings)?;
    let mut missing = |key: &str| {
        let message = format!("missing key: permissions.network.{key}");
        findings.error(&node.at, message, Some(EXAMPLE.into()));
    };
    if fields.get("host").is_none() {
        missing("host");
    }
    if fields.get("port").is_none() {
        missing("port");
    }
    let host = fields.get("host").and_then(|node| host(node, findings));
    let port = fields.get("port").and_then(|node| {
        let port = integer(node, "permissions.network.port", 1, 65_535, findings)?;
        u16::try_from(port).ok()
    });
    let grant = NetworkGrant {
        host: host?,
        port: port?,
    };
    if earlier.contains(&grant) {
        let message = format!("permissions.network: granted twice: {grant}");
        findings.error(&node.used, message, Some("keep one of them".into()));
        return None;
    }
    Some(grant)
}

fn host(node: &Node, findings: &mut Findings) -> Option<HostPattern> {
    let text = string(node, "permissions.network.host", findings)?;
    match HostPattern::parse(text) {
        Ok(host) => {
            if matches!(&host, HostPattern::Range(range) if range.prefix() == 0) {
                let message = format!(
                    "permissions.network.host: every address, private ones and this machine's own too: {}",
                    shown(text)
                );
                let hint = "write the names or ranges that are needed";
                findings.note(&node.at, message, Some(hint.into()));
            }
            Some(host)
        }
        Err(error) => {
            let message = format!(
                "permissions.network.host: {}: {}",
                error.problem(),
                shown(text)
            );
            findings.error(&node.at, message, Some(error.hint()));
            None
        }
    }
}
