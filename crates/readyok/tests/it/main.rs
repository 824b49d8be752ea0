//! Tests of the commands.
#![expect(clippy::expect_used, reason = "a failed expectation fails the test")]

mod address;
mod analyse;
mod analyse_batch;
mod annotate;
#[cfg(unix)]
mod bot;
mod broken_off;
#[cfg(unix)]
#[path = "../../../arena/tests/it/cable.rs"]
mod cable;
mod check;
#[cfg(target_os = "linux")]
mod containment;
mod convert;
mod csa;
mod delivered_files;
mod documentation;
mod farm;
#[cfg(unix)]
mod farm_faults;
#[cfg(target_os = "linux")]
mod faults;
#[cfg(unix)]
mod git_builds;
mod http_server;
mod import_killed;
mod library;
mod library_trees;
#[cfg(unix)]
mod lichess;
mod match_fastchess;
mod match_flags;
mod match_views;
mod match_workers;
mod matches;
mod matches_real;
#[path = "../../../arena/tests/it/nats_server.rs"]
mod nats_server;
mod options;
#[path = "../../../arena/tests/it/port.rs"]
mod port;
mod program;
mod provide;
mod queue_login;
mod readme;
mod real;
#[cfg(unix)]
mod relative_scripts;
#[cfg(target_os = "linux")]
mod secrets;
mod serve;
mod server_restarted;
mod shown_match;
mod slots;
mod small_match;
mod tap;
mod tune;
mod unsuitable_workers;
mod worker_excluded;
mod worker_killed;
