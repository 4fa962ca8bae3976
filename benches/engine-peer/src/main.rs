//! What the engine itself costs, beside the engine of `cpex-core` 0.2.3 (`make bench-engine`).
//!
//! Both sides are asked about one tool call at `tool_pre_invoke`, with the same number of in-process
//! plugins that allow and do nothing else, in sequential mode with default settings, on one
//! single-threaded tokio runtime, in one process built with one profile. Each side is used as its own
//! examples use it:
//!
//! - ours: [`hookgate_core::Engine::invoke`] with JSON text. The text is checked at the door in every
//!   row: size, I-JSON, nesting, the hook's shape. Text is what our engine takes; there is no way
//!   around the check.
//! - the peer: `PluginManager::invoke` with a typed payload of its own, a struct of the tool's name and
//!   its arguments as a JSON tree. It checks nothing and reads nothing of it. Extensions and context
//!   table are empty, which is the cheapest call it knows.
//!
//! # Rows
//!
//! "Payload at hand" starts the clock with what the engine takes already made: our text, the peer's
//! tree. "From text" starts it with a `&str`, as a gateway does that was sent a body: ours copies it,
//! the peer parses it. The payload is kept until the clock has stopped; all else of an answer is
//! dropped before. "Reading the text alone" is our check and the peer's parse without any engine.
//!
//! # The acceptance row
//!
//! [`ACCEPTANCE`]: five plugins, payload at hand, 183 bytes. It is the strictest comparison there is
//! for a call of common size: our time includes the check of the text, the peer's does not include its
//! parse. The program exits 0 only if ours is at most the peer's there. At 9.5 KB the same comparison
//! says how long a text of that size takes to read, not what an engine costs, since one side reads it
//! and the other does not; the row is shown all the same, and "from text" is the one to compare.
//!
//! # Method
//!
//! A round runs a batch of calls of every row, ours and the peer's one after the other, the first of
//! the two taking turns; a time is the median over all rounds. Whatever else the machine does falls on
//! both sides alike, so the ratios are to be read and not the nanoseconds.
//!
//! Cargo builds one `serde_json` for a program, with `arbitrary_precision` since our core needs it,
//! and a parse with that takes about 1.4 times as long. The peer's trees are therefore made with
//! `serde_json_lenient`, the same parser, and one that nobody turns features on in.

mod clock;
mod ours;
#[path = "../../../crates/hookgate/benches/calls/payloads.rs"]
#[expect(dead_code, reason = "the payload of 1 MB is not measured here")]
mod payloads;
mod peer;
mod report;

use std::path::PathBuf;
use std::process::ExitCode;

use clock::{Measured, Row};

/// The hook that is asked.
const HOOK: &str = "tool_pre_invoke";
/// The row that decides how the program exits.
const ACCEPTANCE: &str = "five no-op plugins, payload at hand, 183 B, ns";
/// What the ratio of ours to the peer's may be there.
const ACCEPTED_RATIO: f64 = 1.0;

/// What a call starts from when its clock starts.
#[derive(Clone, Copy, PartialEq)]
enum Start {
    /// What the engine takes, already made.
    AtHand,
    /// JSON text.
    Text,
}

fn main() -> ExitCode {
    let Some(file) = std::env::args_os().nth(1).map(PathBuf::from) else {
        eprintln!("error: no file for the rows\n  hint: run `make bench-engine`");
        return ExitCode::FAILURE;
    };
    let runtime = tokio::runtime::Builder::new_current_thread()
        .enable_time()
        .build()
        .expect("a runtime");
    let texts = [("183 B", payloads::small()), ("9.5 KB", payloads::medium())];
    let mut rows = Vec::new();
    for (size, text) in &texts {
        for (start, how) in [
            (Start::AtHand, "payload at hand"),
            (Start::Text, "from text"),
        ] {
            for (plugins, count) in [(5, "five no-op plugins"), (1, "one no-op plugin")] {
                rows.push(Row {
                    work: format!("{count}, {how}, {size}, ns"),
                    bytes: text.len(),
                    ours: ours::calls(&runtime, text, plugins, start, false),
                    peer: Some(peer::calls(&runtime, text, plugins, start)),
                });
            }
        }
        rows.push(Row {
            work: format!("a hook nobody listens to, payload at hand, {size}, ns"),
            bytes: text.len(),
            ours: ours::calls(&runtime, text, 0, Start::AtHand, false),
            peer: Some(peer::calls(&runtime, text, 0, Start::AtHand)),
        });
        rows.push(Row {
            work: format!("five no-op plugins and a record, payload at hand, {size}, ns"),
            bytes: text.len(),
            ours: ours::calls(&runtime, text, 5, Start::AtHand, true),
            peer: None,
        });
        rows.push(Row {
            work: format!("reading the text alone, {size}, ns"),
            bytes: text.len(),
            ours: ours::reading(text),
            peer: Some(peer::reading(text)),
        });
    }
    let rows = clock::measure(rows);
    report::print(&rows);
    if let Err(error) = report::write(&rows, &file) {
        eprintln!("error: cannot write {}: {error}", file.display());
        return ExitCode::FAILURE;
    }
    println!("wrote {}", file.display());
    verdict(&rows)
}

/// Whether the acceptance row holds.
fn verdict(rows: &[Measured]) -> ExitCode {
    let row = rows.iter().find(|row| row.work == ACCEPTANCE);
    match row.and_then(Measured::ratio) {
        Some(ratio) if ratio <= ACCEPTED_RATIO => ExitCode::SUCCESS,
        Some(ratio) => {
            eprintln!("error: {ACCEPTANCE}: {ratio:.3} times the peer's; at most {ACCEPTED_RATIO}");
            ExitCode::FAILURE
        }
        None => {
            eprintln!("error: no row was measured that is called `{ACCEPTANCE}`");
            ExitCode::FAILURE
        }
    }
}
