//! Words about files:
//!
//! - `write`: writes `size` bytes to `path`, replacing it; `append`: adds them
//! - `make-long`: makes `path` `size` bytes long without writing any
//! - `read`: the `content` of `path`; `list`: the `names` in `path`, sorted
//! - `mkdir`, `remove`, `symlink` (`path` to `target`), `link` (`path` of `target`), `rename` (`from` `path` to `target`)
//! - `many`: makes empty files in `path` until one is refused, at most `count`; tells how many were `made`
//! - `keep`: writes to `path` and never closes it

use std::fs::{self, File, OpenOptions};
use std::io::{Error, ErrorKind, Result, Write as _};

use serde_json::{Value, json};
use wasip2::filesystem::preopens::get_directories;

use crate::{Answer, Order, outcome};

pub fn answer(word: &str, order: &Order) -> Answer {
    let path = order.text("path").unwrap_or_default();
    let target = || order.need("target");
    let size =
        || vec![b'x'; usize::try_from(order.number("size").unwrap_or_default()).expect("32 bits")];
    let done = |()| json!({ "done": true });
    let result = match word {
        "write" => fs::write(path, size()).map(done),
        "append" => OpenOptions::new()
            .append(true)
            .create(true)
            .open(path)
            .and_then(|mut file| file.write_all(&size()))
            .map(done),
        "make-long" => File::create(path)
            .and_then(|file| file.set_len(order.number("size").unwrap_or_default()))
            .map(done),
        "read" => fs::read_to_string(path).map(|content| json!({ "content": content })),
        "list" => list(&path),
        "mkdir" => fs::create_dir(path).map(done),
        "remove" => fs::remove_file(path).map(done),
        "symlink" => symlink(&target(), &path).map(done),
        "link" => fs::hard_link(target(), path).map(done),
        "rename" => fs::rename(path, target()).map(done),
        "many" => Ok(many(&path, order.number("count").unwrap_or_default())),
        "keep" => File::create(path)
            .and_then(|mut file| {
                file.write_all(&size())?;
                std::mem::forget(file);
                Ok(())
            })
            .map(done),
        _ => return None,
    };
    Some(Ok(outcome(result)))
}

/// The standard library has no way to make one that is stable.
fn symlink(target: &str, path: &str) -> Result<()> {
    let folders = get_directories();
    let (folder, rest) = folders
        .iter()
        .find_map(|(folder, at)| Some((folder, path.strip_prefix(at.as_str())?)))
        .ok_or(ErrorKind::NotFound)?;
    folder
        .symlink_at(target, rest.trim_start_matches('/'))
        .map_err(Error::other)
}

fn list(path: &str) -> Result<Value> {
    let mut names = Vec::new();
    for entry in fs::read_dir(path)? {
        names.push(entry?.file_name().to_string_lossy().into_owned());
    }
    names.sort();
    Ok(json!({ "names": names }))
}

fn many(path: &str, count: u64) -> Value {
    for made in 0..count {
        if let Err(error) = File::create(format!("{path}/{made}")) {
            return json!({ "made": made, "error": error.to_string(), "kind": format!("{:?}", error.kind()) });
        }
    }
    json!({ "made": count })
}
