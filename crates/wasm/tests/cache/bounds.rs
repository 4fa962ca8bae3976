//! The cache keeps its bound, however many fill it at once.

use std::collections::BTreeSet;
use std::fs;
use std::path::{Path, PathBuf};

use hookgate_vectors::guests;
use hookgate_wasm::{CodeCacheOptions, CodeOrigin, CompiledComponent, MAX_CODE_CACHE_BYTES};

use super::support::{Cache, counts, files, host};

/// A component whose digest is its own: a small one with a section that means nothing behind it.
fn component(root: &Path, number: u8) -> PathBuf {
    let mut bytes = fs::read(guests::component("tools-only")).expect("the guest is built");
    bytes.extend_from_slice(&[0, 3, 1, b'n', number]);
    let path = root.join(format!("{number}.wasm"));
    fs::write(&path, bytes).expect("a component");
    path
}

fn bytes(folder: &Path) -> u64 {
    let sizes = files(folder).into_iter();
    sizes
        .map(|file| fs::metadata(file).expect("a file").len())
        .sum()
}

async fn compiled(options: &CodeCacheOptions, file: &Path) -> CompiledComponent {
    let compiled = host(options.clone()).compile(file, None).await;
    compiled.unwrap_or_else(|error| panic!("{error}"))
}

/// Bytes of the file of one component.
async fn one_file(cache: &Cache) -> u64 {
    let options = CodeCacheOptions::new(cache.root().join("one"));
    let file = component(cache.root(), 0);
    assert_eq!(compiled(&options, &file).await.origin, CodeOrigin::Compiled);
    bytes(&options.folder)
}

#[test]
fn the_bound_is_one_gibibyte_unless_another_is_named() {
    assert_eq!(CodeCacheOptions::new("x").max_bytes, MAX_CODE_CACHE_BYTES);
    assert_eq!(MAX_CODE_CACHE_BYTES, 1_073_741_824);
}

#[tokio::test]
async fn what_was_used_longest_ago_is_compiled_again() {
    let cache = Cache::new();
    let each = one_file(&cache).await;
    let options = CodeCacheOptions::new(cache.folder()).max_bytes(2 * each);
    let [a, b, c] = [1, 2, 3].map(|number| component(cache.root(), number));
    let (made, found) = (CodeOrigin::Compiled, CodeOrigin::Cache);
    // a, b, a again, then c for which b has to go; then b for which a has to go.
    for (file, origin) in [
        (&a, made),
        (&b, made),
        (&a, found),
        (&c, made),
        (&a, found),
        (&c, found),
        (&b, made),
        (&c, found),
        (&b, found),
        (&a, made),
    ] {
        let compiled = compiled(&options, file).await;
        assert_eq!(compiled.origin, origin, "{}", file.display());
        assert!(compiled.not_kept.is_none(), "{compiled:?}");
        assert!(bytes(&cache.folder()) <= 2 * each);
    }
}

#[tokio::test]
async fn code_larger_than_the_whole_cache_is_not_kept() {
    let cache = Cache::new();
    let each = one_file(&cache).await;
    let options = CodeCacheOptions::new(cache.folder()).max_bytes(each - 1);
    let file = component(cache.root(), 1);
    for _ in 0..2 {
        let compiled = compiled(&options, &file).await;
        assert_eq!(compiled.origin, CodeOrigin::Compiled);
        let message = format!(
            "compiled code is larger than the code cache may be: {each} of {} bytes",
            each - 1
        );
        assert_eq!(compiled.not_kept.expect("a reason").message, message);
    }
    assert_eq!(bytes(&cache.folder()), 0);
}

/// Hosts on threads of their own are to each other what processes are; the command's tests do the same
/// with processes.
#[tokio::test]
async fn many_fill_and_prune_one_cache() {
    const HOSTS: usize = 8;
    const COMPONENTS: usize = 6;
    const ROUNDS: usize = 2;
    let cache = Cache::new();
    let each = one_file(&cache).await;
    let options = CodeCacheOptions::new(cache.folder()).max_bytes(2 * each + each / 2);
    let components: Vec<PathBuf> = (0..COMPONENTS as u8)
        .map(|number| component(cache.root(), number))
        .collect();
    let filled = |first: usize| {
        let runtime = tokio::runtime::Builder::new_current_thread().build();
        runtime.expect("a runtime").block_on(async {
            let mut digests = BTreeSet::new();
            for step in 0..COMPONENTS * ROUNDS {
                let file = &components[(first + step) % COMPONENTS];
                let compiled = compiled(&options, file).await;
                assert!(compiled.not_kept.is_none(), "{compiled:?}");
                digests.insert(compiled.digest);
            }
            assert_eq!(digests.len(), COMPONENTS);
        });
    };
    std::thread::scope(|scope| {
        for first in 0..HOSTS {
            let filled = &filled;
            scope.spawn(move || filled(first));
        }
    });
    let left = files(&cache.folder());
    assert!(bytes(&cache.folder()) <= options.max_bytes, "{left:?}");
    assert!(!left.is_empty());
    // Whatever is left is whole.
    let host = host(options);
    for file in &components {
        let digest = guests::digest(file);
        let digits = digest.trim_start_matches("sha256:");
        let names = left.iter().filter_map(|left| left.file_name()?.to_str());
        if names.into_iter().any(|name| name.starts_with(digits)) {
            let compiled = host.compile(file, None).await.expect("it compiles");
            assert_eq!(compiled.origin, CodeOrigin::Cache);
            assert_eq!(compiled.digest, digest);
        }
    }
    assert_eq!(counts(&host), (0, left.len() as u64));
}
