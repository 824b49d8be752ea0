//! A program with engines, for tests that kill it: `guarded CONTAINMENT COMMAND…` starts an engine and a search,
//! and another engine for each line of its input; with the containment `none`, without a guard. At the end of the
//! input it exits and leaks its engines. `guarded guard` is the command of its guard. With the first argument `hide`, it hides the
//! variables `SECRET` and `GIVEN` from the command, to which it gives another `GIVEN`, and prints its error output.
#![expect(clippy::print_stdout, clippy::print_stderr, reason = "as programs do")]

use std::error::Error;
use std::ffi::OsStr;
use std::process::Command;
use std::time::Duration;
use std::{env, io};

use readyok_client::unstable::Containment;
use readyok_client::{Dialect, Engine, Game, Guard, Limit, Timeouts, WaitLimit};

fn main() -> Result<(), Box<dyn Error>> {
    let arguments: Vec<String> = env::args().skip(1).collect();
    let Some((way, command)) = arguments.split_first() else { return Err("no containment".into()) };
    let mut guard = Command::new(env::current_exe()?);
    guard.arg("guard");
    let guard = match way.as_str() {
        "guard" => return Ok(Guard::serve()?),
        "none" => None,
        "group" => Some(Guard::start_with(guard, Containment::Group)?),
        "supervisor" => Some(Guard::start_with(guard, Containment::Supervisor)?),
        _ => Some(Guard::start(guard)?),
    };
    let Some((program, arguments)) = command.split_first() else { return Err("no engine".into()) };
    if let (Some(guard), "hide") = (&guard, program.as_str()) {
        return print_errors(guard, arguments);
    }
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

fn print_errors(guard: &Guard, command: &[String]) -> Result<(), Box<dyn Error>> {
    let Some((program, arguments)) = command.split_first() else { return Err("no engine".into()) };
    guard.hide_variables([OsStr::new("SECRET"), OsStr::new("GIVEN")]);
    let mut command = Command::new(program);
    command.args(arguments).env("GIVEN", "given");
    let builder = Engine::builder().dialect(Dialect::Uci).guard(guard);
    let error = builder.spawn(command).err().ok_or("it is an engine")?;
    error.stderr().iter().for_each(|line| eprintln!("{line}"));
    Ok(())
}
