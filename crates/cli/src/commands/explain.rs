//! `hookgate explain`: who would be asked about a call, and why the others would not.
//!
//! Nothing is loaded and nobody is asked: what decides stands in the configuration.

use std::fmt::Write as _;

use clap::Args;
use hookgate::{Explanation, Mismatch, Part, PluginExplanation, SkipReason, Turn};

use super::Status;
use super::call::{print, refuse};
use crate::arguments::{ConfigArgument, Format};
use crate::question::{Question, QuestionArguments};
use crate::table::Table;
use crate::terminal::Terminal;
use crate::units::{shown, timeout};

/// Names of a condition that a line lists; forty are no help.
const LISTED_NAMES: usize = 5;

/// Alternatives that are told apart; a table of tenants may have hundreds.
const LISTED_ALTERNATIVES: usize = 10;

/// Arguments of `hookgate explain`.
#[derive(Debug, Args)]
pub struct ExplainArguments {
    #[command(flatten)]
    config: ConfigArgument,
    #[command(flatten)]
    question: QuestionArguments,
}

/// Explains one call.
pub async fn explain(
    arguments: ExplainArguments,
    format: Format,
    terminal: &Terminal,
) -> anyhow::Result<Status> {
    let config = arguments.config.read()?;
    let Question {
        hook,
        payload,
        request,
    } = arguments.question.read(config.max_payload_bytes).await?;
    let explained = match payload {
        Ok(payload) => config.explain(&hook, payload, &request),
        Err(invalid) => Err(invalid.into()),
    };
    let explanation = match explained {
        Ok(explanation) => explanation,
        Err(error) => return refuse(&error, format, terminal),
    };
    let text = match format {
        Format::Json => serde_json::to_string_pretty(&explanation)?,
        Format::Text => describe(&explanation),
    };
    print(text.trim_end())?;
    Ok(Status::Done)
}

/// A table of those that are asked, then a line for each of the others.
fn describe(explanation: &Explanation) -> String {
    let mut out = format!("hook: {}\n", shown(&explanation.hook));
    if let Some(subject) = &explanation.subject {
        let _ = writeln!(out, "subject: {}", shown(subject));
    }
    let grouped = explanation
        .plugins
        .iter()
        .any(|plugin| plugin.group.is_some());
    let mut headings = vec!["#place", "phase", "plugin", "kind", "#priority"];
    headings.extend(["may", "#timeout", "on_error", "sees", "grants"]);
    headings.extend(grouped.then_some("group"));
    let (mut table, mut asked, mut skipped) = (Table::new(&headings), false, String::new());
    for plugin in &explanation.plugins {
        match &plugin.turn {
            Turn::Runs(part) => {
                table.row(asked_row(plugin, part, grouped));
                asked = true;
            }
            Turn::Skipped { reason } => skipped += &skipped_lines(plugin, reason),
        }
    }
    match (explanation.heard, asked) {
        (true, true) => {
            out += "\nasked in this order, until one denies:\n";
            for line in table.lines() {
                let _ = writeln!(out, "  {line}");
            }
        }
        (true, false) => out += "nobody is asked: the call is allowed\n",
        (false, _) => {
            out += "nobody listens to this hook: the call is allowed, and its payload is not checked\n";
            if let Some(near) = &explanation.nearest_hook {
                let _ = writeln!(out, "  hint: did you mean `{}`?", shown(near));
            }
        }
    }
    if !skipped.is_empty() {
        let _ = write!(out, "\nnot asked:\n{skipped}");
    }
    out
}

fn asked_row(plugin: &PluginExplanation, part: &Part, grouped: bool) -> Vec<String> {
    let may: Vec<&str> = [(part.may_modify, "modify"), (part.may_block, "deny")]
        .into_iter()
        .filter_map(|(may, what)| may.then_some(what))
        .collect();
    let headers = part.sees_headers.then_some("headers");
    let sees: Vec<&str> = ["payload"]
        .into_iter()
        .chain(headers)
        .chain(part.extensions.iter().copied())
        .collect();
    let grants: Vec<&str> = part.data.iter().map(|grant| grant.as_str()).collect();
    let or_dash = |words: &[&str]| match words.is_empty() {
        true => "-".to_owned(),
        false => words.join(", "),
    };
    let mut row = vec![
        part.position.to_string(),
        plugin.mode.to_string(),
        shown(&plugin.name),
        shown(&plugin.kind),
        plugin.priority.to_string(),
        or_dash(&may),
        timeout(part.timeout_ms),
        part.on_error.to_string(),
        sees.join(", "),
        or_dash(&grants),
    ];
    if grouped {
        row.push(plugin.group.as_deref().map_or("-".to_owned(), shown));
    }
    row
}

fn skipped_lines(plugin: &PluginExplanation, reason: &SkipReason) -> String {
    let mut out = format!("  {}: ", shown(&plugin.name));
    match reason {
        SkipReason::Disabled { listens } => {
            out += "mode disabled, it is not loaded";
            if !listens {
                out += "; it would not listen to this hook either";
            }
            out += &of_group(plugin);
        }
        SkipReason::LeftOut { problem } => {
            let _ = write!(out, "left out, since it does not load: {}", shown(problem));
        }
        SkipReason::NotListening { hooks, nearest } => {
            let _ = write!(out, "listens to {}", listed(hooks));
            if let Some(near) = nearest {
                let _ = write!(out, "; is `{}` the hook that is meant?", shown(near));
            }
        }
        SkipReason::SwitchedOff => out += "switched off by on_error: disable after a fault",
        SkipReason::Conditions { alternatives } => {
            out += "none of its conditions holds";
            out += &of_group(plugin);
            // Alternatives of a group times those of an entry often fail for the same field.
            let mut lines: Vec<String> = Vec::new();
            for line in alternatives.iter().map(mismatch_line) {
                if !lines.contains(&line) {
                    lines.push(line);
                }
            }
            for line in lines.iter().take(LISTED_ALTERNATIVES) {
                let _ = write!(out, "\n    {line}");
            }
            if let more @ 1.. = lines.len().saturating_sub(LISTED_ALTERNATIVES) {
                let _ = write!(out, "\n    and {more} more, see --format json");
            }
        }
    }
    out + "\n"
}

/// Where settings may come from that the entry does not show.
fn of_group(plugin: &PluginExplanation) -> String {
    let group = plugin.group.as_deref();
    group.map_or_else(String::new, |group| format!(" (group {})", shown(group)))
}

fn mismatch_line(mismatch: &Mismatch) -> String {
    let found = mismatch
        .found
        .as_deref()
        .map_or("nothing".to_owned(), shown);
    let one_of = match mismatch.expected.len() {
        1 => "",
        _ => "one of ",
    };
    let (field, expected) = (mismatch.field, listed(&mismatch.expected));
    format!("{field}: wants {one_of}{expected}, found {found}")
}

/// A list of names that stays one line.
fn listed(names: &[String]) -> String {
    let mut words: Vec<String> = names
        .iter()
        .take(LISTED_NAMES)
        .map(|name| shown(name))
        .collect();
    match names.len().saturating_sub(LISTED_NAMES) {
        0 => {}
        more => words.push(format!("{more} more")),
    }
    words.join(", ")
}
