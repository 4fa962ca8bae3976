//! A template with marks in it, and what they say afterwards.

use std::ops::Range;

use minijinja::{Error, ErrorKind};

use super::running::{Notes, Sink};
use super::scan::{Piece, scan};
use super::{MARK, filters};
use crate::config::MAX_CONFIG_BYTES;
use crate::config::keys::choices_hint;
use crate::config::legacy::origin::{Expression, Segment, Source};
use crate::config::report::shown;
use crate::config::yaml::Broken;

const RAW: &str = "text with braces that is no template goes between {% raw %} and {% endraw %}";

/// A template with marks in it.
pub(super) struct Marked {
    /// What the engine is given.
    pub template: String,
    /// What each mark says about the text that follows it.
    marks: Vec<What>,
    /// Its expressions and statements, in their order.
    pub expressions: Vec<Expression>,
    /// Parts of the template that are parts of the source: where, from where, how long.
    copies: Vec<(usize, usize, usize)>,
}

/// What follows a mark.
#[derive(Clone, Copy)]
enum What {
    /// Text of the source from here on.
    Text(usize),
    /// What an expression writes.
    Expression(usize),
}

impl Marked {
    pub fn new(source: &str) -> Self {
        let mut marked = Self {
            template: String::with_capacity(source.len()),
            marks: Vec::new(),
            expressions: Vec::new(),
            copies: Vec::new(),
        };
        for piece in scan(source) {
            match piece {
                Piece::Text(range) => {
                    marked.mark(What::Text(range.start));
                    marked.copy(source, range);
                }
                // What `{% endfilter %}` writes comes out here.
                Piece::Tag(range) => marked.code(source, range),
                Piece::Raw(content) => {
                    marked.mark(What::Text(content.start));
                    marked.template.push_str("{% raw %}");
                    marked.copy(source, content);
                    marked.template.push_str("{% endraw %}");
                }
                Piece::Expression(range) => {
                    let end = range.end;
                    marked.code(source, range);
                    marked.mark(What::Text(end));
                }
            }
        }
        marked
    }

    fn code(&mut self, source: &str, range: Range<usize>) {
        self.mark(What::Expression(self.expressions.len()));
        self.expressions.push(Expression {
            text: source[range.clone()].to_owned(),
            span: range.clone(),
        });
        self.copy(source, range);
    }

    /// For each mark, the expression it begins.
    pub fn begins(&self) -> Vec<Option<usize>> {
        let expression = |what: &What| match what {
            What::Expression(number) => Some(*number),
            What::Text(_) => None,
        };
        self.marks.iter().map(expression).collect()
    }

    fn mark(&mut self, what: What) {
        let number = self.marks.len();
        self.template.push_str(&format!("{{{{{MARK}({number})}}}}"));
        self.marks.push(what);
    }

    fn copy(&mut self, source: &str, range: Range<usize>) {
        let at = self.template.len();
        self.copies.push((at, range.start, range.len()));
        self.template.push_str(&source[range]);
    }

    /// The place in the source of a place in the template.
    fn in_source(&self, at: usize) -> usize {
        let before = self.copies.partition_point(|(start, ..)| *start <= at);
        let Some((start, from, length)) = before.checked_sub(1).map(|index| self.copies[index])
        else {
            return 0;
        };
        from + (at - start).min(length)
    }

    pub fn segment(&self, at: usize, mark: usize) -> Segment {
        match self.marks.get(mark) {
            Some(What::Expression(number)) => Segment::written(at, *number),
            Some(What::Text(from)) => Segment::copied(at, *from),
            // Only a template that calls the function itself comes here.
            None => Segment::copied(at, 0),
        }
    }

    /// Expressions whose value was missing: undefined as a whole, or made without a variable that they
    /// give no other value for.
    pub fn unset(&self, seen: &Notes) -> Vec<usize> {
        const ELSE: [&str; 10] = [
            "default", "d", "or", "and", "not", "if", "is", "in", "get", "elif",
        ];
        let gives_another = |number: &usize| {
            let text = &self.expressions[*number].text;
            text.split(|c: char| !c.is_alphanumeric() && c != '_')
                .any(|word| ELSE.contains(&word))
        };
        let missing = seen.missing.iter().filter(|number| !gives_another(number));
        let mut unset: Vec<usize> = seen.undefined.iter().chain(missing).copied().collect();
        unset.sort_unstable();
        unset.dedup();
        unset
    }

    pub fn broken(&self, source: &str, error: &Error, seen: &Notes, sink: &Sink) -> Broken {
        let (start, end) = match error.range() {
            Some(span) => (self.in_source(span.start), self.in_source(span.end)),
            // Where it was when the engine gave up.
            None => {
                let last = seen
                    .marks
                    .last()
                    .and_then(|(_, mark)| self.marks.get(*mark));
                let at = match last {
                    Some(What::Expression(number)) => self.expressions[*number].span.start,
                    Some(What::Text(at)) => *at,
                    None => 0,
                };
                (at, at)
            }
        };
        let last = self
            .expressions
            .last()
            .filter(|last| last.span.end == source.len());
        let span = match last {
            // What does not end is told where it begins.
            Some(last) if start >= source.trim_end().len() => {
                let first_line = last.text.lines().next().unwrap_or_default();
                last.span.start..last.span.start + first_line.len()
            }
            _ => start..end.max(start),
        };
        let detail = error.detail().unwrap_or_default();
        let (message, hint) = match error.kind() {
            ErrorKind::UnknownFilter => {
                let name = detail.split_whitespace().nth(1).unwrap_or_default();
                let hint = choices_hint(name, filters::FILTERS.into_iter(), "filters");
                (
                    format!("template: unknown filter: {}", shown(name)),
                    Some(hint),
                )
            }
            ErrorKind::UndefinedError => {
                let used = self
                    .expressions
                    .iter()
                    .find(|one| one.span.contains(&span.start));
                let used = used.map(|one| format!(": {}", shown(&one.text)));
                let message = format!(
                    "template: a variable is not set{}",
                    used.unwrap_or_default()
                );
                (
                    message,
                    Some(format!(
                        "give another value, {{{{ env.NAME | default('...') }}}}; {RAW}"
                    )),
                )
            }
            ErrorKind::OutOfFuel => ("template: it does not end".into(), None),
            ErrorKind::WriteFailure if sink.is_full() => {
                let bytes = crate::config::limits::bytes_text(MAX_CONFIG_BYTES);
                (format!("template: it writes more than {bytes}"), None)
            }
            kind if detail.is_empty() => (format!("template: {kind}"), None),
            ErrorKind::SyntaxError => (format!("template: {}", shown(detail)), Some(RAW.into())),
            kind => (format!("template: {kind}: {}", shown(detail)), None),
        };
        Broken {
            message,
            hint,
            at: Source::new(source).place(span),
        }
    }
}
