//! What threads share: the hash table and the signals to a search.

#[test]
fn entries_are_never_mixed() {
    readyok_models::entries_are_never_mixed();
}

#[test]
fn a_ponder_hit_comes_with_its_clock() {
    readyok_models::a_ponder_hit_comes_with_its_clock();
}
