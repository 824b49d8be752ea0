//! A program with engines, for tests that kill it: `guarded CONTAINMENT COMMAND…` starts an engine and a search,
//! and another engine for each line of its input; with the containment `none`, without a guard. At the end of the
//! input it exits and leaks its engines. `guarded guard` is its guardian.
#![expect(clippy::print_stdout, reason = "as programs do")]

use std::error::Error;
use std::process::Command;
use std::time::Duration;
use std::{env, io};

use readyok_client::{Containment, Dialect, Engine, Game, Guard, Limit, Timeouts, WaitLimit};

fn main() -> Result<(), Box<dyn Error>> {
    let arguments: Vec<String> = env::args().skip(1).collect();
    let Some((way, command)) = arguments.split_first() else { return Err("no containment".into()) };
    let mut guardian = Command::new(env::current_exe()?);
    guardian.arg("guard");
    let guard = match way.as_str() {
        "guard" => return Ok(Guard::serve()?),
        "none" => None,
        "group" => Some(Guard::start_with(guardian, Containment::Group)?),
        "supervisor" => Some(Guard::start_with(guardian, Containment::Supervisor)?),
        "control-group" => Some(Guard::start_with(guardian, Containment::ControlGroup)?),
        _ => Some(Guard::start(guardian)?),
    };
    let Some((program, arguments)) = command.split_first() else { return Err("no engine".into()) };
    let mut engines = Vec::new();
    loop {
        let mut command = Command::new(program);
        command.args(arguments);
        // A loaded machine starts engines slowly.
        let handshake = WaitLimit::fixed(Duration::from_mins(1));
        let timeouts = Timeouts { handshake, ..Timeouts::default() };
        let mut builder = Engine::builder().dialect(Dialect::Uci).timeouts(timeouts);
        if let Some(guard) = &guard {
            builder = builder.guard(guard);
        }
        let mut engine = builder.spawn(command)?;
        drop(engine.analyse(&Game::startpos(), Limit::Infinite)?);
        engines.push(engine);
        println!("searching");
        if io::stdin().read_line(&mut String::new())? == 0 {
            std::mem::forget(engines);
            return Ok(());
        }
    }
}
