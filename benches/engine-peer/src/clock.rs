//! Times of rows, taken by turns.

use std::time::Duration;

/// Makes that many calls; answers how long they took, without what was prepared for them.
pub type Calls<'a> = Box<dyn FnMut(usize) -> Duration + 'a>;

/// Something that is measured, on our side and, where it has the like, on the peer's.
pub struct Row<'a> {
    pub work: String,
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

/// Calls between two looks at the clock. Tens of microseconds for the quickest calls, which is far more
/// than the clock's own cost, and short enough that few batches are interrupted.
const BATCH_CALLS: usize = 32;
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
                times[side] = calls.map(batch);
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
fn batch(calls: &mut Calls<'_>) -> f64 {
    calls(BATCH_CALLS).as_nanos() as f64 / BATCH_CALLS as f64
}

fn median(mut times: Vec<f64>) -> Option<f64> {
    times.sort_by(f64::total_cmp);
    times.get(times.len() / 2).copied()
}
