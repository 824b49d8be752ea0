//! Errors of the rules, of records and of openings as error codes.

use std::io::{self, ErrorKind};

use readyok_arena::openings::{OpeningError, OpeningFault};
use readyok_rules::record::{
    Kept, Limit, Notice, NoticeReason, RecordError, RecordErrorKind, WriteError,
};
use readyok_rules::{EpdError, Field, Game, IllegalReason, MoveError, PositionError};

use crate::wire::{
    ApiError, ErrorCategory, ErrorCode, ErrorInfo, ErrorSubject, KeptMoves, PositionField,
};

pub(crate) fn position_error(game: Option<Game>, error: &PositionError) -> ErrorInfo {
    let code = match error.clone() {
        PositionError::MissingField(field) => ErrorCode::MissingField { field: field.into() },
        PositionError::ExtraField { text } => ErrorCode::ExtraField { text },
        PositionError::BadField { field, text } => {
            ErrorCode::InvalidField { field: field.into(), text }
        }
        PositionError::RankCount { count, expected } => ErrorCode::RankCount { count, expected },
        PositionError::RankLength { rank } => ErrorCode::RankLength { rank },
        PositionError::UnknownPiece { piece, square } => {
            ErrorCode::UnknownPiece { letter: piece, square }
        }
        PositionError::Kings { side, count } => ErrorCode::KingCount { side: side.into(), count },
        PositionError::NoKings => ErrorCode::NoKings,
        PositionError::TooManyPieces { piece, count, limit } => {
            ErrorCode::TooManyPieces { piece, count, limit }
        }
        PositionError::TooMuchMaterial { side } => ErrorCode::TooMuchMaterial { side: side.into() },
        PositionError::DeadPiece { piece, square } => ErrorCode::DeadPiece { piece, square },
        PositionError::TwoPawns { side, file } => ErrorCode::TwoPawns { side: side.into(), file },
        PositionError::CastlingRight { square } => ErrorCode::InvalidCastlingRight { square },
        PositionError::OpponentInCheck { king } => ErrorCode::OpponentInCheck { square: king },
        PositionError::NoSuchSquare { square } => ErrorCode::UnknownSquare { square },
        PositionError::NotForHand { piece } => ErrorCode::InvalidHandPiece { piece },
    };
    match game {
        Some(game) => code.with(|it| it.variant = Some(game.into())),
        None => code.into(),
    }
}

impl From<Field> for PositionField {
    fn from(field: Field) -> Self {
        match field {
            Field::Board => Self::Board,
            Field::Turn => Self::Turn,
            Field::Castling => Self::Castling,
            Field::EnPassant => Self::EnPassant,
            Field::HalfmoveClock => Self::HalfmoveClock,
            Field::FullmoveNumber => Self::FullmoveNumber,
            Field::Hands => Self::Hands,
            Field::MoveNumber => Self::MoveNumber,
        }
    }
}

impl From<IllegalReason> for ErrorCode {
    fn from(reason: IllegalReason) -> Self {
        match reason {
            IllegalReason::Unreadable => Self::InvalidMove,
            IllegalReason::NoPiece => Self::EmptyOriginSquare,
            IllegalReason::OpponentsPiece => Self::OpponentPiece,
            IllegalReason::OwnPiece => Self::OccupiedByOwnPiece,
            IllegalReason::CannotReach => Self::Unreachable,
            IllegalReason::Castling => Self::CastlingNotAllowed,
            IllegalReason::PromotionMissing => Self::PromotionRequired,
            IllegalReason::PromotionImpossible => Self::InvalidPromotion,
            IllegalReason::Check => Self::KingInCheck,
            IllegalReason::NotInHand => Self::NotInHand,
            IllegalReason::SquareTaken => Self::SquareOccupied,
            IllegalReason::TwoPawns => Self::SecondPawnOnFile,
            IllegalReason::DeadPiece => Self::NoFurtherMove,
            IllegalReason::DropMate => Self::PawnDropMate,
            IllegalReason::GameTooLong => Self::GameTooLong,
            IllegalReason::Ambiguous => Self::AmbiguousMove,
            IllegalReason::NoSuchPiece => Self::MissingPiece,
            IllegalReason::WrongSide => Self::WrongSide,
            IllegalReason::NoLastMove => Self::NoPreviousMove,
            IllegalReason::NotPlayable => Self::UnsupportedPosition,
        }
    }
}

/// An illegal move with its reason.
pub(crate) fn move_error(error: &MoveError) -> ErrorInfo {
    let mut text = error.text.clone();
    if !error.candidates.is_empty() {
        text = format!("{text} ({})", error.candidates.join(", "));
    }
    ErrorCode::from(error.reason).with(|it| it.mv = Some(text))
}

pub(crate) fn illegal(error: &MoveError) -> ApiError {
    let ambiguous = error.reason == IllegalReason::Ambiguous;
    let category =
        if ambiguous { ErrorCategory::AmbiguousMove } else { ErrorCategory::IllegalMove };
    ApiError::new(category, move_error(error))
}

pub(crate) fn invalid_position(game: Game, error: &PositionError) -> ApiError {
    ApiError::new(ErrorCategory::InvalidPosition, position_error(Some(game), error))
}

pub(crate) fn io_error(error: &io::Error) -> ErrorCode {
    match error.kind() {
        ErrorKind::NotFound => ErrorCode::NotFound { subject: ErrorSubject::File },
        ErrorKind::PermissionDenied => ErrorCode::PermissionDenied,
        _ => ErrorCode::system(error),
    }
}

/// An unreadable game of a file.
pub(crate) fn record_error(game: Option<Game>, error: &RecordError) -> ErrorInfo {
    let RecordError { game: number, line, column, kind } = error;
    record_error_kind(game, kind).with(|it| {
        (it.game, it.line, it.column) = (Some(*number), Some(*line), Some(*column));
    })
}

/// An unreadable EPD line of a file of chess positions.
pub(crate) fn epd_line_error(number: u64, line: u64, column: u64, error: &EpdError) -> ErrorInfo {
    epd_error(Some(Game::Chess), error).with(|it| {
        (it.game, it.line, it.column) = (Some(number), Some(line), Some(column));
    })
}

/// A notice about a game that was read.
pub(crate) fn notice(game: Option<Game>, notice: &Notice) -> ErrorInfo {
    let Notice { line, column, reason, kept } = notice;
    let info = match reason.clone() {
        NoticeReason::Skipped(text) => ErrorCode::TextSkipped { text }.into(),
        NoticeReason::NoSuchMove(text) => ErrorCode::NoMatchingMove { text }.into(),
        NoticeReason::Move(error) => move_error(&error),
        NoticeReason::Header(text) => ErrorCode::MalformedHeader { text }.into(),
        NoticeReason::Contradiction(text) => ErrorCode::Contradiction { text }.into(),
        NoticeReason::NoEnd => ErrorCode::UnexpectedEnd.into(),
        NoticeReason::OpenComment => ErrorCode::UnclosedComment.into(),
        NoticeReason::CastlingRight { square } => {
            position_error(game, &PositionError::CastlingRight { square })
        }
        NoticeReason::Start(error) => position_error(game, &error),
        NoticeReason::LimitExceeded(limit) => limit_exceeded(limit).into(),
    };
    info.with(|it| {
        (it.line, it.column) = (Some(*line), Some(*column));
        it.kept = match kept {
            Kept::All => None,
            Kept::MainLine(ply) => Some(KeptMoves::Main { plies: *ply }),
            Kept::Variation(ply) => Some(KeptMoves::Variation { plies: *ply }),
        };
    })
}

pub(crate) fn write_error(error: &WriteError) -> ApiError {
    let code = match error {
        WriteError::Io(error) => io_error(error),
        WriteError::WrongGame { .. } => ErrorCode::UnsupportedFormat,
    };
    ApiError::new(ErrorCategory::InvalidRecord, code)
}

pub(crate) fn opening_error(game: Game, error: &OpeningError) -> ErrorInfo {
    let info = opening_fault(Some(game), &error.fault);
    if error.path.is_none() && error.line.is_none() {
        return info;
    }
    info.with(|it| {
        it.path.clone_from(&error.path);
        it.line = error.line;
    })
}

fn record_error_kind(game: Option<Game>, kind: &RecordErrorKind) -> ErrorInfo {
    let code = match kind {
        RecordErrorKind::Io(error) => io_error(error),
        RecordErrorKind::Start(error) => return position_error(game, error),
        RecordErrorKind::UnknownGame(name) => ErrorCode::UnknownVariant { name: name.clone() },
        RecordErrorKind::WrongGame(_) => ErrorCode::UnsupportedFormat,
        RecordErrorKind::Move(error) => return move_error(error),
        RecordErrorKind::NoSuchMove(text) => ErrorCode::NoMatchingMove { text: text.clone() },
        RecordErrorKind::AmbiguousMove(text) => {
            return ErrorCode::AmbiguousMove.with(|it| it.mv = Some(text.clone()));
        }
        RecordErrorKind::OpenComment => ErrorCode::UnclosedComment,
        RecordErrorKind::Unexpected(text) => ErrorCode::UnexpectedText { text: text.clone() },
        RecordErrorKind::UnknownFormat => ErrorCode::UnknownFormat,
        RecordErrorKind::LimitExceeded(limit) => limit_exceeded(*limit),
    };
    code.into()
}

fn limit_exceeded(limit: Limit) -> ErrorCode {
    match limit {
        Limit::GameBytes => ErrorCode::GameTooLarge,
        Limit::CommentBytes => ErrorCode::TooLong { subject: ErrorSubject::Comment },
        Limit::Headers => ErrorCode::TooMany { subject: ErrorSubject::Header },
        Limit::HeaderBytes => ErrorCode::TooLong { subject: ErrorSubject::Header },
        Limit::Moves => ErrorCode::TooMany { subject: ErrorSubject::Move },
        Limit::Plies => ErrorCode::GameTooLong,
        Limit::Depth => ErrorCode::NestingTooDeep,
    }
}

fn opening_fault(game: Option<Game>, fault: &OpeningFault) -> ErrorInfo {
    let code = match fault {
        OpeningFault::Io(error) => io_error(error),
        OpeningFault::NoPlies => ErrorCode::BookRequiresPlies,
        OpeningFault::NotPolyglot { .. } => ErrorCode::NotPolyglot,
        OpeningFault::UnknownFormat => ErrorCode::UnknownFormat,
        OpeningFault::OtherGame { .. } => ErrorCode::OpeningsOfOtherVariant,
        OpeningFault::Empty => ErrorCode::NoOpenings,
        // The last error explains more than their number.
        OpeningFault::AllBad { last, .. } => return opening_fault(game, last),
        OpeningFault::TooLarge { limit } => ErrorCode::FileTooLarge { limit: limit >> 20 },
        OpeningFault::TooLong { .. } => ErrorCode::TooLong { subject: ErrorSubject::Opening },
        OpeningFault::NotText => ErrorCode::NotUtf8,
        OpeningFault::Position(error) => return position_error(game, error),
        OpeningFault::Epd(error) => return epd_error(game, error),
        OpeningFault::Moves(error) => return move_error(&error.error),
        OpeningFault::Record(kind) => return record_error_kind(game, kind),
        OpeningFault::Unexpected(text) => ErrorCode::UnexpectedText { text: text.clone() },
        OpeningFault::Over(_) => ErrorCode::GameOver,
        OpeningFault::Chess960Number(number) => {
            ErrorCode::unknown(ErrorSubject::StartNumber, number)
        }
        OpeningFault::Handicap(name) => ErrorCode::unknown(ErrorSubject::Handicap, name),
        OpeningFault::Directory => ErrorCode::IsADirectory,
        OpeningFault::NoMoves => ErrorCode::NoMoves,
        other => ErrorCode::system(other),
    };
    code.into()
}

fn epd_error(game: Option<Game>, error: &EpdError) -> ErrorInfo {
    let code = match error {
        EpdError::Position(error) => return position_error(game, error),
        EpdError::OpenQuote => ErrorCode::UnclosedQuote,
        EpdError::TooManyOperations => ErrorCode::TooMany { subject: ErrorSubject::Operation },
        EpdError::Opcode { text } => ErrorCode::InvalidEpdOperation { text: text.clone() },
        EpdError::Operand { opcode, text } => {
            ErrorCode::InvalidEpdOperation { text: format!("{opcode} {text}") }
        }
        EpdError::Move { error, .. } => return move_error(error),
    };
    code.into()
}
