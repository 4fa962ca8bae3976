//! From the text of regular expressions to their parts, within a budget.

use regex_syntax::ast::parse::Parser;
use regex_syntax::ast::{self, Ast, ClassSetItem, Visitor};
use regex_syntax::hir::translate::Translator;
use regex_syntax::hir::{Class, Hir, HirKind};

use crate::refusal::Refusal;

/// Bytes the classes of all expressions may take before they are compiled: `\w` is two bytes of text and
/// six thousand of ranges.
const MAX_CLASS_BYTES: usize = 16 << 20;
/// Bytes the ranges of a class such as `\w` or `\p{Letter}` take at most.
const UNICODE_CLASS_BYTES: usize = 8 << 10;
/// Bytes of any other item of a class, its folded cases included.
const CLASS_ITEM_BYTES: usize = 64;

/// The expressions, each of which must be one and match no empty string.
pub(in crate::matcher) fn parse(patterns: &[&str]) -> Result<Vec<Hir>, Refusal> {
    let mut parsed = Vec::with_capacity(patterns.len());
    let mut class_bytes = 0;
    for (index, pattern) in patterns.iter().enumerate() {
        let wrong = |error: regex_syntax::Error| {
            Refusal::invalid(format!(
                "pattern {index} is not a regular expression: {error}"
            ))
        };
        let tree = Parser::new()
            .parse(pattern)
            .map_err(|error| wrong(error.into()))?;
        class_bytes += ast::visit(&tree, ClassBytes(0)).unwrap_or(usize::MAX);
        if class_bytes > MAX_CLASS_BYTES {
            return Err(Refusal::too_large(format!(
                "the character classes up to pattern {index} would take {class_bytes} bytes; at most {MAX_CLASS_BYTES}"
            )));
        }
        let hir = Translator::new()
            .translate(pattern, &tree)
            .map_err(|error| wrong(error.into()))?;
        if matches_empty(&hir) {
            return Err(Refusal::invalid(format!(
                "pattern {index} can match the empty string"
            )));
        }
        parsed.push(hir);
    }
    Ok(parsed)
}

/// Whether the expression can match the empty string. Its properties do not say so where a part of it can
/// match nothing at all.
fn matches_empty(pattern: &Hir) -> bool {
    match pattern.kind() {
        HirKind::Empty | HirKind::Look(_) => true,
        HirKind::Literal(_) | HirKind::Class(_) => false,
        HirKind::Repetition(repetition) => repetition.min == 0 || matches_empty(&repetition.sub),
        HirKind::Capture(capture) => matches_empty(&capture.sub),
        HirKind::Concat(parts) => parts.iter().all(matches_empty),
        HirKind::Alternation(parts) => parts.iter().any(matches_empty),
    }
}

/// Whether nothing matches the expression, not even the empty string.
pub(in crate::matcher) fn matches_nothing(pattern: &Hir) -> bool {
    match pattern.kind() {
        HirKind::Empty | HirKind::Look(_) | HirKind::Literal(_) => false,
        HirKind::Class(Class::Unicode(class)) => class.ranges().is_empty(),
        HirKind::Class(Class::Bytes(class)) => class.ranges().is_empty(),
        HirKind::Repetition(repetition) => repetition.min > 0 && matches_nothing(&repetition.sub),
        HirKind::Capture(capture) => matches_nothing(&capture.sub),
        HirKind::Concat(parts) => parts.iter().any(matches_nothing),
        HirKind::Alternation(parts) => parts.iter().all(matches_nothing),
    }
}

/// Adds up what the classes of an expression will take.
struct ClassBytes(usize);

impl Visitor for ClassBytes {
    type Output = usize;
    type Err = std::convert::Infallible;

    fn finish(self) -> Result<usize, Self::Err> {
        Ok(self.0)
    }

    fn visit_pre(&mut self, ast: &Ast) -> Result<(), Self::Err> {
        if matches!(ast, Ast::ClassPerl(_) | Ast::ClassUnicode(_)) {
            self.0 += UNICODE_CLASS_BYTES;
        }
        Ok(())
    }

    fn visit_class_set_item_pre(&mut self, item: &ClassSetItem) -> Result<(), Self::Err> {
        self.0 += match item {
            ClassSetItem::Perl(_) | ClassSetItem::Unicode(_) => UNICODE_CLASS_BYTES,
            _ => CLASS_ITEM_BYTES,
        };
        Ok(())
    }
}
