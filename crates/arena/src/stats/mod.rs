//! Statistics of matches and tournaments.
//!
//! All functions are pure functions of counts. Results of two engines are counted in a [`Trinomial`]
//! (single games) or a [`Pentanomial`] (game pairs with reversed colors, whose results are
//! correlated). Both give the [`Estimates`] of the match and the state of a sequential test, [`Sprt`].
//! Results of many players are counted in a [`Crosstable`], which gives rankings with tie-breaks and
//! [`Ratings`]. [`fastchess`] prints statistics in the formats of fastchess and cutechess.
//!
//! ```
//! use readyok_arena::stats::{Counts, Estimates, Model, Pentanomial, Sprt, Verdict};
//!
//! let counts = Counts::Pairs(Pentanomial::new(93, 18711, 9000, 49877, 18739, 100)?);
//! let figures = Estimates::of(&counts);
//! assert_eq!(format!("{:.2}", figures.elo), "0.08 +/- 0.69");
//!
//! let sprt = Sprt::new(Model::Normalized, -1.75, 0.25, 0.05, 0.05)?;
//! let status = sprt.status(&counts)?;
//! assert_eq!(format!("{:.2}", status.llr), "2.94");
//! assert_eq!(status.verdict, Verdict::Continue);
//! # Ok::<(), Box<dyn std::error::Error>>(())
//! ```

mod counts;
mod crosstable;
mod estimate;
pub mod fastchess;
mod homogeneity;
mod matrix;
mod model;
mod ratings;
mod sprt;

pub use crate::stats::counts::{Estimates, PairFigures};
pub use crate::stats::estimate::{NORMALIZED_ELO, elo_of_score, score_of_elo};
pub use counts::{Counts, MAX_GAMES, Outcome, Pentanomial, TooManyGames, Trinomial};
pub use crosstable::{Crosstable, CrosstableError, MAX_PLAYERS, Ranking, TieBreak};
pub use estimate::{Estimate, Figure, Interval};
pub use homogeneity::{binomial_tail, homogeneity};
pub use model::{LlrError, Model, UnknownModel};
pub use ratings::{FIRST_MOVE_PRIOR, FirstMove, Ratings, RatingsError, WEAK_PRIOR};
pub use sprt::{Forecast, Sprt, SprtError, SprtStatus, UnbiasedEstimate, Verdict};
