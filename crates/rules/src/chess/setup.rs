//! Conversion between [`Setup`] and `shakmaty`'s position.

use std::num::NonZeroU32;

use shakmaty::{
    Bitboard, Castles, CastlingMode, Chess, Color, EnPassantMode, File, FromSetup, Position,
    PositionError as ShakmatyError, PositionErrorKinds, Rank, Role,
};

use super::{ChessBoard, side};
use crate::{Game, NamedSide, Piece, PieceKind, PositionError, Setup, Side, Square};

pub(super) fn to_position(setup: &Setup, mode: CastlingMode) -> Result<Chess, PositionError> {
    let setup = to_shakmaty(setup);
    // An en passant square without a pawn is harmless and common, and a position with an impossible
    // check is playable.
    Chess::from_setup(setup.clone(), mode)
        .or_else(ShakmatyError::ignore_invalid_ep_square)
        .or_else(ShakmatyError::ignore_impossible_check)
        .map_err(|error| why(&setup, mode, error.kinds()))
}

/// The position of a setup with more pieces than promotions allow. `None` if it has another defect, or
/// more moves than the move list of `shakmaty` may hold.
pub(super) fn to_crowded_position(setup: &Setup, mode: CastlingMode) -> Option<Chess> {
    let moves_of = |kind: PieceKind| match kind {
        PieceKind::Queen => 27_u32,
        PieceKind::Rook => 14,
        PieceKind::Bishop => 13,
        // A pawn promotes to four pieces on three squares.
        PieceKind::Pawn => 12,
        _ => 10,
    };
    for side in Side::BOTH {
        let ours = setup.pieces().filter(|(_, piece)| piece.side == side);
        let moves: u32 = ours.map(|(_, piece)| moves_of(piece.kind)).sum();
        if moves > 256 {
            return None;
        }
    }
    Chess::from_setup(to_shakmaty(setup), mode)
        .or_else(ShakmatyError::ignore_invalid_ep_square)
        .or_else(ShakmatyError::ignore_impossible_check)
        .or_else(ShakmatyError::ignore_too_much_material)
        .ok()
}

/// The contents of the FEN of a board.
pub(super) struct Contents<'a> {
    pub(super) board: &'a ChessBoard,
    /// When there is an en passant square.
    pub(super) en_passant: EnPassantMode,
}

impl crate::setup::Contents for Contents<'_> {
    fn game(&self) -> Game {
        self.board.game()
    }

    fn piece_at(&self, column: u8, row: u8) -> Option<Piece> {
        let square = their_square(Square::on_board(column, row))?;
        self.board.position().board().piece_at(square).map(our_piece)
    }

    fn turn(&self) -> Side {
        self.board.turn()
    }

    fn castling_files(&self, side: Side) -> u8 {
        let rank = match side {
            Side::First => Rank::First,
            Side::Second => Rank::Eighth,
        };
        let rooks = self.board.position().castles().castling_rights() & Bitboard::from_rank(rank);
        rooks.into_iter().fold(0, |files, rook| files | 1 << u8::from(rook.file()))
    }

    fn en_passant(&self) -> Option<Square> {
        self.board.position().ep_square(self.en_passant).map(our_square)
    }

    fn hand(&self, _: Side) -> [u32; 7] {
        [0; 7]
    }

    fn halfmove_clock(&self) -> u32 {
        self.board.position().halfmoves()
    }

    fn move_number(&self) -> u32 {
        self.board.position().fullmoves().get()
    }
}

fn to_shakmaty(setup: &Setup) -> shakmaty::Setup {
    let mut result = shakmaty::Setup::empty();
    for (square, piece) in setup.pieces() {
        if let (Some(square), Some(piece)) = (their_square(square), their_piece(piece)) {
            result.board.set_piece_at(square, piece);
        }
    }
    result.turn = match setup.turn() {
        Side::First => Color::White,
        Side::Second => Color::Black,
    };
    let rooks = Side::BOTH.into_iter().flat_map(|side| setup.castling(side));
    result.castling_rights = rooks.filter_map(their_square).collect();
    result.ep_square = setup.en_passant().and_then(their_square);
    result.halfmoves = setup.halfmove_clock();
    result.fullmoves = NonZeroU32::new(setup.move_number()).unwrap_or(NonZeroU32::MIN);
    result
}

/// Finds the first error of a setup. Shakmaty reports only the kinds of errors.
fn why(setup: &shakmaty::Setup, mode: CastlingMode, kinds: PositionErrorKinds) -> PositionError {
    for color in Color::ALL {
        let count = setup.board.by_piece(color.king()).count();
        if count != 1 {
            return PositionError::KingCount {
                side: NamedSide::new(Game::Chess, side(color)),
                count,
            };
        }
    }
    if let Some(square) = (setup.board.pawns() & Bitboard::BACKRANKS).first()
        && let Some(pawn) = setup.board.piece_at(square)
    {
        return PositionError::DeadPiece { piece: pawn.char(), square: square.to_string() };
    }
    let (Ok(castles) | Err(castles)) = Castles::from_setup(setup, mode);
    if let Some(square) = setup.castling_rights.without(castles.castling_rights()).first() {
        return PositionError::InvalidCastlingRight { square: square.to_string() };
    }
    if kinds.contains(PositionErrorKinds::OPPOSITE_CHECK)
        && let Some(king) = setup.board.king_of(!setup.turn)
    {
        return PositionError::OpponentInCheck { square: king.to_string() };
    }
    let crowded = |&color: &Color| has_too_many_pieces(setup, color);
    let color = Color::ALL.into_iter().find(crowded).unwrap_or(setup.turn);
    PositionError::TooMuchMaterial { side: NamedSide::new(Game::Chess, side(color)) }
}

/// Whether a side has more than 16 pieces, or more promoted pieces than missing pawns.
fn has_too_many_pieces(setup: &shakmaty::Setup, color: Color) -> bool {
    let ours = setup.board.by_color(color);
    let above = |pieces: Bitboard, usual: usize| (ours & pieces).count().saturating_sub(usual);
    let bishops = setup.board.bishops();
    let promoted = above(setup.board.queens(), 1)
        + above(setup.board.rooks(), 2)
        + above(setup.board.knights(), 2)
        + above(bishops & Bitboard::LIGHT_SQUARES, 1)
        + above(bishops & Bitboard::DARK_SQUARES, 1);
    let pawns = (ours & setup.board.pawns()).count();
    ours.count() > 16 || pawns + promoted > 8
}

fn our_square(square: shakmaty::Square) -> Square {
    let (column, row) = (u8::from(square.file()), 7_u8.saturating_sub(u8::from(square.rank())));
    Square::on_board(column, row)
}

fn their_square(square: Square) -> Option<shakmaty::Square> {
    let file = File::try_from(square.column()).ok()?;
    let rank = Rank::try_from(7_u8.checked_sub(square.row())?).ok()?;
    Some(shakmaty::Square::from_coords(file, rank))
}

fn our_piece(piece: shakmaty::Piece) -> Piece {
    let kind = match piece.role {
        Role::Pawn => PieceKind::Pawn,
        Role::Knight => PieceKind::Knight,
        Role::Bishop => PieceKind::Bishop,
        Role::Rook => PieceKind::Rook,
        Role::Queen => PieceKind::Queen,
        Role::King => PieceKind::King,
    };
    Piece { side: side(piece.color), kind }
}

fn their_piece(piece: Piece) -> Option<shakmaty::Piece> {
    shakmaty::Piece::from_char(piece.letter())
}
