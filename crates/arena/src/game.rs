//! One game between two engines, played so that its result can be trusted.
//!
//! ```text
//!  play_game ── asks ──> Player ── process, connection, thread ──> engine
//!      └─ answers and times ──> Referee ──> Clock, rules, scores, tablebases
//! ```
//!
//! The [`Referee`] judges and the [`Clock`]s count, without I/O and without reading the time.
//! [`play_game`] does the waiting. Each move has one absolute deadline, from the write of `go`, or
//! `ponderhit`, to the arrival of `bestmove`, and no fault of an engine costs more than its game.

mod adjudicator;
mod cancel;
mod clock;
mod fastchess_info;
mod move_info;
mod overload;
mod play;
mod player;
mod probe;
mod referee;
mod start_limiter;
mod tablebase;
mod texts;
mod time;

pub use cancel::Cancel;
pub use clock::{Clock, Overrun, go};
pub use play::{GameSettings, play_game};
pub use player::{LineObserver, Player, StderrObserver};
pub(crate) use probe::probe;
pub use referee::{Answer, Decision, OpeningError, Referee, Verdict};
pub use tablebase::{Known, Syzygy, Tablebases};
pub use texts::TextOptions;
