//! Number of parallel game pairs.

use readyok::matches::Slots;

#[test]
fn zero_uses_all_cpus() {
    let count = |wanted, each, cpus| Slots::new(wanted, each, cpus).count;
    assert_eq!(count(0, 1, 8), 8);
    assert_eq!(count(0, 2, 8), 4, "with pondering");
    assert_eq!(count(0, 3, 8), 2);
    assert_eq!(count(0, 16, 8), 1);
    assert_eq!(count(5, 16, 8), 5, "an explicit number is not limited");
}

#[test]
fn warns_if_slots_exceed_the_cpus() {
    assert_eq!(Slots::new(4, 2, 8).overload_warning(), None);
    assert_eq!(Slots::new(0, 16, 16).overload_warning(), None);
    let warning = Slots::new(64, 2, 2).overload_warning().expect("it is too much");
    assert!(warning.contains("64 game pairs in parallel use 128 CPU cores"), "{warning}");
    assert!(warning.contains("only 2 are available"), "{warning}");
    assert!(Slots::new(0, 16, 8).overload_warning().is_some(), "one is too much");
    assert!(Slots::new(usize::MAX, usize::MAX, 1).overload_warning().is_some());
}
