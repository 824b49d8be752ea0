//! A short session of a random GUI. `examples/stress.rs` runs longer ones.

pub(crate) mod gui;

use std::time::Duration;

use self::gui::{Tally, Timeouts, session};

#[test]
fn random_sessions_find_no_errors() {
    let delays = || Duration::ZERO;
    let timeout = Timeouts { hung: Duration::from_mins(1), late: None, delays };
    let mut tally = Tally::default();
    for seed in 0..6 {
        tally.add(&session(seed, 25, timeout).unwrap_or_else(|error| panic!("{error}")));
    }
    assert_eq!(tally.searches, 6 * 25);
    assert!(tally.stops > 0 && tally.hits > 0 && tally.misses > 0 && tally.options > 0);
}
