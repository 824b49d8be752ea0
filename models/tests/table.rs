//! The hash table, shared by searching threads without locks.

#[test]
fn entries_are_never_mixed() {
    readyok_models::entries_are_never_mixed();
}
