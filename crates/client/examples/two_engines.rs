//! Plays a game between two engines with a clock: `cargo run --example two_engines stockfish ethereal-chess`.
#![expect(clippy::print_stdout, reason = "an example")]

use std::process::Command;
use std::time::Duration;

use readyok_client::protocol::{Clock, Clocks};
use readyok_client::{Engine, EngineError, Game, Limit, Search};

const INCREMENT: Duration = Duration::from_millis(50);

fn main() -> Result<(), EngineError> {
    let programs: Vec<String> = std::env::args().skip(1).collect();
    let [white, black] = &programs[..] else {
        println!("usage: two_engines WHITE BLACK");
        return Ok(());
    };
    let mut engines = [Engine::spawn(Command::new(white))?, Engine::spawn(Command::new(black))?];
    let mut remaining = [Duration::from_secs(5); 2];
    let mut game = Game::startpos();
    for ply in 0..400 {
        let side = ply % 2;
        let [white, black] = remaining.map(|time| Clock::fischer(time, INCREMENT));
        // The deadline ends the wait even if the engine ignores its clock.
        let search = Search::new(Limit::clock(Clocks::new(white, black)))
            .deadline_after(remaining[side])
            .ponder_after();
        let result = engines[side].play(&game, search)?;
        remaining[side] = remaining[side].saturating_sub(result.time()) + INCREMENT;
        // No move: checkmate, stalemate or resignation.
        let Some(mv) = result.best_move() else { break };
        println!("{ply:3} {mv} {:?} {:.2?} left", result.info.score, remaining[side]);
        game.extend([mv]);
    }
    Ok(())
}
