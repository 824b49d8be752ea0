//! How many threads search together.
//!
//! A thread that has to wait for a processor helps nobody. It makes the one that answers wait as well, which
//! then sees neither the clock nor the client's word in time.

use std::{num::NonZero, thread};

/// The most threads that can be asked for.
pub(crate) const MOST: usize = 1024;

/// So many threads may share a processor: a search of four is one on any machine.
const PER_PROCESSOR: usize = 4;

/// How many threads search if so many are wanted.
pub(crate) fn useful(wanted: usize) -> usize {
    // Few do for any machine, so that it need not be asked about itself.
    if wanted <= PER_PROCESSOR { wanted.max(1) } else { useful_on(processors(), wanted) }
}

/// How many processors this process may use.
pub(crate) fn processors() -> usize {
    thread::available_parallelism().map_or(1, NonZero::get)
}

fn useful_on(processors: usize, wanted: usize) -> usize {
    wanted.clamp(1, processors.saturating_mul(PER_PROCESSOR)).min(MOST)
}

#[cfg(test)]
mod tests {
    use super::{useful, useful_on};

    #[test]
    fn no_more_than_four_threads_share_a_processor() {
        assert_eq!([0, 1, 4, 8, 9, 1024].map(|it| useful_on(2, it)), [1, 1, 4, 8, 8, 8]);
        assert_eq!([128, 129].map(|it| useful_on(32, it)), [128, 128]);
        assert_eq!(useful_on(512, usize::MAX), 1024);
        assert_eq!([0, 1, 4].map(useful), [1, 1, 4]);
    }
}
