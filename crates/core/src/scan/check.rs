//! The I-JSON check (RFC 7493): the one pass over a text that trusts nothing.

use std::borrow::Cow;
use std::collections::HashSet;
use std::ops::Range;

use super::children::Children;
use super::skips::{NOTED_BYTES, Skips};
use super::string::{hex4, inside, plain, shown, string_value};

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
pub(crate) fn check(text: &str, max_depth: usize) -> Result<(), NotIJson> {
    check_members(text, max_depth, &mut |_, _| {}).map(drop)
}

/// The same; tells of each member of an object at the root, by name and place of its value, and answers
/// where large containers end.
pub(crate) fn check_members(
    text: &str,
    max_depth: usize,
    member: &mut dyn FnMut(&str, Range<usize>),
) -> Result<Skips, NotIJson> {
    super::count(text.len());
    let mut checker = Checker {
        text,
        bytes: text.as_bytes(),
        at: 0,
        max_depth,
        ends: Vec::new(),
        member,
    };
    match checker.whole() {
        Ok(()) => Ok(Skips::new(checker.ends)),
        Err(problem) => Err(NotIJson {
            problem: checker.tell(problem),
            offset: checker.at,
        }),
    }
}

/// What is wrong where the checker stands; small, since every step may answer it.
#[derive(Clone, Copy)]
enum Problem {
    ByteOrderMark,
    Behind,
    NoValue,
    NotAValue,
    TooDeep,
    KeyNoString,
    KeyTwice,
    NoColon,
    ObjectOpen,
    ArrayOpen,
    Control,
    StringOpen,
    Hexadecimal,
    Surrogate,
    Escape,
    Digits,
}

struct Checker<'a> {
    text: &'a str,
    bytes: &'a [u8],
    at: usize,
    max_depth: usize,
    /// Large containers, by start and the offset behind.
    ends: Vec<(u32, u32)>,
    member: &'a mut dyn FnMut(&str, Range<usize>),
}

impl<'a> Checker<'a> {
    fn tell(&self, problem: Problem) -> String {
        match problem {
            Problem::ByteOrderMark => "byte order mark".into(),
            Problem::Behind => "text after the value".into(),
            Problem::NoValue => "the text ends where a value should be".into(),
            Problem::NotAValue => "not a JSON value".into(),
            Problem::TooDeep => format!("nesting deeper than {}", self.max_depth),
            Problem::KeyNoString => "an object's key must be a string".into(),
            Problem::KeyTwice => {
                let end = super::skip_string(self.bytes, self.at);
                let key = string_value(&self.text[self.at..end]);
                format!("duplicate key {:?}", shown(&key))
            }
            Problem::NoColon => "expected `:` after a key".into(),
            Problem::ObjectOpen => "expected `,` or `}` in an object".into(),
            Problem::ArrayOpen => "expected `,` or `]` in an array".into(),
            Problem::Control => "control character in a string".into(),
            Problem::StringOpen => "the text ends inside a string".into(),
            Problem::Hexadecimal => "`\\u` needs four hexadecimal digits".into(),
            Problem::Surrogate => "lone surrogate".into(),
            Problem::Escape => "unknown escape in a string".into(),
            Problem::Digits => "a number needs digits".into(),
        }
    }

    fn whole(&mut self) -> Result<(), Problem> {
        if self.text.starts_with('\u{feff}') {
            return Err(Problem::ByteOrderMark);
        }
        self.space();
        self.value(0)?;
        self.space();
        match self.peek() {
            None => Ok(()),
            Some(_) => Err(Problem::Behind),
        }
    }

    #[inline(always)]
    fn peek(&self) -> Option<u8> {
        self.bytes.get(self.at).copied()
    }

    #[inline(always)]
    fn space(&mut self) {
        while let Some(b' ' | b'\t' | b'\n' | b'\r') = self.peek() {
            self.at += 1;
        }
    }

    /// What comes next, white space aside: most texts have none, so the wished for is tried first.
    #[inline(always)]
    fn next(&mut self, wished: u8) -> bool {
        if self.peek() == Some(wished) {
            return true;
        }
        self.space();
        self.peek() == Some(wished)
    }

    // Inlined, so that only a container costs a call.
    #[inline(always)]
    fn value(&mut self, depth: usize) -> Result<(), Problem> {
        match self.peek() {
            Some(b'"') => self.string().map(drop),
            Some(b'-' | b'0'..=b'9') => self.number(),
            Some(b'{') => self.object(depth + 1),
            Some(b'[') => self.array(depth + 1),
            Some(b't') => self.word(b"true"),
            Some(b'f') => self.word(b"false"),
            Some(b'n') => self.word(b"null"),
            Some(_) => Err(Problem::NotAValue),
            None => Err(Problem::NoValue),
        }
    }

    #[inline(always)]
    fn enter(&mut self, depth: usize) -> Result<(), Problem> {
        if depth > self.max_depth {
            return Err(Problem::TooDeep);
        }
        self.at += 1;
        Ok(())
    }

    #[inline(never)]
    fn object(&mut self, depth: usize) -> Result<(), Problem> {
        let open = self.at;
        self.enter(depth)?;
        if self.next(b'}') {
            self.at += 1;
            return Ok(());
        }
        let mut keys = Keys::default();
        loop {
            if !self.next(b'"') {
                return Err(Problem::KeyNoString);
            }
            let start = self.at;
            let escaped = self.string()?;
            let end = self.at;
            if self.is_twice(open, start, escaped, &mut keys) {
                self.at = start;
                return Err(Problem::KeyTwice);
            }
            if !self.next(b':') {
                return Err(Problem::NoColon);
            }
            self.at += 1;
            self.space();
            let from = self.at;
            self.value(depth)?;
            if depth == 1 {
                let quoted = &self.text[start..end];
                let name = match escaped {
                    true => string_value(quoted),
                    false => inside(quoted).into(),
                };
                (self.member)(&name, from..self.at);
            }
            if self.next(b',') {
                self.at += 1;
            } else if self.peek() == Some(b'}') {
                self.at += 1;
                self.note(open);
                return Ok(());
            } else {
                return Err(Problem::ObjectOpen);
            }
        }
    }

    #[inline(never)]
    fn array(&mut self, depth: usize) -> Result<(), Problem> {
        let open = self.at;
        self.enter(depth)?;
        if self.next(b']') {
            self.at += 1;
            return Ok(());
        }
        loop {
            self.value(depth)?;
            if self.next(b',') {
                self.at += 1;
                self.space();
            } else if self.peek() == Some(b']') {
                self.at += 1;
                self.note(open);
                return Ok(());
            } else {
                return Err(Problem::ArrayOpen);
            }
        }
    }

    /// Notes where the container that starts at `open` ends, if it is large.
    #[inline(always)]
    fn note(&mut self, open: usize) {
        if self.at - open >= NOTED_BYTES
            && let (Ok(open), Ok(end)) = (u32::try_from(open), u32::try_from(self.at))
        {
            self.ends.push((open, end));
        }
    }

    /// Whether the key from `start` to here is in the object that starts at `open` already; notes it.
    #[inline(always)]
    fn is_twice(&self, open: usize, start: usize, escaped: bool, keys: &mut Keys<'a>) -> bool {
        let print = if escaped {
            let name = string_value(&self.text[start..self.at]);
            print(name.as_bytes(), 0, name.len())
        } else {
            print(self.bytes, start + 1, self.at - 1)
        };
        if keys.count < LINEAR_KEYS {
            let twice = keys.prints[..keys.count].contains(&print);
            keys.prints[keys.count] = print;
            keys.count += 1;
            return twice && self.is_among(open, start);
        }
        self.is_in_set(open, start, keys)
    }

    /// Compares the key at `start` with those before it, one by one.
    #[cold]
    fn is_among(&self, open: usize, start: usize) -> bool {
        let key = string_value(&self.text[start..self.at]);
        self.keys_before(open, start).any(|other| other == key)
    }

    #[inline(never)]
    fn is_in_set(&self, open: usize, start: usize, keys: &mut Keys<'a>) -> bool {
        let key = string_value(&self.text[start..self.at]);
        let seen = keys
            .seen
            .get_or_insert_with(|| self.keys_before(open, start).collect());
        !seen.insert(key)
    }

    /// The keys of the object that starts at `open`, up to `start`: that far it has passed the check.
    fn keys_before(&self, open: usize, start: usize) -> impl Iterator<Item = Cow<'a, str>> {
        let checked = &self.text[..start];
        Children::new(checked, open).map(|child| child.name(checked))
    }

    /// Reads a string; whether there are escapes in it.
    #[inline(always)]
    fn string(&mut self) -> Result<bool, Problem> {
        // Most of a payload is plain text: it is passed over without a look at the position.
        let start = self.at + 1;
        let end = start + plain(&self.bytes[start..]);
        if self.bytes.get(end) == Some(&b'"') {
            self.at = end + 1;
            return Ok(false);
        }
        self.at = end;
        self.rest_of_string()?;
        Ok(true)
    }

    /// Reads a string from where its plain start ended.
    #[inline(never)]
    fn rest_of_string(&mut self) -> Result<(), Problem> {
        loop {
            match self.peek() {
                Some(b'"') => break,
                Some(b'\\') => self.escape()?,
                Some(_) => return Err(Problem::Control),
                None => return Err(Problem::StringOpen),
            }
            self.at += plain(&self.bytes[self.at..]);
        }
        self.at += 1;
        Ok(())
    }

    fn escape(&mut self) -> Result<(), Problem> {
        match self.bytes.get(self.at + 1) {
            Some(b'"' | b'\\' | b'/' | b'b' | b'f' | b'n' | b'r' | b't') => self.at += 2,
            Some(b'u') => {
                let unit = hex4(self.bytes, self.at + 2).ok_or(Problem::Hexadecimal)?;
                let low = (self.bytes.get(self.at + 6..self.at + 8) == Some(b"\\u"))
                    .then(|| hex4(self.bytes, self.at + 8))
                    .flatten();
                match unit {
                    0xd800..=0xdbff if matches!(low, Some(0xdc00..=0xdfff)) => self.at += 12,
                    0xd800..=0xdfff => return Err(Problem::Surrogate),
                    _ => self.at += 6,
                }
            }
            _ => return Err(Problem::Escape),
        }
        Ok(())
    }

    fn word(&mut self, word: &[u8]) -> Result<(), Problem> {
        if self.bytes[self.at..].starts_with(word) {
            self.at += word.len();
            Ok(())
        } else {
            Err(Problem::NotAValue)
        }
    }

    #[inline(always)]
    fn number(&mut self) -> Result<(), Problem> {
        if self.peek() == Some(b'-') {
            self.at += 1;
        }
        match self.peek() {
            Some(b'0') => self.at += 1,
            Some(b'1'..=b'9') => self.digits()?,
            _ => return Err(Problem::Digits),
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

    #[inline(always)]
    fn digits(&mut self) -> Result<(), Problem> {
        let start = self.at;
        let mut at = start;
        while matches!(self.bytes.get(at), Some(b'0'..=b'9')) {
            at += 1;
        }
        self.at = at;
        if at == start {
            Err(Problem::Digits)
        } else {
            Ok(())
        }
    }
}

/// The keys of one object as far as it was read: prints of the first, and all of them once they are many.
#[derive(Default)]
struct Keys<'a> {
    prints: [u64; LINEAR_KEYS],
    count: usize,
    seen: Option<HashSet<Cow<'a, str>>>,
}

/// A number that two equal keys have in common; different keys seldom do, and never if they are short.
#[inline]
fn print(bytes: &[u8], start: usize, end: usize) -> u64 {
    const SHORT_BYTES: usize = 7;
    let length = end - start;
    let ends = |at: usize| {
        bytes
            .get(at..at + 8)
            .and_then(|word| word.try_into().ok())
            .map(u64::from_le_bytes)
    };
    let long = (length as u64) << 56;
    if length > SHORT_BYTES {
        let (head, tail) = (ends(start).unwrap_or(0), ends(end - 8).unwrap_or(0));
        return head ^ tail.rotate_left(29) ^ long;
    }
    let head = ends(start).unwrap_or_else(|| {
        let mut word = [0; 8];
        word[..length].copy_from_slice(&bytes[start..end]);
        u64::from_le_bytes(word)
    });
    (head & ((1 << (8 * length)) - 1)) | long
}
