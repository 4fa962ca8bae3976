//! The kinds that only the framework's shape has: `isolated_venv`, and whatever a disabled entry says.

use std::path::{Path, PathBuf};
use std::time::Duration;

use super::{Surroundings, coerce, member, settings};
use crate::config::keys::Fields;
use crate::config::kind::is_class;
use crate::config::manifest;
use crate::config::read::{string, word};
use crate::config::report::{Findings, shown};
use crate::config::spec::PluginKind;
use crate::config::yaml::{Node, Value};

/// A class in a virtualenv of its own, which every Python plugin is here.
pub(in crate::config) const ISOLATED: &str = "isolated_venv";

/// What `config:` of an isolated plugin says about its code.
pub(in crate::config) struct Isolated {
    /// The dotted class.
    pub class: String,
    /// A requirements file that is there.
    pub requirements_file: Option<PathBuf>,
    /// A folder to import from besides the others.
    pub import_path: Option<PathBuf>,
}

/// The kind of an entry that is only parsed: no path is looked at, and any word is a kind.
pub(in crate::config) fn unjudged(fields: &Fields) -> PluginKind {
    let kind = fields
        .get("kind")
        .and_then(Node::as_str)
        .unwrap_or_default();
    let class = match kind {
        ISOLATED => fields
            .get("config")
            .and_then(|config| member(config, "class_name"))
            .and_then(Node::as_str),
        _ => Some(kind),
    };
    match class.filter(|class| is_class(class)) {
        Some(class) => PluginKind::Python {
            class: class.to_owned(),
            requirements: Vec::new(),
            requirements_file: None,
            import_paths: Vec::new(),
            workdir: None,
        },
        None => PluginKind::Other {
            kind: kind.to_owned(),
        },
    }
}

/// The deadline that `config:` of an isolated plugin sets.
pub(in crate::config) fn timeout(
    fields: &Fields,
    config: Option<&Node>,
    findings: &mut Findings,
) -> Option<Duration> {
    let isolated = fields.get("kind").and_then(Node::as_str) == Some(ISOLATED);
    let node = member(config.filter(|_| isolated)?, "timeout_secs")?;
    settings::seconds(node, "config.timeout_secs", findings)
}

/// Reads what `config:` of an isolated plugin says about its code. `has_own` says that the entry itself
/// names what to install.
pub(in crate::config) fn isolated(
    entry: &Node,
    config: Option<&Node>,
    has_own: bool,
    around: &Surroundings,
    findings: &mut Findings,
) -> Option<Isolated> {
    let Some(node) = config.and_then(|config| member(config, "class_name")) else {
        let at = config.map_or(&entry.at, |config| &config.at);
        let hint = "write the dotted class, for example class_name: package.module.Class";
        findings.error(
            at,
            "missing key: config.class_name".into(),
            Some(hint.into()),
        );
        return None;
    };
    let class = word(node, "config.class_name", findings)?;
    if !is_class(class) {
        let message = format!("config.class_name: not a Python class: {}", shown(class));
        let hint = "write the dotted class, for example package.module.Class";
        findings.error(&node.at, message, Some(hint.into()));
        return None;
    }
    let own = |name| {
        config
            .and_then(|config| member(config, name))
            .filter(|node| !matches!(node.value, Value::Null))
    };
    let folder = around
        .plugins_dir
        .join(class.split('.').next().unwrap_or_default());
    let requirements_file =
        own("requirements_file").and_then(|node| requirements_file(node, &folder, findings));
    if own("requirements_file").is_none() && !has_own {
        note_package(entry, class, &folder, findings);
    }
    if let Some(node) = own("max_content_size") {
        coerce::whole(
            node,
            "config.max_content_size",
            i64::MIN,
            i64::MAX,
            findings,
        );
        let message = "means nothing here: config.max_content_size";
        let hint = "it bounds the framework's own worker; max_payload_bytes at the top of the file bounds ours";
        findings.note(&node.at, message.into(), Some(hint.into()));
    }
    Some(Isolated {
        class: class.to_owned(),
        requirements_file,
        import_path: own("script_path").and_then(|node| script_path(node, around, findings)),
    })
}

/// The file lies in the plugin's own folder; at home one that is not there is passed over, and so it is here.
fn requirements_file(node: &Node, folder: &Path, findings: &mut Findings) -> Option<PathBuf> {
    let text = string(node, "config.requirements_file", findings)?;
    let file = folder.join(text);
    if file.is_file() {
        return Some(file);
    }
    let message = format!(
        "config.requirements_file: no such file, nothing is installed from it: {}",
        shown(text)
    );
    let hint = format!("looked at {}", shown(&file.display().to_string()));
    findings.note(&node.at, message, Some(hint));
    None
}

/// A plugin that the framework's own command installed has no requirements file: its package is in the
/// environment that was built then. Ours is another one.
fn note_package(entry: &Node, class: &str, folder: &Path, findings: &mut Findings) {
    let file = folder.join(manifest::file_name_of(class));
    let Some(package) = manifest::package_in(&file) else {
        return;
    };
    let message = format!(
        "the framework installed {} for it, here nothing is installed unasked",
        shown(&package)
    );
    let hint = format!(
        "write `requirements: [\"{}\"]` in the entry",
        shown(&package)
    );
    findings.note(&entry.at, message, Some(hint));
}

/// A folder is the plugin's own, and its modules may be named without it. A file is the worker of another host, and ours has its own.
fn script_path(node: &Node, around: &Surroundings, findings: &mut Findings) -> Option<PathBuf> {
    let text = string(node, "config.script_path", findings)?;
    let path = around.base_dir.join(text);
    if path.is_dir() {
        return Some(path);
    }
    let (message, hint) = if path.is_file() {
        (
            "a file, which is not used: the worker is hookgate's own",
            None,
        )
    } else {
        (
            "no such folder",
            Some(format!("looked at {}", shown(&path.display().to_string()))),
        )
    };
    findings.note(
        &node.at,
        format!("config.script_path: {message}: {}", shown(text)),
        hint,
    );
    None
}
