//! Where the parts of a filled-in text come from, and what of them may be shown.

use std::ops::Range;

use crate::config::report::{Place, shown};

/// A text by its lines.
pub(in crate::config) struct Source<'t> {
    text: &'t str,
    lines: Vec<usize>,
}

impl<'t> Source<'t> {
    pub fn new(text: &'t str) -> Self {
        let after_breaks = text.match_indices('\n').map(|(at, _)| at + 1);
        Self {
            text,
            lines: std::iter::once(0).chain(after_breaks).collect(),
        }
    }

    /// The place of some bytes, widened to whole characters.
    pub fn place(&self, span: Range<usize>) -> Place {
        let start = self.text.floor_char_boundary(span.start);
        let span = start..self.text.ceil_char_boundary(span.end).max(start);
        let line = self.lines.partition_point(|start| *start <= span.start);
        let start = self.lines[line - 1];
        Place {
            line,
            column: self.text[start..span.start].chars().count() + 1,
            span,
        }
    }
}

/// An expression or a statement of a template.
#[derive(Debug, Clone)]
pub(in crate::config) struct Expression {
    /// Its place in the file, delimiters included.
    pub span: Range<usize>,
    /// The whole of it, as it is written.
    pub text: String,
}

/// A stretch of the filled-in text, up to the next one.
#[derive(Debug, Clone, Copy)]
pub(in crate::config) struct Segment {
    at: usize,
    from: Whence,
}

#[derive(Debug, Clone, Copy)]
enum Whence {
    /// Copied from the file, beginning at this byte.
    Text(usize),
    /// Written by an expression.
    Expression(usize),
}

impl Segment {
    pub fn copied(at: usize, from: usize) -> Self {
        Self {
            at,
            from: Whence::Text(from),
        }
    }

    pub fn written(at: usize, expression: usize) -> Self {
        Self {
            at,
            from: Whence::Expression(expression),
        }
    }
}

/// What an expression wrote.
#[derive(Debug, Clone)]
pub(in crate::config) struct Written {
    /// The expression's place in the file.
    pub span: Range<usize>,
    /// How a message shows it.
    pub code: String,
    /// What it wrote.
    pub value: String,
}

/// Where a filled-in text comes from.
#[derive(Debug)]
pub(in crate::config) struct Origin {
    source: String,
    segments: Vec<Segment>,
    pub expressions: Vec<Expression>,
    pub written: Vec<Written>,
}

impl Origin {
    /// `segments` are in the order of `text`.
    pub fn new(
        source: &str,
        text: &str,
        segments: Vec<Segment>,
        expressions: Vec<Expression>,
    ) -> Self {
        let ends = segments.iter().skip(1).map(|segment| segment.at);
        let ends: Vec<_> = ends.chain([text.len()]).collect();
        let mut written = Vec::new();
        for (segment, end) in segments.iter().zip(ends) {
            if let Whence::Expression(number) = segment.from
                && segment.at < end
            {
                let expression = &expressions[number];
                written.push(Written {
                    span: expression.span.clone(),
                    code: shown(&expression.text),
                    value: text[segment.at..end].to_owned(),
                });
            }
        }
        Self {
            source: source.to_owned(),
            segments,
            expressions,
            written,
        }
    }

    /// A place in the filled-in text as a place in the file.
    pub fn places(&self) -> impl Fn(&Place) -> Place {
        let source = Source::new(&self.source);
        move |place| {
            let start = self.start(place.span.start);
            let end = if place.span.is_empty() {
                start
            } else {
                self.end(place.span.end).max(start)
            };
            source.place(start..end)
        }
    }

    fn start(&self, at: usize) -> usize {
        match self.segment(at) {
            Some(Segment {
                at: first,
                from: Whence::Text(from),
            }) => self.bounded(from + (at - first)),
            Some(Segment {
                from: Whence::Expression(number),
                ..
            }) => self.expressions[number].span.start,
            None => self.bounded(at),
        }
    }

    /// `at` is behind the last byte.
    fn end(&self, at: usize) -> usize {
        match self.segment(at - 1) {
            Some(Segment {
                at: first,
                from: Whence::Text(from),
            }) => self.bounded(from + (at - first)),
            Some(Segment {
                from: Whence::Expression(number),
                ..
            }) => self.expressions[number].span.end,
            None => self.bounded(at),
        }
    }

    /// The stretch a byte is in.
    fn segment(&self, at: usize) -> Option<Segment> {
        let behind = self.segments.partition_point(|segment| segment.at <= at);
        behind.checked_sub(1).map(|index| self.segments[index])
    }

    fn bounded(&self, at: usize) -> usize {
        at.min(self.source.len())
    }
}
