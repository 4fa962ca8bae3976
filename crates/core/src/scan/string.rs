//! JSON strings: from how they are written to what they mean, and back.

use std::borrow::Cow;

use crate::interrupt::{INTERRUPT_BYTES, Interrupt, Stopped};

/// The start of a key, for an error: keys are the caller's text and can be as long as a payload.
pub(crate) fn shown(key: &str) -> &str {
    const SHOWN_CHARS: usize = 64;
    key.char_indices()
        .nth(SHOWN_CHARS)
        .map_or(key, |(end, _)| &key[..end])
}

pub(super) fn hex4(bytes: &[u8], at: usize) -> Option<u32> {
    let digits = bytes.get(at..at + 4)?;
    digits.iter().try_fold(0, |unit, digit| {
        Some(unit * 16 + (*digit as char).to_digit(16)?)
    })
}

/// The character that the escape at `at` stands for, and the bytes it takes; none if that is no escape.
fn escape(bytes: &[u8], at: usize) -> Option<(char, usize)> {
    Some(match bytes.get(at + 1)? {
        b'b' => ('\u{8}', 2),
        b'f' => ('\u{c}', 2),
        b'n' => ('\n', 2),
        b'r' => ('\r', 2),
        b't' => ('\t', 2),
        b'u' => {
            let unit = hex4(bytes, at + 2).unwrap_or(0xfffd);
            match (unit, hex4(bytes, at + 8)) {
                (0xd800..=0xdbff, Some(low @ 0xdc00..=0xdfff)) => {
                    let code = 0x10000 + ((unit - 0xd800) << 10) + (low - 0xdc00);
                    (char::from_u32(code).unwrap_or('\u{fffd}'), 12)
                }
                _ => (char::from_u32(unit).unwrap_or('\u{fffd}'), 6),
            }
        }
        other if other.is_ascii() => (*other as char, 2),
        _ => return None,
    })
}

/// The value of a string's inside, as it stands between the quotes.
pub(crate) fn unescape(raw: &str) -> String {
    let mut value = String::with_capacity(raw.len());
    // Nobody stops it.
    let _ = unescape_until(raw, &mut value, &mut Interrupt::never());
    value
}

/// [`unescape`] that can be stopped, and that appends to a buffer.
pub(crate) fn unescape_until(
    raw: &str,
    value: &mut String,
    interrupt: &mut Interrupt<'_>,
) -> Result<(), Stopped> {
    let mut at = 0;
    super::count(raw.len());
    while at < raw.len() {
        let end = raw.floor_char_boundary(at + INTERRUPT_BYTES);
        let window = &raw[at..end];
        let plain = memchr::memchr(b'\\', window.as_bytes());
        value.push_str(&window[..plain.unwrap_or(window.len())]);
        at += plain.unwrap_or(window.len());
        if plain.is_some() {
            let Some((character, width)) = escape(raw.as_bytes(), at) else {
                return Ok(());
            };
            value.push(character);
            at += width;
            // An escape costs what a few plain bytes do, and is as long.
            interrupt.spend(width)?;
        }
        interrupt.spend(plain.unwrap_or(window.len()))?;
        if !raw.is_char_boundary(at) {
            return Ok(());
        }
    }
    Ok(())
}

/// Whether the string given with its quotes means `value`; costs no more than `value` is long.
pub(crate) fn string_is(quoted: &str, value: &str) -> bool {
    let raw = inside(quoted);
    let bytes = raw.as_bytes();
    // No escape is shorter than what it stands for, nor longer than six times that.
    if raw.len() == value.len() && raw == value {
        return !raw.contains('\\');
    }
    if raw.len() <= value.len() || raw.len() > 6 * value.len() {
        return false;
    }
    let (mut at, mut rest) = (0, value);
    while at < raw.len() {
        let (character, width) = match bytes[at] {
            b'\\' => match escape(bytes, at) {
                Some(found) => found,
                None => return false,
            },
            _ => match raw.get(at..).and_then(|rest| rest.chars().next()) {
                Some(character) => (character, character.len_utf8()),
                None => return false,
            },
        };
        let Some(behind) = rest.strip_prefix(character) else {
            return false;
        };
        rest = behind;
        at += width;
    }
    rest.is_empty()
}

/// How far the first quote or backslash is. Most strings are short, and a call costs more than a few words do.
#[inline]
pub(crate) fn quote_or_backslash(bytes: &[u8]) -> Option<usize> {
    let (words, _) = bytes.as_chunks::<8>();
    let mut at = 0;
    for word in words.iter().take(SHORT_WORDS) {
        let word = u64::from_le_bytes(*word);
        let marks =
            zeros(word ^ (ONES * u64::from(b'"'))) | zeros(word ^ (ONES * u64::from(b'\\')));
        if marks != 0 {
            return Some(at + (marks.trailing_zeros() / 8) as usize);
        }
        at += 8;
    }
    memchr::memchr2(b'"', b'\\', &bytes[at..]).map(|found| at + found)
}

const ONES: u64 = u64::from_ne_bytes([1; 8]);
const TOPS: u64 = u64::from_ne_bytes([0x80; 8]);

/// Marks the bytes that are zero. Exact for the lowest one that is marked, which is the only one read.
#[inline]
fn zeros(word: u64) -> u64 {
    word.wrapping_sub(ONES) & !word & TOPS
}

/// Words of a string that are read one by one; longer ones are read in blocks.
const SHORT_WORDS: usize = 4;

/// How many bytes from the start are plain inside a string: no quote, backslash or control.
#[inline(always)]
pub(super) fn plain(bytes: &[u8]) -> usize {
    let (words, _) = bytes.as_chunks::<8>();
    let mut at = 0;
    for word in words.iter().take(SHORT_WORDS) {
        let marks = marks(*word);
        if marks != 0 {
            return at + (marks.trailing_zeros() / 8) as usize;
        }
        at += 8;
    }
    at + plain_long(&bytes[at..])
}

#[inline(never)]
fn plain_long(bytes: &[u8]) -> usize {
    const BLOCK_BYTES: usize = 64;
    let (blocks, _) = bytes.as_chunks::<BLOCK_BYTES>();
    let special = |byte: &u8| matches!(byte, b'"' | b'\\' | 0..=0x1f);
    // Without a way out, so that compilers make vector code of it.
    let is_plain =
        |block: &&[u8; BLOCK_BYTES]| !block.iter().fold(false, |any, byte| any | special(byte));
    let at = BLOCK_BYTES * blocks.iter().take_while(is_plain).count();
    let (words, _) = bytes[at..].as_chunks::<8>();
    for (index, word) in words.iter().enumerate() {
        let marks = marks(*word);
        if marks != 0 {
            return at + 8 * index + (marks.trailing_zeros() / 8) as usize;
        }
    }
    let at = at + 8 * words.len();
    let rest = &bytes[at..];
    at + rest.iter().position(special).unwrap_or(rest.len())
}

/// Marks the bytes that are not plain. Exact for the lowest one that is marked.
#[inline(always)]
fn marks(word: [u8; 8]) -> u64 {
    let word = u64::from_le_bytes(word);
    zeros(word ^ (ONES * u64::from(b'"')))
        | zeros(word ^ (ONES * u64::from(b'\\')))
        | (word.wrapping_sub(ONES * 0x20) & !word & TOPS)
}

/// Appends `value` as a JSON string, quotes included, escaping only what must be.
pub(crate) fn push_string(text: &mut String, value: &str) {
    text.push('"');
    let mut from = 0;
    for (at, byte) in value.bytes().enumerate() {
        let escape = match byte {
            b'"' => "\\\"",
            b'\\' => "\\\\",
            b'\n' => "\\n",
            b'\r' => "\\r",
            b'\t' => "\\t",
            0x8 => "\\b",
            0xc => "\\f",
            0..=0x1f => "",
            _ => continue,
        };
        text.push_str(&value[from..at]);
        if escape.is_empty() {
            text.push_str(&format!("\\u{byte:04x}"));
        } else {
            text.push_str(escape);
        }
        from = at + 1;
    }
    text.push_str(&value[from..]);
    text.push('"');
}

/// What is between a string's quotes.
pub(crate) fn inside(quoted: &str) -> &str {
    quoted.get(1..quoted.len().saturating_sub(1)).unwrap_or("")
}

/// The value of a JSON string given with its quotes.
pub(crate) fn string_value(quoted: &str) -> Cow<'_, str> {
    let raw = inside(quoted);
    super::count(raw.len());
    if memchr::memchr(b'\\', raw.as_bytes()).is_some() {
        Cow::Owned(unescape(raw))
    } else {
        Cow::Borrowed(raw)
    }
}

/// Whether there is an escape between a string's quotes.
pub(crate) fn has_escape(raw: &str, interrupt: &mut Interrupt<'_>) -> Result<bool, Stopped> {
    for window in raw.as_bytes().chunks(INTERRUPT_BYTES) {
        super::count(window.len());
        interrupt.spend(window.len())?;
        if memchr::memchr(b'\\', window).is_some() {
            return Ok(true);
        }
    }
    Ok(false)
}

/// [`string_value`] that can be stopped.
pub(crate) fn string_value_until<'a>(
    quoted: &'a str,
    interrupt: &mut Interrupt<'_>,
) -> Result<Cow<'a, str>, Stopped> {
    let raw = inside(quoted);
    if !has_escape(raw, interrupt)? {
        return Ok(Cow::Borrowed(raw));
    }
    let mut value = String::with_capacity(raw.len());
    unescape_until(raw, &mut value, interrupt)?;
    Ok(Cow::Owned(value))
}
