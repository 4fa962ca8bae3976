//! The `kind:` of an entry, and the keys that only one kind reads.

use std::path::PathBuf;

use super::keys::{Fields, choices_hint};
use super::legacy;
use super::paths::{Paths, Target};
use super::read::{list, word, words};
use super::report::{Findings, shown};
use super::rules::Rules;
use super::spec::PluginKind;
use super::yaml::Node;

const PYTHON_KEYS: [&str; 10] = [
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
];
pub(super) const CLASS_EXAMPLE: &str = "package.module.Class";

/// What the legacy framework's words for kinds are told: why not, and what to write instead.
const REFUSED: [(&str, &str, &str); 5] = [
    (
        legacy::ISOLATED,
        "only the legacy shape has it",
        "write the dotted class as `kind:`, with `requirements:` beside it",
    ),
    (
        "external",
        "hookgate talks to no plugins that run elsewhere",
        "remove the entry, or run the plugin here: `kind: wasm` with `component:`, or its dotted class",
    ),
    ("builtin", NO_LOADER, "write the dotted class as `kind:`"),
    ("native", NO_LOADER, "write the dotted class as `kind:`"),
    ("PDP", NO_LOADER, "remove the entry"),
];
const NO_LOADER: &str = "nothing loads it, nor does the legacy framework";

/// What `kind:` says.
enum Said<'n> {
    Wasm,
    Class(&'n str),
    /// A class that `config:` names.
    Isolated,
}

/// Reads `kind:` and its keys. None if it is not known what the entry is, or where its code is.
pub(super) fn read(
    entry: &Node,
    fields: &Fields,
    config: Option<&Node>,
    rules: &Rules,
    paths: Paths,
    findings: &mut Findings,
) -> Option<PluginKind> {
    let said = match fields.get("kind") {
        Some(node) => said(node, rules, findings),
        None => {
            let hint = format!("write `kind: wasm`, or a dotted Python class: {CLASS_EXAMPLE}");
            findings.error(&entry.at, "missing key: kind".into(), Some(hint));
            None
        }
    };
    match said {
        Some(Said::Wasm) => {
            for name in PYTHON_KEYS {
                if let Some((key, _)) = fields.pair(name) {
                    let message = format!("{name}: only a Python plugin has it, and this is wasm");
                    let hint =
                        format!("remove it, or write the dotted class as `kind:`: {CLASS_EXAMPLE}");
                    findings.error(&key.at, message, Some(hint));
                }
            }
            let Some(node) = fields.get("component") else {
                let hint = "write the component's file, for example `component: plugin.wasm`";
                findings.error(
                    &entry.at,
                    "missing key: component".into(),
                    Some(hint.into()),
                );
                return None;
            };
            component(node, paths, findings).map(|component| PluginKind::Wasm { component })
        }
        Some(Said::Class(class)) => {
            if let Some((key, _)) = fields.pair("component") {
                let message = format!(
                    "component: only a wasm plugin has it, and this is {}",
                    shown(class)
                );
                let hint = "remove it, or write `kind: wasm`";
                findings.error(&key.at, message, Some(hint.into()));
            }
            let python = python(fields, rules, paths, findings);
            Some(PluginKind::Python {
                class: class.to_owned(),
                requirements: python.requirements,
                requirements_file: python.requirements_file,
                import_paths: python.import_paths,
                workdir: python.workdir,
            })
        }
        Some(Said::Isolated) => isolated(entry, fields, config, rules, paths, findings),
        None => {
            // Unknown kind: its keys are still read, so that their problems are in the same report.
            if let Some(node) = fields.get("component") {
                component(node, paths, findings);
            }
            python(fields, rules, paths, findings);
            None
        }
    }
}

fn isolated(
    entry: &Node,
    fields: &Fields,
    config: Option<&Node>,
    rules: &Rules,
    paths: Paths,
    findings: &mut Findings,
) -> Option<PluginKind> {
    if let Some((key, _)) = fields.pair("component") {
        let message = "component: only a wasm plugin has it, and this is isolated_venv";
        findings.error(&key.at, message.into(), Some("remove it".into()));
    }
    let python = python(fields, rules, paths, findings);
    let has_own = fields.get("requirements").is_some() || fields.get("requirements_file").is_some();
    let isolated = legacy::isolated(entry, config, has_own, rules.legacy?, findings)?;
    let mut import_paths = python.import_paths;
    import_paths.extend(isolated.import_path);
    Some(PluginKind::Python {
        class: isolated.class,
        requirements: python.requirements,
        requirements_file: python.requirements_file.or(isolated.requirements_file),
        import_paths,
        workdir: python.workdir,
    })
}

/// Whether the entry says wasm or a class; none if it says neither.
pub(super) fn is_wasm(fields: &Fields, rules: &Rules) -> Option<bool> {
    let kind = fields.get("kind")?.as_str()?;
    match kind {
        "wasm" => Some(true),
        legacy::ISOLATED if rules.legacy.is_some() => Some(false),
        _ => is_class(kind).then_some(false),
    }
}

fn said<'n>(node: &'n Node, rules: &Rules, findings: &mut Findings) -> Option<Said<'n>> {
    let kind = word(node, "kind", findings)?;
    if kind == "wasm" {
        return Some(Said::Wasm);
    }
    if kind == legacy::ISOLATED && rules.legacy.is_some() {
        return Some(Said::Isolated);
    }
    if is_class(kind) {
        return Some(Said::Class(kind));
    }
    if let Some((_, why, hint)) = REFUSED.iter().find(|(name, ..)| *name == kind) {
        let message = format!("kind {kind}: {why}");
        // A disabled entry of our own shape has to be right, one of the legacy shape has not.
        let may = if rules.legacy.is_some() && hint.starts_with("remove") {
            "disable or "
        } else {
            ""
        };
        findings.error(&node.at, message, Some(format!("{may}{hint}")));
        return None;
    }
    let values = format!("wasm, or a dotted Python class: {CLASS_EXAMPLE}");
    let (message, hint) = if kind.contains('.') {
        (
            format!("kind: not a Python class: {}", shown(kind)),
            format!("possible values: {values}"),
        )
    } else {
        let hint = match kind {
            "python" => format!("write the dotted class itself: {CLASS_EXAMPLE}"),
            "in-process" | "in_process" => "in-process plugins are added in code".into(),
            _ => choices_hint(kind, ["wasm"].into_iter(), "values").replace(
                "possible values: wasm",
                &format!("possible values: {values}"),
            ),
        };
        (format!("unknown kind: {}", shown(kind)), hint)
    };
    findings.error(&node.at, message, Some(hint));
    None
}

/// Identifiers joined by dots, at least a module and a class.
pub(super) fn is_class(kind: &str) -> bool {
    let identifier = |part: &str| {
        part.chars()
            .next()
            .is_some_and(|c| c.is_alphabetic() || c == '_')
            && part.chars().all(|c| c.is_alphanumeric() || c == '_')
    };
    kind.contains('.') && kind.split('.').all(identifier)
}

fn component(node: &Node, paths: Paths, findings: &mut Findings) -> Option<PathBuf> {
    paths.read(node, "component", Target::File, findings)
}

/// The keys only a Python plugin has.
struct PythonKeys {
    requirements: Vec<String>,
    requirements_file: Option<PathBuf>,
    import_paths: Vec<PathBuf>,
    workdir: Option<PathBuf>,
}

fn python(fields: &Fields, rules: &Rules, paths: Paths, findings: &mut Findings) -> PythonKeys {
    let requirements = fields
        .get("requirements")
        .map(|node| words(node, "requirements", "requirements", findings, requirement));
    let requirements_file = fields
        .get("requirements_file")
        .and_then(|node| paths.read(node, "requirements_file", Target::File, findings));
    let import_paths = fields.get("import_paths").map(|node| {
        let items = list(node, "import_paths", "folders", findings).unwrap_or_default();
        items
            .iter()
            .filter_map(|item| paths.read(item, "import_paths", Target::Folder, findings))
            .collect()
    });
    let workdir = fields
        .get("workdir")
        .and_then(|node| paths.read(node, "workdir", Target::Folder, findings));
    PythonKeys {
        requirements: requirements.unwrap_or_default(),
        requirements_file,
        import_paths: import_paths.unwrap_or_else(|| rules.import_paths()),
        workdir: workdir.or_else(|| Some(paths.base_dir.to_owned())),
    }
}

/// An option here would reach the installer's command line.
fn requirement(node: &Node, text: &str, findings: &mut Findings) -> bool {
    let is_option = text.trim_start().starts_with('-');
    if is_option {
        let message = format!("requirements: not a requirement: {}", shown(text));
        let hint = "write options in a file and name it in `requirements_file:`";
        findings.error(&node.at, message, Some(hint.into()));
    }
    !is_option
}
