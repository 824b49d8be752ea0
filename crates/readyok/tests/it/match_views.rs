//! Terminal, page and fastchess output show the same numbers of a match.

use readyok::matches::MatchText;
use readyok_arena::event::{Event, Score};
use readyok_arena::fastchess::{Options, Printer, Request, parse};
use readyok_arena::listener::Listener as _;
use readyok_arena::match_state::MatchState;
use readyok_arena::pairing::{Opening, PairResult, Pairing};
use readyok_arena::plan::{EngineId, Plan};
use readyok_arena::result::MatchGame;
use readyok_client::unstable::split_command_line;
use readyok_rules::{Side, Termination};
use readyok_server::matches::LiveMatch;
use readyok_server::wire::{MatchPlan, MatchState as Page, Standing};

use crate::program::Terminal;

/// A match of engines in the fastchess format, with a report after each pair.
pub(crate) fn invocation(engines: &[&str]) -> (Plan, Options) {
    let engines: Vec<String> = engines.iter().map(|name| format!("-engine cmd={name}")).collect();
    let line = format!("{} -each tc=10+0.1 -rounds 100 -ratinginterval 1", engines.join(" "));
    let tokens = split_command_line(&line).expect("closed quotes");
    let Ok(Request::Play(invocation)) = parse(&tokens, 1) else { panic!("no match: {line}") };
    (invocation.plan, invocation.options)
}

/// A pair with the results of both games.
fn pair(index: u64, [first, second]: [u32; 2], results: [&str; 2]) -> PairResult {
    let pairing = Pairing {
        index,
        round: 1,
        first: EngineId(first),
        second: EngineId(second),
        games: 2,
        fixed_colors: false,
        opening: Opening { index, ..Opening::default() },
        options: Default::default(),
    };
    let games = (0..).zip(results).map(|(number, result)| {
        let (first, second) = pairing.sides(number);
        let winner = match result {
            "1-0" => Some(Side::First),
            "0-1" => Some(Side::Second),
            _ => None,
        };
        MatchGame {
            first,
            second,
            winner,
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

/// The pairs of a recorded match.
fn pairs(recording: &str) -> Vec<PairResult> {
    let lines = recording.lines().filter(|line| !line.starts_with('#'));
    let pair = |line: &str| {
        let fields: Vec<&str> = line.split(' ').collect();
        let [index, first, second, results @ ..] = &fields[..] else { panic!("{line}") };
        let number = |text: &str| text.parse().expect("a number");
        let results = [results[0], results[1]];
        pair(index.parse().expect("an index"), [number(first), number(second)], results)
    };
    lines.map(pair).collect()
}

const TWO: &str = include_str!("data/matches/two.txt");
const THREE: &str = include_str!("data/matches/three.txt");

fn page(state: &MatchState) -> Page {
    let requested = serde_json::json!({
        "name": "", "variant": "chess", "engines": [], "format": "round_robin",
        "rounds": 1, "pairs": 1, "openings": { "kind": "start" }, "concurrency": 1,
        "draw": null, "resign": null, "max_moves": null, "sprt": null,
    });
    let requested: MatchPlan = serde_json::from_value(requested).expect("a plan");
    LiveMatch::new(1, requested, state, None).state()
}

/// Plays the pairs, and passes the terminal rows, the page and the fastchess report after each.
fn play(engines: &[&str], recording: &str, mut check: impl FnMut(&[String], &Page, &str)) {
    let (plan, options) = invocation(engines);
    let output = Terminal::default();
    let mut printer = Printer::new(&plan, 100, &options, output.clone());
    let mut state = MatchState::new(&plan, 100);
    for (complete, pair) in (1..).zip(pairs(recording)) {
        state.add(&pair);
        let Pairing { index, first, second, .. } = pair.pairing;
        let score = Event::Score(state.score(first, second).expect("a score"));
        for event in [Event::PairEnd { pair: index, round: 1, complete }, score] {
            state.apply(&event);
            printer.on_event(&event, &state);
        }
        check(&MatchText(&state).ratings(), &page(&state), &output.drain());
    }
}

/// An estimate after this text, with its error.
fn numbers(text: &str, before: &str) -> [f64; 2] {
    let (_, after) = text.split_once(before).expect("an estimate");
    let mut tokens = after.split([' ', ',']).filter(|token| *token != "+/-");
    [(); 2].map(|()| tokens.next().and_then(|token| token.parse().ok()).expect("a number"))
}

#[test]
fn the_views_of_a_match_of_two_show_equal_numbers() {
    let mut count = 0;
    play(&["a", "b"], TWO, |rows, page, report| {
        let Score { wins: won, draws: drawn, losses: lost, .. } = page.scores[0];
        assert!(rows[0].starts_with(&format!("a: +{won} ={drawn} -{lost}  (")), "{rows:?}");
        let games = page.played;
        let line = format!("\nGames: {games}, Wins: {won}, Losses: {lost}, Draws: {drawn}, ");
        assert!(report.contains(&line), "no {line:?} in {report}");
        let Standing { elo, .. } =
            page.standings.iter().find(|row| row.engine == EngineId(0)).expect("a row");
        if let (Some(elo), Some(bound)) = (elo.elo, elo.error) {
            let shown = [numbers(&rows[1], "Elo "), numbers(report, "\nElo: ")];
            for ([value, error], digits) in shown.into_iter().zip([0.051, 0.0051]) {
                let is_equal = |a: f64, b: f64| (a - b).abs() < digits;
                assert!(is_equal(value, elo) && is_equal(error, bound), "{rows:?} {report}");
            }
            count += 1;
        }
    });
    assert!(count > 40, "{count}");
}

#[test]
fn the_views_of_a_match_of_three_show_equal_numbers() {
    let names = ["a", "b", "c"];
    play(&names, THREE, |rows, page, report| {
        for Standing { engine, wins, draws, losses, points, .. } in &page.standings {
            let (name, games) = (names[engine.index()], wins + draws + losses);
            let row = format!(". {name}  {points:.1}/{games}  ");
            assert!(rows.iter().any(|line| line.contains(&row)), "no {row:?} in {rows:?}");
            if games == 0 {
                continue;
            }
            let score = 100.0 * points / f64::from(u32::try_from(games).expect("a few games"));
            let row = report.lines().find(|line| line.split_whitespace().nth(1) == Some(name));
            let cells: Vec<&str> = row.expect("a row").split_whitespace().collect();
            assert_eq!(cells[6], games.to_string());
            let shown: f64 = cells[7].trim_end_matches('%').parse().expect("a number");
            assert!((shown - score).abs() < 0.0501, "{shown} is not {score}");
        }
    });
}
