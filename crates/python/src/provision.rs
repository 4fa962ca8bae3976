//! From an entry to the environment its worker runs in, and the class that it runs.

use std::ffi::OsStr;
use std::path::Path;

use hookgate_core::LoadError;

use crate::entry::Entry;
use crate::environment::{
    Build, Contents, Environment, EnvironmentError, EnvironmentEvent, EnvironmentStore,
    EnvironmentVerdict, Judged, Legacy, UseLock, find_legacy, named,
};
use crate::host::PythonHostOptions;
use crate::interpreter::{Interpreter, InterpreterError};
use crate::requirements::Requirements;

/// An environment that is ready, and how it came to be.
#[derive(Debug, Clone, PartialEq, Eq)]
#[non_exhaustive]
pub struct Prepared {
    /// The environment.
    pub environment: Environment,
    /// What was found before.
    pub verdict: EnvironmentVerdict,
    /// Whether it was built for this.
    pub built: bool,
    /// What an operator may want to know of it, a sentence each.
    pub notes: Vec<String>,
}

/// The same, in use until it is dropped.
pub(crate) struct Provision {
    pub(crate) prepared: Prepared,
    pub(crate) lock: Option<UseLock>,
    requirements: Requirements,
}

impl Provision {
    fn of_others(environment: Environment, notes: Vec<String>, requirements: Requirements) -> Self {
        Self {
            prepared: Prepared {
                verdict: EnvironmentVerdict::Valid(environment.clone()),
                environment,
                built: false,
                notes,
            },
            lock: None,
            requirements,
        }
    }
}

/// Where environments come from.
pub(crate) struct Provider<'a> {
    pub(crate) options: &'a PythonHostOptions,
    pub(crate) interpreter: Result<&'a Interpreter, InterpreterError>,
}

impl Provider<'_> {
    /// What is there for the entry; nothing is built.
    pub(crate) async fn judge(&self, entry: &Entry) -> Result<EnvironmentVerdict, LoadError> {
        let requirements = entry.requirements()?;
        let mut notes = Vec::new();
        if let Some(environment) = self.of_others(entry, &requirements, &mut notes).await? {
            return Ok(EnvironmentVerdict::Valid(environment));
        }
        let Some(store) = EnvironmentStore::open_existing(&self.options.store).map_err(of_store)?
        else {
            return Ok(EnvironmentVerdict::Missing);
        };
        Ok(self.look(&store, entry, &requirements).await.verdict)
    }

    /// The environment of the entry, built if it is not there.
    pub(crate) async fn provide(&self, entry: &Entry) -> Result<Provision, LoadError> {
        let requirements = entry.requirements()?;
        let mut notes = Vec::new();
        if let Some(environment) = self.of_others(entry, &requirements, &mut notes).await? {
            return Ok(Provision::of_others(environment, notes, requirements));
        }
        if let Some(file) = &entry.folder_file {
            notes.push(format!("what it needs is read from {}", file.display()));
        }
        let store = EnvironmentStore::open(&self.options.store).map_err(of_store)?;
        let Judged { verdict, usable } = self.look(&store, entry, &requirements).await;
        let (held, built) = match usable {
            Some(held) => {
                if let Some(progress) = &self.options.progress {
                    progress(EnvironmentEvent::Reused {
                        plugin: entry.name.clone(),
                    });
                }
                (held, false)
            }
            None => {
                let failed = |error| cannot_build(&error, &entry.name, &requirements);
                let interpreter = self.known().map_err(failed)?;
                let build = self.build(entry, &requirements);
                store.build(&build, interpreter).await.map_err(failed)?
            }
        };
        store.remember(entry, &requirements, &held);
        Ok(Provision {
            prepared: Prepared {
                environment: held.environment,
                verdict,
                built,
                notes,
            },
            lock: held.lock,
            requirements,
        })
    }

    /// Builds the environment anew if it has lost files; gives whether it has.
    pub(crate) async fn repair(
        &self,
        entry: &Entry,
        provision: &mut Provision,
    ) -> Result<bool, LoadError> {
        let requirements = &provision.requirements;
        let failed = |error| cannot_build(&error, &entry.name, requirements);
        // Without an interpreter there is no building, and the fault at hand says more.
        let Ok(interpreter) = self.known() else {
            return Ok(false);
        };
        let store = EnvironmentStore::open(&self.options.store).map_err(of_store)?;
        let build = self.build(entry, requirements);
        let repaired = store.repair(&build, interpreter).await.map_err(failed)?;
        let Some(environment) = repaired else {
            return Ok(false);
        };
        provision.prepared.verdict = EnvironmentVerdict::Unreadable {
            path: environment.path.clone(),
            why: "it had lost files".into(),
        };
        provision.prepared.environment = environment;
        provision.prepared.built = true;
        Ok(true)
    }

    /// An environment that somebody else made.
    async fn of_others(
        &self,
        entry: &Entry,
        requirements: &Requirements,
        notes: &mut Vec<String>,
    ) -> Result<Option<Environment>, LoadError> {
        let search_path: &OsStr = &self.options.search_path;
        if let Some(path) = &entry.environment {
            return named(path, requirements, search_path).await.map(Some);
        }
        match find_legacy(entry, search_path).await {
            Legacy::None => Ok(None),
            Legacy::Valid(environment) => {
                let path = environment.path.display();
                notes.push(format!(
                    "the framework's own environment is used as it is: {path}"
                ));
                Ok(Some(environment))
            }
            Legacy::Ignored { path, why } => {
                let path = path.display();
                notes.push(format!(
                    "the framework's own environment is not used, {why}: {path}"
                ));
                Ok(None)
            }
        }
    }

    async fn look(
        &self,
        store: &EnvironmentStore,
        entry: &Entry,
        requirements: &Requirements,
    ) -> Judged {
        let interpreter = self.interpreter.as_ref().ok().copied();
        let search_path = &self.options.search_path;
        store
            .judge(entry, requirements, interpreter, search_path)
            .await
    }

    fn build<'b>(&'b self, entry: &'b Entry, requirements: &'b Requirements) -> Build<'b> {
        Build {
            plugin: &entry.name,
            requirements,
            installer: &self.options.installer,
            search_path: &self.options.search_path,
            offline: self.options.offline,
            progress: self.options.progress.as_ref(),
        }
    }

    fn known(&self) -> Result<&Interpreter, EnvironmentError> {
        match &self.interpreter {
            Ok(interpreter) => Ok(interpreter),
            Err(error) => Err(EnvironmentError::Interpreter(error.again())),
        }
    }
}

/// The class of the entry: itself, or what the entry point that it names leads to.
pub(crate) async fn class(
    entry: &Entry,
    environment: &Environment,
    search_path: &OsStr,
) -> Result<String, LoadError> {
    let Some(name) = entry.entry_point() else {
        return Ok(entry.class.clone());
    };
    let unreadable = |error: InterpreterError| {
        let path = environment.path.display();
        LoadError::new(format!(
            "the entry points of {path} cannot be read: {error}"
        ))
    };
    let contents = Contents::of(environment, search_path)
        .await
        .map_err(unreadable)?;
    let refused = |why: String, hint: &str| {
        LoadError::new(format!("no class of the entry point {name}: {why}")).hint(hint)
    };
    let target = match contents.plugins.get(name).map(Vec::as_slice) {
        Some([target]) => target,
        Some(several) => {
            let why = format!("several packages have it: {}", several.join(", "));
            return Err(refused(why, "write the dotted class as `kind:`"));
        }
        None => {
            let names: Vec<&str> = contents.plugins.keys().map(String::as_str).collect();
            let why = match names.is_empty() {
                true => "the installed packages have none of the group cpex.plugins".to_owned(),
                false => format!("the installed packages have {}", names.join(", ")),
            };
            return Err(refused(
                why,
                "name the package that has it in `requirements`",
            ));
        }
    };
    // A target may say extras behind the object.
    let target = target.split('[').next().unwrap_or_default().trim();
    match target.split_once(':') {
        Some((module, object)) if !object.trim().is_empty() && !object.contains('.') => {
            Ok(format!("{}.{}", module.trim(), object.trim()))
        }
        _ => Err(refused(
            format!("it leads to {target}, which is not module:Class"),
            "write the dotted class as `kind:`",
        )),
    }
}

fn of_store(error: EnvironmentError) -> LoadError {
    LoadError::new(error.to_string()).hint(error.hint())
}

fn cannot_build(error: &EnvironmentError, plugin: &str, requirements: &Requirements) -> LoadError {
    let blamed = error
        .said()
        .map(|said| requirements.blamed(said).join(", "));
    let which = blamed.filter(|blamed| !blamed.is_empty());
    let which = which.unwrap_or_else(|| requirements.to_string());
    let message = format!("the environment of {plugin} cannot be built: {which}: {error}");
    let load_error = LoadError::new(message).hint(error.hint());
    match error.said() {
        Some(said) => load_error.detail(said),
        None => load_error,
    }
}

/// What to do about a framework that cannot be imported.
pub(crate) fn framework_hint(environment: &Environment) -> Option<String> {
    let path: &Path = &environment.path;
    match environment.origin {
        crate::EnvironmentOrigin::Store => None,
        _ => Some(format!(
            "install cpex==0.1.4 in {}, or name another environment",
            path.display()
        )),
    }
}
