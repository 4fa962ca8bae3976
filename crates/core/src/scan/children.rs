//! [`Children`]: the values of a container, one after another.

use std::borrow::Cow;
use std::ops::Range;

use super::{skip_space, skip_string_until, skip_value, string_value};
use crate::interrupt::{Interrupt, Stopped};

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

/// A child's key, raw and with quotes (none in an array), and where its value starts.
pub(crate) type Step = (Option<Range<usize>>, usize);

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
    pub(crate) fn step(&mut self) -> Option<Step> {
        self.step_until(&mut Interrupt::never()).ok().flatten()
    }

    /// [`Children::step`] that can be stopped.
    pub(crate) fn step_until(
        &mut self,
        interrupt: &mut Interrupt<'_>,
    ) -> Result<Option<Step>, Stopped> {
        if self.ended {
            return Ok(None);
        }
        let from = self.at;
        self.at = skip_space(self.bytes, self.at);
        if self.bytes.get(self.at) == Some(&b',') {
            self.at = skip_space(self.bytes, self.at + 1);
        }
        if matches!(self.bytes.get(self.at), None | Some(b'}' | b']')) {
            self.at = self.bytes.len().min(self.at + 1);
            self.ended = true;
            return Ok(None);
        }
        let mut key = None;
        if self.object {
            let start = self.at;
            let end = skip_string_until(self.bytes, start, interrupt)?;
            self.at = skip_space(self.bytes, end);
            self.at = skip_space(self.bytes, self.at + 1);
            key = Some(start..end);
        }
        super::count(self.at - from);
        interrupt.spend(self.at - from)?;
        Ok(Some((key, self.at)))
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
