//! The value of a position, inside the search and outside.

/// A value inside the search, for the side to move: centipawns, or a distance from mate.
pub(crate) type Value = i32;

/// No line can be longer, in plies.
pub(crate) const MAX_PLY: usize = 128;

/// Larger than any value.
pub(crate) const INFINITE: Value = 32_000;

/// The value of a draw.
pub(crate) const DRAW: Value = 0;

/// The value of a game won by rule without mate, such as by the opponent's perpetual check.
pub(crate) const WON: Value = 20_000;

/// The value of a win that is declared after so many plies: the sooner the better, or it might be put off for
/// ever.
pub(crate) fn declared_win(ply: usize) -> Value {
    WON - Value::try_from(ply).unwrap_or(0)
}

/// Values from here on come from a mate or a rule that ends the game, not from an evaluation.
pub(crate) const DECIDED: Value = 19_000;

/// The value of a position after so many plies that tablebases know to be won.
pub(crate) fn table_win(ply: usize) -> Value {
    DECIDED + 500 - Value::try_from(ply).unwrap_or(0)
}

/// Whether a value says that somebody has won.
pub(crate) fn is_decided(value: Value) -> bool {
    value.abs() >= DECIDED
}

/// Mate on the board, given now. Values from here down to [`MATE_RANGE`] are mates further away.
const MATE: Value = 30_000;
const MATE_RANGE: Value = 29_000;

/// The value of being mated after so many plies.
pub(crate) fn mated_in(ply: usize) -> Value {
    // Plies are bounded by `MAX_PLY`.
    Value::try_from(ply).unwrap_or(0) - MATE
}

/// The value of giving mate after so many plies.
pub(crate) fn mate_in(ply: usize) -> Value {
    -mated_in(ply)
}

/// Counts a mate from the position it was found in instead of from the root, which is how it can be
/// kept for other ways to that position.
pub(crate) fn from_root_to_here(value: Value, ply: usize) -> Value {
    shift_mate(value, mated_in(ply) - mated_in(0))
}

/// Undoes [`from_root_to_here`].
pub(crate) fn from_here_to_root(value: Value, ply: usize) -> Value {
    shift_mate(value, mated_in(0) - mated_in(ply))
}

fn shift_mate(value: Value, plies: Value) -> Value {
    if value >= MATE_RANGE {
        value + plies
    } else if value <= -MATE_RANGE {
        value - plies
    } else {
        value
    }
}

/// What a position is worth for the side to move.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Score {
    /// Hundredths of a pawn.
    Centipawns(i32),
    /// The side to move gives mate within so many plies.
    Wins {
        /// Plies until mate, its last move included.
        plies: u32,
    },
    /// The side to move is mated within so many plies.
    Loses {
        /// Plies until mate; 0 if it stands on the board.
        plies: u32,
    },
}

impl Score {
    pub(crate) fn from_value(value: Value) -> Self {
        if value >= MATE_RANGE {
            Self::Wins { plies: MATE.abs_diff(value) }
        } else if value <= -MATE_RANGE {
            Self::Loses { plies: (-MATE).abs_diff(value) }
        } else {
            Self::Centipawns(value)
        }
    }
}
