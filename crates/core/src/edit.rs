//! [`Edits`]: what a plugin wants changed, checked one by one as it is asked for.
//!
//! Pointers and spans refer to the payload as the plugin received it. Edits must not touch each
//! other, except splices of one string that do not overlap; apart from appends to one array their
//! order does not matter. [`Edits::apply`] copies the text once, so that every value that was not
//! touched keeps its source text.

mod apply;
mod redact;
mod tree;

use std::fmt;
use std::ops::Range;
use std::sync::Arc;

use serde::Serialize;

use crate::document::Document;
use crate::hooks::Shape;
use crate::interrupt::{Interrupt, Stopped, unstopped};
use crate::json::{Json, MAX_DEPTH};
use crate::matcher::Span;
use crate::pointer::Pointer;
use crate::refusal::Refusal;
use crate::scan;
use crate::secret::Search;
use tree::{Branch, Leaf, Node, Splice};

/// What edits are checked against besides the document itself.
#[derive(Debug, Clone, Copy)]
pub struct EditRules {
    /// Shape of the hook's payload, which an edit may not break.
    pub shape: Shape,
    /// Whether `/headers` may be edited.
    pub headers: bool,
    /// Size the payload may reach, in bytes.
    pub max_bytes: u64,
}

/// The accepted edits of one call.
#[derive(Clone)]
pub struct Edits {
    document: Document,
    rules: EditRules,
    root: Branch,
    list: Vec<EditNote>,
    /// Upper bound of the size after all edits.
    bytes: u64,
}

/// Where and how large, as in a record.
impl fmt::Debug for Edits {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_tuple("Edits").field(&self.list).finish()
    }
}

/// One accepted edit as a record lists it: where and how large, never the value.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct EditNote {
    /// `set`, `remove` or `splice`.
    pub op: &'static str,
    /// Where.
    pub at: Pointer,
    /// Bytes of JSON or, for a splice, of text put there. A redaction is one splice a string.
    pub bytes: u64,
}

impl Edits {
    /// No edits yet, on `document`.
    #[must_use]
    pub fn new(document: Document, rules: EditRules) -> Self {
        let bytes = document.size();
        Self {
            document,
            rules,
            root: Branch::default(),
            list: Vec::new(),
            bytes,
        }
    }

    /// Whether nothing is to be changed.
    #[must_use]
    pub fn is_empty(&self) -> bool {
        self.list.is_empty()
    }

    /// The accepted edits in the order they were asked for.
    #[must_use]
    pub fn list(&self) -> &[EditNote] {
        &self.list
    }

    /// Looks at everything they put into the payload.
    pub(crate) fn search(&self, search: &mut Search<'_>) {
        self.root.search(search);
    }

    /// Drops all of them.
    pub(crate) fn forget(&mut self) {
        *self = Self::new(self.document.clone(), self.rules);
    }

    /// The payload they refer to.
    #[must_use]
    pub fn document(&self) -> &Document {
        &self.document
    }

    /// Replaces the value, adds a member to an object, or appends to an array with `-`.
    pub fn set(&mut self, at: &Pointer, value: Json) -> Result<(), Refusal> {
        unstopped(self.set_until(at, value, &mut Interrupt::never()))
    }

    /// [`Edits::set`] that can be stopped; if it is, nothing is changed.
    pub fn set_until(
        &mut self,
        at: &Pointer,
        value: Json,
        interrupt: &mut Interrupt<'_>,
    ) -> Result<Result<(), Refusal>, Stopped> {
        let place = self.place(at, interrupt)?;
        Ok(self.set_at(at, value, place))
    }

    fn set_at(
        &mut self,
        at: &Pointer,
        value: Json,
        place: Result<Place, Refusal>,
    ) -> Result<(), Refusal> {
        self.check_place(at)?;
        self.rules.shape.allows_set(at, &value)?;
        if at.tokens().len() + scan::depth(value.as_str()) > MAX_DEPTH {
            return Err(Refusal::invalid(format!(
                "{at} would nest deeper than {MAX_DEPTH}"
            )));
        }
        let place = place?;
        let key = at.tokens().last().map_or(0, |key| quoted_bytes(key));
        let added = value.as_str().len() as u64;
        let (before, after) = match place {
            Place::Value(old) => (old, added),
            Place::Member => (0, added + key + 2),
            Place::Append => (0, added + 1),
        };
        let bytes = self.resized(before, after)?;
        match place {
            Place::Append => self.root.append(parent(at), value)?,
            Place::Value(_) | Place::Member => self
                .root
                .insert(at.tokens(), Node::Leaf(Leaf::Set(value)))?,
        }
        self.accept("set", at, added, bytes);
        Ok(())
    }

    /// Removes a member or an element.
    pub fn remove(&mut self, at: &Pointer) -> Result<(), Refusal> {
        unstopped(self.remove_until(at, &mut Interrupt::never()))
    }

    /// [`Edits::remove`] that can be stopped; if it is, nothing is changed.
    pub fn remove_until(
        &mut self,
        at: &Pointer,
        interrupt: &mut Interrupt<'_>,
    ) -> Result<Result<(), Refusal>, Stopped> {
        let place = self.place(at, interrupt)?;
        Ok(self.remove_at(at, place))
    }

    fn remove_at(&mut self, at: &Pointer, place: Result<Place, Refusal>) -> Result<(), Refusal> {
        self.check_place(at)?;
        self.rules.shape.allows_remove(at)?;
        let Place::Value(old) = place? else {
            return Err(Refusal::invalid(format!("nothing at {at} to remove")));
        };
        let bytes = self.resized(old, 0)?;
        self.root.insert(at.tokens(), Node::Leaf(Leaf::Remove))?;
        self.accept("remove", at, 0, bytes);
        Ok(())
    }

    /// Replaces a stretch of a string.
    pub fn splice(&mut self, at: &Span, replacement: &str) -> Result<(), Refusal> {
        unstopped(self.splice_until(at, replacement, &mut Interrupt::never()))
    }

    /// [`Edits::splice`] that can be stopped; if it is, nothing is changed.
    pub fn splice_until(
        &mut self,
        at: &Span,
        replacement: &str,
        interrupt: &mut Interrupt<'_>,
    ) -> Result<Result<(), Refusal>, Stopped> {
        if let Err(refusal) = self.check_place(&at.at) {
            return Ok(Err(refusal));
        }
        let (start, end) = (at.start as usize, at.end as usize);
        let refusal = match self.document.get_string_until(&at.at, interrupt)? {
            None => format!("no string at {}", at.at),
            Some(value) if is_stretch(&value, start, end) => {
                let range = std::iter::once(start..end).collect();
                return Ok(self.splice_all(&at.at, range, &replacement.into()));
            }
            Some(value) => format!(
                "{start}..{end} is no stretch of the {} bytes at {}: both ends lie between two characters",
                value.len(),
                at.at
            ),
        };
        Ok(Err(Refusal::invalid(refusal)))
    }

    /// Replaces stretches of one string that lie in it, sorted and not overlapping.
    fn splice_all(
        &mut self,
        at: &Pointer,
        ranges: Vec<Range<usize>>,
        replacement: &Arc<str>,
    ) -> Result<(), Refusal> {
        let count = ranges.len() as u64;
        let removed = ranges.iter().map(|range| range.len() as u64).sum();
        let bytes = self.resized(removed, count * (quoted_bytes(replacement) - 2))?;
        let splices = ranges.into_iter().map(|range| Splice {
            range,
            replacement: Arc::clone(replacement),
        });
        self.root.splice(at.tokens(), splices.collect())?;
        self.accept("splice", at, count * replacement.len() as u64, bytes);
        Ok(())
    }

    /// The payload with all edits made; the same text where there are none.
    #[must_use]
    pub fn apply(&self) -> Document {
        self.apply_to(&self.document)
    }

    /// The edits made on a document that has the edited places as well, such as the payload of
    /// which a plugin saw only a part.
    #[must_use]
    pub fn apply_to(&self, document: &Document) -> Document {
        if self.is_empty() {
            return document.clone();
        }
        Document::trusted(apply::apply(document, &self.root).into())
    }

    fn accept(&mut self, op: &'static str, at: &Pointer, bytes: u64, total: u64) {
        self.bytes = total;
        self.list.push(EditNote {
            op,
            at: at.clone(),
            bytes,
        });
    }

    fn check_place(&self, at: &Pointer) -> Result<(), Refusal> {
        if at.tokens().is_empty() {
            return Err(Refusal::invalid(
                "the whole payload cannot be replaced or removed; edit its members",
            ));
        }
        if !self.rules.headers && at.starts_with("headers") {
            return Err(Refusal::not_granted(format!(
                "{at}: the plugin has no data grant `read_headers`"
            )));
        }
        Ok(())
    }

    fn resized(&self, removed: u64, added: u64) -> Result<u64, Refusal> {
        self.resized_from(self.bytes, removed, added)
    }

    /// The size after a change of what has `before` bytes.
    fn resized_from(&self, before: u64, removed: u64, added: u64) -> Result<u64, Refusal> {
        let bytes = (before + added).saturating_sub(removed);
        if bytes > self.rules.max_bytes && added > removed {
            return Err(Refusal::too_large(format!(
                "the payload would have up to {bytes} bytes; at most {}",
                self.rules.max_bytes
            )));
        }
        Ok(bytes)
    }

    /// What is at the pointer, or may be put there.
    fn place(
        &self,
        at: &Pointer,
        interrupt: &mut Interrupt<'_>,
    ) -> Result<Result<Place, Refusal>, Stopped> {
        let (container, value) = self.document.place(at, interrupt)?;
        let name = at.tokens().last().map_or("", String::as_str);
        let refusal = match (container, value) {
            (Some(b'{' | b'['), Some(value)) => return Ok(Ok(Place::Value(value.len() as u64))),
            (Some(b'{'), None) => return Ok(Ok(Place::Member)),
            (Some(b'['), None) if name == "-" => return Ok(Ok(Place::Append)),
            (Some(b'['), None) => {
                format!("{at}: the array has no such element; `-` appends")
            }
            (None, _) => format!("{at}: nothing at its parent"),
            _ => format!("{at}: its parent is neither object nor array"),
        };
        Ok(Err(Refusal::invalid(refusal)))
    }
}

/// What an edit finds, with the bytes of a value that is there.
enum Place {
    Value(u64),
    Member,
    Append,
}

fn is_stretch(value: &str, start: usize, end: usize) -> bool {
    start <= end && value.is_char_boundary(start) && value.is_char_boundary(end)
}

/// Bytes of a text as a JSON string, quotes included.
fn quoted_bytes(value: &str) -> u64 {
    let more = value.bytes().map(|byte| match byte {
        b'"' | b'\\' | b'\n' | b'\r' | b'\t' | 0x8 | 0xc => 1,
        0..=0x1f => 5,
        _ => 0,
    });
    value.len() as u64 + 2 + more.sum::<u64>()
}

fn parent(at: &Pointer) -> &[String] {
    at.tokens().split_last().map_or(&[], |(_, parent)| parent)
}
