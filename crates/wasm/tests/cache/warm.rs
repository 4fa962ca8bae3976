//! What is compiled once is not compiled again.

use std::fs;
use std::os::unix::fs::PermissionsExt as _;

use hookgate_vectors::guests;
use hookgate_wasm::{CodeOrigin, WasmHost};

use super::support::{CACHED, COMPILED, Cache, asked, counts, deny_list, files, load, start};

fn mode(path: &std::path::Path) -> u32 {
    fs::symlink_metadata(path)
        .expect("it is there")
        .permissions()
        .mode()
        & 0o7777
}

#[tokio::test]
async fn the_second_start_compiles_nothing() {
    let (cache, file) = Cache::filled().await;
    let written = fs::read(&file).expect("code");
    for _ in 0..3 {
        assert_eq!(cache.start().await, CACHED);
    }
    assert_eq!(cache.file(), file);
    assert_eq!(fs::read(&file).expect("code"), written);
}

#[tokio::test]
async fn folder_and_file_are_for_this_user_alone() {
    let (cache, file) = Cache::filled().await;
    assert_eq!(mode(&cache.folder()), 0o700);
    assert_eq!(mode(&file), 0o600);
    let name = file
        .file_name()
        .and_then(|name| name.to_str())
        .expect("a name");
    let digest = cache
        .host()
        .compile(&guests::component("deny-list-rust"), None)
        .await;
    let digest = digest.expect("it compiles").digest;
    let component = digest.strip_prefix("sha256:").expect("its algorithm");
    assert!(
        name.starts_with(&format!("{component}-")),
        "{name}, {digest}"
    );
    assert!(name.ends_with(".cwasm"), "{name}");
}

#[tokio::test]
async fn every_folder_above_is_made() {
    let cache = Cache::new();
    let folder = cache.root().join("a/b/c");
    let host = super::support::host(hookgate_wasm::CodeCacheOptions::new(&folder));
    assert_eq!(start(&host).await, COMPILED);
    assert_eq!(files(&folder).len(), 1);
}

/// Mapped, not copied: the kernel lists the file among what this process has mapped.
#[cfg(target_os = "linux")]
#[tokio::test]
async fn code_is_mapped_from_the_file() {
    let (cache, file) = Cache::filled().await;
    let host = cache.host();
    let mapped = || {
        let maps = fs::read_to_string("/proc/self/maps").expect("procfs");
        let of_file = maps
            .lines()
            .filter(|line| line.ends_with(file.to_str().expect("text")));
        of_file.filter(|line| line.contains("r-xp")).count()
    };
    assert_eq!(mapped(), 0);
    let engine = load(&host, vec![deny_list("deny-list")])
        .await
        .expect("it loads");
    asked(&engine).await;
    assert!(mapped() > 0);
}

#[tokio::test]
async fn equal_bytes_share_code_whether_it_is_compiled_or_cached() {
    let cache = Cache::new();
    for expected in [COMPILED, CACHED] {
        let host = cache.host();
        let specs = vec![deny_list("one"), deny_list("two")];
        let engine = load(&host, specs).await.expect("it loads");
        asked(&engine).await;
        assert_eq!(counts(&host), expected);
    }
}

#[tokio::test]
async fn without_a_cache_every_host_compiles() {
    for _ in 0..2 {
        let host = std::sync::Arc::new(WasmHost::new().expect("wasmtime starts"));
        assert_eq!(start(&host).await, COMPILED);
        let again = host.compile(&guests::component("tools-only"), None).await;
        let why = again.expect("it compiles").not_kept.expect("a reason");
        assert_eq!(why.message, "this host has no code cache");
    }
}

#[tokio::test]
async fn compiling_ahead_is_what_loading_finds() {
    let cache = Cache::new();
    let component = guests::component("deny-list-rust");
    let made = cache
        .host()
        .compile(&component, None)
        .await
        .expect("it compiles");
    assert_eq!(made.origin, CodeOrigin::Compiled);
    assert!(made.not_kept.is_none(), "{made:?}");
    assert_eq!(cache.start().await, CACHED);
    let found = cache
        .host()
        .compile(&component, None)
        .await
        .expect("it is there");
    assert_eq!(found.origin, CodeOrigin::Cache);
    assert_eq!(
        (found.digest, found.code_bytes),
        (made.digest, made.code_bytes)
    );
}

#[tokio::test]
async fn what_is_no_plugin_is_an_error_ahead_of_time_too() {
    let cache = Cache::new();
    let empty = cache.root().join("empty.wasm");
    fs::write(&empty, b"\0asm\x0d\0\x01\0").expect("a component");
    let text = cache.root().join("text.wasm");
    fs::write(&text, "hello").expect("a file");
    let cases = [
        (
            &empty,
            "the component exports no hook interface of hookgate:plugin@0.1.0",
        ),
        (&text, "is not a WebAssembly component"),
        (&cache.root().join("none.wasm"), "cannot read component "),
    ];
    for (file, expected) in cases {
        let error = cache
            .host()
            .compile(file, None)
            .await
            .expect_err("it is none");
        assert!(error.message.contains(expected), "{error}");
    }
}

#[tokio::test]
async fn a_component_that_is_not_the_pinned_one_is_not_even_compiled() {
    let cache = Cache::new();
    let host = cache.host();
    let pinned = |digest: &str| {
        let mut spec = deny_list("deny-list");
        spec.digest = Some(digest.to_owned());
        spec
    };
    let wrong = format!("sha256:{}", "0".repeat(64));
    let error = load(&host, vec![pinned(&wrong)])
        .await
        .err()
        .expect("it is another");
    assert_eq!(counts(&host), (0, 0));
    assert!(!cache.folder().exists());
    let file = guests::component("deny-list-rust");
    let digest = host.compile(&file, None).await.expect("it compiles").digest;
    let expected = format!(
        "component {} is not the pinned one: it is {digest}, `digest:` says {wrong}",
        file.display()
    );
    assert_eq!(error.message, expected);
    let hint =
        format!("put the pinned file back; or, if this one is to run, write `digest: {digest}`");
    assert_eq!(error.hint.as_deref(), Some(hint.as_str()));
    // Nor is code taken from the cache for it, nor shared with an entry that may have it.
    let both = load(&host, vec![deny_list("free"), pinned(&wrong)]).await;
    assert_eq!(both.err().expect("it is another").message, expected);
    let engine = load(&host, vec![pinned(&digest)])
        .await
        .expect("it is the pinned one");
    asked(&engine).await;
}
