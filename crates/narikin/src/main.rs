//! The engine executable, with the benchmarks `narikin bench` and `narikin perft`.

use std::{env, io, io::Write, time::Instant};

use narikin::{Bench, Searcher};
use readyok_rules::{Game, Position};

const USAGE: &str = "\
usage: narikin
       narikin --version
       narikin bench [chess|shogi] [HASH_MB] [THREADS] [LIMIT] [FILE|default] [depth|nodes|movetime|perft]
       narikin perft chess|chess960|shogi DEPTH [FEN or SFEN]";

fn main() -> io::Result<()> {
    let arguments: Vec<String> = env::args().skip(1).collect();
    match arguments.iter().map(String::as_str).collect::<Vec<_>>().as_slice() {
        [] => narikin::runner().map_err(io::Error::other)?.run_stdio(),
        ["--version" | "-V"] => {
            let searcher = Searcher::new(0).map_err(io::Error::other)?;
            let mut out = io::stdout();
            writeln!(out, "Narikin {}", env!("CARGO_PKG_VERSION"))?;
            writeln!(out, "evaluation of chess: {}", searcher.evaluation_name(Game::Chess))?;
            writeln!(out, "evaluation of shogi: {}", searcher.evaluation_name(Game::Shogi))
        }
        ["bench", arguments @ ..] => {
            let result = Bench::parse(arguments.iter().copied()).and_then(|bench| bench.run());
            let result = result.map_err(|error| io::Error::other(format!("{error}\n{USAGE}")))?;
            writeln!(io::stdout(), "{result}")
        }
        ["perft", game @ ("chess" | "chess960" | "shogi"), depth, text @ ..] => {
            let depth = depth.parse().map_err(io::Error::other)?;
            count(game, depth, &text.join(" "))
        }
        _ => Err(io::Error::other(USAGE)),
    }
}

#[expect(clippy::disallowed_methods, reason = "a benchmark reads the clock")]
fn count(game: &str, depth: u32, text: &str) -> io::Result<()> {
    let game = match game {
        "shogi" => Game::Shogi,
        "chess960" => Game::Chess960,
        _ => Game::Chess,
    };
    let position = match text {
        "" => Position::start(game),
        text => Position::from_text(game, text).map_err(io::Error::other)?,
    };
    let start = Instant::now();
    let nodes = narikin::perft(&position, depth).ok_or_else(|| io::Error::other("no game"))?;
    let nps = u128::from(nodes) * 1_000_000 / start.elapsed().as_micros().max(1);
    writeln!(io::stdout(), "{nodes} nodes {nps} nps")
}
