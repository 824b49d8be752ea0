//! An engine that obeys, in UCI and in USI, and has one fault if it is told to.
//!
//! `obedient` keeps every rule that is checked; `obedient --break <id>` breaks only the one that the
//! check of this name is about. It plays legal moves, finds short mates, and counts material.
#![expect(clippy::exit, reason = "as engines do")]

mod faults;
mod search;
mod talk;

use std::io::{self, BufRead};
use std::sync::mpsc;
use std::thread;

fn main() {
    let arguments: Vec<String> = std::env::args().skip(1).collect();
    let fault = match arguments.as_slice() {
        [flag, id] if flag == "--break" => id.clone(),
        _ => String::new(),
    };
    if fault == "ending.terminate" {
        faults::ignore_requests_to_end();
    }
    let (lines, inbox) = mpsc::channel();
    thread::spawn(move || {
        let mut input = io::stdin().lock();
        loop {
            let mut line = Vec::new();
            match input.read_until(b'\n', &mut line) {
                Ok(0) | Err(_) => return,
                Ok(_) if lines.send(String::from_utf8_lossy(&line).into_owned()).is_err() => return,
                Ok(_) => (),
            }
        }
    });
    talk::serve(&inbox, faults::Faults::new(fault));
}
