//! Refusals: none without a kind, for which the page has words.

use crate::wire::{Problem, Refusal, RefusalCode, Thing};

/// Refuses something: why by its kind, for the page, and in English.
pub(crate) fn refusal(
    code: RefusalCode,
    why: impl Into<Problem>,
    text: impl Into<String>,
) -> Refusal {
    Refusal { code, text: text.into(), problem: why.into() }
}

/// What there is none of.
pub(crate) fn no_such(
    what: Thing,
    name: &(impl ToString + ?Sized),
    text: impl Into<String>,
) -> Refusal {
    refusal(RefusalCode::NotFound, Problem::no_such(what, name), text)
}

/// There is no room for more.
pub(crate) fn too_many(what: Thing, text: impl Into<String>) -> Refusal {
    refusal(RefusalCode::TooMuch, Problem::too_many(what), text)
}

/// What is empty, too long, or holds control characters.
pub(crate) fn odd_text(what: Thing, text: impl Into<String>) -> Refusal {
    refusal(RefusalCode::Malformed, Problem::odd(what), text)
}
