//! USEN, the notation of shogi in links of Shogi Playground.
//!
//! `BOARD~0.7ku2jm.r~1.2sq.`: a board, in which `_` is `/`, `.` a blank and `z` a `+`, and nothing for the
//! usual start; then lines with the number of moves before them, the moves, and an end. A move has three
//! digits of base 36: the origin times 81 plus the target, times two, plus one for a promotion. Squares
//! are numbered from 1a to 9i by rank; the origin of a drop is a piece from 90 on.

use rsshogi::types::{Move, PieceType, Square};

use crate::{Game, Position, Setup, Termination, error::shortened};

use super::super::{
    Defect, End, GameRecord, Limits, Notice, NoticeReason, RecordErrorKind,
    format::Location,
    shogi::{RecordBuilder, square},
};

/// The pieces of drops, from 90.
const DROPS: [PieceType; 7] = [
    PieceType::GOLD,
    PieceType::PAWN,
    PieceType::LANCE,
    PieceType::KNIGHT,
    PieceType::SILVER,
    PieceType::BISHOP,
    PieceType::ROOK,
];

pub(super) fn read(
    text: &str,
    limits: &Limits,
    location: Location,
    notices: &mut Vec<Notice>,
) -> Result<GameRecord, RecordErrorKind> {
    let (board, lines) = text.split_once('~').unwrap_or((text, ""));
    let setup = if board.is_empty() {
        Setup::start(Game::Shogi)
    } else {
        let sfen = board.replace('_', "/").replace('.', " ").replace('z', "+");
        Setup::read_partial(Game::Shogi, &sfen).map_err(RecordErrorKind::Start)?
    };
    let mut draft = RecordBuilder::new(Position::for_viewing(&setup), limits, location)?;
    for line in lines.split('~') {
        let mut parts = line.split('.');
        let ply = parts.next().and_then(|number| number.parse().ok()).unwrap_or(0);
        if !draft.back_to(ply) {
            draft.back_to(0);
            draft.skip_variation(shortened(line), location);
        }
        let mut rest = parts.next().unwrap_or_default();
        while let Some((digits, next)) = rest.split_at_checked(3) {
            rest = next;
            let mv = read_move(digits);
            draft.play(
                mv.ok_or_else(|| {
                    NoticeReason::Defect(Defect::NoMatchingMove { text: digits.to_owned() })
                }),
                location,
            );
        }
        let termination = match parts.next().unwrap_or_default() {
            "r" => Termination::Resignation,
            "t" => Termination::TimeForfeit,
            "i" => Termination::IllegalMove,
            "j" => Termination::Impasse,
            "p" => Termination::Aborted,
            _ => continue,
        };
        draft.end(End::implied(termination, draft.turn()));
    }
    Ok(draft.finish(notices))
}

fn read_move(digits: &str) -> Option<Move> {
    let number = u32::from_str_radix(digits, 36).ok()?;
    let (from, to) = (number / 162, number % 162 / 2);
    let by_number = |number: u32| -> Option<Square> { square(number % 9 + 1, number / 9 + 1) };
    let to = by_number(to)?;
    if from >= 90 {
        let piece = *DROPS.get(usize::try_from(from - 90).ok()?)?;
        return Some(Move::drop(piece, to));
    }
    let from = by_number(from)?;
    Some(if number % 2 == 1 { Move::promotion(from, to) } else { Move::normal(from, to) })
}
