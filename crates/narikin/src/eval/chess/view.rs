//! The board as one side sees it, playing upwards.

use cozy_chess::{BitBoard, Board, Color, File, Piece, Square};

/// The position with its ranks turned for Black, so that both sides start on the first two ranks.
pub(super) struct View {
    own: [BitBoard; Piece::NUM],
    enemy: [BitBoard; Piece::NUM],
    pub(super) occupied: BitBoard,
    pub(super) king: Square,
    pub(super) enemy_king: Square,
}

impl View {
    pub(super) fn new(board: &Board, color: Color) -> Self {
        let turn = |squares: BitBoard| match color {
            Color::White => squares,
            Color::Black => squares.flip_ranks(),
        };
        let all = Piece::ALL.map(|piece| turn(board.pieces(piece)));
        let (own, enemy) = (turn(board.colors(color)), turn(board.colors(!color)));
        Self {
            own: all.map(|squares| squares & own),
            enemy: all.map(|squares| squares & enemy),
            occupied: own | enemy,
            king: board.king(color).relative_to(color),
            enemy_king: board.king(!color).relative_to(color),
        }
    }

    pub(super) fn own(&self, piece: Piece) -> BitBoard {
        self.own[piece as usize]
    }

    pub(super) fn enemy(&self, piece: Piece) -> BitBoard {
        self.enemy[piece as usize]
    }
}

/// The squares that pawns on these attack, going down.
pub(super) fn pawn_attacks_down(pawns: BitBoard) -> BitBoard {
    let left = (pawns - File::A.bitboard()).0 >> 9;
    let right = (pawns - File::H.bitboard()).0 >> 7;
    BitBoard(left | right)
}
