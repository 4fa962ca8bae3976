//! Words about secrets and logs:
//!
//! - `secret`: the `value` of `name`, or the `error`'s code
//! - `tell-secret`: writes it to the log, to stdout and to stderr, in each a line that says what comes
//! - `fail-secret`: fails with it in the message
//! - `print`: `text` to stdout, as it is; `print-err`: to stderr
//! - `log`: an entry with `text`

use serde_json::json;

use crate::bindings::hookgate::plugin::log::{Level, write};
use crate::bindings::hookgate::plugin::secrets::get;
use crate::bindings::hookgate::plugin::types::Failure;
use crate::{Answer, Order, outcome};

pub fn answer(word: &str, order: &Order) -> Answer {
    let secret = || get(&order.need("name")).map_err(|refusal| refusal.code);
    let text = || order.text("text").unwrap_or_default();
    Some(match word {
        "secret" => Ok(match secret() {
            Ok(value) => json!({ "value": value }),
            Err(code) => json!({ "error": code }),
        }),
        "tell-secret" => secret().map_err(Failure::Failed).map(|value| {
            write(
                Level::Warn,
                &format!("log entry: {value}"),
                &json!({ "token": value }).to_string(),
            );
            println!("printed: {value}");
            eprintln!("complained: {value}");
            json!({ "told": true })
        }),
        "fail-secret" => secret()
            .and_then(|value| Err(format!("cannot use {value}")))
            .map_err(Failure::Failed),
        "print" => Ok(print(std::io::stdout(), &text())),
        "print-err" => Ok(print(std::io::stderr(), &text())),
        "log" => {
            write(Level::Info, &text(), "{}");
            Ok(json!({}))
        }
        _ => return None,
    })
}

/// Without the standard library's own wait for the end of a line.
fn print(mut to: impl std::io::Write, text: &str) -> serde_json::Value {
    let printed = to.write_all(text.as_bytes()).and_then(|()| to.flush());
    outcome(printed.map(|()| json!({})))
}
