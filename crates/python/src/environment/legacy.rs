//! Environments that the legacy framework's own hosts left beside a plugin: `<import path>/<package>/.venv`,
//! with what they were made for in `.cpex/venv_cache`. Used as they are where that still holds.

use std::ffi::OsStr;
use std::path::{Path, PathBuf};

use serde::Deserialize;
use serde_json::Value;
use sha2::{Digest as _, Sha256};

use super::contents::Contents;
use super::{Environment, EnvironmentOrigin};
use crate::entry::Entry;
use crate::interpreter::Interpreter;
use crate::requirements::{hex, name_of_framework, unmet};

/// What there is beside a plugin.
pub(crate) enum Legacy {
    /// Nothing.
    None,
    /// One that fits.
    Valid(Environment),
    /// One that does not, and why.
    Ignored {
        /// Its folder.
        path: PathBuf,
        /// Why it is not used.
        why: String,
    },
}

/// What the framework's hosts write.
#[derive(Deserialize)]
struct Metadata {
    requirements_hash: Option<String>,
    /// Written as null by one of the hosts; absent, it says nothing.
    #[serde(default, deserialize_with = "present")]
    manifest_version: Option<Value>,
    #[serde(default, deserialize_with = "present")]
    manifest_hash: Option<Value>,
    python_version: Option<String>,
}

fn present<'de, D: serde::Deserializer<'de>>(value: D) -> Result<Option<Value>, D::Error> {
    Value::deserialize(value).map(Some)
}

/// Looks in every import path for the environment of the entry's package; the first one there counts.
pub(crate) async fn find(entry: &Entry, search_path: &OsStr) -> Legacy {
    let package = entry.class.split('.').next().unwrap_or_default();
    let folders = entry.import_paths.iter().map(|path| path.join(package));
    let Some(folder) = folders
        .into_iter()
        .find(|folder| folder.join(".venv").is_dir())
    else {
        return Legacy::None;
    };
    let path = folder.join(".venv");
    match judge(entry, &folder, &path, search_path).await {
        Ok(environment) => Legacy::Valid(environment),
        Err(why) => Legacy::Ignored { path, why },
    }
}

async fn judge(
    entry: &Entry,
    folder: &Path,
    path: &Path,
    search_path: &OsStr,
) -> Result<Environment, String> {
    let stem = stem(&entry.class);
    let metadata = metadata(folder, &stem)?;
    let file = entry.named_file.as_deref();
    let hash = digest(file).map_err(|error| format!("its requirements cannot be read: {error}"))?;
    if metadata.requirements_hash.as_deref() != Some(&hash) {
        return Err("the requirements file has changed since it was made".into());
    }
    let version = entry.version.as_deref().map_or(Value::Null, Value::from);
    if metadata
        .manifest_version
        .is_some_and(|recorded| recorded != version)
    {
        return Err("it was made for another `version` of the plugin".into());
    }
    if let Some(recorded) = metadata.manifest_hash {
        let manifest = folder.join(format!("{stem}.plugin-manifest.yaml"));
        let found = digest(Some(&manifest))
            .map_err(|error| format!("the manifest cannot be read: {error}"))?;
        if recorded != found {
            return Err("the plugin's manifest has changed since it was made".into());
        }
    }
    let mut environment = Environment {
        path: path.to_owned(),
        python: String::new(),
        origin: EnvironmentOrigin::Legacy,
    };
    let interpreter = interpreter_of(folder, &environment)?;
    let found = Interpreter::probe(&interpreter, search_path).await;
    let found = found.map_err(|error| error.to_string())?;
    match metadata.python_version.or_else(|| version_of(path)) {
        None => return Err("nothing says which Python it was made for".into()),
        Some(made_for) if made_for != found.version => {
            return Err(format!(
                "it was made for Python {made_for}, and its interpreter is {}",
                found.version
            ));
        }
        Some(_) => environment.python = found.version,
    }
    let contents = Contents::seen_by(&interpreter, &environment, search_path).await;
    let contents = contents.map_err(|error| error.to_string())?;
    if !contents.packages.keys().any(|name| name_of_framework(name)) {
        return Err("the framework is not installed in it".into());
    }
    // The hash is of the file alone.
    let unmet = unmet(&entry.listed, &contents.packages, &contents.markers);
    if !unmet.is_empty() {
        return Err(format!(
            "it does not hold what is required: {}",
            unmet.join(", ")
        ));
    }
    Ok(environment)
}

/// The interpreter itself. Whoever made the plugin's folder made what lies in it, and none of that may run
/// where it is not confined: no executable, and no standard library that `pyvenv.cfg` leads to.
fn interpreter_of(folder: &Path, environment: &Environment) -> Result<PathBuf, String> {
    let unusable = |error| format!("its interpreter cannot be used: {error}");
    let interpreter = std::fs::canonicalize(environment.executable()).map_err(unusable)?;
    if interpreter.starts_with(std::fs::canonicalize(folder).map_err(unusable)?) {
        return Err(
            "its interpreter lies in the plugin's folder, and must be a link to one elsewhere"
                .into(),
        );
    }
    Ok(interpreter)
}

/// The metadata of the class itself, or what all classes of the package share.
fn metadata(folder: &Path, stem: &str) -> Result<Metadata, String> {
    let cache = folder.join(".cpex/venv_cache");
    let names = [
        format!("{stem}_metadata.json"),
        ".venv_metadata.json".into(),
    ];
    let file = names
        .iter()
        .map(|name| cache.join(name))
        .find(|file| file.is_file());
    let file = file.ok_or("nothing says what it was made for")?;
    let text = std::fs::read(&file);
    let read = text.map_err(|error| error.to_string());
    let read =
        read.and_then(|text| serde_json::from_slice(&text).map_err(|error| error.to_string()));
    read.map_err(|why| {
        format!(
            "what it was made for cannot be read: {}: {why}",
            file.display()
        )
    })
}

/// The version that a virtualenv says it was made with.
fn version_of(path: &Path) -> Option<String> {
    let settings = std::fs::read_to_string(path.join("pyvenv.cfg")).ok()?;
    settings.lines().find_map(|line| {
        let (name, value) = line.split_once('=')?;
        ["version", "version_info"]
            .contains(&name.trim())
            .then(|| value.trim().to_owned())
    })
}

/// The name that the framework gives to files of a class.
pub(crate) fn stem(class: &str) -> String {
    let part = |c: char| {
        if c.is_alphanumeric() || c == '-' || c == '_' {
            c
        } else {
            '-'
        }
    };
    let stem: String = class.trim().chars().map(part).collect();
    let stem = stem.trim_matches('-');
    if stem.is_empty() {
        "plugin".to_owned()
    } else {
        stem.to_owned()
    }
}

/// SHA-256 of a file's content; that of nothing where there is no file.
fn digest(file: Option<&Path>) -> std::io::Result<String> {
    let content = match file.map(std::fs::read) {
        Some(Err(error)) if error.kind() == std::io::ErrorKind::NotFound => Vec::new(),
        Some(content) => content?,
        None => Vec::new(),
    };
    Ok(hex(&Sha256::digest(content)))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn files_of_a_class_have_the_framework_s_names() {
        for (class, expected) in [
            ("pkg.module.ClassName", "pkg-module-ClassName"),
            ("my_pkg.filters.PiiFilter", "my_pkg-filters-PiiFilter"),
            ("  .A.  ", "A"),
            ("...", "plugin"),
        ] {
            assert_eq!(stem(class), expected);
        }
    }

    #[test]
    fn an_absent_key_is_told_from_null() {
        let read = |text| serde_json::from_str::<Metadata>(text).expect("metadata");
        assert!(read("{}").manifest_version.is_none());
        assert_eq!(
            read(r#"{"manifest_version": null}"#).manifest_version,
            Some(Value::Null)
        );
    }
}
