//! `hookgate schema`: what an editor needs to complete and check a configuration.

use std::io::{self, Write as _};

use hookgate::config::json_schema;

use super::Status;
use crate::units::failed;

/// Prints the schema. It is JSON, whatever the format.
pub fn schema() -> anyhow::Result<Status> {
    let text = serde_json::to_string_pretty(&json_schema())? + "\n";
    io::stdout()
        .write_all(text.as_bytes())
        .map_err(|error| failed("cannot write to stdout", &error))?;
    Ok(Status::Done)
}
