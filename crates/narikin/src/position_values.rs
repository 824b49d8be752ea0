//! Scores of positions set by the user (`UCI_SetPositionValue`).

use std::collections::HashMap;

use readyok_engine::Failure;
use readyok_engine::protocol::PositionValue;
use readyok_rules::{BoardRef, Game, Position, Side, fairy};

use crate::Limits;
use crate::board::{Board, Chess, Shogi};

/// Maximum number of stored positions.
const MAX_POSITIONS: usize = 1 << 20;

const SHOGI_RANKS: usize = 9;

/// Larger values would be mates.
const MAX_SCORE: i32 = 10_000;

/// Scores of positions.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct PositionValues {
    /// For the side to move, by hash key.
    values: HashMap<u64, i32>,
}

impl PositionValues {
    /// Whether no position has a score.
    pub fn is_empty(&self) -> bool {
        self.values.is_empty()
    }

    /// The score of a position in centipawns for the side to move.
    pub fn get(&self, position: &Position) -> Option<i32> {
        self.get_by_key(key(position)?)
    }

    /// The score by hash key.
    pub(crate) fn get_by_key(&self, key: u64) -> Option<i32> {
        self.values.get(&key).copied()
    }

    /// Sets the score of a position in centipawns for the side that moves first in the start
    /// position; none removes it. Scores are clamped to ±10000. Positions that the search does not
    /// support, or beyond a million, are ignored.
    pub fn set(&mut self, position: &Position, value: Option<i32>) {
        let for_mover = |value: i32| match position.turn() {
            Side::First => value.clamp(-MAX_SCORE, MAX_SCORE),
            Side::Second => value.clamp(-MAX_SCORE, MAX_SCORE).saturating_neg(),
        };
        let Some(key) = key(position) else { return };
        match value {
            None => drop(self.values.remove(&key)),
            Some(_) if self.values.len() >= MAX_POSITIONS && !self.values.contains_key(&key) => (),
            Some(value) => drop(self.values.insert(key, for_mover(value))),
        }
    }

    /// Applies a value of `UCI_SetPositionValue`. Positions are chess, or shogi as in UCI.
    ///
    /// # Errors
    ///
    /// The text or its position is invalid.
    pub fn apply_command(&mut self, text: &str) -> Result<(), Failure> {
        match text.parse()? {
            PositionValue::ClearAll => self.values.clear(),
            PositionValue::Clear { fen } => self.set(&position(fen.as_str())?, None),
            PositionValue::Set { centipawns, fen } => {
                self.set(&position(fen.as_str())?, Some(centipawns));
            }
        }
        Ok(())
    }
}

fn position(fen: &str) -> Result<Position, Failure> {
    let ranks = fen.split(' ').next().unwrap_or_default().split('/').count();
    if ranks == SHOGI_RANKS
        && let Some(sfen) = fairy::fen_to_sfen(fen)
    {
        return Ok(Position::from_text(Game::Shogi, &sfen)?);
    }
    let chess = Position::from_text(Game::Chess, fen);
    Ok(chess.or_else(|_| Position::from_text(Game::Chess960, fen))?)
}

/// The hash key of a position; none if it is not supported.
fn key(position: &Position) -> Option<u64> {
    let limits = Limits::default();
    match position.board() {
        BoardRef::Shogi(_) => Shogi::new(position, &limits).map(|board| board.key()),
        BoardRef::Chess(_) => Chess::new(position, &limits).map(|board| board.key()),
        BoardRef::Diagram(_) => None,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const AFTER_E4: &str = "rnbqkbnr/pppppppp/8/8/4P3/8/PPPP1PPP/RNBQKBNR b KQkq - 0 1";

    fn value(position_values: &PositionValues, game: Game, text: &str) -> Option<i32> {
        position_values.get(&Position::from_text(game, text).expect("a position"))
    }

    #[test]
    fn scores_are_set_and_cleared() {
        let mut position_values = PositionValues::default();
        position_values.apply_command(&format!("30 + {AFTER_E4}")).expect("an instruction");
        assert_eq!(value(&position_values, Game::Chess, AFTER_E4), Some(-30));
        position_values.apply_command("-7 + 8/8/8/8/8/8/8/K1k5 w - - 0 1").expect("an instruction");
        assert_eq!(value(&position_values, Game::Chess, "8/8/8/8/8/8/8/K1k5 w - - 0 1"), Some(-7));
        position_values.apply_command(&format!("clear + {AFTER_E4}")).expect("an instruction");
        assert_eq!(value(&position_values, Game::Chess, AFTER_E4), None);
        assert!(!position_values.is_empty());
        position_values.apply_command("clearall").expect("an instruction");
        assert!(position_values.is_empty());
    }

    #[test]
    fn shogi_positions_are_those_of_uci() {
        let mut position_values = PositionValues::default();
        position_values
            .apply_command("12 + 4k4/9/4P4/9/9/9/9/9/4K4[Gp] b - - 0 1")
            .expect("an instruction");
        assert_eq!(
            value(&position_values, Game::Shogi, "4k4/9/4P4/9/9/9/9/9/4K4 w Gp 2"),
            Some(-12)
        );
    }

    #[test]
    fn invalid_values_are_rejected() {
        let mut position_values = PositionValues::default();
        for text in ["", "much + 8/8/8/8/8/8/8/K1k5 w - - 0 1", "5", "5 + 9/9 w", "clear"] {
            assert!(position_values.apply_command(text).is_err(), "{text}");
        }
        assert!(position_values.is_empty());
    }
}
