//! The `hookgate` command: thin, one file a command.
//!
//! [`arguments`] says what can be asked, [`commands`] does it. Results go to stdout; logs, progress
//! and complaints to stderr. The exit code is a [`commands::Status`]: a denial is an answer, so it is 0.
#![forbid(unsafe_code)]

mod arguments;
mod commands;
mod input;
mod line;
mod problems;
mod records;
mod setup;
mod stream;
mod table;
mod tally;
mod terminal;
mod units;

use std::process::ExitCode;

use clap::Parser as _;

use arguments::Arguments;
use setup::SetupError;
use terminal::Terminal;

fn main() -> ExitCode {
    let arguments = Arguments::parse();
    let terminal = Terminal::new();
    terminal.log(arguments.verbose);
    let runtime = match tokio::runtime::Builder::new_multi_thread()
        .enable_all()
        .build()
    {
        Ok(runtime) => runtime,
        Err(error) => {
            terminal.say(&format!(
                "error: no threads to work with: {}",
                units::reason(&error)
            ));
            return commands::Status::Failed.into();
        }
    };
    match runtime.block_on(commands::execute(arguments, &terminal)) {
        Ok(status) => status.into(),
        Err(error) => {
            match error.downcast_ref::<SetupError>() {
                Some(refused) => terminal.say(&problems::text(refused, terminal.colour_stderr())),
                None => terminal.say(&format!("error: {error:#}")),
            }
            commands::Status::Failed.into()
        }
    }
}
