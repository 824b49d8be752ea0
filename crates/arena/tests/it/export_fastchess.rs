//! PGN in the format of fastchess. The expected texts are the output of fastchess for the same games.

use std::fs;

use readyok_arena::export::{Existing, Export, Exports, Form, PgnFields, PgnMoves, PgnStyle};
use readyok_arena::pairing::Opening;
use readyok_arena::plan::Plan;
use readyok_arena::result::{GameEnd, MatchGame, MoveRecord};
use readyok_arena::store::Store;
use readyok_protocol::Score;
use readyok_rules::{Game, IllegalReason, Side, Termination};

use crate::sample;

fn style() -> PgnStyle {
    PgnStyle { as_fastchess: true, ..PgnStyle::default() }
}

/// The PGN text of a game with these moves. `change` adapts the plan, the opening and the game.
fn written(
    style: PgnStyle,
    moves: &str,
    change: impl FnOnce(&mut Plan, &mut Opening, &mut MatchGame),
) -> String {
    let dir = tempfile::tempdir().expect("a directory");
    let mut plan = sample::plan(&["A", "B"], 1);
    (plan.event, plan.site) = ("E".to_owned(), "?".to_owned());
    let mut pair = sample::pair(0);
    let mut game = pair.games.swap_remove(0);
    game.moves = moves.split_whitespace().map(played).collect();
    (game.winner, game.end) = (Some(Side::First), Termination::Checkmate.into());
    change(&mut plan, &mut pair.pairing.opening, &mut game);
    pair.games = vec![game];
    let path = dir.path().join("games.pgn");
    let mut store = Store::create(&dir.path().join("m.jsonl"), &plan).expect("new");
    let form = Form::Pgn(style);
    let mut exports =
        Exports::new(vec![Export { path: path.clone(), form, existing: Existing::Replace }]);
    exports.begin(&mut store).expect("files");
    exports.open().expect("files");
    exports.append(&pair).expect("space");
    fs::read_to_string(path).expect("a file")
}

fn played(mv: &str) -> MoveRecord {
    MoveRecord {
        time_us: 1_999,
        score: Some(Score::Cp(-345)),
        depth: Some(5),
        pv: [mv].into_iter().collect(),
        ..MoveRecord::new(mv.parse().expect("a move"))
    }
}

/// The moves on one line.
fn moves_of(text: &str) -> String {
    text.split_once("\n\n").expect("tags").1.trim_end().replace('\n', " ")
}

#[test]
fn tags_have_the_order_of_fastchess() {
    let text = written(style(), "e2e4", |_, _, game| {
        game.engines[0].name = "Engine 1".to_owned();
        game.engines[1].author = "Author".to_owned();
    });
    let expected = include_str!("data/export_fastchess/tags_have_the_order_of_fastchess.txt");
    assert_eq!(text, expected);
}

#[test]
fn replies_have_no_number_and_comments_stay_in_one_piece() {
    let moves = "e2e4 e7e5 g1f3 b8c6 f1c4 g8f6 e1g1";
    let text = written(style(), moves, |_, _, game| {
        let scores = [Some(31), Some(0), None, Some(-5), Some(1_000), Some(-1), Some(0)];
        for (played, score) in game.moves.iter_mut().zip(scores) {
            played.score = score.map(Score::Cp);
        }
        game.moves[3].score = Some(Score::MateIn { plies: 5 });
        game.moves[4].score = Some(Score::MatedIn { plies: 4 });
        game.moves[2].depth = None;
    });
    let expected = "1. e4 {+0.31/5 0.001s} e5 {0.00/5 0.001s} 2. Nf3 {/0 0.001s} Nc6 {+M5/5 0.001s} \
        3. Bc4 {-M4/5 0.001s} Nf6 {-0.01/5 0.001s} 4. O-O {0.00/5 0.001s, White mates} 1-0";
    assert_eq!(moves_of(&text), expected);
    let is_whole = |line: &str| line.matches('{').count() == line.matches('}').count();
    assert!(text.lines().all(is_whole), "{text}");
    let min = PgnStyle { min: true, ..style() };
    let text = written(min, moves, |_, opening, _| {
        opening.position =
            Some("rnbqkbnr/pppppppp/8/8/8/8/PPPPPPPP/RNBQKBNR w KQkq - 0 1".to_owned());
    });
    assert!(text.contains("[Result \"1-0\"]\n\n1. e4 e5 2. Nf3 Nc6 3. Bc4 Nf6 4. O-O 1-0\n\n"));
}

#[test]
fn moves_have_the_notation_of_the_style_and_variations_that_of_uci() {
    let moves = "e2e4 d7d5 e4d5 d8d5 b1c3 d5e5 f1e2 c8g4 d2d4 b8c6 c1e3 e8c8";
    let fields = PgnFields { pv: true, ..PgnFields::default() };
    let lan = PgnStyle { moves: PgnMoves::Lan, fields, ..style() };
    let text = written(lan, moves, |_, _, _| ());
    let text = moves_of(&text);
    for part in [
        "1. e2-e4 {-3.45/5 0.001s, pv=\"e2e4\"} d7-d5 {",
        " 2. e4xd5 {",
        " 3. Nb1-c3 {",
        " Qd5-e5+ {",
        " O-O-O {-3.45/5 0.001s, pv=\"e8c8\", White mates} 1-0",
    ] {
        assert!(text.contains(part), "no `{part}` in {text}");
    }
    let uci = PgnStyle { moves: PgnMoves::Uci, ..style() };
    let text = written(uci, "e2e4 e7e5", |_, _, _| ());
    assert!(moves_of(&text).starts_with("1. e2e4 {-3.45/5 0.001s} e7e5 {"), "{text}");
}

#[test]
fn missing_values_are_zero_or_empty() {
    let fields = PgnFields {
        nodes: true,
        seldepth: true,
        nps: true,
        hashfull: true,
        tbhits: true,
        time_left: true,
        latency: true,
        pv: true,
    };
    let text = written(PgnStyle { fields, ..style() }, "e2e4 e7e5", |plan, _, game| {
        plan.engines[0].limits.move_time_ms = Some(1_500);
        let played = &mut game.moves[0];
        (played.reported_time_ms, played.nodes) = (Some(3), Some(70));
        game.moves[1] = MoveRecord::new("e7e5".parse().expect("a move"));
        game.moves[1].lines = vec!["info {x}".to_owned()];
    });
    let expected = "1. e4 {-3.45/5 0.001s, tl=1.500s, latency=-0.002s, n=70, sd=0, nps=0, hashfull=0, \
        tbhits=0, pv=\"e2e4\"} e5 {/0 0.000s, tl=0.000s, latency=0.000s, n=0, sd=0, nps=0, hashfull=0, \
        tbhits=0, pv=\"\", line=\"info (x)\", White mates} 1-0";
    assert_eq!(moves_of(&text), expected);
}

#[test]
fn openings_have_a_position_and_book_moves() {
    let book = |_: &mut Plan, opening: &mut Opening, _: &mut MatchGame| {
        opening.position = Some("4k3/8/8/8/8/8/4p3/R3K3 b Q - 3 20".to_owned());
        opening.moves = vec!["e8d7".to_owned(), "e1e2".to_owned()];
    };
    let text = written(style(), "d7c6 a1a6", book);
    assert!(text.contains("[SetUp \"1\"]\n[FEN \"4k3/8/8/8/8/8/4p3/R3K3 b Q - 3 20\"]\n[GameDur"));
    assert!(text.contains("[PlyCount \"4\"]"), "{text}");
    let moves = "20... Kd7 {book} 21. Kxe2 {book} Kc6 {-3.45/5 0.001s} \
        22. Ra6+ {-3.45/5 0.001s, White mates} 1-0";
    assert_eq!(moves_of(&text), moves);
    // An engine that failed before its first move has no comment about the end.
    let text = written(style(), "", book);
    assert_eq!(moves_of(&text), "20... Kd7 {book} 21. Kxe2 {book} 1-0");
}

#[test]
fn chess960_has_a_variant_tag_and_castling_rights_by_files() {
    let start = "rkbbnnqr/pppppppp/8/8/8/8/PPPPPPPP/RKBBNNQR w KQkq - 0 1";
    let text = written(style(), "a2a4", |plan, opening, _| {
        plan.game = Game::Chess960;
        opening.position = Some(start.to_owned());
    });
    let fen = start.replace("KQkq", "HAha");
    let tags = format!("[Variant \"Chess960\"]\n[SetUp \"1\"]\n[FEN \"{fen}\"]\n[GameDuration");
    assert!(text.contains(&tags), "{text}");
    assert!(!text.contains("[ECO"), "{text}");
}

#[test]
fn ends_have_the_texts_of_fastchess() {
    let end = |moves: &str, end: GameEnd| {
        let text = written(style(), moves, |_, _, game| game.end = end);
        let (tags, moves) = text.split_once("\n\n").expect("tags");
        let tags = tags
            .lines()
            .filter(|line| line.starts_with("[PlyCount") || line.starts_with("[Termination"));
        (tags.collect::<Vec<_>>().join(" "), moves.trim_end().to_owned())
    };
    let check = |line: &str, how: GameEnd, tags: &str, moves: &str| {
        assert_eq!(end(line, how), (tags.to_owned(), moves.to_owned()));
    };
    let illegal = || GameEnd::illegal_move("a1a8", "startpos", IllegalReason::OccupiedByOwnPiece);
    check(
        "e2e4",
        illegal(),
        "[PlyCount \"2\"] [Termination \"illegal move\"]",
        "1. e4 {-3.45/5 0.001s, Black makes an illegal move: a1a8} 1-0",
    );
    check(
        "",
        illegal(),
        "[PlyCount \"1\"] [Termination \"illegal move\"]",
        "{Black makes an illegal move: a1a8} 1-0",
    );
    check(
        "e2e4",
        GameEnd::stall(1),
        "[PlyCount \"1\"] [Termination \"abandoned\"]",
        "1. e4 {-3.45/5 0.001s, Black's connection stalls} 1-0",
    );
    check("", sample::crash(), "[PlyCount \"0\"] [Termination \"abandoned\"]", "1-0");
    check(
        "e2e4",
        GameEnd::time_forfeit(2_500),
        "[PlyCount \"1\"] [Termination \"time forfeit\"]",
        "1. e4 {-3.45/5 0.001s, Black loses on time (2ms overrun)} 1-0",
    );
}
