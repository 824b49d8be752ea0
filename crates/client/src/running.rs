//! One search as its caller sees it: what came, and how it ended.

use std::time::Duration;

use readyok_protocol::session::Moment;
use readyok_protocol::session::client::{DropReason, Event, SearchId};
use readyok_protocol::{Best, BestMove, Checkmate, Info, Move, Score};

use crate::lines::{Lines, Update};

/// How a search ended.
#[derive(Clone, Debug, Eq, PartialEq)]
pub struct Played {
    /// What the engine plays: a move that nobody has judged yet, or none, or its resignation.
    pub best: Best<'static>,
    /// The answer that it expects, and would like to ponder on.
    pub ponder: Option<Move>,
    /// The best variation as last told.
    pub info: Info<'static>,
    /// All variations as last told.
    pub lines: Lines,
    /// The answer to a search for a mate, if it was one of a shogi engine.
    pub checkmate: Option<Checkmate<'static>>,
    /// From `go`, or `ponderhit`, until the answer came.
    pub time: Duration,
}

impl Played {
    /// The move, if the engine plays one.
    pub fn best_move(&self) -> Option<Move> {
        match self.best {
            Best::Move(it) => Some(it),
            Best::None | Best::Resign | Best::Win | Best::Other(_) => None,
        }
    }

    /// What a search for a mate has found, in the words of USI whatever the engine speaks.
    pub(crate) fn into_checkmate(self) -> Checkmate<'static> {
        if let Some(checkmate) = self.checkmate {
            return checkmate;
        }
        match (self.info.score, self.info.pv, self.best) {
            (Some(Score::MateIn { .. } | Score::MateSomeday), Some(pv), _) => Checkmate::Moves(pv),
            (Some(Score::Mated | Score::MatedIn { .. }), ..) | (.., Best::None) => {
                Checkmate::NoMate
            }
            _ => Checkmate::Unknown,
        }
    }
}

#[derive(Debug)]
pub(crate) struct Running {
    pub(crate) id: SearchId,
    /// The caller wants its end.
    pub(crate) stop: bool,
    pub(crate) dropped: Option<DropReason>,
    pub(crate) lines: Lines,
    since: Moment,
}

#[derive(Debug)]
pub(crate) enum Progress {
    Started,
    Update(Box<Update>),
    Ended(Box<Played>),
}

impl Running {
    pub(crate) fn new(id: SearchId) -> Self {
        Self { id, stop: false, dropped: None, lines: Lines::default(), since: Moment::ZERO }
    }

    /// Its time counts from now.
    pub(crate) fn restart_clock(&mut self, now: Moment) {
        self.since = now;
    }

    /// Takes an event of this search, with its time and its line, and gives back any other.
    pub(crate) fn take(
        &mut self,
        event: Event,
        at: Moment,
        line: &mut String,
    ) -> Result<Progress, Event> {
        match event {
            Event::Started(id) if id == self.id => {
                self.since = at;
                Ok(Progress::Started)
            }
            Event::Info(id, info) if id == self.id => {
                self.lines.take(&info);
                let raw = std::mem::take(line);
                Ok(Progress::Update(Box::new(Update { info: *info, raw })))
            }
            Event::BestMove(id, BestMove { best, ponder }) if id == self.id => {
                Ok(self.ended(best, ponder, None, at))
            }
            Event::Checkmate(id, checkmate) if id == self.id => {
                let first = match &checkmate {
                    Checkmate::Moves(moves) => moves.moves().next(),
                    Checkmate::NoMate
                    | Checkmate::Timeout
                    | Checkmate::NotImplemented
                    | Checkmate::Unknown => None,
                };
                let best = first.map_or(Best::None, Best::Move);
                Ok(self.ended(best, None, Some(checkmate), at))
            }
            Event::Dropped(id, reason) if id == self.id => {
                self.dropped = Some(reason);
                Err(event)
            }
            event => Err(event),
        }
    }

    fn ended(
        &mut self,
        best: Best<'static>,
        ponder: Option<Move>,
        checkmate: Option<Checkmate<'static>>,
        at: Moment,
    ) -> Progress {
        let lines = std::mem::take(&mut self.lines);
        let info = lines.best().cloned().unwrap_or_default();
        let time = at.saturating_sub(self.since);
        Progress::Ended(Box::new(Played { best, ponder, info, lines, checkmate, time }))
    }
}
