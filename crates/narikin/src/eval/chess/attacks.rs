//! What the pieces of one side attack.

use cozy_chess::{BitBoard, Piece, Square, get_bishop_moves, get_knight_moves, get_rook_moves};

use super::view::View;

/// The attacks of one side's knights, bishops, rooks and queens.
pub(super) struct Attacks {
    list: [Attacker; 16],
    len: usize,
}

/// A piece and the squares that it attacks.
#[derive(Clone, Copy)]
pub(super) struct Attacker {
    pub(super) piece: Piece,
    pub(super) attacked: BitBoard,
}

const NONE: Attacker = Attacker { piece: Piece::Knight, attacked: BitBoard::EMPTY };

impl Attacks {
    pub(super) fn new(view: &View) -> Self {
        let mut attacks = Self { list: [NONE; 16], len: 0 };
        let occupied = view.occupied;
        attacks.of(Piece::Knight, view, get_knight_moves);
        attacks.of(Piece::Bishop, view, |square| get_bishop_moves(square, occupied));
        attacks.of(Piece::Rook, view, |square| get_rook_moves(square, occupied));
        attacks.of(Piece::Queen, view, |square| {
            get_bishop_moves(square, occupied) | get_rook_moves(square, occupied)
        });
        attacks
    }

    fn of(&mut self, piece: Piece, view: &View, attacked: impl Fn(Square) -> BitBoard) {
        for square in view.own(piece) {
            // A side has at most 15 pieces besides its king.
            if let Some(entry) = self.list.get_mut(self.len) {
                *entry = Attacker { piece, attacked: attacked(square) };
                self.len += 1;
            }
        }
    }

    /// The pieces in turn.
    pub(super) fn list(&self) -> &[Attacker] {
        self.list.get(..self.len).unwrap_or_default()
    }
}
