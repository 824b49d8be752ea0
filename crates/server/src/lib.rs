//! The app behind the browser: boards, games, engines, analysis and the library.
//!
//! | module | its one job |
//! |---|---|
//! | [`wire`] | What the page and the server say to each other: types, made into TypeScript. |
//! | `game` | Trees, clocks, who is to do what: state machines without I/O. |
//! | `hub` | Topics and who listens to them: snapshots, numbered deltas, slow tabs. |
//! | `time` | The one place that reads the clocks. |
#![forbid(unsafe_code)]

mod game;
mod hub;
mod time;
pub mod wire;
