//! History heuristics and correction history.

use crate::{
    board::{Board, CORRECTION_KEYS, SearchMove},
    score::Value,
};

const MAX_HISTORY: i32 = 16_384;

/// Entries of the correction history per side and key, and their unit.
const CORRECTION_ENTRIES: usize = 16_384;
const CORRECTION_UNITS: i32 = 256;
const MAX_CORRECTION: i32 = 64 * CORRECTION_UNITS;

/// Plies back of the earlier moves in the continuation history.
pub(crate) const CONT_HIST_PLIES: [usize; 3] = [1, 2, 4];

/// Piece and target of an earlier move; the default means no move or a null move.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub(crate) struct ContHistKey(u32);

/// History tables. Updates have gravity: entries decay as they grow.
pub(crate) struct Histories<B: Board> {
    /// Butterfly history, by side, threats to origin and target, origin and target.
    quiet: Box<[i16]>,
    /// Capture history, by piece, target and victim.
    noisy: Box<[i16]>,
    /// Continuation history, by earlier move, piece and target.
    cont_hist: Box<[i16]>,
    /// Correction history, by kind of key, side and key.
    corrections: Box<[i16]>,
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
            corrections: zeros(CORRECTION_KEYS * 2 * CORRECTION_ENTRIES),
            board: std::marker::PhantomData,
        }
    }

    pub(crate) fn clear(&mut self) {
        for table in [&mut self.quiet, &mut self.noisy, &mut self.cont_hist, &mut self.corrections]
        {
            table.fill(0);
        }
    }

    pub(crate) fn cont_hist_key(mv: B::Move) -> ContHistKey {
        ContHistKey(u32::try_from(1 + piece_to_index::<B>(mv)).unwrap_or(0))
    }

    fn quiet_index(side: usize, mv: B::Move, threats: u128) -> usize {
        // Pieces in hand have no square.
        let threatened = |square: usize| {
            let is_threatened = square < B::SQUARES && threats >> square & 1 != 0;
            usize::from(enabled!(ThreatHistory) && is_threatened)
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

    /// The history score of a quiet move. `threats` are [`Board::threats`].
    pub(crate) fn quiet(
        &self,
        side: usize,
        mv: B::Move,
        cont_hist: &[ContHistKey],
        threats: u128,
    ) -> i32 {
        let mut sum = read(&self.quiet, Self::quiet_index(side, mv, threats));
        for &key in cont_hist {
            sum += read(&self.cont_hist, Self::cont_hist_index(key, mv));
        }
        sum
    }

    /// The history score of a capture.
    pub(crate) fn noisy(&self, mv: B::Move, victim: usize) -> i32 {
        read(&self.noisy, Self::noisy_index(mv, victim))
    }

    pub(crate) fn update_quiet(
        &mut self,
        side: usize,
        mv: B::Move,
        cont_hist: &[ContHistKey],
        threats: u128,
        by: i32,
    ) {
        if enabled!(ButterflyHistory) {
            update_histories(&mut self.quiet, Self::quiet_index(side, mv, threats), by);
        }
        if enabled!(ContinuationHistory) {
            for &key in cont_hist {
                update_histories(&mut self.cont_hist, Self::cont_hist_index(key, mv), by);
            }
        }
    }

    pub(crate) fn update_noisy(&mut self, mv: B::Move, victim: usize, by: i32) {
        if enabled!(CaptureHistory) {
            update_histories(&mut self.noisy, Self::noisy_index(mv, victim), by);
        }
    }

    /// The correction of the static evaluation, in centipawns.
    pub(crate) fn correction(&self, board: &B) -> Value {
        let side = board.side();
        let keys = board.correction_keys().into_iter().enumerate();
        let sum: i32 = keys
            .map(|(part, key)| read(&self.corrections, correction_index(part, side, key)))
            .sum();
        sum / (2 * CORRECTION_UNITS)
    }

    /// Moves the correction towards the difference between search and evaluation.
    pub(crate) fn update_correction(&mut self, board: &B, error: Value, depth: i32) {
        let side = board.side();
        let weight = (depth + 1).min(16);
        let target = (error * CORRECTION_UNITS).clamp(-MAX_CORRECTION, MAX_CORRECTION);
        for (part, key) in board.correction_keys().into_iter().enumerate() {
            if let Some(entry) = self.corrections.get_mut(correction_index(part, side, key)) {
                let new = (i32::from(*entry) * (256 - weight) + target * weight) / 256;
                let new = new.clamp(-MAX_CORRECTION, MAX_CORRECTION);
                *entry = i16::try_from(new).unwrap_or(*entry);
            }
        }
    }
}

fn piece_to_index<B: Board>(mv: B::Move) -> usize {
    mv.piece() * B::SQUARES + mv.to()
}

fn correction_index(part: usize, side: usize, key: u64) -> usize {
    let key = usize::try_from(key % CORRECTION_ENTRIES as u64).unwrap_or(0);
    (part * 2 + side) * CORRECTION_ENTRIES + key
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
