//! [`PythonHost`]: loads the plugins of kind `python`.

use std::ffi::OsString;
use std::fmt;
use std::path::PathBuf;
use std::sync::Arc;

use futures::future::BoxFuture;
use hookgate_core::config::{PluginKind, PluginSpec};
use hookgate_core::{EnvironmentInfo, Host, LoadError, Plugin};
use tokio::sync::OnceCell;

use crate::environment::{
    Build, Environment, EnvironmentError, EnvironmentEvent, EnvironmentStore, EnvironmentVerdict,
    Installer, Progress,
};
use crate::interpreter::{Interpreter, InterpreterError};
use crate::limits::Supervision;
use crate::plugin::PythonPlugin;
use crate::requirements::{Requirements, RequirementsError};
use crate::supervisor::Supervisor;
use crate::worker::{ClassPlace, Launch, Worker};

/// How the host makes environments and keeps workers.
#[derive(Clone)]
pub struct PythonHostOptions {
    /// The folder environments live in; see [`crate::default_store`].
    pub store: PathBuf,
    /// What builds environments.
    pub installer: Installer,
    /// The interpreter environments are built on; the first `python3` of `search_path` by default.
    pub python: Option<PathBuf>,
    /// Where `python3` and `uv` are looked for, and the PATH of installers; this process's by default.
    pub search_path: OsString,
    /// Told of builds and reuses.
    pub progress: Option<Progress>,
    /// How workers are kept alive.
    pub supervision: Supervision,
    /// Runs this instead of an environment and the worker in it.
    #[doc(hidden)]
    pub stub: Option<StubWorker>,
}

/// A worker for tests of supervision: no environment, no framework.
#[doc(hidden)]
#[derive(Debug, Clone)]
pub struct StubWorker {
    /// The interpreter.
    pub executable: PathBuf,
    /// What it runs; it receives the frames a worker receives.
    pub boot: Arc<str>,
}

impl PythonHostOptions {
    /// Environments in `store`, the rest as it is by default.
    #[must_use]
    pub fn new(store: impl Into<PathBuf>) -> Self {
        Self {
            store: store.into(),
            installer: Installer::Auto,
            python: None,
            search_path: std::env::var_os("PATH").unwrap_or_default(),
            progress: None,
            supervision: Supervision::default(),
            stub: None,
        }
    }
}

impl fmt::Debug for PythonHostOptions {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("PythonHostOptions")
            .field("store", &self.store)
            .field("installer", &self.installer)
            .field("python", &self.python)
            .field("supervision", &self.supervision)
            .finish_non_exhaustive()
    }
}

/// The host of kind `python`.
#[derive(Debug)]
pub struct PythonHost {
    options: PythonHostOptions,
    /// Asked once; a Python that is replaced meanwhile is noticed by the next host.
    interpreter: OnceCell<Interpreter>,
}

impl PythonHost {
    /// A host; nothing is looked for or made before a plugin needs it.
    #[must_use]
    pub fn new(options: PythonHostOptions) -> Self {
        Self {
            options,
            interpreter: OnceCell::new(),
        }
    }

    /// What is there for the plugin, without building anything.
    ///
    /// # Errors
    ///
    /// If the requirements cannot be read or the store cannot be used.
    pub async fn judge(&self, spec: &PluginSpec) -> Result<EnvironmentVerdict, LoadError> {
        let requirements = requirements(spec)?;
        let store = self.store()?;
        let interpreter = self.interpreter().await;
        Ok(store
            .judge(
                &requirements,
                interpreter.as_ref().ok().copied(),
                &self.options.search_path,
            )
            .await)
    }

    /// Builds the plugin's environment if it is not there, without starting a worker.
    ///
    /// # Errors
    ///
    /// If it is not there and cannot be built.
    pub async fn prepare(&self, spec: &PluginSpec) -> Result<Environment, LoadError> {
        self.environment(spec)
            .await
            .map(|(environment, _)| environment)
    }

    /// The environment, and what was found before it was built.
    async fn environment(
        &self,
        spec: &PluginSpec,
    ) -> Result<(Environment, &'static str), LoadError> {
        let requirements = requirements(spec)?;
        let store = self.store()?;
        let search_path = &self.options.search_path;
        let interpreter = self.interpreter().await;
        let known = interpreter.as_ref().ok().copied();
        if let EnvironmentVerdict::Valid(environment) =
            store.judge(&requirements, known, search_path).await
        {
            if let Some(progress) = &self.options.progress {
                progress(EnvironmentEvent::Reused {
                    plugin: spec.name.clone(),
                });
            }
            return Ok((environment, "Valid"));
        }
        let failed = |error: EnvironmentError| environment_error(&error, &spec.name, &requirements);
        let interpreter = interpreter.map_err(|error| failed(error.into()))?;
        let build = Build {
            plugin: &spec.name,
            requirements: &requirements,
            installer: &self.options.installer,
            search_path,
            progress: self.options.progress.as_ref(),
        };
        let environment = store.build(build, interpreter).await.map_err(failed)?;
        Ok((environment, "Missing"))
    }

    async fn load_plugin(&self, spec: PluginSpec) -> Result<Arc<dyn Plugin>, LoadError> {
        let class = class_place(&spec)?;
        let (executable, boot, environment) = match &self.options.stub {
            Some(stub) => (stub.executable.clone(), Some(Arc::clone(&stub.boot)), None),
            None => {
                let (environment, verdict) = self.environment(&spec).await?;
                (environment.executable(), None, Some((environment, verdict)))
            }
        };
        let supervision = self.options.supervision.clone();
        let launch =
            Launch::new(&spec, &class, executable, boot, supervision).map_err(|error| {
                LoadError::new(format!("no scratch folder for the plugin: {error}"))
            })?;
        let worker = Worker::start(&launch).await.map_err(|error| {
            let load_error = error.load_error(class.name);
            match &environment {
                // It was complete when it was built, but packages may have gone since.
                Some((found, "Valid")) if error.is_of_framework() => load_error.hint(format!(
                    "let `requirements` name cpex==0.1.4, or no framework at all; \
                     if they do, remove {}, and it is built anew",
                    found.path.display()
                )),
                _ => load_error,
            }
        })?;
        let ready = worker.ready();
        let environment = environment.map(|(environment, verdict)| EnvironmentInfo {
            verdict,
            path: environment.path.display().to_string(),
            python: ready.python.clone(),
            framework: format!("{} {}", ready.framework.name, ready.framework.version),
        });
        let hooks = ready.hooks.clone();
        Ok(Arc::new(PythonPlugin {
            supervisor: Supervisor::new(launch, worker),
            hooks,
            environment,
        }))
    }

    fn store(&self) -> Result<EnvironmentStore, LoadError> {
        EnvironmentStore::open(&self.options.store)
            .map_err(|error| LoadError::new(error.to_string()).hint(error.hint()))
    }

    async fn interpreter(&self) -> Result<&Interpreter, InterpreterError> {
        let (asked, search_path) = (self.options.python.as_deref(), &self.options.search_path);
        self.interpreter
            .get_or_try_init(|| Interpreter::find(asked, search_path))
            .await
    }
}

impl Host for PythonHost {
    fn kind(&self) -> &'static str {
        "python"
    }

    fn load(&self, spec: PluginSpec) -> BoxFuture<'_, Result<Arc<dyn Plugin>, LoadError>> {
        Box::pin(self.load_plugin(spec))
    }
}

fn class_place(spec: &PluginSpec) -> Result<ClassPlace<'_>, LoadError> {
    match &spec.kind {
        PluginKind::Python {
            class,
            import_paths,
            workdir,
            ..
        } => Ok(ClassPlace {
            name: class,
            import_paths,
            workdir: workdir.as_deref(),
        }),
        other => Err(LoadError::new(format!(
            "not a plugin of kind `python`: {}",
            other.name()
        ))),
    }
}

fn requirements(spec: &PluginSpec) -> Result<Requirements, LoadError> {
    let PluginKind::Python {
        requirements,
        requirements_file,
        ..
    } = &spec.kind
    else {
        return Err(LoadError::new(format!(
            "not a plugin of kind `python`: {}",
            spec.kind.name()
        )));
    };
    let file = requirements_file
        .as_deref()
        .map(|file| spec.base_dir.join(file));
    Requirements::read(requirements, file.as_deref(), &spec.base_dir).map_err(|error| {
        let hint = match &error {
            RequirementsError::Read { .. } => {
                "check the path, which starts at the configuration's folder"
            }
            RequirementsError::Option(_) => {
                "put options into a file and name it with `requirements_file: FILE`"
            }
        };
        let message = match &error {
            RequirementsError::Read { source, .. } => format!("{error}: {source}"),
            RequirementsError::Option(_) => error.to_string(),
        };
        LoadError::new(message).hint(hint)
    })
}

fn environment_error(
    error: &EnvironmentError,
    plugin: &str,
    requirements: &Requirements,
) -> LoadError {
    let message = format!("the environment of {plugin} cannot be built: {requirements}: {error}");
    let load_error = LoadError::new(message).hint(error.hint());
    match error.said() {
        Some(said) => load_error.detail(said),
        None => load_error,
    }
}
