//! A local mock of the Bot API of Lichess, written from its published specification. It replays recorded games, counts
//! time, and makes faults.

use std::collections::{BTreeMap, VecDeque};
use std::io::{BufReader, Read, Write};
use std::net::TcpStream;
use std::sync::{Arc, Condvar, Mutex, MutexGuard};
use std::time::{Duration, Instant};

use readyok_rules::{Game as Rules, Position, Side};
use serde_json::{Value, json};

use crate::http_server::{Head, answer, listen};

pub(crate) const TOKEN: &str = "lip_secret-token";
/// Time that the server counts in addition to that of the bot, in milliseconds.
pub(crate) const LAG: i64 = 40;

/// What happens instead of the normal answer to a request.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(crate) enum Fault {
    /// The status, and `Retry-After` in seconds.
    Status(u16, u16),
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
    pub(crate) fen: &'static str,
    /// The moves of the game, up to `?`. The bot may deviate only after the last one.
    script: Vec<&'static str>,
    pub(crate) moves: Vec<String>,
    pub(crate) status: &'static str,
    winner: Option<&'static str>,
    /// Fields of the state with this number of moves.
    pub(crate) extra: Vec<(usize, Value)>,
    pub(crate) clocks: [i64; 2],
    since: Instant,
    log: Vec<Value>,
}

impl Game {
    pub(crate) fn new(white_is_bot: bool, script: &'static str) -> Self {
        let mut game = Self {
            white_is_bot,
            variant: "standard",
            fen: "startpos",
            script: script.split_whitespace().collect(),
            moves: Vec::new(),
            status: "started",
            winner: None,
            extra: Vec::new(),
            clocks: [60_000; 2],
            since: now(),
            log: Vec::new(),
        };
        game.reply();
        game
    }

    fn position(&self) -> Position {
        let rules = if self.variant == "chess960" { Rules::Chess960 } else { Rules::Chess };
        let start = match self.fen {
            "startpos" => Position::start(rules),
            fen => Position::from_text(rules, fen).expect("a position"),
        };
        start.after(&self.moves).expect("legal moves")
    }

    fn is_turn_of_bot(&self) -> bool {
        (self.position().turn() == Side::First) == self.white_is_bot
    }

    /// The move of the opponent.
    fn reply(&mut self) {
        let next = self.script.get(self.moves.len()).filter(|mv| **mv != "?");
        if let Some(mv) = next
            && self.status == "started"
            && !self.is_turn_of_bot()
        {
            self.play((*mv).to_owned());
        }
    }

    fn play(&mut self, mv: String) {
        if 2 <= self.moves.len() {
            let used = i64::try_from(self.since.elapsed().as_millis()).expect("short");
            self.clocks[self.moves.len() % 2] += 1000 - used - LAG;
        }
        self.since = now();
        self.moves.push(mv);
        if let Some(outcome) = self.position().outcome() {
            let name = |side| if side == Side::First { "white" } else { "black" };
            self.winner = outcome.result.winner().map(name);
            self.status = outcome.termination.name();
        }
        self.log.push(self.state());
    }

    pub(crate) fn end(&mut self, status: &'static str, winner: Option<&'static str>) {
        (self.status, self.winner) = (status, winner);
        self.log.push(self.state());
    }

    fn state(&self) -> Value {
        let (moves, [wtime, btime]) = (self.moves.join(" "), self.clocks);
        let mut state = message("gameState");
        change(&mut state, &json!({ "moves": moves, "wtime": wtime, "btime": btime }));
        change(&mut state, &json!({ "status": self.status, "winner": self.winner }));
        let extra = self.extra.iter().filter(|(ply, _)| *ply == self.moves.len());
        extra.for_each(|(_, fields)| change(&mut state, fields));
        state
    }

    fn full(&self, id: &str) -> Value {
        let mut full = message("gameFull");
        change(&mut full, &json!({ "id": id, "initialFen": self.fen, "state": self.state() }));
        full["variant"]["key"] = self.variant.into();
        if !self.white_is_bot {
            (full["white"], full["black"]) = (full["black"].clone(), full["white"].clone());
        }
        full
    }
}

/// A message as the server sends it.
fn message(name: &str) -> Value {
    let messages: Value =
        serde_json::from_str(include_str!("data/lichess/messages.json")).expect("JSON");
    messages[name].clone()
}

fn change(value: &mut Value, fields: &Value) {
    for (name, field) in fields.as_object().into_iter().flatten() {
        value[name] = field.clone();
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
    requests: Vec<String>,
    /// Faults of the next requests with such a path.
    pub(crate) faults: VecDeque<(&'static str, Fault)>,
    /// Numbers of moves of a game after which its stream breaks.
    pub(crate) breaks: Vec<usize>,
    pub(crate) title: Option<&'static str>,
    pub(crate) scopes: &'static str,
    /// Events of the account. Each stream repeats them.
    events: Vec<Value>,
}

impl State {
    pub(crate) fn count(&self, part: &str) -> usize {
        self.requests.iter().filter(|request| request.contains(part)).count()
    }

    fn answer(&mut self, method: &str, path: &str, body: &str) -> (u16, Value) {
        self.requests.push(format!("{method} {path} {body}"));
        let parts: Vec<&str> = path.split(['/', '?']).skip(2).collect();
        let wrong = |text: &str| (400, json!({ "error": text }));
        let answer = match parts.as_slice() {
            ["account"] => json!({ "id": "mybot", "username": "MyBot", "title": self.title }),
            ["token", "test"] => json!({ body: { "userId": "mybot", "scopes": self.scopes } }),
            ["challenge", user] => json!({ "id": format!("to{user}") }),
            ["challenge", id, answer] => {
                if *answer == "accept" {
                    self.add(id, Game::new(true, "e2e4 ?"));
                }
                json!({ "ok": true })
            }
            ["bot", "game", id, action, rest @ ..] if *action != "chat" => {
                let Some(game) = self.games.get_mut(*id) else { return wrong("no game") };
                let (bot, opponent) =
                    if game.white_is_bot { ("white", "black") } else { ("black", "white") };
                match (*action, rest) {
                    _ if game.status != "started" => return wrong("game is over"),
                    ("move", [mv, ..]) => {
                        let scripted = game.script.get(game.moves.len());
                        if !game.is_turn_of_bot() || scripted.is_some_and(|it| it != mv) {
                            return wrong("not your turn, or an unexpected move");
                        }
                        game.position().parse_move(mv).expect("a legal move");
                        game.play((*mv).to_owned());
                        game.reply();
                    }
                    ("resign", _) => game.end("resign", Some(opponent)),
                    ("claim-victory", _) => game.end("timeout", Some(bot)),
                    ("abort", _) if game.moves.len() < 2 => game.end("aborted", None),
                    ("abort", _) => return wrong("too late"),
                    ("draw", ["yes"]) => game.end("draw", None),
                    _ => (),
                }
                json!({ "ok": true })
            }
            _ => json!({ "ok": true }),
        };
        (200, answer)
    }

    /// Adds a message to the stream of a game.
    pub(crate) fn send(&mut self, id: &str, message: Value) {
        self.games.get_mut(id).expect("a game").log.push(message);
    }

    fn add(&mut self, id: &str, game: Game) {
        let mut event = message("gameStart");
        event["game"]["gameId"] = id.into();
        event["game"]["opponent"]["id"] = format!("anna{id}").into();
        self.games.insert(id.to_owned(), game);
        self.events.push(event);
    }
}

/// The server. It ends with the process.
pub(crate) struct Lichess {
    pub(crate) address: String,
    shared: Arc<(Mutex<State>, Condvar)>,
}

impl Lichess {
    pub(crate) fn start() -> Self {
        let shared: Arc<(Mutex<State>, Condvar)> = Arc::default();
        let serving = Self { address: String::new(), shared: Arc::clone(&shared) };
        let server = Self { address: listen(move |stream| serving.serve(stream)), shared };
        (server.state().title, server.state().scopes) = (Some("BOT"), "bot:play,email:read");
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
        let (state, timeout) = self
            .shared
            .1
            .wait_timeout_while(self.state(), Duration::from_mins(1), |state| !condition(state))
            .expect("a lock");
        assert!(!timeout.timed_out(), "{what}: {:?} {:?}", state.requests, state.faults);
    }

    /// Begins a game.
    pub(crate) fn add(&self, id: &str, game: Game) {
        self.change(|state| state.add(id, game));
    }

    pub(crate) fn challenge(&self, id: &str, changes: &Value) {
        let mut event = message("challenge");
        event["challenge"]["id"] = id.into();
        event["challenge"]["challenger"]["id"] = format!("anna{id}").into();
        change(&mut event["challenge"], changes);
        self.change(|state| state.events.push(event));
    }

    fn serve(&self, mut stream: TcpStream) {
        let mut reader = BufReader::new(stream.try_clone().expect("a stream"));
        while let Some(head) = Head::read(&mut reader) {
            let (path, body) = (head.path.as_str(), head.body(&mut reader));
            let is_allowed = head.header("authorization") == format!("Bearer {TOKEN}");
            let (mut fault, mut wait) = (None, 1);
            self.change(|state| {
                let place = state.faults.iter().position(|(part, _)| path.contains(part));
                fault = place.and_then(|place| state.faults.remove(place)).map(|(_, fault)| fault);
            });
            let (status, value) = match fault {
                _ if !is_allowed => (401, json!({ "error": "No such token" })),
                Some(Fault::Status(status, seconds)) => {
                    wait = seconds;
                    (status, json!({ "error": "fault" }))
                }
                Some(Fault::Close) => return,
                fault if path.contains("/stream/") => return self.stream(stream, path, fault),
                fault => {
                    let mut value = (500, Value::Null);
                    self.change(|state| value = state.answer(&head.method, path, &body));
                    if fault == Some(Fault::LateClose) {
                        return;
                    }
                    value
                }
            };
            let headers = format!("retry-after: {wait}\r\n");
            if answer(&mut stream, status, &headers, &value.to_string()).is_err() {
                return;
            }
        }
    }

    /// Sends a stream until it ends.
    fn stream(&self, mut stream: TcpStream, path: &str, fault: Option<Fault>) {
        let id = path.strip_prefix("/api/bot/game/stream/");
        let log = |state: &State| match id {
            None => state.events.clone(),
            Some(id) => state.games[id].log.clone(),
        };
        let full = |id: &str| {
            let state = self.state();
            (vec![state.games[id].full(id)], log(&state).len())
        };
        let (mut lines, mut known) = id.map_or_else(Default::default, full);
        let head = "HTTP/1.1 200 OK\r\ncontent-type: application/x-ndjson\r\n\r\n";
        let mut text = match fault {
            Some(Fault::Silent | Fault::Truncate) => {
                let start = if fault == Some(Fault::Truncate) { "{\"type\":" } else { "" };
                let _ = stream.write_all(format!("{head}{start}").as_bytes());
                if start.is_empty() {
                    // It waits until the client closes the connection.
                    let _ = stream.read(&mut [0]);
                }
                return;
            }
            Some(Fault::Malformed) => format!("{head}{{\"type\":\n[]\n\u{7}<html>\n"),
            _ => head.to_owned(),
        };
        loop {
            text.extend(lines.drain(..).map(|line| format!("{line}\n")));
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
            lines.extend(log(&state).into_iter().skip(known));
            known += lines.len();
            if lines.is_empty() {
                if id.is_some_and(|id| state.games[id].status != "started") {
                    return;
                }
                drop(self.shared.1.wait_timeout(state, Duration::from_millis(100)));
            }
        }
    }
}
