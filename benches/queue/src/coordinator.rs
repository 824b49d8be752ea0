//! The coordinator of a match, in a child process: its CPU time and memory are measured alone.

use std::env;
use std::fs;
use std::io::{BufRead, BufReader, Write as _, stdout};
use std::path::Path;
use std::process::{Child, Command, Stdio};
use std::thread;
use std::time::Duration;

use readyok_arena::plan::Plan;
use readyok_arena::queue::MatchSpec;
use readyok_arena::queue::nats::{Access, Admin, Connection, CoordinatorSettings, NatsDispatcher};
use readyok_arena::runner::{Match, Settings};
use readyok_arena::store::Store;
use tempfile::TempDir;

/// The first argument of the child process.
pub(crate) const COMMAND: &str = "coordinate";

/// The coordinator reads its settings each second.
const CONTROL_DELAY: Duration = Duration::from_secs(2);

/// More pairs than any run plays.
const PAIRS: u32 = 10_000_000;

/// A coordinator, which is killed on drop.
pub(crate) struct Coordinator {
    child: Child,
    /// The identifier of the match.
    pub(crate) id: String,
    _directory: TempDir,
}

impl Coordinator {
    /// Opens a match whose first engine has a program of this size.
    pub(crate) fn start(server: &str, name: &str, program_bytes: usize) -> Self {
        let directory = TempDir::new().expect("a directory");
        let mut program = vec![0; program_bytes];
        fastrand::Rng::with_seed(1).fill(&mut program);
        program.extend(name.as_bytes());
        fs::write(directory.path().join("one"), program).expect("a file");
        fs::write(directory.path().join("two"), name).expect("a file");
        let this = env::current_exe().expect("the path of this program");
        let mut command = Command::new(this);
        command.args([COMMAND, server]).arg(directory.path()).stdout(Stdio::piped());
        let mut child = command.spawn().expect("a process");
        let mut id = String::new();
        let output = child.stdout.take().expect("a pipe");
        BufReader::new(output).read_line(&mut id).expect("an identifier");
        assert!(!id.is_empty(), "the coordinator has ended");
        id.truncate(id.trim_end().len());
        Self { child, id, _directory: directory }
    }

    /// Pauses the match, and waits until workers can know it.
    pub(crate) fn pause(&self, server: &str) {
        let connection = connect(server);
        let admin = Admin::new(&connection);
        let found = admin.find(&self.id).expect("the match");
        admin.set(&found, |control| control.paused = true).expect("an open match");
        thread::sleep(CONTROL_DELAY);
    }

    pub(crate) fn pid(&self) -> u32 {
        self.child.id()
    }

    /// The numbers of pairs, and of messages without effect.
    pub(crate) fn counts(&self, server: &str) -> (u64, u64) {
        let found = Admin::new(&connect(server)).find(&self.id).expect("the match");
        assert_eq!(found.status.invalid, 0, "{:?}", found.status.quarantine);
        (found.status.pairs, found.status.ignored)
    }
}

impl Drop for Coordinator {
    fn drop(&mut self) {
        // It may have exited.
        let _ = self.child.kill();
        let _ = self.child.wait();
    }
}

fn connect(server: &str) -> Connection {
    let access = Access { server: server.to_owned(), ..Access::default() };
    Connection::open(&access).expect("a connection")
}

/// The plan of a match between two programs.
pub(crate) fn plan(directory: &Path, max_moves: u32) -> Plan {
    let command = |name: &str| directory.join(name).to_str().expect("UTF-8").to_owned();
    let text = format!(
        "game = 'chess'
rounds = {PAIRS}
adjudication = {{ max_moves = {max_moves} }}
engines = [
    {{ name = 'one', command = '{}', limits = {{ nodes = 1 }} }},
    {{ name = 'two', command = '{}', limits = {{ nodes = 1 }} }},
]",
        command("one"),
        command("two"),
    );
    toml::from_str(&text).expect("a plan")
}

/// The main function of the child process.
pub(crate) fn run(server: &str, directory: &Path) {
    let plan = plan(directory, crate::games::MAX_MOVES);
    let store = Store::create(&directory.join("results.jsonl"), &plan).expect("a new file");
    let game = Match::new(store, Settings::default()).expect("a match");
    let spec = MatchSpec::new(&plan).with_contents().expect("programs");
    let (settings, reports) = (CoordinatorSettings::default(), game.reports());
    let connection = connect(server);
    let dispatcher = NatsDispatcher::open(&connection, spec, None, settings, reports);
    let mut dispatcher = dispatcher.expect("a queue");
    let mut output = stdout().lock();
    writeln!(output, "{}", dispatcher.id()).expect("a pipe");
    output.flush().expect("a pipe");
    drop(output);
    game.coordinate(&mut dispatcher).expect("a match");
}
