//! Exported records: their contents and their consistency with the result file.

use std::fs::{self, OpenOptions};
use std::io::Write;
use std::path::{Path, PathBuf};

use readyok_arena::export::{
    Existing, Export, ExportError, Exports, Form, PgnFields, PgnMoves, PgnStyle, Recorder,
};
use readyok_arena::pairing::PairResult;
use readyok_arena::result::{GameEnd, MoveRecord};
use readyok_arena::store::{Reader, Store};
use readyok_rules::record::{self, Format};
use readyok_rules::{Game, GameResult, Handicap, IllegalReason, Setup, Side, Termination};
use tempfile::TempDir;

use crate::sample;

struct Place(TempDir);

impl Place {
    fn new() -> Self {
        Self(tempfile::tempdir().expect("a directory"))
    }

    fn path(&self, name: &str) -> PathBuf {
        self.0.path().join(name)
    }

    fn export(&self, form: Form, existing: Existing) -> Export {
        Export { path: self.path("games"), form, existing }
    }

    /// Continues a match up to a number of pairs and returns the warnings about the existing file.
    fn play_on(&self, export: &Export, pairs: u64) -> Vec<String> {
        let path = self.path("match.jsonl");
        let mut store = if path.exists() {
            Store::resume(&path, |_| ()).expect("a good file").0
        } else {
            Store::create(&path, &sample::plan(&["a", "b \"x\""], 10)).expect("new")
        };
        let mut exports = Exports::new(vec![export.clone()]);
        exports.begin(&mut store).expect("files");
        for pair in Reader::open(&path).expect("a good file") {
            exports.check(&pair.expect("a good line")).expect("space");
        }
        let warnings = exports.open().expect("files");
        for index in store.stored().len()..pairs {
            let pair = sample::pair(index);
            store.append(&pair).expect("space");
            exports.append(&pair).expect("space");
        }
        exports.close().expect("space");
        warnings
    }

    fn text(&self) -> String {
        fs::read_to_string(self.path("games")).expect("a file")
    }
}

fn pgn() -> Form {
    Form::Pgn(PgnStyle::default())
}

/// The file of an uninterrupted match of this many pairs.
fn expected(form: &Form, pairs: u64) -> String {
    let place = Place::new();
    place.play_on(&place.export(form.clone(), Existing::Replace), pairs);
    place.text()
}

#[test]
fn games_are_written_like_by_other_runners() {
    let text = expected(&pgn(), 1);
    let first = include_str!("data/export/games_are_written_like_by_other_runners.txt");
    assert_eq!(&text[..first.len()], first);
    let second = &text[first.len()..];
    assert!(second.starts_with("[Event \"?\"]"), "{second}");
    assert!(second.contains("[Round \"1.2\"]\n[White \"b \\\"x\\\"\"]\n[Black \"a\"]"), "{second}");
    assert!(second.ends_with("draw by repetition} 1/2-1/2\n\n"), "{second}");
}

#[test]
fn comments_have_optional_scores_of_white() {
    let style = PgnStyle { white_scores: true, ..PgnStyle::default() };
    let text = expected(&Form::Pgn(style), 1);
    let moves = "1. e4 {+0.12/3 0.001s} 1... e5 {-0.12/3 0.002s} 2. Qh5 {+0.12/3 0.003s}";
    assert!(text.contains(moves), "{text}");
}

/// PGN, 9.6.1: `moves/seconds` is a repeating period, and `:` separates consecutive periods.
#[test]
fn byoyomi_is_one_move_per_period() {
    for (tc, expected) in [(None, "1/0.5"), (Some("60+1"), "60+1:1/0.5")] {
        let place = Place::new();
        let mut plan = sample::plan(&["a", "b"], 1);
        for engine in &mut plan.engines {
            engine.limits.byoyomi_ms = Some(500);
            engine.limits.tc = tc.map(|tc| tc.parse().expect("a clock"));
        }
        let mut store = Store::create(&place.path("match.jsonl"), &plan).expect("new");
        let mut exports = Exports::new(vec![place.export(pgn(), Existing::Replace)]);
        exports.begin(&mut store).expect("files");
        exports.open().expect("files");
        exports.append(&sample::pair(0)).expect("space");
        exports.close().expect("space");
        let tag = format!("[TimeControl \"{expected}\"]");
        assert!(place.text().contains(&tag), "{tag}: {}", place.text());
    }
}

/// Records made by a worker equal local records in all files, also for a pair that cannot be exported.
#[test]
fn records_of_a_worker_equal_local_records() {
    let place = Place::new();
    let exports = |ending: &str| {
        let export = |name: &str, form| Export {
            path: place.path(&format!("{name}.{ending}")),
            form,
            existing: Existing::Replace,
        };
        vec![export("games", pgn()), export("positions", Form::Positions)]
    };
    let plan = sample::plan(&["a", "b"], 1);
    let mut store = Store::create(&place.path("match.jsonl"), &plan).expect("new");
    let [mut here, mut there] = ["here", "there"].map(|ending| Exports::new(exports(ending)));
    for all in [&mut here, &mut there] {
        all.begin(&mut store).expect("files");
        all.open().expect("files");
    }
    let pair = sample::pair(0);
    here.append(&pair).expect("space");
    let recorder = Recorder::new(&plan, &exports("there"));
    there.append_records(&pair, recorder.records(&pair)).expect("space");
    for name in ["games", "positions"] {
        let [here, there] = ["here", "there"].map(|ending| {
            fs::read_to_string(place.path(&format!("{name}.{ending}"))).expect("a file")
        });
        assert_eq!(here, there);
        assert!(!here.is_empty());
    }
    let mut bad = pair;
    bad.games[0].moves[0].mv = "e2e5".parse().expect("a move");
    let [one, other] = [
        here.append(&bad).expect_err("no move").to_string(),
        there.append_records(&bad, recorder.records(&bad)).expect_err("no move").to_string(),
    ];
    assert_eq!(one.replace("here", "there"), other);
}

/// The tags about the opening of the first game.
fn opening_tags(form: &Form, position: Option<&str>, moves: &[&str]) -> Vec<String> {
    let place = Place::new();
    let mut store = Store::create(&place.path("match.jsonl"), &sample::plan(&["a", "b"], 1));
    let store = store.as_mut().expect("new");
    let mut exports = Exports::new(vec![place.export(form.clone(), Existing::Replace)]);
    exports.begin(store).expect("files");
    exports.open().expect("files");
    let mut pair = sample::pair(0);
    pair.games.truncate(1);
    pair.games[0].moves.clear();
    pair.pairing.opening.position = position.map(str::to_owned);
    pair.pairing.opening.moves = moves.iter().map(|&mv| mv.to_owned()).collect();
    pair.pairing.opening.name = Some("Mine".to_owned());
    exports.append(&pair).expect("space");
    let text = place.text();
    let tags = text.lines().filter(|line| line.starts_with("[ECO") || line.starts_with("[Opening"));
    tags.map(str::to_owned).collect()
}

#[test]
fn openings_have_their_common_names() {
    let sicilian = ["[ECO \"B20\"]", "[Opening \"Sicilian Defense\"]"];
    assert_eq!(opening_tags(&pgn(), None, &["e2e4", "c7c5"]), sicilian);
    let nameless = ["e2e4", "c7c5", "h2h3", "h7h6", "a2a3", "a7a6"];
    assert_eq!(opening_tags(&pgn(), None, &nameless), sicilian, "the last name holds");
    let position = "rnbqkbnr/pp1ppppp/8/2p5/4P3/8/PPPP1PPP/RNBQKBNR w KQkq - 0 2";
    assert_eq!(opening_tags(&pgn(), Some(position), &[]), sicilian);
    let ending = "8/8/4k3/8/4K3/4P3/8/8 w - - 0 1";
    assert_eq!(opening_tags(&pgn(), Some(ending), &[]), ["[Opening \"Mine\"]"]);
    let min = Form::Pgn(PgnStyle { min: true, ..PgnStyle::default() });
    assert_eq!(opening_tags(&min, None, &["e2e4", "c7c5"]), [""; 0]);
}

#[test]
fn all_reported_values_can_be_exported() {
    let fields = PgnFields { nodes: true, pv: true, ..PgnFields::default() };
    let text = expected(&Form::Pgn(PgnStyle { fields, ..PgnStyle::default() }), 1);
    let tokens: Vec<&str> = text.split_whitespace().collect();
    assert!(tokens.join(" ").contains("1. e4 {+0.12/3 0.001s, n=100, pv=\"e4\"}"), "{text}");
    let long = expected(&Form::Pgn(PgnStyle { moves: PgnMoves::Lan, ..PgnStyle::default() }), 1);
    assert!(long.contains("2. Qd1-h5 "), "{long}");
    let uci = expected(&Form::Pgn(PgnStyle { moves: PgnMoves::Uci, ..PgnStyle::default() }), 1);
    assert!(uci.contains("2. d1h5 "), "{uci}");
    let min = expected(&Form::Pgn(PgnStyle { min: true, ..PgnStyle::default() }), 1);
    assert!(min.contains("\n\n1. e4 e5 2. Qh5 Nc6 3. Bc4 Nf6 4. Qxf7# 1-0\n\n"), "{min}");
    assert!(!min.contains("PlyCount"), "{min}");
}

/// The first game of a match, lost by an illegal move.
fn lost_by_illegal_move(style: PgnStyle) -> String {
    let place = Place::new();
    let mut store = Store::create(&place.path("match.jsonl"), &sample::plan(&["a", "b"], 1));
    let store = store.as_mut().expect("new");
    let mut exports = Exports::new(vec![place.export(Form::Pgn(style), Existing::Replace)]);
    exports.begin(store).expect("files");
    exports.open().expect("files");
    let mut pair = sample::pair(0);
    pair.games.truncate(1);
    pair.games[0].end = GameEnd::illegal_move("a1a1", "8/8 w", IllegalReason::EmptyOriginSquare);
    exports.append(&pair).expect("space");
    place.text().split_whitespace().collect::<Vec<_>>().join(" ")
}

#[test]
fn failures_have_a_standard_termination_and_a_detailed_comment() {
    let text = lost_by_illegal_move(PgnStyle::default());
    assert!(text.contains("[Termination \"rules infraction\"]"), "{text}");
    let expected =
        ", Black plays the illegal move `a1a1` at 8/8 w: the origin square is empty} 1-0";
    assert!(text.ends_with(expected), "{text}");
}

#[test]
fn latency_is_the_difference_of_measured_and_reported_time() {
    let place = Place::new();
    let mut store = Store::create(&place.path("match.jsonl"), &sample::plan(&["a", "b"], 1));
    let store = store.as_mut().expect("new");
    let fields = PgnFields { nodes: true, time_left: true, latency: true, ..PgnFields::default() };
    let form = Form::Pgn(PgnStyle { fields, ..PgnStyle::default() });
    let mut exports = Exports::new(vec![place.export(form, Existing::Replace)]);
    exports.begin(store).expect("files");
    exports.open().expect("files");
    let mut pair = sample::pair(0);
    let played = &mut pair.games[0].moves[0];
    (played.time_us, played.reported_time_ms, played.left_ms) = (350_400, Some(348), Some(9_650));
    exports.append(&pair).expect("space");
    let text = place.text().split_whitespace().collect::<Vec<_>>().join(" ");
    let expected = "1. e4 {+0.12/3 0.350s, tl=9.650s, latency=0.002s, n=100} 1... e5 {+0.12/3 0.002s, \
                n=200}";
    assert!(text.contains(expected), "{text}");
}

#[test]
fn exported_games_can_be_read() {
    let text = expected(&pgn(), 3);
    let games = record::read(text.as_bytes(), Format::PGN);
    let plies: Vec<usize> = games.map(|game| game.expect("a game").mainline().count()).collect();
    assert_eq!(plies, [7, 8, 7, 8, 7, 8]);
}

#[test]
fn last_positions_are_epd() {
    let text = expected(&Form::Positions, 1);
    let mate = "r1bqkb1r/pppp1Qpp/2n2n2/4p3/2B1P3/8/PPPP1PPP/RNB1K1NR b KQkq - hmvc 0; fmvn 4;\n";
    let start = "rnbqkbnr/pppppppp/8/8/8/8/PPPPPPPP/RNBQKBNR w KQkq - hmvc 8; fmvn 5;\n";
    assert_eq!(text, format!("{mate}{start}"));
}

#[test]
fn a_truncated_file_is_completed() {
    for form in [pgn(), Form::Positions] {
        let whole = expected(&form, 3);
        for length in (0..whole.len()).step_by(97) {
            let place = Place::new();
            let export = place.export(form.clone(), Existing::Replace);
            place.play_on(&export, 2);
            let now = place.text();
            fs::write(place.path("games"), &now[..length.min(now.len())]).expect("space");
            assert_eq!(place.play_on(&export, 3), [""; 0], "a truncated end causes no warning");
            assert_eq!(place.text(), whole);
        }
    }
}

#[test]
fn a_file_with_different_contents_is_renamed_and_rewritten() {
    let place = Place::new();
    let export = place.export(pgn(), Existing::Replace);
    place.play_on(&export, 2);
    let changed = place.text().replacen("1-0", "0-1", 1);
    fs::write(place.path("games"), &changed).expect("space");
    let warnings = place.play_on(&export, 3);
    assert_eq!(warnings.len(), 1);
    assert!(warnings[0].contains("games.old"), "{warnings:?}");
    assert_eq!(place.text(), expected(&pgn(), 3));
    assert_eq!(fs::read_to_string(place.path("games.old")).expect("the renamed file"), changed);
}

#[test]
fn games_without_results_are_removed() {
    let place = Place::new();
    let export = place.export(pgn(), Existing::Replace);
    place.play_on(&export, 3);
    // A system crash has preserved the records and lost the last results.
    let results = fs::read_to_string(place.path("match.jsonl")).expect("a file");
    let lines: Vec<&str> = results.lines().take(3).collect();
    fs::write(place.path("match.jsonl"), format!("{}\n", lines.join("\n"))).expect("space");
    assert_eq!(place.play_on(&export, 2).len(), 1);
    assert_eq!(place.text(), expected(&pgn(), 2));
    assert_eq!(place.play_on(&export, 4), [""; 0]);
    assert_eq!(place.text(), expected(&pgn(), 4));
}

#[test]
fn records_can_be_appended_to_an_existing_file() {
    let place = Place::new();
    fs::write(place.path("games"), "other games\n").expect("space");
    let export = place.export(pgn(), Existing::Append);
    place.play_on(&export, 2);
    assert_eq!(place.play_on(&export, 3), [""; 0]);
    assert_eq!(place.text(), format!("other games\n{}", expected(&pgn(), 3)));
    let mut file = OpenOptions::new().append(true).open(place.path("games")).expect("a file");
    file.write_all(b"half a ga").expect("space");
    drop(file);
    assert_eq!(place.play_on(&export, 4).len(), 1);
    assert_eq!(place.text(), format!("other games\n{}", expected(&pgn(), 4)));
}

#[test]
fn a_new_match_renames_an_existing_file() {
    let place = Place::new();
    for (name, number) in [("games.old", 1), ("games.old2", 2)] {
        let others = format!("other games {number}\n");
        fs::write(place.path("games"), &others).expect("space");
        let warnings = place.play_on(&place.export(pgn(), Existing::Replace), 1);
        assert!(matches!(&warnings[..], [it] if it.contains(name)), "{warnings:?}");
        assert_eq!(place.text(), expected(&pgn(), 1));
        assert_eq!(fs::read_to_string(place.path(name)).expect("the renamed file"), others);
        fs::remove_file(place.path("match.jsonl")).expect("a file");
    }
    let old = fs::read_to_string(place.path("games.old")).expect("the renamed file");
    assert_eq!(old, "other games 1\n");
}

#[test]
fn overwriting_creates_no_renamed_file() {
    let place = Place::new();
    fs::write(place.path("games"), "other games\n").expect("space");
    assert_eq!(place.play_on(&place.export(pgn(), Existing::Overwrite), 1), [""; 0]);
    assert_eq!(place.text(), expected(&pgn(), 1));
    assert!(!place.path("games.old").exists());
}

/// A pair of shogi: one game ends by resignation and one by an illegal move.
fn shogi_pair(index: u64) -> PairResult {
    let mut pair = sample::pair(index);
    let played = |moves: &[&str]| {
        let played = |mv: &&str| MoveRecord::new(mv.parse().expect("a move"));
        moves.iter().map(played).collect()
    };
    pair.games[0].moves = played(&["7g7f", "3c3d", "8h2b+"]);
    pair.games[0].end = Termination::Resignation.into();
    pair.games[1].moves = played(&["2g2f", "8c8d"]);
    pair.games[1].winner = Some(Side::Second);
    let reason = IllegalReason::InvalidPromotion;
    pair.games[1].end = GameEnd::illegal_move("2f2e+", "", reason);
    pair
}

#[test]
fn exported_shogi_games_can_be_read() {
    let place = Place::new();
    let mut plan = sample::plan(&["a", "b"], 10);
    plan.game = Game::Shogi;
    let mut store = Store::create(&place.path("match.jsonl"), &plan).expect("new");
    let [csa, kif] = [(Form::Csa, "csa"), (Form::Kif, "kif")].map(|(form, name)| Export {
        path: place.path(name),
        form,
        existing: Existing::Replace,
    });
    let mut exports = Exports::new(vec![csa, kif]);
    exports.begin(&mut store).expect("files");
    exports.open().expect("files");
    fs::write(place.path("kif/000001-1.kif"), "another game\n").expect("space");
    for index in 0..2 {
        exports.append(&shogi_pair(index)).expect("space");
    }
    let old = place.path("kif/000001-1.kif.old");
    assert_eq!(fs::read_to_string(&old).expect("the renamed file"), "another game\n");
    fs::remove_file(old).expect("it was there");
    let check = |bytes: &[u8], format, plies: &[usize]| {
        let games = record::read(bytes, format).map(|game| game.expect("a game"));
        let games: Vec<_> = games.collect();
        let found: Vec<usize> = games.iter().map(|game| game.mainline().count()).collect();
        assert_eq!(found, plies);
        assert_eq!(games[0].player(Side::First), Some("a"));
    };
    let csa = fs::read(place.path("csa")).expect("a file");
    check(&csa, Format::CSA, &[3, 2, 3, 2]);
    let expected = "Black plays the illegal move `2f2e+`";
    assert_eq!(String::from_utf8_lossy(&csa).matches(expected).count(), 2);
    let permissions = |path: &Path| fs::metadata(path).expect("a file").permissions();
    let dir = place.path("kif");
    for (name, plies) in [("000001-1", 3), ("000002-1", 3)] {
        let path = dir.join(format!("{name}.kif"));
        check(&fs::read(&path).expect("a file"), Format::KIF, &[plies]);
        assert_eq!(
            permissions(&path),
            permissions(&place.path("csa")),
            "the permissions of any new file"
        );
    }
    let second = fs::read_to_string(dir.join("000001-2.kif")).expect("a file");
    assert!(second.contains(expected), "{second}");
    assert_eq!(fs::read_dir(dir).expect("a directory").count(), 4);
}

#[test]
fn shogi_records_name_the_winner_for_both_sides_to_move() {
    let crash = sample::crash();
    let ends = [
        Termination::PerpetualCheck.into(),
        Termination::TryRule.into(),
        Termination::MateAdjudication.into(),
        Termination::ResignAdjudication.into(),
        Termination::FailedDeclaration.into(),
        GameEnd::time_forfeit(1),
        crash,
    ];
    for (end, winner) in ends.iter().flat_map(|end| [(end, Side::First), (end, Side::Second)]) {
        let place = Place::new();
        let mut plan = sample::plan(&["a", "b"], 1);
        plan.game = Game::Shogi;
        let mut store = Store::create(&place.path("match.jsonl"), &plan).expect("new");
        let csa = Export { path: place.path("csa"), form: Form::Csa, existing: Existing::Replace };
        let mut exports = Exports::new(vec![place.export(Form::Kif, Existing::Replace), csa]);
        exports.begin(&mut store).expect("files");
        exports.open().expect("files");
        let mut pair = shogi_pair(0);
        for game in &mut pair.games {
            game.end = end.clone();
            game.winner = Some(winner);
        }
        exports.append(&pair).expect("space");
        exports.close().expect("space");
        let kif = fs::read(place.path("games/000001-1.kif")).expect("a file");
        let csa = fs::read(place.path("csa")).expect("a file");
        for (bytes, format) in [(&kif, Format::KIF), (&csa, Format::CSA)] {
            let game =
                record::read(&bytes[..], format).next().expect("a game").expect("a good one");
            let text = String::from_utf8_lossy(bytes);
            assert_eq!(game.result, GameResult::Win(winner), "{text}");
            assert_eq!(game.termination(), Some(end.termination.general()), "{text}");
        }
    }
}

/// In a handicap game the player with all pieces is 下手, and the player who moves first is 上手.
#[test]
fn handicap_games_have_handicap_player_names() {
    let place = Place::new();
    let mut plan = sample::plan(&["a", "b"], 1);
    plan.game = Game::Shogi;
    let mut store = Store::create(&place.path("match.jsonl"), &plan).expect("new");
    let mut exports = Exports::new(vec![
        place.export(Form::Kif, Existing::Replace),
        Export { path: place.path("csa"), form: Form::Csa, existing: Existing::Replace },
    ]);
    exports.begin(&mut store).expect("files");
    exports.open().expect("files");
    let mut pair = shogi_pair(0);
    let start = Setup::handicap(Handicap::TwoPieces).position().expect("a handicap");
    pair.pairing.opening.position = Some(start.to_string());
    for game in &mut pair.games {
        game.moves.clear();
        game.end = Termination::Resignation.into();
    }
    exports.append(&pair).expect("space");
    exports.close().expect("space");
    let kif = fs::read(place.path("games/000001-1.kif")).expect("a file");
    let text = String::from_utf8_lossy(&kif);
    for line in ["下手：a\n", "上手：b\n", "手合割：二枚落ち\n"] {
        assert!(text.contains(line), "{line}: {text}");
    }
    let csa = fs::read(place.path("csa")).expect("a file");
    for (bytes, format) in [(&kif, Format::KIF), (&csa, Format::CSA)] {
        let game = record::read(&bytes[..], format).next().expect("a game").expect("a good one");
        let players = [Side::First, Side::Second].map(|side| game.player(side));
        assert_eq!(players, [Some("a"), Some("b")]);
    }
}

#[test]
fn a_format_of_another_game_is_rejected() {
    let place = Place::new();
    let mut store = Store::create(&place.path("match.jsonl"), &sample::plan(&["a", "b"], 1));
    let store = store.as_mut().expect("new");
    for form in [Form::Csa, Form::Kif] {
        let mut exports = Exports::new(vec![place.export(form, Existing::Replace)]);
        assert!(matches!(exports.begin(store), Err(ExportError::Form { .. })));
    }
    assert!(!place.path("games").exists(), "no file was created");
}

/// A special file can be neither compared nor truncated.
#[cfg(unix)]
#[test]
fn records_can_be_written_to_a_special_file() {
    let place = Place::new();
    for existing in [Existing::Replace, Existing::Overwrite, Existing::Append] {
        let export = Export { path: "/dev/null".into(), form: pgn(), existing };
        assert_eq!(place.play_on(&export, 1), [""; 0]);
        assert_eq!(place.play_on(&export, 2), [""; 0]);
    }
    assert!(!fs::metadata("/dev/null").expect("a device").is_file());
}
