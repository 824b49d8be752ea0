//! An engine that answers by rules, for any number of searches in UCI and USI.
//!
//! ```text
//! w KQkq -  => info depth 2 score cp 20 pv e2e4; bestmove e2e4
//! moves 7g7f => checkmate nomate
//! K7 w      => crash
//! K7 b      => crash-once FILE
//! Q7 b      => wait FILE
//!           => bestmove (none)
//! ```
//! The first rule counts whose pattern is in the last `position`. `crash` ends the process, `crash-once` only if the file
//! does not exist. `wait` continues when the file exists or `stop` arrives. All commands are appended to the log.

use std::fs::{self, OpenOptions};
use std::io::{self, BufRead, Write};
use std::path::Path;
use std::process::ExitCode;
use std::sync::mpsc::{Receiver, RecvTimeoutError, channel};
use std::thread;
use std::time::Duration;

pub(crate) fn run(rules: &str, log: Option<&str>, has_chess960: bool) -> io::Result<ExitCode> {
    let rules: Vec<(&str, &str)> = rules.lines().filter_map(|rule| rule.split_once("=>")).collect();
    let (sender, lines) = channel();
    thread::spawn(move || {
        for line in io::stdin().lock().lines().map_while(Result::ok) {
            if sender.send(line).is_err() {
                return;
            }
        }
    });
    let mut log =
        log.map(|path| OpenOptions::new().create(true).append(true).open(path)).transpose()?;
    let mut out = io::stdout();
    let mut position = String::new();
    while let Ok(line) = lines.recv() {
        if let Some(log) = &mut log {
            log.write_all(format!("{line}\n").as_bytes())?;
        }
        match line.split(' ').next().unwrap_or_default() {
            "uci" => {
                writeln!(out, "id name Rules\noption name Hash type spin default 1 min 1 max 9")?;
                if has_chess960 {
                    writeln!(out, "option name UCI_Chess960 type check default false")?;
                }
                writeln!(out, "uciok")?;
            }
            "usi" => writeln!(out, "id name Rules\nusiok")?,
            "isready" => writeln!(out, "readyok")?,
            "position" => position = line,
            "go" => {
                let rule = rules.iter().find(|(pattern, _)| position.contains(pattern.trim()));
                for step in rule.map_or("", |(_, steps)| steps).split(';').map(str::trim) {
                    match step.split_once(' ') {
                        None if step == "crash" => return Ok(ExitCode::from(7)),
                        Some(("crash-once", file)) => {
                            if !Path::new(file).exists() {
                                fs::write(file, "")?;
                                return Ok(ExitCode::from(7));
                            }
                        }
                        Some(("wait", file)) => wait(&lines, Path::new(file)),
                        _ => writeln!(out, "{step}")?,
                    }
                    out.flush()?;
                }
            }
            "quit" => return Ok(ExitCode::SUCCESS),
            _ => {}
        }
        out.flush()?;
    }
    Ok(ExitCode::SUCCESS)
}

fn wait(lines: &Receiver<String>, file: &Path) {
    while !file.exists() {
        match lines.recv_timeout(Duration::from_millis(10)) {
            Ok(line) if line != "stop" => {}
            Err(RecvTimeoutError::Timeout) => {}
            Ok(_) | Err(RecvTimeoutError::Disconnected) => return,
        }
    }
}
