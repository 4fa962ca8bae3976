//! Reading JSON text where it lies: the I-JSON check at the door, and the steps that look-ups and
//! edits walk with afterwards.
//!
//! Two kinds of function live here. [`check`] reads every byte and trusts nothing. The others walk
//! text that has passed it; on other text they stop early and answer "nothing there", never panic.

use std::borrow::Cow;
use std::collections::HashSet;
use std::ops::Range;

/// Why a text is not I-JSON (RFC 7493), and where.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("{problem} at byte {offset}")]
pub struct NotIJson {
    /// What is wrong.
    pub problem: String,
    /// Byte offset into the text.
    pub offset: usize,
}

/// Objects with more members than this look duplicates up in a set; below it a scan is cheaper.
const LINEAR_KEYS: usize = 16;

/// Checks that `text` is one I-JSON value nested at most `max_depth` containers deep.
pub fn check(text: &str, max_depth: usize) -> Result<(), NotIJson> {
    check_members(text, max_depth, &mut |_, _| {})
}

/// The same; tells of each member of an object at the root, by name and place of its value.
pub(crate) fn check_members(
    text: &str,
    max_depth: usize,
    member: &mut dyn FnMut(&str, Range<usize>),
) -> Result<(), NotIJson> {
    if text.starts_with('\u{feff}') {
        return Err(NotIJson {
            problem: "byte order mark".into(),
            offset: 0,
        });
    }
    let mut checker = Checker {
        text,
        bytes: text.as_bytes(),
        at: 0,
        max_depth,
        keys: Vec::with_capacity(LINEAR_KEYS),
        member,
    };
    checker.space();
    checker.value(0)?;
    checker.space();
    if checker.at < checker.bytes.len() {
        return Err(checker.error("text after the value"));
    }
    Ok(())
}

struct Checker<'a> {
    text: &'a str,
    bytes: &'a [u8],
    at: usize,
    max_depth: usize,
    /// Keys of all open objects, innermost last.
    keys: Vec<Cow<'a, str>>,
    member: &'a mut dyn FnMut(&str, Range<usize>),
}

impl<'a> Checker<'a> {
    fn error(&self, problem: impl Into<String>) -> NotIJson {
        NotIJson {
            problem: problem.into(),
            offset: self.at,
        }
    }

    fn space(&mut self) {
        self.at = skip_space(self.bytes, self.at);
    }

    fn peek(&self) -> Option<u8> {
        self.bytes.get(self.at).copied()
    }

    fn value(&mut self, depth: usize) -> Result<(), NotIJson> {
        match self.peek() {
            Some(b'{') => self.object(depth + 1),
            Some(b'[') => self.array(depth + 1),
            Some(b'"') => self.string().map(drop),
            Some(b't') => self.word("true"),
            Some(b'f') => self.word("false"),
            Some(b'n') => self.word("null"),
            Some(b'-' | b'0'..=b'9') => self.number(),
            Some(_) => Err(self.error("not a JSON value")),
            None => Err(self.error("the text ends where a value should be")),
        }
    }

    fn enter(&self, depth: usize) -> Result<(), NotIJson> {
        if depth > self.max_depth {
            return Err(self.error(format!("nesting deeper than {}", self.max_depth)));
        }
        Ok(())
    }

    fn object(&mut self, depth: usize) -> Result<(), NotIJson> {
        self.enter(depth)?;
        self.at += 1;
        let first = self.keys.len();
        let mut seen: Option<HashSet<Cow<'a, str>>> = None;
        self.space();
        if self.peek() == Some(b'}') {
            self.at += 1;
            return Ok(());
        }
        loop {
            if self.peek() != Some(b'"') {
                return Err(self.error("an object's key must be a string"));
            }
            let start = self.at;
            let key = self.key()?;
            let duplicate = if self.keys.len() - first < LINEAR_KEYS {
                self.keys[first..].contains(&key)
            } else {
                let seen = seen.get_or_insert_with(|| self.keys[first..].iter().cloned().collect());
                !seen.insert(key.clone())
            };
            if duplicate {
                return Err(NotIJson {
                    problem: format!("duplicate key {:?}", shown(&key)),
                    offset: start,
                });
            }
            self.keys.push(key);
            self.space();
            if self.peek() != Some(b':') {
                return Err(self.error("expected `:` after a key"));
            }
            self.at += 1;
            self.space();
            let from = self.at;
            self.value(depth)?;
            if depth == 1 {
                (self.member)(&self.keys[self.keys.len() - 1], from..self.at);
            }
            self.space();
            match self.peek() {
                Some(b',') => {
                    self.at += 1;
                    self.space();
                }
                Some(b'}') => {
                    self.at += 1;
                    self.keys.truncate(first);
                    return Ok(());
                }
                _ => return Err(self.error("expected `,` or `}` in an object")),
            }
        }
    }

    fn array(&mut self, depth: usize) -> Result<(), NotIJson> {
        self.enter(depth)?;
        self.at += 1;
        self.space();
        if self.peek() == Some(b']') {
            self.at += 1;
            return Ok(());
        }
        loop {
            self.value(depth)?;
            self.space();
            match self.peek() {
                Some(b',') => {
                    self.at += 1;
                    self.space();
                }
                Some(b']') => {
                    self.at += 1;
                    return Ok(());
                }
                _ => return Err(self.error("expected `,` or `]` in an array")),
            }
        }
    }

    /// Reads a key and answers its value.
    fn key(&mut self) -> Result<Cow<'a, str>, NotIJson> {
        let start = self.at + 1;
        let escaped = self.string()?;
        let raw = &self.text[start..self.at - 1];
        Ok(if escaped {
            Cow::Owned(unescape(raw))
        } else {
            Cow::Borrowed(raw)
        })
    }

    /// Reads a string; whether there are escapes in it.
    fn string(&mut self) -> Result<bool, NotIJson> {
        self.at += 1;
        let mut escaped = false;
        loop {
            // Most of a payload is plain text: it is passed over without a look at the position.
            let rest = self.bytes.get(self.at..).unwrap_or(&[]);
            self.at += plain(rest);
            match self.peek() {
                Some(b'"') => break,
                Some(b'\\') => {
                    escaped = true;
                    self.escape()?;
                }
                Some(_) => return Err(self.error("control character in a string")),
                None => return Err(self.error("the text ends inside a string")),
            }
        }
        self.at += 1;
        Ok(escaped)
    }

    fn escape(&mut self) -> Result<(), NotIJson> {
        match self.bytes.get(self.at + 1) {
            Some(b'"' | b'\\' | b'/' | b'b' | b'f' | b'n' | b'r' | b't') => self.at += 2,
            Some(b'u') => {
                let unit = hex4(self.bytes, self.at + 2)
                    .ok_or_else(|| self.error("`\\u` needs four hexadecimal digits"))?;
                let low = (self.bytes.get(self.at + 6..self.at + 8) == Some(b"\\u"))
                    .then(|| hex4(self.bytes, self.at + 8))
                    .flatten();
                match unit {
                    0xd800..=0xdbff if matches!(low, Some(0xdc00..=0xdfff)) => self.at += 12,
                    0xd800..=0xdfff => return Err(self.error("lone surrogate")),
                    _ => self.at += 6,
                }
            }
            _ => return Err(self.error("unknown escape in a string")),
        }
        Ok(())
    }

    fn word(&mut self, word: &str) -> Result<(), NotIJson> {
        if self.bytes[self.at..].starts_with(word.as_bytes()) {
            self.at += word.len();
            Ok(())
        } else {
            Err(self.error("not a JSON value"))
        }
    }

    fn number(&mut self) -> Result<(), NotIJson> {
        if self.peek() == Some(b'-') {
            self.at += 1;
        }
        match self.peek() {
            Some(b'0') => self.at += 1,
            Some(b'1'..=b'9') => self.digits()?,
            _ => return Err(self.error("a number needs digits")),
        }
        if self.peek() == Some(b'.') {
            self.at += 1;
            self.digits()?;
        }
        if matches!(self.peek(), Some(b'e' | b'E')) {
            self.at += 1;
            if matches!(self.peek(), Some(b'+' | b'-')) {
                self.at += 1;
            }
            self.digits()?;
        }
        Ok(())
    }

    fn digits(&mut self) -> Result<(), NotIJson> {
        let start = self.at;
        while matches!(self.peek(), Some(b'0'..=b'9')) {
            self.at += 1;
        }
        if self.at == start {
            Err(self.error("a number needs digits"))
        } else {
            Ok(())
        }
    }
}

/// The start of a key, for an error: keys are the caller's text and can be as long as a payload.
pub(crate) fn shown(key: &str) -> &str {
    const SHOWN_CHARS: usize = 64;
    key.char_indices()
        .nth(SHOWN_CHARS)
        .map_or(key, |(end, _)| &key[..end])
}

fn hex4(bytes: &[u8], at: usize) -> Option<u32> {
    let digits = bytes.get(at..at + 4)?;
    digits.iter().try_fold(0, |unit, digit| {
        Some(unit * 16 + (*digit as char).to_digit(16)?)
    })
}

/// The value of a string's inside, as it stands between the quotes.
pub(crate) fn unescape(raw: &str) -> String {
    let bytes = raw.as_bytes();
    let mut value = String::with_capacity(raw.len());
    let mut at = 0;
    while let Some(step) = raw[at..].find('\\') {
        value.push_str(&raw[at..at + step]);
        at += step;
        let (character, width) = match bytes.get(at + 1) {
            Some(b'b') => ('\u{8}', 2),
            Some(b'f') => ('\u{c}', 2),
            Some(b'n') => ('\n', 2),
            Some(b'r') => ('\r', 2),
            Some(b't') => ('\t', 2),
            Some(b'u') => {
                let unit = hex4(bytes, at + 2).unwrap_or(0xfffd);
                match (unit, hex4(bytes, at + 8)) {
                    (0xd800..=0xdbff, Some(low @ 0xdc00..=0xdfff)) => {
                        let code = 0x10000 + ((unit - 0xd800) << 10) + (low - 0xdc00);
                        (char::from_u32(code).unwrap_or('\u{fffd}'), 12)
                    }
                    _ => (char::from_u32(unit).unwrap_or('\u{fffd}'), 6),
                }
            }
            Some(other) if other.is_ascii() => (*other as char, 2),
            _ => return value,
        };
        value.push(character);
        at += width;
        if at > raw.len() {
            return value;
        }
    }
    value.push_str(&raw[at..]);
    value
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

/// The first offset at or behind `at` that is not JSON white space.
pub(crate) fn skip_space(bytes: &[u8], mut at: usize) -> usize {
    while matches!(bytes.get(at), Some(b' ' | b'\t' | b'\n' | b'\r')) {
        at += 1;
    }
    at
}

/// The offset behind the string that starts at `at`.
pub(crate) fn skip_string(bytes: &[u8], at: usize) -> usize {
    let mut at = at + 1;
    while let Some(byte) = bytes.get(at) {
        match byte {
            b'"' => return at + 1,
            b'\\' => at += 2,
            _ => at += 1,
        }
    }
    bytes.len()
}

/// The offset behind the value that starts at `at`.
pub(crate) fn skip_value(bytes: &[u8], at: usize) -> usize {
    match bytes.get(at) {
        Some(b'"') => skip_string(bytes, at),
        Some(b'{' | b'[') => {
            let mut open = 0usize;
            let mut at = at;
            while let Some(byte) = bytes.get(at) {
                match byte {
                    b'"' => {
                        at = skip_string(bytes, at);
                        continue;
                    }
                    b'{' | b'[' => open += 1,
                    b'}' | b']' => {
                        open -= 1;
                        if open == 0 {
                            return at + 1;
                        }
                    }
                    _ => {}
                }
                at += 1;
            }
            bytes.len()
        }
        _ => {
            let mut at = at;
            while !matches!(
                bytes.get(at),
                None | Some(b',' | b'}' | b']' | b' ' | b'\t' | b'\n' | b'\r')
            ) {
                at += 1;
            }
            at
        }
    }
}

/// How deep the containers of a checked text nest; 0 for a scalar.
pub(crate) fn depth(text: &str) -> usize {
    let bytes = text.as_bytes();
    let (mut at, mut open, mut deepest) = (0, 0usize, 0);
    while let Some(byte) = bytes.get(at) {
        match byte {
            b'"' => {
                at = skip_string(bytes, at);
                continue;
            }
            b'{' | b'[' => {
                open += 1;
                deepest = deepest.max(open);
            }
            b'}' | b']' => open = open.saturating_sub(1),
            _ => {}
        }
        at += 1;
    }
    deepest
}

/// One child of a container: its key, raw and with quotes (none in an array), and where its value lies.
pub(crate) struct Child {
    pub(crate) key: Option<Range<usize>>,
    pub(crate) value: Range<usize>,
}

impl Child {
    /// The key's value; an array's child has none.
    pub(crate) fn name<'a>(&self, text: &'a str) -> Cow<'a, str> {
        self.key
            .clone()
            .map_or(Cow::Borrowed(""), |key| string_value(&text[key]))
    }
}

/// The value of a JSON string given with its quotes.
pub(crate) fn string_value(quoted: &str) -> Cow<'_, str> {
    let raw = quoted.get(1..quoted.len().saturating_sub(1)).unwrap_or("");
    if raw.contains('\\') {
        Cow::Owned(unescape(raw))
    } else {
        Cow::Borrowed(raw)
    }
}

/// Walks the children of the container that starts at `at`; nothing for a scalar.
///
/// As an iterator it reads over each child's value. Who reads the values anyway walks with
/// [`Children::step`] and [`Children::resume`], which keeps a walk down a deep document linear.
pub(crate) struct Children<'a> {
    bytes: &'a [u8],
    at: usize,
    object: bool,
    ended: bool,
}

impl<'a> Children<'a> {
    pub(crate) fn new(text: &'a str, at: usize) -> Self {
        let bytes = text.as_bytes();
        match bytes.get(at) {
            Some(open @ (b'{' | b'[')) => Self {
                bytes,
                at: at + 1,
                object: *open == b'{',
                ended: false,
            },
            _ => Self {
                bytes,
                at: bytes.len(),
                object: false,
                ended: true,
            },
        }
    }

    /// The next child's key, and where its value starts; the walk goes on after [`Children::resume`].
    pub(crate) fn step(&mut self) -> Option<(Option<Range<usize>>, usize)> {
        if self.ended {
            return None;
        }
        self.at = skip_space(self.bytes, self.at);
        if self.bytes.get(self.at) == Some(&b',') {
            self.at = skip_space(self.bytes, self.at + 1);
        }
        if matches!(self.bytes.get(self.at), None | Some(b'}' | b']')) {
            self.at = self.bytes.len().min(self.at + 1);
            self.ended = true;
            return None;
        }
        let key = self.object.then(|| {
            let start = self.at;
            let end = skip_string(self.bytes, start);
            self.at = skip_space(self.bytes, end);
            self.at = skip_space(self.bytes, self.at + 1);
            start..end
        });
        Some((key, self.at))
    }

    /// Goes on behind the value that ends at `end`.
    pub(crate) fn resume(&mut self, end: usize) {
        // Only a text that has not passed the check has a value of no length.
        self.ended = end <= self.at;
        self.at = end;
    }

    /// The offset behind the container, once there are no more children.
    pub(crate) fn end(&self) -> usize {
        self.at
    }
}

impl Iterator for Children<'_> {
    type Item = Child;

    fn next(&mut self) -> Option<Child> {
        let (key, start) = self.step()?;
        let end = skip_value(self.bytes, start);
        self.resume(end);
        (end > start).then_some(Child {
            key,
            value: start..end,
        })
    }
}

/// How many bytes from the start are plain inside a string: no quote, backslash or control.
fn plain(bytes: &[u8]) -> usize {
    const ONES: u64 = u64::from_ne_bytes([1; 8]);
    const TOPS: u64 = u64::from_ne_bytes([0x80; 8]);
    // Exact for the lowest byte that is marked, which is the only one read.
    let zeros = |word: u64| word.wrapping_sub(ONES) & !word & TOPS;
    let (words, _) = bytes.as_chunks::<8>();
    let mut at = 0;
    for word in words {
        let word = u64::from_le_bytes(*word);
        let marks = zeros(word ^ (ONES * u64::from(b'"')))
            | zeros(word ^ (ONES * u64::from(b'\\')))
            | (word.wrapping_sub(ONES * 0x20) & !word & TOPS);
        if marks != 0 {
            return at + (marks.trailing_zeros() / 8) as usize;
        }
        at += 8;
    }
    let rest = &bytes[at..];
    at + rest
        .iter()
        .position(|byte| matches!(byte, b'"' | b'\\' | 0..=0x1f))
        .unwrap_or(rest.len())
}
