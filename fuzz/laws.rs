//! The laws that the targets check. They stand next to the tests, which check them on the seeds.

#[path = "../crates/protocol/tests/it/laws.rs"]
mod protocol;
#[path = "../crates/rules/tests/it/record/laws.rs"]
pub mod record;
#[path = "../crates/rules/tests/it/laws.rs"]
pub mod rules;

pub use protocol::*;
