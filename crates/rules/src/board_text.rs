//! What FEN and SFEN have in common: fields and a board written rank by rank.

use crate::{Field, PositionError, error::shortened};

/// How a game writes its board.
pub(crate) struct Shape {
    /// Files, and ranks.
    pub(crate) size: u32,
    /// The letters of all pieces, in lower case.
    pub(crate) pieces: &'static str,
    /// The letters that may follow a `+`.
    pub(crate) promotable: &'static str,
    /// The name of a rank, counted from the top.
    pub(crate) rank_name: fn(row: u32) -> char,
    /// The name of a file, counted from the left.
    pub(crate) file_name: fn(column: u32) -> char,
    /// The fields, in order.
    pub(crate) fields: &'static [Field],
    /// How many of the fields must be there.
    pub(crate) required: usize,
}

impl Shape {
    /// Splits a text into its fields and checks that there are enough and not too many.
    pub(crate) fn split<'a>(&self, text: &'a str) -> Result<Vec<&'a str>, PositionError> {
        // One more than there may be is enough to know that there are too many.
        let found: Vec<&str> = text.split_whitespace().take(self.fields.len() + 1).collect();
        if let Some(text) = found.get(self.fields.len()) {
            return Err(PositionError::ExtraField { text: shortened(text) });
        }
        match self.fields.get(found.len()) {
            Some(&field) if found.len() < self.required => Err(PositionError::MissingField(field)),
            _ => Ok(found),
        }
    }

    /// Checks the board field, so that what is wrong can be told by rank and square.
    pub(crate) fn check_board(&self, text: &str) -> Result<(), PositionError> {
        let count = text.split('/').count();
        if count != self.size as usize {
            return Err(PositionError::RankCount { count, expected: self.size as usize });
        }
        (0..).zip(text.split('/')).try_for_each(|(row, rank)| self.check_rank(row, rank))
    }

    fn check_rank(&self, row: u32, rank: &str) -> Result<(), PositionError> {
        let wrong_length = PositionError::RankLength { rank: (self.rank_name)(row) };
        let mut column = 0;
        let mut promoted = false;
        for letter in rank.chars() {
            let pieces = if promoted { self.promotable } else { self.pieces };
            if column >= self.size {
                return Err(wrong_length);
            } else if pieces.contains(letter.to_ascii_lowercase()) {
                column += 1;
                promoted = false;
            } else if letter == '+' && !promoted && !self.promotable.is_empty() {
                promoted = true;
            } else if let Some(empty @ 1..) = letter.to_digit(10)
                && !promoted
            {
                column += empty;
            } else {
                let square = [(self.file_name)(column), (self.rank_name)(row)];
                return Err(PositionError::UnknownPiece {
                    piece: letter,
                    square: square.iter().collect(),
                });
            }
        }
        if promoted || column != self.size { Err(wrong_length) } else { Ok(()) }
    }
}
