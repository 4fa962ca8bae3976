//! The `digest:` of an entry, which pins a component to its bytes.

use super::keys::Fields;
use super::read::word;
use super::report::{Findings, shown};

/// What stands before the digits: the only hash there is.
const ALGORITHM: &str = "sha256:";
/// Hexadecimal digits of a SHA-256.
const DIGITS: usize = 64;

/// Reads `digest:`; its digits are lower case from here on. `is_wasm` is unknown while the entry's kind is.
pub(super) fn read(
    entry: &Fields,
    is_wasm: Option<bool>,
    findings: &mut Findings,
) -> Option<String> {
    let (key, node) = entry.pair("digest")?;
    if is_wasm == Some(false) {
        let message = "digest: only a wasm plugin has it, and this is a Python class".into();
        let hint = "remove it, and pin versions in `requirements:`, such as `my-plugin==1.2.3`";
        findings.error(&key.at, message, Some(hint.into()));
        return None;
    }
    let text = word(node, "digest", findings)?;
    let digits = text.strip_prefix(ALGORITHM).unwrap_or_default();
    if digits.len() != DIGITS || !digits.bytes().all(|digit| digit.is_ascii_hexdigit()) {
        let message = format!("digest: not a SHA-256 of a component: {}", shown(text));
        let hint = format!(
            "write `digest: {ALGORITHM}` and the {DIGITS} hexadecimal digits that `hookgate check` and `sha256sum` print"
        );
        findings.error(&node.at, message, Some(hint));
        return None;
    }
    Some(text.to_ascii_lowercase())
}
