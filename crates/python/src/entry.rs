//! [`Entry`]: what an entry of a configuration says about where its code comes from, with the files that
//! lie beside its class.

use std::io;
use std::path::{Path, PathBuf};

use hookgate_core::LoadError;
use hookgate_core::config::{PluginKind, PluginSpec};
use sha2::{Digest as _, Sha256};

use crate::environment::legacy_stem;
use crate::requirements::{Requirements, hex};

const MANIFEST: &str = "plugin-manifest.yaml";
const REQUIREMENTS: &str = "requirements.txt";
/// A class of this module is the entry point of that name in the group of the same name.
const ENTRY_POINTS: &str = "cpex.plugins.";

/// What an entry says about where its code comes from.
#[derive(Debug)]
pub(crate) struct Entry {
    pub(crate) name: String,
    pub(crate) class: String,
    pub(crate) base_dir: PathBuf,
    /// Absolute; the configuration's folder if the entry names none.
    pub(crate) import_paths: Vec<PathBuf>,
    /// The requirements it lists.
    pub(crate) listed: Vec<String>,
    /// The requirements file it names.
    pub(crate) named_file: Option<PathBuf>,
    /// The requirements file of the plugin's folder, where the entry asks for nothing itself.
    pub(crate) folder_file: Option<PathBuf>,
    /// SHA-256 of the manifest in the plugin's folder.
    pub(crate) manifest_digest: Option<String>,
    /// What the author calls this version.
    pub(crate) version: Option<String>,
    /// An environment that it names.
    pub(crate) environment: Option<PathBuf>,
    allow_build: bool,
}

impl Entry {
    /// Looks at the entry and what lies beside its class.
    pub(crate) fn of(spec: &PluginSpec) -> Result<Self, LoadError> {
        let PluginKind::Python {
            class,
            requirements,
            requirements_file,
            import_paths,
            ..
        } = &spec.kind
        else {
            return Err(LoadError::new(format!(
                "not a plugin of kind `python`: {}",
                spec.kind.name()
            )));
        };
        if spec.python.environment.is_some() && spec.python.allow_build {
            let message = "allow_build: nothing is installed into an environment that is named";
            return Err(LoadError::new(message).hint("remove `allow_build` or `environment`"));
        }
        let base_dir =
            std::path::absolute(&spec.base_dir).unwrap_or_else(|_| spec.base_dir.clone());
        let mut import_paths: Vec<_> = import_paths
            .iter()
            .map(|path| base_dir.join(path))
            .collect();
        if import_paths.is_empty() {
            import_paths.push(base_dir.clone());
        }
        let folder = plugin_folder(class, &import_paths);
        let asks_itself = !requirements.is_empty()
            || requirements_file.is_some()
            || spec.python.environment.is_some();
        let folder_file = folder.as_ref().map(|folder| folder.join(REQUIREMENTS));
        Ok(Self {
            name: spec.name.clone(),
            class: class.clone(),
            listed: requirements.clone(),
            named_file: requirements_file.as_ref().map(|file| base_dir.join(file)),
            folder_file: folder_file.filter(|file| !asks_itself && file.is_file()),
            manifest_digest: match &folder {
                Some(folder) => manifest_digest(folder, class)?,
                None => None,
            },
            version: spec.about.version.clone(),
            environment: spec
                .python
                .environment
                .as_ref()
                .map(|path| base_dir.join(path)),
            allow_build: spec.python.allow_build,
            base_dir,
            import_paths,
        })
    }

    /// What the entry asks for.
    pub(crate) fn requirements(&self) -> Result<Requirements, LoadError> {
        let file = self.named_file.as_deref().or(self.folder_file.as_deref());
        Requirements::read(&self.listed, file, &self.base_dir, self.allow_build)
            .map_err(|error| LoadError::new(error.to_string()).hint(error.hint()))
    }

    /// The name of the entry point that the class stands for, if it stands for one.
    pub(crate) fn entry_point(&self) -> Option<&str> {
        self.class.strip_prefix(ENTRY_POINTS)
    }
}

/// The folder that is the plugin's own: that of the class's package in the first import path which has it,
/// or an import path that has the class's module and a manifest beside it.
fn plugin_folder(class: &str, import_paths: &[PathBuf]) -> Option<PathBuf> {
    if class.starts_with(ENTRY_POINTS) {
        return None;
    }
    let root = class.split('.').next().unwrap_or_default();
    import_paths.iter().find_map(|path| {
        let package = path.join(root);
        if package.is_dir() {
            return Some(package);
        }
        let is_its_own = path.join(format!("{root}.py")).is_file() && path.join(MANIFEST).is_file();
        is_its_own.then(|| path.clone())
    })
}

/// Of the manifest as its author names it, or as the framework's command keeps it for the class.
fn manifest_digest(folder: &Path, class: &str) -> Result<Option<String>, LoadError> {
    let kept = format!("{}.{MANIFEST}", legacy_stem(class));
    for name in [MANIFEST, &kept] {
        let file = folder.join(name);
        match std::fs::read(&file) {
            Ok(content) => return Ok(Some(hex(&Sha256::digest(content)))),
            Err(error) if error.kind() == io::ErrorKind::NotFound => {}
            Err(error) => {
                let message = format!("the manifest cannot be read: {}: {error}", file.display());
                return Err(LoadError::new(message).hint("let this user read it, or remove it"));
            }
        }
    }
    Ok(None)
}
