//! A legacy file in our own words.
//!
//! The file is read as if no variable were set, its specs are written as entries, and what has no place
//! in them becomes a note. The text is read back before anybody gets it: it loads, and gives the same
//! specs, or there is a problem instead.

mod entry;
mod paths;
mod write;

use std::path::Path;

use serde_json::json;

use super::options::{Environment, ReadOptions, Shape};
use super::report::{Findings, Place, shown};
use super::spec::{PluginKind, PluginSpec, SecretSource};
use super::{Config, ConfigReport, Manifest, defaults, read_text, yaml};
use super::{legacy, limits::bytes_text};

/// A configuration of ours, made from a legacy file.
#[derive(Debug, Clone, PartialEq, Eq)]
#[non_exhaustive]
pub struct Imported {
    /// The text of the configuration.
    pub text: String,
    /// How many plugins it has.
    pub plugins: usize,
    /// What is not in it, and what else an operator may want to know of the file: `problems` is empty.
    pub report: ConfigReport,
}

impl Imported {
    /// Reads a legacy configuration or a `plugin-manifest.yaml`. The text is for a file in `folder`.
    ///
    /// # Errors
    /// Every problem of the file at once; one if it is in our own shape already, or there is no such
    /// folder.
    pub fn load(path: &Path, shape: Shape, folder: &Path) -> Result<Self, ConfigReport> {
        let name = path.display().to_string();
        let text = read_text(path).map_err(|problem| problem.into_report(&name))?;
        let absolute = std::path::absolute(path).unwrap_or_else(|_| path.to_owned());
        let file_dir = absolute.parent().unwrap_or(Path::new("."));
        let folder = std::path::absolute(folder).unwrap_or_else(|_| folder.to_owned());
        if !folder.is_dir() {
            let mut findings = Findings::new(&name);
            let message = format!(
                "no such folder to write to: {}",
                shown(&folder.display().to_string())
            );
            findings.error(&Place::START, message, Some("make it first".into()));
            return Err(findings.into_report(""));
        }
        if is_manifest(&text) {
            let manifest = Manifest::parse(&text, &name, file_dir)?;
            let config = Config::from_manifest(&manifest, None)?;
            return Self::write(&config, &text, &name, &folder);
        }
        let mut options = ReadOptions::new(shape).environment(Environment::new(|_| None));
        options.rewriting = true;
        let config = Config::parse_with(&text, &name, file_dir, &options)?;
        if config.shape != Shape::Legacy {
            let mut findings = Findings::new(&name);
            let hint = format!(
                "use it as it is: hookgate check {}; a legacy file without `plugin_dirs` is read as one with --shape legacy",
                shown(&name)
            );
            let message = "the configuration is in hookgate's own shape already".into();
            findings.error(&Place::START, message, Some(hint));
            return Err(findings.into_report(&text));
        }
        Self::write(&config, &text, &name, &folder)
    }

    fn write(
        config: &Config,
        source: &str,
        file_name: &str,
        folder: &Path,
    ) -> Result<Self, ConfigReport> {
        let mut findings = Findings::new(file_name);
        let mut text = format!(
            "# Written by `hookgate import` from {}, without its comments.\n# Paths start at this file's folder.\n",
            shown(file_name)
        );
        if config.max_payload_bytes != defaults::MAX_PAYLOAD_BYTES {
            limit(&mut text, "max_payload_bytes", config.max_payload_bytes);
        }
        if config.max_state_bytes != defaults::MAX_STATE_BYTES {
            limit(&mut text, "max_state_bytes", config.max_state_bytes);
        }
        let lines = Lines::new(source);
        let mut written = Vec::new();
        let mut entries = String::new();
        for spec in &config.plugins {
            findings.enter(Some(&spec.name));
            let at = lines.place(spec.line);
            let members = match entry::entry(spec, folder) {
                Ok(members) => members,
                Err(why) => {
                    let hint = "write an entry for it by hand if it is needed";
                    findings.note(&at, format!("left out: {why}"), Some(hint.into()));
                    continue;
                }
            };
            if !entries.is_empty() {
                entries.push('\n');
            }
            let mut entry = String::new();
            let pairs = members.iter().map(|(key, value)| (key.as_str(), value));
            write::members(&mut entry, pairs, 4);
            entries.push_str("  - ");
            entries.push_str(entry.trim_start());
            note_losses(spec, &at, &mut findings);
            written.push(spec);
        }
        findings.enter(None);
        text.push_str(if entries.is_empty() {
            "plugins: []\n"
        } else {
            "plugins:\n"
        });
        text.push_str(&entries);
        if config.skip_unloadable {
            let message = "left out: plugin_settings.fail_on_plugin_error: false, here a plugin that does not load keeps all from starting";
            let hint = "write `mode: disabled` in the entry of a plugin that may be missing";
            findings.note(&Place::START, message.into(), Some(hint.into()));
        }
        check(&text, folder, &written, &lines, &mut findings);
        let mut report = findings.into_report(source);
        if !report.problems.is_empty() {
            return Err(report);
        }
        report
            .notes
            .splice(0..0, config.report.notes.iter().cloned());
        report.notes.sort_by_key(|note| (note.line, note.column));
        Ok(Self {
            text,
            plugins: written.len(),
            report,
        })
    }
}

/// Whether a text describes one plugin, apart from any configuration.
fn is_manifest(text: &str) -> bool {
    let Ok(root) = yaml::parse(text) else {
        return false;
    };
    let has = |key: &str| legacy::member(&root, key).is_some();
    let of_configurations = ["plugins", "plugin_dirs", "plugin_settings"];
    let of_manifests = [
        "available_hooks",
        "default_config",
        "default_configs",
        "kind",
    ];
    !of_configurations.into_iter().any(has) && of_manifests.into_iter().any(has)
}

fn limit(text: &mut String, key: &str, bytes: u64) {
    write::members(text, [(key, &json!(bytes_text(bytes)))], 0);
}

/// Notes what an entry of ours has no word for, and what its plugin could do at home.
fn note_losses(spec: &PluginSpec, at: &Place, findings: &mut Findings) {
    let of_framework = spec.framework.to_value();
    let of_framework = of_framework.as_object().into_iter().flatten();
    let members: Vec<_> = of_framework
        .map(|(name, value)| format!("{name}: {value}"))
        .collect();
    if !members.is_empty() {
        let message = format!(
            "left out, since only the plugin itself reads it of its entry: {}",
            shown(&members.join(", "))
        );
        let hint = "if the plugin needs it, keep the legacy file: hookgate reads it as it is";
        findings.note(at, message, Some(hint.into()));
    }
    if let Some(namespace) = &spec.about.namespace {
        let message = format!("left out: namespace {}", shown(namespace));
        findings.note(
            at,
            message,
            Some("it is for people; write it as one of `tags:`".into()),
        );
    }
    if matches!(spec.kind, PluginKind::Python { .. }) {
        let env = &spec.permissions.env;
        let granted = match &env[..] {
            [] => "none".to_owned(),
            names => names.join(", "),
        };
        let message = format!(
            "at home it could read every environment variable, file and host; variables it sees here: {granted}"
        );
        let hint = "grant what it needs in its entry: permissions: {env: [NAME], files: [{host: PATH}], network: [{host: NAME, port: 443}]}";
        findings.note(at, message, Some(hint.into()));
    }
}

/// Reads the text back: it must give the specs it was written from.
fn check(
    text: &str,
    folder: &Path,
    written: &[&PluginSpec],
    lines: &Lines,
    findings: &mut Findings,
) {
    let options = ReadOptions::new(Shape::Hookgate);
    let read = match Config::parse_with(text, "the imported configuration", folder, &options) {
        Ok(config) => config.plugins,
        Err(report) => {
            for problem in report.problems {
                let spec = written
                    .iter()
                    .find(|spec| problem.plugin.as_ref() == Some(&spec.name));
                let at = spec.map_or(Place::START, |spec| lines.place(spec.line));
                findings.enter(problem.plugin.as_deref());
                let message = format!(
                    "cannot be said in hookgate's own shape: {}",
                    problem.message
                );
                findings.error(&at, message, problem.hint);
            }
            return;
        }
    };
    for (spec, read) in written.iter().zip(&read) {
        if !same(spec, read) {
            findings.enter(Some(&spec.name));
            let message =
                "cannot be said in hookgate's own shape: it would be read as something else";
            let hint = "keep the legacy file: hookgate reads it as it is";
            findings.error(&lines.place(spec.line), message.into(), Some(hint.into()));
        }
    }
}

/// Whether two specs mean the same, but for what is noted and where they were written.
fn same(spec: &PluginSpec, read: &PluginSpec) -> bool {
    let mut read = read.clone();
    read.line = spec.line;
    read.base_dir.clone_from(&spec.base_dir);
    read.group.clone_from(&spec.group);
    read.framework = spec.framework.clone();
    read.about.namespace.clone_from(&spec.about.namespace);
    let spec_kind = &spec.kind;
    adopt(&mut read.kind, spec_kind);
    let files = read
        .permissions
        .files
        .iter_mut()
        .zip(&spec.permissions.files);
    for (read, spec) in files {
        if paths::same(&read.host, &spec.host) && matches!(spec_kind, PluginKind::Python { .. }) {
            read.guest.clone_from(&spec.guest);
        }
        adopt_path(&mut read.host, &spec.host);
    }
    if let (Some(read), Some(spec)) = (&mut read.python.environment, &spec.python.environment) {
        adopt_path(read, spec);
    }
    let secrets = read.permissions.secrets.iter_mut();
    for (read, spec) in secrets.zip(&spec.permissions.secrets) {
        if let (SecretSource::File(read), SecretSource::File(spec)) =
            (&mut read.source, &spec.source)
        {
            adopt_path(read, spec);
        }
    }
    *spec == read
}

/// Takes over the spelling of paths that lead to the same place.
fn adopt(read: &mut PluginKind, spec: &PluginKind) {
    match (read, spec) {
        (PluginKind::Wasm { component: read }, PluginKind::Wasm { component }) => {
            adopt_path(read, component);
        }
        (
            PluginKind::Python {
                requirements_file: read_file,
                import_paths: read_paths,
                workdir: read_dir,
                ..
            },
            PluginKind::Python {
                requirements_file,
                import_paths,
                workdir,
                ..
            },
        ) => {
            for (read, spec) in read_paths.iter_mut().zip(import_paths) {
                adopt_path(read, spec);
            }
            for (read, spec) in [(read_file, requirements_file), (read_dir, workdir)] {
                if let (Some(read), Some(spec)) = (read, spec) {
                    adopt_path(read, spec);
                }
            }
        }
        _ => {}
    }
}

fn adopt_path(read: &mut std::path::PathBuf, spec: &Path) {
    if paths::same(read, spec) {
        *read = spec.to_owned();
    }
}

/// A text by its lines.
struct Lines<'t> {
    text: &'t str,
    starts: Vec<usize>,
}

impl<'t> Lines<'t> {
    fn new(text: &'t str) -> Self {
        let after_breaks = text.match_indices('\n').map(|(at, _)| at + 1);
        Self {
            text,
            starts: std::iter::once(0).chain(after_breaks).collect(),
        }
    }

    /// What is written on a line; the beginning of the text for none.
    fn place(&self, line: usize) -> Place {
        let start = line.checked_sub(1).and_then(|index| self.starts.get(index));
        let Some(start) = start.copied() else {
            return Place::START;
        };
        let content = self.text[start..].lines().next().unwrap_or_default();
        let written = content.trim_start();
        let indent = content.len() - written.len();
        Place {
            line,
            column: content[..indent].chars().count() + 1,
            span: start + indent..start + indent + written.trim_end().len(),
        }
    }
}
