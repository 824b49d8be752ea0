//! A conforming engine for UCI and USI, with one optional fault.
//!
//! `obedient` satisfies every checked rule. `obedient --break <id>` violates only the rule of this check;
//! `--break <id>,<id>` has several faults.
//! `obedient --trace <directory>` records the evaluated faults. It plays legal moves, finds short mates, and counts material.
#![expect(clippy::exit, reason = "as engines do")]

mod deviations;
mod faults;
mod input;
mod search;
mod session;

use std::sync::mpsc;
use std::thread;

fn main() {
    let arguments: Vec<String> = std::env::args().skip(1).collect();
    let (faults, trace) = match arguments.as_slice() {
        [flag, ids] if flag == "--break" => (ids.split(',').map(str::to_owned).collect(), None),
        [flag, path] if flag == "--trace" => (Vec::new(), Some(path.as_str())),
        _ => (Vec::new(), None),
    };
    let has = |id: &str| faults.iter().any(|fault| fault == id);
    if has("exit.terminate") {
        faults::ignore_requests_to_end();
    }
    deviations::select(&faults);
    let (lines, inbox) = mpsc::channel();
    let fragmented = has("lexical.fragments");
    thread::spawn(move || input::read(&lines, fragmented));
    session::serve(&inbox, faults::Faults::new(faults, trace));
}
