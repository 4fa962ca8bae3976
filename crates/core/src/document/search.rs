//! Which strings of a text can hold a match: a search of the text as it is written, which decodes and
//! looks closer only where it must.

use std::ops::Range;

use crate::interrupt::{Interrupt, Stopped};
use crate::matcher::Detector;
use crate::scan;

/// What is told of each string value that can hold a match: where it starts, and its value. It answers
/// whether it wants more.
pub(super) type Visit<'v> =
    &'v mut dyn FnMut(usize, &str, &mut Interrupt<'_>) -> Result<bool, Stopped>;

/// Visits the string values in `range` that can hold a match, in document order; keys are left out.
/// `range` is that of one value.
pub(super) fn each_candidate(
    text: &str,
    range: Range<usize>,
    detector: &Detector,
    interrupt: &mut Interrupt<'_>,
    visit: Visit<'_>,
) -> Result<(), Stopped> {
    let mut search = Search {
        text,
        end: range.end,
        buffer: String::new(),
    };
    // Always at a place outside of strings.
    let mut at = range.start;
    while at < range.end {
        let stretch = search.plain_stretch(at, detector);
        while at < stretch.end {
            at = match search.first_in(at..stretch.end, detector, interrupt)? {
                Spot::Nothing => stretch.end,
                Spot::Outside(next) => next,
                Spot::String(start) => match search.look(start, interrupt, visit)? {
                    Some(end) => end,
                    None => return Ok(()),
                },
            };
        }
        if stretch.string {
            at = match search.look(stretch.end, interrupt, visit)? {
                Some(end) => end,
                None => return Ok(()),
            };
        }
    }
    Ok(())
}

struct Search<'a> {
    text: &'a str,
    end: usize,
    /// Holds the value of a string with escapes while somebody looks at it.
    buffer: String,
}

/// A part of the text without a backslash that starts and ends outside of strings.
struct Stretch {
    end: usize,
    /// At its end there is a string that has to be looked at: one with escapes, or a very long one.
    string: bool,
}

/// Where the detector saw something.
enum Spot {
    /// In the string that starts here.
    String(usize),
    /// Between strings; there is nothing before this place, which is outside of strings.
    Outside(usize),
    Nothing,
}

impl Search<'_> {
    fn plain_stretch(&self, at: usize, detector: &Detector) -> Stretch {
        let end = self.end.min(at + detector.window());
        let window = &self.text.as_bytes()[at..end];
        let (part, cut) = match memchr::memchr(b'\\', window) {
            Some(backslash) => (&window[..backslash], true),
            None if end == self.end => (window, false),
            None => (
                window,
                !memchr::memchr_iter(b'"', window).count().is_multiple_of(2),
            ),
        };
        scan::count(part.len());
        if !cut {
            return Stretch { end, string: false };
        }
        // No backslash is before it, so that the last quote opens the string which the part ends in.
        let quote = memchr::memrchr(b'"', part).unwrap_or(0);
        Stretch {
            end: at + quote,
            string: part.len() < window.len() || quote == 0,
        }
    }

    fn first_in(
        &self,
        range: Range<usize>,
        detector: &Detector,
        interrupt: &mut Interrupt<'_>,
    ) -> Result<Spot, Stopped> {
        let stretch = &self.text.as_bytes()[range.clone()];
        let found = detector.find(stretch);
        let read = found.unwrap_or(stretch.len());
        // Whatever it found, it may have read all.
        interrupt.spend(match detector.byte_cost() {
            1 => read,
            cost => stretch.len() * cost,
        })?;
        let Some(found) = found else {
            return Ok(Spot::Nothing);
        };
        let before = &stretch[..found];
        if memchr::memchr_iter(b'"', before).count().is_multiple_of(2) {
            return Ok(match memchr::memchr(b'"', &stretch[found..]) {
                // Words may begin with a quote.
                Some(0) => Spot::String(range.start + found),
                Some(quote) => Spot::Outside(range.start + found + quote),
                None => Spot::Outside(range.end),
            });
        }
        let quote = memchr::memrchr(b'"', before).unwrap_or(0);
        Ok(Spot::String(range.start + quote))
    }

    /// Shows the string that starts at `start`, unless it is a key; answers the offset behind it, or none
    /// if nobody wants more.
    fn look(
        &mut self,
        start: usize,
        interrupt: &mut Interrupt<'_>,
        visit: Visit<'_>,
    ) -> Result<Option<usize>, Stopped> {
        let bytes = &self.text.as_bytes()[..self.end];
        let end = scan::skip_string_until(bytes, start, interrupt)?;
        if bytes.get(scan::skip_space(bytes, end)) == Some(&b':') {
            return Ok(Some(end));
        }
        let raw = scan::inside(&self.text[start..end]);
        let value = if scan::has_escape(raw, interrupt)? {
            self.buffer.clear();
            scan::unescape_until(raw, &mut self.buffer, interrupt)?;
            &self.buffer
        } else {
            raw
        };
        Ok(visit(start, value, interrupt)?.then_some(end))
    }
}
