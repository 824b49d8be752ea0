//! Conversion between [`Setup`] and `rsshogi`'s position.

use rsshogi::{
    board::{
        BoardArray, Position, PositionState,
        position::{Ply, ValidationError, ValidationIssue},
    },
    types::{File, Hand, HandPiece, PieceType, Rank},
};

use super::{ShogiBoard, color, side};
use crate::setup::Contents;
use crate::{Game, NamedSide, Piece, PieceKind, PositionError, Setup, Side, Square};

/// The maximum move number at the start, which leaves room for a complete game.
const MAX_MOVE_NUMBER: u32 = 10_000;

pub(super) fn to_position(setup: &Setup) -> Result<Position, PositionError> {
    let position = unchecked(setup)?;
    position.validate().map_err(|error| invalid(&position, &error))?;
    check_kings(&position)?;
    Ok(position)
}

/// The position of a setup with two pawns on a file. `None` if it has another defect.
pub(super) fn to_position_with_two_pawns(setup: &Setup) -> Option<Position> {
    let position = unchecked(setup).ok()?;
    let report = position.validate_all();
    let is_tolerable = |issue: &ValidationIssue| {
        matches!(issue, ValidationIssue::DoublePawn(..) | ValidationIssue::NoKing(_))
    };
    (report.issues().iter().all(is_tolerable) && check_kings(&position).is_ok()).then_some(position)
}

fn unchecked(setup: &Setup) -> Result<Position, PositionError> {
    check_counts(setup)?;
    Ok(place(setup))
}

/// The position of the start of a game.
pub(super) fn start() -> Position {
    place(&Setup::start(Game::Shogi))
}

/// The position with the contents of a setup. Hands with too many pieces are empty.
fn place(setup: &Setup) -> Position {
    let mut board = BoardArray::empty();
    for (square, piece) in setup.pieces() {
        let piece = rsshogi::types::Piece::from_parts(color(piece.side), their_kind(piece.kind));
        board.set(their_square(square.column(), square.row()), piece);
    }
    let hand = |side| {
        let mut hand = Hand::ZERO;
        for kind in PieceKind::IN_HAND {
            let piece = HandPiece::from_piece_type(their_kind(kind));
            let more = piece.and_then(|piece| hand.checked_add(piece, setup.hand(side, kind)));
            hand = more.unwrap_or(hand);
        }
        hand
    };
    let state = PositionState {
        board,
        hands: Side::BOTH.map(hand),
        side_to_move: color(setup.turn()),
        ply: Ply::try_from(setup.move_number().min(MAX_MOVE_NUMBER)).unwrap_or(1),
    };
    let mut position = Position::empty();
    // It fails for unknown pieces and for hands with too many.
    let _ = position.try_set_position_state(&state);
    position
}

fn their_square(column: u8, row: u8) -> rsshogi::types::Square {
    let raw = |number: u8| i8::try_from(number).unwrap_or_default();
    let (file, rank) = (File::new(8 - raw(column)), Rank::new(raw(row)));
    rsshogi::types::Square::from_file_rank(file, rank)
}

impl Contents for ShogiBoard {
    fn game(&self) -> Game {
        Game::Shogi
    }

    fn piece_at(&self, column: u8, row: u8) -> Option<Piece> {
        let piece = self.position().piece_on(their_square(column, row));
        let kind = our_kind(piece.piece_type())?;
        Some(Piece { side: side(piece.color()), kind })
    }

    fn turn(&self) -> Side {
        self.turn()
    }

    fn castling_files(&self, _: Side) -> u8 {
        0
    }

    fn en_passant(&self) -> Option<Square> {
        None
    }

    fn hand(&self, side: Side) -> [u32; 7] {
        let hand = self.position().hand(color(side));
        PieceKind::IN_HAND.map(|kind| {
            let held = HandPiece::from_piece_type(their_kind(kind));
            held.map_or(0, |held| hand.count(held))
        })
    }

    fn halfmove_clock(&self) -> u32 {
        0
    }

    fn move_number(&self) -> u32 {
        u32::from(self.position().game_ply())
    }
}

/// The number of pieces of a kind, promoted or not, that the game has.
fn limit(kind: PieceKind) -> u32 {
    match kind {
        PieceKind::Pawn => 18,
        PieceKind::Bishop | PieceKind::Rook => 2,
        _ => 4,
    }
}

fn check_counts(setup: &Setup) -> Result<(), PositionError> {
    for kind in PieceKind::IN_HAND {
        let of_kind = |&(_, piece): &(Square, Piece)| piece.kind.unpromoted() == kind;
        let on_board = setup.pieces().filter(of_kind).fold(0_u32, |count, _| count + 1);
        let in_hand = |side| setup.hand(side, kind);
        let count =
            on_board.saturating_add(in_hand(Side::First)).saturating_add(in_hand(Side::Second));
        if count > limit(kind) {
            let limit = limit(kind);
            return Err(PositionError::TooManyPieces { piece: kind.letter(), count, limit });
        }
    }
    Ok(())
}

/// A position can lack one king, as mate problems do. Without both kings, the drops could exceed the
/// capacity of `rsshogi`'s move lists. A king that is in check on the opponent's turn could be captured.
fn check_kings(position: &Position) -> Result<(), PositionError> {
    let (us, them) = (position.turn(), position.turn().flip());
    let (our_king, their_king) = (position.king_square(us), position.king_square(them));
    if our_king.is_none() && their_king.is_none() {
        return Err(PositionError::NoKings);
    }
    if !their_king.is_none() && position.is_attacked_by(their_king, us) {
        return Err(PositionError::OpponentInCheck { square: their_king.to_usi() });
    }
    Ok(())
}

fn invalid(position: &Position, error: &ValidationError) -> PositionError {
    let too_many = |piece: PieceType, count, limit| PositionError::TooManyPieces {
        piece: our_kind(piece).map_or('?', PieceKind::letter),
        count,
        limit,
    };
    match *error {
        ValidationError::NoKing(color) | ValidationError::TwoKings(color) => {
            let kings = position.pieces_for(PieceType::KING, color);
            let (side, count) = (side(color), kings.count() as usize);
            PositionError::KingCount { side: NamedSide::new(Game::Shogi, side), count }
        }
        ValidationError::DoublePawn(file, color) => PositionError::TwoPawns {
            side: NamedSide::new(Game::Shogi, side(color)),
            file: file.raw().unsigned_abs() + 1,
        },
        ValidationError::InvalidHandCount { piece, count } => {
            too_many(piece.to_piece_type(), count, limit(PieceKind::Pawn))
        }
        ValidationError::ExcessivePieceCount { piece, count, limit } => {
            too_many(piece, count, limit)
        }
        ValidationError::InvalidPlacement(square, piece) => PositionError::DeadPiece {
            piece: our_kind(piece).map_or('?', |kind| {
                Piece { side: side(position.piece_on(square).color()), kind }.letter()
            }),
            square: square.to_usi(),
        },
    }
}

pub(crate) fn our_kind(piece: PieceType) -> Option<PieceKind> {
    Some(match piece {
        PieceType::KING => PieceKind::King,
        PieceType::ROOK => PieceKind::Rook,
        PieceType::BISHOP => PieceKind::Bishop,
        PieceType::GOLD => PieceKind::Gold,
        PieceType::SILVER => PieceKind::Silver,
        PieceType::KNIGHT => PieceKind::Knight,
        PieceType::LANCE => PieceKind::Lance,
        PieceType::PAWN => PieceKind::Pawn,
        PieceType::DRAGON => PieceKind::Dragon,
        PieceType::HORSE => PieceKind::Horse,
        PieceType::PRO_SILVER => PieceKind::PromotedSilver,
        PieceType::PRO_KNIGHT => PieceKind::PromotedKnight,
        PieceType::PRO_LANCE => PieceKind::PromotedLance,
        PieceType::PRO_PAWN => PieceKind::Tokin,
        _ => return None,
    })
}

pub(crate) fn their_kind(kind: PieceKind) -> PieceType {
    match kind {
        PieceKind::King => PieceType::KING,
        PieceKind::Queen => PieceType::NONE,
        PieceKind::Rook => PieceType::ROOK,
        PieceKind::Bishop => PieceType::BISHOP,
        PieceKind::Gold => PieceType::GOLD,
        PieceKind::Silver => PieceType::SILVER,
        PieceKind::Knight => PieceType::KNIGHT,
        PieceKind::Lance => PieceType::LANCE,
        PieceKind::Pawn => PieceType::PAWN,
        PieceKind::Dragon => PieceType::DRAGON,
        PieceKind::Horse => PieceType::HORSE,
        PieceKind::PromotedSilver => PieceType::PRO_SILVER,
        PieceKind::PromotedKnight => PieceType::PRO_KNIGHT,
        PieceKind::PromotedLance => PieceType::PRO_LANCE,
        PieceKind::Tokin => PieceType::PRO_PAWN,
    }
}
