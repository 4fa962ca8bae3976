//! Times, taken by turns.

use std::time::Duration;

/// Makes that many calls; answers how long they took, without what was prepared for them.
pub type Calls<'a> = Box<dyn FnMut(usize) -> Duration + 'a>;

/// Runs of a row. Odd, so that the median is one of them.
const RUNS: usize = 5;
/// What one side's turn takes, about.
const TURN: Duration = Duration::from_millis(5);
/// Turns of one run.
const TURNS: usize = 101;
/// Turns before: caches, allocators and the processor's clock settle.
const WARM_UP_TURNS: usize = 5;

/// Nanoseconds a call of each side, the median of its runs. `most`: calls of a turn, at most.
pub fn measure(sides: &mut [(Calls<'_>, usize)]) -> Vec<f64> {
    let mut runs: Vec<Vec<f64>> = vec![Vec::with_capacity(RUNS); sides.len()];
    let counts: Vec<usize> = sides
        .iter_mut()
        .map(|(calls, most)| count(calls, *most))
        .collect();
    for _ in 0..RUNS {
        let mut turns: Vec<Vec<f64>> = vec![Vec::with_capacity(TURNS); sides.len()];
        for turn in 0..WARM_UP_TURNS + TURNS {
            // Who comes first changes, so that nobody always finds the caches of the other.
            for place in 0..sides.len() {
                let side = (place + turn) % sides.len();
                let nanos = (sides[side].0)(counts[side]).as_nanos() as f64 / counts[side] as f64;
                if turn >= WARM_UP_TURNS {
                    turns[side].push(nanos);
                }
            }
        }
        for (run, turns) in runs.iter_mut().zip(turns) {
            run.push(quartile(turns));
        }
    }
    runs.into_iter().map(median).collect()
}

/// Calls that take about a turn.
fn count(calls: &mut Calls<'_>, most: usize) -> usize {
    let mut count = 1;
    while count < most && calls(count) < TURN / 2 {
        count *= 2;
    }
    count.min(most)
}

fn median(mut times: Vec<f64>) -> f64 {
    times.sort_by(f64::total_cmp);
    times[times.len() / 2]
}

/// The lower one: what else the machine does only ever makes a turn longer.
fn quartile(mut times: Vec<f64>) -> f64 {
    times.sort_by(f64::total_cmp);
    times[times.len() / 4]
}
