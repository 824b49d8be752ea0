//! The order in which moves are tried: the sooner the best one, the less is left to search.

use std::cmp::Reverse;

use crate::{
    board::Board,
    score::{MAX_PLY, Value},
};

/// A move and how promising it is.
pub(crate) type Ranked<M> = (Value, M);

const FROM_TABLE: Value = Value::MAX;
const CAPTURE: Value = 1_000_000;
const KILLER: Value = 500_000;

/// Quiet moves that refuted a line, by ply: they often refute its neighbours too.
pub(crate) struct Killers([[u32; 2]; MAX_PLY]);

impl Killers {
    pub(crate) fn new() -> Self {
        Self([[0; 2]; MAX_PLY])
    }

    pub(crate) fn add(&mut self, ply: usize, mv: u32) {
        if let Some([first, second]) = self.0.get_mut(ply)
            && *first != mv
        {
            *second = *first;
            *first = mv;
        }
    }

    fn at(&self, ply: usize) -> [u32; 2] {
        self.0.get(ply).copied().unwrap_or_default()
    }
}

/// Fills a list with all legal moves: the one from the table, captures, killers, the rest.
pub(crate) fn all_moves<B: Board>(
    board: &B,
    list: &mut Vec<Ranked<B::Move>>,
    from_table: u32,
    killers: &Killers,
    ply: usize,
) {
    let [first, second] = killers.at(ply);
    list.clear();
    board.for_each_move(|mv| {
        let packed = B::pack(mv);
        let rank = if packed == from_table {
            FROM_TABLE
        } else if let Some(gain) = board.gain(mv) {
            CAPTURE + promise(board, mv, gain)
        } else if packed == first {
            KILLER
        } else if packed == second {
            KILLER - 1
        } else {
            0
        };
        list.push((rank, mv));
    });
    sort(list);
}

/// Fills a list with the moves that change material.
pub(crate) fn captures<B: Board>(board: &B, list: &mut Vec<Ranked<B::Move>>) {
    list.clear();
    board.for_each_capture(|mv| {
        let gain = board.gain(mv).unwrap_or(0);
        list.push((promise(board, mv, gain), mv));
    });
    sort(list);
}

/// The most valuable victim comes first, and the least valuable attacker for it.
fn promise<B: Board>(board: &B, mv: B::Move, gain: Value) -> Value {
    16 * gain - board.mover(mv)
}

fn sort<M>(list: &mut [Ranked<M>]) {
    list.sort_unstable_by_key(|&(rank, _)| Reverse(rank));
}
