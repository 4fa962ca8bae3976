//! `hookgate env gc`.

use std::fmt::Write as _;
use std::time::Duration;

use clap::Args;
use hookgate::{GcOptions, GcReport};
use serde::Serialize;

use super::{options, short, store};
use crate::arguments::Format;
use crate::commands::Status;
use crate::commands::call::print;
use crate::table::Table;
use crate::terminal::Terminal;
use crate::units::thousands;

/// Arguments of `hookgate env gc`.
#[derive(Debug, Args)]
pub struct GcArguments {
    /// Remove also what was not used for this long, such as 30d or 12h; a load is a use.
    #[arg(long, value_name = "AGE", value_parser = age)]
    older_than: Option<Duration>,
    /// Remove nothing, and say what would go.
    #[arg(long)]
    dry_run: bool,
}

/// Everything `--format json` prints.
#[derive(Serialize)]
struct Report<'a> {
    /// The store.
    folder: String,
    dry_run: bool,
    removed: Vec<Row<'a>>,
    freed_bytes: u64,
    /// Keys of those that may go and are being built or used.
    in_use: &'a [String],
    kept: usize,
}

#[derive(Serialize)]
struct Row<'a> {
    key: &'a str,
    size_bytes: u64,
    why: &'a str,
}

/// Removes what is not needed.
pub fn gc(arguments: &GcArguments, format: Format, terminal: &Terminal) -> anyhow::Result<Status> {
    let options = options(true, terminal)?;
    let report = match store(&options)? {
        Some(store) => store.gc(&GcOptions {
            older_than: arguments.older_than,
            dry_run: arguments.dry_run,
        })?,
        None => GcReport::default(),
    };
    let folder = options.store.display().to_string();
    let text = match format {
        Format::Json => json(folder, arguments.dry_run, &report)?,
        Format::Text => text(&folder, arguments.dry_run, &report),
    };
    print(&text)?;
    Ok(Status::Done)
}

fn json(folder: String, dry_run: bool, report: &GcReport) -> anyhow::Result<String> {
    let rows = report.removed.iter().map(|removed| Row {
        key: &removed.key,
        size_bytes: removed.size_bytes,
        why: removed.why,
    });
    Ok(serde_json::to_string_pretty(&Report {
        folder,
        dry_run,
        removed: rows.collect(),
        freed_bytes: report.freed_bytes(),
        in_use: &report.in_use,
        kept: report.kept,
    })?)
}

fn text(folder: &str, dry_run: bool, report: &GcReport) -> String {
    let mut out = String::new();
    if !report.removed.is_empty() {
        let mut table = Table::new(&["key", "#bytes", "why"]);
        for removed in &report.removed {
            table.row(vec![
                short(&removed.key).to_owned(),
                thousands(removed.size_bytes),
                removed.why.to_owned(),
            ]);
        }
        out += &table.lines().join("\n");
        out += "\n\n";
    }
    let (went, freed) = if dry_run {
        ("would be removed", "would be freed")
    } else {
        ("removed", "freed")
    };
    let _ = write!(
        out,
        "{folder}: {} {went}, {} bytes {freed}, {} kept",
        report.removed.len(),
        thousands(report.freed_bytes()),
        report.kept
    );
    if !report.in_use.is_empty() {
        let _ = write!(out, ", {} in use", report.in_use.len());
    }
    out
}

/// A whole number and its unit.
fn age(text: &str) -> Result<Duration, String> {
    const UNITS: [(char, u64); 4] = [('m', 60), ('h', 3_600), ('d', 86_400), ('w', 604_800)];
    let wrong = || "possible are a number and m, h, d or w, such as 30d".to_owned();
    let unit = text.chars().next_back().ok_or_else(wrong)?;
    let (_, seconds) = UNITS
        .iter()
        .find(|(name, _)| *name == unit)
        .ok_or_else(wrong)?;
    let number: u64 = text[..text.len() - unit.len_utf8()]
        .parse()
        .map_err(|_| wrong())?;
    let seconds = number.checked_mul(*seconds).ok_or_else(wrong)?;
    Ok(Duration::from_secs(seconds))
}

#[cfg(test)]
mod tests {
    use super::age;

    #[test]
    fn ages_are_a_number_and_a_unit() {
        for (text, seconds) in [
            ("0d", 0),
            ("90m", 5_400),
            ("12h", 43_200),
            ("30d", 2_592_000),
            ("2w", 1_209_600),
        ] {
            assert_eq!(age(text).map(|age| age.as_secs()), Ok(seconds), "{text}");
        }
        for text in [
            "",
            "d",
            "30",
            "-1d",
            "1.5d",
            "30 d",
            "99999999999999999999w",
            "18446744073709551615w",
        ] {
            assert!(age(text).is_err(), "{text}");
        }
    }
}
