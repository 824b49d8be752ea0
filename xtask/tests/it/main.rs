//! The tests of the whole workspace.

// Clippy takes helpers for test code only below this attribute.
#[cfg(test)]
mod docs;
#[cfg(test)]
mod licences;
#[cfg(test)]
mod transcripts;
