//! The log of a plugin: its stderr, and what it prints, bounded and always read.

use std::collections::VecDeque;
use std::sync::{Arc, Mutex, PoisonError};
use std::time::Duration;

use hookgate_core::config::defaults::LOG_BYTES_PER_CALL;
use tokio::io::AsyncReadExt as _;
use tokio::process::ChildStderr;
use tokio::time::{Instant, sleep_until};

use crate::limits::{LOG_LINE_BYTES, LOG_TAIL_LINES};
use crate::tokens::{Scrubber, Tokens};

/// A worker's output has no call it belongs to, so the budget of a call is given to each second.
const WINDOW: Duration = Duration::from_secs(1);

/// The last lines, kept for the story of a death.
#[derive(Debug, Default)]
pub(super) struct LogTail(Mutex<VecDeque<String>>);

impl LogTail {
    fn push(&self, line: &str) {
        let mut lines = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        if lines.len() == LOG_TAIL_LINES {
            lines.pop_front();
        }
        lines.push_back(line.to_owned());
    }

    pub(super) fn text(&self) -> String {
        let lines = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        lines
            .iter()
            .map(String::as_str)
            .collect::<Vec<_>>()
            .join("\n")
    }
}

/// Reads stderr to its end. Never slower than the plugin writes: what is over the budget is counted
/// and dropped. Tokens are hidden before anything else: neither a line's limit nor a read tears one.
pub(super) async fn follow(
    stderr: Option<ChildStderr>,
    plugin: Arc<str>,
    tail: Arc<LogTail>,
    tokens: Arc<Tokens>,
) {
    let Some(mut stderr) = stderr else { return };
    let mut piece = vec![0; LOG_LINE_BYTES];
    let mut lines = Lines {
        plugin,
        tail,
        line: Vec::new(),
        cut: false,
        left: LOG_BYTES_PER_CALL,
        dropped: 0,
    };
    let mut scrubber = Scrubber::default();
    let mut window = Instant::now() + WINDOW;
    loop {
        let read = tokio::select! {
            read = stderr.read(&mut piece) => read,
            // Only if something was dropped is there anything to say when the window ends.
            () = sleep_until(window), if lines.dropped > 0 => {
                lines.next_window();
                window = Instant::now() + WINDOW;
                continue;
            }
        };
        let Ok(bytes @ 1..) = read else { break };
        if Instant::now() >= window {
            lines.next_window();
            window = Instant::now() + WINDOW;
        }
        let text = match tokens.finder() {
            Some(finder) => scrubber.take(&finder, &piece[..bytes]),
            None => scrubber.take_all(&piece[..bytes]),
        };
        lines.take(&text);
    }
    if let Some(finder) = tokens.finder() {
        lines.take(&scrubber.finish(&finder));
    } else {
        lines.take(&scrubber.take_all(&[]));
    }
    lines.end_line();
    lines.next_window();
}

struct Lines {
    plugin: Arc<str>,
    tail: Arc<LogTail>,
    line: Vec<u8>,
    /// The line was longer than a line may be; its rest is dropped.
    cut: bool,
    left: u64,
    dropped: u64,
}

impl Lines {
    fn take(&mut self, bytes: &[u8]) {
        for part in bytes.split_inclusive(|byte| *byte == b'\n') {
            let (text, ends) = match part.strip_suffix(b"\n") {
                Some(text) => (text, true),
                None => (part, false),
            };
            let room = LOG_LINE_BYTES - self.line.len();
            let fits = text.len().min(room);
            self.line.extend_from_slice(&text[..fits]);
            if fits < text.len() {
                self.dropped += (text.len() - fits) as u64;
                self.cut = true;
            }
            if ends {
                self.end_line();
            }
        }
    }

    fn end_line(&mut self) {
        if self.line.is_empty() {
            return;
        }
        let line = printable(&self.line, self.cut);
        let bytes = self.line.len() as u64;
        self.line.clear();
        self.cut = false;
        self.tail.push(&line);
        if bytes > self.left {
            self.dropped += bytes;
            return;
        }
        self.left -= bytes;
        tracing::info!(target: "hookgate::plugin", plugin = %self.plugin, "{line}");
    }

    fn next_window(&mut self) {
        if self.dropped > 0 {
            tracing::warn!(target: "hookgate::plugin", plugin = %self.plugin, "suppressed {} bytes", self.dropped);
        }
        self.dropped = 0;
        self.left = LOG_BYTES_PER_CALL;
    }
}

/// What a terminal or a log file can take: no control characters but tabs.
fn printable(line: &[u8], cut: bool) -> String {
    let text = String::from_utf8_lossy(line);
    let mut safe = String::with_capacity(text.len());
    for character in text.trim_end_matches('\r').chars() {
        if character.is_control() && character != '\t' {
            safe.extend(character.escape_default());
        } else {
            safe.push(character);
        }
    }
    if cut {
        safe.push_str(" ...");
    }
    safe
}
