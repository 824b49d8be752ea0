//! The counts of a match, with standings, crosstable and curves.

use std::collections::BTreeMap;

use readyok_arena::event::Score;
use readyok_arena::pairing::PairResult;
use readyok_arena::plan::{EngineId, GamesPerPairing};
use readyok_arena::stats::{Counts, Figures, Sprt, Trinomial};

use crate::wire::{CurvePoint, Elo, Llr, Standing, Wins};

/// Maximum number of points of a curve; a chart has no more pixels.
const MAX_POINTS: usize = 1024;

/// The counts of all complete pairs.
#[derive(Clone, Debug)]
pub(super) struct Tally {
    engines: u32,
    scores: BTreeMap<(EngineId, EngineId), Score>,
    games: u32,
    test: Option<Sprt>,
    curve: Vec<CurvePoint>,
    /// The interval of the stored points. The last point is always stored.
    stride: u32,
    seen: u32,
}

impl Tally {
    pub(super) fn new(engines: usize, test: Option<Sprt>) -> Self {
        Self {
            engines: u32::try_from(engines).unwrap_or(u32::MAX),
            scores: BTreeMap::new(),
            games: 0,
            test,
            curve: Vec::new(),
            stride: 1,
            seen: 0,
        }
    }

    /// Counts a pair. Returns the new point of the curve of a match of two.
    pub(super) fn add(&mut self, pair: &PairResult) -> Option<CurvePoint> {
        let (one, two) = (pair.pairing.first, pair.pairing.second);
        let (engine, opponent) = if one <= two { (one, two) } else { (two, one) };
        let empty = Score { engine, opponent, wins: 0, draws: 0, losses: 0, pairs: [0; 6] };
        let score = self.scores.entry((engine, opponent)).or_insert(empty);
        // Half points of the engine in each game.
        let mut points = Vec::new();
        for game in &pair.games {
            let winner = game.winner.map(|side| game.engine(side));
            self.games = self.games.saturating_add(1);
            match winner {
                None => score.draws += 1,
                Some(winner) if winner == engine => score.wins += 1,
                Some(_) => score.losses += 1,
            }
            points.push(winner.map_or(1, |winner| if winner == engine { 2 } else { 0 }));
        }
        points.sort_unstable();
        let kind = match points.as_slice() {
            [0, 0] => Some(0),
            [0, 1] => Some(1),
            [0, 2] => Some(2),
            [1, 1] => Some(3),
            [1, 2] => Some(4),
            [2, 2] => Some(5),
            _ => None,
        };
        if let Some(count) = kind.and_then(|kind: usize| score.pairs.get_mut(kind)) {
            *count += 1;
        }
        let counts = (self.engines == 2).then(|| counts_of(score))?;
        let point = CurvePoint {
            games: self.games,
            elo: elo_of(&counts),
            llr: self.test.as_ref().and_then(|test| {
                let (lower, upper) = (test.lower(), test.upper());
                test.llr(&counts).ok().map(|llr| Llr { llr, lower, upper })
            }),
        };
        self.keep(point);
        Some(point)
    }

    fn keep(&mut self, point: CurvePoint) {
        // The one before is there only as the last one, unless it is one of those that stay.
        let before = self.seen.checked_sub(1);
        if before.is_some_and(|before| !before.is_multiple_of(self.stride)) {
            self.curve.pop();
        }
        if self.curve.len() >= MAX_POINTS {
            let mut index = 0_usize;
            self.curve.retain(|_| {
                index += 1;
                index % 2 == 1
            });
            self.stride = self.stride.saturating_mul(2);
        }
        self.curve.push(point);
        self.seen = self.seen.saturating_add(1);
    }

    pub(super) fn games(&self) -> u32 {
        self.games
    }

    pub(super) fn curve(&self) -> &[CurvePoint] {
        &self.curve
    }

    /// The results of each engine against each.
    pub(super) fn crosstable(&self) -> Vec<Vec<Wins>> {
        (0..self.engines)
            .map(|a| (0..self.engines).map(|b| self.wins(EngineId(a), EngineId(b))).collect())
            .collect()
    }

    fn wins(&self, a: EngineId, b: EngineId) -> Wins {
        let number = |count: u64| u32::try_from(count).unwrap_or(u32::MAX);
        let of = |score: &Score| Wins {
            won: number(score.wins),
            drawn: number(score.draws),
            lost: number(score.losses),
        };
        if let Some(score) = self.scores.get(&(a, b)) {
            return of(score);
        }
        let Wins { won, drawn, lost } = self.scores.get(&(b, a)).map(of).unwrap_or_default();
        Wins { won: lost, drawn, lost: won }
    }

    /// The standings, best first.
    pub(super) fn standings(&self) -> Vec<Standing> {
        let mut table: Vec<Standing> = (0..self.engines)
            .map(|engine| {
                let all =
                    (0..self.engines).map(|other| self.wins(EngineId(engine), EngineId(other)));
                let wins = all.fold(Wins::default(), |sum, wins| Wins {
                    won: sum.won.saturating_add(wins.won),
                    drawn: sum.drawn.saturating_add(wins.drawn),
                    lost: sum.lost.saturating_add(wins.lost),
                });
                let points = f64::from(wins.won) + f64::from(wins.drawn) / 2.0;
                Standing { engine, wins, points, elo: self.elo(engine, wins) }
            })
            .collect();
        table.sort_by(|a, b| b.points.total_cmp(&a.points).then(a.engine.cmp(&b.engine)));
        table
    }

    /// Of two engines by their pairs, which is more precise; of more engines by their games.
    fn elo(&self, engine: u32, wins: Wins) -> Option<Elo> {
        let both = self.scores.get(&(EngineId(0), EngineId(1))).filter(|_| self.engines == 2);
        if let Some(score) = both {
            let Elo { elo, error } = elo_of(&counts_of(score))?;
            return Some(Elo { elo: if engine == 0 { elo } else { -elo }, error });
        }
        let games = Trinomial::new(wins.lost.into(), wins.drawn.into(), wins.won.into()).ok()?;
        elo_of(&Counts::Games(games))
    }
}

fn counts_of(score: &Score) -> Counts {
    score.counts(GamesPerPairing::Two).unwrap_or_else(|| Counts::Games(score.games()))
}

fn elo_of(counts: &Counts) -> Option<Elo> {
    let figures = Figures::of(counts);
    let (elo, error) = figures.elo.value.number().zip(figures.elo.error.number())?;
    Some(Elo { elo, error })
}

#[cfg(test)]
pub(super) mod tests {
    use super::*;
    use readyok_arena::pairing::{Opening, Pairing};
    use readyok_arena::result::MatchGame;
    use readyok_rules::{Side, Termination};

    pub(in crate::matches) fn pair(
        first: u32,
        second: u32,
        winners: [Option<Side>; 2],
    ) -> PairResult {
        let (first, second) = (EngineId(first), EngineId(second));
        let pairing = Pairing {
            index: 0,
            round: 1,
            first,
            second,
            games: 2,
            fixed_colors: false,
            opening: Opening::default(),
            options: Default::default(),
        };
        let games = winners.into_iter().zip([(first, second), (second, first)]);
        let games = games.map(|(winner, (first, second))| MatchGame {
            first,
            second,
            winner,
            end: Termination::Resignation.into(),
            moves: Vec::new(),
            started_ms: 0,
            duration_ms: 0,
            warnings: Vec::new(),
            engines: Default::default(),
        });
        PairResult { pairing, games: games.collect(), worker: None }
    }

    #[test]
    fn standings_count_both_sides() {
        let mut tally = Tally::new(3, None);
        // Who stands later in the plan began: it won, and the other drew as first.
        tally.add(&pair(2, 0, [Some(Side::First), None]));
        tally.add(&pair(0, 1, [Some(Side::First), Some(Side::Second)]));
        assert_eq!(tally.games(), 4);
        let table = tally.crosstable();
        assert_eq!(table[0][2], Wins { won: 0, drawn: 1, lost: 1 });
        assert_eq!(table[2][0], Wins { won: 1, drawn: 1, lost: 0 });
        assert_eq!(table[0][1], Wins { won: 2, drawn: 0, lost: 0 });
        assert_eq!(table[1][2], Wins::default());
        let order: Vec<_> = tally.standings().iter().map(|it| (it.engine, it.points)).collect();
        assert_eq!(order, [(0, 2.5), (2, 1.5), (1, 0.0)]);
        // Three engines have no curve.
        assert!(tally.curve().is_empty());
    }

    #[test]
    fn a_curve_keeps_its_shape_in_a_bounded_number_of_points() {
        let mut tally = Tally::new(2, None);
        for number in 0..5000_u32 {
            let winner = if number.is_multiple_of(3) { None } else { Some(Side::First) };
            let point = tally.add(&pair(0, 1, [winner, None])).expect("there are two engines");
            assert_eq!(tally.curve().last(), Some(&point));
            assert!(tally.curve().len() <= MAX_POINTS);
        }
        assert!(MAX_POINTS / 2 < tally.curve().len());
        assert!(tally.curve().is_sorted_by(|a, b| a.games < b.games));
        let gaps = tally.curve().windows(2).map(|two| two[1].games - two[0].games);
        // All but the last gap are the same.
        let gaps: Vec<u32> = gaps.collect();
        assert!(gaps[..gaps.len() - 1].iter().all(|gap| *gap == gaps[0]), "{gaps:?}");
    }
}
