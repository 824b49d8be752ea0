//! Plans with the test engine `instant`, and the list of its processes.

use std::fs;
use std::path::PathBuf;

use readyok_arena::plan::{EnginePlan, Limits, OpeningSource, Plan};
use readyok_rules::{Game, Position};
use tempfile::TempDir;

use crate::sample;

/// Path of a test program, which is an example of this package: `cargo install` skips it.
pub(crate) fn test_program(name: &str) -> PathBuf {
    let test = std::env::current_exe().expect("the path of this test");
    let profile = test.ancestors().nth(2).expect("target/<profile>/deps/<test>");
    let program =
        profile.join("examples").join(name).with_extension(std::env::consts::EXE_EXTENSION);
    assert!(
        program.exists(),
        "`cargo build --examples -p readyok-arena` builds {}",
        program.display()
    );
    program
}

/// A directory with its own copy of the engine, by which its processes are identified.
pub(crate) struct TestDir {
    pub(crate) directory: TempDir,
    pub(crate) plan: Plan,
}

impl TestDir {
    /// Engines with these arguments and limits. Their seeds are 1, 2 and so on.
    pub(crate) fn new(game: Game, rounds: u32, engines: &[(&str, Limits)]) -> Self {
        let directory = tempfile::tempdir_in(env!("CARGO_TARGET_TMPDIR")).expect("a directory");
        let program = directory.path().join("instant");
        // A copied file cannot be executed while a forked process has it open for writing.
        fs::hard_link(test_program("instant"), &program).expect("a program");
        let engines = engines.iter().zip(1..).map(|((arguments, limits), seed)| EnginePlan {
            name: format!("{seed} {arguments}"),
            command: program.display().to_string(),
            args: [format!("seed={seed}")]
                .into_iter()
                .chain(arguments.split_whitespace().map(str::to_owned))
                .collect(),
            limits: *limits,
            ..EnginePlan::default()
        });
        let mut plan = sample::plan(&[], rounds);
        plan.game = game;
        plan.engines = engines.collect();
        // Deterministic engines need different openings.
        plan.openings.source = OpeningSource::Positions { list: openings(game) };
        plan.adjudication.max_moves = Some(12);
        Self { directory, plan }
    }

    pub(crate) fn path(&self, name: &str) -> PathBuf {
        self.directory.path().join(name)
    }

    /// The seeds of its running engines, in order.
    #[cfg(target_os = "linux")]
    pub(crate) fn running(&self) -> Vec<String> {
        let entries = fs::read_dir("/proc").expect("processes").filter_map(Result::ok);
        let seeds = entries.filter_map(|entry| {
            let program = fs::read_link(entry.path().join("exe")).ok()?;
            if !program.starts_with(self.directory.path()) {
                return None;
            }
            let arguments = fs::read(entry.path().join("cmdline")).ok()?;
            let arguments = String::from_utf8_lossy(&arguments).into_owned();
            let seed = arguments.split('\0').find_map(|argument| argument.strip_prefix("seed="));
            Some(seed.unwrap_or("?").to_owned())
        });
        let mut seeds: Vec<String> = seeds.collect();
        seeds.sort_unstable();
        seeds
    }

    /// Waits until exactly these engines run. Returns those that run at the end.
    #[cfg(target_os = "linux")]
    pub(crate) fn running_become(&self, seeds: &[&str]) -> Vec<String> {
        for _ in 0..6000 {
            if self.running() == seeds {
                break;
            }
            std::thread::park_timeout(std::time::Duration::from_millis(10));
        }
        self.running()
    }
}

/// A time per move, or one node.
pub(crate) fn limits(move_time_ms: Option<u64>) -> Limits {
    let nodes = move_time_ms.is_none().then_some(1);
    Limits { nodes, move_time_ms, ..Limits::default() }
}

/// Positions after one move of each side.
fn openings(game: Game) -> Vec<String> {
    let after = |from: &Position| {
        let moves = from.legal_moves().into_iter();
        let played = moves.map(|mv| {
            let mut position = from.clone();
            position.play(mv).expect("a legal move");
            position
        });
        played.collect::<Vec<_>>()
    };
    let all = after(&Position::start(game)).iter().flat_map(after).collect::<Vec<_>>();
    all.iter().step_by(7).map(Position::to_string).collect()
}
