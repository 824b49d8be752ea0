//! Texts of the writers: values in one line, comments, and total times.

use std::time::Duration;

use crate::Side;

use super::super::Annotations;
use super::{evaluation_lines, flat_comment};

/// A text without line ends and control characters.
pub(in super::super) fn one_line(text: &str) -> String {
    text.replace(char::is_control, " ").trim().to_owned()
}

/// The evaluation and the comments as one text.
pub(in super::super) fn comment_text(notes: &Annotations) -> String {
    // Readers use the first evaluation.
    let mut lines = evaluation_lines(notes.evaluation);
    lines.push(flat_comment(notes));
    lines.retain(|text| !text.is_empty());
    lines.join("\n")
}

/// The total times of both sides, in seconds.
pub(in super::super) struct Totals {
    first: Side,
    /// Those before each move of the line.
    sums: Vec<[u64; 2]>,
}

impl Totals {
    /// The totals of a game that this side begins.
    pub(in super::super) fn new(first: Side) -> Self {
        Self { first, sums: vec![[0; 2]] }
    }

    /// Goes back to a number of moves.
    pub(in super::super) fn back_to(&mut self, ply: usize) {
        self.sums.truncate(ply + 1);
    }

    /// The total of the side that makes a move of this number.
    pub(in super::super) fn with(&self, elapsed: Option<Duration>, ply: usize) -> u64 {
        self.sums_with(elapsed, ply).1
    }

    pub(in super::super) fn add(&mut self, elapsed: Option<Duration>, ply: usize) -> u64 {
        let (sums, total) = self.sums_with(elapsed, ply);
        self.sums.push(sums);
        total
    }

    fn sums_with(&self, elapsed: Option<Duration>, ply: usize) -> ([u64; 2], u64) {
        let mut sums = self.sums.last().copied().unwrap_or_default();
        let [first, second] = &mut sums;
        let is_first = ply.is_multiple_of(2) == (self.first == Side::Second);
        let sum = if is_first { first } else { second };
        *sum = sum.saturating_add(elapsed.map_or(0, |time| time.as_secs()));
        let total = *sum;
        (sums, total)
    }
}
