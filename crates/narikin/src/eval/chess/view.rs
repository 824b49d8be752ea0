//! The board as one side sees it, playing upwards.

use cozy_chess::{
    BitBoard, Board, Color, File, Piece, Square, get_bishop_moves, get_king_moves,
    get_knight_moves, get_rook_moves,
};

/// The position with its ranks turned for Black, so that both sides start on the first two ranks.
pub(super) struct View {
    own: [BitBoard; Piece::NUM],
    enemy: [BitBoard; Piece::NUM],
    pub(super) occupied: BitBoard,
    pub(super) all_own: BitBoard,
    pub(super) all_enemy: BitBoard,
    pub(super) king: Square,
    pub(super) enemy_king: Square,
    /// Whether this side is to move.
    pub(super) to_move: bool,
    /// To how many sides it may still castle.
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

/// The squares that pawns on these attack, going up: on their left, and on their right.
pub(super) fn pawn_attacks_up(pawns: BitBoard) -> [BitBoard; 2] {
    [up(left(pawns)), up(right(pawns))]
}

/// All squares that pawns on these attack, going down.
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

/// The squares on the left and on the right of these.
pub(super) fn adjacent(squares: BitBoard) -> BitBoard {
    left(squares) | right(squares)
}

/// These squares and all above them.
pub(super) fn fill_up(BitBoard(mut squares): BitBoard) -> BitBoard {
    squares |= squares << 8;
    squares |= squares << 16;
    squares |= squares << 32;
    BitBoard(squares)
}

/// These squares and all below them.
pub(super) fn fill_down(BitBoard(mut squares): BitBoard) -> BitBoard {
    squares |= squares >> 8;
    squares |= squares >> 16;
    squares |= squares >> 32;
    BitBoard(squares)
}

/// The number of squares.
#[inline(always)]
pub(super) fn count(squares: BitBoard) -> u32 {
    squares.len()
}

/// How many moves a king needs.
pub(super) fn distance(from: Square, to: Square) -> usize {
    let files = (from.file() as usize).abs_diff(to.file() as usize);
    let ranks = (from.rank() as usize).abs_diff(to.rank() as usize);
    files.max(ranks)
}

/// How far a square is from the two corners of a colour: 0 in them, 7 on the long diagonal between the
/// other two. Each step along an edge towards such a corner brings it nearer.
pub(super) fn from_corner(square: Square, color: BitBoard) -> usize {
    let (file, rank) = (square.file() as usize, square.rank() as usize);
    let is_dark = color.has(Square::A1);
    let off = if is_dark { (file + rank).abs_diff(7) } else { file.abs_diff(rank) };
    7 - off
}

/// How far a square is from the left or right edge.
pub(super) fn from_edge(square: Square) -> usize {
    let file = square.file() as usize;
    file.min(7 - file)
}

/// The squares of the colour of this one.
pub(super) fn same_color(square: Square) -> BitBoard {
    let dark = BitBoard::DARK_SQUARES;
    if dark.has(square) { dark } else { BitBoard::LIGHT_SQUARES }
}

/// The attacks of one side: of its knights, bishops, rooks and queens in turn, and all together.
pub(super) struct Attacks {
    list: [Attacker; 16],
    len: usize,
    map: AttackMap,
}

/// A piece and the squares that it attacks.
#[derive(Clone, Copy)]
pub(super) struct Attacker {
    pub(super) piece: Piece,
    pub(super) attacked: BitBoard,
}

/// The squares that a side attacks.
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

    /// As the other side sees it.
    pub(super) fn flipped(&self) -> Self {
        Self {
            by: self.by.map(BitBoard::flip_ranks),
            all: self.all.flip_ranks(),
            twice: self.twice.flip_ranks(),
        }
    }
}
