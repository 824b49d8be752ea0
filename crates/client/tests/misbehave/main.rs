//! An engine whose behavior is defined by its arguments.
//!
//! Each argument is a rule: `go: info depth 1 | !wait 50 | bestmove e2e4`. The part before the colon is the first
//! token of a command, or `start`; the part after it lists lines to print, or actions with `!`. Several rules for a
//! token are used once each, in order, and the last one from then on. Commands without a rule are answered
//! correctly.
#![expect(clippy::print_stderr, clippy::exit, reason = "as engines do")]

use std::collections::{HashMap, VecDeque};
use std::io::{self, BufRead, Write};
use std::process::{Command, Stdio, abort, exit};
use std::sync::atomic::{AtomicUsize, Ordering};
use std::thread;
use std::time::Duration;

const GOOD: [&str; 6] = [
    "uci: id name Misbehave | id author Example \
     | option name Hash type spin default 16 min 1 max 1024 \
     | option name MultiPV type spin default 1 min 1 max 500 \
     | option name Ponder type check default false | uciok",
    "usi: id name Misbehave | usiok",
    "isready: readyok",
    "stop: bestmove e2e4",
    "ponderhit: bestmove e2e4",
    "quit: !exit 0",
];

type Rules = HashMap<String, VecDeque<String>>;

fn main() {
    let mut rules = Rules::new();
    let given: Vec<String> = std::env::args().skip(1).collect();
    if let [role, address] = given.as_slice()
        && role == "descendant"
    {
        return connect_and_wait(address);
    }
    add(&mut rules, given.iter().map(String::as_str));
    let good = GOOD.iter().copied().filter(|rule| !rules.contains_key(command_of(rule)));
    let good: Vec<_> = good.collect();
    add(&mut rules, good);
    execute(&mut rules, "start");
    for line in io::stdin().lock().lines().map_while(Result::ok) {
        let command = line.split_whitespace().next().unwrap_or_default();
        if command == "go" && !rules.contains_key("go") {
            if !line.contains("infinite") && !line.contains("ponder") {
                send(b"info depth 1 score cp 20 pv e2e4\nbestmove e2e4\n");
            }
        } else {
            execute(&mut rules, command);
        }
    }
}

fn command_of(rule: &str) -> &str {
    rule.split(':').next().unwrap_or_default()
}

fn add<'a>(rules: &mut Rules, new: impl IntoIterator<Item = &'a str>) {
    for rule in new {
        let (command, acts) = rule.split_once(':').unwrap_or((rule, ""));
        rules.entry(command.to_owned()).or_default().push_back(acts.to_owned());
    }
}

fn execute(rules: &mut Rules, command: &str) {
    let Some(queue) = rules.get_mut(command) else { return };
    let acts = if queue.len() == 1 { queue.front().cloned() } else { queue.pop_front() };
    for act in acts.unwrap_or_default().split('|').map(str::trim).filter(|act| !act.is_empty()) {
        match act.strip_prefix('!') {
            Some(act) => perform(act),
            None => send(format!("{act}\n").as_bytes()),
        }
    }
}

/// Number of threads with a pending answer. A lock alone would starve threads that need it rarely.
static WAITING: AtomicUsize = AtomicUsize::new(0);

fn send(bytes: &[u8]) {
    WAITING.fetch_add(1, Ordering::SeqCst);
    let out = io::stdout().lock();
    WAITING.fetch_sub(1, Ordering::SeqCst);
    write(out, bytes);
}

/// Prints other output after pending answers.
fn send_unless_waiting(bytes: &[u8]) {
    while WAITING.load(Ordering::SeqCst) > 0 {
        thread::yield_now();
    }
    write(io::stdout().lock(), bytes);
}

fn write(mut out: impl Write, bytes: &[u8]) {
    if out.write_all(bytes).and_then(|()| out.flush()).is_err() {
        exit(9);
    }
}

fn perform(act: &str) {
    let (act, value) = act.split_once(' ').unwrap_or((act, ""));
    let number = || value.parse().unwrap_or(0);
    match act {
        "abort" => abort(),
        "signal" => die_by(value),
        "exit" => exit(value.parse().unwrap_or(0)),
        "wait" => thread::park_timeout(Duration::from_millis(number())),
        "deaf" => loop {
            thread::park();
        },
        "hex" => {
            let bytes = value.split(' ').filter_map(|byte| u8::from_str_radix(byte, 16).ok());
            send(&bytes.collect::<Vec<_>>());
        }
        "long" => send(&vec![b'x'; usize::try_from(number()).unwrap_or(0)]),
        "repeat" => {
            for _ in 0..20_000 {
                send(format!("{value}\n").as_bytes());
            }
        }
        "flood" => drop(thread::spawn(flood)),
        "noise" => drop(thread::spawn(|| {
            loop {
                send_unless_waiting("noise\n".repeat(99).as_bytes());
            }
        })),
        "stderr" => eprintln!("{value}"),
        "directory" => {
            let directory = std::env::current_dir().unwrap_or_default();
            send(format!("id name {}\n", directory.display()).as_bytes());
        }
        "descendants" => start_descendants(value),
        "child" => {
            // It inherits our output, and is not waited for.
            let child = Command::new("sleep").arg("60").stdin(Stdio::null()).spawn();
            drop(child);
        }
        "close" => become_shell("exec sleep 60 > /dev/null"),
        act => eprintln!("misbehave: cannot {act}"),
    }
}

/// Prints as fast as the reader reads, until the process exits.
fn flood() {
    for first in (0u64..).step_by(99) {
        let line = |nodes: u64| {
            let number = nodes % 3 + 1;
            format!("info depth 9 multipv {number} score cp 1 nodes {nodes} pv e2e4\n")
        };
        let lines: Vec<_> = (first..first + 99).map(line).collect();
        send_unless_waiting(lines.concat().as_bytes());
    }
}

#[cfg(not(windows))]
fn die_by(signal: &str) {
    become_shell(&format!("kill -{signal} $$"));
}

/// Exits with the code of the corresponding exception.
#[cfg(windows)]
fn die_by(signal: &str) {
    exit(match signal {
        "ILL" => -0x3FFF_FFE3,
        "SEGV" => -0x3FFF_FFFB,
        _ => 1,
    });
}

/// Starts processes that share neither console nor environment with this one: `COUNT ADDRESS`. Each holds a connection to
/// the address as long as it runs.
fn start_descendants(value: &str) {
    let Some((count, address)) = value.split_once(' ') else { return };
    let Ok(program) = std::env::current_exe() else { return };
    for _ in 0..count.parse().unwrap_or(0) {
        let mut child = Command::new(&program);
        child.args(["descendant", address]).env_clear();
        // Sockets of Windows need it.
        child.envs(std::env::var_os("SystemRoot").map(|root| ("SystemRoot", root)));
        child.stdin(Stdio::null()).stdout(Stdio::null()).stderr(Stdio::null());
        #[cfg(windows)]
        {
            const DETACHED_PROCESS: u32 = 8;
            const CREATE_NEW_PROCESS_GROUP: u32 = 0x200;
            let flags = DETACHED_PROCESS | CREATE_NEW_PROCESS_GROUP;
            std::os::windows::process::CommandExt::creation_flags(&mut child, flags);
        }
        if let Err(error) = child.spawn() {
            eprintln!("misbehave: {error}");
        }
    }
}

fn connect_and_wait(address: &str) {
    let connection = std::net::TcpStream::connect(address);
    thread::sleep(Duration::from_mins(10));
    drop(connection);
}

/// Becomes a shell that runs a script, if supported by the system.
fn become_shell(script: &str) {
    let mut shell = Command::new("sh");
    shell.args(["-c", script]);
    #[cfg(unix)]
    eprintln!("misbehave: {}", std::os::unix::process::CommandExt::exec(&mut shell));
    abort();
}
