//! What a run came to.

use std::time::Duration;

use hookgate::{Decision, Outcome};
use serde::Serialize;

use crate::tally::{self, PluginSummary};
use crate::units::thousands;

/// How lines ended, each counted once.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize)]
pub struct Totals {
    /// Lines with an outcome.
    pub calls: u64,
    /// Allowed, unchanged.
    pub allowed: u64,
    /// Allowed, changed.
    pub modified: u64,
    /// Left to a person.
    pub asked: u64,
    /// Denied.
    pub denied: u64,
    /// Outcomes, among those above, with a plugin that did not answer.
    pub with_faults: u64,
    /// Lines without an outcome.
    pub unread: u64,
}

impl Totals {
    /// Counts a line: its outcome, or that it has none.
    pub fn add(&mut self, outcome: Option<&Outcome>) {
        let Some(outcome) = outcome else {
            self.unread += 1;
            return;
        };
        self.calls += 1;
        self.with_faults += u64::from(!outcome.faults.is_empty());
        match outcome.decision {
            Decision::Allow if outcome.modified => self.modified += 1,
            Decision::Allow => self.allowed += 1,
            Decision::Ask => self.asked += 1,
            Decision::Deny => self.denied += 1,
        }
    }

    /// All lines.
    pub fn lines(&self) -> u64 {
        self.calls + self.unread
    }
}

/// The totals of a run and each plugin's part in it.
#[derive(Debug, Serialize)]
pub struct Summary {
    /// How lines ended.
    #[serde(flatten)]
    pub totals: Totals,
    /// From the first line read to the last outcome.
    pub seconds: f64,
    /// Outcomes in a second.
    pub calls_per_second: f64,
    /// Each plugin, in the order of the configuration.
    pub plugins: Vec<PluginSummary>,
}

impl Summary {
    /// The summary of a run that took `elapsed`.
    pub fn new(totals: Totals, elapsed: Duration, plugins: Vec<PluginSummary>) -> Self {
        let seconds = elapsed.as_secs_f64();
        let calls_per_second = if seconds > 0.0 {
            totals.calls as f64 / seconds
        } else {
            0.0
        };
        Self {
            totals,
            seconds,
            calls_per_second,
            plugins,
        }
    }

    /// A table and a line, for people.
    pub fn text(&self) -> String {
        let mut lines = tally::table(&self.plugins).lines();
        let totals = &self.totals;
        let counts = [
            (totals.allowed, "allowed"),
            (totals.modified, "modified"),
            (totals.asked, "asked"),
            (totals.denied, "denied"),
            (totals.with_faults, "with faults"),
        ];
        let counts = counts.map(|(count, what)| format!("{} {what}", thousands(count)));
        let (calls, rate) = (
            thousands(totals.calls),
            thousands(self.calls_per_second.round() as u64),
        );
        lines.push(String::new());
        lines.push(format!("calls: {calls} ({})", counts.join(", ")));
        lines.push(format!(
            "time: {:.2} s, {rate} calls per second",
            self.seconds
        ));
        lines.join("\n")
    }
}
