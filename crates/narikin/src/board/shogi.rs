//! Shogi as the search sees it.

use readyok_rules::{
    ShogiBoard,
    rsshogi::{
        board::{Move32List, Position},
        movegen::{Captures, generate_legal_all_move32, generate_moves_move32},
        types::{Move32, RepetitionState},
    },
};

use super::{Board, shogi_eval};
use crate::score::{DRAW, Value, WON};

pub(crate) struct Shogi(Position);

impl Shogi {
    pub(crate) fn new(board: &ShogiBoard) -> Self {
        Self(board.position().clone())
    }
}

impl Board for Shogi {
    type Move = Move32;
    const STALEMATE_LOSES: bool = true;

    fn for_each_move(&self, each: impl FnMut(Move32)) {
        let mut moves = Move32List::new();
        generate_legal_all_move32(&self.0, &mut moves);
        moves.iter().copied().for_each(each);
    }

    fn for_each_capture(&self, each: impl FnMut(Move32)) {
        let mut moves = Move32List::new();
        generate_moves_move32::<Captures>(&self.0, &mut moves);
        // Some of them may leave a check unanswered.
        let legal = |mv: &Move32| self.0.is_legal_move32(*mv);
        moves.iter().copied().filter(legal).for_each(each);
    }

    fn play(&mut self, mv: Move32) {
        self.0.apply_move32(mv);
    }

    fn undo(&mut self, mv: Move32) {
        let undone = self.0.undo_move32(mv);
        debug_assert!(undone.is_ok(), "only the last move is taken back");
    }

    fn key(&self) -> u64 {
        self.0.key().low_u64()
    }

    fn in_check(&self) -> bool {
        self.0.is_in_check()
    }

    fn ended(&self, ply: usize) -> Option<Value> {
        match self.0.repetition_state_with_ply(ply) {
            RepetitionState::Draw => Some(DRAW),
            RepetitionState::Win => Some(WON),
            RepetitionState::Lose => Some(-WON),
            RepetitionState::None | RepetitionState::Superior | RepetitionState::Inferior => None,
        }
    }

    fn evaluate(&self) -> Value {
        shogi_eval::evaluate(&self.0)
    }

    fn gain(&self, mv: Move32) -> Option<Value> {
        if mv.is_drop() || !(mv.is_promotion() || self.0.is_capture_move32(mv)) {
            return None;
        }
        let victim = self.0.piece_on(mv.to_sq()).piece_type();
        let after = mv.piece_after_move().piece_type();
        // What is taken changes sides, and is unpromoted then.
        let taken = shogi_eval::worth(victim) + shogi_eval::worth(victim.demote());
        Some(taken + shogi_eval::worth(after) - self.mover(mv))
    }

    fn mover(&self, mv: Move32) -> Value {
        let after = mv.piece_after_move().piece_type();
        shogi_eval::worth(if mv.is_promotion() { after.demote() } else { after })
    }

    fn pack(mv: Move32) -> u32 {
        mv.raw()
    }
}
