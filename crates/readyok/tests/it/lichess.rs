//! A local mock of the Bot API of Lichess, written from its published specification. It replays recorded games, counts
//! time, and makes faults.

use std::collections::{BTreeMap, VecDeque};
use std::io::{BufReader, Read, Write};
use std::net::{TcpListener, TcpStream};
use std::sync::{Arc, Condvar, Mutex, MutexGuard};
use std::thread;
use std::time::{Duration, Instant};

use readyok_rules::{Game as Rules, Position};
use serde_json::{Value, json};

use crate::provide::read_head;

pub(crate) const TOKEN: &str = "lip_secret-token";
/// Time that the server counts in addition to that of the bot, in milliseconds.
pub(crate) const LAG: i64 = 40;

/// What happens instead of the normal answer to a request.
#[derive(Clone, Debug, PartialEq)]
pub(crate) enum Fault {
    Status(u16),
    /// Status 429 with `Retry-After: 1`.
    RateLimit,
    /// The connection is closed without an answer, before or after the request has its effect.
    Close,
    LateClose,
    /// The stream ends within its first line, or has malformed lines before it.
    Truncate,
    Malformed,
    /// The stream remains open without a line.
    Silent,
}

pub(crate) struct Game {
    pub(crate) white_is_bot: bool,
    pub(crate) variant: &'static str,
    pub(crate) fen: String,
    /// All moves of the game; without moves, the opponent plays the first legal move of each position, for 20 plies.
    pub(crate) script: Vec<String>,
    pub(crate) moves: Vec<String>,
    pub(crate) status: &'static str,
    pub(crate) winner: Option<&'static str>,
    /// Fields of the state with this number of moves.
    pub(crate) extra: BTreeMap<usize, Value>,
    pub(crate) clocks: [i64; 2],
    since: Instant,
    log: Vec<String>,
}

impl Game {
    pub(crate) fn new(white_is_bot: bool, script: &str) -> Self {
        let mut game = Self {
            white_is_bot,
            variant: "standard",
            fen: "startpos".to_owned(),
            script: script.split_whitespace().map(str::to_owned).collect(),
            moves: Vec::new(),
            status: "started",
            winner: None,
            extra: BTreeMap::new(),
            clocks: [60_000; 2],
            since: now(),
            log: Vec::new(),
        };
        game.reply();
        game
    }

    pub(crate) fn position(&self) -> Position {
        let rules = if self.variant == "chess960" { Rules::Chess960 } else { Rules::Chess };
        let start = match self.fen.as_str() {
            "startpos" => Position::start(rules),
            fen => Position::from_text(rules, fen).expect("a position"),
        };
        start.after(&self.moves).expect("legal moves")
    }

    fn is_turn_of_bot(&self) -> bool {
        (self.position().turn() == readyok_rules::Side::First) == self.white_is_bot
    }

    /// The move of the opponent.
    fn reply(&mut self) {
        if self.status == "started" && !self.is_turn_of_bot() {
            let position = self.position();
            let next = match self.script.get(self.moves.len()) {
                None if !self.script.is_empty() => return,
                None => {
                    let legal = position.legal_moves();
                    legal.first().map(|mv| mv.to_uci(position.game().castling_form()))
                }
                Some(mv) if mv == "?" => return,
                next => next.cloned(),
            };
            if let Some(mv) = next {
                self.play(mv);
            }
        }
    }

    fn play(&mut self, mv: String) {
        let side = self.moves.len() % 2;
        if 2 <= self.moves.len() {
            let used = i64::try_from(self.since.elapsed().as_millis()).expect("short");
            self.clocks[side] += 1000 - used - LAG;
        }
        self.since = now();
        self.moves.push(mv);
        if let Some(outcome) = self.position().outcome() {
            self.status = outcome.termination.name();
            self.winner = outcome
                .result
                .winner()
                .map(|side| if side == readyok_rules::Side::First { "white" } else { "black" });
        } else if self.script.is_empty() && self.moves.len() == 20 {
            self.status = "draw";
        }
        self.log.push(self.state().to_string());
    }

    pub(crate) fn end(&mut self, status: &'static str, winner: Option<&'static str>) {
        (self.status, self.winner) = (status, winner);
        self.log.push(self.state().to_string());
    }

    fn state(&self) -> Value {
        let mut state = json!({
            "type": "gameState", "moves": self.moves.join(" "), "wtime": self.clocks[0],
            "btime": self.clocks[1], "winc": 1000, "binc": 1000, "status": self.status,
        });
        if let Some(winner) = self.winner {
            state["winner"] = winner.into();
        }
        let extra = self.extra.get(&self.moves.len()).and_then(Value::as_object);
        for (name, value) in extra.into_iter().flatten() {
            state[name] = value.clone();
        }
        state
    }

    fn full(&self, id: &str) -> String {
        let bot = json!({ "id": "mybot", "name": "MyBot", "title": "BOT", "rating": 2000 });
        let anna = json!({ "id": "anna", "name": "Anna", "title": null, "rating": 1900 });
        let (white, black) = if self.white_is_bot { (bot, anna) } else { (anna, bot) };
        json!({
            "type": "gameFull", "id": id, "variant": { "key": self.variant }, "rated": false,
            "clock": { "initial": 60_000, "increment": 1000 }, "speed": "blitz",
            "initialFen": self.fen, "white": white, "black": black, "state": self.state(),
        })
        .to_string()
    }
}

#[expect(clippy::disallowed_methods, reason = "the server counts time")]
fn now() -> Instant {
    Instant::now()
}

#[derive(Default)]
pub(crate) struct State {
    pub(crate) games: BTreeMap<String, Game>,
    /// Requests without streams: the method, the path and the body.
    pub(crate) requests: Vec<String>,
    /// Faults of the next requests with such a path.
    pub(crate) faults: VecDeque<(&'static str, Fault)>,
    /// Numbers of moves of a game after which its stream breaks.
    pub(crate) breaks: Vec<usize>,
    pub(crate) title: Option<&'static str>,
    pub(crate) scopes: &'static str,
    /// Events of the account, and challenges that are not answered.
    events: Vec<String>,
    challenges: BTreeMap<String, String>,
}

impl State {
    pub(crate) fn count(&self, part: &str) -> usize {
        self.requests.iter().filter(|request| request.contains(part)).count()
    }
}

/// The server. It ends with the process.
#[derive(Clone)]
pub(crate) struct Lichess {
    pub(crate) address: String,
    shared: Arc<(Mutex<State>, Condvar)>,
}

impl Lichess {
    pub(crate) fn start() -> Self {
        let listener = TcpListener::bind("127.0.0.1:0").expect("a port");
        let address = format!("http://{}", listener.local_addr().expect("an address"));
        let server = Self { address, shared: Arc::default() };
        server.state().title = Some("BOT");
        server.state().scopes = "bot:play,email:read";
        let serving = server.clone();
        thread::spawn(move || {
            for stream in listener.incoming().flatten() {
                let server = serving.clone();
                thread::spawn(move || server.serve(stream));
            }
        });
        server
    }

    pub(crate) fn state(&self) -> MutexGuard<'_, State> {
        self.shared.0.lock().expect("a lock")
    }

    /// Changes the state, and informs the streams.
    pub(crate) fn change(&self, change: impl FnOnce(&mut State)) {
        change(&mut self.state());
        self.shared.1.notify_all();
    }

    /// Waits for a condition of the state.
    pub(crate) fn wait(&self, what: &str, condition: impl Fn(&State) -> bool) {
        let (guard, timeout) = self
            .shared
            .1
            .wait_timeout_while(self.state(), Duration::from_mins(2), |state| !condition(state))
            .expect("a lock");
        assert!(!timeout.timed_out(), "{what}: {:?}", guard.requests);
    }

    /// Begins a game.
    pub(crate) fn begin(&self, id: &str, game: Game) {
        self.change(|state| {
            state.games.insert(id.to_owned(), game);
            state.events.push(game_start(id));
        });
    }

    pub(crate) fn challenge(&self, id: &str, changes: &Value) {
        let mut challenge = json!({
            "id": id, "status": "created", "rated": false, "speed": "blitz",
            "challenger": { "id": format!("anna{id}"), "name": "Anna", "rating": 1900 },
            "variant": { "key": "standard" }, "perf": { "icon": "x", "name": "Blitz" },
            "timeControl": { "type": "clock", "limit": 60, "increment": 1, "show": "1+1" },
        });
        for (name, value) in changes.as_object().into_iter().flatten() {
            challenge[name] = value.clone();
        }
        let event = json!({ "type": "challenge", "challenge": challenge }).to_string();
        self.change(|state| {
            state.challenges.insert(id.to_owned(), event.clone());
            state.events.push(event);
        });
    }

    fn serve(&self, mut stream: TcpStream) {
        let mut reader = BufReader::new(stream.try_clone().expect("a stream"));
        while let Some((line, headers)) = read_head(&mut reader) {
            let header = |name: &str| headers.iter().find(|(known, _)| known == name);
            let length = header("content-length").and_then(|(_, value)| value.parse().ok());
            let mut body = vec![0; length.unwrap_or(0)];
            reader.read_exact(&mut body).expect("a body");
            let body = String::from_utf8(body).expect("UTF-8");
            let mut parts = line.split(' ');
            let (method, path) = (parts.next().expect("a method"), parts.next().expect("a path"));
            let fault = {
                let mut state = self.state();
                let place = state.faults.iter().position(|(part, _)| path.contains(part));
                self.shared.1.notify_all();
                place.and_then(|place| state.faults.remove(place)).map(|(_, fault)| fault)
            };
            let is_allowed =
                header("authorization").is_some_and(|(_, it)| *it == format!("Bearer {TOKEN}"));
            let (status, answer) = match fault {
                _ if !is_allowed => (401, json!({ "error": "No such token" })),
                Some(Fault::Status(status)) => (status, json!({ "error": "fault" })),
                Some(Fault::RateLimit) => (429, json!({ "error": "Too many requests" })),
                Some(Fault::Close) => return,
                fault if path.contains("/stream/") => {
                    return self.stream(stream, path, fault.as_ref());
                }
                fault => {
                    let answer = self.answer(method, path, &body);
                    self.shared.1.notify_all();
                    if fault == Some(Fault::LateClose) {
                        return;
                    }
                    answer
                }
            };
            let body = answer.to_string();
            let text = format!(
                "HTTP/1.1 {status} Status\r\nretry-after: 1\r\ncontent-length: {}\r\n\r\n{body}",
                body.len()
            );
            if stream.write_all(text.as_bytes()).is_err() {
                return;
            }
        }
    }

    fn answer(&self, method: &str, path: &str, body: &str) -> (u16, Value) {
        let mut state = self.state();
        state.requests.push(format!("{method} {path} {body}"));
        let parts: Vec<&str> = path.split(['/', '?']).skip(1).collect();
        let ok = (200, json!({ "ok": true }));
        let wrong = |text: &str| (400, json!({ "error": text }));
        match parts.as_slice() {
            ["api", "account"] => {
                (200, json!({ "id": "mybot", "username": "MyBot", "title": state.title }))
            }
            ["api", "token", "test"] => (
                200,
                json!({ body: { "userId": "mybot", "scopes": state.scopes, "expires": null } }),
            ),
            ["api", "account", "playing"] => {
                let running = state.games.iter().filter(|(_, game)| game.status == "started");
                let games: Vec<Value> = running.map(|(id, _)| game_ref(id)).collect();
                (200, json!({ "nowPlaying": games }))
            }
            ["api", "challenge", id, answer] => {
                if state.challenges.remove(*id).is_none() {
                    return (404, json!({ "error": "not found" }));
                }
                if *answer == "accept" {
                    let game = Game::new(true, "e2e4 ?");
                    state.games.insert((*id).to_owned(), game);
                    state.events.push(game_start(id));
                }
                ok
            }
            ["api", "challenge", user] => (200, json!({ "id": format!("to{user}") })),
            ["api", "bot", "game", id, action, rest @ ..] => {
                let Some(game) = state.games.get_mut(*id) else { return wrong("no game") };
                let opponent = if game.white_is_bot { "black" } else { "white" };
                if game.status != "started" && *action != "chat" {
                    return wrong("game is over");
                }
                match (*action, rest) {
                    ("move", [mv, ..]) => {
                        let scripted = game.script.get(game.moves.len());
                        let is_expected = scripted.is_none_or(|expected| expected == mv);
                        if !game.is_turn_of_bot() || !is_expected {
                            return wrong("not your turn, or an unexpected move");
                        }
                        game.position().parse_move(mv).expect("a legal move");
                        game.play((*mv).to_owned());
                        game.reply();
                    }
                    ("resign", _) => game.end("resign", Some(opponent)),
                    ("abort", _) if game.moves.len() < 2 => game.end("aborted", None),
                    ("abort", _) => return wrong("too late"),
                    ("draw", ["yes"]) => game.end("draw", None),
                    _ => (),
                }
                ok
            }
            _ => ok,
        }
    }

    /// Sends a stream until it ends.
    fn stream(&self, mut stream: TcpStream, path: &str, fault: Option<&Fault>) {
        let id = path.strip_prefix("/api/bot/game/stream/");
        let mut lines = VecDeque::new();
        let mut known;
        {
            let state = self.state();
            match id.map(|id| (id, state.games.get(id))) {
                None => {
                    let running = state.games.iter().filter(|(_, game)| game.status == "started");
                    lines.extend(running.map(|(id, _)| game_start(id)));
                    lines.extend(state.challenges.values().cloned());
                    known = state.events.len();
                }
                Some((id, Some(game))) => {
                    lines.push_back(game.full(id));
                    known = game.log.len();
                }
                Some((_, None)) => return,
            }
        }
        let head = "HTTP/1.1 200 OK\r\ncontent-type: application/x-ndjson\r\n\r\n";
        let mut text = match fault {
            Some(Fault::Silent) => {
                let _ = stream.write_all(head.as_bytes());
                // It waits until the client closes the connection.
                let _ = stream.read(&mut [0]);
                return;
            }
            Some(Fault::Truncate) => {
                let line = lines.pop_front().unwrap_or_else(|| "{\"type\":\"x\"}".to_owned());
                let half = line.get(..line.len() / 2).expect("ASCII");
                let _ = stream.write_all(format!("{head}{half}").as_bytes());
                return;
            }
            Some(Fault::Malformed) => format!("{head}{{\"type\":\n[]\n\u{7}<html>\n"),
            _ => head.to_owned(),
        };
        loop {
            text.extend(lines.drain(..).map(|line| line + "\n"));
            // An empty line keeps the connection open.
            if stream.write_all(format!("{text}\n").as_bytes()).is_err() {
                return;
            }
            text.clear();
            let mut state = self.state();
            let moves = id.map(|id| state.games[id].moves.len());
            if let Some(place) = state.breaks.iter().position(|ply| moves == Some(*ply)) {
                state.breaks.remove(place);
                return;
            }
            let log = match id {
                None => &state.events,
                Some(id) => &state.games[id].log,
            };
            if log.len() == known {
                if id.is_some_and(|id| state.games[id].status != "started") {
                    return;
                }
                drop(self.shared.1.wait_timeout(state, Duration::from_millis(100)));
                continue;
            }
            lines.extend(log.iter().skip(known).cloned());
            known = log.len();
        }
    }
}

fn game_ref(id: &str) -> Value {
    json!({
        "gameId": id, "fullId": format!("{id}abcd"), "id": id, "isMyTurn": true, "secondsLeft": 60,
        "opponent": { "id": format!("anna{id}"), "username": "Anna", "rating": 1900 },
        "compat": { "bot": true, "board": true },
    })
}

fn game_start(id: &str) -> String {
    json!({ "type": "gameStart", "game": game_ref(id) }).to_string()
}
