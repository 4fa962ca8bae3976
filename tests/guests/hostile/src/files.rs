//! Words that try to leave a granted folder, or to do in it what was not granted. Each marks `done` or `error`:
//!
//! - `open-raw`: opens `/args/path` below the first granted folder as it is written; the libc's own look at it is left out
//! - `hard-link`, `rename`: from `/args/path` to `/args/to`
//! - `symlink`: makes `/args/to` point at `/args/path`
//! - `remove`, `make-folder`, `list`: `/args/path`
//! - `open-files`: opens `/args/path` again and again, and keeps what it opened

use std::ffi::{CString, c_char, c_int};
use std::fs;
use std::io::Error;

use serde_json::json;

use crate::bindings::hookgate::plugin::call::{Context, Document};
use crate::bindings::hookgate::plugin::types::{Failure, Verdict};
use crate::outside::argument;
use crate::{Answer, annotate};

unsafe extern "C" {
    fn __wasilibc_nocwd_openat_nomode(folder: c_int, path: *const c_char, flags: c_int) -> c_int;
    fn close(file: c_int) -> c_int;
    fn symlink(target: *const c_char, link: *const c_char) -> c_int;
}

/// The first file descriptor after the three of stdin, stdout and stderr: the first granted folder.
const FIRST_FOLDER: c_int = 3;
/// `O_RDONLY` of wasi-libc.
const READ_ONLY: c_int = 0x0400_0000;

pub fn answer(word: &str, payload: &Document, ctx: &Context) -> Answer {
    let path = || argument(payload, "/args/path");
    let to = || argument(payload, "/args/to");
    Some(match word {
        "open-raw" => path().and_then(|path| done(ctx, open_raw(&path))),
        "hard-link" => two(path(), to()).and_then(|(from, to)| done(ctx, fs::hard_link(from, to))),
        "rename" => two(path(), to()).and_then(|(from, to)| done(ctx, fs::rename(from, to))),
        "symlink" => two(path(), to()).and_then(|(from, to)| done(ctx, link(&from, &to))),
        "remove" => path().and_then(|path| done(ctx, fs::remove_file(path))),
        "make-folder" => path().and_then(|path| done(ctx, fs::create_dir(path))),
        "list" => path().and_then(|path| done(ctx, fs::read_dir(path).map(drop))),
        "open-files" => path().and_then(|path| open_files(&path)),
        _ => return None,
    })
}

fn two(
    from: Result<String, Failure>,
    to: Result<String, Failure>,
) -> Result<(String, String), Failure> {
    Ok((from?, to?))
}

fn text(text: &str) -> CString {
    CString::new(text).unwrap_or_default()
}

fn open_raw(path: &str) -> Result<(), Error> {
    // The libc asks for the granted folders when it is first given a path of its own.
    drop(fs::metadata("/"));
    let path = text(path);
    // SAFETY: both functions take a descriptor and a string that ends in a zero.
    unsafe {
        match __wasilibc_nocwd_openat_nomode(FIRST_FOLDER, path.as_ptr(), READ_ONLY) {
            -1 => Err(Error::last_os_error()),
            file => {
                close(file);
                Ok(())
            }
        }
    }
}

fn link(target: &str, at: &str) -> Result<(), Error> {
    let (target, at) = (text(target), text(at));
    // SAFETY: two strings that end in a zero.
    match unsafe { symlink(target.as_ptr(), at.as_ptr()) } {
        0 => Ok(()),
        _ => Err(Error::last_os_error()),
    }
}

fn open_files(path: &str) -> Result<Verdict, Failure> {
    let mut held = Vec::new();
    loop {
        let file = fs::File::open(path).map_err(|error| Failure::Failed(error.to_string()))?;
        held.push(file);
    }
}

fn done(ctx: &Context, outcome: Result<(), Error>) -> Result<Verdict, Failure> {
    match outcome {
        Ok(()) => annotate(ctx, "done", &json!(true)),
        Err(error) => annotate(ctx, "error", &json!(error.to_string())),
    }
}
