//! `hookgate call`: one payload, one outcome.

use std::fmt::Write as _;
use std::fs::File;
use std::io::{self, Read, Write as _};
use std::path::PathBuf;
use std::sync::Arc;

use clap::Args;
use hookgate::{
    InvalidPayload, InvokeError, Json, Outcome, Payload, RecordSink, Request, Violation,
};
use serde::Serialize;
use serde_json::value::RawValue;

use super::Status;
use crate::arguments::{ConfigArgument, Format};
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
    /// The hook, such as tool_pre_invoke.
    hook: String,
    /// The payload: JSON, @FILE, or - for stdin.
    #[arg(default_value = "-")]
    payload: String,
    /// Who asks, as JSON: {"id", "user", "tenant_id", ...}.
    #[arg(long, value_name = "JSON", value_parser = parse_request)]
    request: Option<Request>,
    /// The request's id; goes over that of --request, as the options below do.
    #[arg(long, value_name = "ID")]
    request_id: Option<String>,
    /// The user.
    #[arg(long, value_name = "NAME")]
    user: Option<String>,
    /// The tenant.
    #[arg(long, value_name = "ID")]
    tenant: Option<String>,
    /// The server.
    #[arg(long, value_name = "ID")]
    server: Option<String>,
    /// Append the decision record to this file.
    #[arg(long, value_name = "FILE")]
    records: Option<PathBuf>,
}

fn parse_request(text: &str) -> Result<Request, serde_json::Error> {
    serde_json::from_str(text)
}

impl CallArguments {
    fn request(&self) -> Request {
        let mut request = self.request.clone().unwrap_or_default();
        request.id = self.request_id.clone().or(request.id);
        request.user = self.user.as_deref().map(Json::string).or(request.user);
        request.tenant_id = self.tenant.clone().or(request.tenant_id);
        request.server_id = self.server.clone().or(request.server_id);
        request
    }

    /// The payload's text, or why it cannot be one.
    fn payload(&self, max_bytes: u64) -> anyhow::Result<Result<Payload, InvalidPayload>> {
        let mut bytes = Vec::new();
        // One byte more than is allowed is enough to know.
        let limit = max_bytes + 1;
        let read = match (self.payload.as_str(), self.payload.strip_prefix('@')) {
            ("-", _) => {
                tracing::info!("the payload is read from stdin");
                io::stdin()
                    .take(limit)
                    .read_to_end(&mut bytes)
                    .map_err(|error| ("stdin", error))
            }
            (_, Some(file)) => File::open(file)
                .and_then(|opened| opened.take(limit).read_to_end(&mut bytes))
                .map_err(|error| (file, error)),
            (text, None) => return Ok(Ok(text.into())),
        };
        read.map_err(|(name, error)| failed(format_args!("cannot read {name}"), &error))?;
        let invalid = |problem: String| Ok(Err(InvalidPayload::new(&self.hook, problem)));
        if bytes.len() as u64 > max_bytes {
            return invalid(format!("has more than {max_bytes} bytes"));
        }
        match String::from_utf8(bytes) {
            Ok(text) => Ok(Ok(text.into())),
            Err(error) => invalid(format!(
                "is not UTF-8 at byte {}",
                error.utf8_error().valid_up_to() + 1
            )),
        }
    }
}

/// Asks about one payload and prints the outcome.
pub async fn call(
    arguments: CallArguments,
    format: Format,
    terminal: &Terminal,
) -> anyhow::Result<Status> {
    let config = setup::config(&arguments.config.config)?;
    // Stdin may be a terminal: a signal has to be heard while it is read.
    let max_bytes = config.max_payload_bytes;
    let (arguments, payload) = tokio::task::spawn_blocking(move || {
        let payload = arguments.payload(max_bytes);
        (arguments, payload)
    })
    .await?;
    let payload = payload?;
    let records = arguments
        .records
        .as_deref()
        .map(|file| Records::open(Some(file)));
    let records = records.transpose()?.map(Arc::new);
    let sink = records
        .clone()
        .map(|records| records as Arc<dyn RecordSink>);
    let engine = setup::engine(config, sink, terminal).await?;
    let result = match payload {
        Ok(payload) => {
            engine
                .invoke(&arguments.hook, payload, &arguments.request())
                .await
        }
        Err(invalid) => Err(invalid.into()),
    };
    engine.shutdown().await;
    if let Some(records) = records {
        records.finish()?;
    }
    let result = result.and_then(|outcome| printable(&arguments.hook, outcome));
    let text = match (&result, format) {
        (Ok(outcome), Format::Json) => serde_json::to_string(outcome)?,
        (Ok(outcome), Format::Text) => describe(outcome),
        (Err(error), Format::Json) => serde_json::to_string(&ErrorLine {
            error: ErrorBody::of(error),
        })?,
        (Err(error), Format::Text) => {
            terminal.say(&format!("error: {}: {error}", error.code()));
            return Ok(Status::Unread);
        }
    };
    writeln!(io::stdout(), "{}", text.trim_end())
        .map_err(|error| failed("cannot write to stdout", &error))?;
    Ok(if result.is_ok() {
        Status::Done
    } else {
        Status::Unread
    })
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
