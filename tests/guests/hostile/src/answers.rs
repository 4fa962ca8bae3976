//! Words that choose the answer:
//!
//! - `big-answer`: denies with 20 MB of details
//! - `bad-json`: denies with details that are not JSON
//! - `ask`: asks, risk high; `ask-edit` also sets `/args/asked`
//! - `unsupported`, `fail`: the two failures

use crate::Answer;
use crate::bindings::hookgate::plugin::call::Context;
use crate::bindings::hookgate::plugin::types::{Approval, Failure, Risk, Verdict, Violation};

pub fn answer(word: &str, ctx: &Context) -> Answer {
    Some(match word {
        "big-answer" => Ok(deny("BIG_ANSWER", big_details())),
        "bad-json" => Ok(deny("BAD_JSON", "{not json".to_owned())),
        "ask" => Ok(ask(r#"{"n":1}"#.to_owned())),
        "ask-edit" => ctx
            .edit_set("/args/asked", "true")
            .map(|()| ask(r#"{"n":1}"#.to_owned()))
            .map_err(crate::refused),
        "unsupported" => Err(Failure::Unsupported),
        "fail" => Err(Failure::Failed("told to fail".to_owned())),
        _ => return None,
    })
}

pub fn deny(code: &str, details: String) -> Verdict {
    Verdict::Deny(Violation {
        code: code.to_owned(),
        reason: "hostile".to_owned(),
        description: String::new(),
        details,
        mcp_error_code: None,
        http_status_code: None,
        http_headers: Vec::new(),
    })
}

pub fn ask(details: String) -> Verdict {
    Verdict::Ask(Approval {
        reason: "needs a person".to_owned(),
        risk: Risk::High,
        details,
    })
}

/// Built in place and at its exact size: the host shall meet its limit before the guest meets its own.
fn big_details() -> String {
    const FILL_BYTES: usize = 20_000_000;
    let (head, tail) = (r#"{"big":""#, r#""}"#);
    let mut details = String::with_capacity(head.len() + FILL_BYTES + tail.len());
    details.push_str(head);
    details.extend(std::iter::repeat_n('x', FILL_BYTES));
    details.push_str(tail);
    details
}
