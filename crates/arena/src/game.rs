//! One game between two engines, played so that its result can be trusted.
//!
//! The [`Referee`] judges and the [`Clock`]s count, without I/O and without reading the time.

mod adjudicator;
mod clock;
mod referee;
mod tablebase;

pub use clock::{Clock, Overrun, go};
pub use referee::{Answer, OpeningError, Outcome, Referee, Verdict};
pub use tablebase::{Known, Syzygy, Tablebases};
