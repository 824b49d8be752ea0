//! A position with the moves that led to it, for cheap undo.

use std::collections::VecDeque;

use readyok_rules::{IllegalReason, LineError, Move, MoveError, Notation, Position};

use crate::table::Size;

/// A position with the moves that led to it.
#[derive(Clone)]
pub(crate) struct History {
    start: Position,
    moves: Vec<Move>,
    position: Position,
    /// Earlier positions with their numbers of moves: the last multiples of [`INTERVAL`].
    checkpoints: VecDeque<(usize, Position)>,
}

/// Moves between two checkpoints.
const INTERVAL: usize = 8;
const MAX_CHECKPOINTS: usize = 8;

/// Games of shogi that are longer are drawn.
const MAX_MOVES: usize = 30_000;

impl History {
    pub(crate) fn new(start: Position) -> Self {
        let position = start.clone();
        Self { start, moves: Vec::new(), position, checkpoints: VecDeque::new() }
    }

    pub(crate) fn start(&self) -> &Position {
        &self.start
    }

    pub(crate) fn position(&self) -> &Position {
        &self.position
    }

    pub(crate) fn moves(&self) -> &[Move] {
        &self.moves
    }

    /// Plays a move in any notation.
    pub(crate) fn push_text(&mut self, text: &str) -> Result<Move, MoveError> {
        self.prepare(text)?;
        let mv = match self.position.play_uci(text) {
            Ok(mv) => mv,
            Err(_) => {
                let mv = read_move(&self.position, text)?;
                self.position.play(mv)?;
                mv
            }
        };
        self.moves.push(mv);
        Ok(mv)
    }

    /// Plays moves in any notation: all of them, or none after an error.
    pub(crate) fn push_line<'a>(
        &mut self,
        line: impl IntoIterator<Item = &'a str>,
    ) -> Result<(), LineError> {
        let before = self.moves.len();
        for (index, text) in line.into_iter().enumerate() {
            if let Err(error) = self.push_text(text) {
                while self.moves.len() > before && self.pop().is_some() {}
                return Err(LineError { index, error });
            }
        }
        Ok(())
    }

    /// Plays a legal move.
    pub(crate) fn push(&mut self, mv: Move) -> Result<(), MoveError> {
        self.prepare("")?;
        self.position.play(mv)?;
        self.moves.push(mv);
        Ok(())
    }

    /// Takes back the last move.
    pub(crate) fn pop(&mut self) -> Option<Move> {
        let mv = self.moves.pop()?;
        let target = self.moves.len();
        while self.checkpoints.back().is_some_and(|(plies, _)| *plies > target) {
            self.checkpoints.pop_back();
        }
        let (mut plies, mut position) =
            self.checkpoints.pop_back().unwrap_or_else(|| (0, self.start.clone()));
        while plies <= target {
            if plies.is_multiple_of(INTERVAL) {
                self.remember(plies, position.clone());
            }
            if let Some(mv) = self.moves.get(plies) {
                // It was played here before.
                let _ = position.play(*mv);
            }
            plies += 1;
        }
        self.position = position;
        Some(mv)
    }

    fn prepare(&mut self, text: &str) -> Result<(), MoveError> {
        let plies = self.moves.len();
        if plies >= MAX_MOVES {
            let reason = IllegalReason::GameTooLong;
            return Err(MoveError { text: text.to_owned(), reason, candidates: Vec::new() });
        }
        let is_known = self.checkpoints.back().is_some_and(|(known, _)| *known == plies);
        if plies.is_multiple_of(INTERVAL) && !is_known {
            self.remember(plies, self.position.clone());
        }
        Ok(())
    }

    fn remember(&mut self, plies: usize, position: Position) {
        if self.checkpoints.len() == MAX_CHECKPOINTS {
            self.checkpoints.pop_front();
        }
        self.checkpoints.push_back((plies, position));
    }
}

impl Size for History {
    fn bytes(&self) -> usize {
        // Positions have the positions before them that can be repeated.
        (2 + self.checkpoints.len()) * (400 + self.moves.len().min(1000) * 100)
    }
}

/// Reads a move in any notation. The error is that of the notation that fits best.
pub(crate) fn read_move(position: &Position, text: &str) -> Result<Move, MoveError> {
    let read = position.parse_any(text);
    read.or_else(|error| position.parse(text, Notation::Csa).map_err(|_| error))
}
