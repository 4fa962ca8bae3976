//! Mutants: a seed with something flipped, cut, put in from elsewhere, or its sections in another order.

/// SplitMix64: small, and the same everywhere.
pub struct Random(u64);

impl Random {
    pub fn new(seed: u64) -> Self {
        Self(seed)
    }

    fn next(&mut self) -> u64 {
        self.0 = self.0.wrapping_add(0x9e37_79b9_7f4a_7c15);
        let mut z = self.0;
        z = (z ^ (z >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
        z = (z ^ (z >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
        z ^ (z >> 31)
    }

    /// A number below `end`, which is not 0.
    fn below(&mut self, end: usize) -> usize {
        let end = u64::try_from(end.max(1)).unwrap_or(u64::MAX);
        usize::try_from(self.next() % end).unwrap_or(0)
    }

    fn byte(&mut self) -> u8 {
        self.next().to_le_bytes()[0]
    }
}

/// Magic number, version and layer.
const HEADER: usize = 8;
/// Numbers that lengths and counts are checked against, as LEB128.
const EDGES: [&[u8]; 6] = [
    &[0x00],
    &[0x7f],
    &[0x80, 0x80, 0x04],
    &[0xff, 0xff, 0xff, 0xff, 0x07],
    &[0xff, 0xff, 0xff, 0xff, 0x0f],
    &[0x80, 0x80, 0x80, 0x80, 0x80, 0x80, 0x80, 0x80, 0x80, 0x01],
];

/// Makes mutants of a corpus.
pub struct Mutator<'a> {
    corpus: &'a [Vec<u8>],
}

impl<'a> Mutator<'a> {
    pub fn new(corpus: &'a [Vec<u8>]) -> Self {
        Self { corpus }
    }

    /// A mutant, and what was done to which seed.
    pub fn mutant(&self, random: &mut Random) -> (Vec<u8>, String) {
        let place = random.below(self.corpus.len());
        let mut bytes = self.corpus[place].clone();
        let mut how = format!("seed {place}");
        for _ in 0..=random.below(3) {
            let (name, mutate) = KINDS[random.below(KINDS.len())];
            let other = &self.corpus[random.below(self.corpus.len())];
            mutate(&mut bytes, other, random);
            how.push_str(", ");
            how.push_str(name);
        }
        (bytes, how)
    }
}

/// What does it to the bytes, with another seed to take from.
type Mutate = fn(&mut Vec<u8>, &[u8], &mut Random);

const KINDS: [(&str, Mutate); 10] = [
    ("flip", flip),
    ("flip near the front", flip_in_front),
    ("number", number),
    ("truncation", truncate),
    ("removal", remove),
    ("repetition", repeat),
    ("splice", splice),
    ("sections swapped", swap_sections),
    ("section from elsewhere", foreign_section),
    ("nesting", nest),
];

#[expect(clippy::ptr_arg, reason = "one type for all kinds")]
fn flip(bytes: &mut Vec<u8>, _: &[u8], random: &mut Random) {
    for _ in 0..=random.below(8) {
        let end = bytes.len();
        flip_one(bytes, HEADER, end, random);
    }
}

/// Where types, imports and lengths are, rather than code.
#[expect(clippy::ptr_arg, reason = "one type for all kinds")]
fn flip_in_front(bytes: &mut Vec<u8>, _: &[u8], random: &mut Random) {
    for _ in 0..=random.below(4) {
        let end = bytes.len().min(2048);
        flip_one(bytes, 0, end, random);
    }
}

fn flip_one(bytes: &mut [u8], start: usize, end: usize, random: &mut Random) {
    if start < end {
        let at = start + random.below(end - start);
        bytes[at] = match random.below(2) {
            0 => bytes[at] ^ (1 << random.below(8)),
            _ => random.byte(),
        };
    }
}

fn number(bytes: &mut Vec<u8>, _: &[u8], random: &mut Random) {
    let edge = EDGES[random.below(EDGES.len())];
    let at = random.below(bytes.len());
    let end = (at + edge.len()).min(bytes.len());
    bytes.splice(at..end, edge.iter().copied());
}

fn truncate(bytes: &mut Vec<u8>, _: &[u8], random: &mut Random) {
    bytes.truncate(random.below(bytes.len()));
}

fn remove(bytes: &mut Vec<u8>, _: &[u8], random: &mut Random) {
    let (start, end) = range(bytes, random);
    bytes.drain(start..end);
}

fn repeat(bytes: &mut Vec<u8>, _: &[u8], random: &mut Random) {
    let (start, end) = range(bytes, random);
    let piece = bytes[start..end].to_vec();
    bytes.splice(end..end, piece);
}

fn splice(bytes: &mut Vec<u8>, other: &[u8], random: &mut Random) {
    let (start, end) = range(other, random);
    let at = random.below(bytes.len());
    bytes.splice(at..at, other[start..end].iter().copied());
}

/// A stretch of at most a kilobyte.
fn range(bytes: &[u8], random: &mut Random) -> (usize, usize) {
    let start = random.below(bytes.len());
    let end = (start + 1 + random.below(1024)).min(bytes.len());
    (start.min(end), end)
}

fn swap_sections(bytes: &mut Vec<u8>, _: &[u8], random: &mut Random) {
    let mut sections = sections(bytes);
    if sections.len() > 1 {
        let (one, other) = (random.below(sections.len()), random.below(sections.len()));
        sections.swap(one, other);
        *bytes = joined(bytes, &sections);
    }
}

fn foreign_section(bytes: &mut Vec<u8>, other: &[u8], random: &mut Random) {
    let (mine, theirs) = (sections(bytes), sections(other));
    if theirs.is_empty() {
        return;
    }
    let mut mine: Vec<_> = mine;
    mine.insert(
        random.below(mine.len() + 1),
        theirs[random.below(theirs.len())].clone(),
    );
    *bytes = joined(bytes, &mine);
}

/// Puts it into a component, and that into another, and so on.
fn nest(bytes: &mut Vec<u8>, _: &[u8], random: &mut Random) {
    const HEAD: [u8; HEADER] = *b"\0asm\x0d\0\x01\0";
    const COMPONENT: u8 = 4;
    for _ in 0..=random.below(64) {
        let mut outer = HEAD.to_vec();
        outer.push(COMPONENT);
        let mut left = bytes.len();
        while left > 0x7f {
            outer.push(0x80 | u8::try_from(left & 0x7f).unwrap_or(0));
            left >>= 7;
        }
        outer.push(u8::try_from(left).unwrap_or(0));
        outer.append(bytes);
        *bytes = outer;
    }
}

fn joined(bytes: &[u8], sections: &[Vec<u8>]) -> Vec<u8> {
    let mut joined = bytes[..HEADER.min(bytes.len())].to_vec();
    sections
        .iter()
        .for_each(|section| joined.extend_from_slice(section));
    joined
}

/// The outermost sections with their heads, as far as they can be read.
fn sections(bytes: &[u8]) -> Vec<Vec<u8>> {
    let mut sections = Vec::new();
    let mut at = HEADER;
    while at < bytes.len() {
        let Some((size, body)) = length(bytes, at + 1) else {
            break;
        };
        let end = body.saturating_add(size);
        if end > bytes.len() {
            break;
        }
        sections.push(bytes[at..end].to_vec());
        at = end;
    }
    sections
}

/// An unsigned LEB128 number of at most 32 bits, and the place behind it.
fn length(bytes: &[u8], mut at: usize) -> Option<(usize, usize)> {
    let mut value = 0_usize;
    for shift in (0..35).step_by(7) {
        let byte = *bytes.get(at)?;
        at += 1;
        value |= usize::from(byte & 0x7f).checked_shl(shift)?;
        if byte < 0x80 {
            return Some((value, at));
        }
    }
    None
}
