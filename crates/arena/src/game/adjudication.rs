//! Adjudication by the scores of the engines, by the length of the game, and by tablebases.

use std::fmt;

use readyok_protocol::Score;
use readyok_rules::shakmaty::{Chess, Position as _};
use readyok_rules::{Side, Syzygy, Termination, Wdl};

use super::rules::{Agreement, Decision, RuleOptions};
use crate::plan::{
    Adjudication, DrawAdjudication, ResignAdjudication, TablebaseAdjudication, TablebaseScope,
};

/// Counts consecutive scores and decides the game by them.
#[derive(Clone, Debug)]
pub(super) struct Adjudicator {
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
pub(super) struct Latest {
    pub(super) side: Side,
    /// The score reported by the engine.
    pub(super) score: Option<Score>,
    /// Whether it is a capture or a pawn move, in chess.
    pub(super) is_progress: bool,
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
        if self.trusted.get(index(latest.side)) == Some(&true)
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
        if let (Some(rule), Some(trend)) = (self.resign, self.trend.get_mut(index(side))) {
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
        [Side::First, Side::Second].into_iter().find(|&side| {
            let agrees = !rule.two_sided || moves <= self.trend_of(side.other()).won;
            moves <= self.trend_of(side).lost && agrees
        })
    }

    fn trend_of(&self, side: Side) -> Trend {
        self.trend.get(index(side)).copied().unwrap_or_default()
    }
}

const fn index(side: Side) -> usize {
    match side {
        Side::First => 0,
        Side::Second => 1,
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
/// Tables are probed only right after a capture or a pawn move, where their values are exact under the fifty-move rule,
/// and only without castling rights, which they do not support.
pub(super) fn by_tablebases(
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
