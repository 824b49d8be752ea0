//! Positions in memory: the terms of each, with four bytes per term.

use std::error::Error;
use std::fmt;

use narikin::eval::{MAX_PHASE, Model, SCALE_NORMAL, Terms};

use crate::data::Winner;

/// A term has its weight in the lower 24 bits and its count in the upper 8.
const WEIGHT_BITS: u32 = 24;

/// The capacity for positions is exhausted.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Full;

impl fmt::Display for Full {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("too many positions")
    }
}

impl Error for Full {}

/// Positions with their terms, scores and results.
#[derive(Debug, Default)]
pub struct Dataset {
    terms: Vec<u32>,
    positions: Vec<Entry>,
    sums: Sums,
}

#[derive(Debug, Clone, Copy)]
struct Entry {
    /// The end of its terms; they start at the end of the previous entry.
    end: u32,
    phase: i16,
    score: i16,
    winner: Winner,
    /// The scale of the evaluation if the second side, or the first, is ahead.
    shares: [u8; 2],
}

/// The data of a position.
#[derive(Debug, Clone, Copy)]
pub(super) struct Example<'a> {
    terms: &'a [u32],
    /// The weight of the middlegame, from 0 to 1.
    pub(super) mg: f32,
    /// The score for the first side, in centipawns.
    pub(super) score: f32,
    /// The points of the first side.
    pub(super) points: f32,
    shares: [u8; 2],
}

impl Dataset {
    /// Adds a position with its score for the first side and the winner of its game.
    ///
    /// # Errors
    /// The capacity is exhausted. The data set is then unchanged.
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

    /// The number of positions.
    pub fn len(&self) -> usize {
        self.positions.len()
    }

    /// Whether there are no positions.
    pub fn is_empty(&self) -> bool {
        self.positions.is_empty()
    }

    /// The mean number of terms per position.
    pub fn terms_each(&self) -> usize {
        self.terms.len() / self.len().max(1)
    }

    /// The number of positions in which each weight occurs.
    pub fn seen(&self, weights: usize) -> Vec<u32> {
        let mut seen = vec![0; weights];
        for term in &self.terms {
            if let Some(seen) = seen.get_mut(weight_of(*term)) {
                *seen += 1;
            }
        }
        seen
    }

    /// The indices of all positions.
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
const _: () = assert!(MAX_PHASE == 256 && SCALE_NORMAL == 64, "these constants are equal");

/// A score to query the scale, which depends only on its sign.
const LEAD: i32 = 100;

impl Example<'_> {
    /// The scale of a score, from 0 to 1.
    pub(super) fn share(&self, value: f32) -> f32 {
        let [second, first] = self.shares;
        f32::from(if value < 0.0 { second } else { first }) / WHOLE_VALUE
    }

    /// The weights of the position and their counts.
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

/// Sums the counts of each weight, so that terms that cancel out need no memory.
#[derive(Debug, Default)]
struct Sums {
    counts: Vec<i32>,
    touched: Vec<u32>,
}

impl Terms for Sums {
    fn add(&mut self, weight: usize, count: i32) {
        if let (Some(sum), Ok(number)) = (self.counts.get_mut(weight), u32::try_from(weight)) {
            // A weight that cancels out and occurs again is listed twice, which is harmless.
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
