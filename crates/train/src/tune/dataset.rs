//! Positions as the tuner keeps them: the terms of each, four bytes a term.

use std::error::Error;
use std::fmt;

use narikin::eval::{MAX_PHASE, Model, SCALE_NORMAL, Terms};

use crate::data::Winner;

/// A term has its weight in the lower 24 bits and its count in the upper 8.
const WEIGHT_BITS: u32 = 24;

/// There is no room for more positions.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Full;

impl fmt::Display for Full {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("these are more positions than can be numbered")
    }
}

impl Error for Full {}

/// Positions with what is known of them.
#[derive(Debug, Default)]
pub struct Dataset {
    terms: Vec<u32>,
    positions: Vec<Entry>,
    sums: Sums,
}

#[derive(Debug, Clone, Copy)]
struct Entry {
    /// Where its terms end; they begin where those of the entry before end.
    end: u32,
    phase: i16,
    score: i16,
    winner: Winner,
    /// How much of a value counts, for the second side and for the first.
    shares: [u8; 2],
}

/// What is known of a position.
#[derive(Debug, Clone, Copy)]
pub(super) struct Example<'a> {
    terms: &'a [u32],
    /// How much of the opening is left, from 0 to 1.
    pub(super) mg: f32,
    /// For the first side, in centipawns.
    pub(super) score: f32,
    /// What the first side gets.
    pub(super) points: f32,
    shares: [u8; 2],
}

impl Dataset {
    /// Adds a position with its score for the first side and the winner of its game.
    ///
    /// # Errors
    /// There is no room for it; nothing has changed then.
    pub fn push<M: Model>(
        &mut self,
        board: &M::Board,
        score: i16,
        winner: Winner,
    ) -> Result<(), Full> {
        const { assert!(M::WEIGHTS <= 1 << WEIGHT_BITS, "a term has no room for more") };
        self.sums.counts.resize(M::WEIGHTS, 0);
        M::terms(board, &mut self.sums);
        let before = self.terms.len();
        self.sums.drain(&mut self.terms);
        let number = u32::try_from(self.positions.len());
        let (Ok(end), Ok(_)) = (u32::try_from(self.terms.len()), number) else {
            self.terms.truncate(before);
            return Err(Full);
        };
        let phase = i16::try_from(M::phase(board).clamp(0, MAX_PHASE)).unwrap_or(0);
        let shares = [-LEAD, LEAD].map(|value| {
            u8::try_from(M::scale(board, value).clamp(0, SCALE_NORMAL)).unwrap_or(u8::MAX)
        });
        self.positions.push(Entry { end, phase, score, winner, shares });
        Ok(())
    }

    /// How many positions there are.
    pub fn len(&self) -> usize {
        self.positions.len()
    }

    /// Whether there are none.
    pub fn is_empty(&self) -> bool {
        self.positions.is_empty()
    }

    /// How many terms a position has on average.
    pub fn terms_each(&self) -> usize {
        self.terms.len() / self.len().max(1)
    }

    /// In how many positions each of so many weights counts.
    pub fn seen(&self, weights: usize) -> Vec<u32> {
        let mut seen = vec![0; weights];
        for term in &self.terms {
            if let Some(seen) = seen.get_mut(weight_of(*term)) {
                *seen += 1;
            }
        }
        seen
    }

    /// The numbers of all positions.
    pub(super) fn numbers(&self) -> impl Iterator<Item = u32> + use<> {
        0..u32::try_from(self.positions.len()).unwrap_or(u32::MAX)
    }

    pub(super) fn example(&self, number: u32) -> Option<Example<'_>> {
        let number = usize::try_from(number).ok()?;
        let entry = self.positions.get(number)?;
        let before = number.checked_sub(1).and_then(|before| self.positions.get(before));
        let start = usize::try_from(before.map_or(0, |before| before.end)).ok()?;
        Some(Example {
            terms: self.terms.get(start..usize::try_from(entry.end).ok()?)?,
            mg: f32::from(entry.phase) / MAX_PHASE_F32,
            score: f32::from(entry.score),
            points: entry.winner.points(),
            shares: entry.shares,
        })
    }
}

const MAX_PHASE_F32: f32 = 256.0;
const WHOLE_VALUE: f32 = 64.0;
const _: () = assert!(MAX_PHASE == 256 && SCALE_NORMAL == 64, "these are the same numbers");

/// A lead by which to ask how much of it counts: who leads is what matters.
const LEAD: i32 = 100;

impl Example<'_> {
    /// How much of a value counts, from 0 to 1.
    pub(super) fn share(&self, value: f32) -> f32 {
        let [second, first] = self.shares;
        f32::from(if value < 0.0 { second } else { first }) / WHOLE_VALUE
    }

    /// The weights that count, and how often.
    pub(super) fn terms(&self) -> impl Iterator<Item = (usize, f32)> {
        self.terms.iter().map(|&term| {
            let [.., count] = term.to_le_bytes();
            (weight_of(term), f32::from(count.cast_signed()))
        })
    }
}

fn weight_of(term: u32) -> usize {
    usize::try_from(term & ((1 << WEIGHT_BITS) - 1)).unwrap_or(usize::MAX)
}

/// Adds up the counts of each weight, so that what cancels out costs nothing later.
#[derive(Debug, Default)]
struct Sums {
    counts: Vec<i32>,
    touched: Vec<u32>,
}

impl Terms for Sums {
    fn add(&mut self, weight: usize, count: i32) {
        if let (Some(sum), Ok(number)) = (self.counts.get_mut(weight), u32::try_from(weight)) {
            // A weight that cancels out and comes again stands here twice, which does no harm.
            if *sum == 0 {
                self.touched.push(number);
            }
            *sum = sum.saturating_add(count);
        }
    }
}

impl Sums {
    /// Moves the sums to the terms.
    fn drain(&mut self, terms: &mut Vec<u32>) {
        for weight in self.touched.drain(..) {
            let sum = usize::try_from(weight).ok().and_then(|weight| self.counts.get_mut(weight));
            let mut left = sum.map_or(0, std::mem::take);
            while left != 0 {
                let Ok(part) = i8::try_from(left.clamp(-127, 127)) else { break };
                terms.push(weight | u32::from(part.cast_unsigned()) << WEIGHT_BITS);
                left -= i32::from(part);
            }
        }
    }
}
