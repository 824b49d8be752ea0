//! `readyok bot` against a mock of Lichess.

use std::fs::{self, File};
use std::process::{Child, Command};
use std::time::Duration;

use readyok_rules::{BookCounter, BookFormat, BookOptions, BookWriter, Game as Rules, GameResult};
use readyok_rules::{Position, Side};
use serde_json::{Value, json};

use crate::lichess::{Fault, Game, LAG, Lichess, TOKEN};
use crate::program::{Dir, Output, Signal, finish, readyok, scripted_engine, signal, wait};

/// Morphy against the Duke of Brunswick and Count Isouard, Paris 1858.
const OPERA: &str = "e2e4 e7e5 g1f3 d7d6 d2d4 c8g4 d4e5 g4f3 d1f3 d6e5 f1c4 g8f6 f3b3 d8e7 b1c3 c7c6 c1g5 b7b5 c3b5 \
                     c6b5 c4b5 b8d7 e1c1 a8d8 d1d7 d8d7 h1d1 e7e6 b5d7 f6d7 b3b8 d7b8 d1d8";

/// An engine that plays the moves of White in a game. `steps` are those before the move with this number of plies.
fn engine(dir: &Dir, game: &str, (ply, steps): (usize, &str)) -> String {
    let moves: Vec<&str> = game.split_whitespace().collect();
    let mut rules = Vec::new();
    for number in (0..moves.len()).step_by(2).rev() {
        let pattern = match number {
            0 => "startpos".to_owned(),
            _ => format!("moves {}", moves[..number].join(" ")),
        };
        let steps = if number == ply { steps } else { "" };
        let mv = moves[number];
        rules.push(format!("{pattern} => {steps} info score cp 25; bestmove {mv}\n"));
    }
    engine_with(dir, &rules.concat())
}

fn engine_with(dir: &Dir, rules: &str) -> String {
    let rules = dir.write("rules", rules);
    let log = dir.path().join("log");
    format!("{} answers {} {}", scripted_engine().display(), rules.display(), log.display())
}

fn command(server: &Lichess, dir: &Dir, engine: &str, config: &str) -> Command {
    let mut command = readyok(dir);
    let config = dir.write("bot.toml", config);
    command.args(["bot", engine, "--server", &server.address, "--config"]).arg(config);
    command.env("LICHESS_API_TOKEN", TOKEN);
    command
}

fn start(server: &Lichess, dir: &Dir, engine: &str, config: &str) -> Child {
    command(server, dir, engine, config).spawn().expect("readyok starts")
}

/// Ends the bot after its games. The token is in no output, and engines do not receive it.
fn end(dir: &Dir, child: Child) -> Output {
    signal(child.id(), Signal::TERM);
    let output = finish(child);
    assert_eq!(output.code(), Some(0), "{}", output.stderr);
    assert!(!output.stderr.contains(TOKEN) && !output.text().contains(TOKEN), "{}", output.stderr);
    let log = fs::read_to_string(dir.path().join("log")).unwrap_or_default();
    assert!(!log.contains(TOKEN), "{log}");
    output
}

fn is_over(server: &Lichess, id: &str, status: &'static str) {
    server.wait(status, |state| state.games.get(id).is_some_and(|game| game.status == status));
}

#[test]
fn plays_a_recorded_game_and_measures_the_overhead() {
    let (dir, server) = (Dir::new(), Lichess::start());
    server.state().games.insert("opera".to_owned(), Game::new(true, OPERA));
    let child = start(&server, &dir, &engine(&dir, OPERA, (0, "")), "");
    is_over(&server, "opera", "checkmate");
    let output = end(&dir, child);
    assert_eq!(output.stderr.lines().count(), 1, "{}", output.stderr);
    let text = output.text();
    assert!(text.contains("game opera: won (checkmate) after 33 plies"), "{text}");
    let overhead = text.split("overhead ").nth(1).and_then(|text| text.split(' ').next());
    let overhead: i64 = overhead.and_then(|text| text.parse().ok()).expect("milliseconds");
    assert!((LAG..2000).contains(&overhead), "{text}");
    // The reserve of the network is not given to the engine.
    let log = fs::read_to_string(dir.path().join("log")).expect("a log");
    let first = log.lines().find(|line| line.starts_with("go ")).expect("a search");
    assert!(first.starts_with("go wtime 59700 btime 60000 winc 1000 binc 1000"), "{first}");
    assert_eq!(server.state().count("/chat"), 0);
}

#[test]
fn wins_despite_faults_of_the_network_the_server_and_the_engine() {
    let (dir, server) = (Dir::new(), Lichess::start());
    let crash = format!("crash-once {};", dir.path().join("crashed").display());
    server.state().faults.extend([
        ("/api/account", Fault::Status(502)),
        ("/api/account", Fault::Close),
        ("/api/stream/event", Fault::Truncate),
        ("/api/stream/event", Fault::Malformed),
        ("/game/stream/opera", Fault::Status(500)),
        ("/game/stream/opera", Fault::Truncate),
        ("/game/stream/opera", Fault::Silent),
        ("/game/stream/opera", Fault::Malformed),
        ("/move/e2e4", Fault::Status(503)),
        ("/move/e2e4", Fault::Close),
        ("/move/g1f3", Fault::LateClose),
        ("/move/d2d4", Fault::RateLimit),
        ("/move/d4e5", Fault::Status(400)),
        ("/game/stream/opera", Fault::Close),
        ("/move/f3b3", Fault::LateClose),
    ]);
    server.state().breaks = vec![12, 20, 21];
    let child = start(&server, &dir, &engine(&dir, OPERA, (8, &crash)), "");
    server.wait("the event stream", |state| {
        state.faults.iter().all(|(part, _)| !part.contains("event"))
    });
    server.begin("opera", Game::new(true, OPERA));
    is_over(&server, "opera", "checkmate");
    let output = end(&dir, child);
    let state = server.state();
    assert!(state.faults.is_empty(), "{:?}", state.faults);
    assert!(state.breaks.len() < 2, "{:?}", state.breaks);
    drop(state);
    assert!(dir.path().join("crashed").exists());
    for part in ["malformed line", "ends early", "limits the rate", "status 502", "exited"] {
        assert!(output.stderr.contains(part), "no `{part}`: {}", output.stderr);
    }
    assert!(output.text().contains("game opera: won"), "{}", output.text());
}

#[test]
fn continues_games_after_a_kill() {
    let (dir, server) = (Dir::new(), Lichess::start());
    let gate = dir.path().join("gate");
    let engine = engine(&dir, OPERA, (12, &format!("wait {};", gate.display())));
    server.state().games.insert("opera".to_owned(), Game::new(true, OPERA));
    let child = start(&server, &dir, &engine, "");
    server.wait("moves", |state| state.games["opera"].moves.len() == 12);
    signal(child.id(), Signal::KILL);
    finish(child);
    fs::write(&gate, "").expect("a file");
    let child = start(&server, &dir, &engine, "");
    is_over(&server, "opera", "checkmate");
    assert!(end(&dir, child).text().contains("game opera: won"));
}

#[test]
fn four_games_divide_the_hash_and_a_fifth_waits() {
    let (dir, server) = (Dir::new(), Lichess::start());
    let wait_for_end = format!("startpos => wait {};bestmove e2e4", dir.path().join("x").display());
    let engine = engine_with(&dir, &wait_for_end);
    let child = start(&server, &dir, &engine, "games = 4\nhash = 8");
    for id in ["a", "b", "c", "d"] {
        server.challenge(id, &json!({}));
    }
    server.wait("accepted", |state| state.count("/accept") == 4);
    server.challenge("e", &json!({}));
    server.wait("declined", |state| state.count("/challenge/e/decline reason=later") == 1);
    let log = || fs::read_to_string(dir.path().join("log")).unwrap_or_default();
    wait("four searches", || log().matches("go ").count() == 4);
    assert!(log().matches("name Hash value 2").count() >= 4, "{}", log());
    let status = fs::read_to_string(format!("/proc/{}/status", child.id())).unwrap_or_default();
    // Without the pages of the program file, which other processes share and tests enlarge.
    let memory = status.lines().find_map(|line| line.strip_prefix("RssAnon:"));
    let memory: Option<u32> = memory.and_then(|line| line.trim().strip_suffix(" kB")?.parse().ok());
    assert!(memory.is_none_or(|memory| memory <= 15_000), "{status}");
    fs::write(dir.path().join("x"), "").expect("a file");
    server.wait("moves", |state| state.games.values().all(|game| !game.moves.is_empty()));
    signal(child.id(), Signal::KILL);
    finish(child);
}

#[test]
fn declines_challenges_by_rules() {
    let (dir, server) = (Dir::new(), Lichess::start());
    let child =
        start(&server, &dir, "narikin", "[accept]\nrated = false\nmax_time = 300\nbots = false");
    for (id, changes, reason) in [
        ("a", json!({ "variant": { "key": "atomic" } }), "variant"),
        ("b", json!({ "rated": true }), "casual"),
        ("c", json!({ "timeControl": { "type": "correspondence" } }), "timeControl"),
        ("d", json!({ "challenger": { "id": "x", "name": "X", "title": "BOT" } }), "noBot"),
    ] {
        server.challenge(id, &changes);
        let expected = format!("POST /api/challenge/{id}/decline reason={reason}");
        server.wait(&expected, |state| state.count(&expected) == 1);
    }
    end(&dir, child);
    assert_eq!(server.state().count("/accept"), 0);
}

#[test]
fn answers_offers_and_resigns_by_rules() {
    let (dir, server) = (Dir::new(), Lichess::start());
    let offers = |values: &[(usize, Value)]| {
        let mut game = Game::new(true, OPERA);
        game.extra.extend(values.iter().cloned());
        game
    };
    server.state().games.insert(
        "first".to_owned(),
        offers(&[(4, json!({ "btakeback": true, "bdraw": true })), (8, json!({ "bdraw": true }))]),
    );
    let rules = "[draw]\nfrom_move = 5\nmoves = 2\nscore = 30\n[chat]\nhello = 'Hi & bye'";
    let child = start(&server, &dir, &engine(&dir, OPERA, (0, "")), rules);
    is_over(&server, "first", "draw");
    end(&dir, child);
    let of = |part| server.state().count(part);
    assert_eq!((of("/draw/no"), of("/draw/yes"), of("/takeback/no")), (1, 1, 1));
    assert_eq!(of("POST /api/bot/game/first/chat room=player&text=Hi%20%26%20bye"), 1);

    server.state().games.insert("second".to_owned(), Game::new(true, OPERA));
    let rules = "[resign]\nscore = 30\nmoves = 3\n[draw]\noffer = true\nfrom_move = 2\nmoves = 2\nscore = 30";
    let child = start(&server, &dir, &engine(&dir, OPERA, (0, "")), rules);
    is_over(&server, "second", "resign");
    end(&dir, child);
    assert_eq!((of("second/move/g1f3?offeringDraw=true"), of("second/move/")), (1, 2));
}

#[test]
fn aborts_or_resigns_if_the_game_cannot_be_played() {
    let (dir, server) = (Dir::new(), Lichess::start());
    let engine = engine_with(&dir, "moves e2e4 => crash\n");
    server.state().games.insert("unplayed".to_owned(), Game::new(true, "e2e4 ?"));
    server.state().games.get_mut("unplayed").expect("a game").white_is_bot = false;
    let child = start(&server, &dir, &engine, "abort_after = 1\ngames = 2");
    is_over(&server, "unplayed", "aborted");
    server.begin("crash", Game::new(false, "e2e4 ?"));
    is_over(&server, "crash", "aborted");
    let played = "e2e4 e7e5 d2d4 ?";
    let rules = "moves e2e4 e7e5 => crash\nmoves e2e4 => bestmove e7e5\n";
    fs::write(dir.path().join("rules"), rules).expect("a file");
    server.begin("late", Game::new(false, played));
    is_over(&server, "late", "resign");
    let output = end(&dir, child);
    assert!(output.stderr.contains("game late: cannot be played"), "{}", output.stderr);
}

#[test]
fn plays_a_move_of_the_pv_if_the_engine_hangs() {
    let (dir, server) = (Dir::new(), Lichess::start());
    // The first `wait` ends by `stop`, the second one never.
    let rules = "moves e2e4 e7e5 => bestmove g1f3\n\
                 startpos => info depth 1 score cp 5 pv e2e4; wait a; wait b; bestmove d2d4\n";
    let mut game = Game::new(true, "e2e4 e7e5 g1f3 ?");
    game.clocks = [3000; 2];
    server.state().games.insert("hang".to_owned(), game);
    let child = start(&server, &dir, &engine_with(&dir, rules), "");
    server.wait("moves", |state| state.games["hang"].moves.len() == 3);
    server.change(|state| state.games.get_mut("hang").expect("a game").end("aborted", None));
    assert!(end(&dir, child).stderr.contains("does not stop"));
}

#[test]
fn plays_chess960_and_ponders() {
    let (dir, server) = (Dir::new(), Lichess::start());
    let mut game = Game::new(true, "");
    game.variant = "chess960";
    game.clocks = [1000; 2];
    game.fen = "bqnb1rkr/pp3ppp/3ppn2/2p5/5P2/P2P4/NPP1P1PP/BQ1BNRKR w HFhf - 2 9".to_owned();
    server.state().games.insert("nine".to_owned(), game);
    let child = start(&server, &dir, "narikin", "move_overhead_ms = 10");
    server.wait("the end", |state| state.games["nine"].status != "started");
    assert!(end(&dir, child).text().contains("against Anna, chess960"));
}

#[test]
fn plays_from_books_and_tables_without_a_search() {
    let (dir, server) = (Dir::new(), Lichess::start());
    let start_position = Position::start(Rules::Chess);
    let mv = start_position.parse_move("b1c3").expect("legal");
    let mut counter = BookCounter::new(BookFormat::Polyglot, 0, 1);
    counter.add(&start_position, mv, GameResult::Win(Side::First));
    let file = File::create(dir.path().join("book.bin")).expect("a file");
    let mut writer =
        BookWriter::new(file, BookFormat::Polyglot, BookOptions { min_games: 1, is_uniform: true });
    writer.add(counter).expect("written");
    writer.finish().expect("written");
    server.state().games.insert("book".to_owned(), Game::new(true, "b1c3 ?"));
    let mut table = Game::new(true, "");
    (table.variant, table.fen) = ("fromPosition", "8/8/4k3/8/8/8/1Q6/1K6 w - - 0 1".to_owned());
    server.state().games.insert("table".to_owned(), table);
    let syzygy = concat!(env!("CARGO_MANIFEST_DIR"), "/../../testdata/syzygy");
    let book = dir.path().join("book.bin");
    let config = format!("games = 2\nbooks = ['{}']\nsyzygy = ['{syzygy}']", book.display());
    // The engine has no answer.
    let engine = engine_with(&dir, "nothing => crash\n");
    let child = start(&server, &dir, &engine, &config);
    is_over(&server, "table", "checkmate");
    server.wait("a move", |state| state.games["book"].moves == ["b1c3"]);
    server.change(|state| state.games.get_mut("book").expect("a game").status = "aborted");
    signal(child.id(), Signal::KILL);
    finish(child);
}

#[test]
fn challenges_others_only_on_request_and_within_limits() {
    let (dir, server) = (Dir::new(), Lichess::start());
    let rules = "[challenge]\nopponents = ['maia1', 'maia5']\npause = 0\nper_day = 1\ntime = 60";
    let child = start(&server, &dir, "narikin", rules);
    let expected =
        "POST /api/challenge/maia1 rated=false&clock.limit=60&clock.increment=2&variant=standard";
    server.wait("a challenge", |state| state.count(expected) == 1);
    std::thread::park_timeout(Duration::from_millis(500));
    end(&dir, child);
    assert_eq!(server.state().count("/challenge/"), 1);
}

#[test]
fn checks_the_token_the_account_the_configuration_and_the_engine() {
    let (dir, server) = (Dir::new(), Lichess::start());
    let check = |engine: &str, config: &str| {
        finish(
            command(&server, &dir, engine, config).arg("--check").spawn().expect("readyok starts"),
        )
    };
    let output = check("narikin", "");
    assert!(output.text().contains("account: `MyBot`, a bot"), "{}", output.text());
    assert!(output.text().contains("chess and Chess960"), "{}", output.text());
    check("narikin", "[accept]\nrating = 3").reports(2, "line 2: unknown field `rating`");
    check("false", "").reports(1, "exited");
    server.state().scopes = "preference:read";
    check("narikin", "").reports(1, "the token does not have the scope bot:play");
    server.state().title = None;
    check("narikin", "").reports(1, "`MyBot` is not a bot account");
    let mut wrong = command(&server, &dir, "narikin", "");
    wrong.arg("--check").env("LICHESS_API_TOKEN", "lip_other");
    let output = finish(wrong.spawn().expect("readyok starts"));
    output.reports(1, "rejects the token; it needs the scope bot:play");
    assert!(!output.stderr.contains("lip_other"), "{}", output.stderr);
    let state = server.state();
    assert_eq!(state.count("POST"), state.count("/api/token/test"));
}
