//! The contents of a FEN or SFEN, whether the position is legal or not.

mod starts;
mod text;

pub use starts::Handicap;
pub use text::FenForm;
pub(crate) use text::{Contents, text};

use crate::{Game, Piece, PieceKind, PositionError, Side, Square};

/// The maximum number of pieces of a kind in hand, even in problems.
pub(crate) const MAX_HAND: u32 = 99;

/// The contents of a FEN or SFEN. It can be a position of an editor, a problem without a king, or a
/// position that no game can reach.
///
/// [`Setup::position`] converts it to a [`Position`](crate::Position), or returns why it is not playable.
///
/// ```
/// use readyok_rules::{Game, PieceKind, Piece, Setup, Side, Square};
///
/// let mut setup = Setup::start(Game::Shogi);
/// let square = Square::read(Game::Shogi, "2h").ok_or("a square")?;
/// let rook = setup.remove(square).ok_or("the rook")?;
/// setup.set_hand(rook.side, rook.kind, 1)?;
/// assert_eq!(
///     setup.to_string(),
///     "lnsgkgsnl/1r5b1/ppppppppp/9/9/9/PPPPPPPPP/1B7/LNSGKGSNL b R 1"
/// );
/// assert!(setup.position().is_ok());
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Setup {
    game: Game,
    /// Row by row from the top left. Entries after the last square stay empty.
    board: [Option<Piece>; 81],
    /// By side, and by kind in the order of [`PieceKind::IN_HAND`].
    hands: [[u32; 7]; 2],
    turn: Side,
    /// By side, the files of the rooks that may castle: bit 0 is the a-file.
    castling: [u8; 2],
    en_passant: Option<Square>,
    halfmove_clock: u32,
    move_number: u32,
}

impl Setup {
    /// A board without pieces, the first player to move.
    pub fn empty(game: Game) -> Self {
        Self {
            game,
            board: [None; 81],
            hands: [[0; 7]; 2],
            turn: Side::First,
            castling: [0; 2],
            en_passant: None,
            halfmove_clock: 0,
            move_number: 1,
        }
    }

    /// The setup with the contents of a board.
    pub(crate) fn of(contents: &impl Contents) -> Self {
        let game = contents.game();
        let mut setup = Self {
            hands: Side::BOTH.map(|side| contents.hand(side)),
            turn: contents.turn(),
            castling: Side::BOTH.map(|side| contents.castling_files(side)),
            en_passant: contents.en_passant(),
            halfmove_clock: contents.halfmove_clock(),
            move_number: contents.move_number(),
            ..Self::empty(game)
        };
        for (square, place) in Square::all(game).zip(&mut setup.board) {
            *place = contents.piece_at(square.column(), square.row());
        }
        setup
    }

    /// The game.
    pub fn game(&self) -> Game {
        self.game
    }

    /// The piece on a square.
    pub fn piece_on(&self, square: Square) -> Option<Piece> {
        self.board.get(self.index(square)?).copied().flatten()
    }

    /// All pieces on the board, row by row from the top left.
    pub fn pieces(&self) -> impl Iterator<Item = (Square, Piece)> {
        Square::all(self.game)
            .zip(&self.board)
            .filter_map(|(square, piece)| Some((square, (*piece)?)))
    }

    /// Puts a piece on a square and replaces the piece there.
    ///
    /// Fails if the game has no such piece or square.
    pub fn put(&mut self, square: Square, piece: Piece) -> Result<(), PositionError> {
        let name = || square.name(self.game);
        if !piece.kind.belongs_to(self.game) {
            return Err(PositionError::UnknownPiece { letter: piece.letter(), square: name() });
        }
        let index = self.index(square);
        match index.and_then(|index| self.board.get_mut(index)) {
            Some(place) => *place = Some(piece),
            None => return Err(PositionError::UnknownSquare { square: square.name(self.game) }),
        }
        Ok(())
    }

    /// Removes the piece on a square.
    pub fn remove(&mut self, square: Square) -> Option<Piece> {
        let index = self.index(square)?;
        self.board.get_mut(index)?.take()
    }

    /// The number of pieces of a kind that a side has in hand. Promoted kinds are never in hand.
    pub fn hand(&self, side: Side, kind: PieceKind) -> u32 {
        let Some(index) = PieceKind::IN_HAND.iter().position(|&known| known == kind) else {
            return 0;
        };
        self.hand_of(side).get(index).copied().unwrap_or(0)
    }

    /// Sets the number of pieces of a kind that a side has in hand.
    ///
    /// Fails for pieces that cannot be in hand, for more than 99 of a kind, and in chess.
    pub fn set_hand(
        &mut self,
        side: Side,
        kind: PieceKind,
        count: u32,
    ) -> Result<(), PositionError> {
        if count > MAX_HAND {
            let (piece, limit) = (kind.letter(), MAX_HAND);
            return Err(PositionError::TooManyPieces { piece, count, limit });
        }
        let index = PieceKind::IN_HAND.iter().position(|&known| known == kind);
        let in_hand = index.filter(|_| self.game == Game::Shogi);
        let hand = match side {
            Side::First => &mut self.hands[0],
            Side::Second => &mut self.hands[1],
        };
        match in_hand.and_then(|index| hand.get_mut(index)) {
            Some(place) => *place = count,
            None => return Err(PositionError::InvalidHandPiece { piece: kind.letter() }),
        }
        Ok(())
    }

    /// A hash of all fields except the counters.
    pub(crate) fn key(&self) -> u64 {
        let mut fields = self.clone();
        (fields.halfmove_clock, fields.move_number) = (0, 1);
        // FNV-1a. The key is stored, so it must be the same in every version of the compiler.
        let text = fields.text(FenForm::Shredder);
        text.bytes().fold(0xCBF2_9CE4_8422_2325, |hash: u64, byte| {
            (hash ^ u64::from(byte)).wrapping_mul(0x0100_0000_01B3)
        })
    }

    /// The side to move.
    pub fn turn(&self) -> Side {
        self.turn
    }

    /// Sets the side to move.
    pub fn set_turn(&mut self, side: Side) {
        self.turn = side;
    }

    /// The squares of the rooks with which a side may castle, whether or not rooks are there (chess).
    pub fn castling(&self, side: Side) -> impl Iterator<Item = Square> {
        let files = self.castling_files(side);
        let row = self.game.first_row(side);
        (0..8)
            .filter(move |file| files & (1 << file) != 0)
            .filter_map(move |file| Square::new(Game::Chess, file, row))
    }

    /// Gives or removes the right to castle with the rook on this square (chess).
    ///
    /// Fails if the square is not on that side's first rank, and in shogi.
    pub fn set_castling(
        &mut self,
        side: Side,
        rook: Square,
        allowed: bool,
    ) -> Result<(), PositionError> {
        if self.game == Game::Shogi || rook.row() != self.game.first_row(side) || rook.column() > 7
        {
            return Err(PositionError::InvalidCastlingRight { square: rook.name(self.game) });
        }
        let files = match side {
            Side::First => &mut self.castling[0],
            Side::Second => &mut self.castling[1],
        };
        if allowed {
            *files |= 1 << rook.column();
        } else {
            *files &= !(1 << rook.column());
        }
        Ok(())
    }

    /// The en passant square, which a pawn has just passed (chess). If no pawn can have passed it, it is
    /// ignored when the position is played.
    pub fn en_passant(&self) -> Option<Square> {
        self.en_passant
    }

    /// Sets the en passant square. Ignored in shogi and for squares that are not on the board.
    pub fn set_en_passant(&mut self, square: Option<Square>) {
        let known = |square: &Square| self.game != Game::Shogi && self.index(*square).is_some();
        self.en_passant = square.filter(known);
    }

    /// Plies since the last capture or pawn move (chess).
    pub fn halfmove_clock(&self) -> u32 {
        self.halfmove_clock
    }

    /// Sets the plies since the last capture or pawn move. Ignored in shogi.
    pub fn set_halfmove_clock(&mut self, plies: u32) {
        if self.game != Game::Shogi {
            self.halfmove_clock = plies;
        }
    }

    /// The number of the next move, from 1: full moves in chess, plies in shogi.
    pub fn move_number(&self) -> u32 {
        self.move_number
    }

    /// Sets the number of the next move; 0 is read as 1.
    pub fn set_move_number(&mut self, number: u32) {
        self.move_number = number.max(1);
    }

    fn index(&self, square: Square) -> Option<usize> {
        let width = self.game.width();
        let on_board = square.column() < width && square.row() < width;
        on_board
            .then(|| usize::from(square.row()) * usize::from(width) + usize::from(square.column()))
    }

    fn hand_of(&self, side: Side) -> &[u32; 7] {
        let [first, second] = &self.hands;
        match side {
            Side::First => first,
            Side::Second => second,
        }
    }

    fn castling_files(&self, side: Side) -> u8 {
        let [first, second] = self.castling;
        match side {
            Side::First => first,
            Side::Second => second,
        }
    }
}
