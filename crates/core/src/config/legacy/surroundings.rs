//! What a legacy file says beside its entries: where their code is, and `plugin_settings:`.

use std::path::{Component, Path, PathBuf};
use std::time::Duration;

use super::base::{self, Candidates, Named};
use super::{kind, member, settings};
use crate::config::keys::Fields;
use crate::config::options::ReadOptions;
use crate::config::read::{list, string};
use crate::config::report::{Findings, Place, shown};
use crate::config::yaml::{Node, Value};

/// The folder that the framework allows plugins in besides the one it runs in.
const ALSO_ALLOWED: &str = "/var/lib/cpex/plugins";

/// What the rest of a legacy file says about its entries.
#[derive(Debug, Default)]
pub(in crate::config) struct Surroundings {
    /// Where relative paths start, and the worker's current folder.
    pub base_dir: PathBuf,
    /// Where classes are imported from: the base, then the `plugin_dirs` that are there.
    pub import_paths: Vec<PathBuf>,
    /// The folder that isolated plugins have their own folders in: the first of `plugin_dirs`.
    pub plugins_dir: PathBuf,
    /// The deadline of a call of a Python plugin.
    pub timeout: Option<Duration>,
    /// Whether a plugin that does not load is left out.
    pub skip_unloadable: bool,
}

/// Reads what a file says beside its entries. `file_dir` is the folder it is in.
pub(in crate::config) fn surroundings(
    fields: &Fields,
    file_dir: &Path,
    options: &ReadOptions,
    findings: &mut Findings,
) -> Surroundings {
    let settings = fields
        .get("plugin_settings")
        .map(|node| settings::read(node, findings))
        .unwrap_or_default();
    let dirs = fields.get("plugin_dirs");
    let items = dirs.and_then(|node| list(node, "plugin_dirs", "folders", findings));
    let named: Vec<(&Node, &str)> = items
        .unwrap_or_default()
        .iter()
        .filter_map(|item| Some((item, string(item, "plugin_dirs", findings)?)))
        .collect();
    let current_dir = options
        .current_dir
        .clone()
        .or_else(|| std::env::current_dir().ok());
    let base_dir = base::find(
        &Candidates {
            file_dir,
            current_dir: current_dir.as_deref(),
        },
        &Named {
            plugin_dirs: named.iter().map(|(_, dir)| *dir).collect(),
            packages: packages(fields.get("plugins")),
        },
    );
    let at = dirs.map_or(&Place::START, |node| &node.at);
    let message = format!(
        "a legacy configuration: paths start at {}",
        base_dir.display()
    );
    findings.note(at, message, None);
    let mut import_paths = vec![base_dir.clone()];
    for (node, dir) in &named {
        let folder = base_dir.join(dir);
        if folder.is_dir() {
            if !import_paths.contains(&folder) {
                import_paths.push(folder);
            }
        } else {
            let message = format!("plugin_dirs: no such folder: {}", shown(dir));
            let hint = format!("looked at {}", shown(&folder.display().to_string()));
            findings.note(&node.at, message, Some(hint));
        }
    }
    Surroundings {
        plugins_dir: plugins_dir(&base_dir, named.iter().map(|(_, dir)| *dir)),
        import_paths,
        timeout: settings.timeout,
        skip_unloadable: settings.skip_unloadable,
        base_dir,
    }
}

/// The first of `plugin_dirs` that the framework allows.
fn plugins_dir<'d>(base_dir: &Path, dirs: impl Iterator<Item = &'d str>) -> PathBuf {
    let allowed = |folder: &PathBuf| {
        let upwards = folder.components().any(|part| part == Component::ParentDir);
        !upwards && (folder.starts_with(base_dir) || folder.starts_with(ALSO_ALLOWED))
    };
    dirs.map(|dir| base_dir.join(dir))
        .find(allowed)
        .unwrap_or_else(|| base_dir.to_owned())
}

/// The first parts of the classes that entries name.
fn packages(plugins: Option<&Node>) -> Vec<&str> {
    let Some(Value::List(entries)) = plugins.map(|plugins| &plugins.value) else {
        return Vec::new();
    };
    let class = |entry| {
        let kind = member(entry, "kind").and_then(Node::as_str)?;
        let own = || member(member(entry, "config")?, "class_name")?.as_str();
        let class = if kind == kind::ISOLATED { own()? } else { kind };
        class.split_once('.').map(|(package, _)| package)
    };
    entries.iter().filter_map(class).collect()
}
