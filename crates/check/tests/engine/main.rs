//! A conforming engine for UCI and USI, with one optional fault.
//!
//! `obedient` satisfies every checked rule. `obedient --break <id>` violates only the rule of this check.
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
    let (fault, trace) = match arguments.as_slice() {
        [flag, id] if flag == "--break" => (id.clone(), None),
        [flag, path] if flag == "--trace" => (String::new(), Some(path.as_str())),
        _ => (String::new(), None),
    };
    if fault == "exit.terminate" {
        faults::ignore_requests_to_end();
    }
    deviations::select(&fault);
    let (lines, inbox) = mpsc::channel();
    let fragmented = fault == "lexical.fragments";
    thread::spawn(move || input::read(&lines, fragmented));
    session::serve(&inbox, faults::Faults::new(fault, trace));
}
