//! History heuristics and correction history.

use super::Tuning;
use crate::{
    board::{Board, CORRECTION_KEYS, SearchMove},
    score::Value,
};

const MAX_HISTORY: i32 = 16_384;

/// Entries of the correction history per side and key, and their unit.
const CORRECTION_ENTRIES: usize = 16_384;
const CORRECTION_UNITS: i32 = 256;
const MAX_CORRECTION: i32 = 64 * CORRECTION_UNITS;

/// Entries of the correction history by the last two moves.
const MOVE_CORRECTION_ENTRIES: usize = 65_536;

/// Pawn structures that the history of quiet moves distinguishes.
const STRUCTURES: usize = 512;

/// Plies from the root that have a history of their own.
const LOW_PLIES: usize = 4;

/// Plies back of the earlier moves in the continuation history.
pub(crate) const CONT_HIST_PLIES: [usize; 3] = [1, 2, 4];

/// Piece and target of an earlier move; the default means no move or a null move.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub(crate) struct ContHistKey(u32);

/// What the history of quiet moves depends on at a node.
#[derive(Debug, Clone, Copy, Default)]
pub(crate) struct QuietContext {
    pub(crate) side: usize,
    pub(crate) ply: usize,
    pub(crate) cont_hist: [ContHistKey; CONT_HIST_PLIES.len()],
    /// [`Board::threats`].
    pub(crate) threats: u128,
    /// The key of the pawns.
    pub(crate) pawns: u64,
}

/// History tables. Updates have gravity: entries decay as they grow.
pub(crate) struct Histories<B: Board> {
    /// Butterfly history, by side, threats to origin and target, origin and target.
    quiet: Box<[i16]>,
    /// Capture history, by piece, target and victim.
    noisy: Box<[i16]>,
    /// Continuation history, by earlier move, piece and target.
    cont_hist: Box<[i16]>,
    /// Pawn history, by pawn structure, piece and target.
    pawn: Box<[i16]>,
    /// Low-ply history of this search, by ply, origin and target.
    low_ply: Box<[i16]>,
    /// Correction history, by kind of key, side and key.
    corrections: Box<[i16]>,
    /// Correction history by the last two moves.
    move_corrections: Box<[i16]>,
    board: std::marker::PhantomData<fn() -> B>,
}

impl<B: Board> Histories<B> {
    pub(crate) fn new() -> Self {
        let zeros = |count: usize| vec![0; count].into_boxed_slice();
        let landings = B::PIECES * B::SQUARES;
        Self {
            quiet: zeros(2 * 2 * 2 * B::FROMS * B::SQUARES),
            noisy: zeros(landings * B::VICTIMS),
            cont_hist: zeros((landings + 1) * landings),
            pawn: zeros(STRUCTURES * landings),
            low_ply: zeros(LOW_PLIES * B::FROMS * B::SQUARES),
            corrections: zeros(CORRECTION_KEYS * 2 * CORRECTION_ENTRIES),
            move_corrections: zeros(MOVE_CORRECTION_ENTRIES),
            board: std::marker::PhantomData,
        }
    }

    pub(crate) fn clear(&mut self) {
        let tables = [
            &mut self.quiet,
            &mut self.noisy,
            &mut self.cont_hist,
            &mut self.pawn,
            &mut self.low_ply,
            &mut self.corrections,
            &mut self.move_corrections,
        ];
        for table in tables {
            table.fill(0);
        }
    }

    /// Forgets the moves near the last root.
    pub(crate) fn start_search(&mut self) {
        self.low_ply.fill(0);
    }

    pub(crate) fn cont_hist_key(mv: B::Move) -> ContHistKey {
        ContHistKey(u32::try_from(1 + piece_to_index::<B>(mv)).unwrap_or(0))
    }

    fn quiet_index(side: usize, mv: B::Move, threats: u128) -> usize {
        // Pieces in hand have no square.
        let threatened = |square: usize| {
            let is_threatened = square < B::SQUARES && threats >> square & 1 != 0;
            usize::from(is_threatened)
        };
        let case = (side * 2 + threatened(mv.from())) * 2 + threatened(mv.to());
        (case * B::FROMS + mv.from()) * B::SQUARES + mv.to()
    }

    fn noisy_index(mv: B::Move, victim: usize) -> usize {
        piece_to_index::<B>(mv) * B::VICTIMS + victim
    }

    fn cont_hist_index(ContHistKey(key): ContHistKey, mv: B::Move) -> usize {
        key as usize * (B::PIECES * B::SQUARES) + piece_to_index::<B>(mv)
    }

    fn pawn_index(mv: B::Move, pawns: u64) -> usize {
        let structure = usize::try_from(pawns % STRUCTURES as u64).unwrap_or(0);
        structure * (B::PIECES * B::SQUARES) + piece_to_index::<B>(mv)
    }

    /// None if the ply is not low.
    fn low_ply_index(mv: B::Move, ply: usize) -> Option<usize> {
        (ply < LOW_PLIES).then(|| (ply * B::FROMS + mv.from()) * B::SQUARES + mv.to())
    }

    /// The history score of a quiet move.
    pub(crate) fn quiet(&self, mv: B::Move, context: &QuietContext) -> i32 {
        let mut sum = read(&self.quiet, Self::quiet_index(context.side, mv, context.threats));
        for &key in &context.cont_hist {
            sum += read(&self.cont_hist, Self::cont_hist_index(key, mv));
        }
        sum + read(&self.pawn, Self::pawn_index(mv, context.pawns))
    }

    /// The bonus of a quiet move near the root in the move order.
    pub(crate) fn low_ply(&self, mv: B::Move, ply: usize) -> i32 {
        let history = Self::low_ply_index(mv, ply).map_or(0, |index| read(&self.low_ply, index));
        4 * history / (1 + i32::try_from(ply).unwrap_or(0))
    }

    /// The history score of a capture.
    pub(crate) fn noisy(&self, mv: B::Move, victim: usize) -> i32 {
        read(&self.noisy, Self::noisy_index(mv, victim))
    }

    pub(crate) fn update_quiet(&mut self, mv: B::Move, context: &QuietContext, by: i32) {
        self.update_butterfly(mv, context, by);
        for &key in &context.cont_hist {
            update_histories(&mut self.cont_hist, Self::cont_hist_index(key, mv), by);
        }
        update_histories(&mut self.pawn, Self::pawn_index(mv, context.pawns), by);
        if let Some(index) = Self::low_ply_index(mv, context.ply) {
            update_histories(&mut self.low_ply, index, by);
        }
    }

    /// Updates the butterfly history only.
    pub(crate) fn update_butterfly(&mut self, mv: B::Move, context: &QuietContext, by: i32) {
        let index = Self::quiet_index(context.side, mv, context.threats);
        update_histories(&mut self.quiet, index, by);
    }

    pub(crate) fn update_noisy(&mut self, mv: B::Move, victim: usize, by: i32) {
        update_histories(&mut self.noisy, Self::noisy_index(mv, victim), by);
    }

    /// The correction of the static evaluation, in centipawns.
    pub(crate) fn correction(&self, board: &B, last: [ContHistKey; 2]) -> Value {
        if board.has_bare_king() {
            return 0;
        }
        let side = board.side();
        let keys = board.correction_keys().into_iter().enumerate();
        let sum: i32 = keys
            .map(|(part, key)| read(&self.corrections, correction_index(part, side, key)))
            .sum();
        let by_moves = read(&self.move_corrections, move_correction_index(last));
        (sum + by_moves) * Tuning::of::<B>().correction / (256 * CORRECTION_UNITS)
    }

    /// Moves the correction towards the difference between search and evaluation.
    pub(crate) fn update_correction(
        &mut self,
        board: &B,
        last: [ContHistKey; 2],
        error: Value,
        depth: i32,
    ) {
        if board.has_bare_king() {
            return;
        }
        let side = board.side();
        let weight = (depth + 1).min(16);
        let target = (error * CORRECTION_UNITS).clamp(-MAX_CORRECTION, MAX_CORRECTION);
        for (part, key) in board.correction_keys().into_iter().enumerate() {
            let index = correction_index(part, side, key);
            update_correction(&mut self.corrections, index, target, weight);
        }
        let index = move_correction_index(last);
        update_correction(&mut self.move_corrections, index, target, weight);
    }
}

fn piece_to_index<B: Board>(mv: B::Move) -> usize {
    mv.piece() * B::SQUARES + mv.to()
}

fn correction_index(part: usize, side: usize, key: u64) -> usize {
    let key = usize::try_from(key % CORRECTION_ENTRIES as u64).unwrap_or(0);
    (part * 2 + side) * CORRECTION_ENTRIES + key
}

fn move_correction_index([last, before]: [ContHistKey; 2]) -> usize {
    let key = u64::from(last.0) << 32 | u64::from(before.0);
    let hash = key.wrapping_mul(0x9E37_79B9_7F4A_7C15) >> 32;
    usize::try_from(hash % MOVE_CORRECTION_ENTRIES as u64).unwrap_or(0)
}

fn update_correction(table: &mut [i16], index: usize, target: i32, weight: i32) {
    if let Some(entry) = table.get_mut(index) {
        let new = (i32::from(*entry) * (256 - weight) + target * weight) / 256;
        let new = new.clamp(-MAX_CORRECTION, MAX_CORRECTION);
        *entry = i16::try_from(new).unwrap_or(*entry);
    }
}

fn read(table: &[i16], index: usize) -> i32 {
    table.get(index).copied().unwrap_or(0).into()
}

fn update_histories(table: &mut [i16], index: usize, by: i32) {
    if let Some(entry) = table.get_mut(index) {
        let old = i32::from(*entry);
        let new = old + by - old * by.abs() / MAX_HISTORY;
        *entry = i16::try_from(new.clamp(-MAX_HISTORY, MAX_HISTORY)).unwrap_or(*entry);
    }
}
