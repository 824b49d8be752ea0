//! Errors of requests. The page has a text for each kind.

use crate::wire::{ApiError, ApiErrorCode, Problem, Thing};

pub(crate) fn api_error(
    code: ApiErrorCode,
    why: impl Into<Problem>,
    text: impl Into<String>,
) -> ApiError {
    ApiError { code, text: text.into(), problem: why.into() }
}

pub(crate) fn no_such(
    what: Thing,
    name: &(impl ToString + ?Sized),
    text: impl Into<String>,
) -> ApiError {
    api_error(ApiErrorCode::NotFound, Problem::no_such(what, name), text)
}

/// There is no room for more.
pub(crate) fn too_many(what: Thing, text: impl Into<String>) -> ApiError {
    api_error(ApiErrorCode::TooMuch, Problem::too_many(what), text)
}

/// What is empty, too long, or holds control characters.
pub(crate) fn malformed_text(what: Thing, text: impl Into<String>) -> ApiError {
    api_error(ApiErrorCode::Malformed, Problem::odd(what), text)
}
