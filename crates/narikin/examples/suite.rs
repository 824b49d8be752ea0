//! Solves test suites: `suite [--nodes N] FILE…`.
//!
//! Files of EPD have positions of chess with their best moves (`bm`) or moves to avoid (`am`). Moves can
//! have points, as in the Strategic Test Suite (`c9` names the moves, `c8` their points). All other
//! files have a SFEN in each line, with mates of shogi to be found by the mate solver.

use std::{env, fs, io, io::Write as _, time::Duration};

use narikin::{Control, Limits, Report, Searcher, mate};
use readyok_rules::{BoardRef, Epd, Game, Move, Operation, Position};

/// How many positions are searched if nothing else is sent.
const NODES: u64 = 200_000;

/// The hash table in megabytes.
const HASH: usize = 64;

fn main() -> io::Result<()> {
    let mut nodes = NODES;
    let mut tokens = env::args().skip(1);
    while let Some(token) = tokens.next() {
        if token == "--nodes" {
            let number = tokens.next().unwrap_or_default();
            nodes = number.parse().map_err(io::Error::other)?;
            continue;
        }
        let text = fs::read_to_string(&token)?;
        let is_epd = token.to_ascii_lowercase().ends_with(".epd");
        let tally = if is_epd { chess(&text, nodes)? } else { mates(&text, nodes)? };
        let Tally { solved, total, points, most, searched } = tally;
        let mut out = io::stdout();
        write!(out, "{token}: {solved} of {total} solved")?;
        if most > 0 {
            write!(out, ", {points} of {most} points")?;
        }
        writeln!(out, ", {} nodes each", searched / total.max(1))?;
    }
    Ok(())
}

#[derive(Default)]
struct Tally {
    solved: u64,
    total: u64,
    points: u64,
    most: u64,
    searched: u64,
}

fn chess(text: &str, nodes: u64) -> io::Result<Tally> {
    let mut tally = Tally::default();
    for line in text.lines().filter(|line| !line.trim().is_empty()) {
        // Lines of analysis were cut off in some files; the best moves stand before them.
        let line = line.split(" pv ").next().unwrap_or(line);
        let epd = Epd::read(Game::Chess, line)
            .map_err(|error| io::Error::other(format!("{error}: {line}")))?;
        let limits = Limits { nodes: Some(nodes), ..Limits::default() };
        let outcome = Searcher::new(HASH)?.search(&epd.position, &limits, &Untimed);
        tally.total += 1;
        tally.searched += outcome.nodes;
        let Some(played) = outcome.best() else { continue };
        tally.solved += u64::from(is_solved(&epd.operations, played));
        let points = points(&epd);
        tally.points +=
            points.iter().find(|(mv, _)| *mv == played).map_or(0, |(_, points)| *points);
        tally.most += points.iter().map(|(_, points)| *points).max().unwrap_or(0);
    }
    Ok(tally)
}

fn is_solved(operations: &[Operation], played: Move) -> bool {
    operations.iter().all(|operation| match operation {
        Operation::BestMoves(moves) => moves.contains(&played),
        Operation::AvoidMoves(moves) => !moves.contains(&played),
        _ => true,
    })
}

/// The moves of `c9` with the points of `c8`.
fn points(epd: &Epd) -> Vec<(Move, u64)> {
    let tokens = |wanted: u8| {
        let text = epd.operations.iter().find_map(|operation| match operation {
            Operation::Comment { number, text } if *number == wanted => Some(text.as_str()),
            _ => None,
        });
        text.unwrap_or_default().split_whitespace()
    };
    let pair = |(mv, points): (&str, &str)| {
        Some((epd.position.parse_move(mv).ok()?, points.parse().ok()?))
    };
    tokens(9).zip(tokens(8)).filter_map(pair).collect()
}

fn mates(text: &str, nodes: u64) -> io::Result<Tally> {
    let mut tally = Tally::default();
    for line in text.lines().map(str::trim).filter(|line| !line.is_empty()) {
        let wrong = |error: &dyn std::fmt::Display| io::Error::other(format!("{error}: {line}"));
        let position = Position::from_text(Game::Shogi, line).map_err(|error| wrong(&error))?;
        let BoardRef::Shogi(board) = position.board() else { continue };
        let mut solver = mate::Solver::new(HASH)?;
        let limits = mate::SolverLimits { nodes: Some(nodes), ..mate::SolverLimits::default() };
        let solution = solver.solve(board.position(), &limits, &mut |_| false);
        tally.total += 1;
        tally.searched += solver.nodes();
        tally.solved += u64::from(matches!(solution, mate::Solution::Mate(_)));
    }
    Ok(tally)
}

/// Ends by its limits alone.
struct Untimed;

impl Control for Untimed {
    fn stopped(&self) -> bool {
        false
    }

    fn elapsed(&self) -> Duration {
        Duration::ZERO
    }

    fn report(&self, _: &Report<'_>) {}
}
