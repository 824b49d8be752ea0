//! The app behind the browser: boards, games, engines, analysis and the library.
//!
//! | module | its one job |
//! |---|---|
//! | [`wire`] | What the page and the server say to each other: types, made into TypeScript. |
#![forbid(unsafe_code)]

pub mod wire;
