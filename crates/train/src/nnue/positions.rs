//! Positions in the form in which networks read them.

use narikin::network::Features;
use readyok_rules::Side;

/// Positions with their features, scores and results.
#[derive(Debug, Default, Clone, PartialEq, Eq)]
pub struct Positions {
    /// For each position, the features of the side to move, then as many of its opponent.
    features: Vec<u16>,
    entries: Vec<PositionEntry>,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
struct PositionEntry {
    start: u32,
    score: i16,
    /// The number of features of one perspective.
    count: u8,
    bucket: u8,
    /// Half points of the side to move.
    half_points: u8,
}

#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Position<'a> {
    /// The active features from the perspective of the side to move.
    pub ours: &'a [u16],
    /// The active features from the perspective of the opponent.
    pub theirs: &'a [u16],
    /// The output bucket.
    pub bucket: usize,
    /// The score for the side to move, in centipawns.
    pub score: f32,
    /// The result for the side to move: 0, ½ or 1.
    pub points: f32,
}

impl Positions {
    /// Adds a position with its score for the side to move and the winner of its game. A position is
    /// ignored if 2^32 features are exceeded.
    pub fn push(&mut self, board: &impl Features, score: i16, winner: Option<Side>) {
        let Ok(start) = u32::try_from(self.features.len()) else { return };
        let turn = board.turn();
        for side in [turn, turn.other()] {
            board.features(side, |feature| {
                self.features.push(u16::try_from(feature).unwrap_or(u16::MAX));
            });
        }
        let count = (self.features.len() - start as usize) / 2;
        let half_points = winner.map_or(1, |winner| if winner == turn { 2 } else { 0 });
        self.entries.push(PositionEntry {
            start,
            score,
            count: u8::try_from(count).unwrap_or(u8::MAX),
            bucket: u8::try_from(board.output_bucket()).unwrap_or(0),
            half_points,
        });
    }

    /// The number of positions.
    pub fn len(&self) -> usize {
        self.entries.len()
    }

    /// Whether there are no positions.
    pub fn is_empty(&self) -> bool {
        self.entries.is_empty()
    }

    /// The position of an index below [`len`](Self::len).
    #[inline]
    pub fn get(&self, index: usize) -> Position<'_> {
        let entry = &self.entries[index];
        let (start, count) = (entry.start as usize, usize::from(entry.count));
        let (ours, theirs) = self.features[start..start + 2 * count].split_at(count);
        Position {
            ours,
            theirs,
            bucket: entry.bucket.into(),
            score: entry.score.into(),
            points: f32::from(entry.half_points) * 0.5,
        }
    }
}
