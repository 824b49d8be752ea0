//! Failures of file operations as inputs of tests, on Linux with glibc.
//!
//! A test runs an operation in a process of its own. [`sweep`] repeats it with each fault at each system call that
//! changes a file, and after each of them
//!
//! - the files are as [`Operation::check`] requires: nothing acknowledged is lost, nothing is half visible;
//! - an operation that has failed has named a file;
//! - the same operation without a fault is complete ([`Operation::check_complete`]).
//!
//! `READYOK_WRITE_FAULTS` is the maximum number of calls per fault, `all` for each call; the default is 5. They are chosen with
//! `READYOK_WRITE_FAULTS_SEED`, which a failure prints. Programs under test need no preparation, and releases have no code of it.
#![expect(clippy::expect_used, clippy::print_stderr, reason = "a panic fails the test")]

use std::path::{Path, PathBuf};
use std::process::{Command, Output};
use std::{env, fmt, fs, iter};

/// What fails.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
pub enum Fault {
    /// The disk is full from this call on. The first half of its data is still written.
    Full,
    /// One call fails with `EIO`.
    Io,
    /// Each call from this one on fails with `EIO`.
    Broken,
    /// One call writes the first half of its data, and returns that.
    Short,
    /// One flush fails with `EIO`.
    Sync,
    /// The process is killed after the call.
    Kill,
}

impl Fault {
    /// All faults.
    pub const ALL: [Self; 6] =
        [Self::Full, Self::Io, Self::Broken, Self::Short, Self::Sync, Self::Kill];

    /// The name in `inject.c`.
    const fn name(self) -> &'static str {
        match self {
            Self::Full => "full",
            Self::Io => "io",
            Self::Broken => "broken",
            Self::Short => "short",
            Self::Sync => "sync",
            Self::Kill => "kill",
        }
    }

    /// Whether a call can have this fault. The classes are those of `inject.c`.
    fn affects(self, call: &Call) -> bool {
        match self {
            Self::Full => matches!(call.class, 'w' | 'n'),
            Self::Io => matches!(call.class, 'w' | 'n' | 'l'),
            Self::Broken => call.class != 'r',
            Self::Short => call.class == 'w',
            Self::Sync => call.class == 's',
            Self::Kill => true,
        }
    }
}

/// A system call that changes a file.
#[derive(Clone, Debug, Eq, PartialEq)]
pub struct Call {
    /// `w` data, `l` length, `s` flush, `n` name, `r` removal.
    pub class: char,
    /// The system call.
    pub name: String,
    /// The file; the new name of one that is renamed.
    pub path: PathBuf,
    /// Whether the fault applies to it.
    pub failed: bool,
}

impl Call {
    fn parse(line: &str) -> Option<Self> {
        let mut parts = line.splitn(4, ' ').skip(1);
        let (class, name, path) = (parts.next()?.chars().next()?, parts.next()?, parts.next()?);
        let kept = path.strip_suffix(" !");
        let path = kept.unwrap_or(path).into();
        Some(Self { class, name: name.to_owned(), path, failed: kept.is_some() })
    }
}

impl fmt::Display for Call {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{} of {}", self.name, self.path.display())
    }
}

/// An execution of a program.
#[derive(Debug)]
pub struct Attempt {
    /// The fault, and the number of the call from 1. `None` without a fault.
    pub fault: Option<(Fault, usize)>,
    /// Exit status, standard output and error.
    pub output: Output,
    /// The calls that the fault can affect.
    pub calls: Vec<Call>,
}

impl Attempt {
    /// The text of the standard output.
    pub fn stdout(&self) -> String {
        String::from_utf8_lossy(&self.output.stdout).into_owned()
    }

    /// The text of the standard error.
    pub fn stderr(&self) -> String {
        String::from_utf8_lossy(&self.output.stderr).into_owned()
    }

    /// The first call that failed.
    pub fn failed(&self) -> Option<&Call> {
        self.calls.iter().find(|call| call.failed)
    }
}

impl fmt::Display for Attempt {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match (self.fault, self.failed()) {
            (Some((fault, number)), Some(call)) => write!(f, "{fault:?} {number} ({call})")?,
            (Some((fault, number)), None) => write!(f, "{fault:?} {number}, not reached")?,
            (None, _) => write!(f, "without a fault")?,
        }
        write!(f, ", {}\n{}{}", self.output.status, self.stdout(), self.stderr())
    }
}

/// An operation that changes files of a directory.
pub trait Operation {
    /// Creates the files before the operation.
    fn prepare(&self, directory: &Path);

    /// The program that does the operation, and again what a failed one has not done. It prints what is acknowledged. It
    /// exits with an error if something has failed.
    fn command(&self, directory: &Path) -> Command;

    /// Checks the files after a fault.
    fn check(&self, directory: &Path, attempt: &Attempt);

    /// Checks the files after a complete operation.
    fn check_complete(&self, directory: &Path);

    /// Whether the operation can succeed although this call has failed, because the call is not necessary.
    fn is_optional(&self, _call: &Call) -> bool {
        false
    }

    /// A text for the file of a call, which the error has. The default is the name of the file.
    fn name(&self, call: &Call) -> String {
        call.path.file_name().unwrap_or_default().to_string_lossy().into_owned()
    }
}

/// Whether this system supports faults.
pub const IS_SUPPORTED: bool = cfg!(faults);

/// Runs a program. A fault applies to the files of a directory.
pub fn attempt(mut command: Command, directory: &Path, fault: Option<(Fault, usize)>) -> Attempt {
    let log = tempfile::NamedTempFile::new().expect("a file");
    let text = fault.map_or_else(
        || "none 0".to_owned(),
        |(fault, number)| format!("{} {number}", fault.name()),
    );
    let output = command
        .env("LD_PRELOAD", option_env!("READYOK_INJECT").unwrap_or_default())
        .env("READYOK_FAULT", text)
        .env("READYOK_FAULT_DIR", fs::canonicalize(directory).expect("a directory"))
        .env("READYOK_FAULT_LOG", log.path())
        .output()
        .expect("the program starts");
    let log = fs::read_to_string(log.path()).expect("the log");
    Attempt { fault, output, calls: log.lines().filter_map(Call::parse).collect() }
}

/// Runs an operation with each fault. Does nothing where faults are not supported.
///
/// # Panics
/// The operation does not handle a fault.
pub fn sweep(operation: &dyn Operation) {
    if !IS_SUPPORTED {
        return;
    }
    let run = |directory: &Path, fault| attempt(operation.command(directory), directory, fault);
    let new = || {
        // Flushes cost nothing in memory.
        let memory = Path::new("/dev/shm");
        let place = if memory.is_dir() { memory.to_owned() } else { env::temp_dir() };
        let directory = tempfile::tempdir_in(place).expect("a directory");
        operation.prepare(directory.path());
        directory
    };
    let directory = new();
    let whole = run(directory.path(), None);
    assert!(whole.output.status.success(), "{whole}");
    assert!(!whole.calls.is_empty(), "no call changes a file: {whole}");
    operation.check_complete(directory.path());

    let seed = env::var("READYOK_WRITE_FAULTS_SEED").ok().and_then(|seed| seed.parse().ok());
    let seed: u64 = seed.unwrap_or_else(|| fastrand::u64(..));
    let _on_panic = PrintSeed(seed);
    let mut random = fastrand::Rng::with_seed(seed);
    for fault in Fault::ALL {
        let count = whole.calls.iter().filter(|call| fault.affects(call)).count();
        for number in numbers(count, &mut random) {
            let directory = new();
            let path = directory.path();
            let attempt = run(path, Some((fault, number)));
            let (status, failed) = (attempt.output.status, attempt.failed());
            match (fault, failed) {
                // Threads and times can lead to fewer calls.
                (_, None) | (Fault::Short, _) => assert!(status.success(), "{attempt}"),
                (Fault::Kill, _) => assert_eq!(status.code(), None, "{attempt}"),
                (_, Some(call)) if status.success() => {
                    assert!(operation.is_optional(call), "the fault has no effect: {attempt}");
                }
                _ => {
                    assert!(status.code().is_some_and(|code| code != 101), "{attempt}");
                    let names: Vec<_> = attempt.calls.iter().filter(|call| call.failed).collect();
                    let is_named = |call: &&Call| attempt.stderr().contains(&operation.name(call));
                    assert!(names.iter().any(is_named), "the error names no file: {attempt}");
                }
            }
            operation.check(path, &attempt);
            if status.success() {
                operation.check_complete(path);
            }
            let again = run(path, None);
            assert!(again.output.status.success(), "after {attempt}: {again}");
            operation.check_complete(path);
        }
    }
}

/// The numbers of the calls to fail: all, or a sample with the first and the last one.
fn numbers(count: usize, random: &mut fastrand::Rng) -> Vec<usize> {
    let wanted = env::var("READYOK_WRITE_FAULTS").unwrap_or_default();
    let wanted = if wanted == "all" { count } else { wanted.parse().unwrap_or(5) };
    if count <= wanted {
        return (1..=count).collect();
    }
    let between = random.choose_multiple(2..count, wanted.saturating_sub(2));
    let mut numbers: Vec<_> = iter::once(1).chain(between).chain([count]).collect();
    numbers.sort_unstable();
    numbers
}

struct PrintSeed(u64);

impl Drop for PrintSeed {
    fn drop(&mut self) {
        if std::thread::panicking() {
            eprintln!("READYOK_WRITE_FAULTS_SEED={} repeats the calls", self.0);
        }
    }
}

/// This test program, to execute only one of its tests, such as `faults::child`.
///
/// # Panics
/// The program is unknown.
pub fn this_test(name: &str) -> Command {
    let mut command = Command::new(env::current_exe().expect("the test program"));
    command.args(["--exact", name, "--nocapture", "--test-threads=1"]);
    command
}
