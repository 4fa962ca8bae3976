//! The guests of tests: built by `guest-plugins/build.sh`, found under `target/guests`.

use std::path::{Path, PathBuf};
use std::process::Command;
use std::sync::Once;

/// The repository's root.
#[must_use]
pub fn root() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR"))
        .parent()
        .map(Path::to_owned)
        .unwrap_or_default()
}

/// Builds what is not up to date; the script itself takes a lock against other processes.
///
/// # Panics
///
/// If the script fails: its own words are in the panic's message.
pub fn build() {
    static BUILT: Once = Once::new();
    BUILT.call_once(|| {
        let script = root().join("guest-plugins/build.sh");
        let mut command = Command::new("bash");
        command.arg(script);
        // Cargo's own settings for this test must not reach the guests' builds.
        for (name, _) in std::env::vars_os() {
            let name = name.to_string_lossy();
            if name.starts_with("CARGO") && name != "CARGO_HOME" || name.starts_with("RUSTFLAGS") {
                command.env_remove(&*name);
            }
        }
        let output = command
            .output()
            .unwrap_or_else(|error| panic!("bash guest-plugins/build.sh: {error}"));
        assert!(
            output.status.success(),
            "guest-plugins/build.sh failed; run `make guests` to see it alone\n{}{}",
            String::from_utf8_lossy(&output.stdout),
            String::from_utf8_lossy(&output.stderr)
        );
    });
}

/// The file of a built guest, such as `deny-list-rust`.
#[must_use]
pub fn component(name: &str) -> PathBuf {
    build();
    root().join("target/guests").join(format!("{name}.wasm"))
}

/// The digest of a file, as `digest:` pins it.
///
/// # Panics
///
/// If it cannot be read.
#[must_use]
pub fn digest(file: &Path) -> String {
    use sha2::Digest as _;
    let bytes = std::fs::read(file).unwrap_or_else(|error| panic!("{}: {error}", file.display()));
    let digits = sha2::Sha256::digest(bytes);
    let digits: String = digits.iter().map(|byte| format!("{byte:02x}")).collect();
    format!("sha256:{digits}")
}

/// Where tests of the command keep compiled code, so that a guest is compiled once for all of them.
#[must_use]
pub fn code_cache() -> PathBuf {
    root().join("target/test-code-cache")
}

/// Where tests keep Python environments, so that one requirement set is installed once for all of them.
#[must_use]
pub fn environments() -> PathBuf {
    root().join("target/test-environments")
}
