//! `hookgate env list`.

use std::path::Path;

use hookgate::{EnvironmentUse, StoredEnvironment};
use serde::Serialize;

use super::{options, short, store};
use crate::arguments::Format;
use crate::commands::Status;
use crate::commands::call::print;
use crate::table::Table;
use crate::terminal::Terminal;
use crate::units::{shown, thousands};

/// Everything `--format json` prints.
#[derive(Serialize)]
struct Report<'a> {
    /// The store.
    folder: String,
    environments: Vec<Row<'a>>,
}

#[derive(Serialize)]
struct Row<'a> {
    key: &'a str,
    path: String,
    python: &'a Option<String>,
    platform: &'a Option<String>,
    requirements: &'a [String],
    size_bytes: u64,
    verdict: &'static str,
    in_use: bool,
    used_by: Vec<UseRow<'a>>,
}

#[derive(Serialize)]
struct UseRow<'a> {
    plugin: &'a str,
    class: &'a str,
    base_dir: &'a str,
    /// Seconds since 1970.
    used_at: u64,
}

impl<'a> UseRow<'a> {
    fn of(used: &'a EnvironmentUse) -> Self {
        Self {
            plugin: &used.plugin,
            class: &used.class,
            base_dir: &used.base_dir,
            used_at: used.used_at,
        }
    }
}

impl<'a> Row<'a> {
    fn of(found: &'a StoredEnvironment) -> Self {
        Self {
            key: &found.key,
            path: found.path.display().to_string(),
            python: &found.python,
            platform: &found.platform,
            requirements: &found.requirements,
            size_bytes: found.size_bytes,
            verdict: found.verdict,
            in_use: found.in_use,
            used_by: found.used_by.iter().map(UseRow::of).collect(),
        }
    }
}

/// Shows what is in the store.
pub async fn list(format: Format, terminal: &Terminal) -> anyhow::Result<Status> {
    let options = options(true, terminal)?;
    let found = match store(&options)? {
        Some(store) => store.list(&options.search_path).await?,
        None => Vec::new(),
    };
    let text = match format {
        Format::Json => serde_json::to_string_pretty(&Report {
            folder: options.store.display().to_string(),
            environments: found.iter().map(Row::of).collect(),
        })?,
        Format::Text => text(&options.store, &found),
    };
    print(&text)?;
    Ok(Status::Done)
}

fn text(folder: &Path, found: &[StoredEnvironment]) -> String {
    let folder = folder.display();
    if found.is_empty() {
        return format!("{folder}: no environments");
    }
    let mut table = Table::new(&[
        "key",
        "python",
        "#bytes",
        "verdict",
        "used by",
        "requirements",
    ]);
    for environment in found {
        let users: Vec<String> = environment
            .used_by
            .iter()
            .map(|used| shown(&used.plugin))
            .collect();
        let mut used_by = if users.is_empty() {
            "nobody".to_owned()
        } else {
            users.join(", ")
        };
        if environment.in_use {
            used_by += " (now)";
        }
        table.row(vec![
            short(&environment.key).to_owned(),
            environment.python.clone().unwrap_or_else(|| "-".to_owned()),
            thousands(environment.size_bytes),
            environment.verdict.to_owned(),
            used_by,
            shown(&environment.requirements.join(" ")),
        ]);
    }
    let count = match found.len() {
        1 => "1 environment".to_owned(),
        count => format!("{count} environments"),
    };
    let bytes = found.iter().map(|environment| environment.size_bytes).sum();
    let lines = table.lines().join("\n");
    format!("{lines}\n\n{folder}: {count}, {} bytes", thousands(bytes))
}
