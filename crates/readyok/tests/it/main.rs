//! The commands as their users meet them.
#![expect(clippy::expect_used, reason = "a test that cannot go on has failed")]

mod address;
mod analyse;
mod broken_off;
mod check;
mod delivered_files;
#[cfg(target_os = "linux")]
mod descendants;
mod killed;
mod match_flags;
mod matches;
mod matches_real;
#[path = "../../../arena/tests/it/nats_server.rs"]
mod nats_server;
mod options;
#[path = "../../../arena/tests/it/port.rs"]
mod port;
mod program;
mod queue_login;
mod readme;
mod real;
mod serve;
mod server_restarted;
mod shown;
mod shown_match;
mod slots;
mod small_match;
mod tap;
mod terminal;
mod unfit_workers;
mod watch;
mod worker_killed;
