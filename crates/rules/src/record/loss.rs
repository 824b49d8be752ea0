//! Content of a record that a format cannot hold, as the writers report it.

use std::fmt;

use super::{Annotations, Feature, GameRecord, NodeId, RecordMove};

/// The text of a record, and what it cannot hold.
pub(super) struct Written {
    pub(super) text: String,
    pub(super) losses: Losses,
}

/// A kind of content that a writer omitted because the format cannot hold it.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
#[non_exhaustive]
pub enum Loss {
    /// Moves of the main line: a null move and those after it, or an illegal move at the end.
    Moves,
    /// Annotations of a kind.
    Annotations(Feature),
    /// Remaining times; the times of moves are written.
    RemainingTimes,
    /// Fractions of seconds.
    Fractions,
    /// Headers.
    Headers,
    /// The result, or what ended the game or a variation.
    Result,
}

impl Loss {
    /// All kinds.
    pub const ALL: [Self; 11] = [
        Self::Moves,
        Self::Annotations(Feature::Variations),
        Self::Annotations(Feature::Comments),
        Self::Annotations(Feature::Nags),
        Self::Annotations(Feature::Marks),
        Self::Annotations(Feature::Evaluations),
        Self::Annotations(Feature::Clocks),
        Self::RemainingTimes,
        Self::Fractions,
        Self::Headers,
        Self::Result,
    ];

    fn bit(self) -> u16 {
        Self::ALL.iter().position(|known| *known == self).map_or(0, |index| 1 << index)
    }
}

impl fmt::Display for Loss {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Self::Moves => "moves",
            Self::Annotations(Feature::Variations) => "variations",
            Self::Annotations(Feature::Comments) => "comments",
            Self::Annotations(Feature::Nags) => "glyphs",
            Self::Annotations(Feature::Marks) => "marked squares and arrows",
            Self::Annotations(Feature::Evaluations) => "evaluations",
            Self::Annotations(Feature::Clocks) => "times",
            Self::RemainingTimes => "remaining times",
            Self::Fractions => "fractions of seconds",
            Self::Headers => "headers",
            Self::Result => "results",
        })
    }
}

/// What a writer omitted from a record.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Hash)]
pub struct Losses(u16);

impl Losses {
    /// The kinds of annotations that a record has. Formats that can hold none of them lose these.
    pub fn of_annotations(record: &GameRecord, features: &[Feature]) -> Self {
        let found = features.iter().filter(|feature| feature.is_in(record));
        found.map(|feature| Loss::Annotations(*feature)).collect()
    }

    /// Whether the format held everything.
    pub fn is_empty(self) -> bool {
        self.0 == 0
    }

    /// Whether content of a kind was omitted.
    pub fn contains(self, loss: Loss) -> bool {
        self.0 & loss.bit() != 0
    }

    /// All kinds of omitted content.
    pub fn iter(self) -> impl Iterator<Item = Loss> {
        Loss::ALL.into_iter().filter(move |loss| self.contains(*loss))
    }

    pub(super) fn add(&mut self, loss: Loss) {
        self.0 |= loss.bit();
    }

    pub(super) fn add_if(&mut self, is_lost: bool, loss: Loss) {
        if is_lost {
            self.add(loss);
        }
    }
}

impl FromIterator<Loss> for Losses {
    fn from_iter<T: IntoIterator<Item = Loss>>(losses: T) -> Self {
        let mut all = Self::default();
        losses.into_iter().for_each(|loss| all.add(loss));
        all
    }
}

/// The results that a format can hold.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum HeldResult {
    /// Every result.
    Any,
    /// A result with what ended the game.
    WithEnd,
    None,
}

/// What a format can hold. A format is described once, and its writer reports the losses of each record.
#[derive(Debug, Clone, Copy)]
#[expect(clippy::struct_excessive_bools, reason = "independent properties of a format")]
pub(super) struct Holds {
    pub(super) variations: bool,
    pub(super) nags: bool,
    pub(super) marks: bool,
    pub(super) illegal_moves: bool,
    /// Comments after a move. Only PGN holds those before a variation.
    pub(super) comments: bool,
    /// Comments on the end of the game.
    pub(super) end_comments: bool,
    pub(super) evaluations: bool,
    /// The depth of evaluations.
    pub(super) depths: bool,
    /// Times of moves in seconds.
    pub(super) times: bool,
    pub(super) fractions: bool,
    pub(super) headers: bool,
    pub(super) result: HeldResult,
}

impl Holds {
    /// A format with everything.
    pub(super) const ALL: Self = Self {
        variations: true,
        nags: true,
        marks: true,
        illegal_moves: true,
        comments: true,
        end_comments: true,
        evaluations: true,
        depths: true,
        times: true,
        fractions: true,
        headers: true,
        result: HeldResult::Any,
    };

    /// A format of shogi with all that most of them hold.
    pub(super) const SHOGI: Self =
        Self { nags: false, marks: false, fractions: false, ..Self::ALL };

    /// Start position and moves.
    pub(super) const MOVES: Self = Self {
        variations: false,
        nags: false,
        marks: false,
        illegal_moves: false,
        comments: false,
        end_comments: false,
        evaluations: false,
        depths: false,
        times: false,
        fractions: false,
        headers: false,
        result: HeldResult::None,
    };

    /// Whether the format can hold annotations of a kind.
    pub(super) fn has(&self, feature: Feature) -> bool {
        match feature {
            Feature::Comments => self.comments,
            Feature::Variations => self.variations,
            Feature::Nags => self.nags,
            Feature::Clocks => self.times,
            Feature::Evaluations => self.evaluations,
            Feature::Marks => self.marks,
        }
    }

    /// What a format of shogi, or of lines, cannot hold of a record. None of these formats holds null moves: a line ends before one,
    /// and has no variations of it.
    pub(super) fn losses(&self, record: &GameRecord) -> Losses {
        let mut losses = Losses::default();
        losses.add_if(!self.headers && !record.headers.is_empty(), Loss::Headers);
        let has_end = record.end().is_some();
        let is_result_held = match self.result {
            HeldResult::Any => true,
            HeldResult::WithEnd => has_end || record.result == crate::GameResult::Unknown,
            HeldResult::None => !has_end && record.result == crate::GameResult::Unknown,
        };
        losses.add_if(!is_result_held, Loss::Result);
        let has_time = record.annotations(NodeId::ROOT).elapsed.is_some();
        losses.add_if(has_time, Loss::Annotations(Feature::Clocks));
        let mut pending = vec![(NodeId::ROOT, true)];
        while let Some((id, is_main)) = pending.pop() {
            self.losses_of(record.annotations(id), &mut losses);
            let of_line =
                if is_main { Loss::Moves } else { Loss::Annotations(Feature::Variations) };
            let mut children = record.children(id);
            let Some(first) = children.next() else { continue };
            let has_first = self.holds(first.mv());
            if has_first {
                pending.push((first.id(), is_main));
            } else {
                losses.add(of_line);
            }
            for variation in children {
                if self.variations && has_first && self.holds(variation.mv()) {
                    pending.push((variation.id(), false));
                } else {
                    losses.add(Loss::Annotations(Feature::Variations));
                }
            }
        }
        losses
    }

    fn holds(&self, mv: Option<RecordMove>) -> bool {
        match mv {
            Some(RecordMove::Legal(_)) => true,
            Some(RecordMove::Illegal(_)) => self.illegal_moves,
            Some(RecordMove::Null) | None => false,
        }
    }

    fn losses_of(&self, notes: &Annotations, losses: &mut Losses) {
        if notes.is_empty() {
            return;
        }
        let end = notes.end.as_ref();
        let end_elapsed = end.and_then(|end| end.elapsed);
        let has_comments = !notes.before.is_empty()
            || (!self.comments && !notes.comments.is_empty())
            || (!self.end_comments && end.is_some_and(|end| !end.comments.is_empty()));
        losses.add_if(has_comments, Loss::Annotations(Feature::Comments));
        losses.add_if(!notes.nags.is_empty(), Loss::Annotations(Feature::Nags));
        losses.add_if(!notes.marks.is_empty(), Loss::Annotations(Feature::Marks));
        let has_evaluation = notes.evaluation.is_some();
        losses.add_if(has_evaluation && !self.evaluations, Loss::Annotations(Feature::Evaluations));
        let elapsed = notes.elapsed.or(end_elapsed);
        if self.times {
            losses.add_if(notes.clock.is_some(), Loss::RemainingTimes);
            let has_fraction = [notes.elapsed, end_elapsed]
                .into_iter()
                .flatten()
                .any(|time| time.subsec_nanos() > 0);
            losses.add_if(has_fraction && !self.fractions, Loss::Fractions);
        } else {
            let has_times = notes.clock.is_some() || elapsed.is_some();
            losses.add_if(has_times, Loss::Annotations(Feature::Clocks));
        }
    }
}
