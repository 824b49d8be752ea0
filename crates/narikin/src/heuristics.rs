//! The parts of the search by name, so that each can be left out to measure what it brings.
//!
//! Only a build with the feature `ablation` leaves anything out. In all others the answer is a
//! constant, and the compiler removes the question.

macro_rules! heuristics {
    ($($name:ident = $word:literal,)+) => {
        /// A part of the search that it could do without.
        #[derive(Debug, Clone, Copy, PartialEq, Eq)]
        pub(crate) enum Heuristic {
            $($name,)+
        }

        /// What each is called by those who leave it out.
        #[cfg(feature = "ablation")]
        const WORDS: &[(Heuristic, &str)] = &[$((Heuristic::$name, $word),)+];
    };
}

heuristics! {
    AspirationWindows = "aspiration-windows",
    UpcomingRepetition = "upcoming-repetition",
    MateDistance = "mate-distance",
    TableCut = "table-cut",
    MateInOne = "mate-in-one",
    CorrectionHistory = "correction-history",
    ReverseFutility = "reverse-futility",
    Razoring = "razoring",
    NullMove = "null-move",
    Verification = "verification",
    ProbCut = "probcut",
    Killers = "killers",
    ButterflyHistory = "butterfly-history",
    ContinuationHistory = "continuation-history",
    CaptureHistory = "capture-history",
    Malus = "malus",
    CheckBonus = "check-bonus",
    LateMovePruning = "late-move-pruning",
    Futility = "futility",
    HistoryPruning = "history-pruning",
    ExchangePruning = "exchange-pruning",
    SingularExtension = "singular-extension",
    DoubleExtension = "double-extension",
    Multicut = "multicut",
    LateMoveReductions = "late-move-reductions",
    ShallowerAfterBest = "shallower-after-best",
    DeltaPruning = "delta-pruning",
    NarrowQuiescence = "narrow-quiescence",
    QuiescenceExchange = "quiescence-exchange",
    QuiescenceChecks = "quiescence-checks",
    RootMates = "root-mates",
    RootOrder = "root-order",
    DropOrder = "drop-order",
    Hindsight = "hindsight",
    TripleExtension = "triple-extension",
    RewardAllowed = "reward-allowed",
    TableCapture = "table-capture",
    CutUnknown = "cut-unknown",
    SoftHigh = "soft-high",
    LearnExact = "learn-exact",
    CaptureEnough = "capture-enough",
}

/// Whether the search makes use of this.
#[cfg(not(feature = "ablation"))]
pub(crate) const fn uses(_heuristic: Heuristic) -> bool {
    true
}

#[cfg(feature = "ablation")]
pub(crate) use self::ablation::uses;
#[cfg(feature = "ablation")]
pub use self::ablation::{UnknownHeuristic, leave_out};

#[cfg(feature = "ablation")]
mod ablation {
    use std::{
        error::Error,
        fmt,
        sync::atomic::{AtomicU64, Ordering::Relaxed},
    };

    use super::{Heuristic, WORDS};

    /// A bit for each.
    static LEFT_OUT: AtomicU64 = AtomicU64::new(0);

    /// Whether the search makes use of this.
    pub(crate) fn uses(heuristic: Heuristic) -> bool {
        LEFT_OUT.load(Relaxed) & bit(heuristic) == 0
    }

    fn bit(heuristic: Heuristic) -> u64 {
        1 << heuristic as u32
    }

    /// The parts that words with commas between them name.
    fn named(words: &str) -> Result<u64, UnknownHeuristic> {
        words.split(',').filter(|word| !word.is_empty()).try_fold(0, |bits, word| {
            let found = WORDS.iter().find(|(_, known)| *known == word);
            let &(heuristic, _) = found.ok_or_else(|| UnknownHeuristic(word.to_owned()))?;
            Ok(bits | bit(heuristic))
        })
    }

    /// All searches of this process do without the parts that these words name, with commas between
    /// them, from now on.
    ///
    /// # Errors
    /// There is no part of that name. Everything stays as it was.
    pub fn leave_out(words: &str) -> Result<(), UnknownHeuristic> {
        LEFT_OUT.store(named(words)?, Relaxed);
        Ok(())
    }

    /// No part of the search is called so.
    #[derive(Debug, Clone, PartialEq, Eq)]
    pub struct UnknownHeuristic(String);

    impl fmt::Display for UnknownHeuristic {
        fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
            write!(f, "no part of the search is called `{}`; there are", self.0.escape_debug())?;
            WORDS.iter().try_for_each(|(_, word)| write!(f, " {word}"))
        }
    }

    impl Error for UnknownHeuristic {}

    #[cfg(test)]
    mod tests {
        use super::{Heuristic, WORDS, bit, named};

        #[test]
        fn names_are_read_one_by_one() {
            assert_eq!(named(""), Ok(0));
            let both = bit(Heuristic::NullMove) | bit(Heuristic::Malus);
            assert_eq!(named("null-move,malus"), Ok(both));
            let unknown = named("null-move,luck").map_err(|error| error.to_string());
            assert!(unknown.is_err_and(|text| text.contains("`luck`") && text.contains("probcut")));
        }

        #[test]
        fn each_has_a_bit_of_its_own() {
            let all = WORDS.iter().fold(0, |bits, &(heuristic, _)| bits | bit(heuristic));
            assert_eq!(all.count_ones() as usize, WORDS.len());
        }
    }
}
