//! The session of the engine, with all faults.

mod go;
mod options;
mod position;
mod report;

use std::collections::HashMap;
use std::io::Write as _;
use std::process::exit;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::mpsc::{Receiver, RecvTimeoutError};
use std::time::{Duration, Instant};

use readyok_protocol::{Clocks, Command, Dialect, Go, MateLimit, Root};
use readyok_rules::{Game, Position};

use crate::deviations::{self, Memory};
use crate::faults::Faults;
use crate::input::{self, End};
use crate::search::Line;

/// Maximum reported depth.
const DEEPEST: u32 = 20;

/// Time per depth of a slow engine.
const SLOW: Duration = Duration::from_millis(900);

/// Number of reports of a search.
const TICK: Duration = Duration::from_millis(500);

/// The output is closed, which the engine ignores.
static UNHEARD: AtomicBool = AtomicBool::new(false);

/// Lines end with a carriage return.
static RETURNS: AtomicBool = AtomicBool::new(false);

/// A completed search whose reply is deferred.
struct Waiting {
    answer: String,
    /// Only `stop` or `ponderhit` ends the search.
    held: bool,
    until: Option<Instant>,
    pondering: bool,
    /// The search is pondering.
    hit: bool,
    begin: Instant,
    /// Number of reports so far.
    ticks: u32,
    head: Option<String>,
    go: Go<'static>,
    /// Number of `isready` commands to answer after the search.
    pings: u32,
}

#[expect(clippy::struct_excessive_bools, reason = "independent options of the protocol")]
struct Engine {
    faults: Faults,
    dialect: Dialect,
    handshakes: u32,
    pings: u32,
    chess960: bool,
    multipv: usize,
    threads: u32,
    wdl: bool,
    position: Option<Position>,
    fen: String,
    searches: u32,
    games: u32,
    /// The last command was a new-game command.
    new: bool,
    /// `gameover` arrived while the engine pondered.
    over_pondering: bool,
    stops: u32,
    pondered: bool,
    /// The last command was a `stop` that ended a search.
    stopped: bool,
    /// The option.
    may_ponder: bool,
    /// The move that was played in the current position.
    played: Option<String>,
    /// Leaked memory.
    kept: Vec<Vec<u8>>,
    /// The hash table, which is never used.
    table: Vec<u8>,
    /// Cached results of earlier searches.
    known: HashMap<String, Vec<Line>>,
    /// Moves of the last `position` command.
    plies: usize,
    line: Vec<String>,
    /// The last search was a ponder search that ended at `stop`.
    missed: bool,
    limited: bool,
    has_elo: bool,
    book_off: bool,
    analysing: bool,
    shows_lines: bool,
    /// The last command was a completed search of depth 1.
    fresh: bool,
    waiting: Option<Waiting>,
    memory: Memory,
}

#[expect(clippy::disallowed_methods, reason = "it keeps time as engines do")]
fn now() -> Instant {
    Instant::now()
}

/// Starts the clock of the search after `ponderhit`.
fn waiting_time(waiting: &mut Waiting) {
    waiting.hit = true;
    waiting.held = false;
    waiting.until = waiting.go.move_time.map(|time| now() + time);
}

fn send(text: &str) {
    let rewritten = deviations::output(text);
    let text = rewritten.as_deref().unwrap_or(text);
    let mut out = std::io::stdout().lock();
    let end = if RETURNS.load(Ordering::Relaxed) { '\r' } else { '\n' };
    if out.write_all(format!("{text}{end}").as_bytes()).and_then(|()| out.flush()).is_err()
        && !UNHEARD.load(Ordering::Relaxed)
    {
        exit(9);
    }
}

pub(crate) fn serve(inbox: &Receiver<input::Line>, faults: Faults) {
    let mut engine = Engine {
        faults,
        dialect: Dialect::Uci,
        handshakes: 0,
        pings: 0,
        chess960: false,
        multipv: 1,
        threads: 1,
        wdl: false,
        position: None,
        fen: String::new(),
        searches: 0,
        games: 0,
        new: false,
        over_pondering: false,
        stops: 0,
        pondered: false,
        stopped: false,
        may_ponder: false,
        played: None,
        kept: Vec::new(),
        table: vec![0; 16 << 20],
        known: HashMap::new(),
        plies: 0,
        line: Vec::new(),
        missed: false,
        limited: false,
        has_elo: false,
        book_off: false,
        analysing: false,
        shows_lines: false,
        fresh: false,
        waiting: None,
        memory: Memory::new(),
    };
    UNHEARD.store(engine.breaks("exit.closed-output"), Ordering::Relaxed);
    if engine.breaks("defect.unprompted-handshake") {
        std::thread::sleep(Duration::from_millis(400));
        engine.handshake(inbox);
        engine.handshakes = 0;
    }
    if engine.breaks("handshake.waits") {
        send("option name Early type button");
    }
    loop {
        let until = engine
            .waiting
            .as_ref()
            .filter(|waiting| !waiting.held)
            .and_then(|waiting| waiting.until);
        let tick =
            engine.waiting.as_ref().map(|waiting| waiting.begin + TICK * (waiting.ticks + 1));
        let next = until.into_iter().chain(tick).min();
        let line = match next {
            Some(until) => inbox.recv_timeout(until.saturating_duration_since(now())),
            None => inbox.recv().map_err(|_| RecvTimeoutError::Disconnected),
        };
        match line {
            Ok(line) => engine.handle_line(&line, inbox),
            Err(RecvTimeoutError::Timeout) if until.is_some_and(|until| until <= now()) => {
                engine.finish();
            }
            Err(RecvTimeoutError::Timeout) => engine.tick(),
            Err(RecvTimeoutError::Disconnected) => {
                let kept =
                    if engine.waiting.is_some() { "exit.eof.searching" } else { "exit.eof.idle" };
                if engine.breaks(kept) || engine.breaks("defect.ignores-eof") {
                    loop {
                        std::thread::park();
                    }
                }
                return;
            }
        }
    }
}

impl Engine {
    fn breaks(&self, id: &str) -> bool {
        self.faults.breaks(id)
    }

    /// Exits if this is the fault.
    fn exits_if(&self, id: &str) {
        if self.breaks(id) {
            exit(7);
        }
    }

    fn handle_line(&mut self, line: &input::Line, inbox: &Receiver<input::Line>) {
        let rewritten = deviations::input(&line.text);
        let mut text = rewritten.as_deref().unwrap_or(&line.text);
        if 4096 < text.len() && self.breaks("defect.short-buffer") {
            text = text.get(..4096).unwrap_or_default();
        }
        let is_ignored = (line.end == End::Nothing && self.breaks("lexical.last-line"))
            || (line.end == End::Both && self.breaks("lexical.crlf"))
            || (line.end == End::Return && self.breaks("lexical.lone-cr"))
            || (text.contains("  ") && self.breaks("lexical.spaces"))
            || (text.contains('\t') && self.breaks("lexical.tabs"))
            || (text == "isready joho" && self.breaks("lexical.trailing-tokens"))
            || (text.starts_with("joho ") && self.breaks("lexical.leading-token"));
        if is_ignored {
            return;
        }
        if (text.contains("  ") || text.contains('\t') || text.starts_with(' '))
            && self.breaks("defect.splits-at-single-spaces")
        {
            return;
        }
        if text.contains('\u{fffd}') {
            self.exits_if("lexical.undecodable");
        }
        if 1500 < text.len() {
            self.exits_if("lexical.long-line");
        }
        if text.trim_end() == "position startpos moves" {
            self.exits_if("positions.startpos");
        }
        if text.contains(" moves") && text.trim_end().ends_with(" moves") && text.contains("fen ") {
            self.exits_if("defect.exits-at-empty-moves-after-fen");
        }
        if text.is_empty() {
            self.exits_if("lexical.empty-lines");
        }
        for dialect in Dialect::ALL {
            if text.trim() == dialect.handshake() {
                self.dialect = dialect;
            }
        }
        let command = Command::read(text, self.dialect).value.into_owned();
        let fresh = std::mem::take(&mut self.fresh);
        let stopped = std::mem::take(&mut self.stopped);
        match command {
            Command::Uci => self.handshake(inbox),
            Command::IsReady => self.ready(fresh, inbox),
            Command::SetOption(set) => {
                self.set(&set.name, set.value.as_deref());
            }
            Command::Go(_) if self.games == 0 && self.breaks("defect.needs-first-new-game") => {
                send("info string send ucinewgame first");
            }
            Command::NewGame => {
                if std::mem::take(&mut self.over_pondering) {
                    self.exits_if("usi.game-over");
                }
                self.new_game();
                if self.games == 3 && self.searches == 3 {
                    self.exits_if("search.new-game");
                }
                if self.breaks("handshake.ready-once") {
                    send("readyok");
                }
            }
            Command::Position(mut position) => {
                if self.breaks("defect.ignores-moves") {
                    position.moves = readyok_protocol::MoveList::default();
                }
                if self.breaks("defect.ignores-fen") {
                    position.root = Root::StartPos;
                }
                self.place(&position);
            }
            Command::Go(go) => self.go(go, text),
            Command::Stop => self.stop(stopped, inbox),
            Command::PonderHit(clocks) => self.ponder_hit(clocks),
            Command::GameOver(result) => {
                match result {
                    readyok_protocol::GameResult::Draw => self.exits_if("defect.exits-at-draw"),
                    readyok_protocol::GameResult::Lose => self.exits_if("defect.exits-at-loss"),
                    readyok_protocol::GameResult::Win => (),
                }
                if self.breaks("defect.readyok-at-game-over") {
                    send("readyok");
                }
                if self.waiting.is_none() && self.searches == 0 && self.breaks("usi.idle-game-over")
                {
                    send("bestmove resign");
                }
                let pondering = self.waiting.as_ref().is_some_and(|waiting| waiting.pondering);
                self.over_pondering = pondering;
                if pondering && self.breaks("usi.game-over-stops") {
                    self.waiting = None;
                }
                self.answer();
            }
            Command::Debug(on) => {
                if on {
                    self.exits_if("search.debug");
                }
            }
            Command::Register(_) => {
                self.exits_if("search.register");
                if text.contains("code") {
                    self.exits_if("defect.exits-at-registration");
                }
            }
            Command::Quit => self.quit(),
            Command::Unknown(text) => {
                if !text.is_empty() && self.handshakes == 0 {
                    self.exits_if("lexical.before-handshake");
                }
                if !text.is_empty() {
                    self.exits_if("defect.exits-at-unknown-command");
                    if self.breaks("defect.comments-unknown-commands") {
                        send(&format!("Unknown command: {text}"));
                    }
                }
                if text.starts_with("xyzzy") {
                    self.exits_if("lexical.unknown-command");
                }
                if text.starts_with("position") {
                    self.exits_if("positions.malformed");
                }
            }
        }
    }

    fn new_game(&mut self) {
        self.games += 1;
        self.new = true;
        self.memory.is_new = true;
        if self.waiting.is_some() {
            self.exits_if("state.new-game-in-search");
        }
        if self.breaks("state.options-persist") {
            self.multipv = 1;
        }
        if self.breaks("soak.memory") {
            self.kept.push(vec![1; 4 << 20]);
        }
        if self.breaks("soak.threads") {
            std::thread::spawn(std::thread::park);
        }
    }

    /// Discards the lines that have arrived.
    fn discard_lines(inbox: &Receiver<input::Line>) {
        while inbox.recv_timeout(Duration::from_millis(20)).is_ok() {}
    }

    fn game(&self) -> Game {
        match self.dialect {
            Dialect::Uci if self.chess960 => Game::Chess960,
            Dialect::Uci => Game::Chess,
            Dialect::Usi => Game::Shogi,
        }
    }

    /// A search of a certain time is over.
    fn finish(&mut self) {
        if let Some(waiting) = &self.waiting {
            let time = now().saturating_duration_since(waiting.begin);
            if Duration::from_millis(90) < time {
                let mut time = u64::try_from(time.as_millis()).unwrap_or(u64::MAX);
                if self.breaks("info.time-limit") {
                    time += 900;
                }
                if self.breaks("info.time") {
                    time /= 10;
                }
                // As many as fill a hash table.
                let nodes = 4_000_000;
                let nps = if self.breaks("info.nps") { 5 } else { nodes * 1000 / time.max(1) };
                send(&format!("info nodes {nodes} nps {nps} time {time}"));
            }
        }
        self.answer();
    }

    /// Continues a search.
    fn tick(&mut self) {
        let Some(waiting) = &mut self.waiting else { return };
        waiting.ticks += 1;
        let (ticks, head) = (waiting.ticks, waiting.head.clone());
        let time = now().saturating_duration_since(waiting.begin).as_millis();
        if self.breaks("info.regular") {
            return;
        }
        send(&format!("info nodes {} time {time}", 1000 + ticks));
        if let Some(head) = head.filter(|_| 1 < ticks) {
            send(&format!("info currmove {head} currmovenumber 1"));
            if self.shows_lines {
                let more = if self.breaks("info.currline") { head.as_str() } else { "" };
                send(&format!("info currline 1 {head} {more}"));
            }
        }
    }

    fn answer(&mut self) {
        if let Some(waiting) = self.waiting.take() {
            self.missed = waiting.pondering;
            let is_nodes = waiting.go.nodes.is_some() && !waiting.pondering;
            RETURNS.store(is_nodes && self.breaks("lexical.line-feed"), Ordering::Relaxed);
            send(&waiting.answer);
            // The next line follows.
            RETURNS.store(false, Ordering::Relaxed);
            if waiting.answer.starts_with("checkmate") && self.breaks("usi.mate-alone") {
                send("bestmove resign");
            }
            if self.breaks("defect.repeats-bestmove") {
                send(&waiting.answer);
            }
            if self.breaks("defect.info-after-bestmove") {
                send("info nodes 1");
            }
            self.fresh = waiting.go.depth == Some(1) && !waiting.pondering && self.searches == 1;
            for _ in 0..waiting.pings {
                send("readyok");
            }
        }
    }

    fn stop(&mut self, stopped: bool, inbox: &Receiver<input::Line>) {
        if self.breaks("defect.ignores-stop") {
            return;
        }
        if stopped && self.breaks("state.second-stop") {
            send("bestmove (none)");
        }
        if self.waiting.is_some() && self.breaks("state.go-stop-go") {
            Self::discard_lines(inbox);
        }
        let middle = self.fen.contains("2B1P3") || self.fen.contains("2P6");
        match &self.waiting {
            None => {
                self.memory.is_stale |= self.breaks("defect.stale-stop");
                if self.searches == 0 && self.breaks("lexical.idle-stop") {
                    send("bestmove e2e4");
                }
            }
            Some(waiting) => {
                self.stops += 1;
                let long = waiting.go.move_time == Some(Duration::from_secs(100_000));
                let clocks = waiting.go.clocks.white_time == Some(60);
                let mate = waiting.go.mate == Some(MateLimit::Infinite);
                let is_ignored = (mate && self.breaks("usi.mate-infinite"))
                    || (self.stops == 15 && !self.pondered && self.breaks("search.stop"))
                    || (long && waiting.hit && self.breaks("state.hit-and-stop"))
                    || (long && !waiting.hit && self.breaks("search.immediate-stop"))
                    || (waiting.pondering && clocks && middle && self.breaks("search.ponder.stop"));
                if !is_ignored {
                    self.stopped = true;
                    self.answer();
                }
            }
        }
    }

    fn ponder_hit(&mut self, clocks: Clocks) {
        let given = self.waiting.as_ref().map(|waiting| waiting.go.clocks).unwrap_or_default();
        let byoyomi = given.byoyomi == Some(250);
        let is_ignored = given.white_time == Some(60) && self.breaks("search.ponder.hit")
            || byoyomi && clocks.is_empty() && self.breaks("usi.ponder-byoyomi")
            || !clocks.is_empty() && self.breaks("usi.ponderhit-clocks");
        let forgets_limits = self.breaks("defect.no-limits-after-ponderhit");
        let Some(waiting) = &mut self.waiting else {
            self.memory.is_stale |= self.breaks("defect.stale-ponderhit");
            if self.searches == 0 && self.breaks("lexical.idle-ponderhit") {
                send("bestmove e2e4");
            }
            return;
        };
        waiting.pondering = false;
        let is_counted = waiting.go.depth.is_some() || waiting.go.nodes.is_some();
        if waiting.go.infinite || is_ignored || is_counted && forgets_limits {
            return;
        }
        waiting_time(waiting);
        if waiting.until.is_none() {
            self.answer();
        }
    }

    fn quit(&self) {
        if self.handshakes == 0 {
            if self.breaks("exit.quit.before-handshake") {
                return;
            }
            exit(0);
        }
        if self.breaks("defect.late-quit") {
            std::thread::sleep(deviations::NOTICEABLE);
        }
        let id = match &self.waiting {
            Some(waiting) if waiting.pondering => "exit.quit.pondering",
            Some(_) => "exit.quit.searching",
            None if self.pings == 0 => "exit.quit.after-handshake",
            None if self.searches == 0 => "exit.quit.loading",
            None => "exit.quit.idle",
        };
        if !self.breaks(id) && !self.breaks("defect.ignores-quit") {
            exit(if self.breaks("exit.status") { 3 } else { 0 });
        }
    }
}
