//! Lines of moves, as users enter them.

use crate::{Game, LineError, Move, MoveError, Position};

/// Moves from a position.
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
            let mut line = Self::empty(Position::start(*game));
            let Err(error) = line.add(text) else { return Ok(line) };
            let count = line.moves.len();
            if failed.as_ref().is_none_or(|(before, _)| *before < count) {
                failed = Some((count, error));
            }
        }
        let none = || MoveError::new(text, crate::IllegalReason::InvalidMove);
        Err(failed.map_or_else(none, |(_, error)| error))
    }

    /// Reads moves in any notation, with or without numbers, from a position.
    ///
    /// # Errors
    /// A move is unreadable, ambiguous or illegal.
    pub fn after(start: Position, text: &str) -> Result<Self, LineError> {
        let mut line = Self::empty(start);
        line.add(text).map_err(|error| LineError { index: line.moves.len(), error })?;
        Ok(line)
    }

    fn empty(start: Position) -> Self {
        Self { moves: Vec::new(), end: start }
    }

    fn add(&mut self, text: &str) -> Result<(), MoveError> {
        // In `同　銀`, the blank is a part of the move.
        let text = text.replace("同\u{3000}", "同");
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

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn moves_have_any_notation() {
        for (game, text, last) in [
            (Game::Chess, "1. e4 e5 2.Nf3 Nc6", "b8c6"),
            (Game::Chess, "e2e4 e7e5 g1f3", "g1f3"),
            (Game::Shogi, "7g7f 3c3d 8h2b+ 3a2b", "3a2b"),
            (Game::Shogi, "▲７六歩 △３四歩 ▲２二角成 △同　銀", "3a2b"),
            (Game::Shogi, "1 ７六歩(77) 2 ３四歩(33)", "3c3d"),
            (Game::Shogi, "P-7f P-3d", "3c3d"),
        ] {
            let line = MoveLine::after(Position::start(game), text).expect(text);
            assert_eq!(
                line.moves().last().map(|mv| mv.to_uci(game.castling_form())).as_deref(),
                Some(last)
            );
        }
        let error = MoveLine::after(Position::start(Game::Chess), "1. e4 e4").expect_err("illegal");
        assert_eq!(error.index, 1);
    }
}
