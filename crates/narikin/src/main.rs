//! The engine as a program for any GUI, and a benchmark of it: `narikin bench [chess|shogi]`.

use std::{env, io, io::Write, time::Instant};

use readyok_rules::Game;

fn main() -> io::Result<()> {
    let words: Vec<String> = env::args().skip(1).collect();
    match words.iter().map(String::as_str).collect::<Vec<_>>().as_slice() {
        [] => narikin::runner().map_err(io::Error::other)?.run_stdio(),
        ["bench"] => bench(Game::Chess).and_then(|()| bench(Game::Shogi)),
        ["bench", "chess"] => bench(Game::Chess),
        ["bench", "shogi"] => bench(Game::Shogi),
        _ => Err(io::Error::other("usage: narikin [bench [chess|shogi]]")),
    }
}

#[expect(clippy::disallowed_methods, reason = "a benchmark reads the clock")]
fn bench(game: Game) -> io::Result<()> {
    let start = Instant::now();
    let nodes = narikin::bench(game).map_err(io::Error::other)?;
    let nps = u128::from(nodes) * 1_000_000 / start.elapsed().as_micros().max(1);
    writeln!(io::stdout(), "{game:?}: {nodes} nodes {nps} nps")
}
