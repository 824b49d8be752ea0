//! The referee of a game: legality of moves, clocks, ends by the rules and by adjudication. It does no I/O: the caller
//! passes each answer and its time.

use std::fmt;
use std::sync::Arc;
use std::time::Duration;

use readyok_protocol::{Dialect, Go, Score};
use readyok_rules::shakmaty::{Chess, Position as _};
use readyok_rules::{
    BoardRef, EndRules, Game, GameOutcome, IllegalReason, LineError, Move, Position, PositionError,
    Side, Syzygy, Termination, Wdl,
};

use crate::game::clock;
use crate::game::clock::{PlayerClock, whole_millis};
use crate::pairing::Opening;
use crate::plan::{
    Adjudication, DrawAdjudication, Limits, ResignAdjudication, TablebaseAdjudication,
    TablebaseScope,
};
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
/// for mv in ["f2f3", "e7e5", "g2g4"] {
///     assert_eq!(referee.on_answer(Answer::Move(mv), Duration::ZERO, None), Verdict::Continue);
/// }
/// let Verdict::Over(outcome) = referee.on_answer(Answer::Move("d8h4"), Duration::ZERO, None)
///     else { panic!("checkmate") };
/// assert_eq!(outcome.winner, Some(Side::Second));
/// assert_eq!(outcome.end, Termination::Checkmate);
/// # Ok::<(), readyok_arena::game::OpeningError>(())
/// ```
#[derive(Clone, Debug)]
pub struct Referee {
    position: Position,
    clocks: [PlayerClock; 2],
    adjudicator: Adjudicator,
    rules: EndRules,
    tablebases: Option<(Arc<dyn Tablebases>, TablebaseAdjudication)>,
    /// Plies for the move limit. See [`RuleOptions::counts_opening_moves`].
    plies: u32,
    /// Plies since the opening.
    made: usize,
    latest: Option<Move>,
}

/// The answer of an engine. Moves are in the notation of the game: UCI for chess, USI for shogi.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Answer<'a> {
    /// A move, which may be illegal.
    Move(&'a str),
    /// The engine resigns.
    Resign,
    /// The engine declares a win: `bestmove win`.
    Declare,
    /// Anything else, such as `(none)`, which is an illegal move.
    Other(&'a str),
}

/// The state of a game after an answer.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Verdict {
    /// The other side is to move.
    Continue,
    /// The game is over.
    Over(Decision),
}

/// An opening from which no game can start.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum OpeningError {
    /// The position is invalid.
    #[error("{0}")]
    Position(PositionError),
    /// A move is illegal.
    #[error("{0}")]
    Moves(LineError),
    /// The game is over after the opening.
    #[error("the game is over after the opening: {0:?}")]
    Over(Termination),
}

impl Referee {
    /// A game after its opening, with the limits of the first and of the second side.
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
        let options = RuleOptions::new(rules);
        let counted = if options.counts_opening_moves { opening.moves.len() } else { 0 };
        Ok(Self {
            position,
            clocks: limits.map(|limits| {
                let clock = PlayerClock::new(limits, game);
                if options.first_increment { clock.with_first_increment() } else { clock }
            }),
            adjudicator: Adjudicator::new(rules),
            rules: end_rules,
            tablebases: tablebases.zip(rules.tablebases.clone()),
            plies: u32::try_from(counted).unwrap_or(u32::MAX),
            made: 0,
            latest: None,
        })
    }

    /// Trusts the mate scores of some sides, the first before the second: the game ends when one of them reports a
    /// mate for itself.
    #[must_use]
    pub fn trusting(self, mates: [bool; 2]) -> Self {
        Self { adjudicator: self.adjudicator.trusting(mates), ..self }
    }

    /// The current position with its move history.
    pub fn position(&self) -> &Position {
        &self.position
    }

    /// The side to move.
    pub fn turn(&self) -> Side {
        self.position.turn()
    }

    /// The clock of a side.
    pub fn clock(&self, side: Side) -> &PlayerClock {
        let [first, second] = &self.clocks;
        match side {
            Side::First => first,
            Side::Second => second,
        }
    }

    /// The deadline of the side to move, relative to the start of its search; `None` without a clock.
    pub fn deadline(&self) -> Option<Duration> {
        self.clock(self.turn()).deadline()
    }

    /// The `go` for a side.
    pub fn go(&self, side: Side, dialect: Dialect) -> Go<'static> {
        clock::go(self.clock(side), self.clock(side.other()), side, dialect)
    }

    /// The number of plies since the opening.
    pub fn moves_made(&self) -> usize {
        self.made
    }

    /// The latest move since the opening, in canonical notation.
    pub fn latest_move(&self) -> Option<String> {
        self.latest.map(|mv| mv.to_uci(self.position.game().castling_form()))
    }

    /// Judges an answer of the side to move, with its time and its score.
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
            Answer::Move(text) => self.on_move(side, text, score),
            Answer::Resign => Some(Decision::lost_by(side, Termination::Resignation)),
            Answer::Declare => Some(self.on_declaration(side)),
            Answer::Other(text) => Some(self.illegal(side, text, IllegalReason::InvalidMove)),
        };
        outcome.map_or(Verdict::Continue, Verdict::Over)
    }

    /// The side to move has not answered within this time. The game is over if its deadline has passed.
    pub fn on_timeout(&mut self, waited: Duration) -> Verdict {
        match self.deadline() {
            Some(deadline) if deadline < whole_millis(waited) => {
                match self.spend(self.turn(), waited) {
                    Err(outcome) => Verdict::Over(outcome),
                    Ok(()) => Verdict::Continue,
                }
            }
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
            // The sum of both clocks never grows.
            other.gain(before.saturating_sub(clock.left().unwrap_or_default()));
        }
        Ok(())
    }

    fn on_move(&mut self, side: Side, text: &str, score: Option<Score>) -> Option<Decision> {
        let mv = match self.position.play_uci(text) {
            Ok(mv) => mv,
            Err(error) => return Some(self.illegal(side, text, error.reason)),
        };
        self.plies = self.plies.saturating_add(1);
        self.made = self.made.saturating_add(1);
        self.latest = Some(mv);
        self.ended_on_board()
            .or_else(|| self.decided_by_tablebases())
            .or_else(|| self.adjudicator.on_move(self.latest_move_with(side, score)))
    }

    fn ended_on_board(&self) -> Option<Decision> {
        self.position.outcome_under(&self.rules).map(Decision::from)
    }

    fn decided_by_tablebases(&self) -> Option<Decision> {
        let (tables, rule) = self.tablebases.as_ref()?;
        self.decision_by(tables.as_ref(), rule)
    }

    /// The decision of tablebases about the current position.
    pub(super) fn decision_by(
        &self,
        tables: &dyn Tablebases,
        rule: &TablebaseAdjudication,
    ) -> Option<Decision> {
        let BoardRef::Chess(board) = self.position.board() else { return None };
        by_tablebases(tables, rule, board.position(), self.turn())
    }

    fn latest_move_with(&self, side: Side, score: Option<Score>) -> Latest {
        let (is_progress, number, played) = match self.position.board() {
            BoardRef::Chess(board) => {
                let position = board.position();
                (position.halfmoves() == 0, position.fullmoves().get() - 1, self.plies / 2)
            }
            BoardRef::Shogi(board) => {
                let number = u32::from(board.position().game_ply()).saturating_sub(1);
                (false, number, self.plies)
            }
            BoardRef::Diagram(setup) => (false, setup.move_number().saturating_sub(1), self.plies),
        };
        Latest { side, score, is_progress, number, played }
    }

    fn on_declaration(&self, side: Side) -> Decision {
        match (self.position.game(), self.position.declare(&self.rules)) {
            (Game::Chess | Game::Chess960, _) => {
                self.illegal(side, "win", IllegalReason::InvalidMove)
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

/// A text of an engine, which may have any length.
fn shortened(text: &str) -> String {
    const MAX_CHARS: usize = 40;
    if text.chars().nth(MAX_CHARS).is_none() {
        return text.to_owned();
    }
    text.chars().take(MAX_CHARS).chain(['…']).collect()
}

/// Counts consecutive scores and decides the game by them.
#[derive(Clone, Debug)]
struct Adjudicator {
    draw: Option<DrawAdjudication>,
    resign: Option<ResignAdjudication>,
    max_moves: Option<u32>,
    agreement: Agreement,
    /// The sides whose mate scores end the game.
    trusted: [bool; 2],
    /// Consecutive plies with a score near zero.
    level: u32,
    /// Consecutive plies with a decisive score.
    decisive: u32,
    /// Consecutive moves of each side with a losing and with a winning score.
    trend: [Trend; 2],
}

#[derive(Clone, Copy, Debug, Default)]
struct Trend {
    lost: u32,
    won: u32,
}

/// A move that was just played.
#[derive(Clone, Copy, Debug)]
struct Latest {
    pub(super) side: Side,
    /// The score reported by the engine.
    pub(super) score: Option<Score>,
    /// Whether it is a capture or a pawn move, in chess.
    is_progress: bool,
    /// The number of the latest move that both sides have made, in the numbering of the game.
    pub(super) number: u32,
    /// The number of moves for the move limit.
    pub(super) played: u32,
}

impl Adjudicator {
    pub(super) fn new(rules: &Adjudication) -> Self {
        Self {
            draw: rules.draw,
            resign: rules.resign,
            max_moves: rules.max_moves,
            agreement: RuleOptions::new(rules).agreement,
            trusted: [false; 2],
            level: 0,
            decisive: 0,
            trend: [Trend::default(); 2],
        }
    }

    /// Trusts the mate scores of some sides.
    pub(super) fn trusting(self, trusted: [bool; 2]) -> Self {
        Self { trusted, ..self }
    }

    /// The decision after a move, if any.
    pub(super) fn on_move(&mut self, latest: Latest) -> Option<Decision> {
        self.count(latest);
        if let Some(loser) = self.resigned(latest) {
            return Some(Decision::lost_by(loser, Termination::ResignAdjudication));
        }
        if self.trusted.get(latest.side.index()) == Some(&true)
            && latest.score.is_some_and(|score| score.is_mate() && Score::Cp(0) < score)
        {
            return Some(Decision::lost_by(latest.side.other(), Termination::MateAdjudication));
        }
        let draw = |termination| Some(Decision::without_winner(termination));
        if let Some(rule) = self.draw
            && rule.from_move <= latest.number
            && rule.moves.saturating_mul(2).max(1) <= self.level
        {
            return draw(Termination::DrawAdjudication);
        }
        if self.max_moves.is_some_and(|max| max <= latest.played) {
            return draw(Termination::MoveLimit);
        }
        None
    }

    fn count(&mut self, Latest { side, score, is_progress, .. }: Latest) {
        if let Some(rule) = self.draw {
            let is_level = matches!(score, Some(Score::Cp(cp)) if cp.unsigned_abs() <= rule.score);
            if is_progress || !is_level {
                self.level = 0;
            }
            self.level = self.level.saturating_add(is_level.into());
        }
        if let (Some(rule), Some(trend)) = (self.resign, self.trend.get_mut(side.index())) {
            let limit = i32::try_from(rule.score).unwrap_or(i32::MAX);
            let is_lost = score.is_some_and(|score| score <= Score::Cp(-limit));
            let is_won = score.is_some_and(|score| Score::Cp(limit) <= score);
            trend.lost = if is_lost { trend.lost.saturating_add(1) } else { 0 };
            trend.won = if is_won { trend.won.saturating_add(1) } else { 0 };
            let is_decisive = is_lost || is_won || score.is_some_and(Score::is_mate);
            self.decisive = if is_decisive { self.decisive.saturating_add(1) } else { 0 };
        }
    }

    /// The side that loses by the resign rule.
    fn resigned(&self, latest: Latest) -> Option<Side> {
        let rule = self.resign?;
        let moves = rule.moves.max(1);
        if self.agreement == Agreement::Magnitude && rule.two_sided {
            let is_behind = latest.score.is_some_and(|score| score < Score::Cp(0));
            let is_over = is_behind && moves.saturating_mul(2) <= self.decisive;
            return is_over.then_some(latest.side);
        }
        Side::BOTH.into_iter().find(|&side| {
            let agrees = !rule.two_sided || moves <= self.trend_of(side.other()).won;
            moves <= self.trend_of(side).lost && agrees
        })
    }

    fn trend_of(&self, side: Side) -> Trend {
        self.trend.get(side.index()).copied().unwrap_or_default()
    }
}

/// Endgame tablebases.
pub trait Tablebases: fmt::Debug + Send + Sync {
    /// The value of a position right after a capture or a pawn move, if it is known.
    fn probe(&self, position: &Chess) -> Option<Wdl>;
}

impl Tablebases for Syzygy {
    fn probe(&self, position: &Chess) -> Option<Wdl> {
        self.wdl_after_zeroing(position)
    }
}

/// The decision by tablebases, if any.
///
/// Tables are probed only right after a capture or a pawn move, where their values are exact under the fifty-move rule.
/// They do not support castling rights.
fn by_tablebases(
    tables: &dyn Tablebases,
    rule: &TablebaseAdjudication,
    position: &Chess,
    turn: Side,
) -> Option<Decision> {
    let pieces = position.board().occupied().count();
    let is_small = rule.pieces == 0 || pieces <= usize::try_from(rule.pieces).unwrap_or(usize::MAX);
    if position.halfmoves() != 0 || !position.castles().is_empty() || !is_small {
        return None;
    }
    let winner = match tables.probe(position)? {
        Wdl::Win => Some(turn),
        Wdl::CursedWin => Some(turn).filter(|_| rule.ignore_fifty_moves),
        Wdl::Draw => None,
        Wdl::BlessedLoss => Some(turn.other()).filter(|_| rule.ignore_fifty_moves),
        Wdl::Loss => Some(turn.other()),
    };
    let is_in_scope = match rule.scope {
        TablebaseScope::Both => true,
        TablebaseScope::WinLoss => winner.is_some(),
        TablebaseScope::Draw => winner.is_none(),
    };
    is_in_scope.then(|| Decision { winner, end: Termination::TablebaseAdjudication.into() })
}

/// How a game has ended.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Decision {
    /// The winner; `None` if the game is a draw or was aborted.
    pub winner: Option<Side>,
    /// The reason.
    pub end: GameEnd,
}

impl Decision {
    /// A loss of a side.
    pub fn lost_by(side: Side, end: impl Into<GameEnd>) -> Self {
        Self { winner: Some(side.other()), end: end.into() }
    }

    /// A draw or an aborted game.
    pub fn without_winner(end: impl Into<GameEnd>) -> Self {
        Self { winner: None, end: end.into() }
    }
}

impl From<GameOutcome> for Decision {
    fn from(outcome: GameOutcome) -> Self {
        Self { winner: outcome.winner(), end: outcome.termination.into() }
    }
}

/// Details of the rules that depend on the match runner.
#[derive(Clone, Copy, Debug)]
pub(super) struct RuleOptions {
    /// Whether the moves of the opening count for the move limit.
    counts_opening_moves: bool,
    /// Whether clocks have an increment before the first move in chess, too.
    first_increment: bool,
    /// How a resignation that both engines must agree on is decided.
    agreement: Agreement,
    /// Which `info` line of a search is used.
    pub(super) info: InfoSource,
    /// Whether a move in an unusual form, such as `E2E4`, is illegal.
    pub(super) strict_notation: bool,
}

/// The condition of a two-sided adjudication by score.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Agreement {
    /// The scores of both engines agree on the winner.
    Winner,
    /// The scores of both engines are decisive, with any sign, and the mover's score is negative.
    Magnitude,
}

/// The source of score, depth and PV of a move.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum InfoSource {
    /// The latest value of each field.
    LatestFields,
    /// The last line with an exact score.
    LastExactLine,
}

impl RuleOptions {
    pub(super) fn new(rules: &Adjudication) -> Self {
        if rules.as_fastchess {
            Self {
                counts_opening_moves: false,
                first_increment: true,
                agreement: Agreement::Magnitude,
                info: InfoSource::LastExactLine,
                strict_notation: true,
            }
        } else {
            Self {
                counts_opening_moves: true,
                first_increment: false,
                agreement: Agreement::Winner,
                info: InfoSource::LatestFields,
                strict_notation: false,
            }
        }
    }
}
