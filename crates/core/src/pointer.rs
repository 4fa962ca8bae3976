//! RFC 6901 pointers.

use std::borrow::Cow;
use std::fmt;

use crate::json::MAX_DEPTH;

/// A place in a document, as the unescaped reference tokens of an RFC 6901 pointer.
#[derive(Debug, Clone, PartialEq, Eq, Hash, Default, PartialOrd, Ord)]
pub struct Pointer {
    tokens: Vec<String>,
}

/// Tokens a pointer keeps. No document nests deeper than [`MAX_DEPTH`], so a longer pointer leads
/// nowhere anyway, and a text of slashes must not take 24 times its size.
const MAX_TOKENS: usize = MAX_DEPTH + 1;

/// A text that is not an RFC 6901 pointer.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error(
    "not a JSON pointer: {text:?} (it is empty or starts with `/`; `~` is written `~0`, `/` is written `~1`)"
)]
pub struct PointerError {
    text: String,
}

impl Pointer {
    /// The whole document.
    #[must_use]
    pub fn root() -> Self {
        Self::default()
    }

    /// Reads the text form. Tokens below the deepest place a document can have are checked and dropped.
    pub fn parse(text: &str) -> Result<Self, PointerError> {
        let error = || PointerError {
            text: text.to_owned(),
        };
        if text.is_empty() {
            return Ok(Self::root());
        }
        let rest = text.strip_prefix('/').ok_or_else(error)?;
        let mut tokens = Vec::new();
        for token in rest.split('/') {
            let token = unescape(token).ok_or_else(error)?;
            if tokens.len() < MAX_TOKENS {
                tokens.push(token.into_owned());
            }
        }
        Ok(Self { tokens })
    }

    /// The reference tokens, unescaped; empty for the whole document.
    #[must_use]
    pub fn tokens(&self) -> &[String] {
        &self.tokens
    }

    /// Whether this is `first` or lies below a top-level member named so.
    #[must_use]
    pub fn starts_with(&self, first: &str) -> bool {
        self.tokens.first().is_some_and(|token| token == first)
    }

    /// Bytes it holds on the heap.
    pub(crate) fn heap_bytes(&self) -> usize {
        self.tokens
            .iter()
            .map(|token| token.len() + size_of::<String>())
            .sum()
    }

    pub(crate) fn push(&mut self, token: impl Into<String>) {
        self.tokens.push(token.into());
    }
}

fn unescape(token: &str) -> Option<Cow<'_, str>> {
    if !token.contains('~') {
        return Some(Cow::Borrowed(token));
    }
    let mut value = String::with_capacity(token.len());
    let mut rest = token.chars();
    while let Some(character) = rest.next() {
        match character {
            '~' => match rest.next()? {
                '0' => value.push('~'),
                '1' => value.push('/'),
                _ => return None,
            },
            other => value.push(other),
        }
    }
    Some(Cow::Owned(value))
}

/// Where an array index token points; none for anything but digits without a leading zero.
pub(crate) fn index(token: &str) -> Option<usize> {
    let canonical = token == "0"
        || (!token.starts_with('0') && token.bytes().all(|byte| byte.is_ascii_digit()));
    if canonical && !token.is_empty() {
        token.parse().ok()
    } else {
        None
    }
}

impl fmt::Display for Pointer {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        for token in &self.tokens {
            write!(f, "/{}", token.replace('~', "~0").replace('/', "~1"))?;
        }
        Ok(())
    }
}

impl std::str::FromStr for Pointer {
    type Err = PointerError;

    fn from_str(text: &str) -> Result<Self, PointerError> {
        Self::parse(text)
    }
}

impl serde::Serialize for Pointer {
    fn serialize<S: serde::Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        serializer.collect_str(self)
    }
}
