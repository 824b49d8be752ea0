//! Commands with limits of time, memory, disk and network.

use std::collections::VecDeque;
use std::io::Read;
use std::path::{Path, PathBuf};
use std::process::{Command, ExitStatus};
use std::sync::mpsc::{RecvTimeoutError, channel};
use std::sync::{Arc, Mutex, OnceLock, PoisonError};
use std::time::{Duration, Instant};
use std::{env, fs, io, thread};

use readyok_client::Guard;
use readyok_client::unstable::{ErrorOutput, PipedProcess};

use crate::build::{BuildFailure, BuildLimits, BuildProblem};

/// The kept part of the output in bytes: its end, where compilers state the first failed step.
const MAX_OUTPUT: usize = 8 << 10;

/// Interval of the checks of time and disk.
const CHECK_INTERVAL: Duration = Duration::from_secs(1);

/// Time for the last output of descendants after the exit.
const OUTPUT_TIME: Duration = Duration::from_secs(2);

/// Maximum number of files that are counted in a directory.
const MAX_FILES: usize = 1_000_000;

/// The variables that a build inherits: those that find a compiler.
const INHERITED: [&str; 8] = [
    "PATH",
    "RUSTUP_HOME",
    "RUSTUP_TOOLCHAIN",
    "SystemRoot",
    "SystemDrive",
    "ProgramData",
    "ProgramFiles",
    "INCLUDE",
];

/// Applies the limits of the first two arguments, which are ignored where the system does not support them, and runs
/// the rest.
#[cfg(unix)]
const SCRIPT: &str =
    "ulimit -v \"$1\" 2>/dev/null; ulimit -f \"$2\" 2>/dev/null; shift 2; exec nice -n 19 \"$@\"";

/// A command of a build with the limits of memory and network.
#[cfg(unix)]
pub(super) fn limited(program: &str, args: &[String], limits: BuildLimits) -> Command {
    let BuildLimits { memory, disk, network, .. } = limits;
    let mut command = Command::new("/bin/sh");
    command.args(["-c", SCRIPT, "sh"]);
    // In KiB, and in blocks of 512 bytes.
    command.args([(memory >> 10).to_string(), (disk >> 9).to_string()]);
    if !network && can_isolate() {
        command.args(ISOLATED);
    }
    command.arg(program).args(args);
    command
}

#[cfg(not(unix))]
pub(super) fn limited(program: &str, args: &[String], _: BuildLimits) -> Command {
    let mut command = Command::new(program);
    command.args(args);
    command
}

/// Starts a program without a network, as the same user.
const ISOLATED: [&str; 4] = ["unshare", "--map-current-user", "--net", "--"];

/// Whether programs can be started without a network.
pub(super) fn can_isolate() -> bool {
    static KNOWN: OnceLock<bool> = OnceLock::new();
    *KNOWN.get_or_init(|| {
        let [program, args @ ..] = ISOLATED;
        let mut command = Command::new(program);
        command.args(args).arg("true");
        let tried = Bounded {
            command,
            program: program.to_owned(),
            time: CHECK_INTERVAL,
            directory: None,
            guard: None,
            is_cancelled: &|| false,
        };
        let is_ended = |ran| matches!(ran, Ran::Ended { status, .. } if status.success());
        cfg!(target_os = "linux") && tried.run().is_ok_and(is_ended)
    })
}

/// Sets the environment of a build whose directory is `work`. It has a home of its own, so that builds do not change
/// the settings of each other.
pub(super) fn set_environment(command: &mut Command, work: &Path) -> io::Result<()> {
    command.env_clear();
    for name in INHERITED {
        command.envs(env::var_os(name).map(|value| (name, value)));
    }
    let home = env::var_os("HOME").or_else(|| env::var_os("USERPROFILE")).map(PathBuf::from);
    if let Some(rustup) = home.map(|home| home.join(".rustup")).filter(|rustup| rustup.is_dir())
        && env::var_os("RUSTUP_HOME").is_none()
    {
        command.env("RUSTUP_HOME", rustup);
    }
    for (directory, names) in [
        ("home", &["HOME", "USERPROFILE"][..]),
        ("temporary", &["TMPDIR", "TEMP", "TMP"]),
        ("cargo", &["CARGO_HOME"]),
    ] {
        let path = work.join(directory);
        fs::create_dir_all(&path)?;
        command.envs(names.iter().map(|name| (name, &path)));
    }
    command.env("LC_ALL", "C").env("CARGO_TERM_COLOR", "never");
    Ok(())
}

/// A command with limits.
pub(super) struct Bounded<'a> {
    pub(super) command: Command,
    /// Its name, for errors.
    pub(super) program: String,
    pub(super) time: Duration,
    /// A directory with the maximum of its size in bytes.
    pub(super) directory: Option<(&'a Path, u64)>,
    pub(super) guard: Option<&'a Guard>,
    pub(super) is_cancelled: &'a dyn Fn() -> bool,
}

/// The end of a command, with the last part of its output.
pub(super) enum Ran {
    Ended { status: ExitStatus, output: String },
    TimedOut { output: String },
    TooLarge { output: String },
}

impl<'a> Bounded<'a> {
    /// Limits the size of a directory.
    pub(super) fn within(self, directory: &'a Path, bytes: u64) -> Self {
        Self { directory: Some((directory, bytes)), ..self }
    }

    /// Runs the command. Its descendants end with it.
    #[expect(clippy::disallowed_methods, reason = "the limit of time is the purpose")]
    pub(super) fn run(mut self) -> Result<Ran, BuildFailure> {
        let start = |error: io::Error| BuildProblem::Start {
            program: self.program.clone(),
            why: error.to_string(),
        };
        let (errors, writer) = io::pipe().map_err(start)?;
        let (sender, ended) = channel();
        let on_exit = move |status| {
            // The caller may have stopped to wait.
            let _ = sender.send(status);
        };
        let output = ErrorOutput::Pipe(writer);
        let spawned = PipedProcess::spawn(&mut self.command, self.guard, output, on_exit);
        let (process, stdin, stdout) = spawned.map_err(start)?;
        drop(stdin);
        let tail = Tail::default();
        let readers = [tail.read(stdout), tail.read(errors)];
        let begun = Instant::now();
        let end = loop {
            match ended.recv_timeout(CHECK_INTERVAL.min(self.time)) {
                Ok(status) => break Some(Ok(status)),
                Err(RecvTimeoutError::Disconnected) => break None,
                Err(RecvTimeoutError::Timeout) => {}
            }
            if (self.is_cancelled)() {
                process.kill();
                return Err(BuildProblem::Cancelled.into());
            }
            if self.time <= begun.elapsed() {
                break None;
            }
            if self.is_too_large() {
                break Some(Err(()));
            }
        };
        process.kill();
        let waited = Instant::now();
        while readers.iter().any(|reader| !reader.is_finished()) && waited.elapsed() < OUTPUT_TIME {
            thread::sleep(Duration::from_millis(5));
        }
        let output = tail.text();
        Ok(match end {
            // A build that has just ended may be too large, too.
            Some(Ok(_)) if self.is_too_large() => Ran::TooLarge { output },
            Some(Ok(status)) => Ran::Ended { status, output },
            Some(Err(())) => Ran::TooLarge { output },
            None => Ran::TimedOut { output },
        })
    }

    fn is_too_large(&self) -> bool {
        self.directory.is_some_and(|(directory, limit)| exceeds(directory, limit))
    }
}

/// Whether the files of a directory need more than this number of bytes.
fn exceeds(directory: &Path, limit: u64) -> bool {
    let (mut bytes, mut files) = (0_u64, 0);
    let mut pending = vec![directory.to_owned()];
    while let Some(directory) = pending.pop() {
        // Files appear and disappear during a build.
        let Ok(entries) = directory.read_dir() else { continue };
        for entry in entries.flatten() {
            let Ok(data) = entry.metadata() else { continue };
            files += 1;
            bytes = bytes.saturating_add(data.len());
            if limit < bytes || MAX_FILES < files {
                return true;
            }
            if data.is_dir() {
                pending.push(entry.path());
            }
        }
    }
    false
}

/// The last part of an output.
#[derive(Clone, Default)]
struct Tail(Arc<Mutex<VecDeque<u8>>>);

impl Tail {
    fn read(&self, mut from: impl Read + Send + 'static) -> thread::JoinHandle<()> {
        let this = self.clone();
        thread::spawn(move || {
            let mut part = [0; 4096];
            while let Ok(count @ 1..) = from.read(&mut part) {
                let mut kept = this.0.lock().unwrap_or_else(PoisonError::into_inner);
                kept.extend(part.iter().take(count));
                let surplus = kept.len().saturating_sub(MAX_OUTPUT);
                kept.drain(..surplus);
            }
        })
    }

    fn text(&self) -> String {
        let mut kept = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        String::from_utf8_lossy(kept.make_contiguous()).into_owned()
    }
}
