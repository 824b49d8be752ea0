//! Playing no better than asked for.
//!
//! A weaker player looks at fewer positions, and of what it has found it does not always play the
//! best: it misjudges each line by some centipawns. Both grow smoothly with the distance from full
//! strength, so that a higher level is never the weaker one on purpose. Nothing is played that the
//! search has not looked at, and a mate that it has seen is not misjudged: errors are those of
//! people, who overlook and misjudge, and do not throw pieces away.
//!
//! The misjudgement of a line is drawn from the Gumbel distribution, which makes the choice one
//! between moves with probabilities that fall exponentially with what they lose (Luce 1959, the
//! "softmax"). It depends on nothing but the game, the position and the move: whoever asks again gets
//! the same answer.

use std::ops::RangeInclusive;

use readyok_rules::Move;

use crate::Score;

/// Elo ratings that can be asked for.
pub(crate) const ELO: RangeInclusive<i64> = 800..=2800;

/// Kyu (below 0) and amateur dan (above 0) that can be asked for; 0 counts as 1 kyu.
pub(crate) const RANKS: RangeInclusive<i64> = -15..=9;

/// So many lines are chosen from.
const LINES: usize = 5;

/// Positions that the weakest level looks at, and how often the strongest doubles it.
const FEWEST_NODES: f64 = 800.0;
const DOUBLINGS: f64 = 11.0;

/// By how many centipawns the weakest level misjudges a line, more or less.
const LARGEST_ERROR: f64 = 160.0;

/// Beyond that many centipawns everything is won or lost.
const DECIDED: i32 = 2_000;

/// How well to play.
#[derive(Debug, Clone, Copy, PartialEq)]
pub(crate) struct Strength {
    /// From 0 to 1.
    level: f64,
    /// Another one for each game.
    game: u64,
}

impl Strength {
    /// The strength of an Elo rating.
    pub(crate) fn of_elo(elo: i64, game: u64) -> Self {
        Self { level: part(elo - ELO.start(), ELO.end() - ELO.start()), game }
    }

    /// The strength of a kyu or dan: each is as far from the next, and 1 dan follows 1 kyu.
    pub(crate) fn of_rank(rank: i64, game: u64) -> Self {
        let steps = |rank: i64| if rank > 0 { rank - 1 } else { rank.min(-1) };
        let (lowest, highest) = (steps(*RANKS.start()), steps(*RANKS.end()));
        Self { level: part(steps(rank) - lowest, highest - lowest), game }
    }

    /// How many positions to look at.
    pub(crate) fn nodes(&self) -> u64 {
        #[expect(clippy::cast_possible_truncation, clippy::cast_sign_loss, reason = "positive")]
        let nodes = (FEWEST_NODES * (self.level * DOUBLINGS).exp2()) as u64;
        nodes
    }

    /// How many lines to choose from.
    pub(crate) fn lines(&self) -> usize {
        if self.error() > 0.0 { LINES } else { 1 }
    }

    /// How much a line is misjudged by, in centipawns.
    fn error(&self) -> f64 {
        LARGEST_ERROR * (1.0 - self.level).powi(2)
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
        let lot = mixed(self.game ^ mixed(key ^ mixed(mv)));
        // 52 bits fit, and half a step more keeps it away from 0 and 1.
        #[expect(clippy::cast_precision_loss, reason = "52 bits fit")]
        let uniform = ((lot >> 12) as f64 + 0.5) / (1_u64 << 52) as f64;
        -(-uniform.ln()).ln()
    }
}

#[expect(clippy::cast_precision_loss, reason = "ratings are small")]
fn part(of: i64, whole: i64) -> f64 {
    (of as f64 / whole as f64).clamp(0.0, 1.0)
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
    use readyok_rules::{Game, Position};

    fn lines(scores: &[Score]) -> Vec<(Move, Score)> {
        Position::start(Game::Chess).legal_moves().into_iter().zip(scores.iter().copied()).collect()
    }

    /// What the choices lose beside the best line, on average.
    fn loss(strength: &Strength, values: [i32; 5]) -> f64 {
        let lines = lines(&values.map(Score::Centipawns));
        let lost = (0..2_000).filter_map(|key| {
            let chosen = strength.choose(key, &lines)?;
            Some(f64::from(values[0] - values[chosen]))
        });
        lost.sum::<f64>() / 2_000.0
    }

    #[test]
    fn higher_levels_look_at_more_and_lose_less() {
        let levels: Vec<_> = (0..=10).map(|step| Strength::of_elo(800 + step * 200, 7)).collect();
        for pair in levels.windows(2) {
            assert!(pair[0].nodes() < pair[1].nodes());
            assert!(pair[0].error() > pair[1].error());
            for values in [[30, 20, 10, 0, -10], [100, 0, -100, -300, -900]] {
                let (weaker, stronger) = (loss(&pair[0], values), loss(&pair[1], values));
                assert!(weaker >= stronger, "{pair:?}: {weaker} and {stronger}");
            }
        }
        assert_eq!(levels.last().map(|strongest| loss(strongest, [30, 29, 0, 0, 0])), Some(0.0));
        assert_eq!(levels.last().map(Strength::lines), Some(1));
    }

    #[test]
    fn ranks_are_evenly_spaced() {
        let levels: Vec<f64> =
            RANKS.filter(|&rank| rank != 0).map(|rank| Strength::of_rank(rank, 0).level).collect();
        assert_eq!((levels.first(), levels.last()), (Some(&0.0), Some(&1.0)));
        for step in levels.windows(2) {
            assert!((step[1] - step[0] - 1.0 / 23.0).abs() < 1e-9, "{levels:?}");
        }
        assert_eq!(Strength::of_rank(0, 0), Strength::of_rank(-1, 0));
    }

    #[test]
    fn a_rook_is_hardly_ever_thrown_away() {
        let weakest = Strength::of_elo(0, 1);
        let lines = lines(&[Score::Centipawns(20), Score::Centipawns(-480)]);
        let thrown = (0..10_000).filter(|&key| weakest.choose(key, &lines) == Some(1)).count();
        // 1 / (1 + exp(500 / 160)) of them.
        assert!((300..560).contains(&thrown), "{thrown}");
    }

    #[test]
    fn a_mate_that_was_seen_is_played_and_one_against_it_put_off() {
        let weakest = Strength::of_elo(0, 1);
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
            let weakest = Strength::of_elo(800, game);
            (0..50).map(|key| weakest.choose(key, &lines)).collect()
        };
        assert_eq!(choices(1), choices(1));
        assert_ne!(choices(1), choices(2));
    }
}
