//! What `hookgate demo` says at the end.

use std::io::{self, Write as _};
use std::path::PathBuf;

use hookgate::Outcome;
use serde::Serialize;

use super::expected::Mismatch;
use super::pair::Pair;
use crate::arguments::Format;
use crate::commands::run::Summary;
use crate::table::Table;
use crate::units::{failed, shown, thousands};

/// Differences that are named; more are counted.
const NAMED_MISMATCHES: usize = 10;

/// One file of calls.
#[derive(Debug, Serialize)]
pub struct Part {
    /// What it is.
    pub title: &'static str,
    /// What each plugin answered, and how fast.
    pub summary: Summary,
    /// Outcomes that are not the recorded ones.
    pub mismatches: Vec<Mismatch>,
    /// The first denial.
    #[serde(skip)]
    pub denial: Option<Outcome>,
}

/// All of it.
#[derive(Debug, Serialize)]
pub struct Report {
    parts: Vec<Part>,
    checked: u64,
    equal: u64,
    side_by_side: Pair,
    denial: Option<Outcome>,
    records: PathBuf,
    #[serde(skip)]
    config: PathBuf,
}

impl Report {
    /// Puts the parts together.
    pub fn new(
        mut parts: Vec<Part>,
        side_by_side: Pair,
        config: PathBuf,
        records: PathBuf,
    ) -> Self {
        let checked = parts.iter().map(|part| part.summary.totals.lines()).sum();
        let differ: u64 = parts.iter().map(|part| part.mismatches.len() as u64).sum();
        let denial = parts.iter_mut().find_map(|part| part.denial.take());
        let equal = u64::saturating_sub(checked, differ);
        Self {
            parts,
            checked,
            equal,
            side_by_side,
            denial,
            records,
            config,
        }
    }

    /// Whether every outcome is the recorded one and the two kinds of plugin agree.
    pub fn passed(&self) -> bool {
        self.parts.iter().all(|part| part.mismatches.is_empty()) && self.side_by_side.agrees()
    }

    /// Writes it to stdout.
    pub fn print(&self, format: Format) -> anyhow::Result<()> {
        let text = match format {
            Format::Json => serde_json::to_string_pretty(self)? + "\n",
            Format::Text => self.text()?,
        };
        io::stdout()
            .write_all(text.as_bytes())
            .map_err(|error| failed("cannot write to stdout", &error))
    }

    fn text(&self) -> anyhow::Result<String> {
        let mut lines = Vec::new();
        for part in &self.parts {
            lines.extend([part.title.to_owned(), part.summary.text(), String::new()]);
        }
        let (equal, checked) = (thousands(self.equal), thousands(self.checked));
        lines.push(format!(
            "checked {equal} of {checked} outcomes equal the recorded ones"
        ));
        lines.extend(self.mismatches());
        lines.push(String::new());
        lines.extend(self.pair());
        if let Some(denial) = &self.denial {
            lines.extend([
                String::new(),
                "one denial in full".to_owned(),
                serde_json::to_string_pretty(denial)?,
            ]);
        }
        let (records, config) = (self.records.display(), self.config.display());
        // As it was called: it need not be on the PATH.
        let program = std::env::args()
            .next()
            .unwrap_or_else(|| "hookgate".to_owned());
        lines.push(String::new());
        lines.push(format!("records: {records}"));
        lines.push(format!(
            "next: {program} call --config {config} tool_pre_invoke '{{\"name\": \"search\", \"args\": {{\"q\": \"mail ann@example.org\"}}}}'"
        ));
        Ok(lines.join("\n") + "\n")
    }

    fn mismatches(&self) -> Vec<String> {
        let all: Vec<&Mismatch> = self
            .parts
            .iter()
            .flat_map(|part| &part.mismatches)
            .collect();
        let named = all.iter().take(NAMED_MISMATCHES);
        let mut lines: Vec<String> = named
            .map(|mismatch| format!("  {}: {}", shown(&mismatch.id), shown(&mismatch.difference)))
            .collect();
        if all.len() > NAMED_MISMATCHES {
            lines.push(format!(
                "  and {} more",
                thousands((all.len() - NAMED_MISMATCHES) as u64)
            ));
        }
        lines
    }

    fn pair(&self) -> Vec<String> {
        let Pair {
            hook,
            payload,
            answers,
        } = &self.side_by_side;
        let mut table = Table::new(&["host", "code", "verdict", "violation", "description"]);
        for answer in answers {
            let violation = answer.outcome.violation.as_ref();
            table.row(vec![
                answer.host.clone(),
                answer.code.clone(),
                answer.outcome.decision.to_string(),
                violation.map_or_else(|| "-".to_owned(), |violation| violation.code.clone()),
                violation.map_or_else(|| "-".to_owned(), |violation| shown(&violation.description)),
            ]);
        }
        let verdict = if self.side_by_side.agrees() {
            "they agree"
        } else {
            "they do not agree"
        };
        let mut lines = vec![format!("one policy, two kinds of plugin: {hook} {payload}")];
        lines.extend(table.lines());
        lines.push(verdict.to_owned());
        lines
    }
}
