//! [`Document`]: a payload kept as text and read where it lies.

mod place;
mod search;

use std::borrow::Cow;
use std::fmt;
use std::ops::Range;
use std::sync::Arc;

use crate::interrupt::{Interrupt, Stopped, unstopped};
use crate::json::{Json, MAX_DEPTH};
use crate::matcher::{Matcher, Matches, Span};
use crate::pointer::{self, Pointer};
use crate::scan::{self, Children, Skips};
use crate::secret;
use place::Places;
pub(crate) use place::value_at;

/// A JSON value that has passed the check at the door, shared and never parsed into a tree.
///
/// Every look-up walks the text from the start: its cost is that of the bytes before the place
/// looked at, and it allocates only what it answers.
#[derive(Clone)]
pub struct Document {
    text: Arc<str>,
    /// Where large containers end; of a text made by an edit that is not known.
    skips: Skips,
}

/// The text without what holds tokens.
impl fmt::Debug for Document {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "Document({})", secret::shown(&self.text))
    }
}

impl PartialEq for Document {
    fn eq(&self, other: &Self) -> bool {
        self.text == other.text
    }
}

impl Eq for Document {}

/// Bytes the matches of one search may take. A payload of long keys over many short strings would
/// otherwise make the host hold many times its size in pointers.
pub const MAX_FOUND_BYTES: usize = 64 << 20;

/// What [`Document::find`] saw.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct Found {
    /// The matches, strings in document order, leftmost first inside one.
    pub hits: Vec<Hit>,
    /// There are more than the limit asked for.
    pub truncated: bool,
    /// The search ended early since the matches alone would take more than [`MAX_FOUND_BYTES`].
    pub over_budget: bool,
}

/// One match.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Hit {
    /// Index of the pattern in the list the matcher was compiled from.
    pub pattern: u32,
    /// Where it is.
    pub span: Span,
}

impl Document {
    /// Wraps a checked value.
    #[must_use]
    pub fn new(value: Json) -> Self {
        Self::trusted(value.to_shared())
    }

    /// INVARIANT: the text has passed [`scan::check`], or was made from such a text by an edit.
    pub(crate) fn trusted(text: Arc<str>) -> Self {
        Self {
            text,
            skips: Skips::default(),
        }
    }

    /// INVARIANT: the text has passed [`scan::check_members`], and that answered `skips`.
    pub(crate) fn checked(text: Arc<str>, skips: Skips) -> Self {
        Self { text, skips }
    }

    /// The whole text.
    #[must_use]
    pub fn text(&self) -> &Arc<str> {
        &self.text
    }

    /// Bytes of JSON text.
    #[must_use]
    pub fn size(&self) -> u64 {
        self.text.len() as u64
    }

    /// The text of the value at the pointer; none where nothing is there.
    #[must_use]
    pub fn get(&self, at: &Pointer) -> Option<&str> {
        unstopped(self.get_until(at, &mut Interrupt::never()))
    }

    /// [`Document::get`] that can be stopped.
    pub fn get_until(
        &self,
        at: &Pointer,
        interrupt: &mut Interrupt<'_>,
    ) -> Result<Option<&str>, Stopped> {
        let range = self.locate(at, interrupt)?;
        Ok(range.map(|range| &self.text[range]))
    }

    /// The string at the pointer, unescaped; none where there is no string.
    #[must_use]
    pub fn get_string(&self, at: &Pointer) -> Option<Cow<'_, str>> {
        unstopped(self.get_string_until(at, &mut Interrupt::never()))
    }

    /// [`Document::get_string`] that can be stopped.
    pub fn get_string_until(
        &self,
        at: &Pointer,
        interrupt: &mut Interrupt<'_>,
    ) -> Result<Option<Cow<'_, str>>, Stopped> {
        let bytes = self.text.as_bytes();
        match self.start_of(at, interrupt)? {
            Some(start) if bytes.get(start) == Some(&b'"') => {
                let end = scan::skip_string_until(bytes, start, interrupt)?;
                scan::string_value_until(&self.text[start..end], interrupt).map(Some)
            }
            _ => Ok(None),
        }
    }

    /// The strings of the array at the pointer, unescaped; other elements are left out.
    #[must_use]
    pub fn get_strings(&self, at: &Pointer) -> Vec<String> {
        unstopped(self.get_strings_until(at, &mut Interrupt::never()))
    }

    /// [`Document::get_strings`] that can be stopped.
    pub fn get_strings_until(
        &self,
        at: &Pointer,
        interrupt: &mut Interrupt<'_>,
    ) -> Result<Vec<String>, Stopped> {
        let bytes = self.text.as_bytes();
        let mut strings = Vec::new();
        let mut children = self.children_at(at, b'[', interrupt)?;
        while let Some((_, start)) = children.step_until(interrupt)? {
            let end = self.skip(start, interrupt)?;
            if bytes[start] == b'"' {
                let value = scan::string_value_until(&self.text[start..end], interrupt)?;
                strings.push(value.into_owned());
            }
            children.resume(end);
        }
        Ok(strings)
    }

    /// The keys of the object at the pointer, unescaped, in document order.
    #[must_use]
    pub fn keys(&self, at: &Pointer) -> Vec<String> {
        unstopped(self.keys_until(at, &mut Interrupt::never()))
    }

    /// [`Document::keys`] that can be stopped.
    pub fn keys_until(
        &self,
        at: &Pointer,
        interrupt: &mut Interrupt<'_>,
    ) -> Result<Vec<String>, Stopped> {
        let mut keys = Vec::new();
        let mut children = self.children_at(at, b'{', interrupt)?;
        while let Some((key, start)) = children.step_until(interrupt)? {
            let key = scan::string_value_until(&self.text[key.unwrap_or(0..0)], interrupt)?;
            keys.push(key.into_owned());
            let end = self.skip(start, interrupt)?;
            children.resume(end);
        }
        Ok(keys)
    }

    /// Where the patterns occur in the string values at or below `under`; keys are not searched.
    #[must_use]
    pub fn find(&self, patterns: &Matcher, under: &Pointer, limit: u32) -> Found {
        unstopped(self.find_until(patterns, under, limit, &mut Interrupt::never()))
    }

    /// [`Document::find`] that can be stopped.
    pub fn find_until(
        &self,
        patterns: &Matcher,
        under: &Pointer,
        limit: u32,
        interrupt: &mut Interrupt<'_>,
    ) -> Result<Found, Stopped> {
        let mut found = Found::default();
        let mut bytes = 0;
        self.each_match(patterns, under, interrupt, &mut |string, interrupt| {
            let mut here = None;
            while let Some((pattern, range)) = string.matches.next(interrupt)? {
                if found.hits.len() as u64 >= u64::from(limit) {
                    found.truncated = true;
                    return Ok(false);
                }
                let at = match &here {
                    Some(at) => Pointer::clone(at),
                    None => here.insert(string.pointer(interrupt)?).clone(),
                };
                bytes += size_of::<Hit>() + at.heap_bytes();
                if bytes > MAX_FOUND_BYTES {
                    found.over_budget = true;
                    return Ok(false);
                }
                let span = Span {
                    at,
                    start: range.start as u32,
                    end: range.end as u32,
                };
                found.hits.push(Hit { pattern, span });
            }
            Ok(true)
        })?;
        Ok(found)
    }

    /// Visits the string values at or below `under` that can hold a match, in document order, until
    /// `visit` answers false.
    pub(crate) fn each_match(
        &self,
        patterns: &Matcher,
        under: &Pointer,
        interrupt: &mut Interrupt<'_>,
        visit: &mut dyn FnMut(&mut Candidate<'_, '_>, &mut Interrupt<'_>) -> Result<bool, Stopped>,
    ) -> Result<(), Stopped> {
        let range = match under.tokens() {
            // All of it, so that its end need not be looked for.
            [] => Some(0..self.text.len()),
            _ => self.locate(under, interrupt)?,
        };
        let Some(range) = range else {
            return Ok(());
        };
        let mut places = Places::new(&self.text, under, &range);
        search::each_candidate(
            &self.text,
            range,
            patterns.detector(),
            interrupt,
            &mut |start, value, interrupt| {
                let mut candidate = Candidate {
                    matches: patterns.matches(value),
                    places: &mut places,
                    start,
                };
                visit(&mut candidate, interrupt)
            },
        )
    }

    /// Where the value at the pointer lies.
    pub(crate) fn locate(
        &self,
        at: &Pointer,
        interrupt: &mut Interrupt<'_>,
    ) -> Result<Option<Range<usize>>, Stopped> {
        let Some(start) = self.start_of(at, interrupt)? else {
            return Ok(None);
        };
        let end = self.skip(start, interrupt)?;
        Ok((end > start).then_some(start..end))
    }

    /// The first byte of what holds the value at the pointer, and where that value lies.
    pub(crate) fn place(
        &self,
        at: &Pointer,
        interrupt: &mut Interrupt<'_>,
    ) -> Result<(Option<u8>, Option<Range<usize>>), Stopped> {
        let Some((name, above)) = at.tokens().split_last() else {
            return Ok((None, None));
        };
        let Some(container) = self.start_below(above, interrupt)? else {
            return Ok((None, None));
        };
        let start = match above.len() < MAX_DEPTH {
            true => self.child(container, name, interrupt)?,
            false => None,
        };
        let range = match start {
            Some(start) => Some(start..self.skip(start, interrupt)?),
            None => None,
        };
        Ok((self.text.as_bytes().get(container).copied(), range))
    }

    /// Where the value at the pointer starts.
    fn start_of(
        &self,
        at: &Pointer,
        interrupt: &mut Interrupt<'_>,
    ) -> Result<Option<usize>, Stopped> {
        self.start_below(at.tokens(), interrupt)
    }

    fn start_below(
        &self,
        tokens: &[String],
        interrupt: &mut Interrupt<'_>,
    ) -> Result<Option<usize>, Stopped> {
        if tokens.len() > MAX_DEPTH {
            return Ok(None);
        }
        let mut start = scan::skip_space(self.text.as_bytes(), 0);
        for token in tokens {
            match self.child(start, token, interrupt)? {
                Some(child) => start = child,
                None => return Ok(None),
            }
        }
        Ok(Some(start))
    }

    /// Where the named child of the container at `start` begins.
    fn child(
        &self,
        start: usize,
        token: &str,
        interrupt: &mut Interrupt<'_>,
    ) -> Result<Option<usize>, Stopped> {
        let bytes = self.text.as_bytes();
        let index = match bytes.get(start) {
            Some(b'{') => None,
            Some(b'[') => match pointer::index(token) {
                Some(index) => Some(index),
                None => return Ok(None),
            },
            _ => return Ok(None),
        };
        let mut children = Children::new(&self.text, start);
        let mut count = 0;
        while let Some((key, at)) = children.step_until(interrupt)? {
            let here = match key {
                Some(key) => scan::string_is(&self.text[key], token),
                None => index == Some(count),
            };
            if here {
                return Ok(Some(at));
            }
            count += 1;
            children.resume(self.skip(at, interrupt)?);
        }
        Ok(None)
    }

    /// The object without the named member; its values are copied and not read, but for those whose end
    /// was never noted.
    pub(crate) fn without(&self, name: &str) -> Self {
        let root = scan::skip_space(self.text.as_bytes(), 0);
        if unstopped(self.child(root, name, &mut Interrupt::never())).is_none() {
            return self.clone();
        }
        let mut text = String::with_capacity(self.text.len());
        let mut ends = Vec::new();
        text.push('{');
        let mut children = Children::new(&self.text, root);
        while let Some((key, start)) = children.step() {
            let value = start..self.end_of(start);
            children.resume(value.end);
            let key = &self.text[key.unwrap_or(0..0)];
            if scan::string_is(key, name) {
                continue;
            }
            if text.len() > 1 {
                text.push(',');
            }
            text.push_str(key);
            text.push(':');
            self.skips.copy(&value, text.len(), &mut ends);
            text.push_str(&self.text[value]);
        }
        text.push('}');
        Self::checked(text.into(), Skips::new(ends))
    }

    /// The offset behind the value that starts at `start`.
    pub(crate) fn end_of(&self, start: usize) -> usize {
        unstopped(self.skip(start, &mut Interrupt::never()))
    }

    /// [`Document::end_of`] that can be stopped.
    fn skip(&self, start: usize, interrupt: &mut Interrupt<'_>) -> Result<usize, Stopped> {
        match self.skips.end(start) {
            Some(end) => Ok(end),
            None => scan::skip_value_until(self.text.as_bytes(), start, interrupt),
        }
    }

    fn children_at(
        &self,
        at: &Pointer,
        open: u8,
        interrupt: &mut Interrupt<'_>,
    ) -> Result<Children<'_>, Stopped> {
        let start = self.start_of(at, interrupt)?;
        let start = start.filter(|start| self.text.as_bytes().get(*start) == Some(&open));
        Ok(Children::new(&self.text, start.unwrap_or(self.text.len())))
    }
}

/// A string value that can hold a match.
pub(crate) struct Candidate<'a, 't> {
    /// The matches in it, to be asked for one by one.
    pub(crate) matches: Matches<'a>,
    places: &'a mut Places<'t>,
    start: usize,
}

impl Candidate<'_, '_> {
    /// Where it is.
    pub(crate) fn pointer(&mut self, interrupt: &mut Interrupt<'_>) -> Result<Pointer, Stopped> {
        self.places.pointer(self.start, interrupt)
    }
}
