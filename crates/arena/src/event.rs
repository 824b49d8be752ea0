//! What happens in a match, for programs and people that follow it.
//!
//! Each [`Event`] is one line of JSON for scripts ([`JsonLines`]):
//!
//! ```text
//! {"at_ms":1700000000000,"event":"game-end","pair":7,"game":1,"first":1,"second":0,"winner":"first",…}
//! ```

mod json;
mod ratings;
mod score;

use std::sync::Arc;
use std::sync::mpsc::Sender;

use readyok_rules::{Game, Side};
use serde::{Deserialize, Serialize};

pub use json::JsonLines;
pub use ratings::{JointRatings, Rating};
pub use score::{Score, TestState};

use crate::openings::Skipped;
use crate::pairing::Opening;
use crate::plan::EngineId;
use crate::queue::{Stop, WarningContext, WorkerId};
use crate::result::{EngineInfo, GameEnd, MoveRecord};
use crate::stats::Verdict;
use crate::store::ContentHash;

/// Something that happened in a match.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(tag = "event", rename_all = "kebab-case")]
pub enum Event {
    /// The match starts, or goes on.
    MatchStart {
        /// Its name.
        plan_hash: ContentHash,
        /// What is played.
        game: Game,
        /// The names of the engines. An [`EngineId`] is an index into this list.
        engines: Vec<String>,
        /// How many pairs were played before.
        resumed: u64,
    },
    /// A game starts.
    GameStart {
        /// In which pairing.
        pair: u64,
        /// Which of the pairing, counted from 0.
        game: u32,
        /// The round, counted from 1.
        round: u32,
        /// Who has the first move.
        first: EngineId,
        /// Who has the second.
        second: EngineId,
        /// Who plays it.
        worker: WorkerId,
        /// Where it starts.
        opening: Opening,
    },
    /// A move was played. Told only if it was asked for.
    Move {
        /// In which pairing.
        pair: u64,
        /// In which game of it.
        game: u32,
        /// Which move after the opening, counted from 0.
        ply: u32,
        /// The move.
        #[serde(flatten)]
        played: Box<MoveRecord>,
    },
    /// A game is over. It counts when its pair is complete.
    GameEnd {
        /// In which pairing.
        pair: u64,
        /// Which of the pairing.
        game: u32,
        /// Who had the first move.
        first: EngineId,
        /// Who had the second.
        second: EngineId,
        /// The winner; none is a draw.
        winner: Option<Side>,
        /// What ended it.
        #[serde(rename = "termination")]
        end: GameEnd,
        /// How many moves the engines played.
        plies: u32,
        /// How long it took, in milliseconds.
        duration_ms: u64,
        /// Who the engines said they are, who moved first before the other one.
        #[serde(default)]
        engines: Box<[EngineInfo; 2]>,
    },
    /// A pair is complete and stored.
    PairEnd {
        /// Which.
        pair: u64,
        /// The round.
        round: u32,
        /// How many pairs are complete now.
        complete: u64,
    },
    /// How two engines stand against each other, after a pair of theirs.
    Score(Score),
    /// How the test of the match stands.
    Test(TestState),
    /// How strong all engines are together: once, before the end of a match of three or more.
    Ratings(JointRatings),
    /// Who has won the knockout: once, before its end. Points do not tell: who has a bye plays less, and
    /// ties are decided by seeds or by lot.
    Champion {
        /// Who.
        engine: EngineId,
    },
    /// Something odd.
    Warning {
        /// What.
        text: String,
        /// In which pairing, if in one.
        pair: Option<u64>,
        /// Which engine, if one did it.
        engine: Option<EngineId>,
        /// More about it, if an engine did it in a game.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        about: Option<Box<WarningContext>>,
    },
    /// An engine has failed, and has lost its game by it.
    EngineFailure {
        /// Which.
        engine: EngineId,
        /// In which pairing.
        pair: u64,
        /// In which game of it.
        game: u32,
        /// How.
        #[serde(rename = "termination")]
        end: GameEnd,
        /// How often it has failed so far.
        count: u64,
    },
    /// The match is being stopped.
    Stopping {
        /// How.
        how: Stop,
        /// Why.
        why: End,
    },
    /// The match is over for now.
    MatchEnd {
        /// Why.
        why: End,
        /// How many pairs are complete.
        complete: u64,
        /// How many games are in them.
        games: u64,
    },
}

/// Why a match is over.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(tag = "kind", rename_all = "kebab-case")]
pub enum End {
    /// Everything was played.
    Complete,
    /// The test has decided.
    Test {
        /// What.
        #[serde(with = "score::VerdictWord")]
        verdict: Verdict,
    },
    /// Somebody has ended it.
    Interrupted,
    /// An engine has failed as often as is borne.
    Failures {
        /// Which.
        engine: EngineId,
        /// How often.
        count: u64,
    },
    /// Something does not work.
    Error {
        /// What.
        text: String,
    },
}

/// Somebody who follows a match.
pub trait Listener: Send {
    /// Hears what has happened. The match goes on when this returns.
    fn on_event(&mut self, event: &Event);

    /// Hears which openings cannot be used: warnings, unless a listener has other words for them.
    fn on_skipped_openings(&mut self, skipped: &Arc<Skipped>) {
        let warn = |text| Event::Warning { text, pair: None, engine: None, about: None };
        for error in &skipped.errors {
            self.on_event(&warn(format!("an opening is left out: {error}")));
        }
        if skipped.more > 0 {
            self.on_event(&warn(format!("{} more openings are left out", skipped.more)));
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

/// Hears in another thread.
impl Listener for Sender<Event> {
    fn on_event(&mut self, event: &Event) {
        // Whoever has dropped the other end does not want to know.
        let _ = self.send(event.clone());
    }
}
