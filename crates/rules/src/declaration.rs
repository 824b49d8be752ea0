//! Declarations in an impasse of shogi.

use crate::{GameOutcome, Impasse, Side, Termination};

/// The facts that decide a declaration by the side to move (nyugyoku sengen).
///
/// The conditions of the Japan Shogi Association and of the Computer Shogi Association: the king is on
/// the three furthest ranks and not in check, at least ten other pieces of its side are there, and
/// there are enough points.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub struct Declaration {
    /// The declaring side, which is to move.
    pub side: Side,
    /// Whether the king is on one of the three furthest ranks.
    pub king_has_entered: bool,
    /// Whether the king is in check.
    pub in_check: bool,
    /// The number of other pieces of the side on these ranks; ten are required.
    pub pieces: u32,
    /// The points of these pieces and those in hand: five for a rook or a bishop, promoted or not, and
    /// one for any other.
    pub points: u32,
    /// The points of the pieces that the game lacks, as in a handicap.
    pub missing: u32,
}

impl Declaration {
    /// The outcome of the declaration. `None` under rules without declarations.
    pub fn outcome(&self, impasse: Impasse) -> Option<GameOutcome> {
        let needed = match self.side {
            Side::First => 28,
            Side::Second => 27,
        };
        let left_out = match self.side {
            Side::First => 0,
            Side::Second => self.missing,
        };
        let (points, to_draw, to_win) = match impasse {
            Impasse::Ignored | Impasse::Try => return None,
            Impasse::Points24 => (self.points.saturating_add(left_out), 24, 31),
            Impasse::Points27 => (self.points, needed, needed),
            Impasse::Points27Handicap => (self.points.saturating_add(left_out), needed, needed),
        };
        let allowed = self.king_has_entered && !self.in_check && self.pieces >= 10;
        Some(if allowed && points >= to_win {
            GameOutcome::won(self.side, Termination::Declaration)
        } else if allowed && points >= to_draw {
            GameOutcome::drawn(Termination::Impasse)
        } else {
            GameOutcome::won(self.side.other(), Termination::FailedDeclaration)
        })
    }
}
