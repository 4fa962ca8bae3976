//! Going past what nobody asked for, in text that has passed the check.

use super::block::{BLOCK_BYTES, Blocks};
use crate::interrupt::{INTERRUPT_BYTES, Interrupt, Stopped};

/// The first offset at or behind `at` that is not JSON white space.
#[inline]
pub(crate) fn skip_space(bytes: &[u8], mut at: usize) -> usize {
    while matches!(bytes.get(at), Some(b' ' | b'\t' | b'\n' | b'\r')) {
        at += 1;
    }
    at
}

/// The offset behind the string that starts at `at`.
pub(crate) fn skip_string(bytes: &[u8], at: usize) -> usize {
    skip_string_until(bytes, at, &mut Interrupt::never()).unwrap_or(bytes.len())
}

/// The offset behind the value that starts at `at`.
pub(crate) fn skip_value(bytes: &[u8], at: usize) -> usize {
    skip_value_until(bytes, at, &mut Interrupt::never()).unwrap_or(bytes.len())
}

/// [`skip_string`] that can be stopped.
pub(crate) fn skip_string_until(
    bytes: &[u8],
    start: usize,
    interrupt: &mut Interrupt<'_>,
) -> Result<usize, Stopped> {
    let mut at = start + 1;
    loop {
        let end = bytes.len().min(at + INTERRUPT_BYTES);
        let Some(window) = bytes.get(at..end) else {
            return Ok(bytes.len());
        };
        let found = super::string::quote_or_backslash(window);
        let read = found.map_or(window.len(), |found| found + 2);
        super::count(read);
        interrupt.spend(read)?;
        match found {
            Some(found) if window[found] == b'"' => return Ok(at + found + 1),
            Some(found) => at += found + 2,
            None if end == bytes.len() => return Ok(end),
            None => at = end,
        }
    }
}

/// [`skip_value`] that can be stopped.
pub(crate) fn skip_value_until(
    bytes: &[u8],
    at: usize,
    interrupt: &mut Interrupt<'_>,
) -> Result<usize, Stopped> {
    match bytes.get(at) {
        Some(b'"') => skip_string_until(bytes, at, interrupt),
        Some(b'{' | b'[') => skip_container(bytes, at, interrupt),
        Some(_) => skip_word(bytes, at, interrupt),
        None => Ok(at),
    }
}

/// The offset behind a number or a word of the grammar. A number may be as long as a payload.
fn skip_word(bytes: &[u8], at: usize, interrupt: &mut Interrupt<'_>) -> Result<usize, Stopped> {
    let mut end = at;
    for window in bytes[at..].chunks(INTERRUPT_BYTES) {
        let length = window
            .iter()
            .position(|byte| matches!(byte, b',' | b'}' | b']' | b' ' | b'\t' | b'\n' | b'\r'));
        end += length.unwrap_or(window.len());
        super::count(length.unwrap_or(window.len()));
        interrupt.spend(length.unwrap_or(window.len()))?;
        if length.is_some() {
            break;
        }
    }
    Ok(end)
}

fn skip_container(
    bytes: &[u8],
    at: usize,
    interrupt: &mut Interrupt<'_>,
) -> Result<usize, Stopped> {
    let mut depth = 0u32;
    for block in Blocks::new(bytes, at) {
        interrupt.spend(BLOCK_BYTES)?;
        let (open, mut close) = (block.open(), block.close());
        let closes = close.count_ones();
        if closes < depth {
            depth = depth + open.count_ones() - closes;
        } else {
            // It may end here: each closing bracket is counted with those that open before it.
            let mut counted = 0;
            while close != 0 {
                let bit = close.trailing_zeros();
                let before = open & ((1 << bit) - 1);
                depth = (depth + before.count_ones() - counted).saturating_sub(1);
                counted = before.count_ones();
                if depth == 0 {
                    return Ok(bytes.len().min(block.at + bit as usize + 1));
                }
                close &= close - 1;
            }
            depth += open.count_ones() - counted;
        }
    }
    Ok(bytes.len())
}

/// How deep the containers of a checked text nest; 0 for a scalar.
pub(crate) fn depth(text: &str) -> usize {
    let (mut depth, mut deepest) = (0usize, 0);
    for block in Blocks::new(text.as_bytes(), 0) {
        let open = block.open();
        let mut brackets = open | block.close();
        while brackets != 0 {
            let bit = brackets & brackets.wrapping_neg();
            if open & bit == 0 {
                depth = depth.saturating_sub(1);
            } else {
                depth += 1;
                deepest = deepest.max(depth);
            }
            brackets ^= bit;
        }
    }
    deepest
}
