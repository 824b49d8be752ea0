//! The score of a match for the page: a view of its state.

use readyok_arena::match_state::{MatchState, Point};
use readyok_arena::plan::EngineId;
use readyok_arena::stats::{Counts, Figures, Sprt, Trinomial};

use crate::wire::{CurvePoint, Elo, Llr, MatchScore, Standing, Wins};

/// The score. `total` is the number of games, if it is known.
pub(super) fn score(state: &MatchState, total: Option<u32>) -> MatchScore {
    let mut standings: Vec<Standing> = state.engines().map(|it| standing(state, it)).collect();
    standings.sort_by(|a, b| b.points.total_cmp(&a.points).then(a.engine.cmp(&b.engine)));
    let row = |a| state.engines().map(|b| wins(state.against(a, b))).collect();
    let crosstable = state.engines().map(row).collect();
    MatchScore { played: number(state.games()), total, standings, crosstable }
}

fn standing(state: &MatchState, engine: EngineId) -> Standing {
    let games = state.games_of(engine);
    // Of two engines by their pairs, which is more precise; of more engines by their games.
    let counts = match state.head_to_head() {
        Some(Counts::Pairs(pairs)) if engine != EngineId(0) => Counts::Pairs(pairs.reversed()),
        Some(counts @ Counts::Pairs(_)) => counts,
        Some(Counts::Games(_)) | None => Counts::Games(games),
    };
    let elo = Figures::of(&counts).elo;
    let elo = elo.value.number().zip(elo.error.number()).map(|(elo, error)| Elo { elo, error });
    let wins = wins(games);
    let points = f64::from(wins.won) + f64::from(wins.drawn) / 2.0;
    Standing { engine: engine.0, wins, points, elo }
}

fn wins(games: Trinomial) -> Wins {
    let [won, drawn, lost] = [games.wins(), games.draws(), games.losses()].map(number);
    Wins { won, drawn, lost }
}

fn number(count: u64) -> u32 {
    u32::try_from(count).unwrap_or(u32::MAX)
}

/// The curves of a match of two.
pub(super) fn curve(state: &MatchState) -> Vec<CurvePoint> {
    state.curve().into_iter().map(|it| curve_point(it, state.sprt())).collect()
}

/// The last point of the curves.
pub(super) fn point(state: &MatchState) -> Option<CurvePoint> {
    state.point().map(|it| curve_point(it, state.sprt()))
}

fn curve_point(point: Point, test: Option<&Sprt>) -> CurvePoint {
    let elo = point.elo_and_error().map(|(elo, error)| Elo { elo, error });
    let llr = point.llr.zip(test);
    let llr = llr.map(|(llr, test)| Llr { llr, lower: test.lower(), upper: test.upper() });
    CurvePoint { games: number(point.games), elo, llr }
}

#[cfg(test)]
pub(super) mod tests {
    use super::*;
    use readyok_arena::pairing::{Opening, PairResult, Pairing};
    use readyok_arena::plan::{EnginePlan, Plan};
    use readyok_arena::result::MatchGame;
    use readyok_rules::{Game, Side, Termination};

    pub(in crate::matches) fn plan(engines: u32) -> Plan {
        let engine = |id: u32| EnginePlan { name: id.to_string(), ..EnginePlan::default() };
        Plan { engines: (0..engines).map(engine).collect(), ..Plan::new(Game::Chess) }
    }

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
        let mut state = MatchState::new(&plan(3), 0);
        // Who stands later in the plan began: it won, and the other drew as first.
        state.add(&pair(2, 0, [Some(Side::First), None]));
        state.add(&pair(0, 1, [Some(Side::First), Some(Side::Second)]));
        let MatchScore { played, standings, crosstable: table, .. } = score(&state, None);
        assert_eq!(played, 4);
        assert_eq!(table[0][2], Wins { won: 0, drawn: 1, lost: 1 });
        assert_eq!(table[2][0], Wins { won: 1, drawn: 1, lost: 0 });
        assert_eq!(table[0][1], Wins { won: 2, drawn: 0, lost: 0 });
        assert_eq!(table[1][2], Wins::default());
        let order: Vec<_> = standings.iter().map(|it| (it.engine, it.points)).collect();
        assert_eq!(order, [(0, 2.5), (2, 1.5), (1, 0.0)]);
        // Three engines have no curve.
        assert!(curve(&state).is_empty());
    }
}
