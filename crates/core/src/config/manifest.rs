//! `plugin-manifest.yaml`: what a legacy plugin's author says about it, apart from any configuration.
//!
//! The framework reads a manifest when its command installs a plugin, and writes an entry into the
//! configuration then; it reads none when it loads plugins. So neither is one read here when a
//! configuration is: [`Manifest`] is for whoever writes an entry.
//!
//! Manifests in the wild come in two spellings of several keys, and many leave out half of them. All that
//! is odd about one is a note; only a file that is no YAML mapping does not load.
//!
//! ```
//! use hookgate_core::config::{Config, Manifest};
//!
//! let text = "description: finds secrets\nversion: 1.2.0\nkind: finder.plugin.Finder\n\
//!             available_hooks: [tool_post_invoke]\ndefault_configs: {redact: true}\n";
//! let manifest = Manifest::parse(text, "finder/plugin-manifest.yaml", "finder".as_ref()).unwrap();
//! let config = Config::from_manifest(&manifest, None).unwrap();
//! assert_eq!(config.plugins[0].name, "finder");
//! assert_eq!(config.plugins[0].config.as_str(), r#"{"redact":true}"#);
//! ```

use std::path::{Path, PathBuf};

use super::hidden::Hidden;
use super::keys::{Fields, Keys, More};
use super::kind::{self, is_class};
use super::report::{ConfigReport, Findings, Place, shown};
use super::spec::{About, PluginKind, PluginSpec};
use super::yaml::{self, Node, Value};
use super::{Config, Shape, defaults, hooks, legacy, plugin_config, read, read_text};
use crate::Json;

/// Keys that only the framework's own catalogue writes.
const CATALOGUE: More = More {
    known: &[],
    noted: &[
        ("monorepo", "nothing is fetched from there"),
        ("git_repo", "nothing is fetched from there"),
        ("local", "nothing is fetched from there"),
    ],
};

/// A plugin as its author describes it.
#[derive(Debug, Clone, PartialEq, Eq)]
#[non_exhaustive]
pub struct Manifest {
    /// A name for an entry: that of the manifest, else of its folder, in lower case and without spaces.
    pub name: String,
    /// What `kind:` says, if anything.
    pub kind: Option<String>,
    /// The dotted class that `kind:` or, of an isolated plugin, `class_name` names.
    pub class: Option<String>,
    /// The hooks it can be asked at.
    pub hooks: Vec<String>,
    /// Where it stands if an entry says nothing.
    pub priority: i32,
    /// What its `config:` is if an entry says nothing: an object.
    pub default_config: Json,
    /// What to install for it, as far as the manifest knows.
    pub requirements: Vec<String>,
    /// What else it says.
    pub about: About,
    /// The folder it is in.
    pub folder: PathBuf,
    /// What is odd about it: `problems` is empty.
    pub report: ConfigReport,
}

impl Manifest {
    /// Reads the file at `path`.
    ///
    /// # Errors
    /// One problem: it cannot be read, is not YAML, or no mapping.
    pub fn load(path: &Path) -> Result<Self, ConfigReport> {
        let name = path.display().to_string();
        let text = read_text(path).map_err(|problem| problem.into_report(&name))?;
        let absolute = std::path::absolute(path).unwrap_or_else(|_| path.to_owned());
        Self::parse(&text, &name, absolute.parent().unwrap_or(Path::new(".")))
    }

    /// Reads `text`, which `file_name` holds in `folder`.
    ///
    /// # Errors
    /// One problem: it is not YAML, or no mapping.
    pub fn parse(text: &str, file_name: &str, folder: &Path) -> Result<Self, ConfigReport> {
        let mut findings = Findings::new(file_name);
        findings.read_legacy(Hidden::default());
        let root = yaml::parse(text).map(|mut root| {
            legacy::resolve_yaml11(&mut root, text);
            root
        });
        let manifest = match root {
            Ok(root) => read_root(&root, folder, &mut findings),
            Err(broken) => {
                findings.error(&broken.at, broken.message, broken.hint);
                None
            }
        };
        let report = findings.into_report(text);
        match manifest {
            Some(manifest) => Ok(Self { report, ..manifest }),
            None => Err(report),
        }
    }

    /// The plugin as an entry that says nothing besides: every hook, sequential, the default config.
    /// `class` is its class if the manifest names none, or another one.
    ///
    /// # Errors
    /// One problem: nobody says what the class is.
    pub fn spec(&self, class: Option<&str>) -> Result<PluginSpec, ConfigReport> {
        let Some(class) = class.or(self.class.as_deref()) else {
            return Err(self.without_class());
        };
        let base_dir = importable_from(&self.folder, class);
        let kind = PluginKind::Python {
            class: class.to_owned(),
            requirements: self.requirements.clone(),
            requirements_file: None,
            import_paths: vec![base_dir.clone()],
            workdir: Some(base_dir.clone()),
        };
        let mut spec = PluginSpec::new(&self.name, kind);
        spec.hooks.clone_from(&self.hooks);
        spec.priority = self.priority;
        spec.config = self.default_config.clone();
        spec.about = self.about.clone();
        spec.base_dir = base_dir;
        Ok(spec)
    }

    fn without_class(&self) -> ConfigReport {
        let file = self.folder.join(FILE_NAME).display().to_string();
        let mut findings = Findings::new(&file);
        let message = match self.kind.as_deref() {
            Some(kind) => format!("kind {}: it names no Python class", shown(kind)),
            None => "missing key: kind".to_owned(),
        };
        let hint = format!(
            "write the dotted class as `kind:`, for example {}",
            kind::CLASS_EXAMPLE
        );
        findings.error(&Place::START, message, Some(hint));
        findings.into_report("")
    }
}

impl Config {
    /// A configuration of one plugin, from its manifest alone.
    ///
    /// # Errors
    /// One problem: nobody says what the class is.
    pub fn from_manifest(manifest: &Manifest, class: Option<&str>) -> Result<Self, ConfigReport> {
        let spec = manifest.spec(class)?;
        Ok(Self {
            base_dir: spec.base_dir.clone(),
            shape: Shape::Legacy,
            plugins: vec![spec],
            report: manifest.report.clone(),
            ..Self::default()
        })
    }
}

/// What a manifest is called in a plugin's folder.
const FILE_NAME: &str = "plugin-manifest.yaml";

fn read_root(root: &Node, folder: &Path, findings: &mut Findings) -> Option<Manifest> {
    if !matches!(root.value, Value::Mapping(_)) {
        read::expected(findings, root, "the manifest", "a mapping");
        return None;
    }
    findings.lenient(true);
    let fields = Keys::MANIFEST.read_with(&CATALOGUE, root, findings)?;
    let default_config = default_config(&fields, findings);
    let kind = text(&fields, "kind", findings);
    let class = match kind.as_deref() {
        Some(legacy::ISOLATED) => default_config
            .and_then(|node| legacy::member(node, "class_name"))
            .and_then(Node::as_str)
            .map(str::to_owned),
        _ => kind.clone(),
    };
    let hooks = fields.get("available_hooks").or(fields.get("hooks"));
    let tags = fields
        .get("tags")
        .filter(|node| !matches!(node.value, Value::Null));
    Some(Manifest {
        name: name(text(&fields, "name", findings), folder),
        class: class.filter(|class| is_class(class)),
        kind,
        hooks: hooks
            .map(|node| hooks::read(node, findings))
            .unwrap_or_default(),
        priority: fields
            .get("priority")
            .and_then(|node| legacy::priority(node, findings))
            .and_then(|value| i32::try_from(value).ok())
            .unwrap_or(defaults::PRIORITY),
        default_config: default_config
            .map_or_else(Json::object, |node| plugin_config::read(node, findings)),
        requirements: requirements(&fields, findings),
        about: About {
            description: text(&fields, "description", findings),
            author: text(&fields, "author", findings),
            version: text(&fields, "version", findings),
            namespace: None,
            tags: tags
                .map(|node| read::words(node, "tags", "words", findings, |_, _, _| true))
                .unwrap_or_default(),
        },
        folder: folder.to_owned(),
        report: ConfigReport::default(),
    })
}

/// A name as the framework suggests one.
fn name(own: Option<String>, folder: &Path) -> String {
    let of_folder = || {
        folder
            .file_name()
            .map(|name| name.to_string_lossy().into_owned())
    };
    let name = own.filter(|name| !name.is_empty()).or_else(of_folder);
    name.unwrap_or_else(|| "plugin".into())
        .to_lowercase()
        .replace(' ', "-")
}

fn text(fields: &Fields, key: &str, findings: &mut Findings) -> Option<String> {
    let node = fields.get(key)?;
    match &node.value {
        Value::Null => None,
        Value::Number(number) => Some(number.text.clone()),
        _ => read::string(node, key, findings).map(str::to_owned),
    }
}

/// The default settings in the spelling that is there; the framework prefers the first.
fn default_config<'n>(fields: &Fields<'n>, findings: &mut Findings) -> Option<&'n Node> {
    let mut written = ["default_config", "default_configs", "config"]
        .into_iter()
        .filter_map(|key| fields.pair(key));
    let (_, first) = written.next()?;
    for (key, _) in written {
        let message = "default settings are written twice, the first of default_config, default_configs and config counts";
        findings.note(&key.at, message.into(), Some("keep one of them".into()));
    }
    Some(first).filter(|node| !matches!(node.value, Value::Null))
}

/// `requirements:`, and the package that the framework would install.
fn requirements(fields: &Fields, findings: &mut Findings) -> Vec<String> {
    let own = fields
        .get("requirements")
        .filter(|node| !matches!(node.value, Value::Null));
    let mut requirements = own
        .map(|node| {
            read::words(
                node,
                "requirements",
                "requirements",
                findings,
                |_, text, _| !text.starts_with('-'),
            )
        })
        .unwrap_or_default();
    let package = fields.get("package_info").and_then(|info| {
        let name = legacy::member(info, "pypi_package")?.as_str()?;
        let versions = legacy::member(info, "version_constraint").and_then(Node::as_str);
        let plain = name.starts_with(|c: char| c.is_ascii_alphanumeric());
        plain.then(|| format!("{name}{}", versions.unwrap_or_default()))
    });
    requirements.extend(package);
    requirements
}

/// The folder near the manifest that the class can be imported from: the one its package is in.
fn importable_from(folder: &Path, class: &str) -> PathBuf {
    let package = class.split('.').next().unwrap_or_default();
    folder
        .ancestors()
        .take(class.split('.').count())
        .find(|folder| legacy::has_package(folder, package))
        .unwrap_or(folder)
        .to_owned()
}

/// What the framework calls the manifest of an isolated plugin that it installed.
pub(super) fn file_name_of(class: &str) -> String {
    let plain = |c: char| c.is_alphanumeric() || matches!(c, '-' | '_');
    let name: String = class
        .trim()
        .chars()
        .map(|c| if plain(c) { c } else { '-' })
        .collect();
    match name.trim_matches('-') {
        "" => format!("plugin.{FILE_NAME}"),
        name => format!("{name}.{FILE_NAME}"),
    }
}

/// The package that a manifest at `file` says to install; none if there is no such file.
pub(super) fn package_in(file: &Path) -> Option<String> {
    let manifest = Manifest::load(file).ok()?;
    manifest.requirements.into_iter().next()
}
