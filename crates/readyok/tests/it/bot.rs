//! `readyok bot` against a mock of Lichess.

use std::fs;
use std::process::{Child, Command};

use serde_json::json;

use crate::lichess::{Fault, Game, LAG, Lichess, TOKEN};
use crate::program::{Dir, Output, Signal, finish, readyok, scripted_engine, signal, wait};

/// Morphy against the Duke of Brunswick and Count Isouard, Paris 1858.
const OPERA: &str = "e2e4 e7e5 g1f3 d7d6 d2d4 c8g4 d4e5 g4f3 d1f3 d6e5 f1c4 g8f6 f3b3 d8e7 b1c3 c7c6 c1g5 b7b5 c3b5 \
                     c6b5 c4b5 b8d7 e1c1 a8d8 d1d7 d8d7 h1d1 e7e6 b5d7 f6d7 b3b8 d7b8 d1d8";

/// A server, and the directory of a bot.
struct Club {
    dir: Dir,
    server: Lichess,
}

impl Club {
    fn new() -> Self {
        Self { dir: Dir::new(), server: Lichess::start() }
    }

    /// An engine that plays White in a game. `steps` are those before the move with this number of plies.
    fn player(&self, game: &str, (ply, steps): (usize, &str)) -> String {
        let moves: Vec<&str> = game.split_whitespace().collect();
        let rule = |number: usize| {
            let pattern = match number {
                0 => "startpos".to_owned(),
                _ => format!("moves {}", moves[..number].join(" ")),
            };
            let steps = if number == ply { steps } else { "" };
            format!("{pattern} => {steps} info score cp 25; bestmove {}\n", moves[number])
        };
        self.engine(&(0..moves.len()).step_by(2).rev().map(rule).collect::<String>())
    }

    fn engine(&self, rules: &str) -> String {
        let (rules, log) = (self.dir.write("rules", rules), self.dir.path().join("log"));
        format!("{} answers {} {}", scripted_engine().display(), rules.display(), log.display())
    }

    fn log(&self) -> String {
        fs::read_to_string(self.dir.path().join("log")).unwrap_or_default()
    }

    fn command(&self, engine: &str, config: &str) -> Command {
        let mut command = readyok(&self.dir);
        command.args(["bot", engine, "--server", &self.server.address, "--config"]);
        command.arg(self.dir.write("bot.toml", config)).env("LICHESS_API_TOKEN", TOKEN);
        command
    }

    fn start(&self, engine: &str, config: &str) -> Child {
        self.command(engine, config).spawn().expect("readyok starts")
    }

    /// Ends the bot after its games. The token is in no output, and engines do not receive it.
    fn end(&self, child: Child) -> Output {
        signal(child.id(), Signal::TERM);
        let output = finish(child);
        assert_eq!(output.code(), Some(0), "{}", output.stderr);
        let texts = [&output.stderr, output.text(), &self.log()];
        assert!(texts.iter().all(|text| !text.contains(TOKEN)), "{texts:?}");
        output
    }

    fn is_over(&self, id: &str, status: &'static str) {
        self.server.wait(status, |state| state.games.get(id).is_some_and(|it| it.status == status));
    }

    /// Waits for a request.
    fn receives(&self, request: &str) {
        self.server.wait(request, |state| 0 < state.count(request));
    }

    fn count(&self, part: &str) -> usize {
        self.server.state().count(part)
    }
}

fn kill(child: Child) {
    signal(child.id(), Signal::KILL);
    finish(child);
}

#[test]
fn plays_a_recorded_game_and_measures_the_overhead() {
    let club = Club::new();
    club.server.add("opera", Game::new(true, OPERA));
    let child = club.start(&club.player(OPERA, (0, "")), "");
    club.is_over("opera", "checkmate");
    let output = club.end(child);
    assert_eq!(output.stderr.lines().count(), 1, "{}", output.stderr);
    let text = output.text();
    assert!(text.contains("game opera: won (checkmate) after 33 plies"), "{text}");
    let overhead = text.split("overhead ").nth(1).and_then(|text| text.split(' ').next());
    let overhead: i64 = overhead.and_then(|text| text.parse().ok()).expect("milliseconds");
    assert!((LAG..2000).contains(&overhead), "{text}");
    // The reserve of the network is not given to the engine.
    assert!(club.log().contains("go wtime 59700 btime 60000 winc 1000 binc 1000"));
    assert_eq!(club.count("/chat"), 0);
}

#[test]
fn wins_despite_faults_of_the_network_the_server_and_the_engine() {
    let club = Club::new();
    let crash = format!("crash-once {};", club.dir.path().join("crashed").display());
    club.server.state().faults.extend([
        ("/api/account", Fault::Status(502, 1)),
        ("/api/account", Fault::Close),
        ("/api/stream/event", Fault::Truncate),
        ("/api/stream/event", Fault::Malformed),
        ("/game/stream/opera", Fault::Status(500, 1)),
        ("/game/stream/opera", Fault::Truncate),
        ("/game/stream/opera", Fault::Silent),
        ("/game/stream/opera", Fault::Malformed),
        // Moves do not wait for the end of the pause of other requests.
        ("/chat", Fault::Status(429, 900)),
        ("/move/e2e4", Fault::Status(503, 1)),
        ("/move/e2e4", Fault::Close),
        ("/move/g1f3", Fault::LateClose),
        ("/move/d2d4", Fault::Status(429, 1)),
        ("/move/d4e5", Fault::Status(400, 1)),
        ("/game/stream/opera", Fault::Close),
        ("/move/f3b3", Fault::LateClose),
    ]);
    club.server.state().breaks = vec![12, 20, 21];
    let child = club.start(&club.player(OPERA, (8, &crash)), "[chat]\nhello = 'Hi & bye'");
    let is_open = |(part, _): &(&str, Fault)| !part.contains("event");
    club.server.wait("the event stream", |state| state.faults.iter().all(is_open));
    club.server.add("opera", Game::new(true, OPERA));
    club.is_over("opera", "checkmate");
    let output = club.end(child);
    let state = club.server.state();
    assert!(state.faults.is_empty() && state.breaks.len() < 2, "{:?}", state.faults);
    assert!(club.dir.path().join("crashed").exists());
    for part in ["malformed line", "within a line", "limits the rate", "status 502", "exited"] {
        assert!(output.stderr.contains(part), "no `{part}`: {}", output.stderr);
    }
    assert!(output.text().contains("game opera: won"), "{}", output.text());
}

#[test]
fn continues_games_after_a_kill() {
    let club = Club::new();
    let gate = club.dir.path().join("gate");
    let engine = club.player(OPERA, (12, &format!("wait {};", gate.display())));
    club.server.add("opera", Game::new(true, OPERA));
    let child = club.start(&engine, "");
    club.server.wait("moves", |state| state.games["opera"].moves.len() == 12);
    kill(child);
    fs::write(&gate, "").expect("a file");
    let child = club.start(&engine, "");
    club.is_over("opera", "checkmate");
    assert!(club.end(child).text().contains("game opera: won"));
}

#[test]
fn four_games_divide_the_hash_and_a_fifth_waits() {
    let club = Club::new();
    let gate = club.dir.path().join("gate");
    let engine = club.engine(&format!("startpos => wait {};bestmove e2e4", gate.display()));
    let child = club.start(&engine, "games = 4\nhash = 8");
    for id in ["a", "b", "c", "d"] {
        club.server.challenge(id, &json!({}));
    }
    club.server.wait("accepted", |state| state.count("/accept") == 4);
    club.server.challenge("e", &json!({}));
    club.receives("/challenge/e/decline reason=later");
    wait("four searches", || club.log().matches("go ").count() == 4);
    assert!(club.log().matches("name Hash value 2").count() >= 4, "{}", club.log());
    let status = fs::read_to_string(format!("/proc/{}/status", child.id())).unwrap_or_default();
    // Without the pages of the program file, which other processes share and tests enlarge.
    let memory = status.lines().find_map(|line| line.strip_prefix("RssAnon:"));
    let memory: Option<u32> = memory.and_then(|line| line.trim().strip_suffix(" kB")?.parse().ok());
    assert!(memory.is_none_or(|memory| memory <= 15_000), "{status}");
    fs::write(gate, "").expect("a file");
    club.server.wait("moves", |state| state.games.values().all(|game| !game.moves.is_empty()));
    kill(child);
}

#[test]
fn answers_offers_and_resigns_by_rules() {
    let club = Club::new();
    let mut game = Game::new(true, OPERA);
    game.extra.push((4, json!({ "btakeback": true, "bdraw": true })));
    game.extra.push((8, json!({ "bdraw": true })));
    club.server.add("first", game);
    let rules = "[draw]\nfrom_move = 5\nmoves = 2\nscore = 30\n[chat]\nhello = 'Hi & bye'";
    let child = club.start(&club.player(OPERA, (0, "")), rules);
    club.is_over("first", "draw");
    club.end(child);
    let counts = ["/draw/no", "/draw/yes", "/takeback/no"].map(|part| club.count(part));
    assert_eq!(counts, [1, 1, 1]);
    assert_eq!(club.count("POST /api/bot/game/first/chat room=player&text=Hi%20%26%20bye"), 1);

    club.server.add("second", Game::new(true, OPERA));
    let rules = "[resign]\nscore = 30\nmoves = 3\n[draw]\noffer = true\nfrom_move = 2\nmoves = 2\nscore = 30";
    let child = club.start(&club.player(OPERA, (0, "")), rules);
    club.is_over("second", "resign");
    club.end(child);
    assert_eq!(club.count("second/move/g1f3?offeringDraw=true"), 1);
    assert_eq!(club.count("second/move/"), 2);
}

#[test]
fn aborts_or_resigns_if_the_game_cannot_be_played() {
    let club = Club::new();
    let engine = club.engine("moves e2e4 => crash\n");
    club.server.add("unplayed", Game::new(true, "e2e4 ?"));
    club.server.change(|state| state.games.values_mut().for_each(|it| it.white_is_bot = false));
    let child = club.start(&engine, "abort_after = 1\ngames = 2");
    club.is_over("unplayed", "aborted");
    club.server.add("crash", Game::new(false, "e2e4 ?"));
    club.is_over("crash", "aborted");
    club.engine("moves e2e4 e7e5 => crash\nmoves e2e4 => bestmove e7e5\n");
    club.server.add("late", Game::new(false, "e2e4 e7e5 d2d4 ?"));
    club.is_over("late", "resign");
    club.end(child).reports(0, "the engine resigns");
}

#[test]
fn claims_victory_over_an_absent_opponent() {
    let club = Club::new();
    club.server.add("left", Game::new(true, "e2e4 e7e5 g1f3 ?"));
    let rules = "moves e2e4 e7e5 => bestmove g1f3\nstartpos => bestmove e2e4\n";
    let child = club.start(&club.engine(rules), "");
    club.server.wait("moves", |state| state.games["left"].moves.len() == 3);
    let gone = |gone, seconds| json!({ "type": "opponentGone", "gone": gone, "claimWinInSeconds": seconds });
    // The opponent returns once.
    for message in [gone(true, Some(900)), gone(false, None), gone(true, Some(1))] {
        club.server.change(|state| state.send("left", message));
    }
    club.is_over("left", "timeout");
    assert!(club.end(child).text().contains("game left: won (timeout)"));
}

#[test]
fn castles_by_the_notation_of_the_variant() {
    let club = Club::new();
    let engine = club.engine(
        "moves e1h1 e8h8 => bestmove f1e1\nmoves e1g1 e8g8 => bestmove f1e1\n => bestmove e1g1",
    );
    let chess960 = engine.replace("answers", "answers960");
    for (variant, script, engine) in
        [("fromPosition", "e1g1 e8g8 f1e1 ?", &engine), ("chess960", "e1h1 e8h8 f1e1 ?", &chess960)]
    {
        let mut game = Game::new(true, script);
        (game.variant, game.fen) = (variant, "r3k2r/p4p1p/8/8/8/8/P4P1P/R3K2R w KQkq - 0 1");
        club.server.add(variant, game);
        let child = club.start(engine, "");
        club.server.wait(variant, |state| state.games[variant].moves.len() == 3);
        club.server.change(|state| state.games.get_mut(variant).expect("a game").end("draw", None));
        club.end(child);
    }
}

#[test]
fn plays_a_move_of_the_pv_if_the_engine_hangs() {
    let club = Club::new();
    // The first `wait` ends by `stop`, the second one never.
    let rules = "moves e2e4 e7e5 => bestmove g1f3\n\
                 startpos => info depth 1 score cp 5 pv e2e4; wait a; wait b; bestmove d2d4\n";
    let mut game = Game::new(true, "e2e4 e7e5 g1f3 ?");
    game.clocks = [3000; 2];
    club.server.add("hang", game);
    let child = club.start(&club.engine(rules), "");
    club.server.wait("moves", |state| state.games["hang"].moves.len() == 3);
    club.server.change(|state| state.games.get_mut("hang").expect("a game").end("aborted", None));
    club.end(child).reports(0, "does not stop");
}

#[test]
fn plays_from_books_and_tables_without_a_search() {
    let club = Club::new();
    // The start position, the move b1c3, and its weight.
    let entry = [0x46, 0x3b, 0x96, 0x18, 0x16, 0x91, 0xfc, 0x9c, 0, 0x52, 0, 1, 0, 0, 0, 0];
    fs::write(club.dir.path().join("book.bin"), entry).expect("a file");
    club.server.add("book", Game::new(true, "b1c3 ?"));
    let mut table = Game::new(true, "");
    (table.variant, table.fen) = ("fromPosition", "7k/5Q2/6K1/8/8/8/8/8 w - - 0 1");
    club.server.add("table", table);
    let syzygy = concat!(env!("CARGO_MANIFEST_DIR"), "/../../testdata/syzygy");
    let config = format!("games = 2\nbooks = ['book.bin']\nsyzygy = ['{syzygy}']");
    // The engine has no answer.
    let child = club.start(&club.engine("nothing => crash\n"), &config);
    club.is_over("table", "checkmate");
    club.server.wait("a move", |state| state.games["book"].moves == ["b1c3"]);
    kill(child);
}

#[test]
fn challenges_others_only_on_request_and_within_limits() {
    let club = Club::new();
    let run = |per_day, opponent| {
        let rules = "[challenge]\nopponents = ['maia1', 'maia5']\npause = 0\ntime = 60";
        let child = club.start("narikin", &format!("{rules}\nper_day = {per_day}"));
        club.receives(opponent);
        club.end(child);
    };
    run(
        1,
        "POST /api/challenge/maia1 rated=false&clock.limit=60&clock.increment=2&variant=standard",
    );
    // A restart does not forget the first one.
    run(2, "POST /api/challenge/maia5");
    club.server.challenge("a", &json!({ "variant": { "key": "atomic" } }));
    run(2, "/challenge/a/decline reason=variant");
    assert_eq!(club.count("/challenge/maia"), 2);
}

#[test]
fn checks_the_token_the_account_the_configuration_and_the_engine() {
    let club = Club::new();
    let start = |mut command: Command| finish(command.arg("--check").spawn().expect("it starts"));
    let check = |engine: &str, config: &str| start(club.command(engine, config));
    let output = check("narikin", "");
    assert!(output.text().contains("account: `MyBot`, a bot"), "{}", output.text());
    assert!(output.text().contains("chess and Chess960"), "{}", output.text());
    check("narikin", "[accept]\nrating = 3").reports(2, "line 2: unknown field `rating`");
    check("false", "").reports(1, "exited");
    club.server.state().scopes = "preference:read";
    check("narikin", "").reports(1, "the token does not have the scope bot:play");
    club.server.state().title = None;
    check("narikin", "").reports(1, "`MyBot` is no bot account");
    let mut wrong = club.command("narikin", "");
    wrong.env("LICHESS_API_TOKEN", "lip_other");
    let output = start(wrong);
    output.reports(1, "rejects the token; it needs the scope bot:play");
    assert!(!output.stderr.contains("lip_other"), "{}", output.stderr);
    assert_eq!(club.count("POST"), club.count("/api/token/test"));
}
