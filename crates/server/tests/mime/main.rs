//! The test engine: it plays the first legal move, and has optional faults.
//!
//! `mime guard` is the command of a guard. `mime [usi] [crash] [deaf] [register] [stale] [illegal] [proud] [shy] [plain]`

use std::io::{self, BufRead, Write};
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::thread::{self, JoinHandle};
use std::time::Duration;

use readyok_client::Guard;
use readyok_rules::{CastlingForm, Game, Position};

fn send(line: &str) {
    // A disconnected client needs no answer.
    let _ = writeln!(io::stdout().lock(), "{line}");
}

struct Search {
    stop: Arc<AtomicBool>,
    thread: JoinHandle<()>,
}

fn main() {
    let faults: Vec<String> = std::env::args().skip(1).collect();
    let has = |fault: &str| faults.iter().any(|known| known == fault);
    if has("guard") {
        // Without a response, the engine rejects the license.
        let _ = Guard::serve();
        return;
    }
    if has("shy") && std::env::var_os("MIME_SPEAKS").is_none() {
        return;
    }
    let mut game = Game::Chess;
    let mut position = Position::start(game);
    let mut search: Option<Search> = None;
    for line in io::stdin().lock().lines().map_while(Result::ok) {
        let (command, rest) = line.split_once(' ').unwrap_or((&line, ""));
        match command {
            "uci" if has("usi") => return,
            "uci" | "usi" => {
                game = if command == "usi" { Game::Shogi } else { Game::Chess };
                position = Position::start(game);
                for line in ["id name Mime <b>1</b>", "id author None"] {
                    send(line);
                }
                if !has("plain") {
                    send("option name Hash type spin default 16 min 1 max 1024");
                }
                for line in [
                    "option name Style type combo default Calm var Calm var Wild",
                    "option name Clear Hash type button",
                    "option name Skill Level type spin default 20 min 0 max 20",
                    "option name MultiPV type spin default 1 min 1 max 20",
                    "option name Ponder type check default false",
                ] {
                    send(line);
                }
                send(if command == "usi" { "usiok" } else { "uciok" });
                if has("register") {
                    send("registration error");
                }
            }
            "register" => {
                send(if rest == "later" { "registration error" } else { "registration ok" });
            }
            "isready" if has("deaf") => (),
            "isready" => send("readyok"),
            "position" => position = read(game, rest).unwrap_or_else(|| Position::start(game)),
            "go" if has("crash") => {
                let _ = writeln!(io::stderr(), "mime: out of thoughts");
                std::process::abort();
            }
            "go" => {
                let runs = rest.contains("infinite") || rest.contains("ponder");
                search = Some(begin(
                    position.clone(),
                    runs,
                    &Faults { stale: has("stale"), illegal: has("illegal"), proud: has("proud") },
                ));
            }
            "stop" | "ponderhit" => {
                if let Some(Search { stop, thread }) = search.take() {
                    stop.store(true, Ordering::Release);
                    let _ = thread.join();
                }
            }
            "quit" => return,
            _ => (),
        }
    }
}

/// A position with its moves.
fn read(game: Game, text: &str) -> Option<Position> {
    let (root, moves) = text.split_once(" moves ").unwrap_or((text, ""));
    let start = match root.split_once(' ') {
        None => Position::start(game),
        Some((_, fields)) => Position::from_text(game, fields).ok()?,
    };
    start.after(moves.split_whitespace()).ok()
}

/// Faults of a search.
struct Faults {
    stale: bool,
    illegal: bool,
    /// The side to move is winning.
    proud: bool,
}

/// Searches a position: the best move is the first legal one.
fn begin(position: Position, runs: bool, faults: &Faults) -> Search {
    let Faults { stale, illegal, proud } = *faults;
    let stop = Arc::<AtomicBool>::default();
    let asked = Arc::clone(&stop);
    let thread = thread::spawn(move || {
        let form = CastlingForm::KingMove;
        let mut moves: Vec<String> =
            position.legal_moves().into_iter().map(|mv| mv.to_uci(form)).collect();
        moves.sort();
        let best = moves.first().map_or("(none)", String::as_str);
        let mut depth = 0;
        let report = |depth: u32| {
            let score = if proud { 500 } else { depth };
            send(&format!("info depth {depth} score cp {score} nodes {depth}00 nps 9 pv {best}"));
            send(&format!("info string at {position}"));
        };
        loop {
            depth += 1;
            report(depth);
            if !runs || asked.load(Ordering::Acquire) {
                break;
            }
            // The log of a long search keeps its `go`.
            thread::park_timeout(Duration::from_millis(u64::from(depth.min(25)) * 2));
        }
        if stale {
            // Sends `info` after `stop`.
            for more in 0..20 {
                report(depth + more);
            }
        }
        send(&format!("bestmove {}", if illegal { "a1a5" } else { best }));
    });
    Search { stop, thread }
}
