//! Pieces on squares and in hand, without the rules of the game: what patterns are compared with.

use crate::{Game, Move, Piece, PieceKind, Position, Side, Square, shakmaty, shogi::our_kind};

/// Number of codes of pieces: none, and each kind of both sides.
pub(super) const CODES: usize = 31;

/// The code of no piece.
pub(super) const EMPTY: u8 = 0;

const KINDS: [PieceKind; 15] = [
    PieceKind::King,
    PieceKind::Queen,
    PieceKind::Rook,
    PieceKind::Bishop,
    PieceKind::Gold,
    PieceKind::Silver,
    PieceKind::Knight,
    PieceKind::Lance,
    PieceKind::Pawn,
    PieceKind::Dragon,
    PieceKind::Horse,
    PieceKind::PromotedSilver,
    PieceKind::PromotedKnight,
    PieceKind::PromotedLance,
    PieceKind::Tokin,
];

/// The index of a square, row by row from the top left.
pub(super) fn index_of(game: Game, square: Square) -> u8 {
    square.row() * game.width() + square.column()
}

/// The code of a piece: kinds of the first side in the order of [`KINDS`] from 1, then those of the second one.
pub(super) const fn code_of(piece: Piece) -> u8 {
    let side = match piece.side {
        Side::First => 0,
        Side::Second => 15,
    };
    // The kinds are declared in this order.
    1 + side + piece.kind as u8
}

/// The piece of a code.
pub(super) fn piece_of(code: u8) -> Option<Piece> {
    let index = code.checked_sub(1)?;
    let side = if index < 15 { Side::First } else { Side::Second };
    Some(Piece { side, kind: *KINDS.get(usize::from(index % 15))? })
}

/// The value of a kind: in chess the usual one in pawns, in shogi that of Larry Kaufman (SHOGI-L, 14 November 2002).
pub(super) const fn value(game: Game, kind: PieceKind) -> i32 {
    use PieceKind as K;
    match (game, kind) {
        (_, K::King) => 0,
        (_, K::Pawn) => 1,
        (Game::Shogi, K::Rook) => 13,
        (Game::Shogi, K::Bishop) => 11,
        (Game::Shogi, K::Knight) => 5,
        (_, K::Queen | K::PromotedKnight | K::PromotedLance) => 9,
        (_, K::Rook) => 5,
        (_, K::Bishop | K::Knight) => 3,
        (_, K::Gold | K::PromotedSilver) => 8,
        (_, K::Silver) => 7,
        (_, K::Lance) => 4,
        (_, K::Dragon) => 16,
        (_, K::Horse) => 14,
        (_, K::Tokin) => 10,
    }
}

/// The values of all codes in a game, negative for the second side.
const fn values(game: Game) -> [i32; CODES] {
    let mut values = [0; CODES];
    let mut index = 0;
    while index < KINDS.len() {
        values[1 + index] = value(game, KINDS[index]);
        values[16 + index] = -value(game, KINDS[index]);
        index += 1;
    }
    values
}

const CHESS_VALUES: [i32; CODES] = values(Game::Chess);
const SHOGI_VALUES: [i32; CODES] = values(Game::Shogi);

/// The pieces of a position on their squares and in hand, and the side to move.
///
/// Moves are played without a check of legality, so that the positions of a stored game are visited many times faster
/// than with a [`Position`].
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct PiecePlacement {
    game: Game,
    /// Codes, row by row from the top left.
    cells: [u8; 81],
    /// Number of pieces on the board by code.
    counts: [u8; CODES],
    /// By side, and by kind in the order of [`PieceKind::IN_HAND`].
    hands: [[u8; 7]; 2],
    /// By side, the bishops on dark and on light squares (chess).
    bishops: [[u8; 2]; 2],
    /// Value of the first side minus that of the second one, pieces in hand included.
    balance: i32,
    turn: Side,
}

impl PiecePlacement {
    /// The pieces of a position.
    pub fn new(position: &Position) -> Self {
        let setup = position.setup();
        let game = setup.game();
        let mut placement = Self {
            game,
            cells: [EMPTY; 81],
            counts: [0; CODES],
            hands: [[0; 7]; 2],
            bishops: [[0; 2]; 2],
            balance: 0,
            turn: setup.turn(),
        };
        placement.counts[usize::from(EMPTY)] = game.width() * game.width();
        for (square, piece) in setup.pieces() {
            placement.set(index_of(game, square), code_of(piece));
        }
        for side in Side::BOTH {
            for (index, kind) in PieceKind::IN_HAND.into_iter().enumerate() {
                let count = setup.hand(side, kind);
                placement.add_to_hand(side, index, u8::try_from(count).unwrap_or(u8::MAX));
            }
        }
        placement
    }

    /// The game.
    pub fn game(&self) -> Game {
        self.game
    }

    pub(super) fn turn(&self) -> Side {
        self.turn
    }

    /// The code on a square, by its index from the top left.
    #[inline]
    pub(super) fn code(&self, index: u8) -> u8 {
        self.cells[usize::from(index) % 81]
    }

    /// The number of pieces of a code on the board.
    #[inline]
    pub(super) fn count(&self, code: u8) -> u8 {
        self.counts[usize::from(code) % CODES]
    }

    /// The number of pieces in hand, by the index of the kind in [`PieceKind::IN_HAND`].
    pub(super) fn in_hand(&self, side: Side, kind: usize) -> u8 {
        self.hands[side.index()][kind % 7]
    }

    pub(super) fn bishops(&self, side: Side) -> [u8; 2] {
        self.bishops[side.index()]
    }

    pub(super) fn balance(&self) -> i32 {
        self.balance
    }

    fn values(&self) -> &'static [i32; CODES] {
        if self.game == Game::Shogi { &SHOGI_VALUES } else { &CHESS_VALUES }
    }

    /// Puts a piece or nothing on a square. Returns what was there.
    #[inline]
    fn set(&mut self, index: u8, code: u8) -> u8 {
        const BISHOPS: [u8; 2] = [
            code_of(Piece { side: Side::First, kind: PieceKind::Bishop }),
            code_of(Piece { side: Side::Second, kind: PieceKind::Bishop }),
        ];
        let values = self.values();
        let Some(cell) = self.cells.get_mut(usize::from(index)) else { return EMPTY };
        let before = std::mem::replace(cell, code);
        let [old, new] = [before, code].map(|code| usize::from(code) % CODES);
        self.balance += values[new] - values[old];
        self.counts[old] = self.counts[old].wrapping_sub(1);
        self.counts[new] = self.counts[new].wrapping_add(1);
        if BISHOPS.contains(&before) || BISHOPS.contains(&code) {
            let is_light = (index / 8 + index % 8).is_multiple_of(2);
            for (side, bishop) in BISHOPS.into_iter().enumerate() {
                let count = &mut self.bishops[side][usize::from(is_light)];
                *count = count.wrapping_sub((before == bishop).into());
                *count = count.wrapping_add((code == bishop).into());
            }
        }
        before
    }

    fn add_to_hand(&mut self, side: Side, kind: usize, count: u8) {
        let place = &mut self.hands[side.index()][kind % 7];
        let added = count.min(u8::MAX - *place);
        *place += added;
        let value = value(self.game, PieceKind::IN_HAND[kind % 7]) * i32::from(added);
        self.balance += if side == Side::First { value } else { -value };
    }

    /// Moves a piece between two squares, which are counted row by row from the top left. `becomes` is the kind after a
    /// promotion. In chess, a king that captures its own rook castles, and a pawn that moves diagonally to an empty
    /// square captures en passant.
    #[inline]
    pub fn move_piece(&mut self, from: u8, to: u8, becomes: Option<PieceKind>) {
        let width = self.game.width();
        let mover = self.code(from);
        let target = self.code(to);
        let Some(piece) = piece_of(mover) else { return self.pass() };
        if self.game == Game::Shogi {
            if let Some(taken) = piece_of(target) {
                let kind = taken.kind.unpromoted();
                if let Some(kind) = PieceKind::IN_HAND.iter().position(|known| *known == kind) {
                    self.add_to_hand(piece.side, kind, 1);
                }
            }
        } else if piece.kind == PieceKind::King
            && piece_of(target)
                .is_some_and(|target| target.side == piece.side && target.kind == PieceKind::Rook)
        {
            let row = from / width * width;
            let (king, rook) = if to > from { (row + 6, row + 5) } else { (row + 2, row + 3) };
            self.set(from, EMPTY);
            self.set(to, EMPTY);
            self.set(king, mover);
            self.set(rook, target);
            return self.pass();
        } else if piece.kind == PieceKind::Pawn && target == EMPTY && from % width != to % width {
            self.set(from / width * width + to % width, EMPTY);
        }
        self.set(from, EMPTY);
        let code = becomes.map_or(mover, |kind| code_of(Piece { side: piece.side, kind }));
        self.set(to, code);
        self.pass();
    }

    /// Promotes the piece on a square in shogi, and moves it.
    pub fn move_and_promote(&mut self, from: u8, to: u8) {
        let becomes = piece_of(self.code(from)).and_then(|piece| piece.kind.promoted());
        self.move_piece(from, to, becomes);
    }

    /// Drops a piece of a kind in hand (shogi).
    pub fn drop_piece(&mut self, kind: PieceKind, to: u8) {
        let side = self.turn;
        if let Some(index) = PieceKind::IN_HAND.iter().position(|known| *known == kind) {
            let place = &mut self.hands[side.index()][index];
            if *place > 0 {
                *place -= 1;
                // `set` counts the value on the board.
                let value = value(self.game, kind);
                self.balance -= if side == Side::First { value } else { -value };
            }
        }
        self.set(to, code_of(Piece { side, kind }));
        self.pass();
    }

    /// Only the side to move changes.
    pub fn pass(&mut self) {
        self.turn = self.turn.other();
    }

    /// Plays a move without a check of legality.
    pub fn play(&mut self, mv: Move) {
        match mv {
            Move::Chess(mv) => {
                let square = |square: shakmaty::Square| {
                    let (file, rank) = square.coords();
                    (7 - u8::from(rank)) * 8 + u8::from(file)
                };
                let promotion = mv.promotion().map(|role| match role {
                    shakmaty::Role::Knight => PieceKind::Knight,
                    shakmaty::Role::Bishop => PieceKind::Bishop,
                    shakmaty::Role::Rook => PieceKind::Rook,
                    _ => PieceKind::Queen,
                });
                if let Some(from) = mv.from() {
                    self.move_piece(square(from), square(mv.to()), promotion);
                }
            }
            Move::Shogi(mv) => {
                let square = |square: rsshogi::types::Square| {
                    let index = u8::try_from(square.to_index()).unwrap_or_default();
                    index % 9 * 9 + 8 - index / 9
                };
                match mv.dropped_piece() {
                    Some(piece) => {
                        if let Some(kind) = our_kind(piece) {
                            self.drop_piece(kind, square(mv.to_sq()));
                        }
                    }
                    None if mv.is_promotion() => {
                        self.move_and_promote(square(mv.from_sq()), square(mv.to_sq()));
                    }
                    None => self.move_piece(square(mv.from_sq()), square(mv.to_sq()), None),
                }
            }
        }
    }
}
