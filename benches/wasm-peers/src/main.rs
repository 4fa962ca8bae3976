//! What a verdict costs in Hookgate's wasm host, beside extism 1.30 (`make bench-peers`).
//!
//! Both sides answer about the same tool calls with the same policies, in one process, built with one
//! profile. Theirs are plugins as their own documentation writes them: the payload goes in as text, is
//! parsed inside and looked through; a plugin is reused, or made anew from compiled code for every call.
//! Ours are the components of this repository, called at [`hookgate_core::Plugin::call`] with a checked
//! document; every call has an instance of its own. The check at the door is a row of its own.
//!
//! # Method
//!
//! A row is the median of five runs; in each run our side and theirs take turns of some milliseconds at most,
//! so that whatever else the machine does falls on both, and a run's figure is the lower quartile of its
//! turns. A row about an instance that waits ready has a stock that lasts for one turn, filled between turns.
//! The whole is done three times, and the program exits 0 only if every row meets its target each time.
//! Ratios are to be read, not nanoseconds.

mod clock;
mod ours;
#[path = "../../../crates/hookgate/benches/calls/payloads.rs"]
mod payloads;
mod peer;
mod report;
mod rows;

use std::path::PathBuf;
use std::process::ExitCode;

/// The hook that is asked.
const HOOK: &str = "tool_pre_invoke";
/// Times the whole is done; a target counts as met if it is met in each.
const PASSES: usize = 3;

fn main() -> ExitCode {
    let mut arguments = std::env::args_os().skip(1).map(PathBuf::from);
    let (Some(guests), Some(components), Some(file)) =
        (arguments.next(), arguments.next(), arguments.next())
    else {
        eprintln!(
            "error: no folder of the peer's guests, of our components, no file for the rows\n  hint: run `make bench-peers`"
        );
        return ExitCode::FAILURE;
    };
    // For a look at one group of rows: a part of its name.
    let only = arguments.next();
    let only = only.as_deref().and_then(|only| only.to_str());
    let mut missed = Vec::new();
    let mut last = Vec::new();
    for pass in 1..=PASSES {
        println!("pass {pass} of {PASSES}");
        let rows = rows::measure(&guests, &components, only);
        report::print(&rows);
        missed.extend(report::missed(&rows).map(|row| (pass, row)));
        last = rows;
    }
    if let Err(error) = report::write(&last, &file) {
        eprintln!("error: cannot write {}: {error}", file.display());
        return ExitCode::FAILURE;
    }
    println!("wrote {}", file.display());
    for (pass, row) in &missed {
        eprintln!("error: pass {pass}: {row}");
    }
    match missed.is_empty() {
        true => ExitCode::SUCCESS,
        false => ExitCode::FAILURE,
    }
}
