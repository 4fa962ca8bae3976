//! One question on the command line: the hook, the payload, who asks.

use std::fs::File;
use std::io::{self, Read};

use clap::Args;
use hookgate::{InvalidPayload, Json, Payload, Request};

use crate::units::failed;

/// Arguments of the commands that are about one call.
#[derive(Debug, Args)]
pub struct QuestionArguments {
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
}

/// A question, read.
#[derive(Debug)]
pub struct Question {
    /// The hook.
    pub hook: String,
    /// The payload's text, or why it cannot be one.
    pub payload: Result<Payload, InvalidPayload>,
    /// Who asks.
    pub request: Request,
}

fn parse_request(text: &str) -> Result<Request, serde_json::Error> {
    serde_json::from_str(text)
}

impl QuestionArguments {
    /// Reads the payload, of which more than `max_bytes` is too much.
    pub async fn read(self, max_bytes: u64) -> anyhow::Result<Question> {
        // Stdin may be a terminal: a signal has to be heard while it is read.
        tokio::task::spawn_blocking(move || {
            let payload = self.payload(max_bytes)?;
            let request = self.request();
            Ok(Question {
                hook: self.hook,
                payload,
                request,
            })
        })
        .await?
    }

    fn request(&self) -> Request {
        let mut request = self.request.clone().unwrap_or_default();
        request.id = self.request_id.clone().or(request.id);
        request.user = self.user.as_deref().map(Json::string).or(request.user);
        request.tenant_id = self.tenant.clone().or(request.tenant_id);
        request.server_id = self.server.clone().or(request.server_id);
        request
    }

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
