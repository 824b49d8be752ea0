//! An engine that plays a legal move at once, and sometimes does what engines should not:
//! `instant [seed=NUMBER] [one-in=NUMBER] [log=FILE] [stamps=FOLDER] [crash] [hang] [late] [flood] [illegal]
//! [garbage] [mute]`.
//!
//! It speaks UCI and USI. Which move it plays, and whether it fails, which is so one move in
//! twenty or as its arguments say, follows from the position and its seed: what was played once is
//! played again. The log gets a line with the seed for each start and each `go`. At its end it leaves
//! a file of stamps in their folder: for each `go` that it has read and each `bestmove` that it is
//! about to write, a hash of the position and the time in nanoseconds.
#![expect(clippy::exit, clippy::print_stdout, reason = "as engines do")]

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
            Some(("stamps", folder)) => {
                engine.stamps = Some(Stamps { folder: folder.to_owned(), lines: String::new() });
            }
            Some(_) | None => engine.faults.push(argument),
        }
    }
    engine.note("start");
    for line in io::stdin().lock().lines().map_while(Result::ok) {
        let (word, rest) = line.split_once(' ').unwrap_or((&line, ""));
        match word {
            "uci" => say("id name Instant\nid author Nobody\nuciok"),
            "usi" => {
                engine.game = Game::Shogi;
                say("id name Instant\nid author Nobody\nusiok");
            }
            "isready" if engine.faults.iter().any(|fault| fault == "mute") => (),
            "isready" => say("readyok"),
            "position" => rest.clone_into(&mut engine.position),
            "go" => engine.go(),
            "quit" => break,
            _ => (),
        }
    }
    if let Some(stamps) = engine.stamps {
        stamps.leave();
    }
}

/// When it was asked and when it has answered, in memory until its end.
struct Stamps {
    folder: String,
    lines: String,
}

impl Stamps {
    fn add(&mut self, what: &str, position: &str) {
        let now = SystemTime::now().duration_since(UNIX_EPOCH).unwrap_or_default().as_nanos();
        let line = format!("{what} {:016x} {now}\n", fnv(0, position));
        self.lines.push_str(&line);
    }

    fn leave(self) {
        let file = format!("{}/{}", self.folder, std::process::id());
        if std::fs::write(file, self.lines).is_err() {
            exit(9);
        }
    }
}

fn say(text: &str) {
    println!("{text}");
    if io::stdout().flush().is_err() {
        exit(9);
    }
}

impl Engine {
    fn note(&self, what: &str) {
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
        self.note("go");
        let lot = self.lot();
        let fault =
            self.faults.get(usize::try_from(lot >> 40).unwrap_or(0) % self.faults.len().max(1));
        if let Some(fault) = fault.filter(|_| (lot >> 20).is_multiple_of(self.one_in)) {
            self.fail(fault);
        }
        let word = self.choose(lot).unwrap_or_else(|| "resign".to_owned());
        if let Some(stamps) = &mut self.stamps {
            let more = if self.position.contains(" moves ") { "" } else { " moves" };
            stamps.add("bestmove", &format!("{}{more} {word}", self.position));
        }
        say(&format!("info depth 1 score cp 0 nodes 1 time 0 pv {word}\nbestmove {word}"));
    }

    fn fail(&self, fault: &str) {
        match fault {
            "crash" => exit(3),
            "hang" => loop {
                thread::park();
            },
            "late" => thread::park_timeout(Duration::from_secs(1)),
            "flood" => loop {
                say("info depth 1 score cp 1 nodes 1 pv e2e4");
            },
            "illegal" => {
                say(if self.game == Game::Shogi { "bestmove 5a5a" } else { "bestmove a1a1" });
            }
            "garbage" => say("info depth x score y\n\u{7f}\u{0}%n%s\nbestmove {}\\\"]"),
            _ => (),
        }
    }

    fn choose(&self, lot: u64) -> Option<String> {
        let (start, moves) = match self.position.split_once("moves") {
            Some((start, moves)) => (start.trim(), moves),
            None => (self.position.trim(), ""),
        };
        let start = match start.split_once(' ') {
            None => Position::start(self.game),
            Some((_, text)) => Position::from_text(self.game, text).ok()?,
        };
        let position = start.after(moves.split_whitespace()).ok()?;
        let mut words: Vec<String> = position
            .legal_moves()
            .into_iter()
            .map(|it| it.to_uci(self.game.castling_form()))
            .collect();
        words.sort_unstable();
        let count = u64::try_from(words.len()).ok().filter(|count| *count > 0)?;
        words.get(usize::try_from(lot % count).ok()?).cloned()
    }

    /// A number that follows from the position and the seed.
    fn lot(&self) -> u64 {
        let mut lot = fnv(self.seed.wrapping_mul(0x9e37_79b9_7f4a_7c15), &self.position);
        lot ^= lot >> 31;
        lot.wrapping_mul(0xbf58_476d_1ce4_e5b9) ^ (lot >> 27)
    }
}

/// FNV-1a.
fn fnv(salt: u64, text: &str) -> u64 {
    text.bytes().fold(0xcbf2_9ce4_8422_2325 ^ salt, |hash, byte| {
        (hash ^ u64::from(byte)).wrapping_mul(0x0100_0000_01b3)
    })
}
