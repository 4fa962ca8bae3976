//! Times of rows, taken by turns.

use std::hint::black_box;
use std::time::Duration;

/// Makes that many calls; answers how long they took, without what was prepared for them.
pub type Calls<'a> = Box<dyn FnMut(usize) -> Duration + 'a>;

/// Something that is measured, on our side and, where it has the like, on the peer's.
pub struct Row<'a> {
    pub work: String,
    /// Bytes of the payload's text.
    pub bytes: usize,
    pub ours: Calls<'a>,
    pub peer: Option<Calls<'a>>,
}

/// Nanoseconds a call of one row.
pub struct Measured {
    pub work: String,
    pub ours: f64,
    pub peer: Option<f64>,
}

impl Measured {
    /// Ours by the peer's.
    pub fn ratio(&self) -> Option<f64> {
        self.peer.map(|peer| self.ours / peer)
    }
}

/// Calls between two looks at the clock, at most: for the quickest calls still tens of times what a
/// look costs, and short enough that few batches are interrupted.
const BATCH_CALLS: usize = 32;
/// Payload text of one batch, at most, so that a batch of large payloads is not much longer.
const BATCH_BYTES: usize = 100_000;
/// Larger than any payload, smaller than what allocators ask the system for.
const LARGE_BLOCK_BYTES: usize = 100 << 10;
/// Rounds that count. Odd, so that the median is one of them.
const ROUNDS: usize = 401;
/// Rounds before: caches, the allocator and the processor's clock settle.
const WARM_UP_ROUNDS: usize = 20;

/// Runs every row round by round.
pub fn measure(mut rows: Vec<Row<'_>>) -> Vec<Measured> {
    let mut ours: Vec<Vec<f64>> = vec![Vec::with_capacity(ROUNDS); rows.len()];
    let mut peer = ours.clone();
    for round in 0..WARM_UP_ROUNDS + ROUNDS {
        for (index, row) in rows.iter_mut().enumerate() {
            let mut times = [None, None];
            for side in [round % 2, (round + 1) % 2] {
                let calls = if side == 0 {
                    Some(&mut row.ours)
                } else {
                    row.peer.as_mut()
                };
                times[side] = calls.map(|calls| batch(calls, row.bytes));
            }
            if round >= WARM_UP_ROUNDS {
                ours[index].extend(times[0]);
                peer[index].extend(times[1]);
            }
        }
    }
    let times = ours.into_iter().zip(peer);
    rows.into_iter()
        .zip(times)
        .map(|(row, (ours, peer))| Measured {
            work: row.work,
            ours: median(ours).unwrap_or(f64::NAN),
            peer: median(peer),
        })
        .collect()
}

/// Nanoseconds a call of one batch.
fn batch(calls: &mut Calls<'_>, bytes: usize) -> f64 {
    let count = (BATCH_BYTES / bytes).clamp(1, BATCH_CALLS);
    // An allocator may put off sorting what was freed until somebody wants a large block: else one side
    // pays for what the other left behind.
    drop(black_box(Vec::<u8>::with_capacity(LARGE_BLOCK_BYTES)));
    calls(count).as_nanos() as f64 / count as f64
}

fn median(mut times: Vec<f64>) -> Option<f64> {
    times.sort_by(f64::total_cmp);
    times.get(times.len() / 2).copied()
}
