//! Words that reach for the world outside:
//!
//! - `sleep`: 600 s in a WASI call, which no check inside the guest can end
//! - `env`: marks `env` (sorted names) and `args`
//! - `read-file`: path in `/args/path`; marks `content` or `error`
//! - `write-file`: path in `/args/path`; marks `written` or `error`
//! - `exec`, `thread`: start a process, a thread; mark `started` or `error`
//! - `echo`: marks `nonce`, the string at `/args/nonce`
//! - `connect`: `host:port` in `/args/addr`; marks `connected` or `error`

use std::io::Error;
use std::time::Duration;

use serde_json::json;

use crate::bindings::hookgate::plugin::call::{Context, Document};
use crate::bindings::hookgate::plugin::types::{Failure, Verdict};
use crate::{Answer, annotate};

pub fn answer(word: &str, payload: &Document, ctx: &Context) -> Answer {
    Some(match word {
        "sleep" => sleep(),
        "env" => env(ctx),
        "read-file" => argument(payload, "/args/path")
            .and_then(|path| mark(ctx, "content", std::fs::read_to_string(path))),
        "write-file" => argument(payload, "/args/path").and_then(|path| {
            mark(
                ctx,
                "written",
                std::fs::write(path, "hostile").map(|()| true),
            )
        }),
        "exec" => mark(
            ctx,
            "started",
            std::process::Command::new("/bin/sh").spawn().map(|_| true),
        ),
        "thread" => mark(
            ctx,
            "started",
            std::thread::Builder::new().spawn(|| ()).map(|_| true),
        ),
        "echo" => {
            argument(payload, "/args/nonce").and_then(|nonce| annotate(ctx, "nonce", &json!(nonce)))
        }
        "connect" => argument(payload, "/args/addr").and_then(|addr| {
            mark(
                ctx,
                "connected",
                std::net::TcpStream::connect(addr).map(|_| true),
            )
        }),
        _ => return None,
    })
}

fn sleep() -> Result<Verdict, Failure> {
    std::thread::sleep(Duration::from_secs(600));
    Ok(Verdict::Allow)
}

fn env(ctx: &Context) -> Result<Verdict, Failure> {
    let mut names: Vec<String> = std::env::vars_os()
        .map(|(name, _)| name.to_string_lossy().into_owned())
        .collect();
    names.sort();
    annotate(ctx, "env", &json!(names))?;
    annotate(ctx, "args", &json!(std::env::args().collect::<Vec<_>>()))
}

pub fn argument(payload: &Document, at: &str) -> Result<String, Failure> {
    payload
        .get_string(at)
        .ok_or_else(|| Failure::Failed(format!("no string at {at}")))
}

fn mark<T: Into<serde_json::Value>>(
    ctx: &Context,
    key: &str,
    outcome: Result<T, Error>,
) -> Result<Verdict, Failure> {
    match outcome {
        Ok(value) => annotate(ctx, key, &value.into()),
        Err(error) => annotate(ctx, "error", &json!(error.to_string())),
    }
}
