//! What is left of an expression if only strings without a backslash are of interest, and if what
//! stands around a match is not.

use regex_syntax::hir::{
    Class, ClassBytes, ClassBytesRange, ClassUnicode, ClassUnicodeRange, Hir, HirKind, Repetition,
};

use super::needs_escape;

/// An expression that matches wherever `pattern` does in a string without a backslash, and only within
/// one string: it matches no quote.
pub(super) fn relax(pattern: &Hir) -> Hir {
    match pattern.kind() {
        HirKind::Empty | HirKind::Look(_) => Hir::empty(),
        HirKind::Literal(text) if text.0.iter().copied().any(needs_escape) => Hir::fail(),
        HirKind::Literal(text) => Hir::literal(text.0.clone()),
        HirKind::Class(Class::Unicode(class)) => {
            let mut class = class.clone();
            class.difference(&ClassUnicode::new([
                ClassUnicodeRange::new('\0', '\x1f'),
                ClassUnicodeRange::new('"', '"'),
                ClassUnicodeRange::new('\\', '\\'),
            ]));
            Hir::class(Class::Unicode(class))
        }
        HirKind::Class(Class::Bytes(class)) => {
            let mut class = class.clone();
            class.difference(&ClassBytes::new([
                ClassBytesRange::new(0, 0x1f),
                ClassBytesRange::new(b'"', b'"'),
                ClassBytesRange::new(b'\\', b'\\'),
            ]));
            Hir::class(Class::Bytes(class))
        }
        HirKind::Repetition(repetition) => Hir::repetition(Repetition {
            min: repetition.min,
            max: repetition.max,
            greedy: repetition.greedy,
            sub: Box::new(relax(&repetition.sub)),
        }),
        // Nobody asks where the group is.
        HirKind::Capture(capture) => relax(&capture.sub),
        HirKind::Concat(parts) => Hir::concat(parts.iter().map(relax).collect()),
        HirKind::Alternation(parts) => Hir::alternation(parts.iter().map(relax).collect()),
    }
}
