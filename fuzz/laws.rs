//! The properties that the targets check. The tests check the same properties with the seeds.

#[path = "../crates/library/tests/it/laws.rs"]
pub mod library;
#[path = "../crates/protocol/tests/it/laws.rs"]
mod protocol;
#[path = "../crates/rules/tests/it/record/laws.rs"]
pub mod record;
#[path = "../crates/rules/tests/it/laws.rs"]
pub mod rules;
#[path = "../crates/wasm/tests/it/laws.rs"]
pub mod wasm;

pub use protocol::*;
