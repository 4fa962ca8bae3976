//! The search for tokens: in whole texts, and in one that comes in pieces.

use std::borrow::Cow;
use std::collections::{HashMap, HashSet};
use std::ops::Range;

use aho_corasick::AhoCorasick;

use super::{HIDDEN, forms};

/// Forms are found by their first bytes. A start this long is no word by chance: where a text ends with one
/// it is hidden; what is shorter tells nothing.
const HEAD_BYTES: usize = 8;
/// What the worker writes where it cuts a long text, before and behind the number.
const CUT: (&str, &str) = ("\n[... ", " characters ...]\n");

/// Finds tokens in all their forms.
pub(crate) struct Finder {
    forms: Vec<Vec<u8>>,
    heads: AhoCorasick,
    /// The forms of each head.
    of_head: Vec<Vec<usize>>,
    /// Everything a head begins with.
    starts: HashSet<Vec<u8>>,
}

/// What is in a text: tokens, and where one may begin that ends beyond it.
#[derive(Default)]
struct Found {
    whole: Vec<Range<usize>>,
    begun: Option<usize>,
}

impl Finder {
    pub(super) fn new<'t>(tokens: impl Iterator<Item = &'t str>) -> Self {
        let mut forms: Vec<_> = tokens.flat_map(forms::of).collect();
        forms.retain(|form| form.len() >= HEAD_BYTES);
        let (mut heads, mut of_head, mut places) =
            (Vec::new(), Vec::<Vec<usize>>::new(), HashMap::new());
        let mut starts = HashSet::new();
        for (index, form) in forms.iter().enumerate() {
            let head = &form[..HEAD_BYTES];
            let place = *places.entry(head.to_vec()).or_insert_with(|| {
                heads.push(head.to_vec());
                of_head.push(Vec::new());
                heads.len() - 1
            });
            of_head[place].push(index);
            starts.extend((1..HEAD_BYTES).map(|length| head[..length].to_vec()));
        }
        // INVARIANT: it fails only past four billion states, and all tokens together are bounded.
        let heads = AhoCorasick::new(&heads).expect("few and short patterns");
        Self {
            forms,
            heads,
            of_head,
            starts,
        }
    }

    /// A whole text with asterisks for tokens.
    pub(super) fn hide<'t>(&self, text: &'t str) -> Cow<'t, str> {
        let mut shown = Vec::with_capacity(text.len());
        let mut rest = text;
        let mut behind_cut = false;
        loop {
            let cut = cut(rest);
            let part = &rest.as_bytes()[..cut.as_ref().map_or(rest.len(), |cut| cut.start)];
            let skipped = if behind_cut {
                self.rest_at_start(part)
            } else {
                0
            };
            if skipped > 0 {
                shown.extend_from_slice(HIDDEN.as_bytes());
            }
            let mut scrubber = Scrubber::default();
            shown.extend(scrubber.take(self, &part[skipped..]));
            shown.extend(scrubber.finish(self));
            let Some(cut) = cut else { break };
            shown.extend_from_slice(rest[cut.clone()].as_bytes());
            rest = &rest[cut.end..];
            behind_cut = true;
        }
        if shown == text.as_bytes() {
            return text.into();
        }
        String::from_utf8_lossy(&shown).into_owned().into()
    }

    /// How many bytes at the start of a text are the rest of a token that began where it was cut.
    fn rest_at_start(&self, text: &[u8]) -> usize {
        let rests = self.forms.iter().map(|form| {
            let lengths = HEAD_BYTES..form.len().min(text.len() + 1);
            lengths
                .rev()
                .find(|length| text.starts_with(&form[form.len() - length..]))
        });
        rests.flatten().max().unwrap_or(0)
    }

    fn search(&self, text: &[u8]) -> Found {
        let mut found = Found::default();
        for hit in self.heads.find_overlapping_iter(text) {
            let rest = &text[hit.start()..];
            for form in self.of_head[hit.pattern().as_usize()]
                .iter()
                .map(|index| &self.forms[*index])
            {
                if rest.starts_with(form) {
                    found.whole.push(hit.start()..hit.start() + form.len());
                } else if form.starts_with(rest) && found.begun.is_none() {
                    found.begun = Some(hit.start());
                }
            }
        }
        if found.begun.is_none() {
            let lengths = (1..HEAD_BYTES.min(text.len() + 1)).rev();
            let mut starts = lengths.map(|length| text.len() - length);
            found.begun = starts.find(|start| self.starts.contains(&text[*start..]));
        }
        found
    }
}

fn cut(text: &str) -> Option<Range<usize>> {
    let mut from = 0;
    while let Some(at) = text[from..].find(CUT.0) {
        let start = from + at;
        from = start + CUT.0.len();
        let digits = text[from..].bytes().take_while(u8::is_ascii_digit).count();
        if digits > 0 && text[from + digits..].starts_with(CUT.1) {
            return Some(start..from + digits + CUT.1.len());
        }
    }
    None
}

/// A text read in another way, each byte with where it comes from.
#[derive(Default)]
struct View {
    bytes: Vec<u8>,
    from: Vec<Range<usize>>,
    /// Where an escape begins that ends beyond the text.
    torn: Option<usize>,
}

impl View {
    fn push(&mut self, byte: u8, from: Range<usize>) {
        self.bytes.push(byte);
        self.from.push(from);
    }

    /// Without single line breaks: what wraps a token hides nothing.
    fn unwrapped(text: &[u8]) -> Self {
        let mut view = Self::default();
        let (mut at, mut broken) = (0, false);
        while at < text.len() {
            let width = match &text[at..] {
                [b'\n', ..] | [b'\r'] => 1,
                [b'\r', b'\n', ..] => 2,
                _ => 0,
            };
            if width > 0 && !broken {
                broken = true;
                at += width;
                continue;
            }
            broken = false;
            view.push(text[at], at..at + 1);
            at += 1;
        }
        view
    }

    /// With percent-encoded bytes decoded; none if there are none.
    fn decoded(&self) -> Option<Self> {
        if !self.bytes.contains(&b'%') {
            return None;
        }
        let mut view = Self::default();
        let hex = |byte: u8| char::from(byte).to_digit(16);
        let mut at = 0;
        while at < self.bytes.len() {
            let (byte, width) = match &self.bytes[at..] {
                [b'%', high, low, ..] => match (hex(*high), hex(*low)) {
                    // INVARIANT: two hexadecimal digits are a byte.
                    (Some(high), Some(low)) => ((high * 16 + low) as u8, 3),
                    _ => (b'%', 1),
                },
                [b'%'] => {
                    view.torn = Some(self.from[at].start);
                    break;
                }
                [b'%', high] if hex(*high).is_some() => {
                    view.torn = Some(self.from[at].start);
                    break;
                }
                [byte, ..] => (*byte, 1),
                [] => break,
            };
            view.push(byte, self.from[at].start..self.from[at + width - 1].end);
            at += width;
        }
        Some(view)
    }

    fn place(&self, range: &Range<usize>) -> Range<usize> {
        self.from[range.start].start..self.from[range.end - 1].end
    }
}

/// Hides tokens in a text that comes in pieces, wherever it is cut.
///
/// What may be the beginning of a token is held back until the next piece shows, but never past the end of a
/// line: a line is shown when it is complete. There a beginning that is long enough to tell something is hidden
/// and remembered, so that its rest is hidden too.
#[derive(Default)]
pub(crate) struct Scrubber {
    /// From the first byte on that what is to come may turn into a token.
    held: Vec<u8>,
    /// How many of these are out already.
    shown: usize,
    /// How many of these belong to a token that was found.
    hidden: usize,
    /// Whether the last byte that is out was hidden.
    hiding: bool,
}

impl Scrubber {
    /// One more piece; gives what can be shown.
    pub(crate) fn take(&mut self, finder: &Finder, piece: &[u8]) -> Vec<u8> {
        self.held.extend_from_slice(piece);
        self.advance(finder, false)
    }

    /// The same where nothing is known that must be hidden.
    pub(crate) fn take_all(&mut self, piece: &[u8]) -> Vec<u8> {
        self.held.extend_from_slice(piece);
        let shown = self.held.split_off(self.shown);
        *self = Self::default();
        shown
    }

    /// The text has ended; gives what was held back.
    pub(crate) fn finish(&mut self, finder: &Finder) -> Vec<u8> {
        self.advance(finder, true)
    }

    fn advance(&mut self, finder: &Finder, ends: bool) -> Vec<u8> {
        let text = &self.held;
        let mut hidden: Vec<_> = std::iter::once(0..self.hidden).collect();
        let mut begun = None::<(Range<usize>, usize)>;
        let mut open = text.len();
        let unwrapped = View::unwrapped(text);
        let decoded = unwrapped.decoded();
        for view in [Some(&unwrapped), decoded.as_ref()].into_iter().flatten() {
            let found = finder.search(&view.bytes);
            hidden.extend(found.whole.iter().map(|range| view.place(range)));
            if let Some(start) = found.begun {
                let place = view.place(&(start..view.bytes.len()));
                open = open.min(place.start);
                if begun
                    .as_ref()
                    .is_none_or(|(known, _)| place.start < known.start)
                {
                    begun = Some((place, view.bytes.len() - start));
                }
            }
            open = open.min(view.torn.unwrap_or(open));
        }
        let lines = text
            .iter()
            .rposition(|byte| *byte == b'\n')
            .map_or(0, |at| at + 1);
        let upto = if ends { text.len() } else { open.max(lines) }.max(self.shown);
        if let Some((place, length)) = begun
            && length >= HEAD_BYTES
            && place.start < upto
        {
            hidden.push(place.start..place.end.min(upto));
        }
        let shown = emit(text, self.shown..upto, &mut hidden, &mut self.hiding);
        let kept = if ends { text.len() } else { open.min(upto) };
        self.hidden = hidden
            .iter()
            .map(|range| range.end)
            .max()
            .unwrap_or(0)
            .saturating_sub(kept);
        self.held.drain(..kept);
        self.shown = upto - kept;
        if ends {
            *self = Self::default();
        }
        shown
    }
}

/// The part `shown` of a text with asterisks for what is hidden in it, on each line for itself.
fn emit(
    text: &[u8],
    shown: Range<usize>,
    hidden: &mut [Range<usize>],
    hiding: &mut bool,
) -> Vec<u8> {
    hidden.sort_by_key(|range| range.start);
    let mut out = Vec::with_capacity(shown.len());
    let (mut next, mut until) = (0, 0);
    for at in shown {
        while let Some(range) = hidden.get(next).filter(|range| range.start <= at) {
            until = until.max(range.end);
            next += 1;
        }
        let breaks = text[at] == b'\n' || text[at..].starts_with(b"\r\n");
        if at >= until || breaks {
            out.push(text[at]);
            *hiding = false;
        } else if !*hiding {
            out.extend_from_slice(HIDDEN.as_bytes());
            *hiding = true;
        }
    }
    out
}

#[cfg(test)]
mod tests;
