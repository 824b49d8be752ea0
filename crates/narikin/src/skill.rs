//! Playing no better than asked for.
//!
//! A weaker player looks at fewer positions, and of what it has found it does not always play the
//! best: it misjudges each line by some centipawns. Both grow smoothly with the distance from full
//! strength, so that a higher level is never the weaker one on purpose. Which level is worth which
//! rating was measured in matches (`docs/strength.md`). Nothing is played that the
//! search has not looked at, and a mate that it has seen is not misjudged: errors are those of
//! people, who overlook and misjudge, and but for beginners seldom throw pieces away.
//!
//! The misjudgement of a line is drawn from the Gumbel distribution, which makes the choice one
//! between moves with probabilities that fall exponentially with what they lose (Luce 1959, the
//! "softmax"). It depends on nothing but the game, the position and the move: whoever asks again gets
//! the same answer.

use std::ops::RangeInclusive;

use readyok_rules::{Game, Move};

use crate::Score;

/// Elo ratings that can be asked for.
pub(crate) const ELO: RangeInclusive<i64> = 800..=2800;

/// Kyu (below 0) and amateur dan (above 0) that can be asked for; 0 counts as 1 kyu.
pub(crate) const RANKS: RangeInclusive<i64> = -15..=9;

/// So many lines are chosen from, up to the level from which on there is one less after each of these
/// steps: to look at five lines takes away so many positions that the last step must not leave out
/// four at once.
const LINES: usize = 5;
const STEP: f64 = 1.0 / 16.0;

/// The best five moves are seldom bad ones, least of all in shogi, where they are five of a hundred. So the lower half of
/// the levels chooses from more: level 0 from so many.
const MOST_LINES: usize = 20;
const MOST_LINES_SHOGI: usize = 50;

/// Positions that level 0 looks at, and how often level 1 doubles it.
const FEWEST_NODES: f64 = 200.0;
const DOUBLINGS: f64 = 8.0;

/// For each legal move and each line that is chosen from, this many more or less do to look at all moves
/// once. Who has looked at none would play blindly, as with many pieces in hand in shogi; so a
/// level that has fewer than that looks at each move, and no further.
const ONE_LOOK: usize = 2;

/// By how many centipawns level 0 misjudges a line, more or less; level 1 and those above by none. In shogi more is won
/// and lost with each move.
const LARGEST_ERROR: f64 = 400.0;
const LARGEST_ERROR_SHOGI: f64 = 900.0;

/// A rating and the level that has it. Between two of them, both grow evenly.
type Worth = (i64, f64);

/// In chess, by matches against limited Stockfish 15.1 and of the levels with each other
/// (`benches/narikin/strength.py`). The last one is where the others point to.
const CHESS: [Worth; 12] = [
    (270, 0.0),
    (510, 0.125),
    (745, 0.25),
    (1045, 0.375),
    (1215, 0.4375),
    (1500, 0.5),
    (1875, 0.625),
    (2180, 0.75),
    (2400, 0.875),
    (2540, 1.0),
    (2680, 1.125),
    (2820, 1.25),
];

/// In shogi, by matches of the levels with each other, so that only differences mean something. The
/// last one is where the others point to.
const SHOGI: [Worth; 9] = [
    (500, 0.0),
    (735, 0.13),
    (1020, 0.26),
    (1290, 0.39),
    (1750, 0.52),
    (2000, 0.65),
    (2280, 0.78),
    (2480, 0.875),
    (2800, 1.0),
];

/// The rating of 1 dan in shogi, and how much each kyu and dan is above the one before it: "roughly
/// 100 Elo points", in Japan as in Europe (`shogi.net/arc/shogi-l/shogi_ranking.txt`).
const FIRST_DAN: i64 = 2000;
const RANK: i64 = 100;

/// Beyond that many centipawns everything is won or lost.
const DECIDED: i32 = 2_000;

/// How well to play.
#[derive(Debug, Clone, Copy, PartialEq)]
pub(crate) struct Skill {
    /// From 0 on. From 1 on nothing is misjudged, and only more is looked at.
    level: f64,
    game: Game,
    /// Another one for each game.
    seed: u64,
}

impl Skill {
    /// The strength of an Elo rating. `seed` is another number for each game that is played.
    pub(crate) fn of_elo(elo: i64, game: Game, seed: u64) -> Self {
        let worths: &[Worth] = if game == Game::Shogi { &SHOGI } else { &CHESS };
        Self { level: level(elo, worths), game, seed }
    }

    /// The strength of a kyu or dan: each is as far from the next, and 1 dan follows 1 kyu.
    pub(crate) fn of_rank(rank: i64, seed: u64) -> Self {
        let steps = if rank > 0 { rank - 1 } else { rank.min(-1) };
        Self::of_elo(FIRST_DAN + RANK * steps, Game::Shogi, seed)
    }

    /// How much to look at, with so many legal moves.
    pub(crate) fn node_budget(&self, moves: usize) -> NodeBudget {
        #[expect(clippy::cast_possible_truncation, clippy::cast_sign_loss, reason = "positive")]
        let nodes = (FEWEST_NODES * (self.level * DOUBLINGS).exp2()) as u64;
        let once = ONE_LOOK.saturating_mul(moves).saturating_mul(self.lines());
        let once = u64::try_from(once).unwrap_or(u64::MAX);
        if nodes < once {
            NodeBudget { nodes: Some(once), depth: Some(1) }
        } else {
            NodeBudget { nodes: Some(nodes), depth: None }
        }
    }

    /// How many lines to choose from.
    pub(crate) fn lines(&self) -> usize {
        #[expect(clippy::cast_possible_truncation, clippy::cast_sign_loss, reason = "not below 0")]
        let others = ((1.0 - self.level) / STEP).ceil() as usize;
        let lines = LINES.min(1 + others);
        if self.level >= 0.5 {
            return lines;
        }
        let most = if self.game == Game::Shogi { MOST_LINES_SHOGI } else { MOST_LINES };
        #[expect(clippy::cast_possible_truncation, clippy::cast_sign_loss, reason = "not below 0")]
        #[expect(clippy::cast_precision_loss, reason = "a small number")]
        let more = ((most - LINES) as f64 * (1.0 - 2.0 * self.level)).round() as usize;
        lines + more
    }

    /// How much a line is misjudged by, in centipawns.
    fn error(&self) -> f64 {
        let largest = if self.game == Game::Shogi { LARGEST_ERROR_SHOGI } else { LARGEST_ERROR };
        largest * (1.0 - self.level).max(0.0).powi(2)
    }

    /// The index of the line to play in the position of this key. None if there are none.
    pub(crate) fn choose(&self, key: u64, lines: &[(Move, Score)]) -> Option<usize> {
        let misjudged = lines.iter().map(|&(mv, score)| match score {
            // Whoever sees a mate plays it, and the quickest one.
            Score::Wins { plies } => f64::from(DECIDED) * 10.0 - f64::from(plies),
            Score::Loses { plies } => f64::from(plies) - f64::from(DECIDED) * 10.0,
            Score::Centipawns(value) => {
                f64::from(value.clamp(-DECIDED, DECIDED)) + self.error() * self.gumbel(key, mv)
            }
        });
        let best = misjudged.enumerate().max_by(|(_, a), (_, b)| a.total_cmp(b));
        best.map(|(index, _)| index)
    }

    /// A number from the standard Gumbel distribution.
    fn gumbel(&self, key: u64, mv: Move) -> f64 {
        let mv = number(mv);
        let seed = mixed(self.seed ^ mixed(key ^ mixed(mv)));
        // 52 bits fit, and half a step more keeps it away from 0 and 1.
        #[expect(clippy::cast_precision_loss, reason = "52 bits fit")]
        let uniform = ((seed >> 12) as f64 + 0.5) / (1_u64 << 52) as f64;
        -(-uniform.ln()).ln()
    }
}

/// How much is looked at.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub(crate) struct NodeBudget {
    /// At most so many positions.
    pub(crate) nodes: Option<u64>,
    /// At most so many plies.
    pub(crate) depth: Option<u32>,
}

/// The level of a rating, or that of the nearest one that is known.
fn level(rating: i64, worths: &[Worth]) -> f64 {
    let above = worths.partition_point(|&(known, _)| known <= rating);
    let next = worths.get(above);
    let (Some(&(low, from)), Some(&(high, to))) =
        (above.checked_sub(1).and_then(|it| worths.get(it)), next)
    else {
        let nearest = if next.is_some() { worths.first() } else { worths.last() };
        return nearest.map_or(0.0, |&(_, level)| level);
    };
    #[expect(clippy::cast_precision_loss, reason = "ratings are small")]
    let part = (rating - low) as f64 / (high - low) as f64;
    from + part * (to - from)
}

/// A number for a move, unique among the moves of a position.
fn number(mv: Move) -> u64 {
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
fn mixed(number: u64) -> u64 {
    let mut mixed = number.wrapping_add(0x9e37_79b9_7f4a_7c15);
    mixed = (mixed ^ (mixed >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
    mixed = (mixed ^ (mixed >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
    mixed ^ (mixed >> 31)
}

#[cfg(test)]
mod tests {
    use super::*;
    use readyok_rules::Position;

    fn lines(scores: &[Score]) -> Vec<(Move, Score)> {
        Position::start(Game::Chess).legal_moves().into_iter().zip(scores.iter().copied()).collect()
    }

    /// What the choices lose beside the best line, on average.
    fn loss(strength: &Skill, values: [i32; 5]) -> f64 {
        let lines = lines(&values.map(Score::Centipawns));
        let lost = (0..2_000).filter_map(|key| {
            let chosen = strength.choose(key, &lines)?;
            Some(f64::from(values[0] - values[chosen]))
        });
        lost.sum::<f64>() / 2_000.0
    }

    #[test]
    fn higher_ratings_look_at_more_and_misjudge_less() {
        for (game, worths) in [(Game::Chess, &CHESS[..]), (Game::Shogi, &SHOGI)] {
            let lowest = worths.first().map_or(0, |&(rating, _)| rating);
            let highest = worths.last().map_or(0, |&(rating, _)| rating);
            let all: Vec<_> =
                (lowest..=highest).step_by(10).map(|elo| Skill::of_elo(elo, game, 7)).collect();
            for pair in all.windows(2) {
                assert!(pair[0].lines() >= pair[1].lines(), "{pair:?}");
                for moves in [20, 100, 500] {
                    let (weaker, stronger) =
                        (pair[0].node_budget(moves), pair[1].node_budget(moves));
                    let plies = |node_budget: NodeBudget| node_budget.depth.unwrap_or(u32::MAX);
                    assert!(plies(weaker) <= plies(stronger), "{pair:?}");
                    // Whoever looks at each move once looks at as many as it takes.
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
            // What is beyond plays as well as the last that is known.
            assert_eq!(Skill::of_elo(9_999, game, 7), strongest);
            assert_eq!(Skill::of_elo(0, game, 7), Skill::of_elo(lowest, game, 7));
        }
    }

    #[test]
    fn ratings_are_levels_that_were_measured_and_between_them_on_a_line() {
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
        assert_eq!((of(-15).level, of(9).level), (SHOGI[0].1, SHOGI[SHOGI.len() - 1].1));
    }

    #[test]
    fn even_the_weakest_seldom_throws_a_rook_away() {
        let weakest = Skill { level: 0.0, game: Game::Chess, seed: 1 };
        let lines = lines(&[Score::Centipawns(20), Score::Centipawns(-480)]);
        let thrown = (0..10_000).filter(|&key| weakest.choose(key, &lines) == Some(1)).count();
        // 1 / (1 + exp(500 / 400)) of them.
        assert!((2_050..2_400).contains(&thrown), "{thrown}");
    }

    #[test]
    fn a_mate_that_was_seen_is_played_and_one_against_it_put_off() {
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
    fn the_same_game_gives_the_same_errors_and_another_game_others() {
        let lines = lines(&[10, 5, 0, -5, -10].map(Score::Centipawns));
        let choices = |game| -> Vec<_> {
            let weakest = Skill::of_elo(800, Game::Chess, game);
            (0..50).map(|key| weakest.choose(key, &lines)).collect()
        };
        assert_eq!(choices(1), choices(1));
        assert_ne!(choices(1), choices(2));
    }
}
