//! What one call could leave for the next:
//!
//! - `leave`: counts, grows and fills memory, opens `/args/path` and keeps it open, closes the granted folder itself
//! - `look`: marks `count`, `pages`, `open` (whether the file that `leave` opens is still there) and `folder` (whether
//!   `/args/path` can be read)

use std::ffi::c_int;
use std::fs::File;
use std::hint::black_box;
use std::os::fd::{AsRawFd, FromRawFd};
use std::sync::atomic::{AtomicI32, AtomicU32, Ordering};

use serde_json::json;

use crate::bindings::hookgate::plugin::call::{Context, Document};
use crate::bindings::hookgate::plugin::types::{Failure, Verdict};
use crate::outside::argument;
use crate::{Answer, annotate};

static COUNT: AtomicU32 = AtomicU32::new(0);
/// The descriptor that was kept open; `NONE` before.
static KEPT: AtomicI32 = AtomicI32::new(NONE);
const NONE: c_int = -1;
const FIRST_FOLDER: c_int = 3;

unsafe extern "C" {
    fn close(file: c_int) -> c_int;
}

pub fn answer(word: &str, payload: &Document, ctx: &Context) -> Answer {
    let path = || argument(payload, "/args/path");
    Some(match word {
        "leave" => path().and_then(|path| leave(&path)),
        "look" => path().and_then(|path| look(&path, ctx)),
        _ => return None,
    })
}

fn leave(path: &str) -> Result<Verdict, Failure> {
    COUNT.fetch_add(1, Ordering::Relaxed);
    std::mem::forget(black_box(vec![0xa5_u8; 8 << 20]));
    let file = File::open(path).map_err(|error| Failure::Failed(format!("{path}: {error}")))?;
    KEPT.store(file.as_raw_fd(), Ordering::Relaxed);
    std::mem::forget(file);
    // SAFETY: a descriptor of this instance, which nothing in it uses any more.
    match unsafe { close(FIRST_FOLDER) } {
        0 => Ok(Verdict::Allow),
        _ => Err(Failure::Failed(
            "the granted folder cannot be closed".to_owned(),
        )),
    }
}

fn look(path: &str, ctx: &Context) -> Result<Verdict, Failure> {
    annotate(ctx, "count", &json!(COUNT.load(Ordering::Relaxed)))?;
    annotate(ctx, "pages", &json!(core::arch::wasm32::memory_size(0)))?;
    // The first descriptor that is free is the one `leave` got, if nothing is left of it.
    let kept = KEPT.load(Ordering::Relaxed);
    annotate(ctx, "open", &json!(kept != NONE && is_open(kept)))?;
    annotate(ctx, "folder", &json!(std::fs::read(path).is_ok()))
}

fn is_open(file: c_int) -> bool {
    // SAFETY: it is only asked about, and not closed.
    let file = std::mem::ManuallyDrop::new(unsafe { File::from_raw_fd(file) });
    file.metadata().is_ok()
}
