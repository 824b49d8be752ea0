//! Events of a match.
//!
//! [`JsonLines`] writes each [`Event`] as one line of JSON:
//!
//! ```text
//! {"at_ms":1700000000000,"event":"game-end","pair":7,"game":1,"first":1,"second":0,"winner":"first",…}
//! ```

mod score;

use std::io::{self, Write};
use std::sync::Arc;
use std::sync::mpsc::Sender;

use readyok_rules::{Game, Side};
use serde::{Deserialize, Serialize};

pub use score::{JointRatings, Rating, Score, TestState};

use crate::openings::Skipped;
use crate::pairing::Opening;
use crate::plan::EngineId;
use crate::queue::{Stop, WarningContext, WorkerId};
use crate::result::{EngineInfo, GameEnd, MoveRecord};
use crate::stats::Verdict;
use crate::store::ContentHash;
use crate::time::unix_ms;

/// An event of a match.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(tag = "event", rename_all = "kebab-case")]
pub enum Event {
    /// The match starts or resumes.
    MatchStart {
        /// The hash of the plan, which identifies the match.
        plan_hash: ContentHash,
        /// The game.
        game: Game,
        /// The names of the engines. An [`EngineId`] is an index into this list.
        engines: Vec<String>,
        /// The number of pairs played before.
        resumed: u64,
    },
    /// A game starts.
    GameStart {
        /// The index of the pairing.
        pair: u64,
        /// The number of the game in its pairing, counted from 0.
        game: u32,
        /// The round, counted from 1.
        round: u32,
        /// The engine with the first move.
        first: EngineId,
        /// Its opponent.
        second: EngineId,
        /// The worker.
        worker: WorkerId,
        /// The opening.
        opening: Opening,
    },
    /// A move was played. Reported only on request.
    Move {
        /// The index of the pairing.
        pair: u64,
        /// The number of the game.
        game: u32,
        /// Plies since the opening before the move.
        ply: u32,
        /// The move.
        #[serde(flatten)]
        played: Box<MoveRecord>,
    },
    /// A game is over. It counts when its pair is complete.
    GameEnd {
        /// The index of the pairing.
        pair: u64,
        /// The number of the game.
        game: u32,
        /// The engine with the first move.
        first: EngineId,
        /// Its opponent.
        second: EngineId,
        /// The winner; `None` for a draw.
        winner: Option<Side>,
        /// The reason.
        #[serde(rename = "termination")]
        end: GameEnd,
        /// The number of plies since the opening.
        plies: u32,
        /// The duration in milliseconds.
        duration_ms: u64,
        /// Names and settings of the engines, that with the first move first.
        #[serde(default)]
        engines: Box<[EngineInfo; 2]>,
    },
    /// A pair is complete and stored.
    PairEnd {
        /// The index of the pairing.
        pair: u64,
        /// The round, counted from 1.
        round: u32,
        /// The number of complete pairs.
        complete: u64,
    },
    /// The score of two engines, after each of their pairs.
    Score(Score),
    /// The state of the test.
    Test(TestState),
    /// The ratings: once, before the end of a match of three or more engines.
    Ratings(JointRatings),
    /// The winner of a knockout: once, before its end. It does not follow from points, because of byes and ties.
    Champion {
        /// The winner.
        engine: EngineId,
    },
    /// A warning.
    Warning {
        /// The description.
        text: String,
        /// The index of the pairing, if it concerns one.
        pair: Option<u64>,
        /// The engine, if it concerns one.
        engine: Option<EngineId>,
        /// Details of a warning about an engine in a game.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        context: Option<Box<WarningContext>>,
    },
    /// An engine has lost a game by a failure.
    EngineFailure {
        /// The engine.
        engine: EngineId,
        /// The index of the pairing.
        pair: u64,
        /// The number of the game.
        game: u32,
        /// The failure.
        #[serde(rename = "termination")]
        end: GameEnd,
        /// The number of its failures so far.
        count: u64,
    },
    /// The match is being stopped.
    Stopping {
        /// The kind of stop.
        how: Stop,
        /// The reason.
        why: End,
    },
    /// The match is over, or can be resumed later.
    MatchEnd {
        /// The reason.
        why: End,
        /// The number of complete pairs.
        complete: u64,
        /// The number of games of these pairs.
        games: u64,
    },
}

/// The reason of the end of a match.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(tag = "kind", rename_all = "kebab-case")]
pub enum End {
    /// All pairings were played.
    Complete,
    /// The test has decided.
    Test {
        /// The decision.
        #[serde(with = "score::VerdictText")]
        verdict: Verdict,
    },
    /// The match was interrupted.
    Interrupted,
    /// An engine has failed too often.
    Failures {
        /// The engine.
        engine: EngineId,
        /// The number of failures.
        count: u64,
    },
    /// An error.
    Error {
        /// The description.
        text: String,
    },
}

/// A listener to the events of a match.
pub trait Listener: Send {
    /// Handles an event. The match continues when this returns.
    fn on_event(&mut self, event: &Event);

    /// Handles openings that were skipped: by default, as warnings.
    fn on_skipped_openings(&mut self, skipped: &Arc<Skipped>) {
        let warn = |text| Event::Warning { text, pair: None, engine: None, context: None };
        for error in &skipped.errors {
            self.on_event(&warn(format!("an opening is skipped: {error}")));
        }
        if skipped.more > 0 {
            self.on_event(&warn(format!("{} more openings are skipped", skipped.more)));
        }
    }
}

impl<L: Listener + ?Sized> Listener for Box<L> {
    fn on_event(&mut self, event: &Event) {
        (**self).on_event(event);
    }

    fn on_skipped_openings(&mut self, skipped: &Arc<Skipped>) {
        (**self).on_skipped_openings(skipped);
    }
}

/// Sends events to another thread.
impl Listener for Sender<Event> {
    fn on_event(&mut self, event: &Event) {
        // Events are dropped when the receiver is closed.
        let _ = self.send(event.clone());
    }
}

/// Writes each event as one line of JSON, with the time in milliseconds since 1970 as `at_ms`.
///
/// Each line is flushed. After an error nothing more is written, and the match continues.
#[derive(Debug)]
pub struct JsonLines<W> {
    out: Option<W>,
    error: Option<io::Error>,
}

#[derive(Serialize)]
struct Stamped<'a> {
    at_ms: u64,
    #[serde(flatten)]
    event: &'a Event,
}

impl<W: Write> JsonLines<W> {
    /// Writes to a stream or a file.
    pub fn new(out: W) -> Self {
        Self { out: Some(out), error: None }
    }

    /// The error that ended the output.
    pub fn error(&self) -> Option<&io::Error> {
        self.error.as_ref()
    }
}

impl<W: Write + Send> Listener for JsonLines<W> {
    fn on_event(&mut self, event: &Event) {
        let Some(out) = &mut self.out else { return };
        if let Err(error) = write(out, event) {
            self.error = Some(error);
            self.out = None;
        }
    }
}

fn write(out: &mut impl Write, event: &Event) -> io::Result<()> {
    let mut line = serde_json::to_vec(&Stamped { at_ms: unix_ms(), event })?;
    line.push(b'\n');
    out.write_all(&line)?;
    out.flush()
}
