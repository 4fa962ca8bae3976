//! A file that is not what was written there is compiled again and replaced.

use std::fs;
use std::os::unix::fs::{MetadataExt as _, PermissionsExt as _, symlink};
use std::path::{Path, PathBuf};

use hookgate_vectors::guests;
use sha2::{Digest as _, Sha256};
use wasmtime::{Config, Engine};

use super::support::{CACHED, COMPILED, Cache};

/// Bytes behind the code, those of them that hold its length, and those behind that: a SHA-256.
const SEAL_BYTES: usize = 120;
const LENGTH_BYTES: usize = 8;
const CHECKSUM_BYTES: usize = 32;

/// Other code behind which the seal of a good file stands, as good as it can be made.
fn forged(code: &[u8], good: &[u8]) -> Vec<u8> {
    let seal = &good[good.len() - SEAL_BYTES..];
    let fields = &seal[..SEAL_BYTES - CHECKSUM_BYTES - LENGTH_BYTES];
    let mut file = [code, fields, &(code.len() as u64).to_le_bytes()].concat();
    let checksum = Sha256::digest(&file);
    file.extend_from_slice(&checksum);
    file
}

fn write(path: &Path, bytes: &[u8]) {
    fs::write(path, bytes).expect("written");
}

/// Damages the file, starts, and looks that the answers are right and the file is good again.
async fn mended(name: &str, damage: impl FnOnce(&Path, &[u8])) {
    let (cache, file) = Cache::filled().await;
    let good = fs::read(&file).expect("code");
    damage(&file, &good);
    assert_eq!(cache.start().await, COMPILED, "{name}");
    let metadata = fs::symlink_metadata(&file).expect("it is there");
    assert!(metadata.is_file(), "{name}");
    assert_eq!(metadata.mode() & 0o7777, 0o600, "{name}");
    assert!(fs::read(&file).expect("code") == good, "{name}");
    assert_eq!(cache.files(), [file], "{name}");
    assert_eq!(cache.start().await, CACHED, "{name}");
}

#[tokio::test]
async fn a_flipped_byte() {
    type At = fn(usize) -> usize;
    let places: [(&str, At); 6] = [
        ("the first", |_| 0),
        ("in the code", |length| length / 2),
        ("the last of the code", |length| length - SEAL_BYTES - 1),
        ("the format", |length| length - SEAL_BYTES),
        ("the component", |length| length - SEAL_BYTES + 20),
        ("the checksum", |length| length - 1),
    ];
    for (name, at) in places {
        mended(name, |file, good| {
            let mut bytes = good.to_vec();
            bytes[at(good.len())] ^= 0x10;
            write(file, &bytes);
        })
        .await;
    }
}

#[tokio::test]
async fn a_file_of_another_length() {
    mended("empty", |file, _| write(file, b"")).await;
    mended("half", |file, good| write(file, &good[..good.len() / 2])).await;
    mended("one byte less", |file, good| {
        write(file, &good[..good.len() - 1])
    })
    .await;
    mended("one byte more", |file, good| {
        write(file, &[good, b"x"].concat())
    })
    .await;
    mended("code alone", |file, good| {
        write(file, &good[..good.len() - SEAL_BYTES])
    })
    .await;
    mended("a seal alone", |file, good| {
        write(file, &good[good.len() - SEAL_BYTES..])
    })
    .await;
}

#[tokio::test]
async fn what_was_never_code() {
    mended("text", |file, _| write(file, &b"hello ".repeat(1_000))).await;
    mended("sealed text", |file, good| {
        write(file, &forged(&b"hello ".repeat(1_000), good));
    })
    .await;
    mended("sealed nothing", |file, good| {
        write(file, &forged(b"", good))
    })
    .await;
    // What the seal is made of can be made again, or the cases above would say nothing about wasmtime.
    let (cache, file) = Cache::filled().await;
    let good = fs::read(&file).expect("code");
    assert!(forged(&good[..good.len() - SEAL_BYTES], &good) == good);
    assert_eq!(cache.start().await, CACHED);
}

#[tokio::test]
async fn code_of_another_component() {
    let (other, file) = {
        let cache = Cache::new();
        let compiled = cache
            .host()
            .compile(&guests::component("tools-only"), None)
            .await;
        compiled.expect("it compiles");
        let file = cache.file();
        (cache, file)
    };
    let copied = fs::read(&file).expect("code");
    mended("its whole file", |ours, _| write(ours, &copied)).await;
    mended("its file itself, moved", |ours, _| {
        fs::rename(&file, ours).expect("moved");
    })
    .await;
    drop(other);
}

#[tokio::test]
async fn code_of_an_engine_with_other_settings() {
    let mut fuel = Config::new();
    fuel.consume_fuel(true);
    let component = fs::read(guests::component("deny-list-rust")).expect("the guest is built");
    for (name, config) in [("default", Config::new()), ("with fuel", fuel)] {
        let engine = Engine::new(&config).expect("wasmtime starts");
        let code = engine
            .precompile_component(&component)
            .expect("it compiles");
        mended(name, |file, good| write(file, &forged(&code, good))).await;
    }
}

/// What another engine keeps there is neither taken nor touched.
#[tokio::test]
async fn a_file_of_another_engine() {
    let (cache, file) = Cache::filled().await;
    let good = fs::read(&file).expect("code");
    let name = file
        .file_name()
        .and_then(|name| name.to_str())
        .expect("a name");
    let (component, _) = name.split_once('-').expect("two words");
    let other = file.with_file_name(format!("{component}-0123456789abcdef.cwasm"));
    fs::rename(&file, &other).expect("renamed");
    let before = fs::metadata(&other).expect("it is there");
    assert_eq!(cache.start().await, COMPILED);
    let after = fs::metadata(&other).expect("it is there");
    assert_eq!(
        (before.ino(), before.mtime_nsec()),
        (after.ino(), after.mtime_nsec())
    );
    assert!(fs::read(&file).expect("code") == good && fs::read(&other).expect("code") == good);
}

#[tokio::test]
async fn a_file_that_others_may_write_to() {
    for mode in [0o620, 0o602, 0o666, 0o777] {
        mended(&format!("{mode:o}"), |file, _| {
            fs::set_permissions(file, fs::Permissions::from_mode(mode)).expect("its mode");
        })
        .await;
    }
    // Whoever had it open for writing then has only the old one: it is another file now.
    let (cache, file) = Cache::filled().await;
    fs::set_permissions(&file, fs::Permissions::from_mode(0o666)).expect("its mode");
    let held = fs::File::options().write(true).open(&file).expect("opened");
    assert_eq!(cache.start().await, COMPILED);
    held.set_len(0).expect("emptied");
    assert_eq!(cache.start().await, CACHED);
}

/// A link is not followed, whatever it leads to, and what it leads to stays as it is.
#[tokio::test]
async fn a_link_in_the_place_of_the_file() {
    let elsewhere = Cache::new();
    let target = |name: &str| -> PathBuf { elsewhere.root().join(name) };
    mended("to a good copy", |file, good| {
        write(&target("copy"), good);
        fs::remove_file(file).expect("removed");
        symlink(target("copy"), file).expect("a link");
    })
    .await;
    mended("to nothing", |file, _| {
        fs::remove_file(file).expect("removed");
        symlink(target("nothing"), file).expect("a link");
    })
    .await;
    mended("to itself", |file, _| {
        fs::remove_file(file).expect("removed");
        symlink(file, file).expect("a link");
    })
    .await;
    assert!(!target("nothing").exists());
    let (cache, file) = Cache::filled().await;
    let good = fs::read(&file).expect("code");
    assert!(fs::read(target("copy")).expect("the copy") == good);
    // A second name of one file of ours is the file itself.
    fs::hard_link(&file, target("second-name")).expect("a link");
    assert_eq!(cache.start().await, CACHED);
}

#[tokio::test]
async fn a_pipe_in_the_place_of_the_file() {
    mended("a pipe", |file, _| {
        fs::remove_file(file).expect("removed");
        let mode = rustix::fs::Mode::from_raw_mode(0o600);
        let pipe = rustix::fs::FileType::Fifo;
        rustix::fs::mknodat(rustix::fs::CWD, file, pipe, mode, 0).expect("a pipe");
    })
    .await;
}
