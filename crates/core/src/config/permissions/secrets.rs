//! `permissions.secrets`: values a plugin asks for by name, each from one source.

use crate::config::keys::{Fields, Keys};
use crate::config::paths::{Paths, Target};
use crate::config::read::{list, string, word};
use crate::config::report::{Findings, shown};
use crate::config::spec::{SecretGrant, SecretSource};
use crate::config::yaml::Node;

/// Longest name of a secret, in characters: what other stores of secrets take.
const NAME_MAX_CHARS: usize = 128;

const SOURCES: [&str; 3] = ["env", "file", "command"];
const EXAMPLE: &str = "write {name: TOKEN, env: API_TOKEN}, or `file: PATH` or `command: [WORD, ...]` instead of `env:`";

/// Reads the list.
pub(super) fn read(node: &Node, paths: Paths, findings: &mut Findings) -> Vec<SecretGrant> {
    let mut grants: Vec<SecretGrant> = Vec::new();
    for item in list(node, "permissions.secrets", "grants", findings).unwrap_or_default() {
        let Some(fields) = Keys::SECRET_GRANT.read(item, findings) else {
            continue;
        };
        let name = name(item, &fields, findings);
        let source = source(item, &fields, paths, findings);
        let Some(name) = name else {
            continue;
        };
        if grants.iter().any(|grant| grant.name == name) {
            let message = format!("permissions.secrets: granted twice: {}", shown(&name));
            let at = fields.get("name").map_or(&item.used, |name| &name.used);
            findings.error(at, message, Some("keep one of them".into()));
        } else if let Some(source) = source {
            grants.push(SecretGrant { name, source });
        }
    }
    grants
}

fn name(node: &Node, fields: &Fields, findings: &mut Findings) -> Option<String> {
    let Some(name) = fields.get("name") else {
        let message = "missing key: permissions.secrets.name".into();
        findings.error(&node.at, message, Some(EXAMPLE.into()));
        return None;
    };
    let text = word(name, "permissions.secrets.name", findings)?;
    let good = |c: char| c.is_ascii_alphanumeric() || matches!(c, '_' | '.' | '-');
    if !text.chars().all(good) || text.len() > NAME_MAX_CHARS {
        let message = format!("permissions.secrets.name: not a name: {}", shown(text));
        let hint =
            format!("write letters, digits, `_`, `.` and `-`, at most {NAME_MAX_CHARS} of them");
        findings.error(&name.at, message, Some(hint));
        return None;
    }
    Some(text.to_owned())
}

fn source(
    node: &Node,
    fields: &Fields,
    paths: Paths,
    findings: &mut Findings,
) -> Option<SecretSource> {
    let written: Vec<_> = SOURCES
        .into_iter()
        .filter(|key| fields.get(key).is_some())
        .collect();
    let [key] = written[..] else {
        let message = if written.is_empty() {
            "permissions.secrets: no source".to_owned()
        } else {
            format!(
                "permissions.secrets: more than one source: {}",
                written.join(", ")
            )
        };
        findings.error(&node.at, message, Some(EXAMPLE.into()));
        return None;
    };
    let value = fields.get(key)?;
    match key {
        "env" => variable(value, findings).map(SecretSource::Env),
        "file" => paths
            .read(value, "permissions.secrets.file", Target::File, findings)
            .map(SecretSource::File),
        _ => command(value, findings).map(SecretSource::Command),
    }
}

fn variable(node: &Node, findings: &mut Findings) -> Option<String> {
    let name = word(node, "permissions.secrets.env", findings)?;
    if name.contains('=') {
        // What stands behind the sign may be the secret itself: it is not repeated.
        let message = "permissions.secrets.env: not a variable's name: it holds `=`".into();
        let hint = "write the name alone; its value comes from the environment of the gateway";
        findings.error(&node.at, message, Some(hint.into()));
        return None;
    }
    Some(name.to_owned())
}

fn command(node: &Node, findings: &mut Findings) -> Option<Vec<String>> {
    const WHAT: &str = "permissions.secrets.command";
    let items = list(node, WHAT, "words", findings)?;
    let mut words = Vec::with_capacity(items.len());
    for item in items {
        let text = string(item, WHAT, findings)?;
        if text.contains('\0') {
            let message = format!("{WHAT}: holds NUL");
            findings.error(
                &item.at,
                message,
                Some("write printable characters only".into()),
            );
            return None;
        }
        words.push(text.to_owned());
    }
    if words.first().is_none_or(String::is_empty) {
        let message = format!("{WHAT}: names no program");
        let hint = "write the program and its arguments as a list, for example [pass, show, api]";
        findings.error(&node.at, message, Some(hint.into()));
        return None;
    }
    Some(words)
}
