//! A local mock of the Bot API of Lichess, written from its published specification. It replays recorded games, counts
//! time, and makes faults.

use std::collections::{BTreeMap, VecDeque};
use std::io::{BufReader, Read, Write};
use std::net::{TcpListener, TcpStream};
use std::sync::{Arc, Condvar, Mutex, MutexGuard};
use std::thread;
use std::time::{Duration, Instant};

use readyok_rules::{Game as Rules, Position, Side};
use serde_json::{Value, json};

use crate::provide::read_head;

pub(crate) const TOKEN: &str = "lip_secret-token";
/// Time that the server counts in addition to that of the bot, in milliseconds.
pub(crate) const LAG: i64 = 40;

/// What happens instead of the normal answer to a request.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(crate) enum Fault {
    Status(u16),
    /// Status 429 with `Retry-After` in seconds.
    RateLimit(u16),
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
    /// All moves of the game; without moves, the opponent plays the first legal move of each position, for 20 plies.
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
        let position = self.position();
        let next = match self.script.get(self.moves.len()) {
            _ if self.status != "started" || self.is_turn_of_bot() => None,
            None if self.script.is_empty() => {
                let legal = position.legal_moves();
                legal.first().map(|mv| mv.to_uci(position.game().castling_form()))
            }
            next => next.filter(|mv| **mv != "?").map(|mv| (*mv).to_owned()),
        };
        if let Some(mv) = next {
            self.play(mv);
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
        } else if self.script.is_empty() && self.moves.len() == 20 {
            self.status = "draw";
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
    /// Events of the account, and challenges that are not answered.
    events: Vec<Value>,
    challenges: BTreeMap<String, Value>,
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
                if self.challenges.remove(*id).is_none() {
                    return wrong("not found");
                }
                if *answer == "accept" {
                    self.games.insert((*id).to_owned(), Game::new(true, "e2e4 ?"));
                    self.events.push(game_start(id));
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

    fn starts(&self) -> impl Iterator<Item = Value> {
        let running = self.games.iter().filter(|(_, game)| game.status == "started");
        running.map(|(id, _)| game_start(id))
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
        (server.state().title, server.state().scopes) = (Some("BOT"), "bot:play,email:read");
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
        let (state, timeout) = self
            .shared
            .1
            .wait_timeout_while(self.state(), Duration::from_mins(1), |state| !condition(state))
            .expect("a lock");
        assert!(!timeout.timed_out(), "{what}: {:?} {:?}", state.requests, state.faults);
    }

    pub(crate) fn begin(&self, id: &str, game: Game) {
        self.change(|state| {
            state.games.insert(id.to_owned(), game);
            state.events.push(game_start(id));
        });
    }

    pub(crate) fn challenge(&self, id: &str, changes: &Value) {
        let mut event = message("challenge");
        event["challenge"]["id"] = id.into();
        event["challenge"]["challenger"]["id"] = format!("anna{id}").into();
        change(&mut event["challenge"], changes);
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
            let mut fault = None;
            self.change(|state| {
                let place = state.faults.iter().position(|(part, _)| path.contains(part));
                fault = place.and_then(|place| state.faults.remove(place)).map(|(_, fault)| fault);
            });
            let mut wait = 1;
            let is_allowed =
                header("authorization").is_some_and(|(_, it)| *it == format!("Bearer {TOKEN}"));
            let (status, answer) = match fault {
                _ if !is_allowed => (401, json!({ "error": "No such token" })),
                Some(Fault::Status(status)) => (status, json!({ "error": "fault" })),
                Some(Fault::RateLimit(seconds)) => {
                    wait = seconds;
                    (429, json!({ "error": "Too many requests" }))
                }
                Some(Fault::Close) => return,
                fault if path.contains("/stream/") => return self.stream(stream, path, fault),
                fault => {
                    let mut answer = None;
                    self.change(|state| answer = Some(state.answer(method, path, &body)));
                    match answer {
                        Some(answer) if fault != Some(Fault::LateClose) => answer,
                        _ => return,
                    }
                }
            };
            let (body, head) = (answer.to_string(), format!("HTTP/1.1 {status} Status"));
            let text = format!(
                "{head}\r\nretry-after: {wait}\r\ncontent-length: {}\r\n\r\n{body}",
                body.len()
            );
            if stream.write_all(text.as_bytes()).is_err() {
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
        let state = self.state();
        let mut lines: VecDeque<Value> = match id {
            None => state.starts().chain(state.challenges.values().cloned()).collect(),
            Some(id) => [state.games[id].full(id)].into(),
        };
        let mut known = log(&state).len();
        drop(state);
        let head = "HTTP/1.1 200 OK\r\ncontent-type: application/x-ndjson\r\n\r\n";
        let mut text = match fault {
            Some(Fault::Silent) => {
                let _ = stream.write_all(head.as_bytes());
                // It waits until the client closes the connection.
                let _ = stream.read(&mut [0]);
                return;
            }
            Some(Fault::Truncate) => {
                let line = lines.pop_front().unwrap_or_default().to_string();
                let half = line.get(..line.len() / 2).expect("ASCII");
                let _ = stream.write_all(format!("{head}{half}").as_bytes());
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

fn game_start(id: &str) -> Value {
    let mut event = message("gameStart");
    event["game"]["gameId"] = id.into();
    event["game"]["opponent"]["id"] = format!("anna{id}").into();
    event
}
