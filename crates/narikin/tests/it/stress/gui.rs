//! A GUI that sends random commands, and checks that the engine conforms to the protocol.
//!
//! A session has a handshake in either protocol. It sets options to valid and invalid values, and sets
//! up positions of random games and unusual ones. It starts searches with any combination of limits.
//! During them it sends `stop`, `ponderhit`, `isready`, options and unknown commands. Each `go` must be
//! answered in time by one legal `bestmove`, and nothing may panic.

use std::fmt::Write as _;
use std::io::{self, BufRead, BufReader, PipeWriter, Write as _};
use std::sync::mpsc::{self, Receiver, RecvTimeoutError};
use std::thread::{self, JoinHandle};
use std::time::{Duration, Instant};

use fastrand::Rng;
use readyok_rules::{Game, Position, fairy};

/// The timeouts of the GUI.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Timeouts {
    /// The time after which the engine is considered hung.
    pub(crate) hung: Duration,
    /// The maximum lateness of a reply. `None` if time is not checked.
    pub(crate) late: Option<Duration>,
    /// The total scheduling delays of the host, which are not charged to the engine.
    pub(crate) delays: fn() -> Duration,
}

/// The number of threads that run one after the other between a command and its reply.
const THREADS_PER_REPLY: u32 = 3;

/// Counts of a session.
#[derive(Debug, Clone, Copy, Default)]
pub(crate) struct Tally {
    /// Searches that were answered.
    pub(crate) searches: u64,
    /// Searches that were stopped.
    pub(crate) stops: u64,
    /// Ponder hits.
    pub(crate) hits: u64,
    /// Ponder searches that were stopped.
    pub(crate) misses: u64,
    /// Options that were set.
    pub(crate) options: u64,
}

impl Tally {
    /// Adds the counts of another session.
    pub(crate) fn add(&mut self, other: &Self) {
        self.searches += other.searches;
        self.stops += other.stops;
        self.hits += other.hits;
        self.misses += other.misses;
        self.options += other.options;
    }
}

/// The protocol of a session.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Protocol {
    Uci,
    Usi,
}

/// The position that was sent to the engine.
#[derive(Debug)]
struct SentPosition {
    /// `None` for the start position.
    root: Option<String>,
    moves: Vec<String>,
    now: Position,
}

/// The limits of a search.
#[derive(Debug, Default)]
#[expect(clippy::struct_excessive_bools, reason = "independent limits of the protocol")]
struct Limits {
    infinite: bool,
    ponders: bool,
    /// It ends by itself.
    ends: bool,
    /// The maximum time.
    time: Option<Duration>,
    /// The moves of `searchmoves`.
    named: Vec<String>,
    /// `go mate` of USI, whose reply is `checkmate`.
    mate: bool,
}

impl Limits {
    /// The command of the reply.
    fn answer(&self) -> &'static str {
        if self.mate { "checkmate" } else { "bestmove" }
    }
}

/// Mates, stalemates, many moves and few, promotions, castling, draws at hand.
const UNUSUAL_CHESS: [&str; 13] = [
    "8/8/8/8/3k4/8/8/KR6 w - - 0 1",
    "8/8/8/4k3/8/2K5/8/r2R4 w - - 70 100",
    "3k4/8/8/1K6/3P4/8/8/8 w - - 0 1",
    "7k/5Q2/6K1/8/8/8/8/8 b - - 0 1",
    "7k/6Q1/5K2/8/8/8/8/8 b - - 0 1",
    "R6R/3Q4/1Q4Q1/4Q3/2Q4Q/Q4Q2/pp1Q4/kBNN1KB1 w - - 0 1",
    "8/PPPPPPPP/8/2k5/5K2/8/pppppppp/8 w - - 0 1",
    "r3k2r/p1ppqpb1/bn2pnp1/3PN3/1p2P3/2N2Q1p/PPPBBPPP/R3K2R w KQkq - 0 1",
    "8/8/8/8/8/8/8/K1k5 w - - 99 150",
    "8/8/4k3/8/2KP4/8/8/8 w - - 98 150",
    "6k1/5ppp/8/8/8/8/8/R6K w - - 0 1",
    "rnbqkbnr/ppp1pppp/8/8/3pP3/8/PPPP1PPP/RNBQKBNR b KQkq e3 0 3",
    "k7/8/8/8/8/8/8/KQQQQQQQ w - - 0 1",
];

const UNUSUAL_CHESS960: [&str; 4] = [
    "bqnb1rkr/pp3ppp/3ppn2/2p5/5P2/P2P4/NPP1P1PP/BQ1BNRKR w HFhf - 2 9",
    "1rqbkrbn/1ppppp1p/1n6/p1N3p1/8/2P4P/PP1PPPP1/1RQBKRBN w FBfb - 0 9",
    "4k3/8/8/8/8/8/8/RK5R w HA - 0 1",
    "rk2r3/8/8/8/8/8/8/RK2R3 b EAea - 0 1",
];

/// Mates, positions without a king, the position with the most moves, entered kings.
const UNUSUAL_SHOGI: [&str; 8] = [
    "4k4/4G4/4P4/9/9/9/9/9/4K4 w - 1",
    "4k4/9/9/3+R5/9/9/9/9/9 b 2BGSNLP3g3s3n3l17p 1",
    "R8/2K1S1SSk/4B4/9/9/9/9/9/1L1L1L3 b RBGSNLP3g3n17p 1",
    "K8/+R+R+B+B+P+P+P+P+P/+P+P+P+P5/9/9/9/9/9/4k4 b GGGGSSSSNNNNLLLL 1",
    "4k4/9/4P4/9/9/9/9/9/4K4 b G 1",
    "8l/1l+R2P3/p2pBG1pp/kps1p4/Nn1P2G2/P1P1P2PP/1PS6/1KSG3+r1/LN2+p3L w Sbgn3p 124",
    "lnsgkgsnl/9/ppppppppp/9/9/9/PPPPPPPPP/1B5R1/LNSGKGSNL w - 1",
    "9/3K5/9/9/9/9/9/9/4k4 b 2R 1",
];

struct Gui {
    rng: Rng,
    timeout: Timeouts,
    protocol: Protocol,
    /// The values of the options. The searched position can still be of another game.
    variant: Game,
    chess960: bool,
    input: PipeWriter,
    lines: Receiver<String>,
    served: JoinHandle<io::Result<()>>,
    declared: Vec<String>,
    /// The lines sent and received, for error messages.
    log: Vec<String>,
    tally: Tally,
}

/// Plays a session with a number of searches.
///
/// # Errors
/// The engine made an error. The text has the last lines of the session.
pub(crate) fn session(seed: u64, searches: u64, timeout: Timeouts) -> Result<Tally, String> {
    let mut rng = Rng::with_seed(seed);
    let protocol = if rng.bool() { Protocol::Uci } else { Protocol::Usi };
    let (input, client) = io::pipe().map_err(|error| error.to_string())?;
    let (output, engine) = io::pipe().map_err(|error| error.to_string())?;
    let runner = narikin::runner().map_err(|error| error.to_string())?;
    let served = thread::spawn(move || runner.run(input, engine));
    let (sent, lines) = mpsc::channel();
    thread::spawn(move || {
        for line in BufReader::new(output).lines() {
            let Ok(line) = line else { return };
            if sent.send(line).is_err() {
                return;
            }
        }
    });
    let mut gui = Gui {
        rng,
        timeout,
        protocol,
        variant: Game::Chess,
        chess960: false,
        input: client,
        lines,
        served,
        declared: Vec::new(),
        log: Vec::new(),
        tally: Tally::default(),
    };
    let played = gui.handshake().and_then(|()| gui.play(searches));
    let Gui { log, tally, input, lines, served, .. } = gui;
    drop(input);
    played.map_err(|error| {
        let last: Vec<_> = log.iter().rev().take(60).rev().map(String::as_str).collect();
        format!("seed {seed}: {error}\n{}", last.join("\n"))
    })?;
    // Reads until the engine exits.
    for line in lines {
        check_line(&line).map_err(|error| format!("seed {seed}: {error}"))?;
    }
    match served.join() {
        Ok(Ok(())) => Ok(tally),
        Ok(Err(error)) => Err(format!("seed {seed}: {error}")),
        Err(_) => Err(format!("seed {seed}: the engine panicked")),
    }
}

/// Rejects lines that no engine may send.
fn check_line(line: &str) -> Result<(), String> {
    if line.contains("panicked") || line.contains("a bug of this engine") {
        return Err(format!("the engine sent: {line}"));
    }
    Ok(())
}

impl Gui {
    fn send(&mut self, line: &str) -> Result<(), String> {
        self.log.push(format!("> {line}"));
        writeln!(self.input, "{line}").map_err(|error| format!("the engine has exited: {error}"))
    }

    /// The next line. `None` after the timeout.
    fn receive(&mut self, timeout: Duration) -> Result<Option<String>, String> {
        match self.lines.recv_timeout(timeout) {
            Ok(line) => {
                self.log.push(format!("< {line}"));
                check_line(&line)?;
                Ok(Some(line))
            }
            Err(RecvTimeoutError::Timeout) => Ok(None),
            Err(RecvTimeoutError::Disconnected) => Err("the engine has exited".to_owned()),
        }
    }

    /// Reads up to a line with this prefix.
    fn receive_until(&mut self, start: &str) -> Result<String, String> {
        loop {
            match self.receive(self.timeout.hung)? {
                Some(line) if line.starts_with(start) => return Ok(line),
                Some(line) if line.starts_with("bestmove") => {
                    return Err(format!("an unexpected move: {line}"));
                }
                Some(_) => (),
                None => return Err(format!("no `{start}`")),
            }
        }
    }

    fn handshake(&mut self) -> Result<(), String> {
        let hello = self.hello();
        self.send(hello)?;
        let ok = format!("{hello}ok");
        loop {
            let line = self.receive(self.timeout.hung)?.ok_or("no handshake")?;
            if line == ok {
                return Ok(());
            }
            if let Some(declared) = line.strip_prefix("option name ") {
                self.declared.push(declared.to_owned());
            }
        }
    }

    fn game(&self) -> Game {
        match (self.protocol, self.variant) {
            (Protocol::Usi, _) => Game::Shogi,
            (Protocol::Uci, Game::Chess) if self.chess960 => Game::Chess960,
            (Protocol::Uci, game) => game,
        }
    }

    /// A position of a random game, or an unusual one.
    fn position(&mut self) -> SentPosition {
        let game = self.game();
        let unusual = match game {
            Game::Chess => &UNUSUAL_CHESS[..],
            Game::Chess960 => &UNUSUAL_CHESS960[..],
            Game::Shogi => &UNUSUAL_SHOGI[..],
        };
        let text = if self.rng.bool() { self.rng.choice(unusual).copied() } else { None };
        let now = text.and_then(|text| Position::from_text(game, text).ok());
        let now = now.unwrap_or_else(|| Position::start(game));
        let root = text.map(|_| now.to_string());
        let mut sent = SentPosition { root, moves: Vec::new(), now };
        for _ in 0..self.rng.u32(..60) {
            self.append_move(&mut sent);
        }
        sent
    }

    /// Appends a random move, if there is a legal one.
    fn append_move(&mut self, sent: &mut SentPosition) {
        let moves = sent.now.legal_moves();
        let Some(&mv) = self.rng.choice(&moves) else { return };
        let token = self.token(sent.now.game(), mv);
        if sent.now.play(mv).is_ok() {
            sent.moves.push(token);
        }
    }

    fn position_line(&self, sent: &SentPosition) -> String {
        let root = match (&sent.root, self.protocol, sent.now.game()) {
            (None, _, _) => "startpos".to_owned(),
            (Some(sfen), Protocol::Uci, Game::Shogi) => {
                format!("fen {}", fairy::sfen_to_fen(sfen).unwrap_or_default())
            }
            (Some(sfen), Protocol::Usi, _) => format!("sfen {sfen}"),
            (Some(fen), Protocol::Uci, _) => format!("fen {fen}"),
        };
        if sent.moves.is_empty() {
            return format!("position {root}");
        }
        format!("position {root} moves {}", sent.moves.join(" "))
    }

    fn hello(&self) -> &'static str {
        match self.protocol {
            Protocol::Uci => "uci",
            Protocol::Usi => "usi",
        }
    }

    fn play(&mut self, searches: u64) -> Result<(), String> {
        let mut position = self.position();
        for _ in 0..searches {
            match self.rng.u32(..10) {
                0 => {
                    if self.protocol == Protocol::Usi && self.rng.bool() {
                        let end = self.rng.choice(["win", "lose", "draw"]).unwrap_or_default();
                        self.send(&format!("gameover {end}"))?;
                    }
                    self.send(&format!("{}newgame", self.hello()))?;
                    position = self.position();
                }
                1 | 2 => self.set_option()?,
                3 => position = self.position(),
                4 => self.nonsense()?,
                5 => {
                    self.send("isready")?;
                    self.receive_until("readyok")?;
                }
                _ => self.append_move(&mut position),
            }
            // Options can have changed the game.
            if position.now.game() != self.game() {
                position = self.position();
            }
            self.search(&position)?;
        }
        self.send("quit")
    }

    fn search(&mut self, position: &SentPosition) -> Result<(), String> {
        let line = self.position_line(position);
        self.send(&line)?;
        let (go, limits) = self.go(position);
        let start = now();
        self.send(&go)?;
        let mut since = start;
        let delays = (self.timeout.delays)();
        let mut open = !limits.ends;
        let mut best = None;
        // Commands during the search.
        for _ in 0..self.rng.u32(..6) {
            match self.rng.u32(..8) {
                0 => self.send("isready")?,
                1 => self.set_option()?,
                2 => self.nonsense()?,
                _ => (),
            }
            let pause = Duration::from_millis(self.rng.u64(..12));
            if let Some(line) = self.receive(pause)?
                && line.starts_with(limits.answer())
            {
                best = Some(line);
                break;
            }
        }
        if best.is_none() && limits.ponders && self.rng.bool() {
            self.send("ponderhit")?;
            since = now();
            self.tally.hits += 1;
            open = limits.infinite;
        } else if limits.ponders {
            self.tally.misses += 1;
        }
        let stops = best.is_none() && (open || self.rng.u32(..4) == 0);
        if stops {
            self.send("stop")?;
            since = now();
            self.tally.stops += 1;
        }
        let best = match best {
            Some(best) => best,
            None => self.receive_best(&limits)?,
        };
        let promised = if stops { Some(Duration::ZERO) } else { limits.time };
        // Several threads run between a command and its reply, and each can be delayed.
        let lost = THREADS_PER_REPLY * (self.timeout.delays)().saturating_sub(delays);
        let after = since.elapsed().saturating_sub(promised.unwrap_or_default() + lost);
        if promised.is_some() && self.timeout.late.is_some_and(|late| after > late) {
            return Err(format!("late by {after:?}: {best}"));
        }
        self.tally.searches += 1;
        self.check(position, &best, &limits)
    }

    fn receive_best(&mut self, limits: &Limits) -> Result<String, String> {
        loop {
            match self.receive(self.timeout.hung)? {
                Some(line) if line.starts_with(limits.answer()) => return Ok(line),
                Some(_) => (),
                None => return Err("no move".to_owned()),
            }
        }
    }

    fn check(&self, position: &SentPosition, best: &str, limits: &Limits) -> Result<(), String> {
        let wrong = || format!("{best} in {}, after `{}`", position.now, limits.named.join(" "));
        if limits.mate {
            return match best.strip_prefix("checkmate ").ok_or_else(wrong)? {
                "nomate" | "timeout" => Ok(()),
                moves => {
                    let line = position.now.clone().after(moves.split(' ')).map_err(|_| wrong())?;
                    let mates = line.legal_moves().is_empty() && line.in_check();
                    mates.then_some(()).ok_or_else(wrong)
                }
            };
        }
        let mut tokens = best.split(' ').skip(1);
        let token = tokens.next().ok_or_else(wrong)?;
        let has_moves = !position.now.legal_moves().is_empty();
        match (token, self.protocol) {
            ("(none)", Protocol::Uci) if !has_moves => return Ok(()),
            ("resign" | "win", Protocol::Usi) => return Ok(()),
            _ => (),
        }
        if !limits.named.is_empty() && !limits.named.iter().any(|named| named == token) {
            return Err(wrong());
        }
        let read = |position: &Position, token: &str| {
            let token = self.usual(position.game(), token);
            position.parse_move(&token).ok()
        };
        let mv = read(&position.now, token).ok_or_else(wrong)?;
        let mut next = position.now.clone();
        next.play(mv).map_err(|_| wrong())?;
        match (tokens.next(), tokens.next()) {
            (None, _) => Ok(()),
            (Some("ponder"), Some(token)) => read(&next, token).map(drop).ok_or_else(wrong),
            _ => Err(wrong()),
        }
    }

    /// The move in the notation of the rules.
    fn usual(&self, game: Game, token: &str) -> String {
        let fairy = self.protocol == Protocol::Uci && game == Game::Shogi;
        fairy.then(|| fairy::uci_to_usi(token)).flatten().unwrap_or_else(|| token.to_owned())
    }

    fn go(&mut self, position: &SentPosition) -> (String, Limits) {
        let mut limits = Limits::default();
        if self.protocol == Protocol::Usi && self.rng.u32(..12) == 0 {
            limits.mate = true;
            if self.rng.bool() {
                return ("go mate infinite".to_owned(), limits);
            }
            let time = self.rng.u64(..40);
            limits.ends = true;
            limits.time = Some(Duration::from_millis(time));
            return (format!("go mate {time}"), limits);
        }
        let mut go = "go".to_owned();
        match self.rng.u32(..12) {
            0 => {
                go.push_str(" infinite");
                limits.infinite = true;
            }
            1 | 2 => {
                go.push_str(" ponder");
                limits.ponders = true;
            }
            _ => limits.ends = true,
        }
        let mut number = |max: u64| self.rng.u64(0..=max);
        // Writing to a string cannot fail.
        let mut add = |text: std::fmt::Arguments<'_>| {
            let _ = go.write_fmt(text);
        };
        let kinds = number(31);
        if kinds & 1 != 0 {
            add(format_args!(" depth {}", number(4)));
        }
        if kinds & 2 != 0 {
            add(format_args!(" nodes {}", number(3_000)));
        }
        if kinds & 4 != 0 && self.protocol == Protocol::Uci {
            add(format_args!(" mate {}", number(2)));
        }
        if kinds & 8 != 0 || kinds == 16 {
            let time = number(40);
            add(format_args!(" movetime {time}"));
            limits.time = Some(Duration::from_millis(time));
        }
        if kinds & 16 != 0 || kinds == 0 || kinds == 4 {
            let [white, black] = [number(300), number(300)];
            add(format_args!(" btime {black} wtime {white}"));
            let more = match (self.protocol, number(2)) {
                (Protocol::Usi, 0) => {
                    let byoyomi = number(30);
                    add(format_args!(" byoyomi {byoyomi}"));
                    byoyomi
                }
                (_, 1) => {
                    add(format_args!(" binc 10 winc 10"));
                    10
                }
                _ => 0,
            };
            let max = Duration::from_millis(white.max(black) + more);
            limits.time = Some(limits.time.map_or(max, |time| time.min(max)));
        }
        if self.rng.u32(..8) == 0 {
            let mut moves = position.now.legal_moves();
            self.rng.shuffle(&mut moves);
            moves.truncate(3);
            limits.named = moves.iter().map(|&mv| self.token(position.now.game(), mv)).collect();
            if !limits.named.is_empty() {
                go.push_str(" searchmoves ");
                go.push_str(&limits.named.join(" "));
            }
        }
        (go, limits)
    }

    fn token(&self, game: Game, mv: readyok_rules::Move) -> String {
        let token = mv.to_uci(game.castling_form());
        let fairy = self.protocol == Protocol::Uci && game == Game::Shogi;
        fairy.then(|| fairy::usi_to_uci(&token)).flatten().unwrap_or(token)
    }

    /// Sets an option to a valid or invalid value.
    fn set_option(&mut self) -> Result<(), String> {
        self.tally.options += 1;
        let Some(declared) = self.rng.choice(&self.declared).cloned() else { return Ok(()) };
        let Some((name, rest)) = declared.split_once(" type ") else { return Ok(()) };
        // Log options would create files.
        if name.contains("Log") {
            return Ok(());
        }
        let tokens: Vec<&str> = rest.split(' ').collect();
        let after = |key: &str| {
            let index = tokens.iter().position(|token| *token == key)?;
            tokens.get(index + 1)?.parse::<i64>().ok()
        };
        let unusual = self.rng.u32(..10) == 0;
        let value = match tokens.first().copied() {
            _ if unusual => "invalid value".to_owned(),
            Some("check") => self.rng.bool().to_string(),
            Some("spin") => {
                let (min, max) = (after("min").unwrap_or(0), after("max").unwrap_or(0));
                // Larger values would need too many CPU cores, too much time or too much memory.
                let max = match name {
                    "Threads" => 3,
                    "MultiPV" => 6,
                    "Move Overhead" | "Move_Overhead" => 5,
                    "Hash" | "USI_Hash" => 8,
                    _ => max,
                };
                let drawn = self.rng.i64(min..=max.clamp(min, max));
                let all = name.ends_with("Hash") && self.rng.u32(..8) == 0;
                if all { max } else { drawn }.to_string()
            }
            Some("combo") => {
                let choices: Vec<_> = rest.split(" var ").skip(1).collect();
                self.rng.choice(&choices).copied().unwrap_or_default().to_owned()
            }
            Some("string" | "filename") => {
                let texts = [
                    "<empty>",
                    "/nowhere/at/all",
                    "Cargo.toml",
                    "none 2000 human A",
                    "💥",
                    concat!(env!("CARGO_MANIFEST_DIR"), "/../../testdata/syzygy"),
                ];
                self.rng.choice(texts).unwrap_or_default().to_owned()
            }
            _ => String::new(),
        };
        let line = if value.is_empty() {
            format!("setoption name {name}")
        } else {
            format!("setoption name {name} value {value}")
        };
        self.send(&line)?;
        match (name, value.as_str()) {
            ("UCI_Variant", "chess") => self.variant = Game::Chess,
            ("UCI_Variant", "chess960") => self.variant = Game::Chess960,
            ("UCI_Variant", "shogi") => self.variant = Game::Shogi,
            ("UCI_Chess960", "true") => self.chess960 = true,
            ("UCI_Chess960", "false") => self.chess960 = false,
            _ => (),
        }
        Ok(())
    }

    fn nonsense(&mut self) -> Result<(), String> {
        let lines = "\
            |   |xyzzy|ponderhit|stop|debug on|debug off|go_away|position|position fen|\
            position fen 8/8 w|setoption|setoption name|setoption name None value 3|\
            register later|bestmove e2e4|\u{feff}isready?|position startpos moves a1a1 z9z9";
        let line = self.rng.choice(lines.split('|').collect::<Vec<_>>()).unwrap_or_default();
        self.send(line)
    }
}

/// The current time.
pub(crate) fn now() -> Instant {
    #[expect(clippy::disallowed_methods, reason = "a GUI measures time")]
    Instant::now()
}
