//! Statistics of matches: how strong, how sure, and whether to go on.
//!
//! Everything here is a pure function of counts. Results of two engines are counted in a
//! [`Trinomial`] (single games) or a [`Pentanomial`] (pairs of games on one opening with the sides
//! exchanged, whose results depend on each other). From either come the [`Figures`] of the match
//! and the state of a sequential test, [`Sprt`]. Results of many players make a [`Crosstable`]; from
//! it come places with tie breaks, and [`Ratings`]. [`fastchess`] writes figures as that program
//! does, and [`cutechess`] as it does in the form of the other one.
//!
//! ```
//! use readyok_arena::stats::{Counts, Figures, Model, Pentanomial, Sprt, Verdict};
//!
//! let counts = Counts::Pairs(Pentanomial::new(93, 18711, 9000, 49877, 18739, 100)?);
//! let figures = Figures::of(&counts);
//! assert_eq!(format!("{:.2}", figures.elo), "0.08 +/- 0.69");
//!
//! let sprt = Sprt::new(Model::Normalized, -1.75, 0.25, 0.05, 0.05)?;
//! let status = sprt.status(&counts)?;
//! assert_eq!(format!("{:.2}", status.llr), "2.94");
//! assert_eq!(status.verdict, Verdict::Continue);
//! # Ok::<(), Box<dyn std::error::Error>>(())
//! ```

mod brownian;
mod counts;
mod crosstable;
pub mod cutechess;
mod elo;
pub mod fastchess;
mod figure;
mod figures;
mod matrix;
mod model;
mod ratings;
mod sample;
mod sprt;
mod tilt;

pub use counts::{Counts, MAX_GAMES, Outcome, Pentanomial, TooManyGames, Trinomial};
pub use crosstable::{Crosstable, CrosstableError, MAX_PLAYERS, Standing, TieBreak};
pub use elo::{NORMALIZED_ELO, elo_of_score, score_of_elo};
pub use figure::{Estimate, Figure, Interval};
pub use figures::{Figures, PairFigures};
pub use model::{LlrError, Model, UnknownModel};
pub use ratings::{FIRST_MOVE_PRIOR, FirstMove, Ratings, RatingsError, WEAK_PRIOR};
pub use sprt::{Forecast, Sprt, SprtError, SprtStatus, UnbiasedEstimate, Verdict};
