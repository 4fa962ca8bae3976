//! The rows for a person, and for whoever compares runs.

use std::path::Path;

use serde_json::{Value, json};

use crate::clock::Measured;
use crate::{ACCEPTANCE, ACCEPTED_RATIO};

/// Prints the rows as a table.
pub fn print(rows: &[Measured]) {
    let width = rows.iter().map(|row| row.work.len()).max().unwrap_or(0);
    println!(
        "{:width$}  {:>9}  {:>9}  {:>6}  target",
        "", "ours", "peer", "ratio"
    );
    for row in rows {
        let peer = row
            .peer
            .map_or_else(|| "-".into(), |peer| format!("{peer:.0}"));
        let ratio = row
            .ratio()
            .map_or_else(|| "-".into(), |ratio| format!("{ratio:.3}"));
        let target = match met(row) {
            Some(true) => format!("at most {ACCEPTED_RATIO}: met"),
            Some(false) => format!("at most {ACCEPTED_RATIO}: not met"),
            None => "-".into(),
        };
        println!(
            "{:width$}  {:>9.0}  {peer:>9}  {ratio:>6}  {target}",
            row.work, row.ours
        );
    }
}

/// Writes the rows as `{work, ours, peer, ratio, target, met}`, null where there is none.
pub fn write(rows: &[Measured], file: &Path) -> std::io::Result<()> {
    let rows: Vec<Value> = rows
        .iter()
        .map(|row| {
            let met = met(row);
            json!({
                "work": row.work,
                "ours": row.ours,
                "peer": row.peer,
                "ratio": row.ratio(),
                "target": met.map(|_| ACCEPTED_RATIO),
                "met": met,
            })
        })
        .collect();
    if let Some(folder) = file.parent() {
        std::fs::create_dir_all(folder)?;
    }
    std::fs::write(file, format!("{:#}\n", Value::Array(rows)))
}

/// Whether the row's target is met; none for a row without one.
fn met(row: &Measured) -> Option<bool> {
    let ratio = row.ratio().filter(|_| row.work == ACCEPTANCE)?;
    Some(ratio <= ACCEPTED_RATIO)
}
