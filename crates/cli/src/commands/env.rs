//! `hookgate env`: the environments of Python plugins.

use anyhow::anyhow;
use clap::{Args, Subcommand};
use hookgate::{EnvironmentStore, PythonHostOptions};

use super::Status;
use crate::arguments::Format;
use crate::setup::{self, SetupError};
use crate::terminal::Terminal;

mod build;
mod gc;
mod list;
mod path;

/// Arguments of `hookgate env`.
#[derive(Debug, Args)]
pub struct EnvArguments {
    #[command(subcommand)]
    command: EnvCommand,
}

#[derive(Debug, Subcommand)]
enum EnvCommand {
    /// Show every environment, and the entries that used it last.
    List,
    /// Build the environments of a configuration that are not there.
    Build(build::BuildArguments),
    /// Remove environments that no entry used last, or for long.
    Gc(gc::GcArguments),
    /// Print the folder of a plugin's environment.
    Path(path::PathArguments),
}

/// Runs one of the commands.
pub async fn env(
    arguments: EnvArguments,
    format: Format,
    terminal: &Terminal,
) -> anyhow::Result<Status> {
    match arguments.command {
        EnvCommand::List => list::list(format, terminal).await,
        EnvCommand::Build(arguments) => build::build(arguments, format, terminal).await,
        EnvCommand::Gc(arguments) => gc::gc(&arguments, format, terminal),
        EnvCommand::Path(arguments) => path::path(arguments, format, terminal).await,
    }
}

/// How the Python host is made, with a store.
fn options(offline: bool, terminal: &Terminal) -> anyhow::Result<PythonHostOptions> {
    setup::python_options(offline, terminal).ok_or_else(|| {
        anyhow!("no folder for Python environments: HOME is not set\n  hint: set HOOKGATE_ENV_DIR to a folder of yours")
    })
}

/// The store, if there is one.
fn store(options: &PythonHostOptions) -> Result<Option<EnvironmentStore>, SetupError> {
    EnvironmentStore::open_existing(&options.store).map_err(|error| {
        SetupError::Host(hookgate::LoadError::new(error.to_string()).hint(error.hint()))
    })
}

/// Enough of a key to tell it from others.
fn short(key: &str) -> &str {
    key.get(..12).unwrap_or(key)
}
