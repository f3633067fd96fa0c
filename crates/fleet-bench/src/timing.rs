//! Medians.

use std::time::Instant;

pub(crate) fn median(mut values: Vec<f64>) -> f64 {
    values.sort_by(f64::total_cmp);
    values[values.len() / 2]
}

pub(crate) fn millis<T>(f: impl FnOnce() -> T) -> f64 {
    let begun = Instant::now();
    let _ = std::hint::black_box(f());
    begun.elapsed().as_secs_f64() * 1_000.0
}

/// Medians of things that are measured in turn, so that whatever the machine does meanwhile meets all of them.
pub(crate) fn in_turn<const N: usize>(rounds: usize, mut things: [Box<dyn FnMut() + '_>; N]) -> [f64; N] {
    let mut times: [Vec<f64>; N] = std::array::from_fn(|_| Vec::with_capacity(rounds));
    for round in 0..rounds + WARM {
        for (thing, times) in things.iter_mut().zip(&mut times) {
            let took = millis(&mut *thing);
            if round >= WARM {
                times.push(took);
            }
        }
    }
    times.map(median)
}

/// Rounds that do not count: caches fill.
const WARM: usize = 3;
