//! The commands as their users meet them.
#![expect(clippy::expect_used, reason = "a test that cannot go on has failed")]

mod program;
mod tap;
mod watch;
