//! Folders and files that are not ours to use: plugins are compiled and answer right, nothing there is
//! touched, and what is put right counts at the next start.

use std::fs;
use std::os::unix::fs::{MetadataExt as _, PermissionsExt as _, chown, symlink};
use std::path::{Path, PathBuf};

use hookgate_core::LoadError;
use hookgate_vectors::guests;
use hookgate_wasm::CodeCacheOptions;

use super::support::{CACHED, COMPILED, Cache, SOMEBODY_ELSE, host, is_root, start};

fn chmod(path: &Path, mode: u32) {
    fs::set_permissions(path, fs::Permissions::from_mode(mode)).expect("its mode");
}

/// Starts with this folder as the cache: the plugin is compiled, and its code is not kept for the reason
/// that is given.
async fn not_kept(folder: &Path) -> LoadError {
    let host = host(CodeCacheOptions::new(folder));
    assert_eq!(start(&host).await, COMPILED, "{}", folder.display());
    let compiled = host
        .compile(&guests::component("deny-list-rust"), None)
        .await;
    compiled.expect("it compiles").not_kept.expect("a reason")
}

#[tokio::test]
async fn a_folder_that_others_may_write_to() {
    let (cache, file) = Cache::filled().await;
    let good = fs::read(&file).expect("code");
    for mode in [0o720, 0o702, 0o777, 0o1777] {
        chmod(&cache.folder(), mode);
        let error = not_kept(&cache.folder()).await;
        let folder = cache.folder().display().to_string();
        let message = format!("others may write to the code cache: {folder}: mode {mode:04o}");
        assert_eq!(error.message, message);
        let hint =
            format!("run `chmod go-w {folder}`, or set HOOKGATE_CACHE_DIR to a private folder");
        assert_eq!(error.hint.as_deref(), Some(hint.as_str()));
        assert!(fs::read(&file).expect("code") == good);
        assert_eq!(cache.file(), file);
    }
    // Others may look.
    chmod(&cache.folder(), 0o755);
    assert_eq!(cache.start().await, CACHED);
}

#[tokio::test]
async fn a_folder_that_is_a_file() {
    let cache = Cache::new();
    fs::write(cache.folder(), "mine").expect("a file");
    let error = not_kept(&cache.folder()).await;
    let folder = cache.folder();
    let message = format!(
        "the code cache is a file, not a folder: {}",
        folder.display()
    );
    assert_eq!(error.message, message);
    assert_eq!(fs::read_to_string(&folder).expect("the file"), "mine");
    let error = not_kept(&folder.join("below")).await;
    assert!(
        error.message.starts_with("the code cache cannot be "),
        "{error}"
    );
    fs::remove_file(&folder).expect("removed");
    assert_eq!(cache.start().await, COMPILED);
    assert_eq!(cache.start().await, CACHED);
}

#[tokio::test]
async fn a_folder_that_is_a_link() {
    let (cache, file) = Cache::filled().await;
    let link = cache.root().join("link");
    symlink(cache.folder(), &link).expect("a link");
    let dangling = cache.root().join("dangling");
    symlink(cache.root().join("nowhere"), &dangling).expect("a link");
    for path in [
        link.clone(),
        cache.root().join("link/"),
        link.join("."),
        dangling,
    ] {
        let error = not_kept(&path).await;
        assert!(
            error
                .message
                .starts_with("the code cache is a link, not a folder: "),
            "{error}"
        );
    }
    assert!(!cache.root().join("nowhere").exists());
    assert_eq!(cache.files(), [file]);
    // A link above it is the operator's word for where the folder is.
    let above = cache.root().join("above");
    symlink(cache.root(), &above).expect("a link");
    assert_eq!(
        start(&host(CodeCacheOptions::new(above.join("code")))).await,
        CACHED
    );
}

#[tokio::test]
async fn a_folder_of_somebody_else() {
    let (cache, file) = Cache::filled().await;
    let folder = if is_root() {
        chown(cache.folder(), Some(SOMEBODY_ELSE), None).expect("given away");
        cache.folder()
    } else {
        // Root's, on every machine.
        PathBuf::from("/")
    };
    let error = not_kept(&folder).await;
    let owner = fs::metadata(&folder).expect("the folder").uid();
    let message = format!(
        "the code cache belongs to another user: {}: uid {owner}",
        folder.display()
    );
    assert_eq!(error.message, message);
    assert_eq!(cache.files(), [file]);
    if is_root() {
        chown(cache.folder(), Some(0), None).expect("taken back");
    }
    assert_eq!(cache.start().await, CACHED);
}

#[tokio::test]
async fn a_file_of_somebody_else_is_left_alone() {
    let (cache, file) = Cache::filled().await;
    let given = chown(&file, Some(SOMEBODY_ELSE), None);
    if !is_root() {
        // Only root can give a file away. How another owner is judged is held for every user by a test
        // beside the code: `what_belongs_to_another_user_is_foreign`.
        eprintln!("not root: a file of another user cannot be made, only that is held here");
        given.expect_err("nobody gives files away");
        assert_eq!(cache.start().await, CACHED);
        return;
    }
    given.expect("given away");
    // As good as it is, and as bad as it may be.
    for bytes in [None, Some("not code")] {
        if let Some(bytes) = bytes {
            fs::write(&file, bytes).expect("written");
        }
        let before = (
            fs::metadata(&file).expect("it"),
            fs::read(&file).expect("it"),
        );
        let error = not_kept(&cache.folder()).await;
        let path = file.display();
        let message = format!(
            "what stands in the code cache belongs to another user and is left alone: {path}: uid {SOMEBODY_ELSE}"
        );
        assert_eq!(error.message, message);
        assert_eq!(error.hint, Some(format!("run `rm -r {path}`")));
        let after = (
            fs::metadata(&file).expect("it"),
            fs::read(&file).expect("it"),
        );
        assert_eq!((before.0.ino(), before.1), (after.0.ino(), after.1));
        assert_eq!(after.0.uid(), SOMEBODY_ELSE);
    }
    // Nor is a link of theirs replaced.
    fs::remove_file(&file).expect("removed");
    symlink("/nowhere", &file).expect("a link");
    std::os::unix::fs::lchown(&file, Some(SOMEBODY_ELSE), None).expect("given away");
    let error = not_kept(&cache.folder()).await;
    assert!(error.message.contains("belongs to another user"), "{error}");
    assert_eq!(
        fs::read_link(&file).expect("the link"),
        Path::new("/nowhere")
    );
    fs::remove_file(&file).expect("removed");
    assert_eq!(cache.start().await, COMPILED);
    assert_eq!(cache.start().await, CACHED);
}

#[tokio::test]
async fn a_folder_in_the_place_of_the_file() {
    let (cache, file) = Cache::filled().await;
    fs::remove_file(&file).expect("removed");
    fs::create_dir_all(file.join("kept")).expect("a folder");
    let error = not_kept(&cache.folder()).await;
    let path = file.display();
    let message = format!("a folder stands where compiled code belongs: {path}");
    assert_eq!(error.message, message);
    assert_eq!(error.hint, Some(format!("run `rm -r {path}`")));
    assert!(file.join("kept").exists());
    assert_eq!(cache.files(), [file]);
}

/// What can be read is used, and what cannot be written is told.
#[tokio::test]
async fn a_folder_that_cannot_be_written() {
    let (cache, _) = Cache::filled().await;
    chmod(&cache.folder(), 0o500);
    assert_eq!(cache.start().await, CACHED);
    let mut folders = Vec::new();
    if !is_root() {
        fs::create_dir(cache.root().join("empty")).expect("a folder");
        chmod(&cache.root().join("empty"), 0o500);
        folders.push(cache.root().join("empty"));
    }
    if cfg!(target_os = "linux") {
        let error = not_kept(Path::new("/proc/nowhere/code")).await;
        let message = "the code cache cannot be made: /proc/nowhere/code: ";
        assert!(error.message.starts_with(message), "{error}");
        // Ours, for us alone, and not even root writes there.
        folders.push(PathBuf::from(format!("/proc/{}", std::process::id())));
    }
    assert!(
        !folders.is_empty(),
        "root of another system than Linux may write everywhere"
    );
    for folder in folders {
        let error = not_kept(&folder).await;
        let message = format!(
            "compiled code cannot be kept in the code cache: {}: ",
            folder.display()
        );
        assert!(error.message.starts_with(&message), "{error}");
        let hint =
            "set HOOKGATE_CACHE_DIR to a folder that this user can write to, with room in it";
        assert_eq!(error.hint.as_deref(), Some(hint));
    }
    chmod(&cache.folder(), 0o700);
}
