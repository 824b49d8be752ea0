//! Analyses one position with several engines at the same time, in tasks:
//! `cargo run --example tasks stockfish ethereal-chess`.
#![expect(clippy::print_stdout, reason = "an example")]

use std::process::Command;
use std::time::Duration;

use readyok_client::{Engine, EngineError, Game, Limit};

#[tokio::main]
async fn main() -> Result<(), EngineError> {
    let mut tasks = Vec::new();
    for program in std::env::args().skip(1) {
        tasks.push(tokio::spawn(analyse(program)));
    }
    for task in tasks {
        if let Ok(result) = task.await {
            println!("{}", result?);
        }
    }
    Ok(())
}

async fn analyse(program: String) -> Result<String, EngineError> {
    let mut engine = Engine::builder().spawn_async(Command::new(&program)).await?;
    let search = engine.begin(&Game::startpos(), Limit::Infinite)?;
    // Stops at depth 15, or after three seconds.
    let updates =
        async { while search.update().await.is_some_and(|update| update.info.depth < Some(15)) {} };
    let _ = tokio::time::timeout(Duration::from_secs(3), updates).await;
    search.stop();
    let result = search.await?;
    engine.quit_async().await?;
    Ok(format!("{program}: {:?} {:?}", result.best_move(), result.info.score))
}
