//! A position with the moves that led to it, which can be taken back.

use crate::{Game, LineError, Move, MoveError, Position, position::Undo};

/// A position and the moves that led to it from a start position.
///
/// Taking back a move costs about as much as playing it.
///
/// ```
/// use readyok_rules::{Game, Position, PositionHistory};
///
/// let mut history = PositionHistory::new(Position::start(Game::Chess));
/// history.push_line(["e2e4", "e7e5"])?;
/// history.push_any("Nf3")?;
/// assert_eq!(history.moves().len(), 3);
/// let mv = history.pop().ok_or("a move")?;
/// assert_eq!(mv.to_uci(Game::Chess.castling_form()), "g1f3");
/// assert_eq!(history.position().turn(), history.start().turn());
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
#[derive(Debug, Clone)]
pub struct PositionHistory {
    start: Position,
    position: Position,
    moves: Vec<Move>,
    /// For each move, what takes it back.
    undos: Vec<Undo>,
}

impl PositionHistory {
    /// A history without moves.
    pub fn new(start: Position) -> Self {
        Self { position: start.clone(), start, moves: Vec::new(), undos: Vec::new() }
    }

    /// The position before the first move.
    pub fn start(&self) -> &Position {
        &self.start
    }

    /// The position after the last move.
    pub fn position(&self) -> &Position {
        &self.position
    }

    /// The moves from the start position.
    pub fn moves(&self) -> &[Move] {
        &self.moves
    }

    /// The game of the positions.
    pub fn game(&self) -> Game {
        self.position.game()
    }

    /// Plays a move. On an error nothing changes.
    ///
    /// # Errors
    /// The move is illegal.
    pub fn push(&mut self, mv: Move) -> Result<(), MoveError> {
        self.add(mv, false)
    }

    /// Reads a move in UCI or USI notation and plays it. On an error nothing changes.
    ///
    /// # Errors
    /// The move is malformed or illegal.
    pub fn push_uci(&mut self, text: &str) -> Result<Move, MoveError> {
        let mv = self.position.parse_move(text)?;
        self.add(mv, true).map(|()| mv)
    }

    /// Reads a move as [`Position::parse_any`] and plays it. On an error nothing changes.
    ///
    /// # Errors
    /// The move is malformed, ambiguous or illegal.
    pub fn push_any(&mut self, text: &str) -> Result<Move, MoveError> {
        let mv = self.position.parse_any(text)?;
        self.add(mv, true).map(|()| mv)
    }

    /// Plays moves in UCI or USI notation. On an error nothing changes.
    ///
    /// # Errors
    /// A move is malformed or illegal.
    pub fn push_line<T: AsRef<str>>(
        &mut self,
        moves: impl IntoIterator<Item = T>,
    ) -> Result<(), LineError> {
        let before = self.moves.len();
        for (index, text) in moves.into_iter().enumerate() {
            if let Err(error) = self.push_uci(text.as_ref()) {
                self.truncate(before);
                return Err(LineError { index, error });
            }
        }
        Ok(())
    }

    /// Takes back the last move. `None` at the start position.
    pub fn pop(&mut self) -> Option<Move> {
        let (mv, undo) = (self.moves.pop()?, self.undos.pop()?);
        self.position.undo(mv, undo);
        Some(mv)
    }

    /// Takes back all moves after a number of them.
    pub fn truncate(&mut self, plies: usize) {
        while self.moves.len() > plies {
            self.pop();
        }
    }

    fn add(&mut self, mv: Move, is_legal: bool) -> Result<(), MoveError> {
        let undo = self.position.push(mv, is_legal)?;
        self.moves.push(mv);
        self.undos.push(undo);
        Ok(())
    }
}
