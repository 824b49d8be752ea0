//! An engine that plays a legal move at once, and sometimes does what engines should not:
//! `instant [seed=NUMBER] [one-in=NUMBER] [log=FILE] [crash] [hang] [late] [flood] [illegal]
//! [garbage]`.
//!
//! It speaks UCI and USI. Which move it plays, and whether it fails, which is so one move in
//! twenty or as its arguments say, follows from the position and its seed: what was played once is
//! played again. The log gets a line with the seed for each start and each `go`.
#![expect(clippy::exit, clippy::print_stdout, reason = "as engines do")]

use std::fs::OpenOptions;
use std::io::{self, BufRead, Write};
use std::process::exit;
use std::thread;
use std::time::Duration;

use readyok_rules::{Game, Position};

struct Engine {
    game: Game,
    position: String,
    seed: u64,
    one_in: u64,
    log: Option<String>,
    faults: Vec<String>,
}

fn main() {
    let mut engine = Engine {
        game: Game::Chess,
        position: String::new(),
        seed: 0,
        one_in: 20,
        log: None,
        faults: Vec::new(),
    };
    for argument in std::env::args().skip(1) {
        match argument.split_once('=') {
            Some(("seed", seed)) => engine.seed = seed.parse().unwrap_or(0),
            Some(("one-in", number)) => engine.one_in = number.parse().unwrap_or(1),
            Some(("log", file)) => engine.log = Some(file.to_owned()),
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
            "isready" => say("readyok"),
            "position" => rest.clone_into(&mut engine.position),
            "go" => engine.go(),
            "quit" => return,
            _ => (),
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

    fn go(&self) {
        self.note("go");
        let lot = self.lot();
        let fault =
            self.faults.get(usize::try_from(lot >> 40).unwrap_or(0) % self.faults.len().max(1));
        if let Some(fault) = fault.filter(|_| (lot >> 20).is_multiple_of(self.one_in)) {
            self.fail(fault);
        }
        let word = self.choose(lot).unwrap_or_else(|| "resign".to_owned());
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
            .map(|it| it.word(self.game.castling_form()))
            .collect();
        words.sort_unstable();
        let count = u64::try_from(words.len()).ok().filter(|count| *count > 0)?;
        words.get(usize::try_from(lot % count).ok()?).cloned()
    }

    /// A number that follows from the position and the seed (FNV-1a, then a finalizer).
    fn lot(&self) -> u64 {
        let mut lot = 0xcbf2_9ce4_8422_2325 ^ self.seed.wrapping_mul(0x9e37_79b9_7f4a_7c15);
        for byte in self.position.bytes() {
            lot = (lot ^ u64::from(byte)).wrapping_mul(0x0100_0000_01b3);
        }
        lot ^= lot >> 31;
        lot.wrapping_mul(0xbf58_476d_1ce4_e5b9) ^ (lot >> 27)
    }
}
