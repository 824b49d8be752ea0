//! Chess and Chess960. The number of a move has its origin, a1 to h8 by rank, in the lowest six bits,
//! its target in the next six, then the promotion. Castling is king takes own rook.

use std::ops::Range;

use cozy_chess::{Board, Color, Move, Piece, Square};
use narikin::eval::{Weight, chess as eval};
use readyok_rules::{Side, shakmaty};

use super::{GameKind, TrainGame};

/// Chess and Chess960.
#[derive(Debug, Clone, Copy)]
pub struct Chess;

pub(super) fn number(mv: shakmaty::Move) -> Option<u16> {
    use shakmaty::Role;
    let promotion = match mv.promotion() {
        None => 0,
        Some(Role::Knight) => 1,
        Some(Role::Bishop) => 2,
        Some(Role::Rook) => 3,
        Some(Role::Queen) => 4,
        Some(Role::Pawn | Role::King) => return None,
    };
    Some(u16::from(mv.from()?) | u16::from(mv.to()) << 6 | promotion << 12)
}

fn read(number: u16) -> Option<Move> {
    let square = |number: u16| Square::try_index(usize::from(number & 63));
    let promotion = match number >> 12 {
        0 => None,
        1 => Some(Piece::Knight),
        2 => Some(Piece::Bishop),
        3 => Some(Piece::Rook),
        4 => Some(Piece::Queen),
        _ => return None,
    };
    Some(Move { from: square(number)?, to: square(number >> 6)?, promotion })
}

impl TrainGame for Chess {
    type Board = Board;
    type Model = eval::Chess;
    const KIND: GameKind = GameKind::Chess;

    fn start(number: u16) -> Option<Board> {
        (number < 960).then(|| Board::chess960_startpos(u32::from(number)))
    }

    fn play(board: &mut Board, mv: u16) -> bool {
        read(mv).is_some_and(|mv| board.try_play(mv).is_ok())
    }

    fn turn(board: &Board) -> Side {
        match board.side_to_move() {
            Color::White => Side::First,
            Color::Black => Side::Second,
        }
    }

    fn in_check(board: &Board) -> bool {
        !board.checkers().is_empty()
    }

    fn is_quiet(board: &Board, mv: u16) -> bool {
        read(mv).is_some_and(|mv| {
            let en_passant =
                board.piece_on(mv.from) == Some(Piece::Pawn) && mv.from.file() != mv.to.file();
            // A king that moves to its own rook castles.
            let captures = board.color_on(mv.to) == Some(!board.side_to_move());
            mv.promotion.is_none() && !en_passant && !captures
        })
    }

    fn hand_written() -> Vec<Weight> {
        eval::initial_weights()
    }

    fn groups() -> Vec<(&'static str, Range<usize>)> {
        eval::GROUPS.iter().map(|group| (group.name, group.range.clone())).collect()
    }
}
