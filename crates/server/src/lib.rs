//! The server of the app: boards, games, engines, analysis and the library.
//!
//! ```text
//!  browser ── http (guard, files, JSON, sockets) ── app (one lock) ──┬── game: sessions, no I/O
//!                                          hub (topics, deltas) <────┤── search: Tasks ── engine: processes, logs
//!                                                                    └── store: the library
//! ```
//! | module | responsibility |
//! |---|---|
//! | [`wire`] | Messages between the page and the server, also generated as TypeScript. |
//! | `game` | Trees, clocks, sessions: state machines without I/O. |
//! | `engine` | Registered engines, engine processes, logs with protocol violations. |
//! | `search` | The owner of engine processes and of their searches. |
//! | `errors` | Errors of other crates as error codes. |
//! | `app` | The state behind one lock: games, engines, analyses, reports, jobs. |
//! | `hub` | Topics and subscribers: snapshots, numbered deltas, slow tabs. |
//! | `store` | The library in one `SQLite` file, its writer thread, searches. |
//! | `import` | Games from files and texts. |
//! | `online` | Requests to Lichess and chess.com, which the user has switched on. |
//! | `http` | Connections, authentication, the page, uploads, exports, sockets. |
//! | [`mod@matches`] | Matches of engines, played by the arena and followed for the page. |
//! | `data_dir` | The data directory, accessible to its owner only. |
//! | `serve` | Options, start, listening, shutdown. |
//! | `time` | Monotonic moments and the calendar. |
//! | `training` | Exercises: tasks, solutions, sources, the schedule. |
#![forbid(unsafe_code)]

mod app;
#[doc(hidden)]
mod data_dir;
mod engine;
mod errors;
mod game;
mod http;
mod hub;
mod import;
#[doc(hidden)]
pub mod matches;
mod online;
mod proposals;
mod search;
mod serve;
mod store;
mod time;
mod training;
#[doc(hidden)]
pub mod wire;

pub use app::ServerSettings;
pub use data_dir::create_library;
pub use http::{
    Account, AccountsError, Listing, Password, PasswordError, QueueDashboard, TrustedProxy,
    TrustedProxyError,
};
pub use online::OnlineSetup;
pub use serve::{Options, ServeError, Server, Warning, is_running, serve};
pub use store::{LIBRARY, StoreError};
