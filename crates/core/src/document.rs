//! [`Document`]: a payload kept as text and read where it lies.

use std::borrow::Cow;
use std::ops::Range;
use std::sync::Arc;

use crate::json::{Json, MAX_DEPTH};
use crate::matcher::{Matcher, Span};
use crate::pointer::{self, Pointer};
use crate::scan::{self, Children};

/// A JSON value that has passed the check at the door, shared and never parsed into a tree.
///
/// Every look-up walks the text from the start: its cost is that of the bytes before the place
/// looked at, and it allocates only what it answers.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Document {
    text: Arc<str>,
}

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
        Self {
            text: value.to_shared(),
        }
    }

    /// INVARIANT: the text has passed [`scan::check`], or was made from such a text by an edit.
    pub(crate) fn trusted(text: Arc<str>) -> Self {
        Self { text }
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
        self.locate(at).map(|range| &self.text[range])
    }

    /// The string at the pointer, unescaped; none where there is no string.
    #[must_use]
    pub fn get_string(&self, at: &Pointer) -> Option<Cow<'_, str>> {
        self.get(at)
            .filter(|text| text.starts_with('"'))
            .map(scan::string_value)
    }

    /// The strings of the array at the pointer, unescaped; other elements are left out.
    #[must_use]
    pub fn get_strings(&self, at: &Pointer) -> Vec<String> {
        self.children_at(at, b'[')
            .map(|child| &self.text[child.value])
            .filter(|text| text.starts_with('"'))
            .map(|text| scan::string_value(text).into_owned())
            .collect()
    }

    /// The keys of the object at the pointer, unescaped, in document order.
    #[must_use]
    pub fn keys(&self, at: &Pointer) -> Vec<String> {
        self.children_at(at, b'{')
            .map(|child| child.name(&self.text).into_owned())
            .collect()
    }

    /// Where the patterns occur in the string values at or below `under`; keys are not searched.
    #[must_use]
    pub fn find(&self, patterns: &Matcher, under: &Pointer, limit: u32) -> Found {
        let mut found = Found::default();
        let mut bytes = 0;
        self.each_string(under, &mut |at, value| {
            let mut here: Option<Pointer> = None;
            for (pattern, range) in patterns.find_iter(value) {
                if found.hits.len() as u64 >= u64::from(limit) {
                    found.truncated = true;
                    return false;
                }
                let at = here.get_or_insert_with(|| at.to_pointer()).clone();
                bytes += size_of::<Hit>() + at.heap_bytes();
                if bytes > MAX_FOUND_BYTES {
                    found.over_budget = true;
                    return false;
                }
                let span = Span {
                    at,
                    start: range.start as u32,
                    end: range.end as u32,
                };
                found.hits.push(Hit { pattern, span });
            }
            true
        });
        found
    }

    /// Calls `visit` with every string value at or below `under`, in document order, until it answers false.
    pub(crate) fn each_string(
        &self,
        under: &Pointer,
        visit: &mut dyn FnMut(&Path<'_>, &str) -> bool,
    ) {
        if let Some(range) = self.locate(under) {
            let path = Path {
                parent: None,
                step: Step::Under(under),
            };
            walk(&self.text, range.start, &path, visit);
        }
    }

    /// Where the value at the pointer lies.
    pub(crate) fn locate(&self, at: &Pointer) -> Option<Range<usize>> {
        let bytes = self.text.as_bytes();
        if at.tokens().len() > MAX_DEPTH {
            return None;
        }
        let mut start = scan::skip_space(bytes, 0);
        for token in at.tokens() {
            start = self.child(start, token)?;
        }
        let end = scan::skip_value(bytes, start);
        (end > start).then_some(start..end)
    }

    /// Where the named child of the container at `start` begins.
    fn child(&self, start: usize, token: &str) -> Option<usize> {
        let bytes = self.text.as_bytes();
        let index = match bytes.get(start)? {
            b'{' => None,
            b'[' => Some(pointer::index(token)?),
            _ => return None,
        };
        let mut children = Children::new(&self.text, start);
        let mut count = 0;
        while let Some((key, at)) = children.step() {
            let here = match key {
                Some(key) => scan::string_value(&self.text[key]) == *token,
                None => index == Some(count),
            };
            if here {
                return Some(at);
            }
            count += 1;
            children.resume(scan::skip_value(bytes, at));
        }
        None
    }

    fn children_at(&self, at: &Pointer, open: u8) -> Children<'_> {
        let start = self.locate(at).map(|range| range.start);
        let start = start.filter(|start| self.text.as_bytes()[*start] == open);
        Children::new(&self.text, start.unwrap_or(self.text.len()))
    }
}

/// A place on the way down, linked to the one above; made into a [`Pointer`] only when somebody asks.
pub(crate) struct Path<'a> {
    parent: Option<&'a Path<'a>>,
    step: Step<'a>,
}

enum Step<'a> {
    Under(&'a Pointer),
    Key(&'a str),
    Index(usize),
}

impl Path<'_> {
    pub(crate) fn to_pointer(&self) -> Pointer {
        let mut pointer = self.parent.map_or_else(Pointer::root, Path::to_pointer);
        match &self.step {
            Step::Under(under) => return (*under).clone(),
            Step::Key(quoted) => pointer.push(scan::string_value(quoted)),
            Step::Index(index) => pointer.push(index.to_string()),
        }
        pointer
    }
}

/// Visits the strings of the value that starts at `start`; answers the offset behind it, or none if
/// `visit` wanted no more.
fn walk(
    text: &str,
    start: usize,
    path: &Path<'_>,
    visit: &mut dyn FnMut(&Path<'_>, &str) -> bool,
) -> Option<usize> {
    let bytes = text.as_bytes();
    match bytes.get(start)? {
        b'"' => {
            let end = scan::skip_string(bytes, start);
            visit(path, &scan::string_value(&text[start..end])).then_some(end)
        }
        b'{' | b'[' => {
            let mut children = Children::new(text, start);
            let mut index = 0;
            while let Some((key, at)) = children.step() {
                let path = Path {
                    parent: Some(path),
                    step: key.map_or(Step::Index(index), |key| Step::Key(&text[key])),
                };
                children.resume(walk(text, at, &path, visit)?);
                index += 1;
            }
            Some(children.end())
        }
        _ => Some(scan::skip_value(bytes, start)),
    }
}
