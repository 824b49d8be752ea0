//! The app behind the browser: boards, games, engines, analysis and the library.
//!
//! ```text
//!  browser ── http (guard, files, JSON, sockets) ── app (one lock) ──┬── game: sessions, no I/O
//!                                          hub (topics, deltas) <────┤── engine: processes, logs
//!                                                                    └── store: the library
//! ```
//! | module | its one job |
//! |---|---|
//! | [`wire`] | The messages between page and server, also generated as TypeScript. |
//! | `game` | Trees, clocks, who is to do what: state machines without I/O. |
//! | `engine` | What is registered; processes, each a task of its own; logs with breaches. |
//! | `app` | The state behind one lock: games, engines, analyses, reports, jobs. |
//! | `hub` | Topics and who listens to them: snapshots, numbered deltas, slow tabs. |
//! | `store` | The library in one file of `SQLite`, the thread that writes it, searching it. |
//! | `import` | Games out of files and texts. |
//! | `http` | Connections and authentication; the page; uploads, exports; the sockets. |
//! | [`mod@matches`] | Matches of engines: played by the arena, followed for the page. |
//! | `data_dir` | The data directory, accessible to its owner only. |
//! | `serve` | Where it listens, what it holds, how it begins and ends. |
//! | `time` | The one place that reads the clocks. |
#![forbid(unsafe_code)]

mod app;
mod data_dir;
mod engine;
mod game;
mod http;
mod hub;
mod import;
#[doc(hidden)]
pub mod matches;
mod serve;
mod store;
mod time;
#[doc(hidden)]
pub mod wire;

pub use app::Setup;
pub use serve::{Options, ServeError, Server, Warning, serve};
pub use store::StoreError;
