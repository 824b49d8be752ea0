//! Lines of moves, as users enter them.

use crate::{Game, Move, MoveError, Position};

/// Moves from the start position of a game.
#[derive(Debug, Clone)]
pub struct MoveLine {
    moves: Vec<Move>,
    end: Position,
}

impl MoveLine {
    /// Reads moves in any notation, with or without numbers, of the first of the games in which they are legal.
    ///
    /// Otherwise the error is that of the game with the most legal moves before it.
    pub fn read(text: &str, games: &[Game]) -> Result<Self, MoveError> {
        let mut failed: Option<(usize, MoveError)> = None;
        for game in games {
            let mut line = Self { moves: Vec::new(), end: Position::start(*game) };
            let Err(error) = line.add(text) else { return Ok(line) };
            let count = line.moves.len();
            if failed.as_ref().is_none_or(|(before, _)| *before < count) {
                failed = Some((count, error));
            }
        }
        let none = || MoveError::new(text, crate::IllegalReason::InvalidMove);
        Err(failed.map_or_else(none, |(_, error)| error))
    }

    fn add(&mut self, text: &str) -> Result<(), MoveError> {
        for token in text.split_whitespace().map(without_number).filter(|token| !token.is_empty()) {
            let mv = self.end.parse_any(token)?;
            self.end.play(mv)?;
            self.moves.push(mv);
        }
        Ok(())
    }

    /// The moves.
    pub fn moves(&self) -> &[Move] {
        &self.moves
    }

    /// The position after the moves.
    pub fn end(&self) -> &Position {
        &self.end
    }
}

/// A move without the number before it: `1.e4`, `12...Nf6`, `3.`. The digits of `7g7f` are no number.
fn without_number(token: &str) -> &str {
    let rest = token.trim_start_matches(|letter: char| letter.is_ascii_digit());
    if rest.is_empty() {
        return rest;
    }
    rest.strip_prefix('.').map_or(token, |rest| rest.trim_start_matches('.'))
}
