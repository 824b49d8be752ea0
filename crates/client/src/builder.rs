//! Settings to start an engine with.

use std::io::{self, PipeReader, PipeWriter, Read, Write};
use std::path::Path;
use std::process::Command;
use std::sync::Arc;

use readyok_protocol::session::client::Timeouts;
use readyok_protocol::{Dialect, Party, Register};

use crate::driver::{Driver, Settings};
use crate::error::EngineError;
use crate::listener::{ErrorLines, Listener, StderrListener};
use crate::process::guard::Guard;
use crate::shared::{Shared, transport};
use crate::sync::{now, spawn};

/// Settings for an engine. The defaults suit most engines.
///
/// ```no_run
/// use readyok_client::{Dialect, Engine};
/// # use std::process::Command;
/// let engine = Engine::builder().dialect(Dialect::Usi).spawn(Command::new("fairy-stockfish"))?;
/// # Ok::<(), readyok_client::EngineError>(())
/// ```
#[derive(Clone, Debug, Default)]
pub struct Builder {
    name: Option<String>,
    dialect: Option<Dialect>,
    timeouts: Timeouts,
    register: Option<Register<'static>>,
    joins_searches: bool,
    rate: Option<u32>,
    guard: Option<Guard>,
    on_line: Option<Arc<Listener>>,
    on_stderr: Option<StderrListener>,
}

/// The location of an engine.
pub(crate) enum Target {
    Command(Command),
    Address(String),
    /// Pipes and streams can be used only once.
    Pipes(Option<(PipeReader, PipeWriter)>),
    Streams(Option<Streams>),
}

type Streams = (Box<dyn Read + Send>, Box<dyn Write + Send>);

impl Builder {
    /// The name of the engine in errors. By default the program or the address.
    #[must_use]
    pub fn name(mut self, name: impl Into<String>) -> Self {
        self.name = Some(name.into());
        self
    }

    /// The protocol of the engine. By default UCI is tried, and after a timeout USI with a new process or connection:
    /// set `Usi` to avoid the timeout. Over streams the default is UCI.
    #[must_use]
    pub fn dialect(mut self, dialect: Dialect) -> Self {
        self.dialect = Some(dialect);
        self
    }

    /// Timeouts for each wait.
    #[doc(alias = "timeout")]
    #[must_use]
    pub fn timeouts(mut self, timeouts: Timeouts) -> Self {
        self.timeouts = timeouts;
        self
    }

    /// The answer to `registration error`. By default `register later`.
    #[must_use]
    pub fn register(mut self, with: Register<'static>) -> Self {
        self.register = Some(with);
        self
    }

    /// Whether each search of a game waits for a `readyok` after the previous one; in USI, where `isready` starts a
    /// game, for a short delay ([`Timeouts::settle`]). Enabled by default.
    ///
    /// If disabled, a search waits only after options, a new game or `stop`, and always once the engine has answered
    /// twice. This halves the overhead per ply in a match runner. An answer that arrived before `go` was written is
    /// still ignored, and so is the move that was just played; but the first duplicate `bestmove` that arrives later,
    /// in another position, is treated as the answer.
    #[must_use]
    pub fn sync_between_searches(mut self, separate: bool) -> Self {
        self.joins_searches = !separate;
        self
    }

    /// Maximum number of bytes read per second. Further output stays in the pipe, and a full pipe blocks the engine:
    /// one that sends hundreds of thousands of lines per second leaves CPU time to others. Its answer is delayed by
    /// the time to read a full pipe.
    ///
    /// For programs that display searches, with some millions; not for time measurements. Unlimited by default.
    #[must_use]
    pub fn read_rate(mut self, bytes: u32) -> Self {
        self.rate = Some(bytes);
        self
    }

    /// Ensures that a process, and on Linux each of its descendants, does not outlive this program, even if the program
    /// is killed: see [`Guard`](Guard#guarantees). Without a guard, an engine that ignores the end of its input may.
    #[must_use]
    pub fn guard(mut self, guard: &Guard) -> Self {
        self.guard = Some(guard.clone());
        self
    }

    /// Calls a function with every line of the session, without its line end: sent and received lines, in this order.
    /// The thread that reads or writes calls it and waits for it. The function may use the engine.
    #[doc(alias = "log")]
    #[must_use]
    pub fn on_line(mut self, on_line: impl Fn(Party, &str) + Send + Sync + 'static) -> Self {
        self.on_line = Some(Arc::new(Listener::new(on_line)));
        self
    }

    /// Calls a function with every line that a process writes to its error output, without its line end. The reading
    /// thread calls it and waits for it.
    #[doc(alias = "stderr")]
    #[must_use]
    pub fn on_stderr(mut self, on_stderr: impl Fn(&str) + Send + Sync + 'static) -> Self {
        self.on_stderr = Some(StderrListener::new(on_stderr));
        self
    }

    /// The dialect to try, and the one to try after it.
    pub(crate) fn dialects(&self, target: &Target) -> (Dialect, Option<Dialect>) {
        match (self.dialect, target) {
            (Some(dialect), _) => (dialect, None),
            (None, Target::Command(_) | Target::Address(_)) => (Dialect::Uci, Some(Dialect::Usi)),
            (None, Target::Pipes(_) | Target::Streams(_)) => (Dialect::Uci, None),
        }
    }

    /// Starts an engine and the handshake with it.
    pub(crate) fn open(
        &self,
        target: &mut Target,
        dialect: Dialect,
        is_async: bool,
    ) -> Result<(String, Arc<Shared>), EngineError> {
        let name = self.name.clone().unwrap_or_else(|| target.name());
        let is_process = matches!(target, Target::Command(_));
        let ends = match target {
            Target::Command(command) => transport::spawn(command, self.guard.as_ref()),
            Target::Address(address) => {
                transport::connect(address, self.timeouts.handshake.silence)
            }
            Target::Pipes(pipes) => pipes
                .take()
                .map(|(output, input)| transport::Ends::Pipes(output, input))
                .ok_or_else(|| io::ErrorKind::NotConnected.into()),
            Target::Streams(streams) => streams
                .take()
                .map(|(output, input)| transport::Ends::Streams(output, input))
                .ok_or_else(|| io::ErrorKind::NotConnected.into()),
        };
        let stderr = Arc::new(ErrorLines::new(self.on_stderr.clone()));
        let settings = Settings {
            name: name.clone(),
            dialect,
            timeouts: self.timeouts,
            sync_between_searches: !self.joins_searches,
            // Each attempt has its own line count.
            listener: self.on_line.as_ref().map(|listener| Arc::new(listener.fresh())),
            stderr: Arc::clone(&stderr),
            is_process,
            registration: self.register.clone(),
        };
        let options = transport::Options { rate: self.rate, is_async };
        let start_error = |error: io::Error| EngineError::start(&name, &error);
        let ends = ends.map_err(start_error)?;
        let driver = Driver::new(settings, now()).inspect_err(|_| ends.abandon())?;
        let shared = transport::open(ends, driver, options, &stderr).map_err(start_error)?;
        Ok((name, shared))
    }
}

impl Target {
    pub(crate) fn address(address: &str) -> Self {
        Self::Address(address.strip_prefix("tcp://").unwrap_or(address).to_owned())
    }

    pub(crate) fn streams(
        reader: impl Read + Send + 'static,
        writer: impl Write + Send + 'static,
    ) -> Self {
        Self::Streams(Some((Box::new(reader), Box::new(writer))))
    }

    /// Runs an engine in a thread of its own.
    pub(crate) fn in_process(
        engine: impl FnOnce(PipeReader, PipeWriter) + Send + 'static,
    ) -> io::Result<Self> {
        let (its_input, our_output) = io::pipe()?;
        let (our_input, its_output) = io::pipe()?;
        spawn("engine", move || engine(its_input, its_output))?;
        Ok(Self::Pipes(Some((our_input, our_output))))
    }

    fn name(&self) -> String {
        match self {
            Self::Command(command) => {
                let program = Path::new(command.get_program());
                program.file_stem().unwrap_or_default().to_string_lossy().into_owned()
            }
            Self::Address(address) => address.clone(),
            Self::Pipes(_) | Self::Streams(_) => "stream".to_owned(),
        }
    }
}
