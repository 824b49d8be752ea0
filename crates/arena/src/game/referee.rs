//! Judges a game: legality, clocks, ends by the rules and by adjudication. It neither reads nor
//! waits; it is told what was answered and how long that took.

use std::{error, fmt, sync::Arc, time::Duration};

use readyok_protocol::{Dialect, Go, Score};
use readyok_rules::shakmaty::Position as _;
use readyok_rules::{
    BoardRef, EndRules, Game, GameOutcome, IllegalReason, LineError, Move, Position, PositionError,
    Side, Termination,
};

use super::adjudicator::{Adjudicator, Latest};
use super::clock::{self, Clock};
use super::tablebase::{self, Tablebases};
use crate::pairing::Opening;
use crate::plan::{Adjudication, Limits, TablebaseAdjudication};
use crate::result::GameEnd;

/// The referee of one game.
///
/// ```
/// use std::time::Duration;
/// use readyok_arena::game::{Answer, Referee, Verdict};
/// use readyok_arena::pairing::Opening;
/// use readyok_arena::plan::{Adjudication, Limits};
/// use readyok_rules::Termination;
/// use readyok_rules::{Game, Side};
///
/// let (opening, rules) = (Opening::default(), Adjudication::default());
/// let mut referee = Referee::new(Game::Chess, &opening, [Limits::default(); 2], &rules, None)?;
/// for word in ["f2f3", "e7e5", "g2g4"] {
///     assert_eq!(referee.on_answer(Answer::Move(word), Duration::ZERO, None), Verdict::Continue);
/// }
/// let Verdict::Over(outcome) = referee.on_answer(Answer::Move("d8h4"), Duration::ZERO, None)
///     else { panic!("it is mate") };
/// assert_eq!(outcome.winner, Some(Side::Second));
/// assert_eq!(outcome.end, Termination::Checkmate);
/// # Ok::<(), readyok_arena::game::OpeningError>(())
/// ```
#[derive(Clone, Debug)]
pub struct Referee {
    position: Position,
    clocks: [Clock; 2],
    adjudicator: Adjudicator,
    rules: EndRules,
    tablebases: Option<(Arc<dyn Tablebases>, TablebaseAdjudication)>,
    /// Moves since the position of the opening, each counted singly; those of the opening only if they
    /// count.
    plies: u32,
    /// Those of them that were made since the opening.
    made: usize,
    latest: Option<Move>,
}

/// What an engine answers, in the words of the game: UCI for chess, USI for shogi.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Answer<'a> {
    /// A move that nobody has judged yet.
    Move(&'a str),
    /// The engine gives up.
    Resign,
    /// The engine declares that it has won: `bestmove win`.
    Declare,
    /// Anything else, such as `(none)`; it is no legal move.
    Other(&'a str),
}

/// What an answer leads to.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Verdict {
    /// The other side is to move.
    Continue,
    /// The game is over.
    Over(Decision),
}

/// How a game has ended.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Decision {
    /// The winner; none is a draw, or a game that was broken off.
    pub winner: Option<Side>,
    /// What ended it.
    pub end: GameEnd,
}

/// Why no game can start from an opening.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum OpeningError {
    /// Its position is none.
    Position(PositionError),
    /// One of its moves is not legal.
    Moves(LineError),
    /// The game is over after it.
    Over(Termination),
}

impl Decision {
    /// A side has lost.
    pub fn lost_by(side: Side, end: impl Into<GameEnd>) -> Self {
        Self { winner: Some(side.other()), end: end.into() }
    }

    /// Nobody has won.
    pub fn without_winner(end: impl Into<GameEnd>) -> Self {
        Self { winner: None, end: end.into() }
    }
}

impl Referee {
    /// A game at its start. The limits are those of the first and of the second side.
    ///
    /// # Errors
    /// No game can start from the opening.
    pub fn new(
        game: Game,
        opening: &Opening,
        limits: [Limits; 2],
        rules: &Adjudication,
        tablebases: Option<Arc<dyn Tablebases>>,
    ) -> Result<Self, OpeningError> {
        let start = match &opening.position {
            Some(text) => Position::from_text(game, text).map_err(OpeningError::Position)?,
            None => Position::start(game),
        };
        let position = start.after(&opening.moves).map_err(OpeningError::Moves)?;
        let end_rules = rules.end_rules();
        if let Some(ending) = position.outcome_under(&end_rules) {
            return Err(OpeningError::Over(ending.termination));
        }
        let counted = if rules.as_fastchess { 0 } else { opening.moves.len() };
        Ok(Self {
            position,
            clocks: limits.map(|limits| {
                let clock = Clock::new(limits, game);
                if rules.as_fastchess { clock.with_first_increment() } else { clock }
            }),
            adjudicator: Adjudicator::new(rules),
            rules: end_rules,
            tablebases: tablebases.zip(rules.tablebases.clone()),
            plies: u32::try_from(counted).unwrap_or(u32::MAX),
            made: 0,
            latest: None,
        })
    }

    /// The same, where the engines of some sides, the first before the second, are trusted: a game is
    /// over when one of them says that it mates.
    #[must_use]
    pub fn trusting(self, mates: [bool; 2]) -> Self {
        Self { adjudicator: self.adjudicator.trusting(mates), ..self }
    }

    /// The position, with the moves that led to it.
    pub fn position(&self) -> &Position {
        &self.position
    }

    /// Who is to move.
    pub fn turn(&self) -> Side {
        self.position.turn()
    }

    /// The clock of a side.
    pub fn clock(&self, side: Side) -> &Clock {
        let [first, second] = &self.clocks;
        match side {
            Side::First => first,
            Side::Second => second,
        }
    }

    /// When the side to move loses if it has not answered, counted from the start of its search.
    /// None if no clock runs.
    pub fn deadline(&self) -> Option<Duration> {
        self.clock(self.turn()).deadline()
    }

    /// The `go` for a side.
    pub fn go(&self, side: Side, dialect: Dialect) -> Go<'static> {
        clock::go(self.clock(side), self.clock(side.other()), side, dialect)
    }

    /// How many moves were made since the opening, by both sides together.
    pub fn moves_made(&self) -> usize {
        self.made
    }

    /// The latest move as its canonical word, once an answer was a legal move.
    pub fn latest_move(&self) -> Option<String> {
        self.latest.map(|mv| mv.to_uci(self.position.game().castling_form()))
    }

    /// Judges the answer of the side to move, which took some time and comes with a score.
    pub fn on_answer(
        &mut self,
        answer: Answer<'_>,
        took: Duration,
        score: Option<Score>,
    ) -> Verdict {
        let side = self.turn();
        if let Err(outcome) = self.spend(side, took) {
            return Verdict::Over(outcome);
        }
        let outcome = match answer {
            Answer::Move(word) => self.on_move(side, word, score),
            Answer::Resign => Some(Decision::lost_by(side, Termination::Resignation)),
            Answer::Declare => Some(self.on_declaration(side)),
            Answer::Other(word) => Some(self.illegal(side, word, IllegalReason::Unreadable)),
        };
        outcome.map_or(Verdict::Continue, Verdict::Over)
    }

    /// The side to move has not answered for so long. The game is over if its flag has fallen.
    pub fn on_timeout(&mut self, waited: Duration) -> Verdict {
        match self.deadline() {
            Some(deadline) if deadline < waited => match self.spend(self.turn(), waited) {
                Err(outcome) => Verdict::Over(outcome),
                Ok(()) => Verdict::Continue,
            },
            Some(_) | None => Verdict::Continue,
        }
    }

    fn spend(&mut self, side: Side, time: Duration) -> Result<(), Decision> {
        let [first, second] = &mut self.clocks;
        let (clock, other) = match side {
            Side::First => (first, second),
            Side::Second => (second, first),
        };
        let before = clock.left().unwrap_or_default();
        clock.spend(time).map_err(|overrun| {
            let overrun_us = u64::try_from(overrun.late.as_micros()).unwrap_or(u64::MAX);
            Decision::lost_by(side, GameEnd::time_forfeit(overrun_us))
        })?;
        if clock.is_hourglass() {
            // There is never more sand than at the start.
            other.gain(before.saturating_sub(clock.left().unwrap_or_default()));
        }
        Ok(())
    }

    fn on_move(&mut self, side: Side, word: &str, score: Option<Score>) -> Option<Decision> {
        let mv = match self.position.play_uci(word) {
            Ok(mv) => mv,
            Err(error) => return Some(self.illegal(side, word, error.reason)),
        };
        self.plies = self.plies.saturating_add(1);
        self.made = self.made.saturating_add(1);
        self.latest = Some(mv);
        self.ended_on_board()
            .or_else(|| self.known_by_tablebases())
            .or_else(|| self.adjudicator.on_move(self.counted(side, score)))
    }

    fn ended_on_board(&self) -> Option<Decision> {
        self.position.outcome_under(&self.rules).map(Decision::from)
    }

    fn known_by_tablebases(&self) -> Option<Decision> {
        let (tables, rule) = self.tablebases.as_ref()?;
        let BoardRef::Chess(board) = self.position.board() else { return None };
        tablebase::judge(tables.as_ref(), rule, board.position(), self.turn())
    }

    fn counted(&self, side: Side, score: Option<Score>) -> Latest {
        let (is_progress, number, played) = match self.position.board() {
            BoardRef::Chess(board) => {
                let position = board.position();
                (position.halfmoves() == 0, position.fullmoves().get() - 1, self.plies / 2)
            }
            BoardRef::Shogi(board) => {
                let number = u32::from(board.position().game_ply()).saturating_sub(1);
                (false, number, self.plies)
            }
        };
        Latest { side, score, is_progress, number, played }
    }

    fn on_declaration(&self, side: Side) -> Decision {
        match (self.position.game(), self.position.declare(&self.rules)) {
            (Game::Chess | Game::Chess960, _) => {
                self.illegal(side, "win", IllegalReason::Unreadable)
            }
            (Game::Shogi, outcome) => outcome.map_or_else(
                || Decision::lost_by(side, Termination::FailedDeclaration),
                Decision::from,
            ),
        }
    }

    fn illegal(&self, side: Side, text: &str, reason: IllegalReason) -> Decision {
        let position = self.position.to_string();
        Decision::lost_by(side, GameEnd::illegal_move(shortened(text), position, reason))
    }
}

impl From<GameOutcome> for Decision {
    fn from(outcome: GameOutcome) -> Self {
        Self { winner: outcome.winner(), end: outcome.termination.into() }
    }
}

/// A word from outside, which may be of any length.
fn shortened(word: &str) -> String {
    const LONGEST: usize = 40;
    if word.chars().nth(LONGEST).is_none() {
        return word.to_owned();
    }
    word.chars().take(LONGEST).chain(['…']).collect()
}

impl fmt::Display for OpeningError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Position(error) => error.fmt(f),
            Self::Moves(error) => error.fmt(f),
            Self::Over(reason) => write!(f, "the game is over after it: {reason:?}"),
        }
    }
}

impl error::Error for OpeningError {}
