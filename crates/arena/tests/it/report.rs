//! The report: its contents, and escaping of external text.

use readyok_arena::pairing::{Opening, PairResult, Pairing};
use readyok_arena::plan::{EngineId, Plan};
use readyok_arena::queue::WorkerId;
use readyok_arena::report::Report;
use readyok_arena::result::{EngineFailure, EngineInfo, GameEnd, MatchGame, MoveRecord};
use readyok_arena::store::Origin;
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
    assert_eq!(html.matches("<svg").count(), 6);
    assert!(html.contains("<td>checkmate</td><td>5000</td><td>0</td><td>0</td>"), "{html}");
    // The slowest move of an engine is its last one of a game.
    assert!(html.contains("base</td><td>40</td><td>1</td><td>1</td><td>40</td><td>e2e4</td></tr>"));
    assert!(html.contains("new &lt;b&gt;</td><td>40</td><td>1</td><td>2</td><td>40</td><td>e2e4"));
    // Neither curves nor the number of games to replay grow with the match.
    let (start, rest) = html.split_once("<script type=\"application/json\"").expect("games");
    let (games, rest) = rest.split_once("</script>").expect("an end");
    assert!(start.len() + rest.len() < 200_000, "{} bytes", start.len() + rest.len());
    assert!((500..=1000).contains(&games.matches("\"id\":").count()));
    assert!(!games.contains("<b>") && games.contains("new \\u003cb>"));
    assert!(!html.contains("Failures"), "no failure occurred");
    // The page refers to no other file.
    for from_outside in ["src=", "href=", "url(", "@import", "<link", "<iframe", "fetch("] {
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
    let row = "<td>base</td><td>crashes (failed: `&lt;i&gt;exited&lt;/i&gt; with code 3`)</td>";
    assert_eq!(html.matches(row).count(), 100, "{html}");
    assert!(html.contains("And 2 more."), "{html}");
}

#[test]
fn lists_the_workers_of_a_queue() {
    let by = |index, worker: Option<&str>, end: GameEnd| {
        let games =
            vec![game(0, 1, Some(Side::First), end), game(1, 0, None, Termination::Repetition)];
        let worker = worker.map(|name| WorkerId(name.to_owned()));
        PairResult { worker, ..pair(index, 0, 1, games) }
    };
    let crash = crate::sample::crash;
    let mut report = Report::new(&plan(TWO, "rounds = 1").unwrap());
    report.add(&by(0, None, Termination::Checkmate.into()));
    assert!(!report.html().contains("Workers"), "{}", report.html());
    report.add(&by(1, Some("<b>adam"), crash()));
    report.add(&by(2, Some("<b>adam"), crash()));
    report.add(&by(3, Some("bert"), GameEnd::time_forfeit(5)));
    report.add(&by(4, Some("bert"), GameEnd::stall(5)));
    let html = report.html();
    for row in [
        "<td>&lt;b&gt;adam</td><td>2</td><td>4</td><td>[0, 0, 0, 2, 0]</td><td>0</td><td>2</td>",
        "<td>bert</td><td>2</td><td>4</td><td>[0, 0, 0, 2, 0]</td><td>1</td><td>1</td>",
        "Without a worker of this list: 1 pairs.",
    ] {
        assert!(html.contains(row), "{row}\n{html}");
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

#[test]
fn a_score_of_all_games_has_a_curve() {
    let check = |winners: [Side; 2], end: &str| {
        let mut report = Report::new(&plan(TWO, "rounds = 9").unwrap());
        for index in 0..9 {
            let [one, other] = winners;
            let games = vec![
                game(0, 1, Some(one), Termination::Checkmate),
                game(1, 0, Some(other), Termination::Checkmate),
            ];
            report.add(&pair(index, 0, 1, games));
        }
        let html = report.html();
        assert!(html.contains("score in %</text>") && !html.contains(">Elo</text>"), "{html}");
        assert!(html.contains(end), "{html}");
        // The script of the replay calls `Number.isNaN`.
        let charts = html.split_once("<script").map_or(&*html, |(charts, _)| charts);
        assert!(!charts.contains("NaN") && !charts.contains("inf,"), "{html}");
    };
    // The curve is at the top, or at the bottom.
    check([Side::First, Side::Second], "840.0,8.0 \"");
    check([Side::Second, Side::First], "840.0,256.0 \"");
}

#[test]
fn states_the_conditions_and_has_the_plan() {
    let text = "rounds = 3\nseed = 77\n[openings]\norder = 'random'\n\
                source = { kind = 'file', path = 'book.epd' }\n[adjudication]\n\
                resign = { moves = 3, score = 600 }\n";
    let engines = "[[engines]]\nname = 'new'\ncommand = './new'\noptions = { Hash = '16' }\n\
                   limits = { tc = '8+0.08', margin_ms = 5 }\n\
                   [[engines]]\nname = 'base'\ncommand = './base'\nlimits = { nodes = 5 }\n";
    let plan: Plan = toml::from_str(&format!(
        "game = 'chess'
{text}
{engines}"
    ))
    .unwrap();
    let mut report = Report::new(&plan);
    let mut played = game(0, 1, None, Termination::Repetition);
    played.engines[0].name = "New 1.2".to_owned();
    played.started_ms = 1_700_000_000_000;
    report.add(&pair(0, 0, 1, vec![played, game(1, 0, None, Termination::Repetition)]));
    let origin =
        Origin { version: "1.0".to_owned(), cpu: "Z80".to_owned(), cpus: 2, ..Origin::default() };
    let html = report.with_origin(origin).html();
    for part in [
        "New 1.2",
        "8+0.08, margin 5 ms",
        "5 nodes",
        "Hash=16",
        "book.epd, random",
        "77",
        "loss: 3 moves below -600 cp",
        "Z80, 2 CPUs",
        "2023-11-14 22:13 UTC",
        "readyok match --plan match.toml",
        "name = &quot;base&quot;",
    ] {
        assert!(html.contains(part), "{part}: {html}");
    }
}

#[test]
fn results_by_opening_and_repeated_games_are_listed() {
    let mut report = Report::new(&plan(TWO, "rounds = 9").unwrap());
    for index in 0..4 {
        let mut result =
            pair(index, 0, 1, vec![game(0, 1, Some(Side::First), Termination::Checkmate)]);
        let moves = if index % 2 == 0 { "e2e4" } else { "d2d4" };
        result.pairing.opening.moves = vec![moves.to_owned()];
        report.add(&result);
    }
    let html = report.html();
    let row = "<td>e2e4</td><td>2</td><td>2</td><td>0</td><td>0</td><td>2/2</td>";
    assert!(html.contains(row), "{html}");
    assert!(html.contains("2 games repeat an earlier game"), "{html}");
}

#[test]
fn moves_are_in_san_and_in_japanese_notation() {
    let play = |name: &str, position: Option<&str>, book: &str, moves: &[&str]| {
        let plan = toml::from_str(&format!("game = '{name}'\nrounds = 1\n{TWO}")).unwrap();
        let mut played = game(0, 1, None, Termination::Repetition);
        played.moves = moves.iter().map(|mv| MoveRecord::new(mv.parse().unwrap())).collect();
        let mut result = pair(0, 0, 1, vec![played]);
        result.pairing.opening.moves = vec![book.to_owned()];
        result.pairing.opening.position = position.map(str::to_owned);
        let mut report = Report::new(&plan);
        report.add(&result);
        report.html()
    };
    let html = play("chess", None, "e2e4", &["b8c6", "g1f3"]);
    assert!(html.contains(r#""texts":"e4 Nc6 Nf3""#), "{html}");
    assert!(html.contains("<td>2</td><td>Nf3</td>"), "{html}");
    let start = "rnbqkbnr/pppp1ppp/8/4p3/4P3/8/PPPP1PPP/RNBQKBNR w KQkq - 0 2";
    let html = play("chess960", Some(start), "g1f3", &["d8h4", "f3h4"]);
    assert!(html.contains(r#""texts":"Nf3 Qh4 Nxh4""#), "{html}");
    let html = play("shogi", None, "7g7f", &["3c3d", "8h2b+", "3a2b"]);
    assert!(html.contains(r#""texts":"▲７六歩 △３四歩 ▲２二角成 △同　銀""#), "{html}");
}
