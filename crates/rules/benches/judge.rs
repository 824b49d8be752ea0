//! The time of the judge of sessions for each move of a game, and of the observer without positions.
//!
//! ```text
//! cargo bench -p readyok-rules --bench judge
//! ```
#![expect(
    clippy::print_stdout,
    clippy::disallowed_methods,
    clippy::cast_precision_loss,
    reason = "a benchmark"
)]

use std::hint::black_box;
use std::time::{Duration, Instant};

use readyok_protocol::{Command, Dialect, Observer, Party, Reply};
use readyok_rules::session::Judge;
use readyok_rules::{Game, MoveCodec, Position};

/// Plies of the game, `info` lines of each search, and plies of the longest PV.
const PLIES: usize = 80;
const LINES: usize = 30;
const PV: usize = 18;

/// Number of games. The fastest one counts.
const PASSES: usize = 30;

fn main() {
    for (dialect, game) in [(Dialect::Uci, Game::Chess), (Dialect::Usi, Game::Shogi)] {
        let session = session(dialect, game);
        let moves = session.iter().filter(|(_, line)| line.starts_with("bestmove")).count();
        let per_move = |time: Duration| time.as_secs_f64() * 1e6 / moves as f64;
        let judged = fastest(|| judge(dialect, &session));
        let observed = fastest(|| observe(dialect, &session));
        println!(
            "{game:?}: {:.1} µs per move with {LINES} info lines; {:.1} µs without positions",
            per_move(judged),
            per_move(observed),
        );
    }
}

fn fastest(run: impl Fn()) -> Duration {
    let time = |_| {
        let begin = Instant::now();
        run();
        begin.elapsed()
    };
    (0..PASSES).map(time).min().unwrap_or_default()
}

fn judge(dialect: Dialect, session: &[(Party, String)]) {
    let mut judge = Judge::new(dialect);
    for (side, line) in session {
        let found = match side {
            Party::Client => judge.command(line, Duration::ZERO),
            Party::Engine => judge.reply(line, Duration::ZERO),
        };
        assert!(found.is_empty(), "{line}: {found:?}");
    }
    black_box(&judge);
}

fn observe(dialect: Dialect, session: &[(Party, String)]) {
    let mut observer = Observer::new(dialect);
    for (side, line) in session {
        let found = match side {
            Party::Client => {
                observer.observe_command(&Command::read(line, dialect).value, Duration::ZERO)
            }
            Party::Engine => {
                observer.observe_reply(&Reply::read(line, dialect).value, Duration::ZERO)
            }
        };
        assert!(found.is_empty(), "{line}: {found:?}");
    }
    black_box(&observer);
}

/// A game in which each line of a search is a bit longer than the one before, and its end is another one.
fn session(dialect: Dialect, game: Game) -> Vec<(Party, String)> {
    let mut session = Vec::new();
    let mut add = |side, line: String| session.push((side, line));
    add(Party::Client, dialect.handshake().to_owned());
    add(Party::Engine, "id name Example".to_owned());
    add(Party::Engine, dialect.handshake_ok().to_owned());
    add(Party::Client, "isready".to_owned());
    add(Party::Engine, "readyok".to_owned());
    let (mut position, mut played) = (Position::start(game), Vec::new());
    let codec = MoveCodec::usual(game);
    let mut random = 7_usize;
    while played.len() < PLIES && position.outcome().is_none() {
        let moves =
            if played.is_empty() { String::new() } else { format!(" moves {}", played.join(" ")) };
        add(Party::Client, format!("position startpos{moves}"));
        add(Party::Client, "go wtime 60000 btime 60000".to_owned());
        let main = line(&position, codec, PV, &mut random);
        let mut best = String::new();
        for number in 1..=LINES {
            let length = (number * PV / LINES).max(2).min(main.len());
            let shared = length.saturating_sub(2).max(1);
            let mut pv: Vec<String> = main.iter().take(shared).cloned().collect();
            if let Ok(end) = position.clone().after(&pv) {
                pv.extend(line(&end, codec, length - shared, &mut random));
            }
            best = pv.first().cloned().unwrap_or_default();
            let nodes = number * 10_000;
            add(
                Party::Engine,
                format!(
                    "info depth {number} seldepth {number} score cp 21 nodes {nodes} nps 1000000 \
                     hashfull 10 time {number} pv {}",
                    pv.join(" ")
                ),
            );
        }
        add(Party::Engine, format!("bestmove {best}"));
        let Ok(next) = position.clone().after([&best]) else { break };
        position = next;
        played.push(best);
    }
    session
}

/// Random moves that do not end the game.
fn line(position: &Position, codec: MoveCodec, plies: usize, random: &mut usize) -> Vec<String> {
    let (mut position, mut line) = (position.clone(), Vec::new());
    while line.len() < plies {
        let moves = position.legal_moves();
        *random =
            random.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
        let Some(mv) = moves.get((*random >> 33) % moves.len().max(1)) else { break };
        let Ok(text) = codec.encode(*mv) else { break };
        let mut next = position.clone();
        if next.play(*mv).is_err() || next.outcome().is_some() {
            break;
        }
        position = next;
        line.push(text.as_str().to_owned());
    }
    line
}
