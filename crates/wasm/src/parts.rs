//! How many components and modules lie in a component, and how deep in each other, found out before anything is
//! made of them.
//!
//! wasmtime keeps something for each part and for each level it is in, so a file of a megabyte that is nothing but
//! heads of nested components would take all memory there is. Only the heads of sections are read here; whether the
//! rest makes sense is for the compiler to say.

use hookgate_core::LoadError;

use crate::limits::{MAX_PART_DEPTH, MAX_PARTS};

/// Length of magic number, version and layer, which every part begins with.
const HEADER_BYTES: usize = 8;
/// The section of a component that holds a core module.
const MODULE: u8 = 1;
/// The section of a component that holds a component.
const COMPONENT: u8 = 4;

/// Refuses a component of too many parts.
pub(crate) fn check(bytes: &[u8]) -> Result<(), LoadError> {
    // Ends of the components around the place that is read.
    let mut ends = vec![bytes.len()];
    let mut parts = 0_usize;
    let mut at = HEADER_BYTES;
    while let Some(end) = ends.last().copied() {
        if at >= end {
            ends.pop();
            continue;
        }
        let kind = bytes[at];
        let Some((size, body)) = number(bytes, at + 1) else {
            return Ok(());
        };
        let section_end = body.saturating_add(size);
        if section_end > end {
            return Ok(());
        }
        at = section_end;
        if kind == MODULE || kind == COMPONENT {
            parts += 1;
        }
        if kind == COMPONENT {
            ends.push(section_end);
            at = body + HEADER_BYTES;
        }
        if parts > MAX_PARTS {
            return Err(refused(format!(
                "it has more than {MAX_PARTS} components and modules in it"
            )));
        }
        if ends.len() > MAX_PART_DEPTH {
            return Err(refused(format!(
                "it has components in each other to a depth of more than {MAX_PART_DEPTH}"
            )));
        }
    }
    Ok(())
}

fn refused(what: String) -> LoadError {
    LoadError::new(format!("the component is not valid: {what}"))
        .hint("compose fewer components into one, or give each an entry of its own")
}

/// An unsigned LEB128 number of at most 32 bits, and the place behind it.
fn number(bytes: &[u8], mut at: usize) -> Option<(usize, usize)> {
    let mut value = 0_usize;
    for shift in [0, 7, 14, 21, 28] {
        let byte = *bytes.get(at)?;
        at += 1;
        value |= usize::from(byte & 0x7f) << shift;
        if byte < 0x80 {
            return Some((value, at));
        }
    }
    None
}
