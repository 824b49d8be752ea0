//! How long games were, and which moves took longest.

use readyok_protocol::Move;

use crate::result::MatchGame;

/// How many of the slowest moves are kept.
const SLOWEST: usize = 20;

/// Games by their length, in steps.
#[derive(Clone, Debug, Default)]
pub(super) struct Lengths {
    steps: Vec<u64>,
}

impl Lengths {
    /// Plies in a step.
    pub(super) const STEP: usize = 20;
    /// Longer games count in the last step.
    const STEPS: usize = 40;

    pub(super) fn add(&mut self, game: &MatchGame) {
        let step = (game.moves.len() / Self::STEP).min(Self::STEPS - 1);
        if self.steps.len() <= step {
            self.steps.resize(step + 1, 0);
        }
        if let Some(count) = self.steps.get_mut(step) {
            *count += 1;
        }
    }

    /// How many games each step has.
    pub(super) fn steps(&self) -> &[u64] {
        &self.steps
    }
}

/// The moves that took longest, the slowest first.
#[derive(Clone, Debug, Default)]
pub(super) struct Slowest {
    moves: Vec<SlowMove>,
}

/// A move that took long.
#[derive(Clone, Debug)]
pub(super) struct SlowMove {
    pub(super) time_us: u64,
    /// The index of the pairing, and the game in it, counted from 1.
    pub(super) pairing: u64,
    pub(super) game: u32,
    /// Counted from 1 after the opening.
    pub(super) ply: usize,
    pub(super) mv: Move,
}

impl Slowest {
    pub(super) fn add(&mut self, pairing: u64, number: u32, game: &MatchGame) {
        for (ply, played) in (1..).zip(&game.moves) {
            let time_us = played.time_us;
            let full = self.moves.len() == SLOWEST;
            if full && self.moves.last().is_some_and(|last| time_us <= last.time_us) {
                continue;
            }
            let at = self.moves.partition_point(|slow| slow.time_us >= time_us);
            let mv = played.mv;
            self.moves.insert(at, SlowMove { time_us, pairing, game: number, ply, mv });
            self.moves.truncate(SLOWEST);
        }
    }

    pub(super) fn moves(&self) -> &[SlowMove] {
        &self.moves
    }
}
