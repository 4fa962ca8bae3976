//! The commands, one file each.

mod call;
mod check;
mod compile;
mod demo;
mod env;
mod explain;
mod import;
mod run;
mod schema;

use std::process::ExitCode;

use clap::Subcommand;

use crate::arguments::Arguments;
use crate::terminal::Terminal;

/// A command with its own arguments.
#[derive(Debug, Subcommand)]
pub enum Command {
    /// Load a configuration and show what it does, or everything that is wrong with it.
    Check(check::CheckArguments),
    /// Compile components ahead of time, so that the next start takes them from the code cache.
    Compile(compile::CompileArguments),
    /// Ask the plugins about one payload.
    Call(Box<call::CallArguments>),
    /// Say who would be asked about one payload, and why the others would not. Loads nothing.
    Explain(Box<explain::ExplainArguments>),
    /// Ask the plugins about every line of a JSONL file.
    Run(run::RunArguments),
    /// Write a legacy configuration, or a plugin's manifest, in hookgate's own words.
    Import(import::ImportArguments),
    /// Print the JSON Schema of configurations, for editors.
    Schema,
    /// Show, build and remove the environments of Python plugins.
    Env(env::EnvArguments),
    /// Run recorded calls through the demonstration chain and compare every outcome.
    Demo(demo::DemoArguments),
}

/// How a command ended.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Status {
    /// Done. A denial is an answer.
    Done,
    /// The configuration is not usable, or an outcome is not the recorded one.
    Failed,
    /// Some of the input could not be read; the rest was done.
    Unread,
    /// A signal asked for the end. Plugins have been ended, what was answered has been written.
    Interrupted,
}

impl From<Status> for ExitCode {
    fn from(status: Status) -> Self {
        // 2 is for wrong usage, which the argument parser answers itself.
        match status {
            Status::Done => Self::from(0),
            Status::Failed => Self::from(1),
            Status::Unread => Self::from(3),
            // What shells report for a program that SIGINT ended.
            Status::Interrupted => Self::from(130),
        }
    }
}

/// Runs the command of `arguments`.
pub async fn execute(arguments: Arguments, terminal: &Terminal) -> anyhow::Result<Status> {
    let format = arguments.format;
    match arguments.command {
        Command::Check(arguments) => check::check(arguments, format, terminal).await,
        Command::Compile(arguments) => compile::compile(arguments, format, terminal).await,
        Command::Call(arguments) => call::call(*arguments, format, terminal).await,
        Command::Explain(arguments) => explain::explain(*arguments, format, terminal).await,
        Command::Run(arguments) => run::run(arguments, format, terminal).await,
        Command::Import(arguments) => import::import(&arguments, format, terminal),
        Command::Schema => schema::schema(),
        Command::Env(arguments) => env::env(arguments, format, terminal).await,
        Command::Demo(arguments) => demo::demo(arguments, format, terminal).await,
    }
}
