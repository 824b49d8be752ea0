//! A conforming client for UCI and USI, with one optional fault.
//!
//! `caller [--usi] [--break <id>] <engine>` starts the engine, asks it for a few moves in all ways, and
//! lets it go. It ends with 0, or with 3 if the engine was of no use. It is its own engine where a suite
//! has it started as one.
#![expect(clippy::print_stderr, reason = "as clients do")]

mod deviations;
mod engine;
mod faults;
mod game;

use std::process::ExitCode;

use readyok_protocol::Dialect;

fn main() -> ExitCode {
    if let Some(code) = readyok_check::serve_as_mock_engine() {
        return code;
    }
    let mut dialect = Dialect::Uci;
    let mut fault = String::new();
    let mut program = String::new();
    let mut arguments = std::env::args().skip(1);
    while let Some(argument) = arguments.next() {
        match argument.as_str() {
            "--usi" => dialect = Dialect::Usi,
            "--break" => fault = arguments.next().unwrap_or_default(),
            _ => program = argument,
        }
    }
    let faults = faults::Faults::new(fault);
    match game::play(&program, dialect, &faults) {
        Ok(()) => ExitCode::SUCCESS,
        Err(trouble) => {
            eprintln!("the engine is of no use: {trouble}");
            ExitCode::from(3)
        }
    }
}
