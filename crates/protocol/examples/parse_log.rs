//! Prints the last score, the PV and the best move of each search of a log on standard input, which contains the
//! output of an engine: `cargo run --example parse_log < engine.log`.
#![expect(clippy::print_stdout, reason = "an example")]

use std::io;

use readyok_protocol::{Dialect, Reply};

fn main() -> io::Result<()> {
    let mut last = None;
    for line in io::stdin().lines() {
        match Reply::read(&line?, Dialect::Uci).value {
            Reply::Info(info) if info.score.is_some() && info.pv.is_some() => {
                last = Some(info.into_owned());
            }
            Reply::BestMove(answer) => {
                let info = last.take().unwrap_or_default();
                println!("{:?} at depth {:?}: {:?}", info.score, info.depth, answer.best);
                println!("    {:?}", info.pv);
            }
            _ => {}
        }
    }
    Ok(())
}
