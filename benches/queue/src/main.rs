//! The load of the queue with many workers. See the README.

mod coordinator;
mod games;
mod process;
mod rows;
mod server;
#[path = "../../../crates/arena/src/queue/nats/share.rs"]
mod share;
mod worker;

use std::env;
use std::path::Path;
use std::process::ExitCode;

use tokio::runtime::Runtime;

use rows::Pause;

/// The rows, in order.
const ROWS: [&str; 7] = ["idle", "paused", "busy", "files", "forged", "shares", "farm"];

/// The duration of each measurement in seconds, unless another one is given.
const SECONDS: u64 = 30;

/// A measured value, with its upper limit.
struct Line {
    what: String,
    value: f64,
    goal: Option<f64>,
}

impl Line {
    fn new(what: &str, value: f64, goal: Option<f64>) -> Self {
        Self { what: what.to_owned(), value, goal }
    }

    fn is_missed(&self) -> bool {
        self.goal.is_some_and(|goal| goal < self.value)
    }
}

fn main() -> ExitCode {
    let arguments: Vec<String> = env::args().skip(1).collect();
    if let [command, server, directory] = arguments.as_slice()
        && command == coordinator::COMMAND
    {
        coordinator::run(server, Path::new(directory));
        return ExitCode::SUCCESS;
    }
    let (mut seconds, mut selected) = (SECONDS, Vec::new());
    for argument in &arguments {
        match argument.parse() {
            Ok(number) => seconds = number,
            Err(_) if ROWS.contains(&argument.as_str()) => selected.push(argument.as_str()),
            Err(_) => {
                eprintln!("usage: readyok-queue-bench [SECONDS] [{}]...", ROWS.join("|"));
                return ExitCode::from(2);
            }
        }
    }
    if selected.is_empty() {
        selected = ROWS.to_vec();
    }
    let runtime = Runtime::new().expect("a runtime");
    println!("| | | goal | |");
    println!("|---|--:|--:|---|");
    let mut is_missed = false;
    for row in selected {
        let (what, lines) = match row {
            "idle" => {
                let lines = rows::idle(&runtime, 1000, seconds, Pause::Before);
                ("1,000 idle workers, 3 paused matches", lines)
            }
            "paused" => {
                let lines = rows::idle(&runtime, 1000, seconds, Pause::Meanwhile);
                ("the same, paused while they prepare the matches", lines)
            }
            "busy" => ("1,000 busy slots, pairs of 36 kB", rows::busy(&runtime, 1000, seconds)),
            "files" => ("50 workers fetch 41 MB", rows::files(&runtime, 50)),
            "forged" => ("10,000 forged results", rows::forged(&runtime)),
            "shares" => ("simulated shares of 3 matches", rows::shares()),
            _ => ("shares of 3 matches with 300 workers", rows::farm(&runtime, 300, seconds)),
        };
        println!("| **{what}** | | | |");
        for line in lines {
            let goal = line.goal.map_or_else(String::new, |goal| format!("≤ {goal}"));
            let verdict = if line.is_missed() { "**missed**" } else { "" };
            println!("| {} | {:.1} | {goal} | {verdict} |", line.what, line.value);
            is_missed |= line.is_missed();
        }
    }
    ExitCode::from(u8::from(is_missed))
}
