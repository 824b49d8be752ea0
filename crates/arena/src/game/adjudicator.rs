//! Ends by the engines' own scores, and by the length of the game.

use readyok_protocol::Score;
use readyok_rules::{Side, Termination};

use super::referee::Decision;
use crate::plan::{Adjudication, DrawAdjudication, ResignAdjudication};

/// What the scores so far say.
#[derive(Clone, Debug, Default)]
pub(super) struct Adjudicator {
    draw: Option<DrawAdjudication>,
    resign: Option<ResignAdjudication>,
    max_moves: Option<u32>,
    as_fastchess: bool,
    /// Whose word is trusted that they mate.
    trusted: [bool; 2],
    /// Successive moves, of both sides together, with a score near zero.
    level: u32,
    /// Successive moves, of both sides together, with a score that has decided the game.
    decided: u32,
    /// Of each side: its successive moves with a losing score, and with a winning one.
    trend: [Trend; 2],
}

#[derive(Clone, Copy, Debug, Default)]
struct Trend {
    lost: u32,
    won: u32,
}

/// A move that was just played, as far as it matters here.
#[derive(Clone, Copy, Debug)]
pub(super) struct Latest {
    /// Who played it.
    pub(super) side: Side,
    /// What its engine thinks of the game.
    pub(super) score: Option<Score>,
    /// Whether it took a piece or moved a pawn, in chess.
    pub(super) is_progress: bool,
    /// The number of the latest move that was made by both sides, as the game numbers them.
    pub(super) number: u32,
    /// How many moves were played, as the game and the rules count them.
    pub(super) played: u32,
}

impl Adjudicator {
    pub(super) fn new(rules: &Adjudication) -> Self {
        Self {
            draw: rules.draw,
            resign: rules.resign,
            max_moves: rules.max_moves,
            as_fastchess: rules.as_fastchess,
            ..Self::default()
        }
    }

    /// The same, where the engines of some sides are trusted when they say that they mate.
    pub(super) fn trusting(self, trusted: [bool; 2]) -> Self {
        Self { trusted, ..self }
    }

    /// What a move leads to.
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
            let has_decided = is_lost || is_won || score.is_some_and(Score::is_mate);
            self.decided = if has_decided { self.decided.saturating_add(1) } else { 0 };
        }
    }

    /// The side that has lost by its own score.
    fn resigned(&self, latest: Latest) -> Option<Side> {
        let rule = self.resign?;
        let moves = rule.moves.max(1);
        if self.as_fastchess && rule.two_sided {
            let is_behind = latest.score.is_some_and(|score| score < Score::Cp(0));
            let is_over = is_behind && moves.saturating_mul(2) <= self.decided;
            return is_over.then_some(latest.side);
        }
        [Side::First, Side::Second].into_iter().find(|&side| {
            let agrees = !rule.two_sided || moves <= self.of(side.other()).won;
            moves <= self.of(side).lost && agrees
        })
    }

    fn of(&self, side: Side) -> Trend {
        self.trend.get(index(side)).copied().unwrap_or_default()
    }
}

/// The place of a side in an array of two.
pub(super) const fn index(side: Side) -> usize {
    match side {
        Side::First => 0,
        Side::Second => 1,
    }
}
