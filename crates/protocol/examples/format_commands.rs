//! Formats the commands of a search in UCI and USI.
#![expect(clippy::print_stdout, reason = "an example")]

use std::error::Error;
use std::time::Duration;

use readyok_protocol::{Clock, Clocks, Command, Dialect, Go, MoveList, Position, Root, SetOption};

fn main() -> Result<(), Box<dyn Error>> {
    let clock = Clock::fischer(Duration::from_mins(1), Duration::from_secs(1));
    for (dialect, moves) in [(Dialect::Uci, "e2e4 e7e5"), (Dialect::Usi, "7g7f 3c3d")] {
        let moves: MoveList<'static> = moves.parse()?;
        let commands = [
            Command::Uci,
            Command::SetOption(SetOption { name: "Threads".into(), value: Some("4".into()) }),
            Command::NewGame,
            Command::IsReady,
            Command::Position(Position { root: Root::StartPos, moves }),
            Command::Go(Go::clocks(Clocks::new(clock, clock))),
            Command::Stop,
            Command::Quit,
        ];
        for command in commands {
            let mut line = String::new();
            command.write(dialect, &mut line)?;
            println!("{line}");
        }
    }
    Ok(())
}
