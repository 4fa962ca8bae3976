//! Reading JSON text where it lies: the I-JSON check at the door, and the steps that look-ups and
//! edits walk with afterwards.
//!
//! Two kinds of function live here. [`check()`] reads every byte and trusts nothing. The others walk
//! text that has passed it; on other text they stop early and answer "nothing there", never panic.

mod block;
mod check;
mod children;
mod skip;
mod skips;
mod string;

pub(crate) use block::{BLOCK_BYTES, Block, Blocks};
pub use check::NotIJson;
pub(crate) use check::{check, check_members};
pub(crate) use children::Children;
pub(crate) use skip::{
    depth, skip_space, skip_string, skip_string_until, skip_value, skip_value_until,
};
pub(crate) use skips::Skips;
pub(crate) use string::{
    has_escape, inside, push_string, shown, string_is, string_value, string_value_until,
    unescape_until,
};

#[cfg(test)]
mod tests;

#[cfg(test)]
thread_local! {
    pub(crate) static SCANNED: std::cell::Cell<usize> = const { std::cell::Cell::new(0) };
}

/// Notes that so many bytes of text were read. Nothing but a test's business.
#[inline(always)]
pub(crate) fn count(bytes: usize) {
    #[cfg(test)]
    SCANNED.with(|scanned| scanned.set(scanned.get() + bytes));
    #[cfg(not(test))]
    let _ = bytes;
}
