//! Words that leave something in the instance for the next call.
//!
//! - `count`: marks `count` with how often this instance has been asked to.
//! - `gather`: keeps as many bytes as `/args/bytes` says, and counts.

use std::sync::Mutex;
use std::sync::atomic::{AtomicU32, Ordering};

use crate::Answer;
use crate::bindings::hookgate::plugin::call::{Context, Document};

static ASKED: AtomicU32 = AtomicU32::new(0);
static GATHERED: Mutex<Vec<Vec<u8>>> = Mutex::new(Vec::new());

/// What the word led to; see the module.
pub fn answer(word: &str, payload: &Document, ctx: &Context) -> Answer {
    match word {
        "count" => {}
        "gather" => {
            let bytes = payload
                .get("/args/bytes")
                .and_then(|text| text.parse().ok());
            let gathered = vec![1; bytes.unwrap_or(0)];
            GATHERED
                .lock()
                .expect("nothing panics with it")
                .push(gathered);
        }
        _ => return None,
    }
    let asked = ASKED.fetch_add(1, Ordering::Relaxed) + 1;
    Some(crate::annotate(ctx, "count", &asked.into()))
}
