//! Search features that can be disabled one by one to measure their effect, in builds with the feature `ablation`.
//!
//! In all other builds `enabled!` is `true`, and this module does not exist.

use std::sync::atomic::{AtomicU64, Ordering::Relaxed};

macro_rules! features {
    ($($variant:ident = $name:literal,)+) => {
        /// A feature of the search.
        #[derive(Debug, Clone, Copy, PartialEq, Eq)]
        pub(crate) enum Feature {
            $($variant,)+
        }

        const NAMES: &[(Feature, &str)] = &[$((Feature::$variant, $name),)+];
    };
}

features! {
    AspirationWindows = "aspiration-windows",
    UpcomingRepetition = "upcoming-repetition",
    MateDistance = "mate-distance",
    TtCutoff = "tt-cutoff",
    MateInOne = "mate-in-one",
    CorrectionHistory = "correction-history",
    ReverseFutility = "reverse-futility",
    Razoring = "razoring",
    NullMove = "null-move",
    NullMoveVerification = "null-move-verification",
    ProbCut = "probcut",
    Killers = "killers",
    ButterflyHistory = "butterfly-history",
    ThreatHistory = "threat-history",
    ContinuationHistory = "continuation-history",
    CaptureHistory = "capture-history",
    Malus = "malus",
    CheckBonus = "check-bonus",
    LateMovePruning = "late-move-pruning",
    Futility = "futility",
    HistoryPruning = "history-pruning",
    SeePruning = "see-pruning",
    SingularExtension = "singular-extension",
    DoubleExtension = "double-extension",
    Multicut = "multicut",
    LateMoveReductions = "late-move-reductions",
    AlphaRaiseReduction = "alpha-raise-reduction",
    DeltaPruning = "delta-pruning",
    QsearchMoveLimit = "qsearch-move-limit",
    QsearchSee = "qsearch-see",
    QsearchChecks = "qsearch-checks",
    RootMateSearch = "root-mates",
    RootOrder = "root-order",
    DropOrder = "drop-order",
    Hindsight = "hindsight",
    TripleExtension = "triple-extension",
    FailLowBonus = "fail-low-bonus",
    TtCaptureReduction = "tt-capture-reduction",
    CutNodeReduction = "cut-node-reduction",
    FailHighSoftening = "fail-high-softening",
    ExactBonus = "exact-bonus",
    QsearchFutility = "qsearch-futility",
    ThreadVote = "thread-vote",
}

/// Whether a feature of the search is enabled.
macro_rules! enabled {
    ($feature:ident) => {
        $crate::ablation::is_enabled($crate::ablation::Feature::$feature)
    };
}

/// One bit per disabled feature.
static DISABLED: AtomicU64 = AtomicU64::new(0);

pub(crate) fn is_enabled(feature: Feature) -> bool {
    DISABLED.load(Relaxed) & bit(feature) == 0
}

fn bit(feature: Feature) -> u64 {
    1 << feature as u32
}

/// Parses names separated by commas.
fn parse(names: &str) -> Result<u64, UnknownFeature> {
    names.split(',').filter(|name| !name.is_empty()).try_fold(0, |bits, name| {
        let found = NAMES.iter().find(|(_, known)| *known == name);
        let &(feature, _) = found.ok_or_else(|| UnknownFeature(name.to_owned()))?;
        Ok(bits | bit(feature))
    })
}

/// Disables the named features, separated by commas, in all searches of this process. All other
/// features are enabled.
///
/// # Errors
/// A name is unknown. Nothing is changed.
pub fn disable_features(names: &str) -> Result<(), UnknownFeature> {
    DISABLED.store(parse(names)?, Relaxed);
    Ok(())
}

/// The search has no feature of this name.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("unknown search feature `{}`; known are {}", .0.escape_debug(), known_features())]
pub struct UnknownFeature(String);

fn known_features() -> String {
    NAMES.iter().map(|(_, name)| *name).collect::<Vec<_>>().join(" ")
}

#[cfg(test)]
mod tests {
    use super::{Feature, NAMES, bit, parse};

    #[test]
    fn parses_names_separated_by_commas() {
        assert_eq!(parse(""), Ok(0));
        let both = bit(Feature::NullMove) | bit(Feature::Malus);
        assert_eq!(parse("null-move,malus"), Ok(both));
        let unknown = parse("null-move,luck").map_err(|error| error.to_string());
        assert!(unknown.is_err_and(|text| text.contains("`luck`") && text.contains("probcut")));
    }

    #[test]
    fn each_feature_has_its_own_bit() {
        let all = NAMES.iter().fold(0, |bits, &(feature, _)| bits | bit(feature));
        assert_eq!(all.count_ones() as usize, NAMES.len());
    }
}
