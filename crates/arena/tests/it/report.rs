//! The report: its contents, and escaping of external text.

use readyok_arena::pairing::{Opening, PairResult, Pairing};
use readyok_arena::plan::{EngineId, Plan};
use readyok_arena::queue::WorkerId;
use readyok_arena::report::Report;
use readyok_arena::result::{EngineFailure, EngineInfo, GameEnd, MatchGame, MoveRecord};
use readyok_rules::{Side, Termination};

fn plan(engines: &str, more: &str) -> Result<Plan, toml::de::Error> {
    toml::from_str(&format!("game = \"chess\"\n{more}\n{engines}"))
}

fn game(first: u32, second: u32, winner: Option<Side>, end: impl Into<GameEnd>) -> MatchGame {
    let moves = (0..40_u64).map(|ply| MoveRecord {
        time_us: 1000 * (ply + 1),
        reported_time_ms: Some(ply),
        depth: Some(12),
        nodes: Some(1000),
        nps: Some(500_000),
        ..MoveRecord::new("e2e4".parse().expect("a move"))
    });
    MatchGame {
        first: EngineId(first),
        second: EngineId(second),
        winner,
        end: end.into(),
        moves: moves.collect(),
        started_ms: 0,
        duration_ms: 1,
        warnings: Vec::new(),
        engines: <[EngineInfo; 2]>::default(),
    }
}

fn pair(index: u64, first: u32, second: u32, games: Vec<MatchGame>) -> PairResult {
    let opening = Opening::default();
    let [first, second] = [first, second].map(EngineId);
    let options = Default::default();
    let pairing =
        Pairing { index, round: 1, first, second, games: 2, fixed_colors: false, opening, options };
    PairResult { pairing, games, worker: None }
}

const TWO: &str =
    "[[engines]]\nname = 'new <b>'\ncommand = 'a'\n[[engines]]\nname = 'base'\ncommand = 'b'\n";

#[test]
fn two_engines_have_elo_and_a_test() {
    let plan = plan(TWO, "rounds = 9\nsprt = { elo0 = 0.0, elo1 = 5.0 }").unwrap();
    let mut report = Report::new(&plan);
    for index in 0..5000 {
        let win = game(0, 1, Some(Side::First), Termination::Checkmate);
        let draw = game(1, 0, None, Termination::Repetition);
        report.add(&pair(index, 0, 1, vec![win, draw]));
    }
    let html = report.html();
    assert!(html.contains("10000 games."), "{html}");
    assert!(html.contains("new &lt;b&gt;") && !html.contains("<b>"), "{html}");
    assert!(html.contains("SPRT of 0 against 5 (normalized)"), "{html}");
    assert!(html.contains("[0, 0, 0, 5000, 0]"), "{html}");
    assert_eq!(html.matches("<svg").count(), 4);
    assert!(html.contains("<td>checkmate</td><td>5000</td><td>0</td><td>0</td>"), "{html}");
    // The slowest move of all is the last one of a game.
    assert!(html.contains("<tr><td>40</td><td>1</td><td>1</td><td>40</td><td>e2e4</td></tr>"));
    // A curve does not grow with the match.
    assert!(html.len() < 200_000, "{} bytes", html.len());
    assert!(!html.contains("Failures"), "no failure occurred");
    // The page refers to no other file.
    for from_outside in ["src=", "href=", "url(", "@import", "<script", "<link", "<iframe"] {
        assert!(!html.contains(from_outside), "{from_outside}");
    }
}

#[test]
fn the_first_failures_are_listed_and_the_others_counted() {
    let mut report = Report::new(&plan(TWO, "rounds = 1").unwrap());
    let crash = || {
        let failure = EngineFailure::other("<i>exited</i> with code 3");
        game(0, 1, Some(Side::First), GameEnd::crash(failure))
    };
    for index in 0..51 {
        report.add(&pair(index, 0, 1, vec![crash(), crash()]));
    }
    let html = report.html();
    let row = "<td>base</td><td>crashes (&lt;i&gt;exited&lt;/i&gt; with code 3)</td>";
    assert_eq!(html.matches(row).count(), 100, "{html}");
    assert!(html.contains("And 2 more."), "{html}");
}

#[test]
fn workers_have_a_table_if_there_was_more_than_one() {
    let by = |index, worker: Option<&str>, end: GameEnd| {
        let games =
            vec![game(0, 1, Some(Side::First), end), game(1, 0, None, Termination::Repetition)];
        let worker = worker.map(|name| WorkerId(name.to_owned()));
        PairResult { worker, ..pair(index, 0, 1, games) }
    };
    let crash = crate::sample::crash;
    let mut report = Report::new(&plan(TWO, "rounds = 1").unwrap());
    report.add(&by(0, Some("<b>adam"), crash()));
    assert!(!report.html().contains("Workers"), "{}", report.html());
    report.add(&by(1, Some("<b>adam"), crash()));
    report.add(&by(2, Some("bert"), GameEnd::time_forfeit(5)));
    report.add(&by(3, Some("bert"), GameEnd::stall(5)));
    report.add(&by(4, None, Termination::Checkmate.into()));
    let html = report.html();
    let row = |name: &str, counts: [u32; 7]| {
        let cells = counts.map(|count| format!("<td>{count}</td>")).concat();
        format!("<tr><td>{name}</td>{cells}</tr>")
    };
    for row in [
        row("&lt;b&gt;adam", [2, 4, 0, 2, 0, 0, 0]),
        row("bert", [2, 4, 0, 0, 1, 0, 1]),
        row("without a queue", [1, 2, 0, 0, 0, 0, 0]),
    ] {
        assert!(html.contains(&row), "{row}\n{html}");
    }
}

#[test]
fn many_engines_have_a_crosstable() {
    let three = format!("{TWO}[[engines]]\nname = 'third'\ncommand = 'c'\n");
    let plan = plan(&three, "rounds = 1\nevent = 'Autumn & Co'").unwrap();
    let mut report = Report::new(&plan);
    let forfeit = GameEnd::time_forfeit(5);
    let lost =
        vec![game(0, 2, Some(Side::Second), forfeit), game(2, 0, None, Termination::Stalemate)];
    report.add(&pair(0, 0, 2, lost));
    let html = report.html();
    assert!(html.contains("<h1>Autumn &amp; Co</h1>"), "{html}");
    assert!(html.contains("<td>½/2</td>") && html.contains("<td>1½/2</td>"), "{html}");
    assert!(html.contains("<td>time forfeit</td><td>0</td><td>0</td><td>1</td>"), "{html}");
    let failure = "<td>1</td><td>1</td><td>new &lt;b&gt;</td><td>loses on time by 0.005 ms</td>";
    assert!(html.contains(failure), "{html}");
    assert!(
        html.contains("<th>Rating</th>") && html.contains("The advantage of the first move is"),
        "{html}"
    );
    assert!(!html.contains("Sequential test"), "{html}");
}

#[test]
fn a_match_without_games_has_a_report() {
    let html = Report::new(&plan(TWO, "rounds = 1").unwrap()).html();
    assert!(html.contains("0 games.") && html.contains("unknown"), "{html}");
    assert!(!html.contains("NaN") && !html.contains("cannot be drawn"), "{html}");
}

#[test]
fn what_was_broken_off_does_not_count() {
    let mut report = Report::new(&plan(TWO, "rounds = 1").unwrap());
    let whole = game(0, 1, None, Termination::Stalemate);
    report.add(&pair(0, 0, 1, vec![whole, game(1, 0, None, Termination::Aborted)]));
    assert!(report.html().contains("1 games."), "{}", report.html());
}
