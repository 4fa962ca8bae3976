//! What can be asked on the command line.

use std::path::PathBuf;

use clap::{ArgAction, Args, Parser, ValueEnum};
use hookgate::config::{Config, Shape};

use crate::commands::Command;
use crate::setup::{self, SetupError};

/// The file that is read where none is named.
pub const DEFAULT_CONFIG: &str = "hookgate.yaml";

/// A hook engine for AI agents and MCP gateways: plugins decide whether a call may go on.
#[derive(Debug, Parser)]
#[command(name = "hookgate", version)]
#[command(
    after_help = "Exit codes: 0 done (a denial is an answer), 1 the configuration or the command failed, \
    2 wrong usage, 3 some input could not be read.\nLogs: -v, or HOOKGATE_LOG=hookgate=debug."
)]
pub struct Arguments {
    /// What results look like on stdout.
    #[arg(long, global = true, value_enum, default_value_t = Format::Text)]
    pub format: Format,
    /// Log more to stderr; twice for still more.
    #[arg(short, long, global = true, action = ArgAction::Count)]
    pub verbose: u8,
    /// The command.
    #[command(subcommand)]
    pub command: Command,
}

/// What results look like.
#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
pub enum Format {
    /// For people.
    Text,
    /// For programs.
    Json,
}

/// Which configuration a command works with.
#[derive(Debug, Args)]
pub struct ConfigArgument {
    /// The configuration file.
    #[arg(long, value_name = "FILE", default_value = DEFAULT_CONFIG)]
    pub config: PathBuf,
    #[command(flatten)]
    pub shape: ShapeArgument,
}

impl ConfigArgument {
    /// Reads the configuration and logs its notes.
    pub fn read(&self) -> Result<Config, SetupError> {
        setup::config(&self.config, self.shape)
    }
}

/// Whether anything may be fetched.
#[derive(Debug, Clone, Copy, Args)]
pub struct OfflineArgument {
    /// Fetch nothing: an environment that is not there is built of what the installer has already.
    #[arg(long)]
    pub offline: bool,
}

/// The shape a configuration is read in.
#[derive(Debug, Clone, Copy, Args)]
pub struct ShapeArgument {
    /// The shape of the configuration. `auto`: legacy if it has `plugin_dirs`, `plugin_settings` or a mode
    /// such as `enforce`.
    #[arg(long, value_enum, default_value_t = ShapeChoice::Auto)]
    shape: ShapeChoice,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
enum ShapeChoice {
    /// What the file itself says.
    Auto,
    /// The CPEX / ContextForge framework's.
    Legacy,
    /// Hookgate's own.
    Hookgate,
}

impl From<ShapeArgument> for Shape {
    fn from(argument: ShapeArgument) -> Self {
        match argument.shape {
            ShapeChoice::Auto => Self::Auto,
            ShapeChoice::Legacy => Self::Legacy,
            ShapeChoice::Hookgate => Self::Hookgate,
        }
    }
}
