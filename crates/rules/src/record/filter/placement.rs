//! Pieces on squares and in hand, without the rules of the game: what patterns are compared with.

use crate::{Game, Move, Piece, PieceKind, Position, Side, Square, shakmaty, shogi::our_kind};

/// Number of codes of pieces: the side in bit 4, and the kind from 1 in the lower bits.
pub(super) const CODES: usize = 32;

/// The code of no piece.
pub(super) const EMPTY: u8 = 0;

/// Number of places for squares: a power of two, so that an index needs no check.
const PLACES: usize = 128;

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

/// The code of a kind: kinds are declared in the order of [`KINDS`].
const fn code_of_kind(kind: PieceKind) -> u8 {
    1 + kind as u8
}

pub(super) const KING: u8 = code_of_kind(PieceKind::King);
pub(super) const ROOK: u8 = code_of_kind(PieceKind::Rook);
pub(super) const BISHOP: u8 = code_of_kind(PieceKind::Bishop);
pub(super) const PAWN: u8 = code_of_kind(PieceKind::Pawn);
pub(super) const QUEEN: u8 = code_of_kind(PieceKind::Queen);
pub(super) const KNIGHT: u8 = code_of_kind(PieceKind::Knight);

/// The index of a square, row by row from the top left.
pub(super) fn index_of(game: Game, square: Square) -> u8 {
    square.row() * game.width() + square.column()
}

/// The code of a piece.
pub(super) const fn code_of(piece: Piece) -> u8 {
    let side = match piece.side {
        Side::First => 0,
        Side::Second => 16,
    };
    code_of_kind(piece.kind) | side
}

/// The code of the kind of a piece, without its side.
#[inline]
fn kind_code(code: u8) -> u8 {
    code & 15
}

/// The piece of a code.
pub(super) fn piece_of(code: u8) -> Option<Piece> {
    let kind = *KINDS.get(usize::from(kind_code(code)).checked_sub(1)?)?;
    Some(Piece { side: Side::BOTH[usize::from(code >> 4 & 1)], kind })
}

/// The value of a kind: in chess the usual one in pawns, in shogi that of Larry Kaufman (SHOGI-L, 14 November 2002).
pub(super) const fn value(game: Game, kind: PieceKind) -> i32 {
    use PieceKind as K;
    match (game, kind) {
        (_, K::King) => 0,
        (_, K::Pawn) => 1,
        (Game::Shogi, K::Rook) => 13,
        (Game::Shogi, K::Bishop) => 11,
        (_, K::Queen | K::PromotedKnight | K::PromotedLance) => 9,
        (Game::Shogi, K::Knight) | (_, K::Rook) => 5,
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
        values[17 + index] = -value(game, KINDS[index]);
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
    cells: [u8; PLACES],
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
            cells: [EMPTY; PLACES],
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
        self.cells[usize::from(index) % PLACES]
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

    /// Puts a piece or nothing on a square.
    #[inline]
    fn set(&mut self, index: u8, code: u8) {
        let values = self.values();
        let before = std::mem::replace(&mut self.cells[usize::from(index) % PLACES], code);
        let [old, new] = [before, code].map(|code| usize::from(code) % CODES);
        self.balance += values[new] - values[old];
        self.counts[old] = self.counts[old].wrapping_sub(1);
        self.counts[new] = self.counts[new].wrapping_add(1);
        for (code, change) in [(before, u8::MAX), (code, 1)] {
            if kind_code(code) == BISHOP {
                let is_light = usize::from((index >> 3 ^ index) & 1 == 0);
                let count = &mut self.bishops[usize::from(code >> 4 & 1)][is_light];
                *count = count.wrapping_add(change);
            }
        }
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
    ///
    /// Returns whether the [`MaterialSignature`](super::MaterialSignature) can have changed, as other moves of pieces do.
    #[inline]
    pub fn move_piece(&mut self, from: u8, to: u8, becomes: Option<PieceKind>) -> bool {
        let (mover, target) = (self.code(from), self.code(to));
        if kind_code(mover) == 0 {
            self.pass();
            return false;
        }
        let mut is_changed = target != EMPTY || becomes.is_some();
        if self.game == Game::Shogi {
            if let Some(taken) = piece_of(target) {
                let kind = taken.kind.unpromoted();
                if let Some(kind) = PieceKind::IN_HAND.iter().position(|known| *known == kind) {
                    self.add_to_hand(taken.side.other(), kind, 1);
                }
            }
        } else if kind_code(mover) == KING && target == (mover & 16 | ROOK) {
            let row = from & !7;
            let (king, rook) = if to > from { (row + 6, row + 5) } else { (row + 2, row + 3) };
            self.set(from, EMPTY);
            self.set(to, EMPTY);
            self.set(king, mover);
            self.set(rook, target);
            self.pass();
            return false;
        } else if kind_code(mover) == PAWN && target == EMPTY && (from ^ to) & 7 != 0 {
            self.set(from & !7 | to & 7, EMPTY);
            is_changed = true;
        }
        self.set(from, EMPTY);
        self.set(to, becomes.map_or(mover, |kind| mover & 16 | code_of_kind(kind)));
        self.pass();
        is_changed
    }

    /// Promotes the piece on a square in shogi, and moves it. Returns the same as [`Self::move_piece`].
    pub fn move_and_promote(&mut self, from: u8, to: u8) -> bool {
        let becomes = piece_of(self.code(from)).and_then(|piece| piece.kind.promoted());
        self.move_piece(from, to, becomes)
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

    /// Plays a move without a check of legality. Returns the same as [`Self::move_piece`].
    pub fn play(&mut self, mv: Move) -> bool {
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
                mv.from()
                    .is_some_and(|from| self.move_piece(square(from), square(mv.to()), promotion))
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
                        true
                    }
                    None if mv.is_promotion() => {
                        self.move_and_promote(square(mv.from_sq()), square(mv.to_sq()))
                    }
                    None => self.move_piece(square(mv.from_sq()), square(mv.to_sq()), None),
                }
            }
        }
    }
}
