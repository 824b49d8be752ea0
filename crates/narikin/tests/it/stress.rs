//! A random GUI, for a short while. `examples/stress.rs` plays on for as long as is wanted.

pub(crate) mod gui;

use std::time::Duration;

use self::gui::{Tally, Timeouts, session};

#[test]
fn random_guis_find_nothing_wrong() {
    let stood_still = || Duration::ZERO;
    let timeout = Timeouts { hung: Duration::from_mins(1), late: None, stood_still };
    let mut tally = Tally::default();
    for seed in 0..6 {
        tally.add(&session(seed, 25, timeout).unwrap_or_else(|error| panic!("{error}")));
    }
    assert_eq!(tally.searches, 6 * 25);
    assert!(tally.stops > 0 && tally.hits > 0 && tally.misses > 0 && tally.options > 0);
}
