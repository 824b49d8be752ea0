//! What one side attacks.

use cozy_chess::{
    BitBoard, Piece, Square, get_bishop_moves, get_king_moves, get_knight_moves, get_rook_moves,
};

use super::view::{View, pawn_attacks_up};

/// The attacks of one side: of its knights, bishops, rooks and queens in turn, and all together.
pub(super) struct Attacks {
    list: [Attacker; 16],
    len: usize,
    map: Map,
}

/// A piece and the squares that it attacks.
#[derive(Clone, Copy)]
pub(super) struct Attacker {
    pub(super) piece: Piece,
    pub(super) attacked: BitBoard,
}

/// The squares that a side attacks.
#[derive(Clone, Copy)]
pub(super) struct Map {
    by: [BitBoard; Piece::NUM],
    pub(super) all: BitBoard,
    pub(super) twice: BitBoard,
}

const NONE: Attacker = Attacker { piece: Piece::Knight, attacked: BitBoard::EMPTY };

impl Attacks {
    pub(super) fn new(view: &View) -> Self {
        let map =
            Map { by: [BitBoard::EMPTY; Piece::NUM], all: BitBoard::EMPTY, twice: BitBoard::EMPTY };
        let mut attacks = Self { list: [NONE; 16], len: 0, map };
        for attacked in pawn_attacks_up(view.own(Piece::Pawn)) {
            attacks.map.add(Piece::Pawn, attacked);
        }
        attacks.map.add(Piece::King, get_king_moves(view.king));
        // Pieces that move alike support each other along their line.
        let queens = view.own(Piece::Queen);
        let diagonal = view.occupied - queens;
        let straight = diagonal - view.own(Piece::Rook);
        attacks.of(Piece::Knight, view, get_knight_moves);
        attacks.of(Piece::Bishop, view, |square| get_bishop_moves(square, diagonal));
        attacks.of(Piece::Rook, view, |square| get_rook_moves(square, straight));
        attacks.of(Piece::Queen, view, |square| {
            get_bishop_moves(square, view.occupied) | get_rook_moves(square, view.occupied)
        });
        attacks
    }

    fn of(&mut self, piece: Piece, view: &View, attacked: impl Fn(Square) -> BitBoard) {
        for square in view.own(piece) {
            let attacked = attacked(square);
            self.map.add(piece, attacked);
            // A side has at most 15 pieces besides its king.
            if let Some(entry) = self.list.get_mut(self.len) {
                *entry = Attacker { piece, attacked };
                self.len += 1;
            }
        }
    }

    /// The pieces in turn.
    pub(super) fn list(&self) -> &[Attacker] {
        self.list.get(..self.len).unwrap_or_default()
    }

    /// All of them together.
    pub(super) fn map(&self) -> &Map {
        &self.map
    }
}

impl Map {
    fn add(&mut self, piece: Piece, attacked: BitBoard) {
        self.by[piece as usize] |= attacked;
        self.twice |= self.all & attacked;
        self.all |= attacked;
    }

    pub(super) fn by(&self, piece: Piece) -> BitBoard {
        self.by[piece as usize]
    }

    /// As the other side sees it.
    pub(super) fn turned(&self) -> Self {
        Self {
            by: self.by.map(BitBoard::flip_ranks),
            all: self.all.flip_ranks(),
            twice: self.twice.flip_ranks(),
        }
    }
}
