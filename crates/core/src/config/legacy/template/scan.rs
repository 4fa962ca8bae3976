//! Where the tags of a template are. The engine reads the template itself; this only finds the places
//! between which text is copied as it is.

use std::ops::Range;

/// A part of a template, in bytes.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) enum Piece {
    /// Text that is copied, without the white space that the tags around it take away.
    Text(Range<usize>),
    /// `{{ ... }}`, delimiters included.
    Expression(Range<usize>),
    /// `{% ... %}` or `{# ... #}`.
    Tag(Range<usize>),
    /// The content of `{% raw %}`, trimmed as its tags say.
    Raw(Range<usize>),
}

/// Whether there is anything to fill in.
pub(in super::super) fn is_template(text: &str) -> bool {
    ["{{", "{%", "{#"].iter().any(|open| text.contains(open))
}

/// Splits a template. A tag without an end reaches to the end of the text; the engine says so itself.
pub(super) fn scan(source: &str) -> Vec<Piece> {
    let mut pieces = Vec::new();
    let (mut at, mut trim) = (0, false);
    while at < source.len() {
        let open = next_open(source, at).unwrap_or(source.len());
        let strip_before = source.as_bytes().get(open + 2) == Some(&b'-');
        text(source, at..open, trim, strip_before, &mut pieces);
        if open == source.len() {
            break;
        }
        let tag = tag(source, open);
        trim = tag.trims;
        at = tag.end;
        pieces.push(tag.piece);
    }
    pieces
}

fn text(source: &str, range: Range<usize>, start: bool, end: bool, pieces: &mut Vec<Piece>) {
    let range = trimmed(source, range, start, end);
    if !range.is_empty() {
        pieces.push(Piece::Text(range));
    }
}

fn trimmed(source: &str, mut range: Range<usize>, start: bool, end: bool) -> Range<usize> {
    if start {
        let text = &source[range.clone()];
        range.start += text.len() - text.trim_start().len();
    }
    if end {
        range.end = range.start + source[range.clone()].trim_end().len();
    }
    range
}

fn next_open(source: &str, from: usize) -> Option<usize> {
    let bytes = source.as_bytes();
    (from..bytes.len().saturating_sub(1))
        .find(|at| bytes[*at] == b'{' && matches!(bytes[at + 1], b'{' | b'%' | b'#'))
}

/// A tag that was found.
struct Tag {
    piece: Piece,
    end: usize,
    /// Whether it takes the white space after it away.
    trims: bool,
}

fn tag(source: &str, open: usize) -> Tag {
    let inside = open + 2;
    match source.as_bytes()[open + 1] {
        b'#' => {
            let close = source[inside..].find("#}").map(|at| inside + at);
            let end = close.map_or(source.len(), |at| at + 2);
            let trims = close.is_some_and(|at| at > inside && source.as_bytes()[at - 1] == b'-');
            Tag {
                piece: Piece::Tag(open..end),
                end,
                trims,
            }
        }
        b'{' => {
            let (end, trims) = code_end(source, inside, "}}");
            Tag {
                piece: Piece::Expression(open..end),
                end,
                trims,
            }
        }
        _ => raw(source, inside).unwrap_or_else(|| {
            let (end, trims) = code_end(source, inside, "%}");
            Tag {
                piece: Piece::Tag(open..end),
                end,
                trims,
            }
        }),
    }
}

/// The end of code that began at `from`: delimiters in strings and in brackets do not count.
fn code_end(source: &str, from: usize, close: &str) -> (usize, bool) {
    let bytes = source.as_bytes();
    let (mut at, mut depth) = (from, 0_i64);
    // The sign of an opening delimiter is no sign of the closing one.
    if matches!(bytes.get(at), Some(b'-' | b'+')) {
        at += 1;
    }
    while at < bytes.len() {
        if depth == 0 && source[at..].starts_with(close) {
            return (at + close.len(), bytes[at - 1] == b'-' && at > from + 1);
        }
        match bytes[at] {
            b'(' | b'[' | b'{' => depth += 1,
            b')' | b']' | b'}' => depth -= 1,
            quote @ (b'"' | b'\'') => at = string_end(bytes, at, quote),
            _ => {}
        }
        at += 1;
        while at < bytes.len() && !source.is_char_boundary(at) {
            at += 1;
        }
    }
    (bytes.len(), false)
}

/// The place of the closing quote of a string.
fn string_end(bytes: &[u8], open: usize, quote: u8) -> usize {
    let mut at = open + 1;
    while at < bytes.len() && bytes[at] != quote {
        at += if bytes[at] == b'\\' { 2 } else { 1 };
    }
    at
}

/// A raw block, if one begins where this tag's code does.
fn raw(source: &str, inside: usize) -> Option<Tag> {
    let (content, trim_start) = basic_tag(source, inside, "raw")?;
    let mut from = content;
    loop {
        let open = from + source[from..].find("{%")?;
        if let Some((end, trims)) = basic_tag(source, open + 2, "endraw") {
            let trim_end = source.as_bytes().get(open + 2) == Some(&b'-');
            let content = trimmed(source, content..open, trim_start, trim_end);
            return Some(Tag {
                piece: Piece::Raw(content),
                end,
                trims,
            });
        }
        from = open + 2;
    }
}

/// The end of a tag that is one word, and whether it trims what follows.
fn basic_tag(source: &str, inside: usize, word: &str) -> Option<(usize, bool)> {
    let code = &source[inside..];
    let rest = code.strip_prefix(['-', '+']).unwrap_or(code);
    let rest = rest
        .trim_ascii_start()
        .strip_prefix(word)?
        .trim_ascii_start();
    let trims = rest.starts_with('-');
    let rest = rest.strip_prefix(['-', '+']).unwrap_or(rest);
    let rest = rest.strip_prefix("%}")?;
    Some((source.len() - rest.len(), trims))
}

#[cfg(test)]
mod tests {
    use super::{Piece, scan};

    /// Each piece as its kind and its text.
    fn pieces(source: &str) -> Vec<(char, &str)> {
        scan(source)
            .into_iter()
            .map(|piece| match piece {
                Piece::Text(range) => ('t', &source[range]),
                Piece::Expression(range) => ('e', &source[range]),
                Piece::Tag(range) => ('b', &source[range]),
                Piece::Raw(range) => ('r', &source[range]),
            })
            .collect()
    }

    #[test]
    fn tags_end_where_the_engine_ends_them() {
        let cases: [(&str, &[(char, &str)]); 12] = [
            ("a", &[('t', "a")]),
            ("a{{ b }}c", &[('t', "a"), ('e', "{{ b }}"), ('t', "c")]),
            ("{{ '}}' }}x", &[('e', "{{ '}}' }}"), ('t', "x")]),
            (
                "{{ \"\\\"}}\" }}x",
                &[('e', "{{ \"\\\"}}\" }}"), ('t', "x")],
            ),
            ("{{ {'a': {}} }}x", &[('e', "{{ {'a': {}} }}"), ('t', "x")]),
            ("{% if '%}' %}x", &[('b', "{% if '%}' %}"), ('t', "x")]),
            ("{# {{ a }} #}x", &[('b', "{# {{ a }} #}"), ('t', "x")]),
            (
                "{% raw %}{{ a }}{% endraw %}x",
                &[('r', "{{ a }}"), ('t', "x")],
            ),
            (
                "a {{- b -}} c",
                &[('t', "a"), ('e', "{{- b -}}"), ('t', "c")],
            ),
            (
                "a {#- b -#} c",
                &[('t', "a"), ('b', "{#- b -#}"), ('t', "c")],
            ),
            (
                "a {%- raw -%} b {%- endraw -%} c",
                &[('t', "a"), ('r', "b"), ('t', "c")],
            ),
            (
                "é{{ 'é' }}é{{ a",
                &[('t', "é"), ('e', "{{ 'é' }}"), ('t', "é"), ('e', "{{ a")],
            ),
        ];
        for (source, expected) in cases {
            assert_eq!(pieces(source), expected, "{source}");
        }
    }

    #[test]
    fn a_lone_brace_opens_nothing() {
        assert_eq!(pieces("a: {b: {c: 1}}"), [('t', "a: {b: {c: 1}}")]);
    }
}
