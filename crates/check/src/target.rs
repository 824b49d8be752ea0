//! The engine under test, its start, and its resource usage.

use std::io::{PipeReader, PipeWriter, Read, Write};
use std::net::{Shutdown, TcpStream, ToSocketAddrs};
use std::path::{Path, PathBuf};
use std::process::ExitStatus;
use std::sync::Arc;
use std::time::Duration;
use std::{fmt, fs, io, thread};

use readyok_client::unstable::{ErrorOutput, PipedProcess, join_command_line, own_directory};
use readyok_client::{EngineProgram, Guard};

use crate::error_lines::ErrorLines;

use crate::cancellation::Cancellation;

/// An engine that can be started repeatedly.
#[derive(Clone)]
pub struct Target {
    name: String,
    start: Start,
    guard: Option<Guard>,
    /// Of the run.
    pub(crate) cancellation: Option<Cancellation>,
}

#[derive(Clone)]
enum Start {
    Program(EngineProgram),
    InProcess(Arc<dyn Fn(PipeReader, PipeWriter) + Send + Sync>),
    Tcp(String),
}

/// Environment variable with the id of the check, for the engine's log.
const CHECK: &str = "READYOK_CHECK";

/// Options for the start of an engine.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Launch {
    /// Id of the check.
    pub(crate) check: &'static str,
    /// Stderr is a pipe that is never read.
    pub(crate) undrained_stderr: bool,
}

/// A started engine with its input, its output and its process.
pub(crate) struct Started {
    pub(crate) input: Box<dyn Write + Send>,
    pub(crate) output: Box<dyn Read + Send>,
    /// Its stderr.
    pub(crate) errors: Option<Errors>,
    pub(crate) process: Option<PipedProcess>,
    pub(crate) connection: Option<Connection>,
}

/// The read end of an engine's stderr.
pub(crate) enum Errors {
    Read(ErrorLines),
    Unreadable { _pipe: PipeReader },
}

impl Target {
    /// A program with its arguments. By default it starts in the directory of its executable if the path is absolute,
    /// otherwise in the current directory.
    pub fn program(
        path: impl Into<PathBuf>,
        arguments: impl IntoIterator<Item = impl AsRef<str>>,
    ) -> Self {
        EngineProgram::new(path, arguments).into()
    }

    /// An engine in this process: a function that serves a client over two pipes until it exits. It is
    /// called in a separate thread for each session.
    pub fn in_process(
        name: impl Into<String>,
        serve: impl Fn(PipeReader, PipeWriter) + Send + Sync + 'static,
    ) -> Self {
        let start = Start::InProcess(Arc::new(serve));
        Self { name: name.into(), start, guard: None, cancellation: None }
    }

    /// An engine at `host:port`, with a new connection for each session. Checks that need a process are
    /// skipped, and by default sessions run one after another, as many servers have one engine.
    pub fn tcp(address: impl Into<String>) -> Self {
        let address = address.into();
        let name = format!("tcp://{address}");
        Self { name, start: Start::Tcp(address), guard: None, cancellation: None }
    }

    /// Kills its processes if this process is killed.
    #[must_use]
    pub fn guarded(mut self, guard: &Guard) -> Self {
        self.guard = Some(guard.clone());
        self
    }

    /// Whether the run was canceled.
    pub(crate) fn is_canceled(&self) -> bool {
        self.cancellation.as_ref().is_some_and(Cancellation::is_canceled)
    }

    /// The name before the handshake.
    pub fn name(&self) -> &str {
        &self.name
    }

    /// The file next to the executable with another extension.
    pub(crate) fn sibling(&self, extension: &str) -> Option<PathBuf> {
        match &self.start {
            Start::Program(EngineProgram { path, .. })
                if path.parent().is_some_and(Path::is_dir) =>
            {
                Some(path.with_extension(extension))
            }
            Start::Program(_) | Start::InProcess(_) | Start::Tcp(_) => None,
        }
    }

    /// Whether it is a process.
    pub(crate) fn is_process(&self) -> bool {
        matches!(self.start, Start::Program(_))
    }

    /// Whether it runs behind a TCP connection.
    pub(crate) fn is_remote(&self) -> bool {
        matches!(self.start, Start::Tcp(_))
    }

    /// Starts it. `on_exit` is called when its process has ended.
    pub(crate) fn start(
        &self,
        launch: Launch,
        on_exit: impl FnOnce(ExitStatus) + Send + 'static,
    ) -> io::Result<Started> {
        match &self.start {
            Start::Program(program) => {
                let mut command = program.command();
                command.env(CHECK, launch.check);
                let (errors, its_errors) = io::pipe()?;
                let its_errors = ErrorOutput::Pipe(its_errors);
                if let (None, Some(own)) = (&program.dir, own_directory(&program.path)) {
                    command.current_dir(own);
                }
                let (process, input, output) =
                    PipedProcess::spawn(&mut command, self.guard.as_ref(), its_errors, on_exit)?;
                let errors = if launch.undrained_stderr {
                    Errors::Unreadable { _pipe: errors }
                } else {
                    Errors::Read(ErrorLines::of(errors)?)
                };
                let (input, output) = (Box::new(input), Box::new(output));
                let (errors, process) = (Some(errors), Some(process));
                Ok(Started { input, output, errors, process, connection: None })
            }
            Start::InProcess(serve) => {
                let (its_input, input) = io::pipe()?;
                let (output, its_output) = io::pipe()?;
                let serve = Arc::clone(serve);
                // The thread ends at the end of its input.
                thread::Builder::new()
                    .name("engine".into())
                    .spawn(move || serve(its_input, its_output))?;
                let (input, output) = (Box::new(input), Box::new(output));
                Ok(Started { input, output, errors: None, process: None, connection: None })
            }
            Start::Tcp(address) => {
                let connection = Connection::open(address)?;
                let (input, output) = connection.ends()?;
                let (input, output) = (Box::new(input), Box::new(output));
                let connection = Some(connection);
                Ok(Started { input, output, errors: None, process: None, connection })
            }
        }
    }
}

impl From<EngineProgram> for Target {
    fn from(program: EngineProgram) -> Self {
        // An interpreter is known by its script.
        let name = program.path.file_name().unwrap_or(program.path.as_os_str()).to_string_lossy();
        let name = std::iter::once(&*name).chain(program.args.iter().map(String::as_str));
        let name = join_command_line(name).unwrap_or_default();
        Self { name, start: Start::Program(program), guard: None, cancellation: None }
    }
}

impl fmt::Debug for Target {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Subject").field("name", &self.name).finish_non_exhaustive()
    }
}

/// Timeout of a connection attempt.
const IDLE_TIMEOUT: Duration = Duration::from_secs(10);

/// A connection. Dropping it closes it in both directions.
#[derive(Debug)]
pub(crate) struct Connection(TcpStream);

/// The writing half. Dropping it closes the engine's input only.
#[derive(Debug)]
pub(crate) struct Input(TcpStream);

impl Connection {
    /// Connects to `host:port`.
    pub(crate) fn open(address: &str) -> io::Result<Self> {
        let mut last = io::ErrorKind::AddrNotAvailable.into();
        for address in address.to_socket_addrs()? {
            match TcpStream::connect_timeout(&address, IDLE_TIMEOUT) {
                Ok(stream) => {
                    stream.set_nodelay(true)?;
                    return Ok(Self(stream));
                }
                Err(error) => last = error,
            }
        }
        Err(last)
    }

    /// Both halves.
    pub(crate) fn ends(&self) -> io::Result<(Input, TcpStream)> {
        Ok((Input(self.0.try_clone()?), self.0.try_clone()?))
    }
}

impl Drop for Connection {
    fn drop(&mut self) {
        // Fails if the engine has already exited.
        let _ = self.0.shutdown(Shutdown::Both);
    }
}

impl Write for Input {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        self.0.write(bytes)
    }

    fn flush(&mut self) -> io::Result<()> {
        self.0.flush()
    }
}

impl Drop for Input {
    fn drop(&mut self) {
        let _ = self.0.shutdown(Shutdown::Write);
    }
}

/// Duration of a tick in `/proc/<id>/stat` (`USER_HZ`), 10 ms on all systems.
const TICK: Duration = Duration::from_millis(10);

/// Resource usage of a process group.
#[derive(Clone, Copy, Debug, Default)]
pub(crate) struct Usage {
    /// Memory in use, in bytes.
    pub(crate) resident: u64,
    /// Size of the address space, in bytes.
    pub(crate) reserved: u64,
    /// CPU time since the start.
    pub(crate) cpu: Duration,
    /// Time in the run queue.
    pub(crate) waited: Duration,
    pub(crate) threads: u64,
    /// Threads that run, or wait for a CPU or a disk.
    pub(crate) runnable: u64,
    /// Open files, pipes and sockets.
    pub(crate) files: u64,
}

/// Current usage of a process group and of all its descendants. `None` if not available.
pub(crate) fn usage(group: u32) -> Option<Usage> {
    let mut processes: Vec<Process> = Vec::new();
    for entry in fs::read_dir("/proc").ok()? {
        // Processes may exit meanwhile.
        let Ok(entry) = entry else { continue };
        processes.extend(entry.file_name().to_str().and_then(Process::read));
    }
    let mut members: Vec<u32> = processes
        .iter()
        .filter(|process| process.group == group)
        .map(|process| process.id)
        .collect();
    // A wrapper may start the engine in another process group.
    let mut at = 0;
    while let Some(parent) = members.get(at).copied() {
        at += 1;
        for child in processes.iter().filter(|process| process.parent == parent) {
            if !members.contains(&child.id) {
                members.push(child.id);
            }
        }
    }
    let mut sum = Usage::default();
    let mut found = false;
    for process in processes.iter().filter(|process| members.contains(&process.id)) {
        if let Some(one) = process.usage() {
            found = true;
            sum.resident += one.resident;
            sum.reserved += one.reserved;
            sum.cpu += one.cpu;
            sum.waited += one.waited;
            sum.threads += one.threads;
            sum.runnable += one.runnable;
            sum.files += one.files;
        }
    }
    found.then_some(sum)
}

/// Fields of `/proc/PID/stat`.
struct Process {
    id: u32,
    parent: u32,
    group: u32,
    ticks: u32,
    threads: u64,
}

/// The fields of a `stat` file after the name, which may contain spaces and parentheses. See `proc_pid_stat(5)`.
fn fields(stat: &str) -> Option<Vec<&str>> {
    Some(stat.rsplit_once(')')?.1.split_ascii_whitespace().collect())
}

impl Process {
    fn read(id: &str) -> Option<Self> {
        let number: u32 = id.parse().ok()?;
        let stat = fs::read_to_string(format!("/proc/{id}/stat")).ok()?;
        let fields = fields(&stat)?;
        let field = |at: usize| fields.get(at)?.parse::<u32>().ok();
        Some(Self {
            id: number,
            parent: field(1)?,
            group: field(2)?,
            ticks: field(11)?.saturating_add(field(12)?),
            threads: u64::from(field(17)?),
        })
    }

    fn usage(&self) -> Option<Usage> {
        let id = &self.id.to_string();
        let (cpu, waited) = schedule(id).unwrap_or((TICK * self.ticks, Duration::ZERO));
        let files = fs::read_dir(format!("/proc/{id}/fd")).map_or(0, Iterator::count);
        Some(Usage {
            resident: memory(id, "VmRSS:")?,
            reserved: memory(id, "VmSize:")?,
            cpu,
            waited,
            threads: self.threads,
            runnable: runnable(id),
            files: u64::try_from(files).unwrap_or(u64::MAX),
        })
    }
}

/// Memory in bytes that programs can use without swapping, within the limits of a container. `None` if not available.
pub(crate) fn available_memory() -> Option<u64> {
    let text = fs::read_to_string("/proc/meminfo").ok()?;
    let line = text.lines().find_map(|line| line.strip_prefix("MemAvailable:"))?;
    let kibibytes: u64 = line.split_ascii_whitespace().next()?.parse().ok()?;
    let number = |file: &str| -> Option<u64> {
        fs::read_to_string(format!("/sys/fs/cgroup/{file}")).ok()?.trim().parse().ok()
    };
    let left = number("memory.max")
        .zip(number("memory.current"))
        .map(|(limit, used)| limit.saturating_sub(used));
    Some(left.map_or(kibibytes * 1024, |left| left.min(kibibytes * 1024)))
}

/// Limits the address space of a process, where the system can do this. Returns whether it is limited.
#[cfg(target_os = "linux")]
pub(crate) fn limit_addresses(process: u32, bytes: u64) -> bool {
    use rustix::process::{Pid, Resource, Rlimit, prlimit};

    let process = i32::try_from(process).ok().and_then(Pid::from_raw);
    let limit = Rlimit { current: Some(bytes), maximum: Some(bytes) };
    process.is_some_and(|process| prlimit(Some(process), Resource::As, limit).is_ok())
}

/// Other systems have no limit for a running process.
#[cfg(not(target_os = "linux"))]
pub(crate) fn limit_addresses(_: u32, _: u64) -> bool {
    false
}

/// Number of threads that run, or wait for a CPU or a disk.
fn runnable(id: &str) -> u64 {
    let Ok(threads) = fs::read_dir(format!("/proc/{id}/task")) else { return 0 };
    let is_runnable = |thread: fs::DirEntry| {
        let stat = fs::read_to_string(thread.path().join("stat")).ok()?;
        // `D` waits for a disk.
        matches!(*fields(&stat)?.first()?, "R" | "D").then_some(())
    };
    let count = threads.flatten().filter_map(is_runnable).count();
    u64::try_from(count).unwrap_or(u64::MAX)
}

/// CPU and run-queue times of all threads, if available.
fn schedule(id: &str) -> Option<(Duration, Duration)> {
    let mut sum = (Duration::ZERO, Duration::ZERO);
    for task in fs::read_dir(format!("/proc/{id}/task")).ok()? {
        let Ok(text) = task.and_then(|task| fs::read_to_string(task.path().join("schedstat")))
        else {
            continue;
        };
        let mut tokens = text.split_ascii_whitespace().map(str::parse);
        let (Some(Ok(ran)), Some(Ok(waited))) = (tokens.next(), tokens.next()) else { continue };
        sum.0 += Duration::from_nanos(ran);
        sum.1 += Duration::from_nanos(waited);
    }
    (!sum.0.is_zero()).then_some(sum)
}

fn memory(id: &str, field: &str) -> Option<u64> {
    let status = fs::read_to_string(format!("/proc/{id}/status")).ok()?;
    let line = status.lines().find_map(|line| line.strip_prefix(field))?;
    let kibibytes: u64 = line.split_ascii_whitespace().next()?.parse().ok()?;
    Some(kibibytes * 1024)
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::net::TcpListener;

    #[test]
    fn input_and_connection_close_separately() {
        let listener = TcpListener::bind("127.0.0.1:0").expect("a port");
        let address = listener.local_addr().expect("an address").to_string();
        let connection = Connection::open(&address).expect("it listens");
        let (mut theirs, _) = listener.accept().expect("a connection");
        let (mut input, mut output) = connection.ends().expect("two ends");
        input.write_all(b"uci\n").expect("it is open");
        drop(input);
        let mut received = String::new();
        theirs.read_to_string(&mut received).expect("it ends");
        assert_eq!(received, "uci\n");
        theirs.write_all(b"uciok\n").expect("it is open still");
        drop(connection);
        received.clear();
        // The other side stays connected.
        output.read_to_string(&mut received).expect("it ends");
        assert!(received.is_empty() || received == "uciok\n", "{received}");
    }
}
