//! `hookgate call`: one payload, one outcome.

use std::fmt::Write as _;
use std::io::{self, Write as _};
use std::path::PathBuf;
use std::sync::Arc;

use clap::Args;
use hookgate::{InvalidPayload, InvokeError, Outcome, Payload, RecordSink, Violation};
use serde::Serialize;
use serde_json::value::RawValue;

use super::Status;
use crate::arguments::{ConfigArgument, Format, OfflineArgument};
use crate::question::{Question, QuestionArguments};
use crate::records::Records;
use crate::setup;
use crate::stream::Unanswered;
use crate::terminal::Terminal;
use crate::units::{failed, shown};

/// Arguments of `hookgate call`.
#[derive(Debug, Args)]
pub struct CallArguments {
    #[command(flatten)]
    config: ConfigArgument,
    #[command(flatten)]
    question: QuestionArguments,
    /// Append the decision record to this file.
    #[arg(long, value_name = "FILE")]
    records: Option<PathBuf>,
    #[command(flatten)]
    offline: OfflineArgument,
}

/// Asks about one payload and prints the outcome.
pub async fn call(
    arguments: CallArguments,
    format: Format,
    terminal: &Terminal,
) -> anyhow::Result<Status> {
    let config = arguments.config.read()?;
    let question = arguments.question.read(config.max_payload_bytes).await?;
    let records = arguments
        .records
        .as_deref()
        .map(|file| Records::open(Some(file)));
    let records = records.transpose()?.map(Arc::new);
    let sink = records
        .clone()
        .map(|records| records as Arc<dyn RecordSink>);
    let engine = setup::engine(config, sink, arguments.offline.offline, terminal).await?;
    let Question {
        hook,
        payload,
        request,
    } = question;
    let result = match payload {
        Ok(payload) => engine.invoke(&hook, payload, &request).await,
        Err(invalid) => Err(invalid.into()),
    };
    engine.shutdown().await;
    if let Some(records) = records {
        records.finish()?;
    }
    let outcome = match result.and_then(|outcome| printable(&hook, outcome)) {
        Ok(outcome) => outcome,
        Err(error) => return refuse(&error, format, terminal),
    };
    let text = match format {
        Format::Json => serde_json::to_string(&outcome)?,
        Format::Text => describe(&outcome),
    };
    print(text.trim_end())?;
    Ok(Status::Done)
}

/// Says why a call was not answered.
pub fn refuse(error: &InvokeError, format: Format, terminal: &Terminal) -> anyhow::Result<Status> {
    match format {
        Format::Json => print(&serde_json::to_string(&ErrorLine {
            error: ErrorBody::of(error),
        })?)?,
        Format::Text => terminal.say(&format!("error: {}: {error}", error.code())),
    }
    Ok(Status::Unread)
}

/// Writes a line to stdout.
pub fn print(line: &str) -> anyhow::Result<()> {
    writeln!(io::stdout(), "{line}").map_err(|error| failed("cannot write to stdout", &error))
}

/// A hook that nobody listens to passes any text through unchecked; what is no JSON cannot be printed as such.
fn printable(hook: &str, outcome: Outcome) -> Result<Outcome, InvokeError> {
    let payload = outcome.payload.as_ref().map_or("null", Payload::as_str);
    match serde_json::from_str::<&RawValue>(payload) {
        Ok(_) => Ok(outcome),
        Err(error) => Err(InvalidPayload::new(hook, format!("is not JSON: {error}")).into()),
    }
}

#[derive(Serialize)]
struct ErrorLine {
    error: ErrorBody,
}

/// An error as every command writes it.
#[derive(Serialize)]
pub struct ErrorBody {
    code: &'static str,
    message: String,
}

impl ErrorBody {
    fn of(error: &InvokeError) -> Self {
        Self {
            code: error.code(),
            message: error.to_string(),
        }
    }
}

impl From<Unanswered> for ErrorBody {
    fn from(unanswered: Unanswered) -> Self {
        Self {
            code: unanswered.code,
            message: unanswered.message,
        }
    }
}

/// The outcome for people, a line a fact.
pub fn describe(outcome: &Outcome) -> String {
    let mut out = format!("decision: {}\n", outcome.decision);
    let mut line = |label: &str, value: &str| {
        let _ = writeln!(out, "{label}: {}", shown(value));
    };
    if let Some(violation) = &outcome.violation {
        describe_violation(violation, &mut line);
    }
    for approval in &outcome.approvals {
        let risk = format!("{:?}", approval.risk).to_lowercase();
        line(
            "approval",
            &format!("{}: {} (risk: {risk})", approval.plugin, approval.reason),
        );
    }
    for suppressed in &outcome.suppressed {
        let code = suppressed
            .violation
            .as_ref()
            .map_or("", |violation| violation.code.as_str());
        line(
            "suppressed",
            &format!(
                "{} ({}): {} {code}",
                suppressed.plugin, suppressed.mode, suppressed.verdict
            ),
        );
    }
    for fault in &outcome.faults {
        line(
            "fault",
            &format!(
                "{}: {}: {} (on_error: {})",
                fault.plugin, fault.kind, fault.message, fault.on_error
            ),
        );
    }
    if let Some(payload) = &outcome.payload {
        line("modified", if outcome.modified { "yes" } else { "no" });
        line("payload", payload.as_str());
    }
    if let Some(record) = &outcome.record {
        line("record", record);
    }
    out
}

fn describe_violation(violation: &Violation, line: &mut impl FnMut(&str, &str)) {
    line("by", violation.plugin.as_deref().unwrap_or("hookgate"));
    line("code", &violation.code);
    line("reason", &violation.reason);
    if !violation.description.is_empty() {
        line("description", &violation.description);
    }
    if violation.details.as_str() != "{}" {
        line("details", violation.details.as_str());
    }
}
