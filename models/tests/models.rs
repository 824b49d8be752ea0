//! Models of the transposition table and of the signals to a search.

#[test]
fn entries_are_never_mixed() {
    readyok_models::entries_are_never_mixed();
}

#[test]
fn ponder_hit_publishes_its_clock() {
    readyok_models::ponder_hit_publishes_its_clock();
}
