//! How many pairings are played at once.

use readyok::matches::Slots;

#[test]
fn as_many_pairings_as_the_processors_carry() {
    let count = |wanted, each, cpus| Slots::new(wanted, each, cpus).count;
    assert_eq!(count(0, 1, 8), 8);
    assert_eq!(count(0, 2, 8), 4, "with pondering");
    assert_eq!(count(0, 3, 8), 2);
    assert_eq!(count(0, 16, 8), 1);
    assert_eq!(count(5, 16, 8), 5, "whoever asks for a number gets it");
}

#[test]
fn more_than_the_processors_carry_is_told() {
    assert_eq!(Slots::new(4, 2, 8).complaint(), None);
    assert_eq!(Slots::new(0, 16, 16).complaint(), None);
    let told = Slots::new(64, 2, 2).complaint().expect("it is too much");
    assert!(told.contains("64 at once keep 128 processors busy"), "{told}");
    assert!(told.contains("there are 2"), "{told}");
    assert!(Slots::new(0, 16, 8).complaint().is_some(), "one is too much");
    assert!(Slots::new(usize::MAX, usize::MAX, 1).complaint().is_some());
}

#[test]
fn slots_with_processors_of_their_own_are_no_more_than_there_are_processors_for() {
    let within = |wanted, each, cpus| {
        let slots = Slots::new(wanted, each, cpus).within();
        assert_eq!(slots.complaint(), None);
        (slots.count, slots.each)
    };
    assert_eq!(within(4, 1, 8), (4, 1));
    assert_eq!(within(8, 2, 8), (4, 2));
    assert_eq!(within(8, 16, 8), (1, 8));
    assert_eq!(within(8, 16, 0), (1, 1));
}
