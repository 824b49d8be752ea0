//! A game between two engines, with reliable results.
//!
//! ```text
//!  play_game ── searches ──> Player ── process, connection, thread ──> engine
//!      └─ answers and times ──> Referee ──> clocks, rules, adjudication
//! ```
//!
//! The [`Referee`] and the [`PlayerClock`]s do no I/O and do not read the time. [`play_game`] waits for the engines. Each move
//! has one absolute deadline, from sending `go` or `ponderhit` to receiving `bestmove`. A failure of an engine costs
//! only its game.

mod clock;
mod move_info;
mod play;
mod player;
mod referee;
mod replay;
mod verify;

pub use crate::game::referee::Decision;
pub use crate::game::referee::Tablebases;
pub use clock::{Overrun, PlayerClock, go};
pub use play::{Cancel, GameSettings, play_game};
pub use player::{LineObserver, Player, PlayerOptions, StderrObserver, TextOptions};
pub(crate) use player::{SearchedNodes, probe, start_for_search, time_search};
pub use referee::{Answer, OpeningError, Referee, Verdict};
pub use replay::{Agreement, RecordedMove, Replay, replay_game};
pub use verify::{GameFault, InvalidResult, verify_pair};
