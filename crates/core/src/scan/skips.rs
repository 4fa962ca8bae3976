//! [`Skips`]: where the large containers of a text end, noted by the check that reads them anyway.

use std::ops::Range;
use std::sync::Arc;

/// Bytes of a container from which on its end is noted. Smaller ones are read over in a microsecond, and
/// even where all containers nest as deep as they may, the notes take a fifth of the text.
pub(super) const NOTED_BYTES: usize = 4 << 10;

/// The start of each large container and the offset behind it, by start. Cheap to clone.
#[derive(Debug, Clone, Default)]
pub(crate) struct Skips(Option<Arc<[(u32, u32)]>>);

impl Skips {
    /// `ends` in any order.
    pub(crate) fn new(mut ends: Vec<(u32, u32)>) -> Self {
        ends.sort_unstable();
        Self((!ends.is_empty()).then(|| ends.into()))
    }

    /// The offset behind the container that starts at `start`, if that was noted.
    #[inline]
    pub(crate) fn end(&self, start: usize) -> Option<usize> {
        let ends = self.0.as_deref()?;
        let start = u32::try_from(start).ok()?;
        let index = ends
            .binary_search_by_key(&start, |(start, _)| *start)
            .ok()?;
        usize::try_from(ends[index].1).ok()
    }

    /// Adds those in `range` to `ends`, for a copy of it that starts at `to`.
    pub(crate) fn copy(&self, range: &Range<usize>, to: usize, ends: &mut Vec<(u32, u32)>) {
        let all = self.0.as_deref().unwrap_or_default();
        let first = all.partition_point(|(start, _)| (*start as usize) < range.start);
        for (start, end) in &all[first..] {
            let (start, end) = (*start as usize, *end as usize);
            if end > range.end {
                break;
            }
            let moved = |at: usize| u32::try_from(at - range.start + to);
            if let (Ok(start), Ok(end)) = (moved(start), moved(end)) {
                ends.push((start, end));
            }
        }
    }
}
