//! Plays one move with Stockfish, then analyses the position after it.
#![expect(clippy::print_stdout, reason = "an example")]

use readyok_client::{Engine, EngineError, Game, Limit, Search};

fn main() -> Result<(), EngineError> {
    let mut engine = Engine::spawn(std::process::Command::new("stockfish"))?;
    let mut game = Game::startpos();
    game.extend(engine.play(&game, Limit::millis(500))?.best_move());
    let mut analysis = engine.analyse(&game, Search::new(Limit::Infinite).lines(3))?;
    while analysis.next().is_some_and(|info| info.depth < Some(15)) {}
    for line in analysis.finish()?.lines.iter() {
        println!("{:?} {:?}", line.score, line.pv);
    }
    Ok(())
}
