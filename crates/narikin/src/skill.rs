//! Limited strength.
//!
//! A weaker level searches fewer nodes and misjudges lines by some centipawns. Both change smoothly
//! with the level, so that a higher level is never weaker by design. The ratings of the levels were
//! measured in matches (`docs/strength.md`). Every move was searched, and mates found by the search
//! are never misjudged, so errors resemble those of humans.
//!
//! Errors have a Gumbel distribution, which makes the choice a softmax over the scores (Luce 1959).
//! They depend on the game, the position and the move only, so that a repeated search has the same
//! result.

use std::ops::RangeInclusive;

use readyok_rules::{Game, Move};

use crate::Score;

/// Supported Elo ratings.
pub(crate) const ELO: RangeInclusive<i64> = 800..=2800;

/// Supported ranks: kyu (below 0) and amateur dan (above 0); 0 counts as 1 kyu.
pub(crate) const RANKS: RangeInclusive<i64> = -15..=9;

/// Number of candidate lines, reduced by one per step near full strength. Each line costs nodes, so
/// the last step must not drop four.
const LINES: usize = 5;
const STEP: f64 = 1.0 / 16.0;

/// The lower half of the levels chooses from more lines, as the best five moves are seldom bad;
/// these are the numbers of level 0.
const MAX_LINES: usize = 20;
const MAX_LINES_SHOGI: usize = 50;

/// Nodes of level 0, and how often level 1 doubles them.
const MIN_NODES: f64 = 200.0;
const DOUBLINGS: f64 = 8.0;

/// Nodes per legal move and candidate line that a search of all moves at depth 1 needs. Levels with
/// fewer nodes search depth 1 only.
const NODES_PER_MOVE: usize = 2;

/// Error scale of level 0 in centipawns; level 1 and above have none. Shogi has larger swings.
const MAX_ERROR: f64 = 400.0;
const MAX_ERROR_SHOGI: f64 = 900.0;

/// A rating and its level, interpolated linearly.
type Calibration = (i64, f64);

/// Chess: measured in matches against limited Stockfish 15.1 and between levels
/// (`benches/narikin/strength.py`). The last entry is extrapolated.
const CHESS: [Calibration; 11] = [
    (290, 0.0),
    (540, 0.125),
    (775, 0.25),
    (1075, 0.375),
    (1245, 0.4375),
    (1560, 0.5),
    (1995, 0.625),
    (2310, 0.75),
    (2530, 0.875),
    (2725, 1.0),
    (2895, 1.125),
];

/// Shogi: measured in matches between levels, so only differences are meaningful. They overestimate
/// differences, so half of the deviation from the previous table is corrected.
const SHOGI: [Calibration; 9] = [
    (315, 0.0),
    (575, 0.16),
    (910, 0.30),
    (1285, 0.42),
    (1695, 0.505),
    (2000, 0.65),
    (2340, 0.79),
    (2640, 0.92),
    (2800, 1.0),
];

/// The rating of 1 dan in shogi, and the difference between ranks: "roughly 100 Elo points" in
/// Japan and Europe (`shogi.net/arc/shogi-l/shogi_ranking.txt`).
const FIRST_DAN: i64 = 2000;
const RANK: i64 = 100;

/// Larger scores are decided.
const DECIDED: i32 = 2_000;

/// A playing strength.
#[derive(Debug, Clone, Copy, PartialEq)]
pub(crate) struct Skill {
    /// At least 0. From 1 on there are no errors, only fewer nodes.
    level: f64,
    game: Game,
    /// Differs between games.
    seed: u64,
}

impl Skill {
    /// The level of an Elo rating.
    pub(crate) fn of_elo(elo: i64, game: Game, seed: u64) -> Self {
        let table: &[Calibration] = if game == Game::Shogi { &SHOGI } else { &CHESS };
        Self { level: level(elo, table), game, seed }
    }

    /// The level of a kyu or dan. Ranks have equal distances; 1 dan follows 1 kyu.
    pub(crate) fn of_rank(rank: i64, seed: u64) -> Self {
        let steps = if rank > 0 { rank - 1 } else { rank.min(-1) };
        Self::of_elo(FIRST_DAN + RANK * steps, Game::Shogi, seed)
    }

    /// The search limits for this number of legal moves.
    pub(crate) fn node_budget(&self, moves: usize) -> NodeBudget {
        #[expect(clippy::cast_possible_truncation, clippy::cast_sign_loss, reason = "positive")]
        let nodes = (MIN_NODES * (self.level * DOUBLINGS).exp2()) as u64;
        let once = NODES_PER_MOVE.saturating_mul(moves).saturating_mul(self.lines());
        let once = u64::try_from(once).unwrap_or(u64::MAX);
        if nodes < once {
            NodeBudget { nodes: Some(once), depth: Some(1) }
        } else {
            NodeBudget { nodes: Some(nodes), depth: None }
        }
    }

    /// The number of candidate lines.
    pub(crate) fn lines(&self) -> usize {
        #[expect(clippy::cast_possible_truncation, clippy::cast_sign_loss, reason = "not below 0")]
        let others = ((1.0 - self.level) / STEP).ceil() as usize;
        let lines = LINES.min(1 + others);
        if self.level >= 0.5 {
            return lines;
        }
        let max = if self.game == Game::Shogi { MAX_LINES_SHOGI } else { MAX_LINES };
        #[expect(clippy::cast_possible_truncation, clippy::cast_sign_loss, reason = "not below 0")]
        #[expect(clippy::cast_precision_loss, reason = "a small encode")]
        let more = ((max - LINES) as f64 * (1.0 - 2.0 * self.level)).round() as usize;
        lines + more
    }

    /// The scale of errors in centipawns.
    fn error(&self) -> f64 {
        let max = if self.game == Game::Shogi { MAX_ERROR_SHOGI } else { MAX_ERROR };
        max * (1.0 - self.level).max(0.0).powi(2)
    }

    /// The index of the line to play; none without lines.
    pub(crate) fn choose(&self, key: u64, lines: &[(Move, Score)]) -> Option<usize> {
        let misjudged = lines.iter().map(|&(mv, score)| match score {
            // Mates are never misjudged.
            Score::Wins { plies } => f64::from(DECIDED) * 10.0 - f64::from(plies),
            Score::Loses { plies } => f64::from(plies) - f64::from(DECIDED) * 10.0,
            Score::Centipawns(value) => {
                f64::from(value.clamp(-DECIDED, DECIDED)) + self.error() * self.gumbel(key, mv)
            }
        });
        let best = misjudged.enumerate().max_by(|(_, a), (_, b)| a.total_cmp(b));
        best.map(|(index, _)| index)
    }

    /// A sample of the standard Gumbel distribution.
    fn gumbel(&self, key: u64, mv: Move) -> f64 {
        let mv = encode(mv);
        let seed = mix(self.seed ^ mix(key ^ mix(mv)));
        // 52 bits fit, and the half step excludes 0 and 1.
        #[expect(clippy::cast_precision_loss, reason = "52 bits fit")]
        let uniform = ((seed >> 12) as f64 + 0.5) / (1_u64 << 52) as f64;
        -(-uniform.ln()).ln()
    }
}

/// Search limits of a level.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub(crate) struct NodeBudget {
    /// Maximum number of nodes.
    pub(crate) nodes: Option<u64>,
    /// Maximum depth in plies.
    pub(crate) depth: Option<u32>,
}

/// The level of a rating, clamped to the table.
fn level(rating: i64, table: &[Calibration]) -> f64 {
    let above = table.partition_point(|&(known, _)| known <= rating);
    let next = table.get(above);
    let (Some(&(low, from)), Some(&(high, to))) =
        (above.checked_sub(1).and_then(|index| table.get(index)), next)
    else {
        let nearest = if next.is_some() { table.first() } else { table.last() };
        return nearest.map_or(0.0, |&(_, level)| level);
    };
    #[expect(clippy::cast_precision_loss, reason = "ratings are small")]
    let part = (rating - low) as f64 / (high - low) as f64;
    from + part * (to - from)
}

/// An encoding of a move, unique in its position.
fn encode(mv: Move) -> u64 {
    match mv {
        Move::Shogi(mv) => mv.raw().into(),
        Move::Chess(mv) => {
            let from = mv.from().map_or(0, u64::from);
            let promotion = mv.promotion().map_or(0, u64::from);
            from | u64::from(mv.to()) << 6 | promotion << 12
        }
    }
}

/// The mixing function of `SplitMix64` (Steele, Lea and Flood 2014, doi 10.1145/2660193.2660195).
fn mix(encode: u64) -> u64 {
    let mut mix = encode.wrapping_add(0x9e37_79b9_7f4a_7c15);
    mix = (mix ^ (mix >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
    mix = (mix ^ (mix >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
    mix ^ (mix >> 31)
}

#[cfg(test)]
mod tests {
    use super::*;
    use readyok_rules::Position;

    fn lines(scores: &[Score]) -> Vec<(Move, Score)> {
        Position::start(Game::Chess).legal_moves().into_iter().zip(scores.iter().copied()).collect()
    }

    /// The average loss compared with the best line.
    fn loss(strength: &Skill, values: [i32; 5]) -> f64 {
        let lines = lines(&values.map(Score::Centipawns));
        let lost = (0..2_000).filter_map(|key| {
            let chosen = strength.choose(key, &lines)?;
            Some(f64::from(values[0] - values[chosen]))
        });
        lost.sum::<f64>() / 2_000.0
    }

    #[test]
    fn higher_ratings_search_more_and_misjudge_less() {
        for (game, table) in [(Game::Chess, &CHESS[..]), (Game::Shogi, &SHOGI)] {
            let lowest = table.first().map_or(0, |&(rating, _)| rating);
            let highest = table.last().map_or(0, |&(rating, _)| rating);
            let all: Vec<_> =
                (lowest..=highest).step_by(10).map(|elo| Skill::of_elo(elo, game, 7)).collect();
            for pair in all.windows(2) {
                assert!(pair[0].lines() >= pair[1].lines(), "{pair:?}");
                for moves in [20, 100, 500] {
                    let (weaker, stronger) =
                        (pair[0].node_budget(moves), pair[1].node_budget(moves));
                    let plies = |node_budget: NodeBudget| node_budget.depth.unwrap_or(u32::MAX);
                    assert!(plies(weaker) <= plies(stronger), "{pair:?}");
                    // A search of depth 1 has no other node limit.
                    let further = stronger.depth.is_none();
                    assert!(!further || weaker.depth.is_some() || weaker.nodes < stronger.nodes);
                }
                assert!(pair[0].error() > pair[1].error() || pair[1].error() == 0.0, "{pair:?}");
            }
            for values in [[30, 20, 10, 0, -10], [100, 0, -100, -300, -900]] {
                let losses: Vec<_> =
                    all.iter().step_by(10).map(|strength| loss(strength, values)).collect();
                assert!(losses.is_sorted_by(|weaker, stronger| weaker >= stronger), "{losses:?}");
            }
            let strongest = Skill::of_elo(highest, game, 7);
            assert_eq!((strongest.lines(), loss(&strongest, [30, 29, 0, 0, 0])), (1, 0.0));
            // Ratings outside the table are clamped.
            assert_eq!(Skill::of_elo(9_999, game, 7), strongest);
            assert_eq!(Skill::of_elo(0, game, 7), Skill::of_elo(lowest, game, 7));
        }
    }

    #[test]
    fn ratings_are_interpolated_between_measured_levels() {
        assert!(CHESS[0].0 <= *ELO.start() && *ELO.end() <= CHESS[CHESS.len() - 1].0);
        for &(rating, level) in &CHESS {
            assert!((Skill::of_elo(rating, Game::Chess, 0).level - level).abs() < 1e-9);
        }
        for pair in CHESS.windows(2) {
            let ((low, from), (high, to)) = (pair[0], pair[1]);
            let between = Skill::of_elo(i64::midpoint(low, high), Game::Chess960, 0).level;
            assert!((between - f64::midpoint(from, to)).abs() < 0.01, "{pair:?}");
        }
    }

    #[test]
    fn ranks_are_evenly_spaced() {
        let of = |rank| Skill::of_rank(rank, 0);
        let rated = |rating| Skill::of_elo(rating, Game::Shogi, 0);
        assert_eq!((of(-15), of(-1)), (rated(500), rated(1900)));
        assert_eq!((of(1), of(9)), (rated(2000), rated(2800)));
        assert_eq!(of(0), of(-1));
        assert!(SHOGI[0].0 <= 500 && SHOGI[SHOGI.len() - 1].0 >= 2800);
    }

    #[test]
    fn the_weakest_level_seldom_loses_a_rook() {
        let weakest = Skill { level: 0.0, game: Game::Chess, seed: 1 };
        let lines = lines(&[Score::Centipawns(20), Score::Centipawns(-480)]);
        let thrown = (0..10_000).filter(|&key| weakest.choose(key, &lines) == Some(1)).count();
        // The expected fraction is 1 / (1 + exp(500 / 400)).
        assert!((2_050..2_400).contains(&thrown), "{thrown}");
    }

    #[test]
    fn mates_are_played_and_delayed_correctly() {
        let weakest = Skill { level: 0.0, game: Game::Chess, seed: 1 };
        let (near, far) = (Score::Wins { plies: 1 }, Score::Wins { plies: 3 });
        let lost = [Score::Loses { plies: 2 }, Score::Loses { plies: 8 }];
        for key in 0..100 {
            let mates = lines(&[Score::Centipawns(2_500), far, near]);
            assert_eq!(weakest.choose(key, &mates), Some(2));
            assert_eq!(weakest.choose(key, &lines(&lost)), Some(1));
        }
        assert_eq!(weakest.choose(0, &[]), None);
    }

    #[test]
    fn errors_depend_on_the_game() {
        let lines = lines(&[10, 5, 0, -5, -10].map(Score::Centipawns));
        let choices = |game| -> Vec<_> {
            let weakest = Skill::of_elo(800, Game::Chess, game);
            (0..50).map(|key| weakest.choose(key, &lines)).collect()
        };
        assert_eq!(choices(1), choices(1));
        assert_ne!(choices(1), choices(2));
    }
}
