//! A client for checks: asks an engine for moves and analyses, as programs with `readyok-client` do.
//!
//! `asks [--usi] <program>`; see `readyok check --gui`. Output of the engine is checked against the rules
//! of the game before it is played, as the library itself knows none.
#![expect(clippy::print_stderr, reason = "an example")]

use std::error::Error;
use std::process::{Command, ExitCode};
use std::time::Duration;

use readyok_client::{
    Clock, Clocks, Dialect, Engine, Game, Limit, Search, SearchResult, Timeouts, WaitLimit,
};
use readyok_rules::{Game as Rules, Position};

fn main() -> ExitCode {
    let mut arguments = std::env::args().skip(1).peekable();
    let usi = arguments.next_if_eq("--usi").is_some();
    let Some(program) = arguments.next() else { return ExitCode::from(2) };
    match ask(&program, if usi { Dialect::Usi } else { Dialect::Uci }) {
        Ok(()) => ExitCode::SUCCESS,
        Err(error) => {
            eprintln!("{error}");
            ExitCode::FAILURE
        }
    }
}

fn ask(program: &str, dialect: Dialect) -> Result<(), Box<dyn Error>> {
    let three = WaitLimit::fixed(Duration::from_secs(3));
    let timeouts = Timeouts {
        handshake: three,
        ready: three,
        stop: three,
        quit: three,
        ..Timeouts::default()
    };
    let mut engine =
        Engine::builder().dialect(dialect).timeouts(timeouts).spawn(Command::new(program))?;
    let mut game = Game::startpos();
    let mut board = Position::start(match dialect {
        Dialect::Uci => Rules::Chess,
        Dialect::Usi => Rules::Shogi,
    });
    let clock = Clock::fischer(Duration::from_secs(1), Duration::from_millis(10));
    let limits = [Limit::clock(Clocks::new(clock, clock)), Limit::Depth(3), Limit::millis(50)];
    for limit in limits {
        let played = engine.play(&game, limit)?;
        play(&mut game, &mut board, &played)?;
    }
    let analysis = engine.analyse(&game, Search::new(Limit::Infinite).lines(2))?;
    // It is stopped after its first report.
    analysis.next_within(Duration::from_millis(200));
    let played = analysis.finish()?;
    play(&mut game, &mut board, &played)?;
    engine.quit()?;
    Ok(())
}

/// Plays the engine's move, if it has one that can be played.
fn play(
    game: &mut Game,
    board: &mut Position,
    played: &SearchResult,
) -> Result<(), Box<dyn Error>> {
    let best = played.best_move().ok_or("the engine has no move")?;
    board.play(board.parse_move(&best.to_string())?)?;
    game.play(best);
    Ok(())
}
