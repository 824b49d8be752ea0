//! The options of tablebases.

use crate::client::Client;

const DIRECTORY: &str = concat!(env!("CARGO_MANIFEST_DIR"), "/../../testdata/syzygy");

/// After the rook captures the knight, the position is in the tables.
const CAPTURE: &str = "position fen 3k4/8/8/8/n7/8/8/R3K3 w - - 0 1";

/// King and pawn against king: one move wins.
const PAWN: &str = "position fen 3k4/8/8/1K6/3P4/8/8/8 w - - 0 1";

/// A cursed win: no move mates before the fifty-move limit.
const TOO_LATE: &str = "position fen 8/8/8/8/3k4/8/8/KR6 w - - 90 90";

fn client(options: &[&str]) -> Client {
    let path = format!("SyzygyPath value {DIRECTORY}");
    let mut client = Client::with("uci", &[&[path.as_str()], options].concat());
    let remarks = client.remarks();
    assert_eq!(remarks, ["18 files of tablebases, up to 4 pieces"]);
    client
}

/// The maximum of `tbhits` in the search output.
fn hits(received: &[String]) -> u64 {
    let reported =
        received.iter().filter_map(|line| line.split_once(" tbhits ")?.1.split(' ').next());
    reported.filter_map(|hits| hits.parse().ok()).max().unwrap_or(0)
}

/// The first moves and scores of the last lines.
fn scores(received: &[String], lines: usize) -> Vec<(String, i32)> {
    let reported = received.iter().filter_map(|line| {
        let score = line.split_once(" score cp ")?.1.split(' ').next()?.parse().ok()?;
        let first = line.split_once(" pv ")?.1.split(' ').next()?;
        Some((first.to_owned(), score))
    });
    let reported: Vec<_> = reported.collect();
    reported.get(reported.len().saturating_sub(lines)..).unwrap_or_default().to_vec()
}

#[test]
fn a_missing_directory_is_reported() {
    let mut client = Client::with("uci", &["SyzygyPath value /nowhere/at/all"]);
    let remarks = client.remarks();
    assert!(remarks.iter().any(|remark| remark.starts_with("no tablebases: `/nowhere/at/all`")));
    assert_eq!(hits(&client.ask(&format!("{PAWN}\ngo depth 4"))), 0);
}

#[test]
fn tables_are_probed_while_the_path_is_set() {
    let mut client = client(&[]);
    let received = client.ask(&format!("{PAWN}\ngo depth 2"));
    assert!(hits(&received) > 0, "{received:#?}");
    assert_eq!(scores(&received, 1), [("b5c6".to_owned(), 19_500)], "{received:#?}");
    client.send("setoption name SyzygyPath value <empty>");
    assert_eq!(hits(&client.ask("go depth 2")), 0);
}

#[test]
fn positions_with_more_pieces_than_the_limit_are_not_probed() {
    let mut client = client(&["SyzygyProbeLimit value 2"]);
    assert_eq!(hits(&client.ask(&format!("{CAPTURE}\ngo depth 5"))), 0);
    assert_eq!(hits(&client.ask(&format!("{PAWN}\ngo depth 5"))), 0);
    client.send("setoption name SyzygyProbeLimit value 3\nucinewgame");
    // The root has four pieces, and the position after the capture three.
    assert!(hits(&client.ask(&format!("{CAPTURE}\ngo depth 5"))) > 0);
}

#[test]
fn positions_with_the_maximum_pieces_are_probed_only_at_the_probe_depth() {
    // With a limit of four pieces, positions of three would be probed at every depth.
    let mut client = client(&["SyzygyProbeLimit value 3", "SyzygyProbeDepth value 20"]);
    assert_eq!(hits(&client.ask(&format!("{CAPTURE}\ngo depth 5"))), 0);
    client.send("setoption name SyzygyProbeDepth value 1\nucinewgame");
    assert!(hits(&client.ask("go depth 5")) > 0);
}

#[test]
fn cursed_wins_are_draws_only_under_the_fifty_move_rule() {
    let mut client = client(&["Syzygy50MoveRule value false"]);
    let reported = scores(&client.ask(&format!("{TOO_LATE}\ngo depth 2")), 1);
    assert!(matches!(reported.as_slice(), [(_, 19_500)]), "{reported:?}");
    client.send("setoption name Syzygy50MoveRule value true\nucinewgame");
    let reported = scores(&client.ask("go depth 2"), 1);
    assert!(matches!(reported.as_slice(), [(_, 0)]), "{reported:?}");
}

#[test]
fn several_lines_and_limited_strength_report_table_scores() {
    let mut strong = client(&["MultiPV value 3"]);
    let reported = scores(&strong.ask(&format!("{PAWN}\ngo depth 4")), 3);
    assert_eq!(reported.first(), Some(&("b5c6".to_owned(), 19_500)), "{reported:?}");
    assert_eq!(reported.iter().filter(|(_, score)| *score == 0).count(), 2, "{reported:?}");

    // With limited strength the only winning move may be missed, but its own move has the right score.
    let mut weak = client(&["UCI_LimitStrength value true", "UCI_Elo value 800"]);
    let mut played = Vec::new();
    for _ in 0..30 {
        let received = weak.ask(&format!("ucinewgame\n{PAWN}\ngo nodes 300"));
        let reported = scores(&received, 1);
        let best = received.last().and_then(|line| line.split(' ').nth(1)).unwrap_or_default();
        let worth = if best == "b5c6" { 19_500 } else { 0 };
        assert_eq!(reported, [(best.to_owned(), worth)], "{received:#?}");
        played.push(worth);
    }
    assert!(played.contains(&0), "30 games without an error: {played:?}");
}

/// The distinct WDL values in the search output.
fn chances(received: &[String]) -> Vec<String> {
    let reported = received.iter().filter_map(|line| line.split_once(" wdl "));
    let mut reported: Vec<_> =
        reported.map(|(_, rest)| rest.split(' ').take(3).collect::<Vec<_>>().join(" ")).collect();
    reported.sort();
    reported.dedup();
    reported
}

#[test]
fn wdl_is_certain_in_table_positions() {
    const DRAWN: &str = "position fen 8/8/4k3/8/4K3/4P3/8/8 w - - 0 1";
    const LOST: &str = "position fen 4k3/8/4K3/4P3/8/8/8/8 b - - 0 1";
    const SAVED: &str = "position fen 8/8/8/8/3k4/8/8/KR6 b - - 95 90";
    let mut client = client(&["UCI_ShowWDL value true", "Contempt value 30"]);
    let mut reported = |position: &str| chances(&client.ask(&format!("{position}\ngo depth 3")));
    assert_eq!(reported(PAWN), ["1000 0 0"]);
    assert_eq!(reported(DRAWN), ["0 1000 0"]);
    assert_eq!(reported(LOST), ["0 0 1000"]);
    assert_eq!(reported(TOO_LATE), ["0 1000 0"], "the fifty-move rule spoils the win");
    assert_eq!(reported(SAVED), ["0 1000 0"], "the fifty-move rule saves the loser");
    client.send("setoption name Syzygy50MoveRule value false\nucinewgame");
    let mut reported = |position: &str| chances(&client.ask(&format!("{position}\ngo depth 3")));
    assert_eq!(
        (reported(TOO_LATE), reported(SAVED)),
        (vec!["1000 0 0".into()], vec!["0 0 1000".into()])
    );
    // Each line has its own WDL, and a position value of the root has precedence.
    client.send("setoption name MultiPV value 3");
    assert_eq!(chances(&client.ask(&format!("{PAWN}\ngo depth 3"))), ["0 1000 0", "1000 0 0"]);
    client.send("setoption name MultiPV value 1");
    let fen = DRAWN.trim_start_matches("position fen ");
    client.send(&format!("setoption name UCI_SetPositionValue value 100 + {fen}"));
    assert_ne!(chances(&client.ask(&format!("{DRAWN}\ngo depth 3"))), ["0 1000 0"]);
}

#[test]
fn limited_strength_reports_the_wdl_of_its_move() {
    let options = ["UCI_ShowWDL value true", "UCI_LimitStrength value true", "UCI_Elo value 800"];
    let mut weak = client(&options);
    for _ in 0..12 {
        let received = weak.ask(&format!("ucinewgame\n{PAWN}\ngo nodes 300"));
        let wins = received.last().is_some_and(|line| line.starts_with("bestmove b5c6"));
        let last = received.iter().rev().find(|line| line.contains(" wdl ")).cloned();
        let expected = if wins { "1000 0 0" } else { "0 1000 0" };
        assert_eq!(chances(last.as_slice()), [expected], "{received:#?}");
    }
}
