//! [`Edits::redact`]: a splice for each match of a search.

use std::sync::Arc;

use super::tree::{Branch, Splice};
use super::{EditNote, Edits, quoted_bytes};
use crate::document::{Candidate, MAX_FOUND_BYTES};
use crate::interrupt::{Interrupt, Stopped, unstopped};
use crate::matcher::Matcher;
use crate::pointer::Pointer;
use crate::refusal::Refusal;

/// The splices of one redaction, kept apart until all of them are known to be accepted.
struct Redaction<'a> {
    edits: &'a Edits,
    under: &'a Pointer,
    replacement: Arc<str>,
    /// Bytes of the replacement as it is written.
    written: u64,
    root: Branch,
    notes: Vec<EditNote>,
    count: u32,
    /// Size of the payload after them.
    bytes: u64,
    /// What they take in memory.
    held: usize,
}

impl Edits {
    /// Replaces every match in the string values at or below `under`; answers how many.
    /// If one of them is refused none is made.
    pub fn redact(
        &mut self,
        patterns: &Matcher,
        under: &Pointer,
        replacement: &str,
    ) -> Result<u32, Refusal> {
        unstopped(self.redact_until(patterns, under, replacement, &mut Interrupt::never()))
    }

    /// [`Edits::redact`] that can be stopped; if it is, nothing is replaced.
    pub fn redact_until(
        &mut self,
        patterns: &Matcher,
        under: &Pointer,
        replacement: &str,
        interrupt: &mut Interrupt<'_>,
    ) -> Result<Result<u32, Refusal>, Stopped> {
        let mut redaction = Redaction {
            edits: self,
            under,
            replacement: replacement.into(),
            written: quoted_bytes(replacement) - 2,
            root: Branch::default(),
            notes: Vec::new(),
            count: 0,
            bytes: self.bytes,
            held: 0,
        };
        let mut refused = None;
        self.document
            .each_match(patterns, under, interrupt, &mut |string, interrupt| {
                refused = redaction.add(string, interrupt)?.err();
                Ok(refused.is_none())
            })?;
        if let Some(refusal) = refused {
            return Ok(Err(refusal));
        }
        let Redaction {
            root,
            notes,
            count,
            bytes,
            ..
        } = redaction;
        self.root.absorb(root);
        self.list.extend(notes);
        self.bytes = bytes;
        Ok(Ok(count))
    }
}

impl Redaction<'_> {
    /// Adds the matches in one string. One string at a time, so that the time it takes is that of the text
    /// and not of text times matches.
    fn add(
        &mut self,
        string: &mut Candidate<'_, '_>,
        interrupt: &mut Interrupt<'_>,
    ) -> Result<Result<(), Refusal>, Stopped> {
        let mut splices = Vec::new();
        let mut removed = 0;
        while let Some((_, range)) = string.matches.next(interrupt)? {
            self.held += size_of::<Splice>();
            if self.held > MAX_FOUND_BYTES {
                return Ok(Err(self.too_many()));
            }
            removed += range.len() as u64;
            splices.push(Splice {
                range,
                replacement: Arc::clone(&self.replacement),
            });
        }
        if splices.is_empty() {
            return Ok(Ok(()));
        }
        let at = string.pointer(interrupt)?;
        self.held += at.heap_bytes();
        if self.held > MAX_FOUND_BYTES {
            return Ok(Err(self.too_many()));
        }
        Ok(self.accept(at, splices, removed))
    }

    fn accept(&mut self, at: Pointer, splices: Vec<Splice>, removed: u64) -> Result<(), Refusal> {
        let count = splices.len() as u64;
        self.edits.check_place(&at)?;
        let added = count * self.written;
        let bytes = self.edits.resized_from(self.bytes, removed, added)?;
        self.edits.root.admits(at.tokens(), &splices)?;
        self.root.splice(at.tokens(), splices)?;
        self.bytes = bytes;
        self.count = self
            .count
            .saturating_add(u32::try_from(count).unwrap_or(u32::MAX));
        self.notes.push(EditNote {
            op: "splice",
            at,
            bytes: count * self.replacement.len() as u64,
        });
        Ok(())
    }

    fn too_many(&self) -> Refusal {
        Refusal::too_large(format!(
            "more matches at or below {} than can be held at once",
            self.under
        ))
    }
}
