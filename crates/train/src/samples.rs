//! Selects quiet positions of games, whose search score does not depend on pending captures.
//!
//! Training and validation positions are separated by game, because positions of one game are too
//! similar.

use std::collections::BTreeMap;
use std::path::PathBuf;

use narikin::network::Features as _;
use readyok_rules::Side;

use crate::data::{DataError, Ply, Record};
use crate::games::{GameKind, TrainGame};

/// A filter of the positions of a game.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Filter {
    /// The first ply, including random ones.
    pub from_ply: usize,
    /// The maximum absolute score in centipawns. Mates exceed any maximum.
    pub max_score: i16,
}

impl Filter {
    /// The default filter of a game. In shogi a side with 3,000 centipawns still loses one game in seven.
    pub fn usual(game: GameKind) -> Self {
        let max_score = match game {
            GameKind::Chess => 2000,
            GameKind::Shogi => 6000,
        };
        Self { from_ply: 12, max_score }
    }
}

/// A selected position.
#[derive(Debug)]
pub struct Sample<'a, B> {
    /// The position.
    pub board: &'a B,
    /// Its score for the first side, in centipawns.
    pub score: i16,
}

/// A recorded game that cannot be replayed.
#[derive(Debug, Clone, Copy, PartialEq, Eq, thiserror::Error)]
pub enum ReplayError {
    /// The start position does not exist.
    #[error("there is no start position {0}")]
    Start(u16),
    /// The move of this ply, from 0, is illegal.
    #[error("the move of ply {0} is not legal")]
    Move(usize),
}

/// Why positions cannot be loaded.
#[derive(Debug, thiserror::Error)]
pub enum LoadError {
    /// The file cannot be read.
    #[error(transparent)]
    Data(#[from] DataError),
    /// The file is of another game.
    #[error("`{}` is a file of another game", .0.display())]
    OtherGame(PathBuf),
    /// A game cannot be replayed.
    #[error("game {game} of `{}` cannot be played: {why}", path.display())]
    Replay {
        path: PathBuf,
        /// The number of the game, from 0.
        game: u64,
        #[source]
        why: ReplayError,
    },
}

/// One of this number of games is used for validation.
const VALIDATION_INTERVAL: u64 = 16;

/// Whether a game is used for validation.
pub(crate) fn validates(game: u64) -> bool {
    game % VALIDATION_INTERVAL == VALIDATION_INTERVAL - 1
}

/// Calls `with` for every position of a game with a score: its ply, its board, and the move that was
/// played there.
///
/// # Errors
/// The game cannot be replayed.
pub fn replay<G: TrainGame>(
    game: &Record,
    mut with: impl FnMut(usize, &G::Board, Ply),
) -> Result<(), ReplayError> {
    let mut board = G::start(game.start).ok_or(ReplayError::Start(game.start))?;
    for (ply, &mv) in game.opening.iter().enumerate() {
        if !G::play(&mut board, mv) {
            return Err(ReplayError::Move(ply));
        }
    }
    for (ply, &played) in (game.opening.len()..).zip(&game.plies) {
        with(ply, &board, played);
        if !G::play(&mut board, played.mv) {
            return Err(ReplayError::Move(ply));
        }
    }
    Ok(())
}

/// Calls `with` for every position of a game that passes the filter.
///
/// The side to move must not be in check, and its move must be neither a capture nor a promotion.
///
/// # Errors
/// The game cannot be replayed.
pub fn each<G: TrainGame>(
    game: &Record,
    filter: &Filter,
    mut with: impl FnMut(&Sample<'_, G::Board>),
) -> Result<(), ReplayError> {
    replay::<G>(game, |ply, board, played| {
        let is_plain = ply >= filter.from_ply
            && played.score.unsigned_abs() <= filter.max_score.unsigned_abs()
            && !G::in_check(board)
            && G::is_quiet(board, played.mv);
        if is_plain {
            let score = match board.turn() {
                Side::First => played.score,
                Side::Second => -played.score,
            };
            with(&Sample { board, score });
        }
    })
}

/// Replaces the score of each position by an average of expected results, by TD(λ): with the weight 1 − λ that of its
/// own score, with the weight λ the average of the next position. After the last position it is the result of the game.
/// The expected result of a score is σ(score / `scale`).
///
/// R. S. Sutton, *Learning to predict by the methods of temporal differences*, Machine Learning 3 (1988), 9–44.
#[expect(clippy::cast_possible_truncation, reason = "limited before")]
pub fn average_later_scores(game: &mut Record, lambda: f32, scale: f32) {
    let mut average = points(game.winner);
    let opening = game.opening.len();
    for (index, ply) in game.plies.iter_mut().enumerate().rev() {
        let sign = if (opening + index).is_multiple_of(2) { 1.0 } else { -1.0 };
        let expected = 1.0 / (1.0 + (-sign * f32::from(ply.score) / scale).exp());
        average = (1.0 - lambda) * expected + lambda * average;
        let limited = average.clamp(MIN_EXPECTED, 1.0 - MIN_EXPECTED);
        ply.score = (sign * scale * (limited / (1.0 - limited)).ln()).round() as i16;
    }
}

/// The minimum expected result after averaging, which makes scores finite.
const MIN_EXPECTED: f32 = 0.0001;

/// Scores are grouped in steps of this size, in centipawns.
const STEP: i16 = 20;

/// The points of the first side: 0, ½ or 1.
fn points(winner: Option<Side>) -> f32 {
    winner.map_or(0.5, |side| if side == Side::First { 1.0 } else { 0.0 })
}

/// Results by score.
#[derive(Debug, Clone, Default)]
pub struct Scores {
    /// By step of the score: the number of positions, and the points of the first side.
    steps: BTreeMap<i16, (u32, f64)>,
}

impl Scores {
    /// Adds a position's score for the first side and the winner of its game.
    pub fn add(&mut self, score: i16, winner: Option<Side>) {
        let (count, sum) = self.steps.entry(score.div_euclid(STEP)).or_default();
        *count += 1;
        *sum += f64::from(points(winner));
    }

    /// Adds the positions of others.
    pub fn merge(&mut self, other: &Self) {
        for (&step, &(count, points)) in &other.steps {
            let sum = self.steps.entry(step).or_default();
            sum.0 += count;
            sum.1 += points;
        }
    }

    /// The number of positions.
    pub fn count(&self) -> u64 {
        self.steps.values().map(|&(count, _)| u64::from(count)).sum()
    }

    /// The scale with the least squared error, in centipawns, between 10 and 10,000.
    #[expect(clippy::cast_possible_truncation, reason = "the precision is lower anyway")]
    pub fn scale(&self) -> f32 {
        let (mut low, mut high) = (10_f64.ln(), 10_000_f64.ln());
        for _ in 0..60 {
            let third = (high - low) / 3.0;
            if self.error((low + third).exp()) < self.error((high - third).exp()) {
                high -= third;
            } else {
                low += third;
            }
        }
        f64::midpoint(low, high).exp() as f32
    }

    /// The squared error of a scale, without its constant part.
    fn error(&self, scale: f64) -> f64 {
        let step = |(&step, &(count, points)): (&i16, &(u32, f64))| {
            let middle = (f64::from(step) + 0.5) * f64::from(STEP);
            let expected = 1.0 / (1.0 + (-middle / scale).exp());
            expected * (f64::from(count) * expected - 2.0 * points)
        };
        self.steps.iter().map(step).sum()
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::data::End;

    #[test]
    fn averages_later_scores() {
        let game = |scores: [i16; 3]| Record {
            start: 0,
            // The second player moves first.
            opening: vec![0],
            plies: scores.map(|score| Ply { mv: 0, score }).to_vec(),
            winner: Some(Side::First),
            end: End::Board,
        };
        let scores = |lambda| {
            let mut game = game([400, 0, -400]);
            average_later_scores(&mut game, lambda, 400.0);
            game.plies.iter().map(|ply| ply.score).collect::<Vec<_>>()
        };
        assert_eq!(scores(0.0), [400, 0, -400]);
        // For the first player: (0.7311 + 1) / 2 = 0.8655, (0.5 + 0.8655) / 2 = 0.6828, (0.2689 + 0.6828) / 2 = 0.4759.
        assert_eq!(scores(0.5), [39, 307, -745]);
        assert_eq!(scores(1.0), [-3684, 3684, -3684]);
    }

    #[test]
    fn recovers_the_scale_of_results() {
        let mut scores = Scores::default();
        for step in -40_i16..40 {
            let score = 20 * step + 10;
            let expected = 1.0 / (1.0 + (-f64::from(score) / 300.0).exp());
            for game in 0..1000 {
                let won = f64::from(game) < 1000.0 * expected;
                scores.add(score, Some(if won { Side::First } else { Side::Second }));
            }
        }
        assert!((scores.scale() - 300.0).abs() < 2.0, "{}", scores.scale());
    }
}
