//! A test engine that plays legal moves immediately, and can misbehave:
//! `instant [seed=NUMBER] [one-in=NUMBER] [log=FILE] [stamps=DIRECTORY] [crash] [hang] [late] [flood] [illegal]
//! [garbage] [mute]`.
//!
//! It supports UCI and USI. Its move and its failures (by default one move in twenty) depend only on the position and
//! the seed: games are reproducible. The log gets a line with the seed for each start and each `go`. At exit, a file
//! of time stamps is written to their directory: for each `go` received and each `bestmove` before sending it, a hash
//! of the position and the time in nanoseconds.
#![expect(clippy::exit, clippy::print_stdout, reason = "an engine writes to stdout")]

use std::fs::OpenOptions;
use std::io::{self, BufRead, Write};
use std::process::exit;
use std::thread;
use std::time::{Duration, SystemTime, UNIX_EPOCH};

use readyok_rules::{Game, Position};

struct Engine {
    game: Game,
    position: String,
    seed: u64,
    one_in: u64,
    log: Option<String>,
    stamps: Option<Stamps>,
    faults: Vec<String>,
}

fn main() {
    let mut engine = Engine {
        game: Game::Chess,
        position: String::new(),
        seed: 0,
        one_in: 20,
        log: None,
        stamps: None,
        faults: Vec::new(),
    };
    for argument in std::env::args().skip(1) {
        match argument.split_once('=') {
            Some(("seed", seed)) => engine.seed = seed.parse().unwrap_or(0),
            Some(("one-in", number)) => engine.one_in = number.parse().unwrap_or(1),
            Some(("log", file)) => engine.log = Some(file.to_owned()),
            Some(("stamps", directory)) => {
                engine.stamps =
                    Some(Stamps { directory: directory.to_owned(), lines: String::new() });
            }
            Some(_) | None => engine.faults.push(argument),
        }
    }
    engine.log_event("start");
    for line in io::stdin().lock().lines().map_while(Result::ok) {
        let (command, rest) = line.split_once(' ').unwrap_or((&line, ""));
        match command {
            "uci" => send("id name Instant\nid author Readyok\nuciok"),
            "usi" => {
                engine.game = Game::Shogi;
                send("id name Instant\nid author Readyok\nusiok");
            }
            "isready" if engine.faults.iter().any(|fault| fault == "mute") => (),
            "isready" => send("readyok"),
            "position" => rest.clone_into(&mut engine.position),
            "go" => engine.go(),
            "quit" => break,
            _ => (),
        }
    }
    if let Some(stamps) = engine.stamps {
        stamps.write();
    }
}

/// Times of `go` and `bestmove`, in memory until the exit.
struct Stamps {
    directory: String,
    lines: String,
}

impl Stamps {
    fn add(&mut self, what: &str, position: &str) {
        let now = SystemTime::now().duration_since(UNIX_EPOCH).unwrap_or_default().as_nanos();
        let line = format!("{what} {:016x} {now}\n", fnv(0, position));
        self.lines.push_str(&line);
    }

    fn write(self) {
        let file = format!("{}/{}", self.directory, std::process::id());
        if std::fs::write(file, self.lines).is_err() {
            exit(9);
        }
    }
}

fn send(text: &str) {
    println!("{text}");
    if io::stdout().flush().is_err() {
        exit(9);
    }
}

impl Engine {
    fn log_event(&self, what: &str) {
        let Some(log) = &self.log else { return };
        let file = OpenOptions::new().create(true).append(true).open(log);
        let line = format!("{what} {}\n", self.seed);
        if file.and_then(|mut file| file.write_all(line.as_bytes())).is_err() {
            exit(9);
        }
    }

    fn go(&mut self) {
        if let Some(stamps) = &mut self.stamps {
            stamps.add("go", &self.position);
        }
        self.log_event("go");
        let random = self.random();
        let fault =
            self.faults.get(usize::try_from(random >> 40).unwrap_or(0) % self.faults.len().max(1));
        if let Some(fault) = fault.filter(|_| (random >> 20).is_multiple_of(self.one_in)) {
            self.fail(fault);
        }
        let mv = self.choose(random).unwrap_or_else(|| "resign".to_owned());
        if let Some(stamps) = &mut self.stamps {
            let more = if self.position.contains(" moves ") { "" } else { " moves" };
            stamps.add("bestmove", &format!("{}{more} {mv}", self.position));
        }
        send(&format!("info depth 1 score cp 0 nodes 1 time 0 pv {mv}\nbestmove {mv}"));
    }

    fn fail(&self, fault: &str) {
        match fault {
            "crash" => exit(3),
            "hang" => loop {
                thread::park();
            },
            "late" => thread::park_timeout(Duration::from_secs(1)),
            "flood" => loop {
                send("info depth 1 score cp 1 nodes 1 pv e2e4");
            },
            "illegal" => {
                send(if self.game == Game::Shogi { "bestmove 5a5a" } else { "bestmove a1a1" });
            }
            "garbage" => send("info depth x score y\n\u{7f}\u{0}%n%s\nbestmove {}\\\"]"),
            _ => (),
        }
    }

    fn choose(&self, random: u64) -> Option<String> {
        let (start, moves) = match self.position.split_once("moves") {
            Some((start, moves)) => (start.trim(), moves),
            None => (self.position.trim(), ""),
        };
        let start = match start.split_once(' ') {
            None => Position::start(self.game),
            Some((_, text)) => Position::from_text(self.game, text).ok()?,
        };
        let position = start.after(moves.split_whitespace()).ok()?;
        let mut moves: Vec<String> = position
            .legal_moves()
            .into_iter()
            .map(|mv| mv.to_uci(self.game.castling_form()))
            .collect();
        moves.sort_unstable();
        let count = u64::try_from(moves.len()).ok().filter(|count| *count > 0)?;
        moves.get(usize::try_from(random % count).ok()?).cloned()
    }

    /// A pseudorandom number of the position and the seed.
    fn random(&self) -> u64 {
        let mut random = fnv(self.seed.wrapping_mul(0x9e37_79b9_7f4a_7c15), &self.position);
        random ^= random >> 31;
        random.wrapping_mul(0xbf58_476d_1ce4_e5b9) ^ (random >> 27)
    }
}

/// FNV-1a.
fn fnv(salt: u64, text: &str) -> u64 {
    text.bytes().fold(0xcbf2_9ce4_8422_2325 ^ salt, |hash, byte| {
        (hash ^ u64::from(byte)).wrapping_mul(0x0100_0000_01b3)
    })
}
