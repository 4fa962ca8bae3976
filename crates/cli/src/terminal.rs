//! [`Terminal`]: what may be drawn, and where. Progress and colour are for terminals only.

use std::collections::HashMap;
use std::io::{self, IsTerminal as _, Write};
use std::sync::{Arc, Mutex, PoisonError};
use std::time::Duration;

use hookgate::{EnvironmentEvent, Progress};
use indicatif::{MultiProgress, ProgressBar, ProgressDrawTarget, ProgressStyle};
use tracing_subscriber::EnvFilter;

/// How often a spinner moves.
const SPINNER_TICK: Duration = Duration::from_millis(100);

/// Stderr and the bars drawn on it. Cheap to clone; all clones draw on the same lines.
#[derive(Clone)]
pub struct Terminal {
    bars: MultiProgress,
    stderr: bool,
}

impl Terminal {
    /// Looks where stderr goes.
    pub fn new() -> Self {
        let stderr = io::stderr().is_terminal();
        let target = if stderr {
            ProgressDrawTarget::stderr()
        } else {
            ProgressDrawTarget::hidden()
        };
        Self {
            bars: MultiProgress::with_draw_target(target),
            stderr,
        }
    }

    /// Whether what is written to stderr may have colour.
    pub fn colour_stderr(&self) -> bool {
        self.stderr && std::env::var_os("NO_COLOR").is_none_or(|value| value.is_empty())
    }

    /// Writes a line to stderr without tearing a bar.
    pub fn say(&self, text: &str) {
        // Nobody is left to be told that stderr is gone.
        self.bars.suspend(|| {
            let _ = writeln!(io::stderr(), "{text}");
        });
    }

    /// Sends logs to stderr: warnings, or more with `-v`; `HOOKGATE_LOG` names it exactly.
    pub fn log(&self, verbose: u8) {
        let level = ["warn", "info", "debug", "trace"][usize::from(verbose.min(3))];
        let asked = std::env::var("HOOKGATE_LOG")
            .ok()
            .filter(|filter| !filter.is_empty());
        let filter = match asked.as_deref().map(EnvFilter::try_new) {
            Some(Ok(filter)) => filter,
            Some(Err(error)) => {
                self.say(&format!("warning: HOOKGATE_LOG is not a filter: {error}\n  hint: HOOKGATE_LOG=hookgate=debug"));
                EnvFilter::new(level)
            }
            None => EnvFilter::new(level),
        };
        let terminal = self.clone();
        tracing_subscriber::fmt()
            .with_env_filter(filter)
            .with_ansi(self.colour_stderr())
            .with_writer(move || LogLine(terminal.clone()))
            .init();
    }

    /// A bar over `total` bytes of input, or a counter where the size is not known.
    pub fn bar(&self, total: Option<u64>) -> ProgressBar {
        let (bar, template) = match total {
            Some(total) => (
                ProgressBar::new(total),
                "{spinner} {bar:30} {percent:>3}%  {msg}  {elapsed}, {eta} left",
            ),
            None => (ProgressBar::new_spinner(), "{spinner} {msg}  {elapsed}"),
        };
        let bar = self.bars.add(bar);
        if let Ok(style) = ProgressStyle::with_template(template) {
            bar.set_style(style.progress_chars("=> "));
        }
        if self.stderr {
            bar.enable_steady_tick(SPINNER_TICK);
        }
        bar
    }

    /// Draws a spinner for every environment that is being built.
    pub fn environments(&self) -> Progress {
        let terminal = self.clone();
        let spinners: Mutex<HashMap<String, ProgressBar>> = Mutex::default();
        Arc::new(move |event| {
            let mut spinners = spinners.lock().unwrap_or_else(PoisonError::into_inner);
            match event {
                EnvironmentEvent::Building {
                    plugin,
                    requirements,
                } => {
                    tracing::info!(
                        plugin,
                        requirements = requirements.join(" "),
                        "building an environment"
                    );
                    let spinner = terminal.bar(None);
                    spinner.set_message(format!(
                        "building the environment of {plugin}: {}",
                        requirements.join(" ")
                    ));
                    spinners.insert(plugin, spinner);
                }
                EnvironmentEvent::Built { plugin, seconds } => {
                    tracing::info!(plugin, seconds, "built an environment");
                    if let Some(spinner) = spinners.remove(&plugin) {
                        spinner.finish_and_clear();
                    }
                }
                EnvironmentEvent::Reused { plugin } => {
                    tracing::info!(plugin, "reusing an environment")
                }
                _ => {}
            }
        })
    }

    /// Takes every bar away, such as the spinner of a build that failed.
    pub fn clear(&self) {
        // A terminal that cannot be cleared is one that nobody looks at.
        let _ = self.bars.clear();
    }
}

/// Writes one log event above the bars.
struct LogLine(Terminal);

impl Write for LogLine {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        self.0.bars.suspend(|| io::stderr().write_all(bytes))?;
        Ok(bytes.len())
    }

    fn flush(&mut self) -> io::Result<()> {
        io::stderr().flush()
    }
}
