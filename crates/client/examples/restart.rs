//! Searches positions and restarts an engine that has crashed or does not answer:
//! `cargo run --example restart stockfish`.
#![expect(clippy::print_stdout, reason = "an example")]

use std::error::Error;
use std::process::Command;

use readyok_client::{Engine, Game, Limit};

const POSITIONS: [&str; 2] = ["7k/8/8/8/8/8/R7/1R4K1 w - - 0 1", "4k3/8/8/8/8/8/4P3/4K3 w - - 0 1"];

fn main() -> Result<(), Box<dyn Error>> {
    let program = std::env::args().nth(1).unwrap_or_else(|| "stockfish".to_owned());
    let mut engine = Engine::spawn(Command::new(&program))?;
    for fen in POSITIONS {
        match engine.play(&Game::from_fen(fen)?, Limit::millis(200)) {
            Ok(result) => println!("{fen}: {:?}", result.best_move()),
            // Only this search failed.
            Err(error) if error.is_recoverable() => println!("{fen}: {error}"),
            Err(error) => {
                println!("{fen}: {error}; standard error: {:?}", error.stderr());
                engine = Engine::spawn(Command::new(&program))?;
            }
        }
    }
    engine.quit()?;
    Ok(())
}
