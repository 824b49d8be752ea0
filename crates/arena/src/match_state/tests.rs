use proptest::prelude::*;
use readyok_rules::Game;

use super::*;
use crate::event::End;
use crate::pairing::{Opening, Pairing};
use crate::plan::{EnginePlan, GamesPerPairing, SprtPlan};
use crate::queue::WarningContext;
use crate::stats::Model;

/// A plan for engines of the names `0`, `1`, …
pub(crate) fn plan(engines: u32, games: GamesPerPairing) -> Plan {
    let engine = |id: u32| EnginePlan { name: id.to_string(), ..EnginePlan::default() };
    Plan { engines: (0..engines).map(engine).collect(), games, ..Plan::new(Game::Chess) }
}

/// The sides, the winners and whether colors are fixed.
pub(crate) type PlayedPair = (u32, u32, Vec<Option<Side>>, bool);

pub(crate) fn pair(index: u64, (first, second, winners, fixed_colors): &PlayedPair) -> PairResult {
    let pairing = Pairing {
        index,
        round: 1,
        first: EngineId(*first),
        second: EngineId(*second),
        games: u32::try_from(winners.len()).expect("a few games"),
        fixed_colors: *fixed_colors,
        opening: Opening { index, ..Opening::default() },
        options: Default::default(),
    };
    let games = (0..).zip(winners).map(|(number, winner)| {
        let (first, second) = pairing.sides(number);
        MatchGame {
            first,
            second,
            winner: *winner,
            end: Termination::Resignation.into(),
            moves: Vec::new(),
            started_ms: 0,
            duration_ms: 0,
            warnings: Vec::new(),
            engines: Default::default(),
        }
    });
    PairResult { games: games.collect(), pairing, worker: None }
}

fn state_of<'a>(plan: &Plan, pairs: impl IntoIterator<Item = &'a PairResult>) -> MatchState {
    let mut state = MatchState::new(plan, 100);
    for pair in pairs {
        state.add(pair);
    }
    state
}

#[test]
fn standings_count_both_sides() {
    let plan = plan(3, GamesPerPairing::Two);
    // Who stands later in the plan began: it won, and the other drew as first.
    let pairs = [
        pair(0, &(2, 0, vec![Some(Side::First), None], false)),
        pair(1, &(0, 1, vec![Some(Side::First), Some(Side::Second)], false)),
    ];
    let state = state_of(&plan, &pairs);
    let rows = state.standings().into_iter();
    let rows: Vec<_> =
        rows.map(|row| (row.engine.0, row.points, [row.wins, row.draws, row.losses])).collect();
    assert_eq!(rows, [(0, 2.5, [2, 1, 1]), (2, 1.5, [1, 1, 0]), (1, 0.0, [0, 0, 2])]);
    // Three engines have no curve.
    assert!(state.curve().is_empty());
}

/// A tuning of two options with several pairs.
pub(crate) fn tuning(pairs: u64) -> MatchState {
    let file = r#"
        game = "chess"
        pairs = 1000
        engine = { name = "new", command = "new", limits = { nodes = 1 } }
        parameters = [
            { name = "A", start = 50, min = 0, max = 100, c_end = 10 },
            { name = "B", start = 0.5, min = 0, max = 1, c_end = 0.1, decimal = true },
        ]
    "#;
    let plan = toml::from_str::<crate::tune::TuneFile>(file).expect("a file").into_plan(1);
    let mut state = MatchState::new(&plan, 1000);
    for index in 0..pairs {
        let mut pair = pair(index, &(0, 1, vec![Some(Side::First), None], false));
        pair.pairing.options = state.tune().expect("a tuning").tuner().options(index);
        state.add(&pair);
    }
    state
}

#[test]
fn a_tuning_has_values_and_no_scores() {
    let state = tuning(300);
    let tune = state.tune().expect("a tuning").status();
    assert_eq!((state.pairs(), tune.pairs, tune.curve.len()), (300, 300, 301));
    // Plus has won all pairs, which has no meaning: plus is another player in each pair.
    assert_eq!((state.scores(), state.standings(), state.curve()), (vec![], vec![], vec![]));
    assert_eq!(state.score(EngineId(0), EngineId(1)), None);
    assert_eq!((state.head_to_head(), state.point(), state.test()), (None, None, None));
    assert!(tune.gain.elo.is_some() && tune.gain.error.is_some(), "{:?}", tune.gain);
    let text = serde_json::to_string(&tune).expect("JSON");
    assert_eq!(serde_json::from_str::<crate::tune::TuneStatus>(&text).expect(&text), tune);
    // Pairs without the options of an edited file are no measurement.
    let mut edited = tuning(0);
    for index in 0..300 {
        edited.add(&pair(index, &(0, 1, vec![Some(Side::First), None], false)));
    }
    let tune = edited.tune().expect("a tuning").status();
    assert_eq!((tune.pairs, tune.gain), (300, Rating::default()));
    assert!(tune.parameters.iter().all(|tuned| tuned.interval() == "unknown"), "{tune:?}");
}

/// What views read.
fn shown(state: &MatchState) -> impl PartialEq + std::fmt::Debug + use<> {
    let totals: Vec<_> =
        state.engines().map(|engine| (state.games_of(engine), state.pairs_of(engine))).collect();
    let counts = (state.pairs(), state.games(), state.repeated());
    let match_of_two = (state.head_to_head(), state.test(), state.curve());
    (counts, state.scores(), totals, match_of_two, state.failures().clone())
}

fn winner() -> impl Strategy<Value = Option<Side>> {
    prop_oneof![Just(None), Just(Some(Side::First)), Just(Some(Side::Second))]
}

/// A plan with results of up to 60 pairs.
fn matches() -> impl Strategy<Value = (Plan, Vec<PairResult>)> {
    (prop_oneof![Just(2_u32), Just(3), Just(7)], any::<bool>()).prop_flat_map(
        |(engines, single)| {
            let (size, games) =
                if single { (1, GamesPerPairing::One) } else { (2, GamesPerPairing::Two) };
            let sprt = SprtPlan {
                model: Model::Normalized,
                elo0: 0.0,
                elo1: 5.0,
                alpha: 0.05,
                beta: 0.05,
            };
            let plan = Plan { sprt: (engines == 2).then_some(sprt), ..plan(engines, games) };
            let sides =
                (0..engines, 1..engines).prop_map(move |(one, by)| (one, (one + by) % engines));
            let winners = prop::collection::vec(winner(), size);
            let played = (sides, winners, any::<bool>())
                .prop_map(|((first, second), winners, fixed)| (first, second, winners, fixed));
            let pairs = prop::collection::vec(played, 0..60);
            let pairs = pairs
                .prop_map(|pairs| (0..).zip(&pairs).map(|(at, played)| pair(at, played)).collect());
            (Just(plan), pairs)
        },
    )
}

/// The points of an engine in a game, in half points.
fn half_points(game: &MatchGame, engine: EngineId) -> u64 {
    let winner = game.winner.map(|side| game.engine(side));
    winner.map_or(1, |winner| if winner == engine { 2 } else { 0 })
}

proptest! {
    #![proptest_config(ProptestConfig { failure_persistence: None, ..ProptestConfig::default() })]

    /// The definition: a game of an engine is won, drawn or lost; a pair has 0 to 4 half points, and two
    /// draws differ from a win and a loss.
    #[test]
    fn sums_follow_from_all_pairs((plan, pairs) in matches()) {
        let state = state_of(&plan, &pairs);
        let games: Vec<&MatchGame> = pairs.iter().flat_map(|pair| &pair.games).collect();
        prop_assert_eq!((state.pairs(), state.games()), (pairs.len() as u64, games.len() as u64));
        let points = |engine| games.iter().filter(|game| [game.first, game.second].contains(&engine))
            .map(|game| half_points(game, engine)).collect::<Vec<_>>();
        let count = |of: &[u64], points| of.iter().filter(|&&count| count == points).count() as u64;
        for engine in state.engines() {
            let (all, of) = (state.games_of(engine), points(engine));
            let counts = [all.losses(), all.draws(), all.wins()];
            prop_assert_eq!(counts, [0, 1, 2].map(|points| count(&of, points)));
        }
        for Score { engine, opponent, wins, draws, losses, pairs: kinds } in state.scores() {
            let theirs = |pair: &&PairResult| {
                let Pairing { first, second, .. } = pair.pairing;
                (first.min(second), first.max(second)) == (engine, opponent)
            };
            let theirs: Vec<&PairResult> = pairs.iter().filter(theirs).collect();
            let of: Vec<u64> =
                theirs.iter().flat_map(|pair| &pair.games).map(|game| half_points(game, engine)).collect();
            prop_assert_eq!([losses, draws, wins], [0, 1, 2].map(|points| count(&of, points)));
            let mut expected = [0; 6];
            for [one, other] in theirs.iter().filter_map(|pair| pair.games.as_array()) {
                let kind = match (half_points(one, engine), half_points(other, engine)) {
                    (1, 1) => 3,
                    (one, other) if one + other <= 2 => one + other,
                    (one, other) => one + other + 1,
                };
                expected[usize::try_from(kind).expect("a kind")] += 1;
            }
            prop_assert_eq!(kinds, expected);
        }
        let pairs_of_two = pairs.iter().filter(|pair| pair.games.len() == 2).count() as u64;
        let of_all: u64 = state.engines().map(|engine| state.pairs_of(engine).pairs()).sum();
        prop_assert_eq!(of_all, 2 * pairs_of_two);
    }

    /// Nothing remains of discarded pairs.
    #[test]
    fn a_discard_leaves_the_state_of_the_other_pairs(
        (plan, pairs) in matches(),
        is_discarded in prop::collection::vec(any::<bool>(), 60),
    ) {
        let (gone, kept): (Vec<_>, Vec<_>) =
            pairs.iter().zip(is_discarded).partition(|(_, gone)| *gone);
        let kept: Vec<&PairResult> = kept.into_iter().map(|(pair, _)| pair).collect();
        let gone: Vec<u64> = gone.iter().map(|(pair, _)| pair.pairing.index).collect();
        let mut state = state_of(&plan, &pairs);
        state.discard(&gone);
        for pair in &kept {
            state.add(pair);
        }
        prop_assert_eq!(shown(&state), shown(&state_of(&plan, kept)));
    }
}

fn game_end(pair: u64, game: u32) -> Event {
    Event::GameEnd {
        pair,
        game,
        first: EngineId(0),
        second: EngineId(1),
        winner: None,
        end: Termination::Stalemate.into(),
        plies: 40,
        duration_ms: 1,
        engines: Box::default(),
    }
}

fn game_start(pair: u64, worker: &str) -> Event {
    Event::GameStart {
        pair,
        game: 0,
        round: 1,
        first: EngineId(0),
        second: EngineId(1),
        worker: WorkerId(worker.to_owned()),
        opening: Opening::default(),
    }
}

fn latest(state: &MatchState) -> Vec<(u64, u32)> {
    state.latest().iter().map(|game| (game.pair, game.game)).collect()
}

fn running(state: &MatchState) -> Vec<(&str, u64)> {
    state.running().iter().map(|(worker, game)| (worker.0.as_str(), game.pair)).collect()
}

/// Messages of remote workers may be lost.
#[test]
fn a_pair_has_at_most_one_game_in_progress() {
    let mut state = MatchState::new(&plan(2, GamesPerPairing::Two), 9);
    for (pair, worker) in [(0, "lost"), (1, "b"), (0, "c")] {
        state.apply(&game_start(pair, worker));
    }
    assert_eq!(running(&state), [("b", 1), ("c", 0)]);
    state.apply(&Event::PairEnd { pair: 1, round: 1, complete: 1 });
    assert_eq!(running(&state), [("c", 0)]);
}

#[test]
fn a_discard_keeps_games_in_progress_and_the_latest_of_other_pairs() {
    let mut state = MatchState::new(&plan(2, GamesPerPairing::Two), 9);
    for (pair, worker) in [(3, "a"), (4, "b"), (5, "c")] {
        state.apply(&game_start(pair, worker));
    }
    state.apply(&game_end(3, 0));
    state.apply(&game_end(4, 0));
    state.discard(&[3]);
    assert_eq!(latest(&state), [(4, 0)]);
    assert_eq!((running(&state), state.total()), (vec![("c", 5)], 9));
    let end = Event::MatchEnd { why: End::Complete, complete: 0, games: 0 };
    state.apply(&end);
    assert!(state.running().is_empty());
}

#[test]
fn the_latest_games_are_few() {
    let mut state = MatchState::new(&plan(2, GamesPerPairing::Two), 9);
    (0..9).for_each(|pair| state.apply(&game_end(pair, 1)));
    assert_eq!(latest(&state), [(4, 1), (5, 1), (6, 1), (7, 1), (8, 1)]);
}

#[test]
fn an_aborted_game_does_not_count() {
    let mut pair = pair(0, &(0, 1, vec![Some(Side::First), None], false));
    pair.games[1].end = Termination::Aborted.into();
    let state = state_of(&plan(2, GamesPerPairing::Two), [&pair]);
    let score = state.score(EngineId(1), EngineId(0)).expect("a score");
    assert_eq!((state.games(), score.wins, score.draws, score.pairs), (1, 1, 0, [0; 6]));
}

#[test]
fn a_curve_is_thinned_and_ends_with_the_last_pair() {
    let plan = plan(2, GamesPerPairing::Two);
    let mut state = MatchState::new(&plan, 5000);
    for index in 0..5000_u64 {
        let winner = (index % 3 == 0).then_some(Side::First);
        state.add(&pair(index, &(0, 1, vec![winner, None], false)));
        let curve = state.curve();
        assert_eq!(curve.last(), state.point().as_ref());
        assert!(
            curve.len() <= MAX_POINTS && curve.is_sorted_by(|a, b| a.pairs < b.pairs),
            "{index}"
        );
    }
    let curve = state.curve();
    assert!(MAX_POINTS / 2 < curve.len(), "{}", curve.len());
    let gaps = curve.windows(2).map(|two| two[1].pairs - two[0].pairs);
    let mut expected = vec![16; curve.len() - 2];
    expected.push(7);
    assert_eq!(gaps.collect::<Vec<_>>(), expected);
}

#[test]
fn failed_starts_are_consecutive() {
    let start_failure = |index| {
        let mut pair = pair(index, &(0, 1, vec![Some(Side::First), None], false));
        pair.games[0].end = Termination::EngineStartFailure.into();
        pair
    };
    let mut state = MatchState::new(&plan(2, GamesPerPairing::Two), 9);
    state.add(&start_failure(0));
    let failures = state.failures()[&EngineId(1)];
    // The second game was played.
    assert_eq!(failures, Failures { all: 1, broken: 1, no_starts: 0 });
    let mut both = start_failure(1);
    both.games[1] = MatchGame { winner: Some(Side::Second), ..both.games[0].clone() };
    (both.games[1].first, both.games[1].second) = (EngineId(1), EngineId(0));
    let failed = state.count(&both).failed;
    let counts: Vec<_> =
        failed.iter().map(|failure| (failure.game, failure.failures.no_starts)).collect();
    assert_eq!(counts, [(0, 1), (1, 2)]);
    assert_eq!(state.failures()[&EngineId(0)], Failures::default());
}

#[test]
fn warnings_are_counted_by_engine_and_kind() {
    let mut state = MatchState::new(&plan(2, GamesPerPairing::Two), 9);
    let mut warn = |engine, kind: WarningKind| {
        let text = kind.to_string();
        let context =
            WarningContext { kind, line: None, position: None, moves: Vec::new(), played: None };
        let context = Some(Box::new(context));
        state.apply(&Event::Warning { text, pair: Some(0), engine: Some(engine), context });
    };
    let other = |number: u32| WarningKind::OtherPv { text: format!("a2a{number}") };
    (0..3).for_each(|number| warn(EngineId(0), other(number)));
    warn(EngineId(1), other(0));
    warn(EngineId(0), WarningKind::MoveWithoutScore);
    let count = |engine, kind| state.warnings_of(Some(EngineId(engine)), &kind);
    assert_eq!(
        [count(0, other(9)), count(1, other(9)), count(0, WarningKind::MoveWithoutScore)],
        [3, 1, 1]
    );
    assert_eq!(count(1, WarningKind::MoveWithoutScore), 0);
}
