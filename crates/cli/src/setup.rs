//! From a configuration file to an engine.

use std::path::Path;
use std::sync::Arc;

use hookgate::config::{Config, ConfigReport, ReadOptions, Shape};
use hookgate::{
    Engine, HostOptions, LoadError, LoadReport, PythonHostOptions, RecordSink, WasmHostOptions,
};

use crate::terminal::Terminal;

/// Why there is no engine.
#[derive(Debug, thiserror::Error)]
pub enum SetupError {
    /// The configuration has problems; nothing was loaded.
    #[error("{0}")]
    Config(ConfigReport),
    /// A host cannot be started.
    #[error("{0}")]
    Host(LoadError),
    /// Plugins did not load.
    #[error("{report}")]
    Load {
        /// The configuration file.
        file: String,
        /// The plugins.
        report: LoadReport,
    },
}

/// Reads the configuration and logs its notes.
pub fn config(file: &Path, shape: impl Into<Shape>) -> Result<Config, SetupError> {
    let options = ReadOptions::new(shape.into());
    let config = Config::load_with(file, &options).map_err(|mut report| {
        if !file.exists()
            && let [problem] = report.problems.as_mut_slice()
        {
            problem.hint = Some("name another file with --config FILE".to_owned());
        }
        SetupError::Config(report)
    })?;
    for note in &config.report.notes {
        tracing::info!(line = note.line, "{}", note.message);
    }
    Ok(config)
}

/// The code cache is where the user's environment says, or nowhere: then components are compiled anew.
pub fn wasm_options() -> WasmHostOptions {
    let options = WasmHostOptions::default();
    match hookgate::default_code_cache() {
        Some(folder) => options.code_cache(folder),
        None => options,
    }
}

/// Environments are where the user's environment says; none if it says nothing.
pub fn python_options(offline: bool, terminal: &Terminal) -> Option<PythonHostOptions> {
    let mut options = PythonHostOptions::new(hookgate::default_store()?);
    options.offline = offline;
    options.progress = Some(terminal.environments());
    Some(options)
}

/// Loads every plugin of `config`; records go to `sink`. Offline, nothing is fetched.
pub async fn engine(
    config: Config,
    sink: Option<Arc<dyn RecordSink>>,
    offline: bool,
    terminal: &Terminal,
) -> Result<Engine, SetupError> {
    let file = config
        .file
        .as_ref()
        .map(|file| file.display().to_string())
        .unwrap_or_default();
    let mut options = HostOptions::default().wasm(wasm_options());
    // Without a store the library says what to do.
    if let Some(python) = python_options(offline, terminal) {
        options = options.python(python);
    }
    let mut builder = hookgate::engine_with(config, options).map_err(SetupError::Host)?;
    if let Some(sink) = sink {
        builder = builder.records(sink);
    }
    let built = builder.build().await;
    terminal.clear();
    built.map_err(|report| SetupError::Load { file, report })
}
