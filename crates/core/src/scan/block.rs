//! JSON text 64 bytes at a time: where its quotes, brackets and commas are, one bit a byte.

/// Bytes of a block: as many as a word has bits.
pub(crate) const BLOCK_BYTES: usize = 64;
const ONES: u64 = u64::from_ne_bytes([1; 8]);
/// Gathers the lowest bits of eight bytes in the topmost byte of the product.
const GATHER: u64 = 0x0102_0408_1020_4080;

const QUOTE: u8 = 1;
const OPEN: u8 = 2;
const CLOSE: u8 = 4;
const COMMA: u8 = 8;
const BACKSLASH: u8 = 16;

/// What each byte of a block is, eight bytes a word.
struct Kinds([u64; 8]);

impl Kinds {
    /// A loop without branches over bytes, which compilers make vector code of.
    #[inline]
    fn of(block: &[u8; BLOCK_BYTES]) -> Self {
        let mut kinds = [0u8; BLOCK_BYTES];
        for (kind, byte) in kinds.iter_mut().zip(block) {
            // `[` and `{`, and `]` and `}`, differ in this bit alone.
            let bracket = byte | 0x20;
            *kind = (u8::from(*byte == b'"') * QUOTE)
                | (u8::from(bracket == b'{') * OPEN)
                | (u8::from(bracket == b'}') * CLOSE)
                | (u8::from(*byte == b',') * COMMA)
                | (u8::from(*byte == b'\\') * BACKSLASH);
        }
        let (words, _) = kinds.as_chunks::<8>();
        let mut all = [0; 8];
        for (word, bytes) in all.iter_mut().zip(words) {
            *word = u64::from_le_bytes(*bytes);
        }
        Self(all)
    }

    /// The bytes of the kind, one bit each.
    #[inline]
    fn mask(&self, kind: u8) -> u64 {
        let shift = kind.trailing_zeros();
        let mut mask = 0;
        for (index, word) in self.0.iter().enumerate() {
            mask |= (((word >> shift) & ONES).wrapping_mul(GATHER) >> 56) << (8 * index);
        }
        mask
    }

    #[inline]
    fn has(&self, kind: u8) -> bool {
        self.0.iter().fold(0, |any, word| any | word) & (ONES * u64::from(kind)) != 0
    }
}

/// A stretch of 64 bytes. What is behind the text reads as white space.
pub(crate) struct Block {
    /// Where it starts.
    pub(crate) at: usize,
    kinds: Kinds,
    outside: u64,
}

impl Block {
    /// `{` and `[` outside of strings.
    #[inline]
    pub(crate) fn open(&self) -> u64 {
        self.kinds.mask(OPEN) & self.outside
    }

    /// `}` and `]` outside of strings.
    #[inline]
    pub(crate) fn close(&self) -> u64 {
        self.kinds.mask(CLOSE) & self.outside
    }

    /// `,` outside of strings.
    #[inline]
    pub(crate) fn comma(&self) -> u64 {
        self.kinds.mask(COMMA) & self.outside
    }
}

/// The blocks of a text from a place outside of strings on.
pub(crate) struct Blocks<'a> {
    bytes: &'a [u8],
    at: usize,
    /// All ones if the next block starts inside a string.
    inside: u64,
    /// One if the first byte of the next block is escaped.
    escaped: u64,
}

impl<'a> Blocks<'a> {
    pub(crate) fn new(bytes: &'a [u8], at: usize) -> Self {
        Self {
            bytes,
            at,
            inside: 0,
            escaped: 0,
        }
    }

    /// The bytes of a block that an odd number of backslashes stands before.
    fn escaped(&mut self, backslashes: u64) -> u64 {
        const EVEN: u64 = 0x5555_5555_5555_5555;
        let backslashes = backslashes & !self.escaped;
        let follows = (backslashes << 1) | self.escaped;
        let odd_starts = backslashes & !EVEN & !follows;
        let (even_runs, over) = odd_starts.overflowing_add(backslashes);
        self.escaped = u64::from(over);
        (EVEN ^ (even_runs << 1)) & follows
    }
}

impl Iterator for Blocks<'_> {
    type Item = Block;

    #[inline]
    fn next(&mut self) -> Option<Block> {
        let at = self.at;
        let rest = self.bytes.get(at..).filter(|rest| !rest.is_empty())?;
        let kinds = match rest.first_chunk() {
            Some(block) => Kinds::of(block),
            None => {
                let mut block = [b' '; BLOCK_BYTES];
                block[..rest.len()].copy_from_slice(rest);
                Kinds::of(&block)
            }
        };
        let mut quotes = kinds.mask(QUOTE);
        if self.escaped != 0 || kinds.has(BACKSLASH) {
            quotes &= !self.escaped(kinds.mask(BACKSLASH));
        }
        let inside = prefix_xor(quotes) ^ self.inside;
        self.inside = (inside.cast_signed() >> 63).cast_unsigned();
        self.at = at + BLOCK_BYTES;
        super::count(BLOCK_BYTES);
        Some(Block {
            at,
            kinds,
            outside: !inside,
        })
    }
}

/// Each bit is whether the number of bits up to it is odd.
#[inline]
fn prefix_xor(bits: u64) -> u64 {
    let bits = bits ^ (bits << 1);
    let bits = bits ^ (bits << 2);
    let bits = bits ^ (bits << 4);
    let bits = bits ^ (bits << 8);
    let bits = bits ^ (bits << 16);
    bits ^ (bits << 32)
}
