//! The rows for a person, and for whoever compares runs.

use std::path::Path;

use serde_json::{Value, json};

/// What a row must come to.
#[derive(Clone, Copy)]
pub enum Target {
    /// The first side's figure by the second's, at most.
    AtMost(f64),
    /// The second side's figure by the first's, at least: so many times faster.
    Times(f64),
    /// Both within this part of each other.
    Within(f64),
    /// A row to be read.
    None,
}

/// A measured row.
pub struct Row {
    pub work: String,
    /// The unit of both figures.
    pub unit: &'static str,
    pub ours: f64,
    pub peer: Option<f64>,
    pub target: Target,
}

impl Row {
    /// What is compared with the target.
    fn ratio(&self) -> Option<f64> {
        let peer = self.peer?;
        Some(match (self.target, self.unit) {
            // More is better.
            (Target::Times(_), "calls/s") => self.ours / peer,
            (Target::Times(_), _) => peer / self.ours,
            _ => self.ours / peer,
        })
    }

    fn met(&self) -> Option<bool> {
        let ratio = self.ratio()?;
        match self.target {
            Target::AtMost(most) => Some(ratio <= most),
            Target::Times(least) => Some(ratio >= least),
            Target::Within(part) => Some((ratio - 1.0).abs() <= part),
            Target::None => None,
        }
    }

    fn wanted(&self) -> String {
        match self.target {
            Target::AtMost(most) => format!("at most {most}"),
            Target::Times(least) => format!("at least {least} times"),
            Target::Within(part) => format!("1 within {part}"),
            Target::None => "-".into(),
        }
    }
}

/// Prints the rows as a table.
pub fn print(rows: &[Row]) {
    let width = rows.iter().map(|row| row.work.len()).max().unwrap_or(0);
    println!(
        "{:width$}  {:>10}  {:>10}  {:>7}  target",
        "", "ours", "other", "ratio"
    );
    for row in rows {
        let peer = row
            .peer
            .map_or_else(|| "-".into(), |peer| format!("{peer:.0}"));
        let ratio = row
            .ratio()
            .map_or_else(|| "-".into(), |ratio| format!("{ratio:.2}"));
        let met = match row.met() {
            Some(true) => ": met",
            Some(false) => ": not met",
            None => "",
        };
        println!(
            "{:width$}  {:>10.0}  {peer:>10}  {ratio:>7}  {}{met}",
            row.work,
            row.ours,
            row.wanted()
        );
    }
}

/// What each missed row came to.
pub fn missed(rows: &[Row]) -> impl Iterator<Item = String> {
    rows.iter()
        .filter(|row| row.met() == Some(false))
        .map(|row| {
            let ratio = row.ratio().unwrap_or(f64::NAN);
            format!("{}: {ratio:.3}, wanted {}", row.work, row.wanted())
        })
}

/// Writes the rows as `{work, ours, peer, ratio, target, met}`, null where there is none.
pub fn write(rows: &[Row], file: &Path) -> std::io::Result<()> {
    let rows: Vec<Value> = rows
        .iter()
        .map(|row| {
            json!({
                "work": row.work,
                "ours": row.ours,
                "peer": row.peer,
                "ratio": row.ratio(),
                "target": row.met().map(|_| row.wanted()),
                "met": row.met(),
            })
        })
        .collect();
    if let Some(folder) = file.parent() {
        std::fs::create_dir_all(folder)?;
    }
    std::fs::write(file, format!("{:#}\n", Value::Array(rows)))
}
