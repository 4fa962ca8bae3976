//! [`Places`]: from an offset in the text to the pointer of the value there.

use std::ops::Range;

use crate::interrupt::{Interrupt, Stopped};
use crate::pointer::Pointer;
use crate::scan::{self, BLOCK_BYTES, Block, Blocks};

/// Follows the structure of a text only as far as somebody asks, and never twice.
pub(super) struct Places<'a> {
    text: &'a str,
    under: &'a Pointer,
    blocks: Blocks<'a>,
    block: Option<Block>,
    /// The brackets and commas of the block that are still to be read.
    left: u64,
    /// The containers that are open there, outermost first.
    open: Vec<Container>,
}

/// Where the value starts that the byte at `at` belongs to, which lies in no container within it; none if the
/// byte belongs to a key, or to no value at all.
pub(crate) fn value_at(text: &str, at: usize) -> Option<usize> {
    let (bytes, root) = (text.as_bytes(), Pointer::root());
    let mut places = Places::new(text, &root, &(0..text.len()));
    places.advance(at, &mut Interrupt::never()).ok()?;
    let mut start = 0;
    if let Some(container) = places.open.last() {
        start = container.child;
        if container.index.is_none() {
            let key = scan::skip_space(bytes, start);
            start = scan::skip_space(bytes, scan::skip_string(bytes, key)) + 1;
        }
    }
    let start = scan::skip_space(bytes, start);
    (start <= at).then_some(start)
}

struct Container {
    /// Behind the bracket or comma before the current child.
    child: usize,
    /// The current child's index; none in an object.
    index: Option<usize>,
}

impl<'a> Places<'a> {
    /// `range` is that of the value at `under`.
    pub(super) fn new(text: &'a str, under: &'a Pointer, range: &Range<usize>) -> Self {
        Self {
            text,
            under,
            blocks: Blocks::new(text.as_bytes(), range.start),
            block: None,
            left: 0,
            open: Vec::new(),
        }
    }

    /// The pointer of the value that starts at `at`; each must lie behind the one asked for before.
    pub(super) fn pointer(
        &mut self,
        at: usize,
        interrupt: &mut Interrupt<'_>,
    ) -> Result<Pointer, Stopped> {
        self.advance(at, interrupt)?;
        let mut pointer = self.under.clone();
        for container in &self.open {
            match container.index {
                Some(index) => pointer.push(index.to_string()),
                None => {
                    let bytes = self.text.as_bytes();
                    let start = scan::skip_space(bytes, container.child);
                    let end = scan::skip_string_until(bytes, start, interrupt)?;
                    let key = scan::string_value_until(&self.text[start..end], interrupt)?;
                    pointer.push(key);
                }
            }
        }
        Ok(pointer)
    }

    fn advance(&mut self, to: usize, interrupt: &mut Interrupt<'_>) -> Result<(), Stopped> {
        loop {
            let Some(block) = &self.block else {
                interrupt.spend(BLOCK_BYTES)?;
                let Some(block) = self.blocks.next() else {
                    return Ok(());
                };
                self.left = block.open() | block.close() | block.comma();
                self.block = Some(block);
                continue;
            };
            while self.left != 0 {
                let at = block.at + self.left.trailing_zeros() as usize;
                if at >= to {
                    return Ok(());
                }
                self.left &= self.left - 1;
                match self.text.as_bytes()[at] {
                    b'[' | b'{' => self.open.push(Container {
                        child: at + 1,
                        index: (self.text.as_bytes()[at] == b'[').then_some(0),
                    }),
                    b',' => {
                        if let Some(container) = self.open.last_mut() {
                            container.child = at + 1;
                            container.index = container.index.map(|index| index + 1);
                        }
                    }
                    _ => drop(self.open.pop()),
                }
            }
            if block.at + BLOCK_BYTES >= to {
                return Ok(());
            }
            self.block = None;
        }
    }
}
