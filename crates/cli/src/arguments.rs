//! What can be asked on the command line.

use std::path::PathBuf;

use clap::{ArgAction, Args, Parser, ValueEnum};

use crate::commands::Command;

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
}
