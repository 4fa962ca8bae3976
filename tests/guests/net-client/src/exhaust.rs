//! Words that take more than there is:
//!
//! - `copy`: passes `mib` times the same MiB to the host in one call
//! - `hold`: opens `path` again and again and closes nothing, `count` times at most; tells how many are `held`

use std::fs::File;

use serde_json::json;

use crate::bindings::hookgate::plugin::call::{Matcher, Syntax};
use crate::{Answer, Order, outcome, refused};

pub fn answer(word: &str, order: &Order) -> Answer {
    let count = |name| usize::try_from(order.number(name).unwrap_or_default()).expect("32 bits");
    Some(match word {
        "copy" => {
            let patterns = vec!["x".repeat(1 << 20); count("mib")];
            Matcher::compile(&patterns, Syntax::Literal)
                .map(|_| json!({ "copied": true }))
                .map_err(refused)
        }
        "hold" => {
            let mut held = Vec::new();
            let opened = (0..count("count")).try_for_each(|_| {
                held.push(File::open(order.need("path"))?);
                Ok(())
            });
            Ok(outcome(opened.map(|()| json!({ "held": held.len() }))))
        }
        _ => return None,
    })
}
