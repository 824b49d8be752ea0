//! The board from one side's perspective, playing upwards, and the attacks of a side.

use cozy_chess::{
    BitBoard, Board, Color, File, Piece, Square, get_bishop_moves, get_king_moves,
    get_knight_moves, get_rook_moves,
};

/// The position with ranks flipped for Black, so that both sides start on the first two ranks.
pub(super) struct View {
    own: [BitBoard; Piece::NUM],
    enemy: [BitBoard; Piece::NUM],
    pub(super) occupied: BitBoard,
    pub(super) all_own: BitBoard,
    pub(super) all_enemy: BitBoard,
    pub(super) king: Square,
    pub(super) enemy_king: Square,
    pub(super) to_move: bool,
    /// The number of castling rights.
    pub(super) castling: u32,
}

impl View {
    pub(super) fn new(board: &Board, color: Color) -> Self {
        let turn = |squares: BitBoard| match color {
            Color::White => squares,
            Color::Black => squares.flip_ranks(),
        };
        let all = Piece::ALL.map(|piece| turn(board.pieces(piece)));
        let (own, enemy) = (turn(board.colors(color)), turn(board.colors(!color)));
        let rights = board.castle_rights(color);
        Self {
            own: all.map(|squares| squares & own),
            enemy: all.map(|squares| squares & enemy),
            occupied: own | enemy,
            all_own: own,
            all_enemy: enemy,
            king: board.king(color).relative_to(color),
            enemy_king: board.king(!color).relative_to(color),
            to_move: board.side_to_move() == color,
            castling: u32::from(rights.short.is_some()) + u32::from(rights.long.is_some()),
        }
    }

    pub(super) fn own(&self, piece: Piece) -> BitBoard {
        self.own[piece as usize]
    }

    pub(super) fn enemy(&self, piece: Piece) -> BitBoard {
        self.enemy[piece as usize]
    }
}

/// Attacks of pawns going up: to the left, and to the right.
pub(super) fn pawn_attacks_up(pawns: BitBoard) -> [BitBoard; 2] {
    [up(left(pawns)), up(right(pawns))]
}

/// All attacks of pawns going down.
pub(super) fn pawn_attacks_down(pawns: BitBoard) -> BitBoard {
    down(adjacent(pawns))
}

pub(super) fn up(squares: BitBoard) -> BitBoard {
    BitBoard(squares.0 << 8)
}

pub(super) fn down(squares: BitBoard) -> BitBoard {
    BitBoard(squares.0 >> 8)
}

fn left(squares: BitBoard) -> BitBoard {
    BitBoard((squares - File::A.bitboard()).0 >> 1)
}

fn right(squares: BitBoard) -> BitBoard {
    BitBoard((squares - File::H.bitboard()).0 << 1)
}

/// Horizontally adjacent squares.
pub(super) fn adjacent(squares: BitBoard) -> BitBoard {
    left(squares) | right(squares)
}

/// Fills upwards.
pub(super) fn fill_up(BitBoard(mut squares): BitBoard) -> BitBoard {
    squares |= squares << 8;
    squares |= squares << 16;
    squares |= squares << 32;
    BitBoard(squares)
}

/// Fills downwards.
pub(super) fn fill_down(BitBoard(mut squares): BitBoard) -> BitBoard {
    squares |= squares >> 8;
    squares |= squares >> 16;
    squares |= squares >> 32;
    BitBoard(squares)
}

#[inline(always)]
pub(super) fn count(squares: BitBoard) -> u32 {
    squares.len()
}

/// King distance.
pub(super) fn distance(from: Square, to: Square) -> usize {
    let files = (from.file() as usize).abs_diff(to.file() as usize);
    let ranks = (from.rank() as usize).abs_diff(to.rank() as usize);
    files.max(ranks)
}

/// The distance from the two corners of a color: 0 in them, 7 on the long diagonal between the
/// others. Each step along an edge towards such a corner reduces it.
pub(super) fn from_corner(square: Square, color: BitBoard) -> usize {
    let (file, rank) = (square.file() as usize, square.rank() as usize);
    let is_dark = color.has(Square::A1);
    let off = if is_dark { (file + rank).abs_diff(7) } else { file.abs_diff(rank) };
    7 - off
}

/// The distance from the left or right edge.
pub(super) fn from_edge(square: Square) -> usize {
    let file = square.file() as usize;
    file.min(7 - file)
}

/// All squares of the color of this one.
pub(super) fn same_color(square: Square) -> BitBoard {
    let dark = BitBoard::DARK_SQUARES;
    if dark.has(square) { dark } else { BitBoard::LIGHT_SQUARES }
}

/// The attacks of one side: per knight, bishop, rook and queen, and combined.
pub(super) struct Attacks {
    list: [Attacker; 16],
    len: usize,
    map: AttackMap,
}

/// A piece and its attacks.
#[derive(Clone, Copy)]
pub(super) struct Attacker {
    pub(super) piece: Piece,
    pub(super) attacked: BitBoard,
}

/// Attacked squares of a side.
#[derive(Clone, Copy)]
pub(super) struct AttackMap {
    by: [BitBoard; Piece::NUM],
    pub(super) all: BitBoard,
    pub(super) twice: BitBoard,
}

const NONE: Attacker = Attacker { piece: Piece::Knight, attacked: BitBoard::EMPTY };

impl Attacks {
    pub(super) fn new(view: &View) -> Self {
        let map = AttackMap {
            by: [BitBoard::EMPTY; Piece::NUM],
            all: BitBoard::EMPTY,
            twice: BitBoard::EMPTY,
        };
        let mut attacks = Self { list: [NONE; 16], len: 0, map };
        for attacked in pawn_attacks_up(view.own(Piece::Pawn)) {
            attacks.map.add(Piece::Pawn, attacked);
        }
        attacks.map.add(Piece::King, get_king_moves(view.king));
        // X-rays through own sliders of the same direction.
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
            // At most 15 pieces in addition to the king.
            if let Some(entry) = self.list.get_mut(self.len) {
                *entry = Attacker { piece, attacked };
                self.len += 1;
            }
        }
    }

    pub(super) fn list(&self) -> &[Attacker] {
        self.list.get(..self.len).unwrap_or_default()
    }

    /// The combined attacks.
    pub(super) fn map(&self) -> &AttackMap {
        &self.map
    }
}

impl AttackMap {
    fn add(&mut self, piece: Piece, attacked: BitBoard) {
        self.by[piece as usize] |= attacked;
        self.twice |= self.all & attacked;
        self.all |= attacked;
    }

    pub(super) fn by(&self, piece: Piece) -> BitBoard {
        self.by[piece as usize]
    }

    /// From the other side's perspective.
    pub(super) fn flipped(&self) -> Self {
        Self {
            by: self.by.map(BitBoard::flip_ranks),
            all: self.all.flip_ranks(),
            twice: self.twice.flip_ranks(),
        }
    }
}
