//! [`PythonHost`]: loads the plugins of kind `python`.

use std::ffi::OsString;
use std::fmt;
use std::path::PathBuf;
use std::sync::{Arc, Mutex};

use futures::future::BoxFuture;
use hookgate_core::config::{PluginKind, PluginSpec, WorkerKind};
use hookgate_core::{EnvironmentInfo, Host, LoadError, Plugin};
use tokio::sync::OnceCell;

use crate::entry::Entry;
use crate::environment::{EnvironmentOrigin, EnvironmentVerdict, Installer, Progress};
use crate::interpreter::{Interpreter, InterpreterError};
use crate::limits::Supervision;
use crate::plugin::{InUse, PythonPlugin};
use crate::provision::{self, Prepared, Provider, Provision};
use crate::sandbox::Confinement;
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
    /// Whether nothing is fetched: what is not there, or in the installer's own cache, cannot be had.
    pub offline: bool,
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
            offline: false,
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
    /// If the requirements cannot be read, the store cannot be used, or the environment that the entry
    /// names cannot.
    pub async fn judge(&self, spec: &PluginSpec) -> Result<EnvironmentVerdict, LoadError> {
        self.provider().await.judge(&Entry::of(spec)?).await
    }

    /// Builds the plugin's environment if it is not there, without starting a worker.
    ///
    /// # Errors
    ///
    /// If it is not there and cannot be built.
    pub async fn prepare(&self, spec: &PluginSpec) -> Result<Prepared, LoadError> {
        let provision = self.provider().await.provide(&Entry::of(spec)?).await?;
        Ok(provision.prepared)
    }

    async fn provider(&self) -> Provider<'_> {
        Provider {
            options: &self.options,
            interpreter: self.interpreter().await,
        }
    }

    async fn load_plugin(&self, spec: PluginSpec) -> Result<Arc<dyn Plugin>, LoadError> {
        refuse_what_is_not_built(&spec)?;
        let entry = Entry::of(&spec)?;
        let provider = self.provider().await;
        let mut class = class_place(&spec)?;
        let (executable, boot, mut provision) = match &self.options.stub {
            Some(stub) => (stub.executable.clone(), Some(Arc::clone(&stub.boot)), None),
            None => {
                let provision = provider.provide(&entry).await?;
                (
                    provision.prepared.environment.executable(),
                    None,
                    Some(provision),
                )
            }
        };
        let resolved = match &provision {
            Some(Provision { prepared, .. }) => {
                let search_path = &self.options.search_path;
                provision::class(&entry, &prepared.environment, search_path).await?
            }
            None => entry.class.clone(),
        };
        class.name = &resolved;
        let supervision = self.options.supervision.clone();
        // Made anew after a repair: the rules name folders by what they were when they were made.
        let launch = async || -> Result<Launch, LoadError> {
            let confinement = Confinement::plan(&spec, &executable).await?;
            let (supervision, boot) = (supervision.clone(), boot.clone());
            Launch::new(
                &spec,
                &class,
                executable.clone(),
                boot,
                supervision,
                confinement,
            )
            .map_err(|error| LoadError::new(format!("no scratch folder for the plugin: {error}")))
        };
        let mut launched = launch().await?;
        let mut started = Worker::start(&launched).await;
        // It was complete when it was built, but packages may have gone since.
        if started.is_err()
            && let Some(provision) = &mut provision
            && provision.prepared.environment.origin == EnvironmentOrigin::Store
            && provider.repair(&entry, provision).await?
        {
            launched = launch().await?;
            started = Worker::start(&launched).await;
        }
        let launch = launched;
        let (sandbox, notes) = launch.sandbox();
        let worker = started.map_err(|error| {
            let load_error = error.load_error(class.name);
            let environment = provision
                .as_ref()
                .map(|provision| &provision.prepared.environment);
            let hint = environment.filter(|_| error.is_of_framework());
            match hint.and_then(provision::framework_hint) {
                Some(hint) => load_error.hint(hint),
                None => load_error,
            }
        })?;
        let ready = worker.ready();
        let info = provision
            .as_ref()
            .map(|Provision { prepared, .. }| EnvironmentInfo {
                verdict: prepared.verdict.as_str(),
                path: prepared.environment.path.display().to_string(),
                python: ready.python.clone(),
                framework: format!("{} {}", ready.framework.name, ready.framework.version),
            });
        let hooks = ready.hooks.clone();
        Ok(Arc::new(PythonPlugin {
            supervisor: Supervisor::new(launch, worker),
            hooks,
            info,
            environment: provision.map(|provision| InUse {
                environment: provision.prepared.environment,
                notes: provision.prepared.notes,
                lock: Mutex::new(provision.lock),
            }),
            sandbox,
            notes,
            granted: spec.permissions.data,
        }))
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

/// Keys that configurations may have and this version does nothing for: better no plugin than one that is kept
/// in another way than its entry says.
fn refuse_what_is_not_built(spec: &PluginSpec) -> Result<(), LoadError> {
    let python = &spec.python;
    let asked = if python.worker != WorkerKind::Hookgate {
        format!("worker: {}", python.worker)
    } else if python.workers != 1 {
        format!("workers: {}", python.workers)
    } else if python.idempotent {
        "idempotent: true".to_owned()
    } else {
        return Ok(());
    };
    Err(LoadError::new(format!("not supported yet: {asked}")).hint("remove the key"))
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
