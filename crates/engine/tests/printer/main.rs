//! An engine whose process uses standard input and output in other threads: `printer hold` holds both locks
//! of the standard library, `printer print` prints lines from another thread during a search.
#![expect(clippy::print_stdout, reason = "as programs do")]

use std::sync::mpsc;
use std::{env, io, thread};

use readyok_engine::{Answer, Control, Engine, Info, Move, NoBoard, Runner, SearchRequest};

/// Reports lines while another thread prints as many, and moves.
struct Printer {
    printed: usize,
}

const LINES: usize = 500;

impl Engine for Printer {
    type Board = NoBoard;

    fn search(&mut self, request: &SearchRequest, control: &Control) -> Answer {
        thread::scope(|scope| {
            scope.spawn(|| (0..self.printed).for_each(|line| println!("printed {line} end")));
            for line in 0..LINES {
                control.info(Info::text(format!("reported {line} end")));
            }
        });
        Ok(Move::read("e2e4", request.dialect)?.into())
    }
}

/// Holds the locks until the process exits.
fn hold() -> Result<(), mpsc::RecvError> {
    let (held, all_held) = mpsc::channel();
    let input_held = held.clone();
    thread::spawn(move || {
        let _lock = io::stdin().lock();
        let _ = input_held.send(());
        thread::park();
    });
    thread::spawn(move || {
        let _lock = io::stdout().lock();
        let _ = held.send(());
        thread::park();
    });
    all_held.recv().and_then(|()| all_held.recv())
}

fn main() -> io::Result<()> {
    let mut printed = LINES;
    if env::args().nth(1).as_deref() == Some("hold") {
        hold().map_err(io::Error::other)?;
        printed = 0;
    }
    Runner::new("Printer", Printer { printed }).run_stdio()
}
