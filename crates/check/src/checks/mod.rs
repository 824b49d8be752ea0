//! The checks, by area.

mod ending;
mod handshake;
mod info;
mod lexical;
mod options;
mod positions;
mod probe;
mod search;
mod usi;

use crate::check::{Check, Clause};

const AREAS: [&[Check]; 8] = [
    handshake::CHECKS,
    lexical::CHECKS,
    options::CHECKS,
    positions::CHECKS,
    search::CHECKS,
    info::CHECKS,
    ending::CHECKS,
    usi::CHECKS,
];

/// All checks, by area.
pub fn all() -> impl Iterator<Item = &'static Check> {
    AREAS.into_iter().flatten()
}

/// The check whose conversation is listened to if no other one is had.
pub(crate) fn sample() -> &'static Check {
    &search::PLAYS
}

const fn clause(place: &'static str, says: &'static str) -> Clause {
    Clause { place, says }
}

#[cfg(test)]
mod tests {
    use std::collections::BTreeSet;

    #[test]
    fn names_are_unique_and_of_one_form() {
        let mut seen = BTreeSet::new();
        for check in super::all() {
            assert!(seen.insert(check.id), "{} is there twice", check.id);
            let form =
                |c: char| c.is_ascii_lowercase() || c.is_ascii_digit() || matches!(c, '.' | '-');
            assert!(check.id.chars().all(form) && check.id.contains('.'), "{}", check.id);
            assert!(!check.clauses.is_empty(), "{} stands nowhere", check.id);
            assert!(!check.profiles.is_empty(), "{} is for nobody", check.id);
        }
    }
}
