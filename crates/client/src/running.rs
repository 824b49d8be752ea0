//! One search as its caller sees it: what came, and how it ended.

use std::time::{Duration, Instant};

use readyok_protocol::session::client::{DropReason, Event, SearchId};
use readyok_protocol::{Best, BestMove, Checkmate, Info, Move, Score};

use crate::allotment::Allotment;
use crate::driver::DriverId;
use crate::lines::{Lines, Update};
use crate::search::Search;

/// How a search ended.
#[derive(Clone, Debug, Eq, PartialEq)]
pub struct Played {
    /// What the engine plays, in its own word: a move that nobody has judged yet, or none, or its
    /// resignation.
    pub best: Best<'static>,
    /// The answer that it expects, and would like to ponder on.
    pub ponder: Option<Move>,
    /// The best variation as last told.
    pub info: Info<'static>,
    /// All variations as last told.
    pub lines: Lines,
    /// The answer to a search for a mate, if it was one of a shogi engine.
    pub checkmate: Option<Checkmate<'static>>,
    /// When `go`, or `ponderhit`, was written; taken just before.
    pub started: Instant,
    /// When the answer came. On Linux what this program waited for a processor since is not counted, if
    /// the search had a clock or a deadline: to find it out takes as long as reading a line.
    pub answered: Instant,
    /// For how long the host of this virtual machine had kept its processors from running meanwhile, if
    /// the engine would have been [late](Search::lost_after) otherwise; nobody asks before.
    pub stolen: Duration,
}

impl Played {
    /// What the engine has used of its clock: from `go`, or `ponderhit`, until its answer came, without
    /// what was [stolen](Self::stolen).
    pub fn time(&self) -> Duration {
        self.answered.saturating_duration_since(self.started).saturating_sub(self.stolen)
    }

    /// The move, if the engine plays one. The `0000` or `a1a1` of an engine without a legal move is
    /// none; it stands in [`best`](Self::best).
    pub fn best_move(&self) -> Option<Move> {
        self.best.to_move()
    }

    /// What a search for a mate has found, in the words of USI whatever the engine speaks.
    pub(crate) fn into_checkmate(self) -> Checkmate<'static> {
        if let Some(checkmate) = self.checkmate {
            return checkmate;
        }
        let has_no_move = match &self.best {
            Best::None => true,
            Best::Move(_) => self.best.to_move().is_none(),
            Best::Resign | Best::Win | Best::Other(_) => false,
        };
        match (self.info.score, self.info.pv) {
            (Some(Score::MateIn { .. } | Score::MateSomeday), Some(pv)) => Checkmate::Moves(pv),
            (Some(Score::Mated | Score::MatedIn { .. }), _) => Checkmate::NoMate,
            _ if has_no_move => Checkmate::NoMate,
            _ => Checkmate::Unknown,
        }
    }
}

#[derive(Debug)]
pub(crate) struct Running {
    pub(crate) driver: DriverId,
    pub(crate) id: SearchId,
    /// The caller wants its end.
    pub(crate) stop: bool,
    pub(crate) dropped: Option<DropReason>,
    pub(crate) lines: Lines,
    pub(crate) time: Allotment,
}

#[derive(Debug)]
pub(crate) enum Progress {
    Started,
    Update(Update),
    Ended(Box<Played>),
    /// It came so long after the deadline.
    OutOfTime(Duration),
}

/// What is known of an event beside itself.
#[derive(Debug)]
pub(crate) struct Source<'a> {
    pub(crate) line: &'a mut String,
    /// When the line came.
    pub(crate) read: Instant,
    /// When the latest `go` was written.
    pub(crate) go: Instant,
}

impl Running {
    pub(crate) fn new(driver: DriverId, id: SearchId, search: &Search) -> Self {
        Self {
            driver,
            id,
            stop: false,
            dropped: None,
            lines: Lines::default(),
            time: Allotment::new(search),
        }
    }

    /// Takes an event of this search, and gives back any other.
    pub(crate) fn take(
        &mut self,
        event: Event,
        source: &mut Source<'_>,
    ) -> Result<Progress, Event> {
        match event {
            Event::Started(id) if id == self.id => {
                self.time.begin(source.go);
                Ok(Progress::Started)
            }
            Event::Info(id, _) | Event::BestMove(id, _) | Event::Checkmate(id, _)
                if id == self.id
                    && let Some(late) = self.time.lateness(source.read) =>
            {
                Ok(Progress::OutOfTime(late))
            }
            Event::Info(id, info) if id == self.id => {
                self.lines.take(&info);
                let raw = std::mem::take(source.line);
                Ok(Progress::Update(Update { info, raw, at: source.read }))
            }
            Event::BestMove(id, BestMove { best, ponder, .. }) if id == self.id => {
                Ok(self.ended(best, ponder, None, source.read))
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
                Ok(self.ended(best, None, Some(checkmate), source.read))
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
        answered: Instant,
    ) -> Progress {
        let lines = std::mem::take(&mut self.lines);
        let info = lines.best().cloned().unwrap_or_default();
        let started = self.time.since().unwrap_or(answered);
        Progress::Ended(Box::new(Played {
            best,
            ponder,
            info,
            lines,
            checkmate,
            started,
            answered,
            stolen: self.time.stolen(),
        }))
    }
}
