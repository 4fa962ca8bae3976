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
mod question;
mod records;
mod setup;
mod stream;
mod table;
mod tally;
mod terminal;
mod units;

use std::process::ExitCode;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::Duration;

use clap::Parser as _;
use tokio::sync::Notify;

use arguments::Arguments;
use setup::SetupError;
use terminal::Terminal;

/// What a signal leaves for ending calls and plugins: a kill and a few files, on a busy machine.
const WIND_UP: Duration = Duration::from_secs(2);

/// Told of the first SIGINT, SIGTERM or SIGHUP; the second ends the process on the spot.
fn stop_signal() -> Arc<Notify> {
    let stop = Arc::new(Notify::new());
    let (told, asked) = (Arc::clone(&stop), AtomicBool::new(false));
    let installed = ctrlc::set_handler(move || {
        if asked.swap(true, Ordering::SeqCst) {
            std::process::exit(130);
        }
        told.notify_one();
    });
    if let Err(error) = installed {
        tracing::warn!("signals will end hookgate at once: {error}");
    }
    stop
}

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
    let stop = stop_signal();
    let ended = runtime.block_on(async {
        tokio::select! {
            ended = commands::execute(arguments, &terminal) => ended,
            // Dropping the command ends its plugins and flushes what it has written.
            () = stop.notified() => Ok(commands::Status::Interrupted),
        }
    });
    // Calls under way hold the engine: they are dropped here, and with the last of them its plugins. A
    // read of stdin that nobody waits for any more may never end, hence the bound.
    runtime.shutdown_timeout(WIND_UP);
    match ended {
        Ok(status @ commands::Status::Interrupted) => {
            terminal.say("interrupted: the plugins have been ended");
            status.into()
        }
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
