//! Moves of any notation.

use readyok_rules::{
    IllegalReason, LineError, Move, MoveError, Notation, Position, PositionHistory,
};

use crate::objects::Size;

/// Games of shogi that are longer are drawn. Moves need memory.
const MAX_MOVES: usize = 30_000;

impl Size for PositionHistory {
    fn bytes(&self) -> usize {
        1_000 + self.moves().len() * 350
    }
}

/// Reads a move in any notation. The error is that of the notation that fits best.
pub(crate) fn read_move(position: &Position, text: &str) -> Result<Move, MoveError> {
    let read = position.parse_any(text);
    read.or_else(|error| position.parse(text, Notation::Csa).map_err(|_| error))
}

/// Plays a move of any notation.
pub(crate) fn push(history: &mut PositionHistory, text: &str) -> Result<Move, MoveError> {
    if history.moves().len() >= MAX_MOVES {
        let text = text.chars().take(40).collect();
        return Err(MoveError { text, reason: IllegalReason::GameTooLong, candidates: Vec::new() });
    }
    history.push_uci(text).or_else(|_| {
        let mv = read_move(history.position(), text)?;
        history.push(mv)?;
        Ok(mv)
    })
}

/// Plays moves of any notation: all of them, or none after an error.
pub(crate) fn push_line<'a>(
    history: &mut PositionHistory,
    line: impl IntoIterator<Item = &'a str>,
) -> Result<(), LineError> {
    let before = history.moves().len();
    for (index, text) in line.into_iter().enumerate() {
        if let Err(error) = push(history, text) {
            history.truncate(before);
            return Err(LineError { index, error });
        }
    }
    Ok(())
}
