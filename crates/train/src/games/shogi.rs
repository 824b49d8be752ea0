//! Shogi. The number of a move is that of YaneuraOu: the target in the lowest seven bits, the origin
//! or the dropped piece in the next seven, then a bit for a drop and a bit for a promotion. Squares
//! are numbered by file: 1a, 1b, …, 9i. Pieces are pawn, lance, knight, silver, bishop, rook, gold,
//! from 1.

use std::ops::Range;

use narikin::eval::{Weight, shogi as eval};
use readyok_rules::Side;
use rsshogi::{
    board::{Position, hirate_position},
    types::{Color, Move},
};

use super::{GameKind, TrainGame};

/// Shogi.
#[derive(Debug, Clone, Copy)]
pub struct Shogi;

impl TrainGame for Shogi {
    type Board = Position;
    type Model = eval::Shogi;
    const KIND: GameKind = GameKind::Shogi;

    fn start(number: u16) -> Option<Position> {
        (number == 0).then(hirate_position)
    }

    fn play(board: &mut Position, mv: u16) -> bool {
        let mv = Move::from_raw(mv);
        mv.is_normal()
            && board.is_legal_move(mv)
            && board.try_apply_move32(board.move32_from_move(mv)).is_ok()
    }

    fn turn(board: &Position) -> Side {
        if board.turn() == Color::BLACK { Side::First } else { Side::Second }
    }

    fn in_check(board: &Position) -> bool {
        board.is_in_check()
    }

    fn is_quiet(board: &Position, mv: u16) -> bool {
        let mv = Move::from_raw(mv);
        mv.is_normal() && !mv.is_promotion() && !board.is_capture_move(mv)
    }

    fn hand_written() -> Vec<Weight> {
        eval::initial_weights()
    }

    fn groups() -> Vec<(&'static str, Range<usize>)> {
        eval::GROUPS.iter().map(|group| (group.name, group.range.clone())).collect()
    }
}
