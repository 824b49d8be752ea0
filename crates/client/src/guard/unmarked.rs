//! Where the environment of other processes cannot be looked at.

/// Kills nothing.
pub(super) fn kill(_: &[u8]) {}
