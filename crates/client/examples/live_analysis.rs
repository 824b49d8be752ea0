//! Prints three variations of a position at least every half second, for five seconds:
//! `cargo run --example live_analysis stockfish`.
#![expect(clippy::print_stdout, clippy::disallowed_methods, reason = "an example")]

use std::error::Error;
use std::process::Command;
use std::time::{Duration, Instant};

use readyok_client::{Engine, Game, Limit, Search};

fn main() -> Result<(), Box<dyn Error>> {
    let program = std::env::args().nth(1).unwrap_or_else(|| "stockfish".to_owned());
    let mut engine = Engine::spawn(Command::new(program))?;
    let game = Game::from_fen("r1bqkbnr/pppp1ppp/2n5/4p3/2B1P3/5N2/PPPP1PPP/RNBQK2R b KQkq - 3 3")?;
    let search = engine.analyse(&game, Search::new(Limit::Infinite).lines(3))?;
    let start = Instant::now();
    let mut printed = start;
    while start.elapsed() < Duration::from_secs(5) && !search.is_over() {
        let _ = search.next_within(Duration::from_millis(100));
        if printed.elapsed() >= Duration::from_millis(500) {
            printed = Instant::now();
            for line in search.so_far().iter() {
                println!("depth {:?}: {:?} {:?}", line.depth, line.score, line.pv);
            }
        }
    }
    println!("best move: {:?}", search.finish()?.best_move());
    Ok(())
}
